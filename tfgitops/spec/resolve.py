"""Merge the files of a spec, then `defaults` < `from` < job < role, into frozen values."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tfgitops.spec import bounds
from tfgitops.spec.committed import own_digest
from tfgitops.spec.diagnostics import Problem
from tfgitops.spec.model import Environment, Job, Role
from tfgitops.spec.places import NOT_FROM, NOT_INHERITED, Places
from tfgitops.spec.schema.validation import validate
from tfgitops.spec.strategy import infer
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.tensorflow import ROLE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tfgitops.spec.document import Document
    from tfgitops.spec.load import LoadedSpec
    from tfgitops.spec.schema.specschema import SpecSchema
    from tfgitops.targets.routes import Route

_OVERLAYS = ("pod", "container")
_HOLDS_ROLES = frozenset({*ROLE_NAMES, "tasks"})


def merge_files(documents: Iterable[Document]) -> dict[str, Any]:
    """Merge the files of an environment, the strongest first; ``null`` stays where it removes from defaults."""
    spec = stacked([{"jobs": {one.prefix[-1]: one.value}} if one.prefix else one.value for one in documents])
    return {
        key: value if key in ("jobs", "defaults") else without_nulls(value)
        for key, value in spec.items()
        if key != "extends" and not key.startswith("x-") and value is not None
    }


def stacked(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Lay what several files say over one another, the strongest first."""
    spec: dict[str, Any] = {}
    for value in reversed(values):
        spec = _overlay_spec(spec, value)
    return spec


def inherited(blocks: Sequence[Mapping[str, Any]], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the block of a job, laid over those that it starts from, its own first, and over the defaults."""
    merged: dict[str, Any] = {}
    for block in reversed(blocks):
        merged = overlay_job({key: value for key, value in merged.items() if key not in NOT_FROM}, block)
    return _with_defaults(merged, defaults)


def _with_defaults(block: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Put the defaults below a job; their roles shape the roles that the job has, and create none."""
    if not defaults:
        return block
    shaped = {
        key: value
        for key, value in defaults.items()
        if key != "tasks" and (key not in ROLE_NAMES or type(block.get(key)) is dict)
    }
    tasks = block.get("tasks") or {}
    shared = {k: v for k, v in (defaults.get("tasks") or {}).items() if type(tasks.get(k)) is dict}
    if shared:
        shaped["tasks"] = shared
    return overlay_job(shaped, block)


def overlay(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one map over another: maps key by key, all else replaces. Neither is changed."""
    return _each(base, top, overlay)


def _each(base: Mapping[str, Any], top: Mapping[str, Any], inner: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        merged[key] = inner(below, value) if type(value) is dict and type(below) is dict else value
    return merged


def overlay_job(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Lay the block of a job or a role over another; a new variable replaces the old, whatever keys the two have."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        if type(value) is not dict or type(below) is not dict:
            merged[key] = value
        elif key == "env":
            merged[key] = {**below, **value}
        elif key in ROLE_NAMES:
            merged[key] = overlay_job(below, value)
        else:
            merged[key] = _overlay_jobs(below, value) if key == "tasks" else overlay(below, value)
    return merged


def _overlay_jobs(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Lay blocks of jobs, or of tasks, over others by their names."""
    return _each(base, top, overlay_job)


def _overlay_spec(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one file of a spec over another."""
    merged = overlay(base, top)
    for key, merge in (("jobs", _overlay_jobs), ("defaults", overlay_job)):
        if type(base.get(key)) is dict and type(top.get(key)) is dict:
            merged[key] = merge(base[key], top[key])
    return merged


def without_nulls(value: Any) -> Any:
    """Drop what ``null`` removes, except in overlays, where it removes from the manifest; share what holds no null."""
    if type(value) is not dict:
        return value
    kept = value
    for key, inner in value.items():
        clean = without_nulls(inner) if type(inner) is dict and key not in _OVERLAYS else inner
        if clean is inner is not None:
            continue
        if kept is value:
            kept = dict(value)
        if clean is None:
            del kept[key]
        else:
            kept[key] = clean
    return kept


def resolve(source: LoadedSpec, schema: SpecSchema) -> tuple[Environment | None, Places, list[Problem]]:
    """Resolve the parts of a spec, each of which is complete.

    Returns the environment, unless something is wrong with the whole; where its routes are written; and what is wrong.
    """
    resolver = _Resolver(source, merge_files(source.documents), schema)
    merged = resolver.merged_jobs()
    clean = {name: without_nulls(block) for name, block in merged.items()}
    places = Places(documents=source.documents, chains=resolver.chains)
    problems = [*resolver.problems, *resolver.check_whole(clean), *resolver.empty_jobs()]
    if any(problem.severity == "error" for problem in problems):
        return None, places, problems
    environment = resolver.environment(places, merged, clean)
    return environment, places, [*resolver.problems, *(one for one in problems if one.severity == "warning")]


def bare_environment(
    name: str, folder: Path, data: Mapping[str, Any], settings: Mapping[str, Mapping[str, Any]], places: Places
) -> Environment:
    """Return an environment without its jobs, from the keys at its top."""
    return Environment(
        name=name, folder=folder, cluster=data.get("cluster", name), namespace=data["namespace"]["name"],
        gitops=data.get("gitops", "none"), data=data, settings=settings, places=places,
    )  # fmt: skip


class _Resolver:
    """Resolves one merged spec, and collects what is wrong with it."""

    def __init__(self, source: LoadedSpec, spec: dict[str, Any], schema: SpecSchema) -> None:
        self.problems: list[Problem] = []
        self.chains: dict[str, tuple[Route, ...]] = {}
        self._too_long = False
        self._source = source
        self._spec = spec
        self._schema = schema
        self._jobs = {name: block for name, block in (spec.get("jobs") or {}).items() if block is not None}
        self._defaults: dict[str, Any] = spec.get("defaults") or {}
        self._inherited = frozenset(schema.role["properties"]) - NOT_INHERITED

    def merged_jobs(self) -> dict[str, dict[str, Any]]:
        """Return each job's block with what it has from `from` and `defaults`, ``null`` still in place."""
        merged: dict[str, dict[str, Any]] = {}
        if len(self._jobs) > bounds.JOBS:
            return self._too_large(f"more than {bounds.JOBS:,} jobs", ("jobs",))
        files = {id(text) for one in self._source.documents for text in one.file_texts()}
        size, texts, each, whole = 0, 0, bounds.expanded(self._defaults, files), bounds.expanded(self._defaults)
        size_of = cache(lambda link: bounds.expanded(self._jobs[link], files))
        texts_of = cache(lambda link: bounds.expanded(self._jobs[link]) - size_of(link))
        for name in sorted(self._jobs):
            chain = self._from_chain(name)
            self.chains[name] = (*(("jobs", link) for link in chain), ("defaults",))
            merged[name] = inherited([self._jobs[link] for link in chain], self._defaults)
            if (size := size + each + sum(map(size_of, chain[1:]))) > bounds.INHERITED:
                return self._too_large(f"what jobs inherit is larger than {bounds.INHERITED >> 20} MiB", ("jobs", name))
            if files and (texts := texts + whole - each + sum(map(texts_of, chain))) > bounds.WRITTEN:
                return self._too_large(f"the files of jobs are larger than {bounds.WRITTEN >> 20} MiB", ("jobs", name))
        return merged

    def _too_large(self, message: str, at: Route) -> dict[str, dict[str, Any]]:
        """Note that all jobs together are too large, and return none."""
        self.problems = [Problem(code="TF106", message=message, at=at, on_key=True, hint="make several environments")]
        return {}

    def check_whole(self, clean: Mapping[str, dict[str, Any]]) -> Iterator[Problem]:
        """Judge the spec as a whole, and each job with all that it inherits, the nulls dropped."""
        top = {key: value for key, value in self._spec.items() if key not in ("jobs", "defaults")}
        yield from validate(top | ({"jobs": {}} if "jobs" in self._spec else {}), self._schema.environment, part=False)
        for name, block in clean.items():
            yield from validate(block, self._schema.job, ("jobs", name), part=False)

    def empty_jobs(self) -> Iterator[Problem]:
        """Warn of jobs that are empty, and so remove what no weaker file gave."""
        for name, block in (self._spec.get("jobs") or {}).items():
            if block is None and not any(one.jobs.get(name) is not None for one in self._source.documents):
                message = f"the job '{name}' is empty: that removes it, and no other file gives it"
                at, hint = ("jobs", name), "write its keys below it, or leave it out"
                yield Problem(code="TF301", message=message, at=at, severity="warning", on_key=True, hint=hint)

    def environment(
        self, places: Places, merged: Mapping[str, dict[str, Any]], clean: Mapping[str, dict[str, Any]]
    ) -> Environment:
        """Make the frozen environment from the merged blocks of its jobs, and the same without nulls."""
        data = {key: value for key, value in self._spec.items() if key not in ("jobs", "defaults")}
        source = self._source
        environment = bare_environment(source.name, source.folder, data, source.project.settings, places)
        own = self._own_files()
        jobs = []
        for name, block in merged.items():
            said = {key: value for key, value in clean[name].items() if key not in _HOLDS_ROLES}
            jobs.append(self._job(environment, name, block, said, own_digest(own.get(name), name)))
        if sum(role.replicas for job in jobs if job for role in job.roles) > bounds.PODS:
            self._too_large(f"the jobs have more than {bounds.PODS:,} pods", ("jobs",))
        object.__setattr__(environment, "jobs", tuple(job for job in jobs if job))  # the one circle, closed here
        return environment

    def _from_chain(self, name: str) -> tuple[str, ...]:
        chain = [name]
        while True:
            target = self._jobs[chain[-1]].get("from")
            if target is None:
                return tuple(chain)
            at: Route = ("jobs", chain[-1], "from")
            if target not in self._jobs:
                hint = did_you_mean(target, self._jobs.keys() - {chain[-1]}, among="the jobs are")
                message = f"there is no job '{target}'"
                self.problems.append(Problem(code="TF301", message=message, at=at, found=target, hint=hint))
                return tuple(chain)
            if target in chain:
                self.problems.append(_circle(chain[chain.index(target) :]))
                return tuple(chain)
            if len(chain) == bounds.CHAIN:
                message = f"more than {bounds.CHAIN} jobs start from one another"
                hint = "let more of them start from the same job"
                problem = Problem(code="TF106", message=message, at=("jobs", name, "from"), hint=hint)
                self.problems += [problem] if not self._too_long else []  # all jobs further on have the same
                self._too_long = True
                return tuple(chain)
            chain.append(target)

    def _own_files(self) -> dict[str, Document]:
        """Return the file of the environment's own, and not of those that they extend, that says each job."""
        own: dict[str, Document] = {}
        for document in self._source.documents:
            if document.prefix or document.path.parent == self._source.folder:
                own.update(dict.fromkeys(document.jobs, document.bare))
        return own

    def _job(
        self, environment: Environment, name: str, block: dict[str, Any], data: dict[str, Any], own: str
    ) -> Job | None:
        route: Route = ("jobs", name)
        roles = tuple(self._roles(block, route))
        strategy, why, problems = infer(roles, block.get("strategy"), route)
        self.problems.extend(problems)
        if not strategy:
            return None
        return Job(
            name=name, strategy=strategy, why=why, data=data, roles=roles, route=route, own=own,
            environment=environment,
        )  # fmt: skip

    def _roles(self, block: Mapping[str, Any], route: Route) -> Iterator[Role]:
        shared = {key: value for key, value in block.items() if key in self._inherited}
        for kind in ROLE_NAMES:
            if role := self._role(kind, kind, block.get(kind), shared, (*route, kind)):
                yield role
        tasks = block.get("tasks") or {}
        for name in sorted(tasks):  # a map has no order, so that moving a task in the spec changes nothing
            if role := self._role(name, "task", tasks[name], shared, (*route, "tasks", name)):
                yield role

    def _role(self, name: str, kind: str, block: Any, shared: dict[str, Any], route: Route) -> Role | None:
        if block is None:
            return None
        data = without_nulls(overlay_job(shared, block))
        replicas = data.pop("replicas", 1)
        return Role(name=name, kind=kind, replicas=replicas, data=data, route=route) if replicas else None


def _circle(names: list[str]) -> Problem:
    """Say a circle of `from` in the same words and at the same place, whichever of its jobs was looked at."""
    first = names.index(min(names))
    turned = [*names[first:], *names[:first]]
    message = f"`from` leads round in a circle: {' → '.join([*turned, turned[0]])}"
    return Problem(code="TF301", message=message, at=("jobs", turned[0], "from"), hint="break it at one place")
