"""The images of some environments and their uses, as a table for people or one JSON document for programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tfgitops.plugins.plain import printable
from tfgitops.report.text import wrapped
from tfgitops.spec.diagnostics import counted
from tfgitops.spec.disk import shown
from tfgitops.targets.kubernetes.image import parse_image, pod_images

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.planning.plan import Planned
    from tfgitops.spec.diagnostics import Diagnostic

    Images = Mapping[str, Sequence["ImageUse"]]

_HEAD_MAX = 50
_INDENT = " " * 8
_WORDS = {"digest": "by digest", "tag": "by tag", "none": "by neither, which means the tag latest"}


@dataclass(frozen=True, kw_only=True, order=True)
class ImageUse:
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


def used_images(results: Iterable[Compiled]) -> Images:
    """Return the uses of each image, both sorted, of all environments in which nothing is wrong."""
    found: dict[str, set[ImageUse]] = {}
    for compiled in results:
        if compiled.ok and compiled.environment:
            for planned in compiled.objects:
                job = compiled.environment.job_of(planned.manifest)
                for image, use in _uses(shown(compiled.folder), job.name if job else "", planned):
                    found.setdefault(image, set()).add(use)
    return {image: sorted(found[image]) for image in sorted(found)}


def _uses(environment: str, job: str, planned: Planned) -> Iterator[tuple[str, ImageUse]]:
    manifest = planned.manifest
    for found in pod_images(manifest):
        role = manifest["spec"]["tasks"][found.at[2]]["name"] if job else ""
        yield found.image, ImageUse(
            environment=environment, job=job, kind=manifest["kind"], name=manifest["metadata"]["name"], role=role,
            part=found.part, part_name=found.name,
        )  # fmt: skip


def as_text(images: Images) -> str:
    """Return a line for each image, which says what names its content, and below it a line for each use."""
    if not images:
        return "no images\n"
    rows = {image: list(_rows(uses)) for image, uses in images.items()}
    widths = [max(len(row[column]) for listed in rows.values() for row in listed) for column in range(2)]
    lines: list[str] = []
    named = {image: parse_image(image).by for image in images}
    counts: Counter[str] = Counter(named.values())
    for image, listed in rows.items():
        lines.append(f"{named[image]:<6}  {printable(image)}")  # a long one is not broken: it is there to be copied
        for row in listed:
            lines += _row(row, widths)
    told = ", ".join(f"{counts[by]} {words}" for by, words in _WORDS.items() if counts[by])
    return "\n".join([*lines, f"{counted(len(rows), 'image')}: {told}"]) + "\n"


def _rows(uses: Iterable[ImageUse]) -> Iterator[tuple[str, str, str]]:
    """Yield environment, job or object, and the part that uses the image: roles that are alike share a row."""
    for (environment, owner, part), alike in groupby(sorted(uses, key=_place), key=_place):
        roles = ", ".join(sorted(use.role for use in alike if use.role))
        yield printable(environment), printable(owner), printable(": ".join(filter(None, (roles, part))))


def _place(use: ImageUse) -> tuple[str, str, str]:
    owner = use.job or f"{use.kind.lower()}/{use.name}"
    training = use.job and use.part == "container"  # a job's pods have one, and whoever has a role has it
    return use.environment, owner, "" if training else f"{use.part} {use.part_name}"


def _row(row: tuple[str, str, str], widths: Sequence[int]) -> list[str]:
    """Lay out a row in columns, the last of which is wrapped; where the others are too wide, below them."""
    environment, owner, what = row
    head = f"{_INDENT}{environment:<{widths[0]}}  {owner:<{widths[1]}}  "
    if len(head) <= _HEAD_MAX:
        return wrapped(what, head)
    return [f"{_INDENT}{environment}  {owner}", *wrapped(what, f"{_INDENT}  ")]


def as_json(images: Images, diagnostics: Iterable[Diagnostic]) -> str:
    """Return ``{version, images: [{image, registry, repository, tag, digest, by, uses}], problems}``."""
    from tfgitops.report.as_json import json_document, problems  # noqa: PLC0415 - each form imports what it needs

    parsed = ((text, parse_image(text), uses) for text, uses in images.items())
    listed = [
        {
            "image": text, "registry": image.registry, "repository": image.repository, "tag": image.tag or None,
            "digest": image.digest or None, "by": image.by,
            "uses": [
                {
                    "environment": use.environment, "job": use.job or None, "kind": use.kind, "name": use.name,
                    "role": use.role or None, "part": use.part, "partName": use.part_name,
                }
                for use in uses
            ],
        }
        for text, image, uses in parsed
    ]  # fmt: skip
    return json_document(images=listed, problems=problems(diagnostics))
