"""What a review says, as values: per environment, per queue, and what can go wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.write import Difference
    from tfgitops.review.causes import Cause
    from tfgitops.review.changes import Change
    from tfgitops.spec.diagnostics import Diagnostic

QueueState = Literal["ours", "new", "gone", "external"]
NO_LINE = "another version of the compiler or of a plugin"
"""What started a training anew, where nothing in the specs differs."""

State = Literal["compared", "new", "gone", "broken"]

STARTS = ("new run", "added", "renamed")
"""What becomes of a job that starts, from nothing."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Trainings that start anew for the same reasons, and what some of them have beside, by the path of their manifest.

    ``causes`` is empty where no line of a spec is the reason. ``stale`` are the names of those whose manifests at the
    base are older than its specs.
    """

    causes: tuple[Cause, ...]
    changes: tuple[Change, ...]
    also: Mapping[str, tuple[Cause, ...]] = field(default_factory=dict)
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EnvironmentReview:
    """What becomes of the objects of one environment.

    ``state`` is ``new`` where the commit has no manifests of it, ``gone`` where only the commit has, and ``broken``
    where it does not compile, so that nothing can be said. ``differences`` are committed manifests in the working tree
    that are not as compiled, ``blocked`` says what is in the way of some. ``other_cluster`` is where an environment was
    (``new``) or is now (``gone``) whose ``cluster`` changed; ``shared`` is whether it has objects of another
    environment, or another has some of its.
    """

    name: str
    folder: Path
    state: State
    cluster: str
    compiled: Compiled | None = field(default=None, repr=False)
    changes: tuple[Change, ...] = ()
    unchanged: int = 0
    jobs_unchanged: int = 0
    groups: tuple[Group, ...] = ()
    differences: tuple[Difference, ...] = ()
    blocked: tuple[Diagnostic, ...] = ()
    other_cluster: str = ""
    shared: bool = False
    pinned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Amount:
    """How much of one resource the jobs of a queue ask for together, before and after, in nanos of its unit.

    ``most`` is the queue's capability after the change, ``was_most`` before; None where there is no limit,
    or the queue is not ours.
    """

    resource: str
    title: str
    before: int
    after: int
    most: int | None = None
    was_most: int | None = None

    @property
    def changed(self) -> bool:
        """Whether anything of it differs."""
        return self.before != self.after or self.most != self.was_most


@dataclass(frozen=True, kw_only=True)
class QueueTotals:
    """The totals of one queue of a cluster, with all queues below it.

    ``state`` is ``new`` or ``gone`` where only one side writes the queue, ``external`` where none does, so that its
    capability is not known.
    """

    cluster: str
    name: str
    jobs_before: int
    jobs_after: int
    amounts: tuple[Amount, ...]
    state: QueueState = "ours"

    @property
    def changed(self) -> bool:
        """Whether anything of it differs."""
        return self.jobs_before != self.jobs_after or any(amount.changed for amount in self.amounts)


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Something that can go wrong, in one sentence, and what there is to do."""

    code: str
    environment: str
    message: str
    advice: str = ""


@dataclass(frozen=True, kw_only=True)
class Review:
    """All that a review says.

    ``beside`` are environments that are not reviewed, and whose jobs are in the totals. ``outside`` are files that
    changed and name the versions of the compiler and its plugins, or are a plugin.
    """

    ref: str
    commit: str
    environments: tuple[EnvironmentReview, ...]
    queues: tuple[QueueTotals, ...]
    risks: tuple[Risk, ...]
    beside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[tuple[EnvironmentReview, Change], ...]:
        """All objects that something becomes of, with their environment."""
        return tuple((one, change) for one in self.environments for change in one.changes)

    @property
    def by_hand(self) -> int:
        """How many files below ``manifests/`` are somebody else's, or were edited: a controller applies them so."""
        states = [difference.state for one in self.environments for difference in one.differences]
        return states.count("foreign") + states.count("edited") + sum(len(one.blocked) for one in self.environments)

    @property
    def stale(self) -> int:
        """How many manifests the next `build` will write or remove, and not because they were edited."""
        states = [difference.state for one in self.environments for difference in one.differences]
        return sum(state not in ("foreign", "edited") for state in states)

    @property
    def changes_something(self) -> bool:
        """Whether anything will be another in the cluster, by the specs or by what is committed beside them."""
        return bool(self.changes or self.by_hand or self.stale)

    def counts(self) -> Mapping[str, int]:
        """Count the trainings by what becomes of them; further objects stand under ``refused`` and ``other``."""
        counts = dict.fromkeys(
            ("new run", "renamed", "added", "removed", "in place", "refused", "unchanged", "other"), 0
        )
        for one in self.environments:
            counts["unchanged"] += one.jobs_unchanged
            for change in one.changes:
                counts[change.verdict if change.is_job or change.verdict == "refused" else "other"] += 1
        return counts
