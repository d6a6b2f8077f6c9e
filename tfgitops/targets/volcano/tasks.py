"""What Volcano's webhook asks of the tasks of a Job and of policies: names, sizes, dependencies, placement, events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.quantity import NANO, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops.targets.routes import Json, Route

RULES = Rules.read("""
    task-min-over-replicas: minAvailable is {found}, but this task has {replicas} replicas | ask for at most {replicas}
    pod-name, pod-name-of-last-replica:
        the pod {pod} would have a name of {found} characters, and 63 is the most
        | shorten the job's or the task's name by {over}
    task-name-duplicate: two tasks are called {found} | rename one of them
    partition-replicas, partition-overflow:
        {total} partitions of {size} are not the {found} replicas of the task
        | let replicas be totalPartitions times partitionSize
    partition-min-available:
        {least} partitions of {size} are not the task's minAvailable of {found}
        | let minAvailable be minPartitions times partitionSize
    topology-two-limits:
        the topology names its highest tier by number and by name | keep highestTierAllowed or highestTierName
    topology-policy-cpu:
        topologyPolicy needs whole CPUs in every container, and {container} has {found} | round its CPUs up
    deps-not-a-dag: {what} | {remedy}
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
POD_NAME_MAX = 63


def judge_tasks(job: str, tasks: Sequence[Json], at: Route) -> Iterator[Fault]:
    """Judge each task by itself, then all of them together."""
    for i, task in enumerate(tasks):
        replicas, least = replicas_of(task), task.get("minAvailable", 0)
        if least > replicas:
            yield RULES.fault("task-min-over-replicas", (*at, i, "minAvailable"), found=least, replicas=replicas)
        yield from _judge_pod_name(job, task, i, (*at, i))
        yield from _judge_numa(task, (*at, i))
    yield from judge_partitions(tasks, at)
    seen = set()
    for i, task in enumerate(tasks):
        if (name := task.get("name")) in seen:
            yield RULES.fault("task-name-duplicate", (*at, i, "name"), found=name)
        seen.add(name)
    yield from _judge_dependencies(tasks, at)


def replicas_of(task: Json) -> int:
    """Give a task's replicas; left out or null they are none."""
    return int(task.get("replicas") or 0)


def _judge_pod_name(job: str, task: Json, position: int, at: Route) -> Iterator[Fault]:
    """Judge the longest name of a task's pods; the webhook itself takes the task's position for the last index."""
    name = task.get("name", "")
    asked, last = f"{job}-{name}-{position}", f"{job}-{name}-{max(0, replicas_of(task) - 1)}"
    for rule, pod in (("pod-name", asked), ("pod-name-of-last-replica", last)):
        over = len(pod) - POD_NAME_MAX
        if over > 0:
            expected = f"at most {POD_NAME_MAX}"
            yield RULES.fault(rule, (*at, "name"), found=len(pod), expected=expected, pod=pod, over=over)
            return


def judge_partitions(tasks: Sequence[Json], at: Route) -> Iterator[Fault]:
    """Judge how tasks are divided into partitions."""
    for i, task in enumerate(tasks):
        partition = task.get("partitionPolicy")
        if partition is None:
            continue
        total, size, least = partition["totalPartitions"], partition["partitionSize"], partition["minPartitions"]
        found = replicas_of(task)
        if total * size != found:
            overflows = (total * size - found) % (1 << 32) == 0
            rule, place = "partition-overflow" if overflows else "partition-replicas", (*at, i, "replicas")
            yield RULES.fault(rule, place, found=found, expected=str(total * size), total=total, size=size)
        elif least and least * size != task.get("minAvailable", least * size):
            rule, place = "partition-min-available", (*at, i, "minAvailable")
            found = task["minAvailable"]
            yield RULES.fault(rule, place, found=found, expected=str(least * size), least=least, size=size)


def judge_topologies(spec: Json) -> Iterator[Fault]:
    """Judge the network topologies of a Job and of its partitions, each of which gives its limit in one way."""
    tasks = enumerate(spec.get("tasks", ()))
    places = [(("spec", "tasks", i, "partitionPolicy"), task.get("partitionPolicy", {})) for i, task in tasks]
    for at, holder in [(("spec",), spec), *places]:
        topology = holder.get("networkTopology", {})
        if "highestTierAllowed" in topology and topology.get("highestTierName"):
            yield RULES.fault("topology-two-limits", (*at, "networkTopology"))


def _judge_numa(task: Json, at: Route) -> Iterator[Fault]:
    """Judge the CPUs of a task that is placed by NUMA node: each container has whole ones."""
    if task.get("topologyPolicy", "none") == "none":
        return
    spec = task.get("template", {}).get("spec", {})
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        resources = container.get("resources", {})
        cpu = resources.get("requests", resources.get("limits", {})).get("cpu", "0")
        if parse(cpu) <= 0 or parse(cpu) % NANO:
            name = container.get("name", "")
            yield RULES.fault("topology-policy-cpu", (*at, "topologyPolicy"), found=cpu, container=name)
            return


def _judge_dependencies(tasks: Sequence[Json], at: Route) -> Iterator[Fault]:
    """Judge who waits for whom: only for tasks that exist, for each once, and never in a circle."""
    if not any("dependsOn" in task for task in tasks):
        return
    waits = {task.get("name", ""): list(task.get("dependsOn", {}).get("name", ())) for task in tasks}
    for i, task in enumerate(tasks):
        needs = task.get("dependsOn", {}).get("name", ())
        unknown = [need for need in needs if need not in waits]
        if unknown:
            what = f"this task waits for {unknown[0]}, and the job has no such task"
            remedy = f"the tasks are {', '.join(waits)}"
        elif len(set(needs)) < len(needs):
            what, remedy = "this task waits for one task twice", "name it once"
        elif _reaches(task.get("name", ""), needs, waits):
            what, remedy = "the tasks wait for each other in a circle", "take one of the dependencies out"
        else:
            continue
        yield RULES.fault("deps-not-a-dag", (*at, i, "dependsOn", "name"), what=what, remedy=remedy)


def _reaches(goal: str, starts: Sequence[str], waits: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a task comes to wait for itself."""
    todo, seen = list(starts), set()
    while todo:
        name = todo.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            todo.extend(waits.get(name, ()))
    return False


ANY = "*"
ACTIONS = (
    "AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition", "TerminateJob", "CompleteJob",
    "ResumeJob",
)  # fmt: skip
INTERNAL_EVENTS = frozenset({"PodRunning", "OutOfSync", "CommandIssued"})


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


def action_on(event: str, policies: Iterable[Json]) -> str:
    """Return the action of the first policy that reacts to an event; empty if none does."""
    return next((str(one["action"]) for one in policies if {event, ANY} & {*events_of(one)}), "")


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
