"""Edit the `pin` of jobs in the files of a spec: the one place where the compiler changes what people wrote."""

from __future__ import annotations

import json
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.committed import MANIFESTS, read_manifest, texts
from tfgitops.diagnostics import CompileError, Diagnostic, did_you_mean
from tfgitops.disk import resolved, unwritable
from tfgitops.frozen import RefusedError, committed_job, job_path
from tfgitops.load import load, shown
from tfgitops.pipeline import compile_environment
from tfgitops.project import find_root
from tfgitops.resolve import merge_files
from tfgitops.volcano.update import immutable_changes
from tfgitops.write import replace_file
from tfgitops.yamltext.edit import EditError, edited, lines_of, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tfgitops.diagnostics import Route, Span
    from tfgitops.document import Document
    from tfgitops.load import Source
    from tfgitops.pipeline import Compiled
    from tfgitops.restarts import Restart
    from tfgitops.session import Session
    from tfgitops.yamltext.edit import Value

    Keys = tuple[str, ...]
    Changes = Callable[[dict[str, Any], Mapping[str, Keys]], Mapping[Keys, Value | None]]

_SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """A pin that was set or taken away: its job, the Job that it names, the file and line, and what stood there."""

    job: str
    name: str
    file: str
    line: int
    before: str

    @property
    def place(self) -> str:
        """The file and the line, as an editor opens them."""
        return f"{self.file}:{self.line}"


def committed_names(folder: Path, jobs: Iterable[str], committed: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the name of the committed Job of each of some jobs of an environment.

    ``committed`` are the texts of manifests by their paths, if they are not to be read from the working tree.

    Raises:
        CompileError: there is no such job, or its committed manifest is missing, edited, or another's.
    """
    source = load(folder)
    spec = _Spec(source)
    namespace = spec.merged.get("namespace")
    namespace = namespace.get("name") if isinstance(namespace, dict) else namespace
    committed = texts(folder) if committed is None else committed
    names = {}
    for job in spec.known(jobs):
        try:
            names[job] = committed_job(job, str(namespace), committed).reference[1]
        except RefusedError as error:
            spec.refuse(error.complaint.message, error.complaint.hint, spec.span(job), error.complaint.code)
    spec.stop_on_errors()
    return names


def pin_jobs(folder: Path, names: Mapping[str, str]) -> list[Pin]:
    """Pin jobs of an environment, each to the Job of a name: all of them, or none.

    The pin is written into the job's own block, in ``jobs/<job>.yaml`` or in ``environment.yaml``; a job that is wholly
    inherited gets a block there, since what other environments share is not to be pinned for one of them. Every other
    byte of the files stays. That the committed manifests are what the names say is for the next compile to judge.

    Raises:
        CompileError: there is no such job, or a file cannot be edited.
    """
    spec = _Spec(load(folder))
    jobs = spec.known(names)
    spec.stop_on_errors()

    def changes(value: dict[str, Any], routes: Mapping[str, Keys]) -> dict[Keys, Value]:
        """Put each pin at the end of what is written of its route; what lacks `jobs` gets one, with all of them."""
        found: dict[Keys, Value] = {}
        for job, route in routes.items():
            depth = next((n for n in range(1, len(route)) if not _has(value, route[:n])), len(route))
            wanted: Value = names[job]
            for key in reversed(route[depth:]):
                wanted = {key: wanted}
            there = found.get(route[:depth])
            found[route[:depth]] = (
                {**there, **wanted} if isinstance(there, dict) and isinstance(wanted, dict) else wanted
            )
        return found

    return spec.edited({job: names[job] for job in jobs}, changes)


def pin_rest(compiled: Compiled, restarts: Iterable[Restart], session: Session) -> tuple[Compiled, list[str]]:
    """Pin jobs to their committed runs and compile again: all of it, or nothing.

    A committed manifest that is not in the working tree is put back. Returns the environment, and a line a pin.

    Raises:
        CompileError: a committed manifest cannot be kept, a file cannot be edited, or the pinned spec does not compile.
    """
    folder, restarts = compiled.folder, list(restarts)
    names = {restart.job.name: restart.old_name for restart in restarts}
    committed = {folder / MANIFESTS / restart.planned.path: restart.committed for restart in restarts}
    committed_names(folder, names, {restart.planned.path: restart.committed for restart in restarts})
    assert compiled.environment is not None
    sources = [document.path for document in compiled.environment.places.documents]
    before = {path: path.read_bytes() if path.exists() else None for path in (*sources, *committed)}
    try:
        for path, text in committed.items():
            replace_file(path, text.encode())
        pins = pin_jobs(folder, names)
        again = _compiled_again(folder, session)
    except BaseException as error:
        _put_back(before)
        if isinstance(error, OSError):
            raise unwritable(folder / MANIFESTS, error) from error
        raise
    return again, [f"pinned  {pin.place}  {pin.name}" for pin in pins]


def _put_back(before: Mapping[Path, bytes | None]) -> None:
    """Make each file what it was, as far as the system lets it."""
    for path, content in before.items():
        with suppress(OSError):
            if content is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != content:
                replace_file(path, content, stat.S_IMODE(path.stat().st_mode))


def _compiled_again(folder: Path, session: Session) -> Compiled:
    again = compile_environment(folder, session.plugins, session.project)
    if not again.ok:
        raise CompileError(again.diagnostics)
    return again


def refuse_uncommitted(folder: Path, jobs: Iterable[str]) -> None:
    """Let no job be pinned to a run that is not in Git, if there is Git: what is not committed never ran.

    Raises:
        CompileError: a manifest in the working tree is not the one of the newest commit.
    """
    from tfgitops.review.history import find_head  # noqa: PLC0415 - for one command

    head = find_head(find_root(folder), [folder / MANIFESTS])
    if head is None:
        return
    there = {job: f"{folder}/{MANIFESTS}/{job_path(job)}" for job in jobs}
    changed = [job for job, path in there.items() if head.differs(head.path(Path(path)), read_manifest(path) or "")]
    if changed:
        hint = "commit it first, or restore the committed one: git checkout -- " + shown(Path(there[changed[0]]))
        raise CompileError(
            Diagnostic(
                code="TF605", severity="error", hint=hint,
                message=f"the manifest of '{job}' is not the committed one, so it is not what runs",
            )
            for job in changed
        )  # fmt: skip


def unpin_jobs(folder: Path, jobs: Iterable[str]) -> list[Pin]:
    """Take the pins of jobs of an environment away: all of them, or none.

    Raises:
        CompileError: there is no such job, one is not pinned, or its pin cannot be taken out of its file.
    """
    spec = _Spec(load(folder))
    pinned = {}
    for job in spec.known(jobs):
        pinned[job] = str(spec.jobs[job].get("pin") or "")
        document, route = spec.place(job)
        if not pinned[job]:
            spec.refuse(f"the job '{job}' is not pinned", "", spec.span(job))
        elif document.depth(route) < len(route):
            at = next(d.span(("jobs", job, "pin"), on_key=True) for d in spec.source.documents if _pins(d, job))
            hint = f"take it out there, or write `pin: ~` for '{job}' in {document.name}"
            spec.refuse(f"the pin of '{job}' is inherited", hint, at)
    spec.stop_on_errors()

    weaker = [document for document in spec.source.documents[1:] if not document.prefix]
    inherited = {job for document in weaker for job in document.value.get("jobs") or ()}

    def changes(value: dict[str, Any], routes: Mapping[str, Keys]) -> dict[Keys, Value | None]:
        """Take away with a pin a block that holds nothing else, if its job is inherited all the same."""
        alone = {job for job, at in routes.items() if at[:-1] and len(value["jobs"][job]) == 1 and job in inherited}
        if alone and len(alone) == len(value["jobs"]):
            return {("jobs",): None}
        return {at[:-1] if job in alone else at: None for job, at in routes.items()}

    return spec.edited(pinned, changes)


def outlook(compiled: Compiled, pin: Pin) -> str:
    """Say what the next build does with a job that is no longer pinned, after a compile of the edited spec."""
    if not compiled.ok or compiled.environment is None:
        return f"{pin.job}: the spec is not valid without the pin; see `tfgitops validate`"
    environment = compiled.environment
    job = environment.by_name.get(pin.job)
    new = next((o.manifest for o in compiled.objects if job and o.own and environment.job_of(o.manifest) is job), None)
    try:
        old = committed_job(pin.job, environment.namespace, texts(compiled.folder), pin.name).manifest
    except RefusedError:
        old = None
    if new is None or old is None:
        return f"{pin.job}: the next build writes its manifest anew"
    name = new["metadata"]["name"]
    if name == pin.name:
        same = "changes nothing" if new == old else "updates it in place"
        return f"{pin.job}: still {name}; the next build {same}"
    old = json.loads(json.dumps(old).replace(pin.name, name))
    changes = [_field(old, route) for route in immutable_changes(old, new)]
    more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    what = f"{pin.name} → {name}: {', '.join(changes[:_SHOWN])}{more}"
    return f"{pin.job}: `build --restart {environment.name}/{pin.job}` makes a new run, {what}"


def _field(manifest: dict[str, Any], route: Route) -> str:
    """Write a route of a manifest as people name it: elements of lists by their names."""
    value: Any = manifest
    words = []
    for key in route:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            value = None
        named = isinstance(key, int) and isinstance(value, dict) and "name" in value
        words.append(str(value["name"] if named else key))
    return ".".join(words).removeprefix("spec.tasks.").replace(".template.spec.containers.tensorflow", "")


class _Spec:
    """The files of one environment, and what is wrong with what is asked of them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.merged = merge_files(source.documents)
        jobs = self.merged.get("jobs")
        self.jobs = {k: v for k, v in jobs.items() if isinstance(v, dict)} if isinstance(jobs, dict) else {}
        self._files = {document.prefix: document for document in source.documents if document.prefix}
        self._found: list[Diagnostic] = []

    def known(self, jobs: Iterable[str]) -> list[str]:
        """Return those of some jobs that there are, each once, and refuse the others."""
        asked = list(dict.fromkeys(jobs))
        for job in asked:
            if job not in self.jobs:
                message = f"there is no job '{job}' in {shown(self.source.folder)}"
                self.refuse(message, did_you_mean(job, sorted(self.jobs)), None)
        return [job for job in asked if job in self.jobs]

    def refuse(self, message: str, hint: str, span: Span | None, code: str = "TF605") -> None:
        """Note one thing that cannot be done."""
        self._found.append(Diagnostic(code=code, severity="error", message=message, span=span, hint=hint))

    def stop_on_errors(self) -> None:
        """End the call where anything cannot be done.

        Raises:
            CompileError: with all that was found.
        """
        if self._found:
            raise CompileError(self._found)

    def place(self, job: str) -> tuple[Document, Route]:
        """Return the environment's own file in which a job stands, or is to stand, and the route of its pin."""
        return self._files.get(("jobs", job), self.source.documents[0]), ("jobs", job, "pin")

    def span(self, job: str) -> Span:
        """Return where a job stands in the environment's own files, or where it would."""
        document, route = self.place(job)
        return document.span(route[:-1], on_key=True)

    def edited(self, pins: Mapping[str, str], changes: Changes) -> list[Pin]:
        """Edit the files of some jobs, write those that differ, and say where each pin stands or stood."""
        places: dict[Path, dict[str, Keys]] = {}
        for job in pins:
            document, route = self.place(job)
            keys = tuple(str(key) for key in route[len(document.prefix) :])
            places.setdefault(resolved(document.path), {})[job] = keys
        before = {path: path.read_bytes() for path in places}
        after = {}
        for path, routes in places.items():
            raw = before[path].decode()
            try:
                after[path] = edited(raw, changes(value_of(raw), routes))
            except EditError as error:
                self._refuse_edits(job for job in routes if any(routes[job][: len(r)] == r for r in error.routes))
        self.stop_on_errors()
        _write({path: text.encode() for path, text in after.items()}, before)
        found = {
            pin.job: pin
            for path, routes in places.items()
            for pin in self._pins(pins, routes, before[path], after[path])
        }
        return [found[job] for job in pins]

    def _refuse_edits(self, jobs: Iterable[str]) -> None:
        for job in jobs:
            message = f"the pin of '{job}' cannot be edited without changing anything else"
            self.refuse(message, "an alias or a merge key is in the way: edit it by hand", self.span(job))

    def _pins(self, names: Mapping[str, str], routes: Mapping[str, Keys], before: bytes, after: str) -> Iterator[Pin]:
        """Say where the pins of one file stand, or stood if they are gone."""
        value = value_of(after)
        stand = all(_has(value, route) for route in routes.values())
        lines = lines_of(after if stand else before.decode(), routes.values())
        for job, line in zip(routes, lines, strict=True):
            old = str(self.jobs[job].get("pin") or "")
            yield Pin(job=job, name=names[job], file=self.place(job)[0].name, line=line, before=old)


def _write(after: Mapping[Path, bytes], before: Mapping[Path, bytes]) -> None:
    """Replace files whose content differs; if one cannot be, put back those that were.

    Raises:
        CompileError: a file cannot be written.
    """
    done: list[Path] = []
    try:
        for path, content in after.items():
            if content != before[path]:
                replace_file(path, content, stat.S_IMODE(path.stat().st_mode))
                done.append(path)
    except OSError as error:
        for written in done:
            with suppress(OSError):
                replace_file(written, before[written], stat.S_IMODE(written.stat().st_mode))
        raise unwritable(path, error) from error


def _pins(document: Document, job: str) -> bool:
    return document.depth(("jobs", job, "pin")) == len(("jobs", job, "pin"))


def _has(value: Any, route: Route) -> bool:
    for key in route:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True
