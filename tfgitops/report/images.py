"""The images of some environments, as a table for people or one JSON document for programs."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.plain import printable
from tfgitops.report.text import wrapped
from tfgitops.spec.diagnostics import counted
from tfgitops.targets.kubernetes.image import parse_image

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops.report.imageuses import Use
    from tfgitops.spec.diagnostics import Diagnostic

    Images = Mapping[str, Sequence[Use]]

VERSION = 1
_HEAD_MAX = 50
_INDENT = " " * 8
_WORDS = {"digest": "by digest", "tag": "by tag", "none": "by neither, which means the tag latest"}


def as_text(images: Images) -> str:
    """Return a line for each image, which says what names its content, and below it a line for each use."""
    if not images:
        return "no images\n"
    rows = {image: list(_rows(uses)) for image, uses in images.items()}
    widths = [max(len(row[column]) for listed in rows.values() for row in listed) for column in range(2)]
    lines: list[str] = []
    counts: Counter[str] = Counter()
    for image, listed in rows.items():
        by = parse_image(image).by
        counts[by] += 1
        lines.append(f"{by:<6}  {printable(image)}")  # a long one is not broken: it is there to be copied
        for row in listed:
            lines += _row(row, widths)
    told = ", ".join(f"{counts[by]} {words}" for by, words in _WORDS.items() if counts[by])
    return "\n".join([*lines, f"{counted(len(rows), 'image')}: {told}"]) + "\n"


def _rows(uses: Iterable[Use]) -> Iterator[tuple[str, str, str]]:
    """Yield environment, job or object, and what of it uses the image: roles that are alike share a row."""
    for (environment, owner, part), alike in groupby(sorted(uses, key=_place), key=_place):
        roles = ", ".join(sorted(use.role for use in alike if use.role))
        yield environment, owner, printable(": ".join(filter(None, (roles, part))))


def _place(use: Use) -> tuple[str, str, str]:
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
    import json  # noqa: PLC0415 - each form imports what it needs

    from tfgitops.report.as_json import problem  # noqa: PLC0415

    document = {
        "version": VERSION,
        "images": [_image(image, uses) for image, uses in images.items()],
        "problems": [problem(diagnostic) for diagnostic in diagnostics],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _image(text: str, uses: Iterable[Use]) -> dict[str, Any]:
    image = parse_image(text)
    return {
        "image": text,
        "registry": image.registry,
        "repository": image.repository,
        "tag": image.tag or None,
        "digest": image.digest or None,
        "by": image.by,
        "uses": [
            {
                "environment": use.environment,
                "job": use.job or None,
                "kind": use.kind,
                "name": use.name,
                "role": use.role or None,
                "part": use.part,
                "partName": use.part_name,
            }
            for use in uses
        ],
    }
