"""The plugins there are, in a few lines each for people, or one JSON document for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.plain import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.plugins.inventory import Entry

VERSION = 1
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
        ("contract", f"version {entry.api}" if entry.api else ""),
        ("hooks", ", ".join(hook.removeprefix(_PREFIX) for hook in entry.hooks)),
        ("keys", ", ".join(f"{fragment.key} ({fragment.site})" for fragment in entry.keys)),
        ("codes", ", ".join(entry.codes)),
    )
    yield from (f"  {title:<8}  {text}" for title, text in rows if text)


def as_json(entries: Iterable[Entry]) -> str:
    """Return one document with all that is known of each plugin."""
    return json.dumps({"version": VERSION, "plugins": [_entry(entry) for entry in entries]}, indent=2) + "\n"


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "version": entry.version,
        "contract": entry.api,
        "module": entry.module,
        "file": entry.file,
        "distribution": entry.distribution,
        "hooks": [*entry.hooks],
        "keys": [
            {"site": fragment.site, "key": fragment.key, "description": fragment.schema.get("description", "")}
            for fragment in entry.keys
        ],
        "codes": dict(entry.codes),
        "fault": entry.fault,
    }
