"""The settings of plugins in a root's pyproject.toml, as a file of the spec: what it says, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.settingsfile import TABLE, find_setting
from tfgitops.spec.diagnostics import Span
from tfgitops.spec.disk import read_file, shown
from tfgitops.spec.project import PYPROJECT, read_project
from tfgitops.targets.routes import MISSING, Route, reach

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """A pyproject.toml, as far as it sets plugins to something; routes begin with its table.

    ``settings`` are those of each plugin.
    """

    root: Path
    settings: dict[str, dict[str, Any]]
    prefix: Route = ()

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.root / PYPROJECT

    @property
    def name(self) -> str:
        """The file's name for people."""
        return shown(self.path)

    def written(self, route: Route) -> Route:
        """Return the route by which something is written: there are no short forms."""
        return route

    def home(self, route: Route) -> Route:
        """Return the route at which something stands: there are no aliases."""
        return route

    def span(self, route: Route) -> Span:
        """Find the place of a setting, or of what is nearest to it, in the file as it is now."""
        for end in range(len(route), len(TABLE), -1):
            value = reach(self.settings, route[len(TABLE) : end])
            if value is not MISSING and (span := find_setting(self.root, route[len(TABLE) : end], str(value))):
                return span
        text = read_file(self.path).decode(errors="replace") if self.settings else ""
        return Span(file=self.name, line=1, column=1, excerpt=text.partition("\n")[0].rstrip("\r"))


def settings_now(root: Path) -> SettingsFile:
    """Return the settings of a root as they are."""
    return SettingsFile(root=root, settings=read_project(root).settings)
