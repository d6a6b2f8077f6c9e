"""The images that an object names, whatever its kind: those of containers, and those that are mounted as volumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.targets.routes import Route


@dataclass(frozen=True, kw_only=True, slots=True)
class PodImage:
    """One place that names an image.

    ``part`` is ``container``, ``init container``, ``sidecar`` or ``volume``, and ``name`` its name in the pod. ``at``
    is the route of the reference in the manifest.
    """

    part: str
    name: str
    image: str
    at: Route


def pod_images(manifest: Mapping[str, Any]) -> Iterator[PodImage]:
    """Yield each image of the pods that a manifest describes, in the order in which it names them."""
    for at, pod in _pods(manifest, ()):
        for field in ("containers", "initContainers"):
            for index, container in enumerate(pod.get(field) or ()):
                yield from _image(
                    _part(field, container), container, container.get("image"), (*at, field, index, "image")
                )
        for index, volume in enumerate(pod.get("volumes") or ()):
            reference = (volume.get("image") or {}).get("reference")
            yield from _image("volume", volume, reference, (*at, "volumes", index, "image", "reference"))


def _pods(value: Any, at: Route) -> Iterator[tuple[Route, Mapping[str, Any]]]:
    """Find all that has the form of a PodSpec: a plugin may bring kinds of objects that we have never heard of."""
    if isinstance(value, Mapping):
        containers = value.get("containers")
        if isinstance(containers, list | tuple) and all(isinstance(container, Mapping) for container in containers):
            yield at, value
            return
        for key, below in value.items():
            yield from _pods(below, (*at, key))
    elif isinstance(value, list | tuple):
        for index, below in enumerate(value):
            yield from _pods(below, (*at, index))


def _part(field: str, container: Mapping[str, Any]) -> str:
    if field == "containers":
        return "container"
    return "sidecar" if container.get("restartPolicy") == "Always" else "init container"


def _image(part: str, value: Mapping[str, Any], image: str | None, at: Route) -> Iterator[PodImage]:
    if image:
        yield PodImage(part=part, name=value.get("name", ""), image=image, at=at)
