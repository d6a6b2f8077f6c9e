"""Propose the block of a job for a Volcano Job: its roles or tasks, with the keys that say what its fields say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.adoption.containerkeys import ContainerKeys
from tfgitops.adoption.drafts import Draft
from tfgitops.adoption.podkeys import PodKeys
from tfgitops.adoption.shelldiscovery import PORT, TF_CONFIG, simplified
from tfgitops.adoption.tfjobs import NO_COUNTERPART
from tfgitops.planning.jobmanifest import RETRIES, SVC_ARGUMENTS
from tfgitops.spec.model import JOB_LABEL
from tfgitops.spec.strategy import NEEDS
from tfgitops.targets.shell.command import script_of
from tfgitops.targets.tensorflow import ROLE_NAMES, SERVER_PORT
from tfgitops.targets.volcano.defaults import DEFAULT_QUEUE, MAX_RETRY, SCHEDULER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tfgitops.adoption.shelf import Shelf
    from tfgitops.adoption.taking import Taken
    from tfgitops.targets.routes import Route

    Json = dict[str, Any]

_PORT = 2222
_TFJOB_PORT = "tfjob-port"
_DISCOVERY = ("tensorflow",)
"""Plugins of Volcano that write what the compiler writes itself."""

_SAID = ("schedulerName", "queue", "minAvailable", "maxRetry", "priorityClassName", "plugins", "policies", "tasks")
_TASK_SAID = ("name", "replicas", "minAvailable", "maxRetry", "dependsOn", "policies", "template")
_STEERED = ("argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/")


class Proposed(NamedTuple):
    """A draft of a job, and for each task of the Job the route of its block in the draft."""

    draft: Draft
    roles: dict[str, Route]


def propose(taken: Taken, shelf: Shelf, *, tensorflow: bool, raw: Collection[str] = ()) -> Proposed:
    """Return the block of a job without policies; as TensorFlow's, or as tasks of any framework.

    ``raw`` are keys for which overlays stand, because the compiler would write more than the source has.
    """
    draft, roles, spec = Draft(exact=taken.ours), {}, taken.spec
    draft.origins[()] = ()
    kinds = _in_cluster(taken) if tensorflow else set()
    port = _server_port(taken, kinds)
    if kinds and port != _PORT:
        draft.put(("port",), port)
    for key in spec.keys() - set(_SAID):
        taken.say("lost", f"{key}: {NO_COUNTERPART.get(key, 'the spec has no such key')}", ("spec", key))
    _job_keys(taken, draft, shelf)
    least = _gang(taken, draft, kinds)
    ports = {task["name"]: port for task in spec["tasks"] if task["name"] in kinds}
    for index, task in enumerate(spec["tasks"]):
        name = task["name"]
        at: Route = (name,) if name in kinds else ("tasks", name)
        base: Route = ("spec", "tasks", index)
        roles[name] = at
        _task_keys(taken, draft, at, {**task, **({"minAvailable": least[name]} if name in least else {})}, base)
        container: Route = (*base, "template", "spec", "containers", 0)
        keys = ContainerKeys(taken, draft, at, container, port=port if name in kinds else 0, ports=ports, raw=raw)
        PodKeys(taken, draft, at, base, shelf, raw=raw).put(task.get("template") or {}, keys)
        if draft.get(at) == {}:
            draft.put((*at, "replicas"), 1)
    if not taken.ours and kinds >= {*NEEDS["parameter-server"]}:
        taken.say("note", "the strategy is parameter-server; an Estimator needs `strategy: between-graph`")
    names_of_roles = any(name in ROLE_NAMES for name, at in roles.items() if at[0] == "tasks")
    if names_of_roles and not kinds:
        draft.put(("strategy",), "none")
    return Proposed(draft, roles)


def is_tensorflow(taken: Taken) -> bool:
    """Tell whether the tasks of a Job are a cluster of TensorFlow."""
    names = {task["name"] for task in taken.spec["tasks"]}
    told = (
        bool(taken.framework) or "tensorflow" in taken.spec.get("plugins", {}) or TF_CONFIG in str(taken.spec["tasks"])
    )
    return told if taken.ours else told or names >= {"ps", "worker"}


def rename_tasks(taken: Taken) -> None:
    """Give tasks the names of their roles, where TF_CONFIG or Volcano's plugin says that they are roles."""
    tasks = taken.spec["tasks"]
    told = {task: role for role, task in _told_by_plugin(taken).items()}
    names = {task["name"] for task in tasks}
    for index, task in enumerate(tasks):
        name = task["name"]
        role = told.get(name) or simplified(_script(task), {}).kind
        if name not in ROLE_NAMES and role in ROLE_NAMES and role not in names:
            names.add(role)
            taken.renamed[name] = task["name"] = role
            text = f"the task {name} is the role `{role}`, so its pods and /etc/volcano/{role}.host are called so, too"
            taken.say("changed", text, ("spec", "tasks", index))
    for task in tasks:
        if _waits(task):
            task["dependsOn"]["name"] = [taken.renamed.get(name, name) for name in task["dependsOn"]["name"]]


def _in_cluster(taken: Taken) -> set[str]:
    """Return the names of the tasks that are roles of TensorFlow."""
    tasks = [task for task in taken.spec["tasks"] if task["name"] in ROLE_NAMES]
    if taken.ours:
        tasks = [one for one in tasks if any(entry.get("name") == TF_CONFIG for entry in _training(one).get("env", ()))]
    return {task["name"] for task in tasks}


def _told_by_plugin(taken: Taken) -> dict[str, str]:
    """Return the arguments of Volcano's plugin tensorflow: tasks by their roles, and the port."""
    flags = [flag.lstrip("-").partition("=") for flag in taken.spec.get("plugins", {}).get(_DISCOVERY[0], ())]
    return {key: value for key, _, value in flags}


def _training(task: Json) -> Json:
    containers = ((task.get("template") or {}).get("spec") or {}).get("containers") or [{}]
    first: Json = containers[0]
    return first


def _script(task: Json) -> str:
    training = _training(task)
    found = script_of(training.get("command", ()), training.get("args", ()))
    return found.text if found else ""


def _port_of_config(task: Json) -> int:
    """Return the port in the TF_CONFIG that a container has as a variable, or 0."""
    texts = [str(entry.get("value", "")) for entry in _training(task).get("env", ()) if entry.get("name") == TF_CONFIG]
    return next((int(match[1]) for text in texts if (match := PORT.search(text))), 0)


def _server_port(taken: Taken, kinds: set[str]) -> int:
    """Return the port of TensorFlow's servers: the shell's, one with a telling name, or the only one of all roles."""
    tasks = [task for task in taken.spec["tasks"] if task["name"] in kinds]
    port = _told_by_plugin(taken).get("port", "")
    found = [int(port)] if port.isdigit() else []
    found += [simplified(_script(task), {}).port or _port_of_config(task) for task in tasks]
    ports = [port for task in tasks for port in _training(task).get("ports", ())]
    named = [port["containerPort"] for port in ports if port.get("name") in (SERVER_PORT, _TFJOB_PORT)]
    only = {port.get("containerPort") for port in ports}
    chosen = next((port for port in (*found, *named) if port), 0)
    return chosen or (int(only.pop()) if len(only) == 1 and len(ports) == len(tasks) else _PORT)


def _job_keys(taken: Taken, draft: Draft, shelf: Shelf) -> None:
    spec, metadata = taken.spec, taken.manifest["metadata"]
    for key in ("labels", "annotations"):
        for name, text in (metadata.get(key) or {}).items():
            if name != JOB_LABEL and not (taken.ours and name.startswith(_STEERED)):
                draft.put((key, name), text, ("metadata", key, name))
    if (queue := spec.get("queue", DEFAULT_QUEUE)) != DEFAULT_QUEUE:
        draft.put(("queue",), queue, ("spec", "queue"))
        shelf.use_queue(queue)
    if spec.get("schedulerName", SCHEDULER) != SCHEDULER:
        taken.say("changed", f"schedulerName {spec['schedulerName']}: it is always volcano", ("spec", "schedulerName"))
    if (retries := spec.get("maxRetry")) and retries != RETRIES:
        draft.put(("maxRetry",), retries, ("spec", "maxRetry"))
    if name := spec.get("priorityClassName"):
        draft.put(("priorityClassName",), name, ("spec", "priorityClassName"))
    _plugins(taken, draft)


def _plugins(taken: Taken, draft: Draft) -> None:
    for name, flags in (taken.spec.get("plugins") or {}).items():
        at: Route = ("spec", "plugins", name)
        if name in _DISCOVERY:
            taken.say(
                "changed", f"{name}: this plugin of Volcano goes, because the compiler writes {TF_CONFIG} itself", at
            )
        elif name != "svc" or (flags and sorted(flags) != sorted(SVC_ARGUMENTS)):
            draft.put(("plugins", name), flags, at)


def _gang(taken: Taken, draft: Draft, kinds: set[str]) -> dict[str, int]:
    """Put the job's `minAvailable`; return that of tasks, where the job's is less than theirs together.

    Volcano then looks at the job's alone. A spec says it per task, so the largest tasks may start with fewer pods.
    """
    tasks, at = taken.spec["tasks"], ("spec", "minAvailable")
    wanted = taken.spec.get("minAvailable") or 0
    least = {task["name"]: task.get("minAvailable", task.get("replicas", 0)) for task in tasks}
    first = sum(least[task["name"]] for task in tasks if not _waits(task))
    if not wanted or wanted == first:
        return {}
    if wanted > first or any(map(_waits, tasks)):
        draft.put(("minAvailable",), wanted, at)
        return {}
    if kinds or wanted < len(tasks):
        why = "TensorFlow's cluster needs all pods" if kinds else "each task needs a pod"
        taken.say("changed", f"minAvailable {wanted} goes, so the gang is {first} pods: {why}", at)
        return {}
    while (over := sum(least.values()) - wanted) > 0:
        name, second = max(least, key=lambda name: least[name]), sorted([1, *least.values()])[-2]
        least[name] -= min(over, max(1, least[name] - max(second, 1)))
    if len(tasks) > 1:
        said = ", ".join(f"{name} {number}" for name, number in least.items())
        taken.say("changed", f"minAvailable {wanted} of the job is now one of each task: {said}", at)
    return least


def _waits(task: Json) -> bool:
    return bool((task.get("dependsOn") or {}).get("name"))


def _task_keys(taken: Taken, draft: Draft, at: Route, task: Json, base: Route) -> None:
    for key in task.keys() - set(_TASK_SAID):
        taken.say("lost", f"{key}: the spec has no such key", (*base, key))
    replicas = task.get("replicas", 0)
    draft.put(at, {}, base)
    if replicas != 1:
        draft.put((*at, "replicas"), replicas, (*base, "replicas"))
    if task.get("minAvailable") not in (None, replicas):
        draft.put((*at, "minAvailable"), task["minAvailable"], (*base, "minAvailable"))
    if (retries := task.get("maxRetry")) and retries != MAX_RETRY:
        draft.put((*at, "maxRetry"), retries, (*base, "maxRetry"))
    if _waits(task):
        draft.put((*at, "dependsOn"), task["dependsOn"]["name"], (*base, "dependsOn"))
        for key in task["dependsOn"].keys() - {"name"}:
            taken.say("lost", f"dependsOn.{key}: the spec has no such key", (*base, "dependsOn", key))


def written_policies(policies: list[Json]) -> Iterator[Json]:
    """Yield policies as a spec has them: one event is no list."""
    for policy in policies:
        events = policy.get("events") or []
        rest = {key: value for key, value in policy.items() if key != "events"}
        yield {"event": events[0], **rest} if len(events) == 1 and "event" not in rest else dict(policy)
