"""The last run of each job: the committed manifest that the cluster knows it by, wherever its file was."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.spec.committed import MANIFESTS, read_header, read_manifest
from tfgitops.spec.disk import is_there
from tfgitops.spec.project import SPEC

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.planning.plan import Planned
    from tfgitops.review.changes import Change
    from tfgitops.review.history import Base
    from tfgitops.spec.committed import Header
    from tfgitops.spec.model import Environment, Job

_NAME = re.compile(r"^metadata:\n(?:  .*\n)*?  name: '?([^\s']+)'?$", re.MULTILINE)
_NAMESPACE = re.compile(r"^metadata:\n(?:  .*\n)*?  namespace: '?([^\s']+)'?$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A committed manifest of a job: its text, and the folder of its environment from the top of the repository."""

    home: str
    text: str = field(repr=False)

    @property
    def header(self) -> Header | None:
        """The header, None if it is not ours."""
        return read_header(self.text)

    @property
    def name(self) -> str:
        """The name of the Job, "" if it cannot be read."""
        found = _NAME.search(self.text)
        return found[1] if found else ""

    @property
    def namespace(self) -> str:
        """Its namespace, "" if it has none."""
        found = _NAMESPACE.search(self.text)
        return found[1] if found else ""

    def change(self, planned: Planned) -> Change | None:
        """Return what becomes of it if a planned object follows; None if it cannot be compared."""
        from tfgitops.review.changes import compared  # noqa: PLC0415 - for manifests that are compared
        from tfgitops.review.rereading import manifest_in  # noqa: PLC0415 - the same

        before = manifest_in(self.text, planned.manifest)
        alike = before and before["kind"] == planned.manifest["kind"]
        return compared(planned.path, before, planned.manifest) if before and alike else None


class LastRuns:
    """The committed manifests of the environments of one call: those of HEAD; without Git, of the working tree."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._clusters: dict[str, str | None] = {}
        self._present: dict[str, Environment | None] = {}
        self._specs: dict[str, bytes] = {}
        self._blocks: dict[str, list[Mapping[str, Job]]] = {}
        self.doubtful: set[tuple[Path, str]] = set()

    @cached_property
    def head(self) -> Base | None:
        """The newest commit, None without Git."""
        from tfgitops.review.history import find_head  # noqa: PLC0415 - for builds that change a job

        project = self._session.project
        return find_head(project.root, [project.root, *project.versions])

    @cached_property
    def _nothing_ran(self) -> bool:
        """Tell whether there is a repository, but no commit."""
        from tfgitops.review.history import is_unborn  # noqa: PLC0415 - for builds without a commit

        return self.head is None and is_unborn(self._session.project.root)

    def at(self, compiled: Compiled) -> Base | None:
        """Return HEAD, in which the folder of an environment that moved is the folder where most of its jobs were."""
        head, environment = self.head, compiled.environment
        if head is None or environment is None or head.path(compiled.folder / SPEC) in head.blobs:
            return head
        homes = Counter(
            home
            for one in compiled.objects
            for home in head.homes.get(one.path, ())
            if not is_there(head.top / home / SPEC) and self._gave(home, environment, str(one.because[-1]))
        )
        moves = {head.path(compiled.folder): home for home, _ in homes.most_common(1)}
        return replace(head, moves=moves)

    def committed(self, folder: Path, wanted: Iterable[Planned], head: Base | None) -> dict[str, Ran]:
        """Return the committed manifests of some objects of an environment, by path; without Git, those on the disk."""
        if self._nothing_ran:
            return {}
        if head is None:
            read = {one.path: read_manifest(f"{folder}/{MANIFESTS}/{one.path}") for one in wanted}
            return {path: Ran(home="", text=text) for path, text in read.items() if text is not None}
        return self._runs(head, head.path(folder), [one.path for one in wanted])

    @staticmethod
    def _runs(head: Base, home: str, paths: Iterable[str]) -> dict[str, Ran]:
        places = {_path(home, path): path for path in paths}
        texts = {places[full]: content.decode(errors="replace") for full, content in head.read(places).items()}
        return {path: Ran(home=home, text=text.replace("\r\n", "\n")) for path, text in texts.items()}

    def of(self, compiled: Compiled, jobs: Iterable[Planned]) -> dict[str, Ran]:
        """Return the last run of some jobs of an environment by path, those from other folders too.

        A run elsewhere counts before one of another namespace, and before any if its manifest is the compiled one.
        """
        assert compiled.environment is not None
        found = self.committed(compiled.folder, jobs, self.head)
        texts = {file.path: file.text for file in compiled.files}
        if self.head is None:
            return found
        for one in jobs:
            ran, there = found.get(one.path), one.manifest["metadata"]["namespace"]
            stays = ran is not None and ran.namespace in ("", there)
            same = self.head.homes_of(one.path, texts[one.path])
            for home in same if stays else self.head.homes.get(one.path, ()):
                if self._gave(home, compiled.environment, str(one.because[-1])):
                    other = self._runs(self.head, home, [one.path])
                    found |= {path: run for path, run in other.items() if run.namespace == there}
        return found

    def _gave(self, home: str, taker: Environment, job: str) -> bool:
        """Tell whether another environment had the training of a job in HEAD, and does not have it any more."""
        from tfgitops.review.environmentreview import cluster_at, names_cluster  # noqa: PLC0415 - for jobs that may have moved

        assert self.head is not None
        folder = self.head.top / home
        if folder == taker.folder.resolve():
            return False
        if home not in self._clusters:
            self._clusters[home] = cluster_at(self.head, folder)
        gone, cluster = not is_there(folder / SPEC), self._clusters[home]
        if cluster not in (None, taker.cluster):  # but a folder that names no cluster stays on its own if it moves
            was_there = self.head.path(taker.folder / SPEC) in self.head.blobs
            return gone and cluster == folder.name and not names_cluster(taker) and not was_there
        if gone:
            return True
        if home not in self._present:
            compiled = compile_environment(folder, self._session.plugins, self._session.project)
            self._present[home] = compiled.environment
        other = self._present[home]
        if other is None:  # its manifests stay, and so does the run
            return False
        return (other.namespace, other.cluster) != (taker.namespace, taker.cluster) or job not in other.by_name

    def pinned(self, environment: Environment, planned: Planned, ran: Ran) -> bool:
        """Tell whether HEAD pins a job and has its block as it is now, so that it was not changed to be in force."""
        head, job = self.head, str(planned.because[-1])
        if head is None:
            return False
        if ran.home not in self._specs:
            own = tuple(f"{ran.home}/{name}".removeprefix("./") for name in (SPEC, "jobs/"))
            self._specs[ran.home] = b"".join(head.read(path for path in head.blobs if path.startswith(own)).values())
        if ran.name.encode() not in self._specs[ran.home]:  # most jobs were not pinned
            return False
        past = self._past(environment, head, ran.home, {job}).get(job)
        return past is not None and bool(past.pin) and past.own == planned.own

    def forged(self, environment: Environment, planned: Planned, ran: Ran) -> bool:
        """Tell whether a job's block never changed, although the first line of its manifest in HEAD says that it did.

        The digest of a manifest leaves that line out. So HEAD's specs decide, and those of the commit that last wrote
        the manifests, which may be older. A job of a shallow clone that lacks that commit is added to ``doubtful``.
        """
        if self.head is None:
            return False
        job = str(planned.because[-1])
        if ran.home not in self._blocks:
            wrote = self.head.newest(_path(ran.home, ""), [self._session.project.root])
            bases = {wrote.commit if wrote else "": wrote, self.head.commit: self.head}
            self._blocks[ran.home] = [
                self._past(environment, base, ran.home, environment.by_name) if base else {} for base in bases.values()
            ]
        *wrote_so, now = (job in past and past[job].own == planned.own for past in self._blocks[ran.home])
        if now and not self._blocks[ran.home][0]:  # a shallow clone lacks the commit
            self.doubtful.add((environment.folder, job))
        return now and all(wrote_so)

    def _past(self, environment: Environment, base: Base, home: str, jobs: Collection[str]) -> Mapping[str, Job]:
        """Return some jobs of an environment as they were in a commit, below another folder if it moved."""
        from tfgitops.review.committedspecs import CommittedSpec  # noqa: PLC0415 - for jobs whose blocks changed

        then = replace(base, moves={base.path(environment.folder): home})
        root, schema = self._session.project.root, self._session.plugins.schema
        spec = CommittedSpec(now=environment, base=then, root=root, schema=schema, jobs=jobs).environment
        return spec.by_name if spec else {}


def _path(home: str, path: str) -> str:
    """Return the path of a manifest from the top of the repository."""
    return f"{home}/{MANIFESTS}/{path}".removeprefix("./")
