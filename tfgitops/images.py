"""The images of compiled environments, and who uses them, whatever the kind of object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.load import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.diagnostics import Route
    from tfgitops.pipeline import Compiled
    from tfgitops.plan import Planned


@dataclass(frozen=True, kw_only=True, order=True)
class Use:
    """One place that names an image.

    ``job`` is the job of the spec, and ``role`` one of its roles, both empty for an object of another kind. ``part`` is
    ``container``, ``init container``, ``sidecar`` or ``volume``, and ``part_name`` its name in the pod.
    """

    environment: str
    job: str
    kind: str
    name: str
    role: str
    part: str
    part_name: str


def used_images(results: Iterable[Compiled]) -> dict[str, list[Use]]:
    """Return the uses of each image, both sorted, of all environments in which nothing is wrong."""
    found: dict[str, set[Use]] = {}
    for compiled in results:
        if compiled.ok and compiled.environment:
            for planned in compiled.objects:
                job = compiled.environment.job_of(planned.manifest)
                for image, use in _uses(shown(compiled.folder), job.name if job else "", planned):
                    found.setdefault(image, set()).add(use)
    return {image: sorted(found[image]) for image in sorted(found)}


def _uses(environment: str, job: str, planned: Planned) -> Iterator[tuple[str, Use]]:
    manifest = planned.manifest
    for route, pod in _pods(manifest, ()):
        role = manifest["spec"]["tasks"][route[2]]["name"] if job else ""
        for part, name, image in _parts(pod):
            use = Use(
                environment=environment, job=job, kind=manifest["kind"], name=manifest["metadata"]["name"], role=role,
                part=part, part_name=name,
            )  # fmt: skip
            yield image, use


def _pods(value: Any, at: Route) -> Iterator[tuple[Route, Mapping[str, Any]]]:
    """Find all that has the form of a PodSpec: a plugin may bring kinds of objects that we have never heard of."""
    if isinstance(value, dict):
        containers = value.get("containers")
        if isinstance(containers, list) and all(isinstance(container, dict) for container in containers):
            yield at, value
            return
        for key, below in value.items():
            yield from _pods(below, (*at, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _pods(below, (*at, index))


def _parts(pod: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each part of a pod that has an image: what it is, its name and the image."""
    for container in pod["containers"]:
        yield from _part("container", container, container.get("image"))
    for container in pod.get("initContainers") or ():
        part = "sidecar" if container.get("restartPolicy") == "Always" else "init container"
        yield from _part(part, container, container.get("image"))
    for volume in pod.get("volumes") or ():
        yield from _part("volume", volume, (volume.get("image") or {}).get("reference"))


def _part(part: str, value: Mapping[str, Any], image: str | None) -> Iterator[tuple[str, str, str]]:
    if image:
        yield part, value.get("name", ""), image
