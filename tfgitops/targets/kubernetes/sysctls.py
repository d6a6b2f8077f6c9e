"""What Kubernetes asks of kernel settings (sysctls): each once, and none that the node keeps for itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RULES = Rules(
    {
        "k8s-security-sysctls-name-duplicate": ("{found} is set twice", "keep one of the two"),
        "k8s-security-sysctls-name-not-allowed": (
            "{found} is the node's own, and the pod has {field}",
            "drop {field}, or the setting",
        ),
    }
)
# What a pod cannot set where it shares the node's namespace of that kind.
_KEPT = {
    "hostNetwork": re.compile(r"net\."),
    "hostIPC": re.compile(r"kernel\.(sem|shm(all|max|mni|_rmid_forced)?|msg(max|mnb|mni)?)\Z|fs\.mqueue\."),
}


def judge_sysctls(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Judge the kernel settings of a pod against each other and against what it shares with its node."""
    seen = set()
    for i, sysctl in enumerate(spec.get("securityContext", {}).get("sysctls", ())):
        at = ("securityContext", "sysctls", i, "name")
        name = sysctl.get("name", "").replace("/", ".")
        if name in seen:
            yield RULES.fault("k8s-security-sysctls-name-duplicate", at, found=name)
        seen.add(name)
        for field, kept in _KEPT.items():
            if spec.get(field) and kept.match(name):
                yield RULES.fault("k8s-security-sysctls-name-not-allowed", at, found=name, field=field)
