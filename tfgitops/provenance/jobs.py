"""What gives each field of a planned Job its value, the strongest first: as `planning.jobmanifest` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.provenance.pods import TemplateSources
from tfgitops.provenance.sources import COMPILER, DEFAULT, STRATEGY, Source, given, held, key
from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.kubernetes.merge import RULES
from tfgitops.targets.routes import value_at
from tfgitops.targets.volcano.defaults import DEFAULT_QUEUE, MAX_RETRY, NEEDS, SCHEDULER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.provenance.jobpatches import JobPatches
    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

_DEFAULTS = {"queue": DEFAULT_QUEUE, "maxRetry": MAX_RETRY, "schedulerName": SCHEDULER}
_KEYS = ("minAvailable", "maxRetry", "priorityClassName")
"""Fields of a Job that a key of the spec says; all others that a spec decides come through plugins."""

_WHY = {
    "PodEvicted": "a gang that lost a pod would wait for it for ever",
    "TaskCompleted": "its end is the job's",
    "RestartPod": "the coordinator tolerates the loss of a worker",
    "RestartJob": "without it the others would wait for ever",
}
"""Why there is a policy for an event, or why what follows when a pod fails."""


class JobSources:
    """The sources of one planned Job; ``patches`` are what the plugins added to it."""

    def __init__(self, job: Job, manifest: Mapping[str, Any], patches: JobPatches) -> None:
        self._job = job
        self._manifest = manifest
        self._patches = patches
        self._templates: dict[int, TemplateSources] = {}

    def of(self, at: Route) -> Iterator[Source]:
        """Yield the sources of one field, by its route in the manifest, the strongest first."""
        if at[:1] == ("metadata",):
            yield from self._metadata(at)
        elif at[:2] == ("spec", "tasks"):
            index = at[2]
            assert isinstance(index, int)
            if at[3:4] == ("template",):
                yield from self._template(index).of(at[4:])
            else:
                yield from self._task(self._job.roles[index], at[3:])
        elif at[:1] == ("spec",):
            yield from self._spec(at[1:])
        else:
            yield given(DEFAULT, self._value(at), self._job.route, note="what is written is a Volcano Job")

    def _template(self, index: int) -> TemplateSources:
        if index not in self._templates:
            template = self._manifest["spec"]["tasks"][index]["template"]
            self._templates[index] = TemplateSources(self._job, self._job.roles[index], template, self._patches)
        return self._templates[index]

    def _metadata(self, at: Route) -> Iterator[Source]:
        job = self._job
        if at == ("metadata", "name"):
            note = "the job's name, and a digest of all that cannot change in place"
            yield given(COMPILER, self._value(at), job.route, note=note)
        elif at == ("metadata", "namespace"):
            yield key("namespace", "name")
        elif at == ("metadata", "labels", JOB_LABEL):
            yield given(COMPILER, self._value(at), job.route, note="the job's name")
        else:
            yield key(*job.route, *at[1:])
            yield from self._plugins(at)

    def _spec(self, at: Route) -> Iterator[Source]:
        job, field = self._job, str(at[0])
        if field == "policies":
            yield from self._policies(job.route, job.data.get("policies"), at[1:], ("spec", *at))
        elif field == "plugins":
            yield from self._arguments(at[1:])
        else:
            if field in _KEYS:
                yield key(*job.route, *at)
            patches = list(self._plugins(("spec", *at)))
            yield from patches
            if field == "minAvailable":
                yield self._gang()
            elif field in _DEFAULTS:
                if not patches and field not in _KEYS:
                    yield key(*job.route, *at)  # where `null` kept a plugin from speaking
                yield given(DEFAULT, _DEFAULTS[field], job.route)

    def _gang(self) -> Source:
        counted = [role for role in self._job.roles if not role.data.get("dependsOn")]
        parts = {
            (*role.route, "minAvailable" if "minAvailable" in role.data else "replicas"): role.min_available
            for role in counted
        }
        note = "the sum over the roles" + ("" if len(counted) == len(self._job.roles) else " without dependsOn")
        return Source(routes=tuple(parts), parts=tuple(parts.values()), layer=COMPILER, note=note)

    def _arguments(self, at: Route) -> Iterator[Source]:
        """Yield the sources of an argument of a job plugin: the manifest has them sorted, whoever gave them."""
        name, route = str(at[0]), (*self._job.route, "plugins", at[0])
        written = (self._job.data.get("plugins") or {}).get(name)
        argument = self._value(("spec", "plugins", *at)) if at[1:] else None
        flag = str(argument).split("=", 1)[0]
        for index, own in enumerate(written or ()):
            if at[1:] and own.split("=", 1)[0] == flag:
                yield key(*route, index)
        if not at[1:]:
            yield key(*route)
        for plugin, patch in self._patches.all:
            asked = patch.value.get("spec", {}).get("plugins", {}).get(name) if patch.target == ("job",) else None
            if asked is not None and (argument in asked or not at[1:]):
                inner = (asked.index(argument),) if at[1:] else ()
                yield self._patches.source(plugin, patch, ("spec", "plugins", name, *inner))
        if name == "svc":
            note = "peers wait for each other before they are ready"
            yield given(DEFAULT, argument, self._job.route, note=note)
        elif not at[1:] and (needing := self._needing(name)):
            first = next(self._arguments((needing,)))
            yield given(DEFAULT, [], *first.routes, note=f"the plugin {needing} needs it, and Volcano would add it")

    def _needing(self, plugin: str) -> str:
        """Name the first of the Job's plugins that needs another."""
        return next((name for name in self._value(("spec", "plugins")) if plugin in NEEDS.get(name, ())), "")

    def _plugins(self, at: Route) -> Iterator[Source]:
        for name, patch in self._patches.all:
            if patch.target == ("job",):
                found = held(patch.value, RULES["Job"], self._manifest, at, united=True)
                if found is not None:
                    yield self._patches.source(name, patch, found)

    def _task(self, role: Role, at: Route) -> Iterator[Source]:
        field = at[0]
        if field == "name":
            yield given("role", role.name, role.route, note="a role is a task of the Job")
        elif field == "policies":
            index = [other.name for other in self._job.roles].index(role.name)
            yield from self._policies(role.route, role.data.get("policies"), at[1:], ("spec", "tasks", index, *at))
        elif field == "dependsOn":
            yield key(*role.route, "dependsOn", *at[2:])
        else:
            yield key(*role.route, *at)
            if field == "replicas":
                yield given(DEFAULT, 1, role.route, note="a role that is there has one replica")
            elif field == "minAvailable":
                yield given(COMPILER, role.replicas, (*role.route, "replicas"), note="all replicas")
            elif field == "maxRetry":
                yield given(DEFAULT, MAX_RETRY, role.route)

    def _policies(
        self, route: Route, written: Sequence[Mapping[str, Any]] | None, at: Route, full: Route
    ) -> Iterator[Source]:
        """Yield the sources of a policy: those of the spec stand first, the defaults behind them."""
        index = at[0]
        assert isinstance(index, int)
        if written is not None and index < len(written):
            yield key(*route, "policies", *at)
            return
        policy = self._value(full[: len(full) - len(at) + 1])
        value, event = self._value(full), policy["event"]
        if event == "PodFailed":
            given_by = (*self._job.route, "strategy") if "strategy" in self._job.data else route
            why = "" if "strategy" in self._job.data else f", since {self._job.why}"
            yield given(STRATEGY, value, given_by, note=f"{self._job.strategy}{why}: {_WHY[policy['action']]}")
        else:
            yield given(DEFAULT, value, route, note=_WHY[event])

    def _value(self, at: Route) -> Any:
        return value_at(self._manifest, at)
