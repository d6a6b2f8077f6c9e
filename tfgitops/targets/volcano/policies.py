"""What Volcano's webhook asks of the policies of a Job or of one of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes.fault import Fault, Rules, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.targets.routes import Json, Route

ANY = "*"
ACTIONS = (
    "AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition", "TerminateJob", "CompleteJob",
    "ResumeJob",
)  # fmt: skip
INTERNAL_EVENTS = frozenset({"PodRunning", "OutOfSync", "CommandIssued"})
RULES = Rules.read("""
    policy-no-trigger: this policy reacts to nothing | give an event, events or an exitCode
    policy-event-and-exit-code: a policy reacts to events or to an exit code, not to both | write two policies
    policy-exit-code-zero: a policy cannot react to exit code 0, which is success | use the event TaskCompleted
    policy-event-internal:
        {found} is an event of Volcano's own, which no policy may react to
        | react to PodFailed, PodEvicted, PodPending, Unknown, TaskCompleted, TaskFailed or *
    policy-action, policy-action-ignored: this policy has no action that Volcano knows: {found} | use one of {actions}
    policy-event-duplicate: an earlier policy of this list reacts to {found} already | keep one of the two
    policy-exit-code-duplicate: an earlier policy of this list reacts to exit code {found} already | keep one of the two
    policy-any-with-others: * stands for any event, so no other event can stand beside it | drop *, or the others
""")


def judge_policies(policies: Sequence[Json], at: Route) -> Iterator[Fault]:
    """Judge one list of policies: each by itself, then all against each other."""
    for i, policy in enumerate(policies):
        yield from _judge_trigger(policy, (*at, i))
        if policy.get("action") not in ACTIONS:
            found = show(policy.get("action", ""))
            rule = "policy-action" if "exitCode" not in policy else "policy-action-ignored"
            actions = ", ".join(ACTIONS)
            yield RULES.fault(rule, (*at, i, "action"), found=found, expected=actions, actions=actions)
    yield from _judge_repeats(policies, at)


def events_of(policy: Json) -> list[str]:
    """Give the events that a policy reacts to, wherever it names them, each once."""
    return list(dict.fromkeys([*policy.get("events", ()), *([policy["event"]] if policy.get("event") else ())]))


def _judge_trigger(policy: Json, at: Route) -> Iterator[Fault]:
    events, code = events_of(policy), policy.get("exitCode")
    if events and code is not None:
        yield RULES.fault("policy-event-and-exit-code", at)
    if not events and code is None:
        yield RULES.fault("policy-no-trigger", at)
    if code == 0:
        yield RULES.fault("policy-exit-code-zero", (*at, "exitCode"), found=code)
    for event in events:
        if event in INTERNAL_EVENTS:
            yield RULES.fault("policy-event-internal", place_of(policy, event, at), found=event)


def _judge_repeats(policies: Sequence[Json], at: Route) -> Iterator[Fault]:
    events, codes = set[str](), set[int]()
    for i, policy in enumerate(policies):
        for event in events_of(policy):
            if event in events:
                yield RULES.fault("policy-event-duplicate", place_of(policy, event, (*at, i)), found=event)
            events.add(event)
        code = policy.get("exitCode")
        if code in codes:
            yield RULES.fault("policy-exit-code-duplicate", (*at, i, "exitCode"), found=code)
        if code is not None:
            codes.add(code)
    if ANY in events and len(events) > 1:
        yield RULES.fault("policy-any-with-others", at)


def place_of(policy: Json, event: str, at: Route) -> Route:
    """Give the field of a policy that names an event."""
    return (*at, "event" if policy.get("event") == event else "events")
