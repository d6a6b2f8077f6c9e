"""From the objects of some files to the text of a spec, and what is to be said of each of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfgitops.adoption.beside import SKIPPED, Beside
from tfgitops.adoption.comments import Comments
from tfgitops.adoption.configfiles import FOLDER, config_files
from tfgitops.adoption.differences import told_differences
from tfgitops.adoption.fitting import fit
from tfgitops.adoption.hoisting import hoist_jobs
from tfgitops.adoption.remarks import Remark, Told
from tfgitops.adoption.shelf import Shelf
from tfgitops.adoption.specwriting import write_spec
from tfgitops.adoption.taking import Taken, take
from tfgitops.adoption.tfjobs import TFJobReader
from tfgitops.adoption.trials import HEAD, Trials, jobs_of
from tfgitops.spec.diagnostics import CompileError, Diagnostic, a_few, has_errors
from tfgitops.spec.model import JOB_LABEL
from tfgitops.spec.project import SPEC
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfgitops.adoption.comments import Comment
    from tfgitops.adoption.drafts import Draft
    from tfgitops.adoption.fitting import Fitted
    from tfgitops.adoption.sourcefiles import SourceObject
    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Span
    from tfgitops.targets.routes import Route

    Json = dict[str, Any]

VOLCANO, KUBEFLOW = "batch.volcano.sh", "kubeflow.org"
_CONTROLLERS = {"argocd.argoproj.io/sync-wave": "argocd", "kustomize.toolkit.fluxcd.io/": "flux"}


@dataclass(frozen=True, kw_only=True)
class Adopted:
    """The text of a spec, or nothing, with the files that it names, what is told of each object, and all problems."""

    text: str
    files: dict[str, str]
    told: tuple[Told, ...]
    diagnostics: tuple[Diagnostic, ...]


def adopt(sources: Sequence[SourceObject], plugins: Plugins, namespace: str = "", target: str = "") -> Adopted:
    """Return the spec that compiles to the Jobs of some sources, as nearly as it can.

    With a ``target``, the path of the spec to be, ConfigMaps that jobs mount become files beside it.
    """
    return _Adoption(sources, plugins, namespace, target).adopt()


class _Adoption:
    def __init__(self, sources: Sequence[SourceObject], plugins: Plugins, namespace: str, target: str) -> None:
        self._target = target
        self._given = namespace
        self._namespace = namespace or _namespace(sources)
        self._sources = [source for source in sources if _place(source) in ("", self._namespace)]
        self._elsewhere = [source for source in sources if source not in self._sources]
        self._plugins = plugins
        others = [source for source in self._sources if not _is_job(source)]
        self._shelf = Shelf(
            config_files(others, filter(_is_job, self._sources)) if target else {},
            plugins.schema.environment["properties"],
        )
        self._beside = Beside(self._shelf, _controller(sources), self._namespace)
        self._problems: list[Diagnostic] = []
        self._told: list[Told] = []
        self._jobs: dict[str, Taken] = {}

    def adopt(self) -> Adopted:
        for source in self._elsewhere:
            text = f"in the namespace {_place(source)}: an environment has one, here {self._namespace}"
            text = SKIPPED.get(source.kind, text)
            self._told.append(Told(source, "", (Remark("note", text),)))
        for source in self._sources:
            if _is_job(source):
                self._take_job(source)
            elif source.kind != "ConfigMap":
                self._take_beside(source)
        if not self._jobs and not self._problems and not any(one.became for one in self._told):
            self._problems.append(_nothing(self._told, self._given))
        if has_errors(self._problems):
            return self._result("")
        with Trials(self._plugins, self._namespace, self._shelf.files.values()) as trials:
            fitted = {name: fit(taken, self._shelf, trials) for name, taken in self._jobs.items()}
            for source in self._sources:
                if source.kind == "ConfigMap":
                    self._take_config(source)
            return self._written(fitted, trials)

    def _result(self, text: str) -> Adopted:
        order = {id(source): index for index, source in enumerate((*self._sources, *self._elsewhere))}
        told = sorted(self._told, key=lambda one: order[id(one.source)])
        files = {path: one for name in self._shelf.configs for path, one in self._shelf.files[name].items()}
        return Adopted(text=text, files=files if text else {}, told=tuple(told), diagnostics=tuple(self._problems))

    def _take_beside(self, source: SourceObject) -> None:
        remarks: list[Remark] = []

        def say(sort: Any, text: str, at: Route | None = None) -> None:
            remarks.append(Remark(sort, text, at))

        became = self._beside.take(source, say)
        if not became and not remarks:
            say("note", SKIPPED.get(source.kind, "the spec has no key for this kind; keep the object where it is"))
        self._told.append(Told(source, became, tuple(remarks)))

    def _take_config(self, source: SourceObject) -> None:
        if source.name in self._shelf.configs:
            text = f"its files are in {FOLDER}/{source.name}; the ConfigMaps of the jobs are named by their content"
            self._told.append(Told(source, f"configMaps.{source.name}", (Remark("changed", text),)))
        else:
            self._take_beside(source)

    def _take_job(self, source: SourceObject) -> None:
        if source.group == KUBEFLOW:
            reader = TFJobReader(source)
            taken = take(source, reader.read(), reader.places, reader.remarks)
            taken.framework = "tensorflow"
        elif source.kind == "CronJob":
            taken = take(source, *_of_schedule(source))
        else:
            taken = take(source, source.value, {}, [])
        self._problems += taken.problems
        if taken.problems:
            return
        if not taken.spec["tasks"]:
            message = f"the {source.kind} has no {'replicas' if taken.framework else 'tasks'}"
            hint = "give it at least one, in `tfReplicaSpecs`" if taken.framework else "give it at least one"
            self._problems.append(Diagnostic(code="TF501", message=message, span=source.span(("spec",)), hint=hint))
            return
        name = next(name for name in _names(taken.name) if name not in self._jobs)
        if name != taken.name:
            taken.say("changed", f"two Jobs have this name, so this one is {name}", ("metadata", "name"))
        if not self._jobs and not (self._given or _place(source)):
            text = f"no namespace is given, so it is `{self._namespace}`; --namespace NAME gives another"
            taken.say("note", text)
        self._jobs[name] = taken

    def _written(self, fitted: dict[str, Fitted], trials: Trials) -> Adopted:
        spec, drafts = self._spec(fitted)
        if not _means_the_same(trials.text(json.dumps(spec)), fitted):
            spec, drafts = self._spec(fitted, share=False)
        text = write_spec(spec, self._comments(drafts))
        compiled = trials.text(text)
        self._problems += [self._placed(found, drafts) for found in compiled.diagnostics]
        jobs = jobs_of(compiled)
        for name, taken in self._jobs.items():
            remarks = [*taken.remarks, *(told_differences(taken, jobs[name], self._shelf) if name in jobs else ())]
            self._told.append(Told(taken.source, f"jobs.{name}", tuple(dict.fromkeys(remarks))))
        return self._result("" if has_errors(self._problems) else text)

    def _spec(self, fitted: dict[str, Fitted], *, share: bool = True) -> tuple[Json, dict[Route, tuple[str, Draft]]]:
        """Return the spec, and the drafts of its parts by their routes, each with the job that it is read from."""
        drafts = {name: one.draft for name, one in fitted.items()}
        shared, rest = hoist_jobs(drafts)
        if not share or not shared.data:
            rest = drafts
        spec: Json = {**HEAD}
        if self._beside.controller:
            spec["gitops"] = self._beside.controller
        names = self._beside.namespace
        spec["namespace"] = {"name": self._namespace, **names} if names else self._namespace
        spec |= self._shelf.blocks
        if rest is not drafts:
            spec["defaults"] = _short(shared.data)
        spec["jobs"] = {name: _short(draft.data) for name, draft in rest.items()}
        found: dict[Route, tuple[str, Draft]] = {("jobs", name): (name, draft) for name, draft in rest.items()}
        if drafts:
            found["defaults",] = (next(iter(drafts)), shared)
        return spec, found

    def _comments(self, drafts: dict[Route, tuple[str, Draft]]) -> dict[Route, Comment]:
        comments, found = Comments(), {}
        for top, (name, draft) in drafts.items():
            taken = self._jobs[name]
            for route, origin in sorted(draft.origins.items(), key=lambda pair: len(pair[0])):
                written = draft.get(route) if route else draft.data
                if written is not None and (comment := comments.at(taken.source, taken.place(origin))):
                    found[(*top, *route)] = comment
        return found

    def _placed(self, found: Diagnostic, drafts: dict[Route, tuple[str, Draft]]) -> Diagnostic:
        """Return a problem of the spec at the line of the source that it comes from."""
        for top, (name, draft) in drafts.items():
            if found.at[: len(top)] == top and (origin := draft.origin(found.at[len(top) :])) is not None:
                taken = self._jobs[name]
                span = _within(taken.source, taken.source.span(taken.place(origin)), found.span)
                return replace(found, span=span, notes=(), heirs=())
        written = replace(found.span, file=self._target or f"the imported {SPEC}") if found.span else None
        return replace(found, span=written, notes=(), heirs=())


def _within(source: SourceObject, span: Span, found: Span | None) -> Span:
    """Return the line of a text of several lines that a problem is about, where the source has that line."""
    line = found.excerpt.strip() if found else ""
    lines = source.document.text.split("\n")
    for index in range(span.line - 1 - source.offset, len(lines) if line and found else 0):
        if found and lines[index].strip() == line:
            column = found.column + lines[index].find(line) - found.excerpt.find(line)
            return replace(found, file=span.file, line=index + 1 + source.offset, column=column, excerpt=lines[index])
    return span


def _is_job(source: SourceObject) -> bool:
    return (source.group, source.kind) in ((VOLCANO, "Job"), (VOLCANO, "CronJob"), (KUBEFLOW, "TFJob"))


def _of_schedule(source: SourceObject) -> tuple[Json, dict[Route, Route], list[Remark]]:
    """Return the Job of a CronJob, the way back from its routes, and what is told of the schedule."""
    at: Route = ("spec", "jobTemplate", "spec")
    text = "the schedule: a spec has none; a change of `rerun` starts the same training again"
    job = {**source.value, "kind": "Job", "spec": found if (found := reach(source.value, at)) is not MISSING else {}}
    return job, {("spec",): at}, [Remark("lost", text, ("spec", "schedule"))]


def _place(source: SourceObject) -> str:
    return str(source.metadata.get("namespace") or "")


def _namespace(sources: Sequence[SourceObject]) -> str:
    found = Counter(place for source in sources if _is_job(source) and (place := _place(source)))
    if len(found) > 1:
        message = f"the jobs are in several namespaces: {a_few(sorted(found))}"
        raise CompileError.of("TF203", message, f"import one after the other: --namespace {min(found)}")
    written = [source.name for source in sources if source.kind == "Namespace"]
    if not any(map(_is_job, sources)):
        found = Counter(filter(None, map(_place, sources)))
    return next(iter(found), written[0] if len(written) == 1 else "default")


def _nothing(told: Sequence[Told], namespace: str) -> Diagnostic:
    kinds = sorted({one.source.kind for one in told})
    message = f"there is no Volcano Job and no TFJob to import{f' in the namespace {namespace}' * bool(namespace)}"
    hint = "give a batch.volcano.sh/v1alpha1 Job, or a kubeflow.org/v1 TFJob"
    return Diagnostic(code="TF101", message=message, found=a_few(kinds), hint=hint)


def _names(name: str) -> Any:
    yield name
    yield from (f"{name}-{number}" for number in range(2, 100_000))


def _controller(sources: Sequence[SourceObject]) -> str:
    """Return the controller for which tfgitops wrote these manifests, or nothing."""
    texts = [[source.metadata.get(key) for key in ("labels", "annotations")] for source in sources]
    maps = [[one if isinstance(one, dict) else {} for one in both] for both in texts]
    if any(JOB_LABEL in labels for labels, _ in maps):
        keys = [key for _, annotations in maps for key in annotations]
        return next((name for key in keys for prefix, name in _CONTROLLERS.items() if key.startswith(prefix)), "")
    return ""


def _means_the_same(compiled: Compiled, fitted: dict[str, Fitted]) -> bool:
    jobs = jobs_of(compiled)
    return all(
        name in jobs and one.trial.job is not None and jobs[name]["spec"] == one.trial.job["spec"]
        for name, one in fitted.items()
    )


def _short(block: Json) -> Json:
    """Return the keys of a job with its roles in their short form."""
    short = dict(block)
    for key in ("chief", "ps", "worker", "evaluator"):
        if isinstance(block.get(key), dict):
            short[key] = _short_role(block[key])
    if isinstance(block.get("tasks"), dict):
        short["tasks"] = {name: _short_role(role) for name, role in block["tasks"].items()}
    for holder in (short, *(role for role in short.values() if isinstance(role, dict))):
        gpu = holder.get("gpu")
        if isinstance(gpu, dict) and gpu.keys() == {"count"}:
            holder["gpu"] = gpu["count"]
    return short


def _short_role(role: Json) -> Any:
    role = dict(role)
    gpu = role.get("gpu")
    if isinstance(gpu, dict) and gpu.keys() == {"count"}:
        role["gpu"] = gpu["count"]
    if role.keys() <= {"replicas"}:
        return role.get("replicas", 1)
    return role
