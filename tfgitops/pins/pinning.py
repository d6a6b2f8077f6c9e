"""Pin jobs to their committed Jobs, and unpin them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.compiler.write import compare, replace_file
from tfgitops.pins.specedits import SpecFiles, all_or_none
from tfgitops.planning.pinned import RefusedError, committed_job, job_path
from tfgitops.spec.committed import MANIFESTS, read_manifest, texts
from tfgitops.spec.diagnostics import CompileError, Diagnostic, a_few
from tfgitops.spec.disk import shown, unwritable
from tfgitops.spec.load import load
from tfgitops.spec.project import find_root
from tfgitops.targets.routes import MISSING, reach
from tfgitops.targets.volcano.defaults import immutable_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.pins.specedits import Keys, Pin
    from tfgitops.review.history import Base
    from tfgitops.review.restarts import Restart
    from tfgitops.spec.yamltext.edit import Value
    from tfgitops.targets.routes import Route


_SHOWN = 3  # changes that `unpin` names


def committed_names(folder: Path, jobs: Iterable[str], committed: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the names of the committed Jobs of some jobs of an environment.

    ``committed`` are the texts of manifests by path; without it, those of the working tree. Raises CompileError if
    there is no such job, or its committed manifest is missing, edited, or another's.
    """
    spec = SpecFiles(load(folder))
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


def pin_jobs(folder: Path, names: Mapping[str, str], way_out: str = "edit it by hand") -> list[Pin]:
    """Pin jobs of an environment, each to the Job of a name: all of them, or none.

    The pin goes into the job's own block, in ``jobs/<job>.yaml`` or ``environment.yaml``; an inherited job gets a block
    there, since a pin must not affect other environments. Every other byte of the files stays. The next compile checks
    that the committed manifests have these names. ``way_out`` is the hint for a file that cannot be edited. Raises
    CompileError if there is no such job, or a file cannot be edited.
    """
    spec = SpecFiles(load(folder), way_out)
    jobs = spec.known(names)
    spec.stop_on_errors()

    def changes(value: dict[str, Any], routes: Mapping[str, Keys]) -> dict[Keys, Value]:
        """Put each pin at the end of the written part of its route; a file without `jobs` gets one with all pins."""
        found: dict[Keys, Value] = {}
        for job, route in routes.items():
            depth = next((n for n in range(1, len(route)) if reach(value, route[:n]) is MISSING), len(route))
            wanted: Value = names[job]
            for key in reversed(route[depth:]):
                wanted = {key: wanted}
            there = found.setdefault(route[:depth], wanted)
            if isinstance(there, dict) and isinstance(wanted, dict):
                there.update(wanted)
        return found

    return spec.edited({job: names[job] for job in jobs}, changes)


def refuse_uncommitted(folder: Path, jobs: Iterable[str]) -> None:
    """Refuse to pin a job to a manifest that is not committed, and so never ran; without Git, accept all.

    Raises CompileError if a manifest in the working tree is not the one of the newest commit.
    """
    from tfgitops.review.history import find_head  # noqa: PLC0415 - for one command

    head = find_head(find_root(folder), [folder / MANIFESTS])
    if head is None:
        return
    there = {job: f"{folder}/{MANIFESTS}/{job_path(job)}" for job in jobs}
    changed = [job for job, path in there.items() if head.differs(head.path(Path(path)), read_manifest(path) or "")]
    if changed:
        raise CompileError(_uncommitted(job, Path(there[job]), head) for job in changed)


def _uncommitted(job: str, path: Path, head: Base) -> Diagnostic:
    message, hint = f"the manifest of '{job}' is not the committed one, so it is not what runs", "commit it first"
    if head.path(path) in head.blobs:
        hint += f", or restore the committed one: git checkout -- {shown(path)}"
    else:
        message = f"the manifest of '{job}' was never committed, so nobody knows whether it runs"
    return Diagnostic(code="TF605", severity="error", hint=hint, message=message)


def unpin_jobs(folder: Path, jobs: Iterable[str]) -> list[Pin]:
    """Remove the pins of jobs of an environment: all of them, or none.

    Raises CompileError if there is no such job, one is not pinned, or its pin cannot be removed from its file.
    """
    spec = SpecFiles(load(folder))
    pinned = {}
    for job in spec.known(jobs):
        pinned[job] = str(spec.jobs[job].get("pin") or "")
        if not pinned[job]:
            spec.refuse(f"the job '{job}' is not pinned", "", spec.span(job))
    spec.stop_on_errors()

    weaker = [document for document in spec.source.documents[1:] if not document.prefix]
    inherited = {job for document in weaker for job in document.value.get("jobs") or ()}

    def changes(value: dict[str, Any], routes: Mapping[str, Keys]) -> dict[Keys, Value | None]:
        """Remove each pin, with its block if that holds nothing else and the job is inherited."""
        alone = {job for job, at in routes.items() if at[:-1] and len(value["jobs"][job]) == 1 and job in inherited}
        if alone and len(alone) == len(value["jobs"]):
            return {("jobs",): None}
        return {at[:-1] if job in alone else at: None for job, at in routes.items()}

    return spec.edited(pinned, changes)


def pin_rest(compiled: Compiled, restarts: Iterable[Restart], session: Session) -> tuple[Compiled, list[str]]:
    """Pin jobs that would restart to their committed runs, and compile again: all of it, or nothing.

    Committed manifests are restored in the working tree. Returns the environment, and a line for each pin. Raises
    CompileError if a committed manifest cannot be kept, a file cannot be edited, or the pinned spec does not compile.
    """
    folder, restarts = compiled.folder, list(restarts)
    names = {restart.job.name: restart.ran.name for restart in restarts}
    committed = {folder / MANIFESTS / restart.planned.path: restart.ran.text for restart in restarts}
    committed_names(folder, names, {restart.planned.path: restart.ran.text for restart in restarts})
    assert compiled.environment is not None
    sources = [document.path for document in compiled.environment.places.documents]
    try:
        with all_or_none([*sources, *committed]):
            for path, text in committed.items():
                replace_file(path, text.encode())
            pins = pin_jobs(folder, names, f"edit it by hand, or let it start anew: --restart {folder.name}/{{}}")
            again = compile_environment(folder, session.plugins, session.project)
            if not again.ok:
                raise CompileError(again.diagnostics)
    except OSError as error:
        raise unwritable(folder / MANIFESTS, error) from error
    return again, [f"pinned  {pin.place}  {pin.name}" for pin in pins]


def outlook(compiled: Compiled, pin: Pin, session: Session) -> str:
    """Say what the next build does with an unpinned job, after a compile of the edited spec."""
    from tfgitops.review.restarts import Guard  # noqa: PLC0415 - for one command

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
    what = f"{pin.name} → {name}: {a_few(changes, _SHOWN)}"
    restarts = Guard(session).restarts(compiled, compare(compiled.folder, compiled.files))
    asked = any(restart.job.name == pin.job for restart in restarts)
    build = f"`build --restart {environment.name}/{pin.job}`" if asked else "the next build"
    return f"{pin.job}: {build} makes a new run, {what}"


def _field(manifest: dict[str, Any], route: Route) -> str:
    """Write a route of a manifest with the names of list elements."""
    words = []
    for depth, key in enumerate(route, start=1):
        value = reach(manifest, route[:depth]) if isinstance(key, int) else None
        words.append(str(value["name"] if isinstance(value, dict) and "name" in value else key))
    return ".".join(words).removeprefix("spec.tasks.").replace(".template.spec.containers.tensorflow", "")
