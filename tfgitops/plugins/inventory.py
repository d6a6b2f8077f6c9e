"""What plugins there are: their versions, hooks, keys and codes, and where each comes from."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.plugins import hookspecs
from tfgitops.plugins.door import GROUP
from tfgitops.spec.load import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.plugins.door import Plugin, Plugins
    from tfgitops.plugins.hookspecs import SchemaFragment

HOOKS = tuple(name for name in vars(hookspecs) if name.startswith("tfgitops_"))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One plugin: what it is, what it has, and where it comes from.

    ``module`` is what the entry point names, ``distribution`` what that is installed with; both are empty for a local
    plugin, which is a file. ``api`` is the version of the contract that it is written for; 0 where it
    declares none. ``fault`` is why it cannot be used, if so.
    """

    name: str
    version: str
    api: int
    module: str
    file: str
    distribution: str
    hooks: tuple[str, ...]
    keys: tuple[SchemaFragment, ...]
    codes: Mapping[str, str]
    fault: str = ""


def inventory(plugins: Plugins) -> list[Entry]:
    """Describe some plugins, in the order of their names, also those that cannot be used."""
    distributions = {
        point.name: f"{point.dist.name} {point.dist.version}" for point in entry_points(group=GROUP) if point.dist
    }
    return [_entry(plugin, plugins, distributions) for plugin in plugins.plugins]


def _entry(plugin: Plugin, plugins: Plugins, distributions: Mapping[str, str]) -> Entry:
    local = plugin.version == "local"
    codes = getattr(plugin.hooks, "CODES", None)
    return Entry(
        name=plugin.name, version=plugin.version, api=getattr(plugin.hooks, "tfgitops_api", 0),
        module="" if local else plugin.origin, file=_file(plugin),
        distribution="" if local else distributions.get(plugin.name, ""),
        hooks=tuple(hook for hook in HOOKS if hasattr(plugin.hooks, hook)),
        keys=tuple(fragment for fragment in plugins.fragments if fragment.owner == str(plugin)),
        codes=codes if isinstance(codes, dict) else {}, fault=_fault(plugin, plugins),
    )  # fmt: skip


def _fault(plugin: Plugin, plugins: Plugins) -> str:
    """Say what is wrong with a plugin, but for its name: with the whole of it, or with its keys."""
    if plugin.fault:
        return plugin.fault.message.removeprefix(f"{plugin} ")
    said = [one.message for one in plugins.keys.faults if f"plugin '{plugin.name}'" in one.message]
    return "; ".join(said)


def _file(plugin: Plugin) -> str:
    """Name the file of a plugin's module, or of its object's class."""
    module = sys.modules.get(type(plugin.hooks).__module__) if not hasattr(plugin.hooks, "__file__") else plugin.hooks
    file = getattr(module, "__file__", None)
    return shown(Path(file)) if file else ""
