"""The plugins there are, in a few lines each for people, or one JSON document for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tfgitops.plugins.plain import printable
from tfgitops.report.as_json import json_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.plugins.inventory import Entry

_PREFIX = "tfgitops_"


def as_text(entries: Sequence[Entry]) -> str:
    """Return what there is to say of each plugin, a blank line between them."""
    return "\n".join("".join(f"{printable(line)}\n" for line in _lines(entry)) for entry in entries) or "no plugins\n"


def _lines(entry: Entry) -> Iterator[str]:
    yield f"{entry.name} {entry.version}"
    place = f"{entry.module} of {entry.distribution}" if entry.distribution else entry.module
    rows = (
        ("from", f"{place}, {entry.file}" if place and entry.file else place or entry.file),
        ("fault", entry.fault),
        ("contract", f"version {entry.contract}" if entry.contract else ""),
        ("hooks", ", ".join(hook.removeprefix(_PREFIX) for hook in entry.hooks)),
        ("keys", ", ".join(f"{one.key} ({one.site})" for one in entry.keys)),
        ("codes", ", ".join(entry.codes)),
    )
    yield from (f"  {title:<8}  {text}" for title, text in rows if text)


def as_json(entries: Iterable[Entry]) -> str:
    """Return one document with all that is known of each plugin."""
    return json_document(plugins=[asdict(entry) for entry in entries])
