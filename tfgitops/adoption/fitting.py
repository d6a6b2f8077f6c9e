"""Fit the block of one job: try forms of it with the compiler, and take the one that differs least from the source."""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.adoption.drafts import Draft
from tfgitops.adoption.hoisting import hoist_roles, settle_job_keys
from tfgitops.adoption.likeness import compare
from tfgitops.adoption.proposal import is_tensorflow, propose, rename_tasks, written_policies
from tfgitops.spec.diagnostics import has_errors
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.routes import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tfgitops.adoption.likeness import FieldDifference
    from tfgitops.adoption.proposal import Proposed
    from tfgitops.adoption.shelf import Shelf
    from tfgitops.adoption.taking import Taken
    from tfgitops.adoption.trials import TrialJob, Trials
    from tfgitops.targets.routes import Route

_PERHAPS_DEFAULT = ("restartPolicy", "tolerations", "minAvailable", "nodeSelector")
"""Keys of a role that the compiler may write by itself."""
_RAW = (("gpu",), ("shm",), ("gpu", "shm"))
"""Keys by which the compiler writes more than the field that they stand for."""
_OF_PLUGINS = {"configMaps", "gpu", "shm", "volumes"}
"""Keys that a user may have left out, with the plugins that own them."""
_FAILED = 1000
"""The cost of a form that does not compile."""
_ENDLESS = "TF308"
"""Of jobs that nothing says the end of: what their source means is `completes: all`."""
_JOB = schema_file("core.schema.json")["$defs"]["job"]["properties"]
_STRATEGIES: tuple[str | None, ...] = (None, *_JOB["strategy"]["enum"])


class Fitted(NamedTuple):
    """The block of a job, and what it compiles to."""

    draft: Draft
    trial: TrialJob


class _Try(NamedTuple):
    draft: Draft
    trial: TrialJob
    found: list[FieldDifference]
    cost: tuple[int, int, int]


def fit(taken: Taken, shelf: Shelf, trials: Trials) -> Fitted:
    """Return the block of a job that compiles to the least different Job."""
    return _Fitting(taken, shelf, trials).fit()


class _Fitting:
    def __init__(self, taken: Taken, shelf: Shelf, trials: Trials) -> None:
        self._taken = taken
        self._shelf = shelf
        self._trials = trials

    def fit(self) -> Fitted:
        """Return the best of all forms; the remarks are those of the form that is taken."""
        tensorflow = is_tensorflow(self._taken)
        if tensorflow and not self._taken.ours:
            rename_tasks(self._taken)
        before, best = [*self._taken.remarks], self._form(tensorflow=tensorflow, raw=())
        said: list[Any] = [*self._taken.remarks]
        others: list[Callable[[], _Try]] = []
        if best.trial.job is None and tensorflow and not self._taken.framework:
            others.append(partial(self._form, tensorflow=False, raw=()))
        if best.cost[0] >= (1 if self._taken.ours else _FAILED):
            others += [partial(self._form, tensorflow=tensorflow, raw=raw) for raw in _RAW]
        for form in others:
            self._taken.remarks[:] = before
            other = form()
            if other.cost < best.cost:
                best, said = other, [*self._taken.remarks]
        self._taken.remarks[:] = said
        return Fitted(best.draft, best.trial)

    def _form(self, *, tensorflow: bool, raw: Collection[str]) -> _Try:
        raw = {*raw, *_OF_PLUGINS - self._trials.known_keys}
        proposed = propose(self._taken, self._shelf, tensorflow=tensorflow, raw=raw)
        best = self._with_policies(self._best(proposed), proposed)
        return self._hoisted(self._without_defaults(best, proposed), [*proposed.roles.values()])

    def _hoisted(self, best: _Try, roles: list[Route]) -> _Try:
        """Return the job with its common keys above, if it is no worse."""
        above = self._try(hoist_roles(best.draft, roles))
        return above if above.cost <= best.cost else best

    def _try(self, draft: Draft) -> _Try:
        trial = self._trials.job(self._taken.name, draft, self._shelf)
        found = compare(self._taken.manifest, trial.job, self._shelf.configs) if trial.job is not None else []
        lost = sum(1 for one in found if self._counts(one))
        if trial.job is None or has_errors(trial.compiled.diagnostics):
            lost += _FAILED
        endless = sum(1 for one in trial.compiled.diagnostics if one.code == _ENDLESS)
        return _Try(draft, trial, found, (lost, endless, len(found)))

    def _counts(self, one: FieldDifference) -> bool:
        """Tell whether a difference is no default that the compiler adds; a Job of ours has them all."""
        return one.sort != "added" or self._taken.ours

    def _best(self, proposed: Proposed) -> _Try:
        """Return the best of all strategies and roles that may end the job; policies are left to the compiler."""
        draft = settle_job_keys(proposed.draft, [*proposed.roles.values()])
        best: _Try | None = None
        for strategy in _STRATEGIES if self._taken.ours and draft.get(("strategy",)) is MISSING else (None,):
            for completes in (None, "all", *proposed.roles):
                tried = self._try(_with(draft, strategy=strategy, completes=completes))
                if best is None or tried.cost[:2] < best.cost[:2]:
                    best = tried
                wrong = any("policies" in one.route and self._counts(one) for one in tried.found)
                if tried.trial.job is None or not (wrong or tried.cost[1]):
                    break
            if best and best.cost[:2] == (0, 0):
                break
        assert best is not None
        return best

    def _with_policies(self, best: _Try, proposed: Proposed) -> _Try:
        """Write policies where the compiler's own are not those of the source."""
        wrong = [one for one in best.found if "policies" in one.route and self._counts(one)]
        if not wrong:
            return best
        draft = Draft(copy.deepcopy(best.draft.data), dict(best.draft.origins))
        spec = self._taken.spec
        if any(one.route[1] == "policies" for one in wrong):
            draft.put(("policies",), [*written_policies(spec.get("policies", []))], ("spec", "policies"))
        for index, task in enumerate(spec["tasks"]):
            if any(one.route[1:3] == ("tasks", task["name"]) for one in wrong):
                policies = [*written_policies(task.get("policies", []))]
                if policies or self._taken.ours:
                    draft.put(
                        (*proposed.roles[task["name"]], "policies"), policies, ("spec", "tasks", index, "policies")
                    )
        tried = [self._try(draft)]
        if draft.get(("completes",)) is not MISSING:
            tried.append(self._try(_with(draft, strategy=None, completes=None)))
        least: _Try = min((*reversed(tried), best), key=lambda one: one.cost)
        return least

    def _without_defaults(self, best: _Try, proposed: Proposed) -> _Try:
        """Leave out what the compiler writes all the same."""
        for route in [*_perhaps_default(best.draft, proposed)]:
            if best.draft.get(route) is MISSING:
                continue
            draft = Draft(copy.deepcopy(best.draft.data), dict(best.draft.origins))
            draft.drop(route)
            tried = self._try(draft)
            if tried.trial.job is not None and tried.trial.job == best.trial.job:
                best = tried
        return best


def _with(draft: Draft, **keys: Any) -> Draft:
    changed = Draft(copy.deepcopy(draft.data), dict(draft.origins))
    for key, value in keys.items():
        if value is not None:
            changed.data[key] = value
        elif key == "completes":
            changed.data.pop(key, None)
    return changed


def _perhaps_default(draft: Draft, proposed: Proposed) -> Iterator[Route]:
    for role in proposed.roles.values():
        yield from ((*role, key) for key in _PERHAPS_DEFAULT)
        for name in draft.get((*role, "env")) if draft.get((*role, "env")) is not MISSING else ():
            if name.endswith("_VISIBLE_DEVICES"):
                yield (*role, "env", name)
        yield (*role, "pod", "spec", "dnsPolicy")
    yield ("port",)
