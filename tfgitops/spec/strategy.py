"""How the roles of a job make up a TensorFlow cluster: the strategy, inferred or given, and what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import Problem
from tfgitops.targets.tensorflow import ROLE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.spec.model import Role
    from tfgitops.targets.routes import Route

NEEDS: dict[str, tuple[str, ...]] = {
    "parameter-server": ("chief", "ps", "worker"),
    "between-graph": ("ps", "worker"),
    "in-graph": ("worker",),
}
"""The roles that a strategy cannot do without."""


def infer(roles: Sequence[Role], given: str | None, at: Route) -> tuple[str, str, list[Problem]]:
    """Return the strategy of some roles, empty for an impossible set, its reason, and problems (docs/spec.md)."""
    counts = {role.kind: role.replicas for role in roles if role.kind != "task"}
    problems = [*_impossible(counts, roles, at), *([] if given == "none" else _misplaced(roles))]
    if problems:
        return "", "", problems
    strategy, why = (given, "given") if given is not None else _infer(counts)
    return strategy, why, [*_unmet(strategy, counts, (*at, "strategy") if given is not None else at)]


def _infer(counts: dict[str, int]) -> tuple[str, str]:
    leaders = counts.get("chief", 0) + counts.get("worker", 0)
    if not counts:
        return "none", "the job has no TensorFlow role"
    if "ps" in counts and "chief" not in counts:
        return "between-graph", "there is a ps and no chief"
    if "ps" in counts:
        return "parameter-server", "there are chief, ps and worker"
    if leaders > 1:
        return "multi-worker", f"{leaders} replicas train together without a ps"
    return "mirrored", "one replica trains alone"


def _refuse(message: str, at: Route, hint: str, found: str = "", expected: str = "") -> Problem:
    return Problem(code="TF302", message=message, at=at, found=found, expected=expected, hint=hint)


def _impossible(counts: dict[str, int], roles: Sequence[Role], at: Route) -> Iterator[Problem]:
    if not roles:
        yield _refuse(f"the job '{at[-1]}' has no roles", at, "add a role, such as `worker: 2`")
        return
    for kind, others in (("chief", "worker"), ("evaluator", "tasks")):
        if counts.get(kind, 0) > 1:
            message = f"at most 1 {kind} is allowed, and there are {counts[kind]}"
            hint = f"TensorFlow refuses two; put the others under {others}"
            yield _refuse(message, (*at, kind, "replicas"), hint, str(counts[kind]), "1")
    if set(counts) == {"evaluator"}:
        message = "an evaluator alone decides nothing: the job would never end"
        yield _refuse(message, (*at, "evaluator"), "add the role that trains: chief or worker")
    elif "ps" in counts and "worker" not in counts:
        message = "there is a ps and no worker to use it"
        yield _refuse(message, (*at, "ps"), "add `worker: 2`", expected="worker")


def _misplaced(roles: Sequence[Role]) -> Iterator[Problem]:
    """Refuse further tasks with the name of a role, unless the strategy says that no role of TensorFlow is meant."""
    for role in roles:
        if role.kind == "task" and role.name in ROLE_NAMES:
            message = f"'{role.name}' is a role of TensorFlow's cluster, not a further task"
            hint = (
                f"for TensorFlow, write `{role.name}` directly in the job; for another framework, give the job"
                " `strategy: none`"
            )
            yield Problem(code="TF203", message=message, at=role.route, hint=hint, on_key=True)


def _unmet(strategy: str, counts: dict[str, int], at: Route) -> Iterator[Problem]:
    for kind in NEEDS.get(strategy, ()):
        if kind not in counts:
            message = f"strategy {strategy} needs a {kind}, and the job has none"
            yield _refuse(message, at, f"add `{kind}: 1`, or another strategy", expected=kind)
    leaders = counts.get("chief", 0) + counts.get("worker", 0)
    if strategy in ("multi-worker", "mirrored") and "ps" in counts:
        message = f"strategy {strategy} has no parameter servers, and the job has a ps"
        yield _refuse(message, at, "remove `ps`, or choose parameter-server")
    if strategy == "mirrored" and leaders != 1:
        message = f"strategy mirrored is for one replica, and chief and worker make {leaders}"
        yield _refuse(message, at, "choose multi-worker")
    if strategy == "multi-worker" and leaders == 0:
        message = "strategy multi-worker needs a worker, and the job has none"
        yield _refuse(message, at, "add `worker: 2`", expected="worker")
    if strategy == "none" and counts:
        message = f"strategy none writes no discovery, and the job has the TensorFlow roles {', '.join(counts)}"
        yield _refuse(message, at, "put them under `tasks`, or leave the strategy out")
