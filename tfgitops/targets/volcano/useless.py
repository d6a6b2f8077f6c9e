"""What a cluster admits without a word, and what then hangs, fails or does nothing (docs/volcano.md 5 and 11)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.routes import Route
from tfgitops.targets.volcano.jobplugins import go_int
from tfgitops.targets.volcano.policies import events_of, place_of
from tfgitops.targets.volcano.tasks import replicas_of
from tfgitops.targets.volcano.uselesspods import judge_pod

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.targets.routes import Route

WARNINGS = frozenset({"pending-restarts-pod", "failed-beats-evicted", "any-task-ends-job", "svc-not-ready"})
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
        "any-task-ends-job": (
            "with TaskCompleted here, any task that completes ends the job",
            "leave it out, or give it to the task whose end is the job's",
        ),
        "plugin-argument": (
            "{found} is not an argument that the plugin {plugin} reads: Volcano ignores it, and those behind it",
            "write --flag=value, with one of {flags}",
        ),
        "plugin-discovery": (
            "Volcano's plugin {plugin} would write variables beside those of the compiler",
            "leave it out: TF_CONFIG and the hosts are written already",
        ),
        "plugin-flag-twice": ("the flag --{flag} is given twice, and the last one counts", "give it once"),
        "plugin-port": ("{found} is no port", "write a number from 1 to 65535"),
        "svc-not-ready": (
            "the names of pods that are not ready yet would not resolve, and peers wait for each other before they are",
            "leave --publish-not-ready-addresses out",
        ),
        "sync-destroys": (
            "{found} lets {controller} replace or reorder jobs: runs would be lost, or never start",
            "leave it out: a changed job has a new name",
        ),
    }
)

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
_DISCOVERY = ("tensorflow", "pytorch", "ray", "hcclrank")
_ARGUMENT = re.compile(r"--([a-z-]+)=(.*)", re.DOTALL).fullmatch
_PORT_MAX = 65535
_EXIT_CODES = range(256)  # 0 is refused by Volcano itself
_SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
_FORCE = "kustomize.toolkit.fluxcd.io/force"


def judge_use(manifest: Mapping[str, Any], *, tasks: bool = True) -> list[Fault]:
    """List what is admitted and no use in a Job with all its defaults.

    :param tasks: whether to judge each task by itself, too.
    """
    spec = manifest["spec"]
    policies = spec.get("policies", ())
    found = [*_judge_metadata(manifest["metadata"]), *_judge_policies(policies, ("spec", "policies"))]
    found += [*_judge_end(policies, spec["tasks"]), *_judge_plugins(spec.get("plugins", {}), spec["tasks"])]
    for index, task in enumerate(spec["tasks"] if tasks else ()):
        found += (fault.below(("spec", "tasks", index)) for fault in judge_task(task))
    return found


def judge_task(task: Mapping[str, Any]) -> Iterator[Fault]:
    """Judge one task of a Job."""
    policies, pod = task.get("policies", ()), task["template"]["spec"]
    yield from _judge_policies(policies, ("policies",))
    if pod.get("restartPolicy") == "OnFailure":
        yield from _judge_exit_codes(policies, ("policies",))
    for fault in judge_pod(pod):
        yield fault.below(("template", "spec"))


def _judge_metadata(metadata: Mapping[str, Any]) -> Iterator[Fault]:
    """Judge what the object asks of Argo CD and Flux (docs/volcano.md 7)."""
    annotations = metadata.get("annotations", {})
    for option in annotations.get(_SYNC_OPTIONS, "").split(","):
        if option.strip() in {"Force=true", "Replace=true", "PruneLast=true"}:
            at = ("metadata", "annotations", _SYNC_OPTIONS)
            yield RULES.fault("sync-destroys", at, found=option.strip(), controller="Argo CD")
    for field in ("annotations", "labels"):  # Flux looks in both
        if metadata.get(field, {}).get(_FORCE, "").lower() == "enabled":
            yield RULES.fault("sync-destroys", ("metadata", field, _FORCE), found=_FORCE, controller="Flux")


def _judge_end(policies: Sequence[Mapping[str, Any]], tasks: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    for index, policy in enumerate(policies):
        if len(tasks) > 1 and policy.get("action") == "CompleteJob" and "TaskCompleted" in events_of(policy):
            yield RULES.fault("any-task-ends-job", place_of(policy, "TaskCompleted", ("spec", "policies", index)))


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


def _judge_plugins(plugins: Mapping[str, Sequence[str]], tasks: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    for plugin, arguments in plugins.items():
        at = ("spec", "plugins", plugin)
        if plugin in _DISCOVERY:
            yield RULES.fault("plugin-discovery", at, plugin=plugin)
        given: dict[str, str] = {}
        for index, argument in enumerate(arguments if plugin in FLAGS else ()):
            match = _ARGUMENT(argument)
            if not (match and _reads(plugin, match[1], match[2])):
                flags = ", ".join(f"--{flag}=" for flag in FLAGS[plugin]) or "none: it takes no arguments"
                yield RULES.fault("plugin-argument", (*at, index), found=show(argument), plugin=plugin, flags=flags)
                continue
            flag, value = match.groups()
            if flag in given:
                yield RULES.fault("plugin-flag-twice", (*at, index), found=show(argument), flag=flag)
            if flag in _PORTS and not 0 < (go_int(value) or 0) <= _PORT_MAX:
                yield RULES.fault("plugin-port", (*at, index), found=show(value))
            if flag == _NOT_READY and value == "false" and sum(map(replicas_of, tasks)) > 1:
                yield RULES.fault("svc-not-ready", (*at, index), found=show(argument))
            given[flag] = value


def _reads(plugin: str, flag: str, value: str) -> bool:
    return flag in FLAGS[plugin] and (flag not in _BOOLEAN or value in ("true", "false"))
