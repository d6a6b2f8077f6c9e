"""The result of a review: environments, queues and risks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.write import Difference
    from tfgitops.review.causes import Cause
    from tfgitops.review.changes import Change, Verdict
    from tfgitops.spec.diagnostics import Diagnostic

QueueState = Literal["ours", "new", "gone", "external"]
NO_LINE = "another version of the compiler or of a plugin"
"""The cause of a new run if nothing in the specs differs."""

State = Literal["compared", "new", "gone", "broken"]

STARTS = ("new run", "added", "renamed")
"""The verdicts on jobs that start."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Trainings that start anew for the same causes, and further causes of some, by the path of their manifest.

    ``causes`` is empty if no line of a spec is one. ``stale`` are the jobs whose manifests at the base are older than
    its specs.
    """

    causes: tuple[Cause, ...]
    changes: tuple[Change, ...]
    also: Mapping[str, tuple[Cause, ...]] = field(default_factory=dict)
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EnvironmentReview:
    """The review of one environment.

    ``state`` is ``new`` if the commit has no manifests of it, ``gone`` if only the commit has some, and ``broken`` if
    it does not compile. ``differences`` are manifests in the working tree that are not as compiled; ``blocked`` says
    why they cannot be compared. If its ``cluster`` changed, ``other_cluster`` is the earlier one (of a ``new`` one) or
    the present one (``gone``). ``shared`` is whether it took objects from another environment or gave some away.
    ``moved`` is the folder in which a new one was, or in which one that is gone is now.
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
    moved: Path | None = None
    pinned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def controller(self) -> str:
        """The GitOps controller, "none" without one or where the environment is gone."""
        return self.compiled.environment.gitops if self.compiled and self.compiled.environment else "none"

    @property
    def home(self) -> Path:
        """The folder in which the base has its manifests."""
        return self.moved if self.moved and self.state == "new" else self.folder

    def of(self, verdict: Verdict) -> list[Change]:
        """Return the changes with a verdict."""
        return [change for change in self.changes if change.verdict == verdict]


@dataclass(frozen=True, kw_only=True)
class Amount:
    """The amount of one resource that the jobs of a queue request together, in nanos of its unit.

    ``most`` is the queue's capability after the change, ``was_most`` before; None if it has none or is not ours.
    """

    resource: str
    title: str
    before: int
    after: int
    most: int | None = None
    was_most: int | None = None

    @property
    def changed(self) -> bool:
        """Whether the amount or the capability differs."""
        return self.before != self.after or self.most != self.was_most


@dataclass(frozen=True, kw_only=True)
class QueueTotals:
    """The totals of one queue of a cluster, with all queues below it.

    ``state`` is ``new`` or ``gone`` if only one side writes the queue, ``external`` if none does: then its capability
    is unknown.
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


class Risk(NamedTuple):
    """A risk in one sentence, and advice."""

    code: str
    environment: str
    message: str
    advice: str = ""

    @property
    def said(self) -> str:
        """The sentence with the advice."""
        return f"{self.message}; {self.advice}" if self.advice else self.message


@dataclass(frozen=True, kw_only=True)
class Review:
    """A whole review.

    ``beside`` are environments that are not reviewed but count in the totals. ``outside`` are the changed files that
    name the versions of the compiler and its plugins, or are a plugin.
    """

    ref: str
    commit: str
    environments: tuple[EnvironmentReview, ...]
    queues: tuple[QueueTotals, ...]
    risks: tuple[Risk, ...]
    beside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    @property
    def broken(self) -> list[str]:
        """The names of the environments that do not compile."""
        return [one.name for one in self.environments if one.state == "broken"]

    @property
    def by_hand(self) -> int:
        """The number of foreign or edited files below ``manifests/``, which a controller applies as they are."""
        return sum(len(one.blocked) + len(one.differences) for one in self.environments) - self.stale

    @property
    def stale(self) -> int:
        """The number of unedited manifests that the next `build` will write or remove."""
        states = (difference.state for one in self.environments for difference in one.differences)
        return sum(state not in ("foreign", "edited") for state in states)

    @property
    def changes_something(self) -> bool:
        """Whether anything will change in the cluster, by the specs or by files committed beside them."""
        forged = any(risk.code == "pin" for risk in self.risks)
        return any(one.changes for one in self.environments) or forged or bool(self.by_hand or self.stale)

    def counts(self) -> Counter[Verdict]:
        """Count the trainings by verdict, and all objects that the cluster refuses."""
        changes = (change for one in self.environments for change in one.changes)
        return Counter(change.verdict for change in changes if change.is_job or change.verdict == "refused")
