"""What Volcano's webhook asks of the tasks of a Job: their names, sizes, dependencies and placement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes.quantity import NANO, parse
from tfgitops.volcano.fault import Fault, Route

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Task = Mapping[str, Any]

POD_NAME_MAX = 63


def judge_tasks(job: str, tasks: Sequence[Task], at: Route) -> Iterator[Fault]:
    """Judge each task by itself, then all of them together."""
    for i, task in enumerate(tasks):
        yield from _judge_size(task, (*at, i))
        yield from _judge_pod_name(job, task, i, (*at, i))
        yield from _judge_numa(task, (*at, i))
    yield from judge_partitions(tasks, at)
    yield from _judge_names(tasks, at)
    yield from _judge_dependencies(tasks, at)


def replicas_of(task: Task) -> int:
    """Give a task's replicas; left out they are none."""
    return int(task.get("replicas", 0))


def _judge_size(task: Task, at: Route) -> Iterator[Fault]:
    replicas, least = replicas_of(task), task.get("minAvailable", 0)
    if least > replicas:
        yield Fault(
            rule="task-min-over-replicas",
            at=(*at, "minAvailable"),
            message=f"minAvailable is {least}, but this task has {replicas} replicas",
            hint=f"ask for at most {replicas}",
            found=str(least),
            expected=f"at most {replicas}",
        )


def _judge_pod_name(job: str, task: Task, position: int, at: Route) -> Iterator[Fault]:
    """Judge the longest pod name; the webhook itself takes the task's position for the highest index."""
    last = max(position, replicas_of(task) - 1)
    name = f"{job}-{task.get('name', '')}-{last}"
    if len(name) > POD_NAME_MAX:
        over = len(name) - POD_NAME_MAX
        webhook = len(f"{job}-{task.get('name', '')}-{position}") > POD_NAME_MAX
        yield Fault(
            rule="pod-name" if webhook else "pod-name-of-last-replica",
            at=(*at, "name"),
            message=f"the pod {name} would have a name of {len(name)} characters, and 63 is the most",
            hint=f"shorten the job's or the task's name by {over}",
            found=str(len(name)),
            expected="at most 63",
        )


def _judge_names(tasks: Sequence[Task], at: Route) -> Iterator[Fault]:
    seen = set()
    for i, task in enumerate(tasks):
        name = task.get("name")
        if name in seen:
            message = f"two tasks are called {name}"
            yield Fault(rule="task-name-duplicate", at=(*at, i, "name"), message=message, hint="rename one of them")
        seen.add(name)


def judge_partitions(tasks: Sequence[Task], at: Route) -> Iterator[Fault]:
    """Judge how tasks are divided into partitions."""
    for i, task in enumerate(tasks):
        if "partitionPolicy" in task:
            yield from _judge_partition(task, (*at, i))


def _judge_partition(task: Task, at: Route) -> Iterator[Fault]:
    partition = task["partitionPolicy"]
    total, size, least = partition["totalPartitions"], partition["partitionSize"], partition["minPartitions"]
    if total * size != replicas_of(task):
        message = f"{total} partitions of {size} are {total * size} replicas, but the task has {replicas_of(task)}"
        hint = "let replicas be totalPartitions times partitionSize"
        yield Fault(rule="partition-replicas", at=(*at, "replicas"), message=message, hint=hint)
    elif least and least * size != task.get("minAvailable", least * size):
        message = f"{least} partitions of {size} are {least * size} replicas, but minAvailable is {task.get('minAvailable')}"
        hint = "let minAvailable be minPartitions times partitionSize"
        yield Fault(rule="partition-min-available", at=(*at, "minAvailable"), message=message, hint=hint)


def judge_topologies(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Judge the network topologies of a Job and of its partitions, each of which gives its limit in one way."""
    places: list[tuple[Route, Mapping[str, Any]]] = [(("spec",), spec)]
    for i, task in enumerate(spec.get("tasks", ())):
        places.append((("spec", "tasks", i, "partitionPolicy"), task.get("partitionPolicy", {})))
    for at, holder in places:
        topology = holder.get("networkTopology", {})
        if topology.get("highestTierAllowed") is not None and topology.get("highestTierName"):
            message = "the topology names its highest tier by number and by name"
            hint = "keep highestTierAllowed or highestTierName"
            yield Fault(rule="topology-two-limits", at=(*at, "networkTopology"), message=message, hint=hint)


def _judge_numa(task: Task, at: Route) -> Iterator[Fault]:
    """Judge the CPUs of a task that is placed by NUMA node: each container has whole ones."""
    if task.get("topologyPolicy", "none") in {"", "none"}:
        return
    spec = task.get("template", {}).get("spec", {})
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        resources = container.get("resources", {})
        cpu = resources.get("requests", resources.get("limits", {})).get("cpu", "0")
        if parse(cpu) <= 0 or parse(cpu) % NANO:
            name = container.get("name", "")
            message = f"topologyPolicy needs whole CPUs in every container, and {name} has {cpu}"
            yield Fault(
                rule="topology-policy-cpu", at=(*at, "topologyPolicy"), message=message, hint="round its CPUs up"
            )
            return


def _judge_dependencies(tasks: Sequence[Task], at: Route) -> Iterator[Fault]:
    """Judge who waits for whom: only for tasks that exist, for each once, and never in a circle."""
    waits = {task.get("name", ""): list(task.get("dependsOn", {}).get("name", ())) for task in tasks}
    for i, task in enumerate(tasks):
        name, place = task.get("name", ""), (*at, i, "dependsOn", "name")
        needs = waits[name] if task.get("dependsOn") else []
        unknown = [need for need in needs if need not in waits]
        if unknown:
            message = f"this task waits for {unknown[0]}, and the job has no such task"
            hint = f"the tasks are {', '.join(waits)}"
        elif len(set(needs)) < len(needs):
            message, hint = "this task waits for one task twice", "name it once"
        elif needs and _reaches(name, needs, waits):
            message, hint = "the tasks wait for each other in a circle", "take one of the dependencies out"
        else:
            continue
        yield Fault(rule="deps-not-a-dag", at=place, message=message, hint=hint)


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
