"""What Volcano's webhook asks of the tasks of a Job: their names, sizes, dependencies and placement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes.fault import Fault, Rules
from tfgitops.targets.kubernetes.quantity import NANO, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    """Give a task's replicas; left out they are none."""
    return int(task.get("replicas", 0))


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
