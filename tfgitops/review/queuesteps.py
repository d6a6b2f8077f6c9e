"""Applies changes to a model of a cluster in a controller's order: what Volcano refuses, and the commits that pass."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tfgitops.planning.plan import level
from tfgitops.spec.diagnostics import a_few
from tfgitops.targets.volcano.queue import judge_queue
from tfgitops.targets.volcano.queuetree import ROOT_QUEUE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tfgitops.review.changes import Change

    Json = dict[str, Any]
    Applied = tuple[object, Change]

_BUSY = (
    "make two commits: first the jobs leave the queue {parent}; then, when their pods have ended, the rest. Or put the "
    "new queues below another new queue"
)
_LEVELS = "make three commits: lower the shares of the lower queues, change the upper ones, then raise the lower ones"


class Rollout:
    """The changes of one cluster, applied to its queues.

    Each change has the unit that its controller applies as one: Flux dry-runs a whole folder, others try each object
    by itself. ``kept`` are the queues that no spec describes any more, since no controller prunes a queue.
    """

    def __init__(self, changes: Sequence[Applied], queues: Mapping[str, Json], kept: Collection[str]) -> None:
        self._changes = [(unit, change) for unit, change in changes if change.after is not None]
        self._ours = {change.new_name for _, change in self._changes if not change.is_job}
        self._queues = queues
        self._kept = sorted(kept)

    def refused(self) -> dict[int, dict[str, Any]]:
        """Return the verdict on each change that is refused on the way, as fields of `Change`, by its `id`.

        A commit is applied again and again; ``stuck`` is what stays refused all the same.
        """
        faults, stuck = self._apply(self._changes, dict(self._queues))
        queues = self._without(self._kept)
        late = self._apply(self._changes, dict(queues))[0] if faults else {}
        first = [one for one in self._changes if id(one[1]) not in late]
        then = [one for one in self._changes if id(one[1]) in late]
        self._apply(first, queues)
        never, _ = self._apply(then, queues)
        self._apply(first, there := dict(self._queues))
        names = a_few([change.title for _, change in first if not change.is_job])
        changes = {id(change): change for _, change in self._changes}
        uppers = {_parent(change.manifest) for change in changes.values() if not change.is_job}
        found = {}
        for one, reason in faults.items():
            way_out = _BUSY.format(parent=_parent(changes[one].manifest)) if "pods run in" in reason else _LEVELS
            if one not in late:
                gone = self._in_the_way(one, self._changes, self._queues)
                way_out = (
                    f"a queue that leaves Git stays in the cluster: after this commit, kubectl delete queue {gone}"
                )
            elif one not in never:
                way_out = f"make two commits: first {names}; then, when that is applied, the rest"
                gone = self._in_the_way(one, then, there)
                way_out += f", after kubectl delete queue {gone}" if gone else ""
            way_out += "" if one in stuck else "; or wait, since it passes when the controller tries again"
            early = "; it is applied before the queues below it" * (changes[one].new_name in uppers)
            found[one] = {"verdict": "refused", "reason": reason + early, "way_out": way_out, "stuck": one in stuck}
        return found

    def _without(self, names: Collection[str]) -> dict[str, Json]:
        return {name: queue for name, queue in self._queues.items() if name not in names}

    def _in_the_way(self, change: int, changes: Sequence[Applied], queues: Mapping[str, Json]) -> str:
        """Name the kept queues, as few as possible, without which a change passes."""
        needed = self._kept
        for name in self._kept:
            fewer = [other for other in needed if other != name]
            left = {other: queue for other, queue in queues.items() if other not in fewer}
            needed = needed if change in self._apply(changes, left)[0] else fewer
        return " ".join(needed)

    def _apply(self, changes: Sequence[Applied], queues: dict[str, Json]) -> tuple[dict[int, str], Collection[int]]:
        """Change ``queues`` level by level; return all refusals, and those that stay until somebody else acts."""
        refused: dict[int, str] = {}
        levels: dict[Any, dict[object, list[Change]]] = defaultdict(lambda: defaultdict(list))
        for unit, change in sorted(changes, key=lambda one: one[1].path):
            levels[level(change.path.partition("/")[0])][unit].append(change)
        for _, units in sorted(levels.items()):
            waiting = list(units.values())
            while waiting:
                faults: dict[int, str] = {}
                left = []
                for unit in waiting:
                    found = {id(change): fault for change in unit if (fault := self._fault(change, queues))}
                    if found:
                        left.append(unit)
                        faults |= found
                    else:
                        queues |= {
                            one.new_name: queues.get(one.new_name, {}) | one.manifest for one in unit if not one.is_job
                        }
                refused = faults | refused
                if len(left) == len(waiting):
                    return refused, faults
                waiting = left
        return refused, ()

    def _fault(self, change: Change, queues: Mapping[str, Json]) -> str:
        if change.is_job:
            name = change.manifest["spec"].get("queue", "default")
            if below := [other for other, queue in queues.items() if _parent(queue) == name]:
                return f"the queue {name} has queues below it ({a_few(below)}), so it takes no jobs"
            return f"there is no queue {name}" if name in self._ours - queues.keys() else ""
        parents = {_parent(queue) for queue in (*queues.values(), change.manifest)}
        unknown = {*parents, ROOT_QUEUE, "default"} - queues.keys() - self._ours
        others = [{"metadata": {"name": name}, "spec": {}} for name in sorted(unknown)]
        op: Any = "update" if change.new_name in queues else "create"
        for fault in judge_queue(change.after, [*queues.values(), *others], op):
            if not fault.rule.endswith("-sum") or _parent(change.manifest) in queues:  # else its share is not known
                return fault.message
        return ""


def _parent(queue: Mapping[str, Any]) -> str:
    return str((queue.get("spec") or {}).get("parent") or ROOT_QUEUE)
