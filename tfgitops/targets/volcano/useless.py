"""What a cluster admits without a word, and what then hangs, fails or does nothing (docs/volcano.md 5 and 11)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes import names
from tfgitops.targets.kubernetes.containers import PROBES
from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.resources import judge_amounts
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.routes import Route
from tfgitops.targets.volcano.job import go_int
from tfgitops.targets.volcano.tasks import events_of, place_of, replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.targets.routes import Json, Route

WARNINGS = frozenset({
    "pending-restarts-pod", "failed-beats-evicted", "any-task-ends-job", "svc-not-ready", "amount-slip",
    "amount-device",
})  # fmt: skip
"""Rules whose breach may be meant."""


FLAGS = {
    "env": (),
    "svc": ("publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env"),
    "ssh": ("ssh-key-file-path", "ssh-private-key", "ssh-public-key", "ssh-port"),
    "mpi": ("master", "worker", "port"),
}
"""The flags that Volcano's job plugins read."""

_NOT_READY = "publish-not-ready-addresses"
_BOOLEAN = (_NOT_READY, "disable-network-policy", "inject-hosts-env")
_PORTS = ("ssh-port", "port")
_DISCOVERY = ("tensorflow", "pytorch", "ray")
_ARGUMENT = re.compile(r"--([a-z-]+)=(.*)", re.DOTALL).fullmatch
_PORT_MAX = 65535
_EXIT_CODES = range(256)  # 0 is refused by Volcano itself
_VOLCANO_PATH = "/etc/volcano"
_REFERRED = "Secret secret secretName", "ConfigMap configMap name", "claim persistentVolumeClaim claimName"
_OF_THE_CLASS = ("priority", "preemptionPolicy")
RULES = Rules.read("""
    policy-event-twice: this policy names the event {found} twice | name it once
    policy-pending-no-timeout: a policy for PodPending without a timeout does nothing | add one, such as `timeout: 10m`
    policy-timeout: the timeout {found} is not a time to wait for | write it as 30s, 10m or 1h30m
    policy-exit-code-range: no container exits with {found} | use a code of 1 to 255
    pending-restarts-pod: {found} for PodPending is reported not to work | RestartJob does
    failed-beats-evicted:
        an evicted pod may be seen as failed, and then {found} for PodFailed beats the policy for PodEvicted
        | give both events the same action
    any-task-ends-job:
        with TaskCompleted here, any task that completes ends the job
        | leave it out, or give it to the task whose end is the job's
    plugin-argument:
        {found} is not an argument that the plugin {plugin} reads: Volcano ignores it, and those behind it
        | write --flag=value, with one of {flags}
    plugin-discovery:
        Volcano's plugin {plugin} would write variables beside those of the compiler
        | leave it out: TF_CONFIG and the hosts are written already
    plugin-unseen:
        Volcano's plugin {plugin} changes variables or commands of the pods, and no manifest or review shows it
        | leave it out, and write `$(<TASK>_HOSTS)` and `$(TASK_INDEX)` in `command` or `env`
    plugin-flag-twice: the flag --{flag} is given twice, and the last one counts | give it once
    plugin-port: {found} is no port | write a number from 1 to 65535
    svc-not-ready:
        the names of pods that are not ready yet would not resolve, and peers wait for each other before they are
        | leave --publish-not-ready-addresses out
    pod-grace-negative: terminationGracePeriodSeconds {found} is not a time to wait | use 0 or more
    pod-root-forbidden: the container must not run as root, and runs as user 0 | choose another runAsUser
    pod-volume-no-source: the volume {found} has no source | say what it is, such as `emptyDir: {{}}`
    pod-medium: an emptyDir cannot have the medium {found} | use Memory, or leave it out
    pod-reference-name: no {kind} can be called {found} | use lower-case letters, digits, - and .
    pod-mount-twice: {found} is mounted already | give one of the two another path
    pod-mount-volcano: {found} is where Volcano mounts the hosts of the job | choose another path
    pod-port-name-twice: two containers of the pod name a port {found} | give one another name
    pod-topology-key: no node can have the label {found} | use the key of a label
    pod-class-decides:
        {field} is what the pod's PriorityClass says: Kubernetes refuses pods with another value
        | leave it out, and name a class by the job's `priorityClassName`
    pod-port-unknown: the container has no port {found}, so this fails forever | {remedy}
""")


def judge_use(manifest: Json, *, tasks: bool = True) -> list[Fault]:
    """List what is admitted and no use in a Job with all its defaults; with ``tasks``, also in each task by itself."""
    spec = manifest["spec"]
    policies = spec.get("policies", ())
    found = [*_judge_policies(policies, ("spec", "policies")), *_judge_end(policies, spec["tasks"])]
    found += _judge_plugins(spec.get("plugins", {}), spec["tasks"])
    for index, task in enumerate(spec["tasks"] if tasks else ()):
        found += (fault.below(("spec", "tasks", index)) for fault in judge_task(task))
    return found


def judge_task(task: Json) -> Iterator[Fault]:
    """Judge one task of a Job."""
    pod = task["template"]["spec"]
    yield from _judge_policies(task.get("policies", ()), ("policies",))
    for fault in (*_judge_pod(pod), *judge_amounts(pod)):
        yield fault.below(("template", "spec"))


def _judge_end(policies: Sequence[Json], tasks: Sequence[Json]) -> Iterator[Fault]:
    for index, policy in enumerate(policies):
        if len(tasks) > 1 and policy.get("action") == "CompleteJob" and "TaskCompleted" in events_of(policy):
            yield RULES.fault("any-task-ends-job", place_of(policy, "TaskCompleted", ("spec", "policies", index)))


def _judge_policies(policies: Sequence[Json], at: Route) -> Iterator[Fault]:
    actions: dict[str, str] = {}
    for index, policy in enumerate(policies):
        here = (*at, index)
        events = [*policy.get("events", ()), *([policy["event"]] if "event" in policy else ())]
        actions |= dict.fromkeys(events, policy.get("action", ""))
        for event in {event for event in events if events.count(event) > 1}:
            yield RULES.fault("policy-event-twice", (*here, "events"), found=event)
        if "PodPending" in events:
            if "timeout" not in policy:
                yield RULES.fault("policy-pending-no-timeout", here)
            if policy.get("action") in ("RestartPod", "RestartTask"):
                yield RULES.fault("pending-restarts-pod", (*here, "action"), found=policy["action"])
        if str(policy.get("timeout", "")).startswith("-"):
            yield RULES.fault("policy-timeout", (*here, "timeout"), found=policy["timeout"])
        if policy.get("exitCode", 1) not in _EXIT_CODES:
            yield RULES.fault("policy-exit-code-range", (*here, "exitCode"), found=policy["exitCode"])
    restarted = actions.get("PodEvicted", "").startswith("Restart")
    if restarted and actions.get("PodFailed") in ("TerminateJob", "AbortJob"):
        yield RULES.fault("failed-beats-evicted", at, found=actions["PodFailed"])


def _judge_plugins(plugins: Mapping[str, Sequence[str]], tasks: Sequence[Json]) -> Iterator[Fault]:
    for plugin, arguments in plugins.items():
        at = ("spec", "plugins", plugin)
        if plugin in _DISCOVERY:
            rule = "plugin-discovery" if any(map(_has_discovery, tasks)) else "plugin-unseen"
            yield RULES.fault(rule, at, plugin=plugin)
        given: dict[str, str] = {}
        for index, argument in enumerate(arguments if plugin in FLAGS else ()):
            match = _ARGUMENT(argument)
            flag, value = match.groups() if match else ("", "")
            if flag not in FLAGS[plugin] or (flag in _BOOLEAN and value not in ("true", "false")):
                flags = ", ".join(f"--{flag}=" for flag in FLAGS[plugin]) or "none: it takes no arguments"
                yield RULES.fault("plugin-argument", (*at, index), found=show(argument), plugin=plugin, flags=flags)
                continue
            if flag in given:
                yield RULES.fault("plugin-flag-twice", (*at, index), found=show(argument), flag=flag)
            if flag in _PORTS and not 0 < (go_int(value) or 0) <= _PORT_MAX:
                yield RULES.fault("plugin-port", (*at, index), found=show(value))
            if flag == _NOT_READY and value == "false" and sum(map(replicas_of, tasks)) > 1:
                yield RULES.fault("svc-not-ready", (*at, index), found=show(argument))
            given[flag] = value


def _has_discovery(task: Json) -> bool:
    training = task["template"].get("spec", {}).get("containers", [{}])[0]
    return any(variable["name"] == "TF_CONFIG" for variable in training.get("env", ()))


def _judge_pod(spec: Json) -> Iterator[Fault]:
    """Judge a PodSpec that Kubernetes admits."""
    if (grace := spec.get("terminationGracePeriodSeconds", 0)) < 0:
        yield RULES.fault("pod-grace-negative", ("terminationGracePeriodSeconds",), found=grace)
    for field in _OF_THE_CLASS:
        if field in spec:
            yield RULES.fault("pod-class-decides", (field,), found=show(spec[field]), field=field)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        if not names.is_qualified_name(constraint.get("topologyKey", "")):
            place = ("topologySpreadConstraints", index, "topologyKey")
            yield RULES.fault("pod-topology-key", place, found=show(constraint.get("topologyKey")))
    for index, volume in enumerate(spec.get("volumes", ())):
        yield from _judge_volume(volume, ("volumes", index))
    for index, secret in enumerate(spec.get("imagePullSecrets", ())):
        yield from _judge_reference("Secret", secret.get("name", ""), ("imagePullSecrets", index, "name"))
    ports: set[str] = set()
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key, ())):
            yield from _judge_container(container, spec, ports, (key, index))
            yield from _judge_port_names(container, (key, index))


def _judge_volume(volume: Json, at: Route) -> Iterator[Fault]:
    if set(volume) == {"name"}:
        yield RULES.fault("pod-volume-no-source", at, found=volume["name"])
    medium = (volume.get("emptyDir") or {}).get("medium", "")
    if medium not in ("", "Memory") and not medium.startswith("HugePages"):
        yield RULES.fault("pod-medium", (*at, "emptyDir", "medium"), found=medium)
    for kind, source, key in map(str.split, _REFERRED):
        if name := (volume.get(source) or {}).get(key):
            yield from _judge_reference(kind, name, (*at, source, key))


def _judge_reference(kind: str, name: str, at: Route) -> Iterator[Fault]:
    if not names.is_dns_subdomain(name):
        yield RULES.fault("pod-reference-name", at, found=show(name), kind=kind)


def _judge_container(container: Json, pod: Json, ports: set[str], at: Route) -> Iterator[Fault]:
    security = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
    if security.get("runAsNonRoot") and security.get("runAsUser") == 0:
        yield RULES.fault("pod-root-forbidden", (*at, "securityContext"))
    mounted: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", ())):
        path = names.plain_path(str(mount.get("mountPath", "")))
        place = (*at, "volumeMounts", index, "mountPath")
        if path in mounted:
            yield RULES.fault("pod-mount-twice", place, found=path)
        if path == _VOLCANO_PATH or path.startswith(f"{_VOLCANO_PATH}/"):
            yield RULES.fault("pod-mount-volcano", place, found=path)
        mounted.add(path)
    for index, port in enumerate(container.get("ports", ())):
        if (name := port.get("name")) and name in ports:
            yield RULES.fault("pod-port-name-twice", (*at, "ports", index, "name"), found=name)
        ports.add(port.get("name", ""))


def _judge_port_names(container: Json, at: Route) -> Iterator[Fault]:
    """Judge that what asks for a port by its name finds it: the kubelet looks among the container's own ports alone."""
    known = [port["name"] for port in container.get("ports", ()) if port.get("name")]
    for place, handler in _handlers(container):
        for action in ("httpGet", "tcpSocket"):
            wanted = (handler.get(action) or {}).get("port")
            if isinstance(wanted, str) and wanted not in known:
                remedy = did_you_mean(wanted, known) or "write the number, or give the port its name under `ports`"
                expected = " or ".join(known)
                where = (*at, *place, action, "port")
                yield RULES.fault("pod-port-unknown", where, found=show(wanted), expected=expected, remedy=remedy)


def _handlers(container: Json) -> Iterator[tuple[Route, Json]]:
    """Yield each probe and each lifecycle hook of a container, with its place in it."""
    for probe in PROBES:
        yield (probe,), container.get(probe) or {}
    for hook in ("postStart", "preStop"):
        yield ("lifecycle", hook), (container.get("lifecycle") or {}).get(hook) or {}
