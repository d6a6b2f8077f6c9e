"""Plan the objects of one environment: its Jobs, and what they need beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tfgitops.planning.gang import check_gang
from tfgitops.planning.jobmanifest import job_manifest
from tfgitops.planning.overlaycheck import check_overlays
from tfgitops.planning.policies import check_end
from tfgitops.planning.policycheck import check_policies
from tfgitops.planning.rolecheck import check_role, check_workdir
from tfgitops.planning.template import United, plan_template
from tfgitops.planning.tfconfig import Discovery
from tfgitops.plugins.hookspecs import Object
from tfgitops.spec.diagnostics import Note, Problem
from tfgitops.targets.gitops import argocd_annotations, flux_annotations, join_annotations
from tfgitops.targets.kubernetes.complete import complete
from tfgitops.targets.kubernetes.merge import SchemaName, union
from tfgitops.targets.kubernetes.objectkinds import CLUSTER_SCOPED, file_name
from tfgitops.targets.memo import by_content
from tfgitops.targets.volcano.identity import DIGITS, PLACEHOLDER, name_job

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from tfgitops.planning.pinned import Committed
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment, Job, Patch
    from tfgitops.targets.kubernetes.merge import Conflict
    from tfgitops.targets.routes import Route

    Asked = tuple[str, Patch]

_SCHEMAS: dict[str, SchemaName] = {"job": "Job", "pod": "PodTemplateSpec", "container": "Container"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """One object: its manifest, its file below ``manifests/``, and the route of the spec that asks for it.

    ``text`` is set for a pinned Job and for the objects that it needs: the committed file, which stays as it is.
    """

    manifest: dict[str, Any]
    folder: str
    file: str
    because: Route
    own: str = ""
    job: str = field(default="", compare=False)
    keep: bool = field(default=False, compare=False)
    text: str = field(default="", repr=False)

    @property
    def path(self) -> str:
        """The file, relative to ``manifests/``."""
        return f"{self.folder}/{self.file}"


class Planner:
    """Plans one environment.

    ``problems`` collects mistakes in the spec, and ``faults`` those of plugins. After `plan`, the pinned jobs of
    ``environment`` have the roles of their committed manifests.
    """

    def __init__(self, environment: Environment, plugins: Plugins, committed: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        self.faults: list[Problem] = []
        self.environment = environment
        self._committed = committed
        self._plugins = plugins

    def plan(self) -> list[Planned]:
        """Return all objects of the environment, in the order in which a controller applies them."""
        pinned = [job for job in self.environment.jobs if job.pin]
        asked = self._plugins.ask("tfgitops_objects", (), self.faults, environment=self.environment)
        beside = [*self._namespace(), *(self._object(wanted) for _, wanted in asked)]
        objects = _once(beside, {job.route for job in pinned})
        objects += [planned for job in self.environment.jobs if not job.pin and (planned := self._job(job))]
        if pinned:
            objects = self._with_pinned(objects, pinned)
        objects = sorted(self._filled_in(objects), key=lambda planned: (level(planned.folder), planned.file))
        self._refuse_doubles(objects)
        self._annotate(objects)
        return objects

    def _namespace(self) -> Iterator[Planned]:
        written = self.environment.data["namespace"]
        if written.get("create"):
            metadata = {"name": written["name"]}
            for key in ("labels", "annotations"):
                if values := written.get(key):
                    metadata[key] = {name: str(value) for name, value in values.items()}
            manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
            yield self._object(Object(manifest, ("namespace",), folder="cluster", keep=True))
        if hard := written.get("quota"):
            place = {"name": written["name"], "namespace": written["name"]}
            manifest = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": place, "spec": {"hard": hard}}
            yield self._object(Object(manifest, ("namespace", "quota"), folder="cluster"))

    def _object(self, wanted: Object) -> Planned:
        manifest = dict(wanted.manifest)
        kind, metadata = manifest["kind"], manifest["metadata"]
        if kind not in CLUSTER_SCOPED and wanted.folder == "workloads":
            metadata.setdefault("namespace", self.environment.namespace)
        return Planned(
            manifest=complete(manifest), folder=wanted.folder, file=file_name(kind, metadata["name"]),
            because=wanted.because, keep=wanted.keep, job=wanted.job,
        )  # fmt: skip

    def _job(self, job: Job) -> Planned | None:
        problems = [problem for role in job.roles for problem in check_role(job, role)]
        problems += [*check_workdir(job), *check_overlays(job), *check_gang(job), *check_end(job)]
        if any(problem.severity == "error" for problem in problems):
            self.problems += problems
            return None
        manifest, found = self.draft(job, self._plugins.ask("tfgitops_contribute", job.route, self.faults, job=job))
        self.problems += [*problems, *found, *check_policies(job, manifest)]
        name_job(job.name, manifest)
        return Planned(
            manifest=manifest, folder="workloads", file=file_name("Job", job.name), because=job.route, own=job.own
        )

    def draft(self, job: Job, patches: Iterable[Asked]) -> tuple[dict[str, Any], list[Problem]]:
        """Return the manifest of a job with some patches, under a placeholder, and the problems of its variables."""
        problems: list[Problem] = []
        wanted = self._wanted(job, patches)
        discovery = Discovery(job, PLACEHOLDER, len(job.name) + 1 + DIGITS)
        templates = []
        for role in job.roles:
            template = plan_template(job, role, wanted["pod", role.name], wanted["container", role.name])
            problems += discovery.write(role, template)
            templates.append(template)
        return job_manifest(job, templates, wanted["job",].value), problems

    def _wanted(self, job: Job, patches: Iterable[Asked]) -> dict[tuple[str, ...], United]:
        """Join the patches of each target of a job."""
        targets = [("job",), *((kind, role.name) for role in job.roles for kind in ("pod", "container"))]
        asked: dict[tuple[str, ...], list[Asked]] = {target: [] for target in targets}
        for name, patch in patches:
            if patch.target in asked:
                asked[patch.target].append((name, patch))
            else:
                self.faults.append(_no_target(name, patch, job))
        wanted = {}
        for target, said in asked.items():
            wanted[target] = united = _united([patch.value for _, patch in said], target[0])
            self.problems += [_disagreement(conflict, said) for conflict in united.conflicts]
        return wanted

    def _with_pinned(self, objects: list[Planned], jobs: list[Job]) -> list[Planned]:
        """Add the committed Jobs of pinned jobs, and the committed objects that they need.

        The block of a pinned job is not in force, so an object that the compile makes for it stays as committed, too.
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

    def _filled_in(self, objects: list[Planned]) -> Iterator[Planned]:
        """Yield the objects, with the run and the hosts of a job in those that name the job."""
        runs = {planned.because[1]: planned for planned in objects if planned.manifest["kind"] == "Job" and planned.own}
        for planned in objects:
            job, run = self.environment.by_name.get(planned.job), runs.get(planned.job)
            if job and run:
                name = run.manifest["metadata"]["name"]
                filled = Discovery(job, name, len(name)).fill_in(planned.manifest)
                yield replace(planned, manifest=filled)
            else:
                yield planned

    def _as_committed(self, planned: Planned) -> Planned:
        from tfgitops.planning.pinned import RefusedError, read_committed  # noqa: PLC0415 - likewise

        try:
            found = read_committed(planned.path, self._committed.get(planned.path, ""))
        except RefusedError:  # it is new, or restored
            return planned
        return _kept(found, (*planned.because[:2], "pin"))

    def _refuse_doubles(self, objects: Iterable[Planned]) -> None:
        first: dict[str, Planned] = {}
        for planned in objects:
            known = first.setdefault(planned.path, planned)
            if known is not planned:
                message = f"{planned.manifest['kind']} '{planned.manifest['metadata']['name']}' is written twice"
                note = Note(message="also written because of this", at=known.because)
                hint = "give one of them another name"
                self.problems.append(
                    Problem(code="TF404", message=message, at=planned.because, hint=hint, notes=(note,))
                )

    def _annotate(self, objects: list[Planned]) -> None:
        """Tell the controller, by annotations, in which order to apply the objects and which ones to keep."""
        waves = {folder: wave for wave, folder in enumerate(dict.fromkeys(planned.folder for planned in objects))}
        for planned in objects:
            found: dict[str, str] = {}
            if self.environment.gitops == "argocd":
                found = argocd_annotations(wave=waves[planned.folder], keep=planned.keep)
            elif self.environment.gitops == "flux":
                text = json.dumps(planned.manifest)
                found = flux_annotations(keep=planned.keep, holds_variables="${" in text or "$$" in text)
            if found and not planned.text:
                metadata = planned.manifest["metadata"]
                metadata["annotations"], lost = join_annotations(metadata.get("annotations", {}), found)
                self.problems += [_overridden(planned.because, key, value, found[key]) for key, value in lost.items()]


@by_content(1 << 12)
def _united(values: list[Any], kind: str) -> United:
    """Join patches of equal rank. Most jobs get equal patches, so each join is made once."""
    return United(*union(values, _SCHEMAS[kind]))


def level(folder: str) -> tuple[bool, int, str]:
    """Return the sort key of a folder in the order of applying: cluster, cluster-2 …, workloads."""
    number = folder.removeprefix("cluster").removeprefix("-")
    return (folder == "workloads", int(number) if number.isdigit() else 1, folder)


def _once(objects: Iterable[Planned], pinned: Collection[Route]) -> list[Planned]:
    """Return the objects without repetitions: several keys may ask for one object, and the first route stands for all.

    Routes in pinned jobs come last, since the blocks of these jobs are not in force. Objects of one name that are not
    equal stay, and `_refuse_doubles` reports them.
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
    """Return the problem of an annotation that gives way to the compiler's own."""
    message = f"the compiler writes '{key}: {ours}' itself, and '{value}' is lost"
    hint = "leave it out, or set `gitops: none` to write all such annotations yourself"
    at = (*because, "annotations", key)
    return Problem(code="TF502", message=message, at=at, severity="warning", found=value, expected=ours, hint=hint)


def _disagreement(conflict: Conflict, patches: list[Asked]) -> Problem:
    """Return the problem that names the plugins, and the lines, that want different values for one field."""
    said = [(*patches[index], value) for index, value in conflict.values]
    (_, here, wanted), (_, there, instead), *others = said
    names = [f"'{name}'" for name in dict.fromkeys(name for name, _, _ in said)]
    who = f"plugins {', '.join(names[:-1])} and {names[-1]} want" if names[1:] else f"plugin {names[0]} wants"
    return Problem(
        code="TF401", at=there.because, found=str(instead), expected=str(wanted),
        message=f"{who} different values for {'.'.join((*here.target[1:], *conflict.path))}",
        hint=f"change one of the {'' if others else 'two '}lines, or leave one plugin out",
        notes=tuple(
            Note(message=f"plugin '{name}' wants {value!r} because of this", at=patch.because)
            for name, patch, value in said
            if patch is not there
        ),
    )  # fmt: skip
