"""Turn a resolved environment into the objects that its manifests hold."""

from __future__ import annotations

import json
import marshal
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tfgitops.planning.gang import check_gang
from tfgitops.planning.jobmanifest import job_manifest
from tfgitops.planning.rolecheck import check_overlays, check_role, check_workdir
from tfgitops.planning.template import United, plan_template
from tfgitops.planning.tfconfig import Discovery
from tfgitops.plugins.hookspecs import Object
from tfgitops.spec.diagnostics import Note, Problem
from tfgitops.targets.gitops import argocd_annotations, flux_annotations, join_annotations
from tfgitops.targets.kubernetes.merge import SchemaName, union
from tfgitops.targets.kubernetes.objectkinds import CLUSTER_SCOPED, file_name
from tfgitops.targets.volcano.identity import DIGITS, PLACEHOLDER, name_job

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from tfgitops.planning.pinned import Committed
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment, Job, Patch
    from tfgitops.targets.kubernetes.merge import Conflict
    from tfgitops.targets.routes import Route

_NOTHING = United({})
_TWO = 2
_SCHEMAS: dict[str, SchemaName] = {"job": "Job", "pod": "PodTemplateSpec", "container": "Container"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """One object: its manifest, its file below ``manifests/``, and the route of the spec that asked for it.

    ``text`` is the whole committed file, where a job is pinned and this is its Job, or something that it needs: it is
    kept as it is, and what it needs is there because of the pin.
    """

    manifest: dict[str, Any]
    folder: str
    file: str
    because: Route
    own: str = ""
    keep: bool = field(default=False, compare=False)
    text: str = field(default="", repr=False)

    @property
    def path(self) -> str:
        """The file, relative to ``manifests/``."""
        return f"{self.folder}/{self.file}"


class Planner:
    """Plans one environment, and collects what is wrong on the way.

    ``environment`` is the one that was resolved; once planned, its pinned jobs have the roles of their manifests.
    ``problems`` are of the spec, ``faults`` are of plugins.
    """

    def __init__(self, environment: Environment, plugins: Plugins, committed: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        self.faults: list[Problem] = []
        self.environment = environment
        self._committed = committed
        self._plugins = plugins
        self._unions: dict[tuple[str, bytes], United] = {}

    def plan(self) -> list[Planned]:
        """Return all objects of the environment, in the order in which they are applied."""
        pinned = [job for job in self.environment.jobs if job.pin]
        objects = _once([*self._namespace(), *self._further_objects()], {job.route for job in pinned})
        objects += [planned for job in self.environment.jobs if not job.pin and (planned := self._job(job))]
        if pinned:
            objects = self._with_pinned(objects, pinned)
        objects = sorted(objects, key=lambda planned: (level(planned.folder), planned.file))
        self._refuse_doubles(objects)
        return self._for_controller(objects)

    def _job(self, job: Job) -> Planned | None:
        problems = [problem for role in job.roles for problem in check_role(job, role)]
        problems += [*check_workdir(job), *check_overlays(job), *check_gang(job)]
        if any(problem.severity == "error" for problem in problems):
            self.problems += problems
            return None
        manifest, found = self.draft(job, self._plugins.ask("tfgitops_contribute", job.route, self.faults, job=job))
        self.problems += problems + found
        name_job(job.name, manifest)
        return Planned(
            manifest=manifest, folder="workloads", file=file_name("Job", job.name), because=job.route, own=job.own
        )

    def draft(self, job: Job, patches: Iterable[tuple[str, Patch]]) -> tuple[dict[str, Any], list[Problem]]:
        """Return the manifest of a job with some patches, under a placeholder, and what is wrong with its discovery."""
        problems: list[Problem] = []
        wanted = self._wanted(job, patches)
        discovery = Discovery(job, PLACEHOLDER, len(job.name) + 1 + DIGITS)
        templates = []
        for role in job.roles:
            template = plan_template(job, role, wanted["pod", role.name], wanted["container", role.name])
            problems += discovery.write(role, template)
            templates.append(template)
        return job_manifest(job, templates, wanted["job",].value), problems

    def _with_pinned(self, objects: list[Planned], jobs: list[Job]) -> list[Planned]:
        """Add the committed Jobs of pinned jobs, and what they need of what is no longer made.

        What the compile makes because of a pinned job is as it was committed, too: the job's block is not in force.
        """
        from tfgitops.planning.pinned import Needs, RefusedError, as_it_runs, committed_job  # noqa: PLC0415 - for pins alone

        routes = {job.route for job in jobs}
        objects = [self._as_committed(planned) if planned.because[:2] in routes else planned for planned in objects]
        made = [(planned.manifest["kind"], planned.manifest["metadata"]["name"]) for planned in objects]
        needs = Needs(self._committed, made, self.environment.namespace)
        manifests = {}
        for job in jobs:
            at = (*job.route, "pin")
            try:
                found = committed_job(job.name, self.environment.namespace, self._committed, job.pin)
                objects += [_kept(found, job.route), *(_kept(file, at) for file in needs.of(found))]
                manifests[job.name] = found.manifest
            except RefusedError as error:
                self.problems.append(replace(error.complaint, at=at))
        self.environment = as_it_runs(self.environment, manifests)
        return objects

    def _as_committed(self, planned: Planned) -> Planned:
        from tfgitops.planning.pinned import RefusedError, read_committed  # noqa: PLC0415 - likewise

        try:
            found = read_committed(planned.path, self._committed.get(planned.path, ""))
        except RefusedError:  # it is new, or restored
            return planned
        return _kept(found, (*planned.because[:2], "pin"))

    def _wanted(self, job: Job, patches: Iterable[tuple[str, Patch]]) -> dict[tuple[str, ...], United]:
        """Join what the plugins want of each target of a job."""
        asked: dict[tuple[str, ...], list[tuple[str, Patch]]] = {("job",): []}
        for role in job.roles:
            asked["pod", role.name] = []
            asked["container", role.name] = []
        for said in patches:
            known = asked.get(said[1].target)
            if known is None:
                self.faults.append(_no_target(*said, job))
            else:
                known.append(said)
        return {target: self._united(target[0], patches) for target, patches in asked.items()}

    def _united(self, kind: str, patches: list[tuple[str, Patch]]) -> United:
        """Join patches of equal rank; equal ones come back in job after job, and are joined once."""
        if not patches:
            return _NOTHING
        parts = [patch.value for _, patch in patches]
        key = (kind, marshal.dumps(parts, 2))
        united = self._unions.get(key)
        if united is None:
            united = self._unions[key] = United(*union(parts, _SCHEMAS[kind]))
        if united.conflicts:
            self.problems += [_disagreement(conflict, patches) for conflict in united.conflicts]
        return united

    def _namespace(self) -> Iterator[Planned]:
        written = self.environment.data["namespace"]
        if written.get("create"):
            metadata = {"name": written["name"]}
            for key in ("labels", "annotations"):
                if values := written.get(key):
                    metadata[key] = {name: str(value) for name, value in values.items()}
            manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
            yield self._object(Object(manifest, ("namespace",), folder="cluster", keep=True))

    def _further_objects(self) -> Iterator[Planned]:
        for _, wanted in self._plugins.ask("tfgitops_objects", (), self.faults, environment=self.environment):
            yield self._object(wanted)

    def _object(self, wanted: Object) -> Planned:
        manifest = dict(wanted.manifest)
        kind, metadata = manifest["kind"], manifest["metadata"]
        if kind not in CLUSTER_SCOPED and wanted.folder == "workloads":
            metadata.setdefault("namespace", self.environment.namespace)
        return Planned(
            manifest=manifest, folder=wanted.folder, file=file_name(kind, metadata["name"]), because=wanted.because,
            keep=wanted.keep,
        )  # fmt: skip

    def _refuse_doubles(self, objects: Iterable[Planned]) -> None:
        first: dict[str, Planned] = {}
        for planned in objects:
            known = first.setdefault(planned.path, planned)
            if known is not planned:
                message = f"{planned.manifest['kind']} '{planned.manifest['metadata']['name']}' is written twice"
                self.problems.append(
                    Problem(
                        code="TF404", message=message, at=planned.because, hint="give one of them another name",
                        notes=(Note(message="also written because of this", at=known.because),),
                    )
                )  # fmt: skip

    def _for_controller(self, objects: list[Planned]) -> list[Planned]:
        """Tell the controller, by annotations, in which order to apply and what to keep."""
        folders = list(dict.fromkeys(planned.folder for planned in objects))
        for planned in objects:
            if planned.text:
                continue
            if self.environment.gitops == "argocd":
                found = argocd_annotations(wave=folders.index(planned.folder), keep=planned.keep)
            elif self.environment.gitops == "flux":
                variables = "${" in json.dumps(planned.manifest)
                found = flux_annotations(keep=planned.keep, holds_variables=variables)
            else:
                continue
            if found:
                metadata = planned.manifest["metadata"]
                metadata["annotations"], lost = join_annotations(metadata.get("annotations", {}), found)
                self.problems += [_overridden(planned.because, key, value, found[key]) for key, value in lost.items()]
        return objects


def level(folder: str) -> tuple[bool, int, str]:
    """Order folders as they are applied: cluster, cluster-2 …, workloads."""
    number = folder.removeprefix("cluster").removeprefix("-")
    return (folder == "workloads", int(number) if number.isdigit() else 1, folder)


def _once(objects: Iterable[Planned], pinned: Collection[Route]) -> list[Planned]:
    """Leave out objects that are as one before: several keys may ask for the same, and the first route stands for all.

    The blocks of pinned jobs are not in force, so their routes come last. What is of one name and not equal is left for
    `_refuse_doubles`.
    """

    def rank(planned: Planned) -> tuple[str, bool, list[str]]:
        return planned.path, planned.because[:2] in pinned, [*map(str, planned.because)]

    found: dict[str, list[Planned]] = {}
    for planned in sorted(objects, key=rank):
        known = found.setdefault(planned.path, [])
        if not any(one.manifest == planned.manifest and one.keep == planned.keep for one in known):
            known.append(planned)
    return [planned for alike in found.values() for planned in alike]


def _kept(file: Committed, at: Route) -> Planned:
    folder, _, name = file.path.partition("/")
    return Planned(manifest=file.manifest, folder=folder, file=name, because=at, own=file.own, text=file.text)


def _no_target(name: str, patch: Patch, job: Job) -> Problem:
    known = ", ".join(role.name for role in job.roles)
    return Problem(
        code="TF902", message=f"plugin '{name}' patches {patch.target!r}, which the job '{job.name}' has not",
        at=patch.because, expected=f"('job',), or 'pod' or 'container' of one of {known}",
    )  # fmt: skip


def _overridden(because: Route, key: str, value: str, ours: str) -> Problem:
    """Say that an annotation of the spec gives way to the one by which the compiler guides the controller."""
    message = f"the compiler writes '{key}: {ours}' itself, and '{value}' is lost"
    hint = "leave it out, or set `gitops: none` to write all such annotations yourself"
    at = (*because, "annotations", key)
    return Problem(code="TF502", message=message, at=at, severity="warning", found=value, expected=ours, hint=hint)


def _disagreement(conflict: Conflict, patches: list[tuple[str, Patch]]) -> Problem:
    """Name the plugins, and the lines of the spec, that want different values for one field."""
    said = [(*patches[index], value) for index, value in conflict.values]
    (_, here, wanted), (_, there, instead), *_ = said
    names = [f"'{name}'" for name in dict.fromkeys(name for name, _, _ in said)]
    who = f"plugins {', '.join(names[:-1])} and {names[-1]} want" if names[1:] else f"plugin {names[0]} wants"
    field_name = ".".join((*here.target[1:], *conflict.path))
    return Problem(
        code="TF401", at=there.because, found=str(instead), expected=str(wanted),
        message=f"{who} different values for {field_name}",
        hint=f"change one of the {'two ' if len(said) == _TWO else ''}lines, or leave one plugin out",
        notes=tuple(
            Note(message=f"plugin '{name}' wants {value!r} because of this", at=patch.because)
            for name, patch, value in said
            if patch is not there
        ),
    )  # fmt: skip
