"""What a cluster admits without a word, and what then hangs, fails or does nothing (volcano.md 5 and 6b)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes import names
from tfgitops.volcano.fault import Fault, Rules, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.volcano.fault import Route

WARNINGS = frozenset({"pending-restarts-pod", "failed-beats-evicted"})
"""Rules whose breach may be meant."""

RULES = Rules(
    {
        "policy-event-twice": ("this policy names the event {found} twice", "name it once"),
        "policy-pending-no-timeout": (
            "a policy for PodPending without a timeout does nothing",
            "add one, such as `timeout: 10m`",
        ),
        "policy-timeout": ("the timeout {found} is not a time to wait for", "write it as 30s, 10m or 1h30m"),
        "policy-exit-code-range": ("no container exits with {found}", "use a code of 1 to 255"),
        "policy-exit-code-on-failure": (
            "with restartPolicy OnFailure the container is restarted, and no policy sees its exit code",
            "use restartPolicy Never, or an event",
        ),
        "pending-restarts-pod": (
            "{found} for PodPending is reported not to work",
            "RestartJob does",
        ),
        "failed-beats-evicted": (
            "an evicted pod may be seen as failed, and then {found} for PodFailed beats the policy for PodEvicted",
            "give both events the same action",
        ),
        "plugin-argument": (
            "{found} is not an argument that the plugin {plugin} reads: Volcano ignores it, and those behind it",
            "write --flag=value, with one of {flags}",
        ),
        "plugin-discovery": (
            "Volcano's plugin {plugin} would write variables beside those of the compiler",
            "leave it out: TF_CONFIG and the hosts are written already",
        ),
        "pod-grace-negative": ("terminationGracePeriodSeconds {found} is not a time to wait", "use 0 or more"),
        "pod-root-forbidden": ("the container must not run as root, and runs as user 0", "choose another runAsUser"),
        "pod-volume-no-source": ("the volume {found} has no source", "say what it is, such as `emptyDir: {{}}`"),
        "pod-medium": ("an emptyDir cannot have the medium {found}", "use Memory, or leave it out"),
        "pod-reference-name": ("no {kind} can be called {found}", "use lower-case letters, digits, - and ."),
        "pod-mount-twice": ("{found} is mounted already", "give one of the two another path"),
        "pod-mount-volcano": ("{found} is where Volcano mounts the hosts of the job", "choose another path"),
        "pod-port-name-twice": ("two containers of the pod name a port {found}", "give one another name"),
        "pod-topology-key": ("no node can have the label {found}", "use the key of a label"),
    }
)

FLAGS = {
    "env": (),
    "svc": ("publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env"),
    "ssh": ("ssh-key-file-path", "ssh-private-key", "ssh-public-key", "ssh-port"),
    "mpi": ("master", "worker", "port"),
}
"""The flags that Volcano's job plugins read."""

_DISCOVERY = ("tensorflow", "pytorch", "ray", "hcclrank")
_ARGUMENT = re.compile(r"--([a-z-]+)=(.*)", re.DOTALL).fullmatch
_BOOLEAN = ("publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env")
_EXIT_CODES = range(256)  # 0 is refused by Volcano itself
_VOLCANO_PATH = "/etc/volcano"


def judge_use(manifest: Mapping[str, Any]) -> list[Fault]:
    """List what is admitted and no use in a Job with all its defaults."""
    spec = manifest["spec"]
    found = [*_judge_policies(spec.get("policies", ()), ("spec", "policies")), *_judge_plugins(spec["plugins"])]
    for index, task in enumerate(spec["tasks"]):
        at = ("spec", "tasks", index)
        policies = task.get("policies", ())
        found += _judge_policies(policies, (*at, "policies"))
        if task["template"]["spec"].get("restartPolicy") == "OnFailure":
            found += _judge_exit_codes(policies, (*at, "policies"))
        found += _judge_pod(task["template"]["spec"], (*at, "template", "spec"))
    return found


def _judge_policies(policies: Sequence[Mapping[str, Any]], at: Route) -> Iterator[Fault]:
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


def _judge_exit_codes(policies: Sequence[Mapping[str, Any]], at: Route) -> Iterator[Fault]:
    for index, policy in enumerate(policies):
        if "exitCode" in policy:
            yield RULES.fault("policy-exit-code-on-failure", (*at, index, "exitCode"))


def _judge_plugins(plugins: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    for plugin, arguments in plugins.items():
        at = ("spec", "plugins", plugin)
        if plugin in _DISCOVERY:
            yield RULES.fault("plugin-discovery", at, plugin=plugin)
        for index, argument in enumerate(arguments if plugin in FLAGS else ()):
            match = _ARGUMENT(argument)
            if not (match and _reads(plugin, match[1], match[2])):
                flags = ", ".join(f"--{flag}=" for flag in FLAGS[plugin]) or "none: it takes no arguments"
                yield RULES.fault("plugin-argument", (*at, index), found=show(argument), plugin=plugin, flags=flags)


def _reads(plugin: str, flag: str, value: str) -> bool:
    return flag in FLAGS[plugin] and (flag not in _BOOLEAN or value in ("true", "false"))


def _judge_pod(spec: Mapping[str, Any], at: Route) -> Iterator[Fault]:
    grace = spec.get("terminationGracePeriodSeconds", 0)
    if grace < 0:
        yield RULES.fault("pod-grace-negative", (*at, "terminationGracePeriodSeconds"), found=grace)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        if not names.is_qualified_name(constraint.get("topologyKey", "")):
            place = (*at, "topologySpreadConstraints", index, "topologyKey")
            yield RULES.fault("pod-topology-key", place, found=show(constraint.get("topologyKey")))
    for index, volume in enumerate(spec.get("volumes", ())):
        yield from _judge_volume(volume, (*at, "volumes", index))
    for index, secret in enumerate(spec.get("imagePullSecrets", ())):
        yield from _judge_reference("Secret", secret.get("name", ""), (*at, "imagePullSecrets", index, "name"))
    ports: set[str] = set()
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key, ())):
            yield from _judge_container(container, spec, ports, (*at, key, index))


def _judge_volume(volume: Mapping[str, Any], at: Route) -> Iterator[Fault]:
    if set(volume) == {"name"}:
        yield RULES.fault("pod-volume-no-source", at, found=volume["name"])
    medium = (volume.get("emptyDir") or {}).get("medium", "")
    if medium not in ("", "Memory") and not medium.startswith("HugePages"):
        yield RULES.fault("pod-medium", (*at, "emptyDir", "medium"), found=medium)
    for kind, source, key in (
        ("Secret", "secret", "secretName"),
        ("ConfigMap", "configMap", "name"),
        ("claim", "persistentVolumeClaim", "claimName"),
    ):
        if name := (volume.get(source) or {}).get(key):
            yield from _judge_reference(kind, name, (*at, source, key))


def _judge_reference(kind: str, name: str, at: Route) -> Iterator[Fault]:
    if not names.is_dns_subdomain(name):
        yield RULES.fault("pod-reference-name", at, found=show(name), kind=kind)


def _judge_container(
    container: Mapping[str, Any], pod: Mapping[str, Any], ports: set[str], at: Route
) -> Iterator[Fault]:
    security = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
    if security.get("runAsNonRoot") and security.get("runAsUser") == 0:
        yield RULES.fault("pod-root-forbidden", (*at, "securityContext"))
    mounted: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", ())):
        path = str(mount.get("mountPath", "")).rstrip("/") or "/"
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
