"""What Kubernetes asks of a projected volume: that no two of its files have one path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = Mapping[str, Any]

_SAME = ("two files of the volume have the path {found}", "move one of them")
RULES = Rules(
    {
        "k8s-volumes-projected-path-conflict": _SAME,
        "pod-projected-path-hidden": _SAME,  # Kubernetes does not ask about the path of a token
    }
)


def judge_projected_paths(spec: Json) -> Iterator[Fault]:
    """Judge the paths of all projected volumes."""
    for i, volume in enumerate(spec.get("volumes", ())):
        seen: dict[str, bool] = {}
        for path, asked in _paths(volume.get("projected", {})):
            if path in seen:
                rule = "k8s-volumes-projected-path-conflict" if asked and seen[path] else "pod-projected-path-hidden"
                yield RULES.fault(rule, ("volumes", i, "projected"), found=path)
            seen[path] = asked or seen.get(path, False)


def _paths(projected: Json) -> Iterator[tuple[str, bool]]:
    """Give each path, and whether Kubernetes asks about it."""
    for projection in projected.get("sources", ()):
        for source in projection.values():
            if "path" in source:
                yield source["path"], False
            yield from ((item.get("path", ""), True) for item in source.get("items", ()))
