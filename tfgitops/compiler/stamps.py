"""The stamp of a large build: what it read, wrote and said, so that it is not repeated if nothing changed.

A stamp holds no manifest. It lies in the user's cache folder and not in the repository, where a commit could bring a
forged one. All that it stands for is read again: in any doubt, the build is a full one.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import tfgitops
from tfgitops.compiler.session import is_much
from tfgitops.compiler.write import alone, replace_file
from tfgitops.plugins.faults import file_of
from tfgitops.spec.committed import BOOTSTRAP, MANIFESTS, existing
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import answered_again, is_there, read_file, resolved
from tfgitops.spec.project import PYPROJECT
from tfgitops.targets.kubernetes.schemafile import FOLDERS
from tfgitops.targets.memo import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.disk import Answer

    Output = tuple[str, str, str, str | None]

_OFF = ("CI", "TFGITOPS_NO_CACHE")
_MOST_BYTES = 4 << 20
_MOST_STAMPS = 32
_DOUBTS = (OSError, CompileError, ValueError, LookupError, TypeError, RuntimeError)
"""What the reading of a stamp, or of what it stands for, can raise."""


@dataclass(frozen=True)
class Stamp:
    """The place of the stamp of one call of `build`; ``how`` are its options, and all that it said before it compiled.

    The name of the file is the digest of all that does not come from the specs.
    """

    session: Session
    folder: Path
    how: str
    name: str

    def words(self, waiting: Callable[[Path], object]) -> list[str] | None:
        """Return what the build would say on standard error and output, if nothing changed; None in any doubt.

        ``waiting`` is called with an environment's folder if another build writes it.
        """
        try:
            path = self.folder / self.name
            if path.is_symlink():
                return None
            held = json.loads(read_file(path, _MOST_BYTES))
            words: list[str] = held["words"]
            with ExitStack() as locks:
                for folder in self.session.folders:
                    locks.enter_context(alone(folder, partial(waiting, folder)))
                answers = answered_again(held["asked"])
                if held["digest"] != self._digest(words, answers, _present(self.session.folders)):
                    return None
        except _DOUBTS:
            return None
        return words

    def keep(self, results: Sequence[Compiled], words: list[str]) -> None:
        """Write the stamp of a build without errors; ``words`` are what the next one says if nothing changes.

        There is none for environments with pinned jobs: their manifests and HEAD decide what is compiled, too.
        """
        if any(job.pin for one in results if one.environment for job in one.environment.jobs):
            return
        answers = sorted({answer for one in results for answer in one.answers})
        digest = self._digest(words, answers, _compiled(results))
        asked = [(question, path) for question, path, _ in answers]
        data = json.dumps({"digest": digest, "words": words, "asked": asked}).encode()
        with suppress(OSError):
            if len(data) <= _MOST_BYTES and self.name == _name(self.session, self.how):  # no file of ours was edited
                replace_file(self.folder / self.name, data, 0o600)
                stamps = sorted(self.folder.iterdir(), key=lambda path: path.lstat().st_mtime_ns, reverse=True)
                for old in stamps[_MOST_STAMPS:]:
                    old.unlink(missing_ok=True)

    def _digest(self, words: list[str], answers: list[Answer], outputs: Iterable[Output]) -> str:
        found = sha256(packed([self.name, words, answers]))
        for output in outputs:
            found.update(packed(output))
        return found.hexdigest()


def stamp_of(session: Session, *how: object) -> Stamp | None:
    """Return the place of a build's stamp; None if there must be none, or the build is so small that it does not pay.

    ``how`` are the options of the build, and all that it found so far. Plugins of others are pure by contract alone,
    so there is no stamp with them.
    """
    foreign = any(not plugin.bundled or plugin.fault for plugin in session.plugins.plugins)
    if any(map(os.environ.get, _OFF)) or session.plugins.traced or foreign or session.abandoned:
        return None
    try:
        if not is_much(session.folders):
            return None
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tfgitops")
        root = session.project.root
        top = next((one for one in (root, *root.parents) if is_there(one / ".git")), root)
        usable = folder.is_absolute() and not folder.is_symlink() and not resolved(folder).is_relative_to(resolved(top))
        return Stamp(session, folder, repr(how), _name(session, repr(how))) if usable else None
    except (OSError, RuntimeError):  # no home, or a file that cannot be looked at
        return None


def _name(session: Session, how: str) -> str:
    """Return the digest of the call, of the compiler and its plugins, and of what the compile asks no recorder."""
    root, settings = session.project.root, session.project.settings
    places = [*map(str, (Path.cwd(), root, resolved(root), *session.folders))]
    places += [str(path) for top in sorted({one.parent for one in session.folders}) for path in sorted(top.iterdir())]
    call = [how, sorted(session.plugins.without), places]
    git = [is_there(folder / ".git") for folder in (root, *root.parents)]  # the controllers' paths start there
    toml = read_file(root / PYPROJECT) if settings else b""
    program = [sys.version, sys.prefix, _distributions(), [*map(str, session.plugins.plugins)]]
    found = sha256(repr([call, git, repr(settings), toml, program]).encode())
    for path in _sources(session.plugins):
        found.update(packed([path, read_file(path)]))
    return f"{found.hexdigest()}.json"


def _distributions() -> list[str]:
    """Return all that is installed for this Python, by name and version."""
    return sorted(
        name for place in sys.path if os.path.isdir(place) for name in os.listdir(place) if name.endswith("-info")  # noqa: PTH112, PTH208
    )  # fmt: skip


def _sources(plugins: Plugins) -> Iterator[str]:
    """Yield the files of the compiler and of some plugins, their schemas too, sorted."""
    packages = {Path(str(tfgitops.__file__)).parent, *(Path(file_of(one.hooks)).parent for one in plugins.plugins)}
    for top in sorted({*packages, *FOLDERS}):
        for current, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            yield from (f"{current}/{name}" for name in sorted(names))


def _compiled(results: Iterable[Compiled]) -> Iterator[Output]:
    """Yield the files that environments compile to, in the order of `_present`."""
    for one in results:
        for place, files in (MANIFESTS, one.files), (BOOTSTRAP, one.bootstrap):
            yield from sorted((str(one.folder), place, file.path, file.text) for file in files)


def _present(folders: Iterable[Path]) -> Iterator[Output]:
    """Yield the files that environments have; raise OSError or CompileError if they cannot be read or are linked."""
    for folder in folders:
        for place in (MANIFESTS, BOOTSTRAP):
            if (folder / place).is_symlink():
                raise OSError
            yield from ((str(folder), place, *file) for file in sorted(existing(folder / place)))
