"""What Kubernetes asks of a projected volume: that no two of its files have one path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes.fault import Fault, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = Mapping[str, Any]

RULES = Rules(
    {"k8s-volumes-projected-path-conflict": ("two files of the volume have the path {found}", "move one of them")}
)


def judge_projected_paths(spec: Json) -> Iterator[Fault]:
    """Judge the paths of all projected volumes."""
    for i, volume in enumerate(spec.get("volumes", ())):
        seen = set()
        for path in _paths(volume.get("projected", {})):
            if path in seen:
                at = ("volumes", i, "projected")
                yield RULES.fault("k8s-volumes-projected-path-conflict", at, found=path)
            seen.add(path)


def _paths(projected: Json) -> Iterator[str]:
    for projection in projected.get("sources", ()):
        for source in projection.values():
            if "path" in source:
                yield source["path"]
            yield from (item.get("path", "") for item in source.get("items", ()))
