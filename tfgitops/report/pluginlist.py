"""The plugins there are, with their hooks, keys and codes: as text for people, or one JSON document for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.plugins.door import GROUP
from tfgitops.plugins.faults import file_of
from tfgitops.plugins.hookspecs import HOOKS
from tfgitops.plugins.plain import printable
from tfgitops.report.as_json import json_document
from tfgitops.spec.disk import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops.plugins.door import Plugin, Plugins

_PREFIX = "tfgitops_"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One plugin, as the JSON of `plugins list` shows it.

    ``module`` is the target of the entry point, ``distribution`` the package that has it; both are empty for a local
    plugin. ``contract`` is the version of the contract that the plugin declares, or 0. Each of the ``keys`` has the
    ``site`` where it may stand, its name as ``key``, and its ``description``.
    """

    name: str
    version: str
    contract: int
    module: str
    file: str
    distribution: str
    hooks: tuple[str, ...]
    keys: tuple[Mapping[str, str], ...]
    codes: Mapping[str, str]
    fault: str = ""


def inventory(plugins: Plugins) -> list[Entry]:
    """Describe some plugins, in the order of their names, also those that cannot be used."""
    points = entry_points(group=GROUP)
    distributions = {point.name: f"{point.dist.name} {point.dist.version}" for point in points if point.dist}
    return [_entry(plugin, plugins, distributions) for plugin in plugins.plugins]


def _entry(plugin: Plugin, plugins: Plugins, distributions: Mapping[str, str]) -> Entry:
    local, file = plugin.version == "local", file_of(plugin.hooks)
    fault = "; ".join(one.message for one in plugins.keys.faults if f"plugin '{plugin.name}'" in one.message)
    own = [one for one in plugins.fragments if one.owner == str(plugin)]
    return Entry(
        name=plugin.name, version=plugin.version, contract=getattr(plugin.hooks, "tfgitops_api", 0),
        module="" if local else plugin.origin, file=file and shown(Path(file)),
        distribution="" if local else distributions.get(plugin.name, ""),
        hooks=tuple(hook for hook in HOOKS if hasattr(plugin.hooks, hook)),
        keys=tuple({"site": it.site, "key": it.key, "description": it.schema.get("description", "")} for it in own),
        codes=plugin.codes, fault=plugin.fault.message.removeprefix(f"{plugin} ") if plugin.fault else fault,
    )  # fmt: skip


def as_text(entries: Sequence[Entry]) -> str:
    """Return a few lines for each plugin, a blank line between them."""
    return "\n".join("".join(f"{printable(line)}\n" for line in _lines(entry)) for entry in entries) or "no plugins\n"


def _lines(entry: Entry) -> Iterator[str]:
    yield f"{entry.name} {entry.version}"
    place = f"{entry.module} of {entry.distribution}" if entry.distribution else entry.module
    rows = (
        ("from", f"{place}, {entry.file}" if place and entry.file else place or entry.file),
        ("fault", entry.fault),
        ("contract", f"version {entry.contract}" if entry.contract else ""),
        ("hooks", ", ".join(hook.removeprefix(_PREFIX) for hook in entry.hooks)),
        ("keys", ", ".join(f"{one['key']} ({one['site']})" for one in entry.keys)),
        ("codes", ", ".join(entry.codes)),
    )
    yield from (f"  {title:<8}  {text}" for title, text in rows if text)


def as_json(entries: Iterable[Entry]) -> str:
    """Return one document with all that is known of each plugin."""
    return json_document(plugins=[asdict(entry) for entry in entries])
