"""References to images, taken apart as a container runtime does, and the images that an object's pods name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.targets.routes import Json, Route

_HUB = "docker.io"


@dataclass(frozen=True, slots=True)
class Image:
    """A reference by its parts, as a container runtime reads it: what is left out of a registry is Docker Hub's."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def by(self) -> Literal["digest", "tag", "none"]:
        """What names the content: a digest is always the same, a tag may move, and none means ``latest``."""
        return "digest" if self.digest else "tag" if self.tag else "none"

    def is_below(self, place: str) -> bool:
        """Tell whether the image is of a registry, or below a path of one: ``registry.example.com/team``."""
        host, slash, path = place.partition("/")
        same = self.registry.lower() == _canonical(host).lower()
        return same and f"{self.repository}/".startswith(f"{path}/" if slash else "")


def parse_image(text: str) -> Image:
    """Take a reference apart; text that is none ends up in the repository."""
    name, _, digest = text.partition("@")
    path, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:  # a colon before a slash is that of a port
        path, tag = name, ""
    host, slash, rest = path.partition("/")
    if not (slash and (host == "localhost" or "." in host or ":" in host or host != host.lower())):
        host, rest = _HUB, path
    registry = _canonical(host)
    return Image(registry, f"library/{rest}" if registry == _HUB and "/" not in rest else rest, tag, digest)


def _canonical(host: str) -> str:
    """Return the one name of a registry: Docker Hub has an older one."""
    return _HUB if host == "index.docker.io" else host


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


def pod_images(manifest: Json) -> Iterator[PodImage]:
    """Yield each image of the pods that a manifest describes, in the order in which it names them."""
    for at, pod in _pods(manifest, ()):
        for field in ("containers", "initContainers"):
            for index, container in enumerate(pod.get(field) or ()):
                part = "container" if field == "containers" else "init container"
                if field == "initContainers" and container.get("restartPolicy") == "Always":
                    part = "sidecar"
                yield from _image(part, container, container.get("image"), (*at, field, index, "image"))
        for index, volume in enumerate(pod.get("volumes") or ()):
            reference = (volume.get("image") or {}).get("reference")
            yield from _image("volume", volume, reference, (*at, "volumes", index, "image", "reference"))


def _pods(value: Any, at: Route) -> Iterator[tuple[Route, Json]]:
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


def _image(part: str, value: Json, image: str | None, at: Route) -> Iterator[PodImage]:
    if image:
        yield PodImage(part=part, name=value.get("name", ""), image=image, at=at)
