"""What a cluster with Volcano says of a Queue that is to be created or changed, given the Queues that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tfgitops.targets.kubernetes.fault import Fault, Rules
from tfgitops.targets.kubernetes.quantity import NANO, style_of, write
from tfgitops.targets.kubernetes.resources import is_countable, is_extended
from tfgitops.targets.volcano.defaults import stored
from tfgitops.targets.volcano.job import judge_metadata
from tfgitops.targets.volcano.queuetree import DEPTH_MAX, FIELDS, ROOT_QUEUE, Tree, judge_hierarchy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.targets.routes import Json, Route

Op = Literal["create", "update"]

RULES = Rules.read("""
    status-given: status is the controller's to write | leave it out
    mutate-spec-missing: the queue has no spec | give it one
    queue-root-protected: the root queue is Volcano's own, and not for a manifest to change | leave it out
    queue-capability-min, queue-deserved-min, queue-guarantee-min: {field} of {resource} is below zero | write 0 or more
    queue-capability-whole-number, queue-deserved-whole-number, queue-guarantee-whole-number:
        {resource} is counted in whole pieces, and {found} is none | write a whole number
    queue-deserved-over-capability, queue-guarantee-over-deserved, queue-deserved-sum, queue-guarantee-sum,
    queue-deserved-under-children, queue-guarantee-under-children, queue-capability-over-ancestor,
    queue-capability-under-child:
        {what} is {found}, more than {name} ({most}) | lower the one or raise the other
    queue-guarantee-without-deserved:
        the queue guarantees {resource}, but deserves none | give deserved for {resource}, at least as much
    queue-own-parent: the queue is its own parent | name another one
    queue-parent-missing: there is no queue {found} to stand below | declare it
    queue-too-deep: the tree of queues would be more than {most} levels deep | choose a parent nearer to the root
    queue-parent-busy:
        pods run in the queue {found}, so it cannot have queues below it | wait for them, or choose another parent
""")
SAID_TWICE = frozenset({"queue-deserved-sum", "queue-guarantee-sum", "queue-capability-under-child"})
"""Rules that say again what is said of another queue: sums of the parent, a capability of the child."""


def judge_queue(manifest: object, queues: Iterable[Json] | Tree, op: Op = "create") -> list[Fault]:
    """List what the cluster, or we, would refuse of any JSON value as a Queue; only a new one needs a spec.

    ``queues`` are the manifests of the Queues that exist; the one of this name is taken to be replaced. For many to be
    judged, make their `Tree` once.
    """
    after = stored(manifest)
    if after.notes.faults:
        return [*after.notes.faults, *after.notes.limits]
    assert isinstance(manifest, dict)
    tree = queues if isinstance(queues, Tree) else Tree(queues)
    return [*after.notes.limits, *_judge(manifest, after.manifest, tree, op)]


def _judge(manifest: Json, queue: Json, tree: Tree, op: Op) -> Iterator[Fault]:
    metadata = queue.get("metadata", {})
    if manifest.get("status") is not None:
        yield RULES.fault("status-given", ("status",))
    if "spec" not in queue and op == "create":
        yield RULES.fault("mutate-spec-missing", ("spec",))
    yield from judge_metadata(metadata, namespaced=False)
    if metadata.get("name") == ROOT_QUEUE:
        yield RULES.fault("queue-root-protected", ("spec",))
        return
    yield from judge_hierarchy(metadata.get("name", ""), metadata.get("annotations", {}), tree.queues)
    tree = tree.at(queue)
    broken = [*_judge_amounts(tree), *_judge_place(tree)]
    yield from broken or (*_judge_siblings(tree), *_judge_children(tree), *_judge_capability(tree))


def _judge_amounts(tree: Tree) -> Iterator[Fault]:
    """Judge a queue's own amounts, by themselves and against each other."""
    for field, path in FIELDS.items():
        for resource, amount in tree.amounts(tree.name, field).items():
            at: Route = ("spec", *path, resource)
            if amount < 0:
                yield RULES.fault(f"queue-{field}-min", at, field=field, resource=resource)
            # Pods are counted whole, and all that is not Kubernetes's own.
            if (resource == "pods" or is_extended(resource)) and (amount % NANO or not is_countable(amount)):
                yield RULES.fault(f"queue-{field}-whole-number", at, found=_amount(resource, amount), resource=resource)
    capability, deserved = tree.amounts(tree.name, "capability"), tree.amounts(tree.name, "deserved")
    for resource, amount in deserved.items():
        limit = ("the queue's capability", capability.get(resource, amount))
        what = ("deserved", resource, "")
        yield from _at_most("queue-deserved-over-capability", ("spec", "deserved", resource), what, amount, limit)
    for resource, amount in tree.amounts(tree.name, "guarantee").items():
        at = ("spec", "deserved", resource)
        if resource not in deserved:
            yield RULES.fault("queue-guarantee-without-deserved", at, resource=resource)
        else:
            limit = ("what the queue deserves", deserved[resource])
            yield from _at_most("queue-guarantee-over-deserved", at, ("guarantee", resource, ""), amount, limit)


def _judge_place(tree: Tree) -> Iterator[Fault]:
    """Judge where in the tree a queue stands."""
    at, parent = ("spec", "parent"), tree.parent(tree.name)
    missing = [name for name in tree.ancestors(tree.name) if name not in tree and name != ROOT_QUEUE]
    if parent == tree.name:
        yield RULES.fault("queue-own-parent", at, found=parent)
    elif missing:
        yield RULES.fault("queue-parent-missing", at, found=missing[0])
    elif any(tree.depth(name) > DEPTH_MAX for name in (tree.name, *tree.descendants(tree.name))):
        yield RULES.fault("queue-too-deep", at, found=parent, most=DEPTH_MAX)
    elif parent != ROOT_QUEUE and list(tree.children(parent)) == [tree.name] and tree.running(parent):
        yield RULES.fault("queue-parent-busy", at, found=parent)


def _judge_siblings(tree: Tree) -> Iterator[Fault]:
    """Judge that the queues below one parent have no more than it has; the root has no amounts."""
    parent = tree.parent(tree.name)
    if parent == ROOT_QUEUE:
        return
    for field in ("deserved", "guarantee"):
        limits = tree.amounts(parent, field)
        for resource, total in tree.sum_below(parent, field).items():
            limit = (f"that of {parent}", limits.get(resource, 0))
            what = (field, resource, f" in all queues below {parent}")
            yield from _at_most(f"queue-{field}-sum", ("spec", *FIELDS[field]), what, total, limit)


def _judge_children(tree: Tree) -> Iterator[Fault]:
    """Judge that a queue has no less than those below it have together."""
    for field in ("deserved", "guarantee"):
        own = tree.amounts(tree.name, field)
        for resource, total in tree.sum_below(tree.name, field).items():
            limit = (f"that of {tree.name}", own.get(resource, 0))
            if total <= limit[1]:
                continue
            below = [name for name in tree.children(tree.name) if resource in tree.amounts(name, field)]
            what = (field, resource, f" in {' and '.join(below)}" + (" together" if below[1:] else ""))
            yield from _at_most(f"queue-{field}-under-children", ("spec", *FIELDS[field]), what, total, limit)


def _judge_capability(tree: Tree) -> Iterator[Fault]:
    """Judge that no queue may grow beyond the nearest one above it that has a limit."""
    for resource, amount in tree.amounts(tree.name, "capability").items():
        at = ("spec", "capability", resource)
        if limit := tree.limit_above(tree.name, resource):
            yield from _at_most("queue-capability-over-ancestor", at, ("capability", resource, ""), amount, limit)
        for below in tree.descendants(tree.name):
            most = tree.amounts(below, "capability").get(resource, 0)
            what, limit = ("capability", resource, f" of {below}"), ("that of this queue", amount)
            yield from _at_most("queue-capability-under-child", at, what, most, limit)


def _at_most(rule: str, at: Route, what: tuple[str, str, str], amount: int, limit: tuple[str, int]) -> Iterator[Fault]:
    """Judge an amount (of a field, a resource, and whose) by a limit, which is given with its name."""
    (field, resource, whose), (name, highest) = what, limit
    if amount > highest:
        found, most = _amount(resource, amount), _amount(resource, highest)
        words = {"what": f"{field} of {resource}{whose}", "name": name, "most": most}
        yield RULES.fault(rule, at, found=found, expected=f"at most {most}", **words)


def _amount(resource: str, nanos: int) -> str:
    """Write an amount as people do: bytes in the shorter of their two ways, such as 200Gi or 200G."""
    return min(write(nanos), write(nanos, style=style_of(resource)), key=len)
