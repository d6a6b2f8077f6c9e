"""The images of compiled environments, and who uses them, whatever the kind of object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfgitops.spec.disk import shown
from tfgitops.targets.kubernetes.podimages import pod_images

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.planning.plan import Planned


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
    for found in pod_images(manifest):
        role = manifest["spec"]["tasks"][found.at[2]]["name"] if job else ""
        use = Use(
            environment=environment, job=job, kind=manifest["kind"], name=manifest["metadata"]["name"], role=role,
            part=found.part, part_name=found.name,
        )  # fmt: skip
        yield found.image, use
