"""Folders of cases: the manifests of good specs, and what the terminal says of bad ones."""

from __future__ import annotations

import difflib
from contextlib import chdir
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfgitops.compiler.session import Session, compile_all
from tfgitops.compiler.write import apply, compare
from tfgitops.report.text import render, totals
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError, has_errors, ordered
from tfgitops.spec.project import find_environments, read_project
from tfgitops.testing.bench import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tfgitops.compiler.pipeline import Compiled
    from tfgitops.plugins.door import Plugins
    from tfgitops.testing.bench import Settings

EXPECTED = "expected.txt"
KINDS = ("ok", "bad")


class CaseFailedError(AssertionError):
    """A case that does not say, or make, what it should; with the difference, line by line."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case: a folder below ``ok/`` or ``bad/`` with an environment, or several.

    In ``ok/`` the specs compile to the manifests that lie beside them, in ``manifests/`` as committed. In ``bad/`` they
    do not compile. In both ``expected.txt`` is all that is said of them, and is not there where that is nothing. A case
    is a root of its own, with the ``[tool.tfgitops.settings]`` of its own pyproject.toml where it has one.
    """

    folder: Path
    good: bool

    @property
    def name(self) -> str:
        """Its kind and its folder, such as ``ok/first``."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def environments(self) -> list[Path]:
        """The folders of its environments."""
        return find_environments(self.folder)

    def run(self, plugins: Plugins, *, refresh: bool = False, settings: Settings | None = None) -> None:
        """Compile the case, and compare the result with the files of the case.

        Args:
            plugins: what it is compiled with.
            refresh: write the manifests and ``expected.txt`` anew instead, unless a plugin is at fault.
            settings: those of the plugins, where the case has no pyproject.toml.

        Raises:
            CaseFailedError: the result is another one.
        """
        __tracebackhide__ = True  # pytest shows what is different, not where this noticed
        results = self._compile(plugins, settings)
        found = list(ordered(diagnostic for compiled in results for diagnostic in compiled.diagnostics))
        said = f"{render(found)}\n{totals(found)}\n" if found else ""
        if self.good and has_errors(found):
            raise CaseFailedError(f"{self.name} does not compile\n\n{said}")
        if not self.good and not has_errors(found):
            raise CaseFailedError(f"{self.name} should not compile, and does\n\n{said}".rstrip())
        if refresh and (fault := next((one for one in found if one.code.startswith("TF9")), None)):
            raise CaseFailedError(f"{self.name} is not written: it would keep a fault of a plugin\n\n{render([fault])}")
        differences = [*self._said(said, refresh=refresh)]
        for compiled in results if self.good else ():
            differences += self._made(compiled, refresh=refresh)
        if differences:
            raise CaseFailedError("\n".join([f"{self.name} is not as it was", *differences]))

    def _compile(self, plugins: Plugins, settings: Settings | None) -> list[Compiled]:
        project = read_project(self.folder)
        if not (self.folder / "pyproject.toml").exists():
            project = replace(project, settings=plain(settings))
        with chdir(self.folder):  # what is said names files relative to the case
            try:
                folders = self.environments
            except CompileError as error:
                raise CaseFailedError(f"{self.name} holds no environment: {error}") from error
            return compile_all(Session(project=project, plugins=plugins, folders=folders, abandoned=()))

    def _said(self, said: str, *, refresh: bool) -> Iterator[str]:
        path = self.folder / EXPECTED
        if refresh and said:
            path.write_text(said, encoding="utf-8", newline="\n")
        elif refresh:
            path.unlink(missing_ok=True)
        yield from self._difference(path, said)

    def _made(self, compiled: Compiled, *, refresh: bool) -> Iterator[str]:
        try:
            differences = compare(compiled.folder, compiled.files)
            if refresh:
                apply(compiled.folder, compiled.files, differences)
                differences = compare(compiled.folder, compiled.files)
        except CompileError as error:
            yield str(error)
            return
        texts = {file.path: file.text for file in compiled.files}
        for path in (difference.path for difference in differences):
            yield from self._difference(compiled.folder / MANIFESTS / path, texts.get(path, ""))

    def _difference(self, path: Path, new: str) -> Iterator[str]:
        name, old = path.relative_to(self.folder).as_posix(), path.read_text(encoding="utf-8") if path.exists() else ""
        heads = f"{name} (expected)", f"{name} (found)"
        yield from difflib.unified_diff(old.splitlines(), new.splitlines(), *heads, lineterm="")


def find_cases(folder: Path) -> list[Case]:
    """Return the cases of a folder that has ``ok/`` and ``bad/``, or one of them, sorted.

    Raises:
        CompileError: there is none.
    """
    found = [
        Case(folder=place.resolve(), good=kind == "ok")
        for kind in KINDS
        if (folder / kind).is_dir()
        for place in sorted((folder / kind).iterdir())
        if place.is_dir() and not place.name.startswith(".")
    ]
    if not found:
        hint = "a case is a folder in ok/ or bad/ with an environment.yaml"
        raise CompileError.of("TF101", f"there are no cases in {folder}", hint)
    return found


def specs_of(cases: Sequence[Case]) -> list[Path]:
    """Return the folders of the environments of some cases."""
    return [environment for case in cases for environment in case.environments]
