"""The last run of each job: the committed manifest that the cluster knows it by, wherever its file was."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.spec.committed import MANIFESTS, read_header, read_manifest
from tfgitops.spec.disk import is_there
from tfgitops.spec.project import SPEC

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from tfgitops.compiler.session import Session
    from tfgitops.planning.plan import Planned
    from tfgitops.review.changes import Change
    from tfgitops.review.history import Base
    from tfgitops.spec.committed import Header
    from tfgitops.spec.model import Environment

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
        from tfgitops.review.changes import compared, manifest_in  # noqa: PLC0415 - for manifests that are compared

        before = manifest_in(self.text)
        alike = before and before["kind"] == planned.manifest["kind"]
        return compared(planned.path, before, planned.manifest) if before and alike else None


class LastRuns:
    """The committed manifests of the environments of one call: those of HEAD; without Git, of the working tree."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def head(self) -> Base | None:
        """The newest commit, None without Git."""
        from tfgitops.review.history import find_head  # noqa: PLC0415 - for builds that change a job

        project = self._session.project
        return find_head(project.root, [project.root, *project.versions])

    def committed(self, folder: Path, wanted: Sequence[Planned]) -> Mapping[str, Sequence[Ran]]:
        """Return the committed manifests of some objects, those of jobs in other environments too."""
        if self.head is None:
            read = {one.path: read_manifest(f"{folder}/{MANIFESTS}/{one.path}") for one in wanted}
            return {path: [Ran(home="", text=text)] for path, text in read.items() if text is not None}
        own = self.head.path(folder)
        places = {
            f"{home}/{MANIFESTS}/{one.path}".removeprefix("./"): (one.path, home)
            for one in wanted
            for home in self.head.homes.get(one.path, [own])
        }
        found: dict[str, list[Ran]] = defaultdict(list)
        for full, content in self.head.read(places).items():
            path, home = places[full]
            found[path].append(Ran(home=home, text=content.decode(errors="replace").replace("\r\n", "\n")))
        return found

    def of(self, environment: Environment, planned: Planned, there: Iterable[Ran]) -> Ran | None:
        """Return the one of some committed manifests that the cluster knows as the last run of a job."""
        metadata = planned.manifest["metadata"]
        own = self.head.path(environment.folder) if self.head else ""

        def rank(ran: Ran) -> tuple[bool, bool, bool]:
            stays = ran.namespace in ("", metadata["namespace"])
            return stays and ran.name == metadata["name"], stays, ran.home == own

        for ran in sorted(there, key=rank, reverse=True):
            if ran.home == own or (rank(ran)[1] and self._gave(ran.home, environment, planned.because[-1])):
                return ran
        return None

    def _gave(self, home: str, taker: Environment, job: str | int) -> bool:
        """Tell whether an environment had the training of another one's job in HEAD, and does not have it any more."""
        from tfgitops.review.environmentreview import cluster_at  # noqa: PLC0415 - for jobs that may have moved

        assert self.head is not None
        folder = self.head.top / home
        if cluster_at(self.head, folder) not in (None, taker.cluster):
            return False
        if not is_there(folder / SPEC):
            return True
        other = compile_environment(folder, self._session.plugins, self._session.project).environment
        if other is None:  # its manifests stay, and so does the run
            return False
        return (other.namespace, other.cluster) != (taker.namespace, taker.cluster) or job not in other.by_name

    def pinned(self, environment: Environment, planned: Planned, ran: Ran) -> bool:
        """Tell whether HEAD pins a job and has its block as it is now, so that it was not changed to be in force."""
        from tfgitops.review.committedspecs import CommittedSpec  # noqa: PLC0415 - for jobs that were pinned

        head, job = self.head, str(planned.because[-1])
        files = [f"{ran.home}/{name}".removeprefix("./") for name in (SPEC, f"jobs/{job}.yaml")]
        if head is None or not any(ran.name.encode() in content for content in head.read(files).values()):
            return False
        then = replace(head, moves={head.path(environment.folder): ran.home})
        root, schema = self._session.project.root, self._session.plugins.schema
        spec = CommittedSpec(now=environment, base=then, root=root, schema=schema, jobs={job}).environment
        past = spec.by_name.get(job) if spec else None
        return past is not None and bool(past.pin) and past.own == planned.own
