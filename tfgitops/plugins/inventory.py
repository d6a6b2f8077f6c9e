"""What plugins there are: their versions, hooks, keys and codes, and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.plugins.door import GROUP
from tfgitops.plugins.faults import file_of
from tfgitops.plugins.hookspecs import HOOKS
from tfgitops.spec.disk import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.plugins.door import Plugin, Plugins


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key that a plugin owns: where it may stand, its name, and what its schema says of it."""

    site: str
    key: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One plugin, as the JSON of `plugins list` shows it.

    ``module`` is what the entry point names, ``distribution`` the package that has it; both are empty for a local
    plugin. ``contract`` is the version of the contract that the plugin declares, or 0.
    """

    name: str
    version: str
    contract: int
    module: str
    file: str
    distribution: str
    hooks: tuple[str, ...]
    keys: tuple[Key, ...]
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
    return Entry(
        name=plugin.name, version=plugin.version, contract=getattr(plugin.hooks, "tfgitops_api", 0),
        module="" if local else plugin.origin, file=file and shown(Path(file)),
        distribution="" if local else distributions.get(plugin.name, ""),
        hooks=tuple(hook for hook in HOOKS if hasattr(plugin.hooks, hook)),
        keys=tuple(
            Key(site=one.site, key=one.key, description=one.schema.get("description", ""))
            for one in plugins.fragments if one.owner == str(plugin)
        ),
        codes=plugin.codes, fault=plugin.fault.message.removeprefix(f"{plugin} ") if plugin.fault else fault,
    )  # fmt: skip
