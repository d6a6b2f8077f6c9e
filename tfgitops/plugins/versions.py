"""The answer to `--version`: bundled plugins can always be used, so they are named without an import."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

from tfgitops import __version__
from tfgitops.spec.project import find_root, read_project

_GROUP = "tfgitops"


def versions() -> str:
    """Return the version of the compiler, and those of the plugins for the environments of the working directory."""
    project = read_project(find_root(Path.cwd() / "environments" / "any"))
    points = entry_points(group=_GROUP)
    about = {dist: dist.metadata for dist in {point.dist for point in points} if dist}
    names = [f"{point.name} {about[point.dist]['Version']}" for point in points if point.dist]
    if project.plugins or project.settings or any(one["Name"] != _GROUP for one in about.values()):
        from tfgitops.plugins.discovery import discover  # noqa: PLC0415 - only these may be at fault

        plugins = discover(project).plugins
        names = [f"{one.name} {one.version}{' (cannot be used)' if one.fault else ''}" for one in plugins]
    return f"tfgitops {__version__} (plugins: {', '.join(sorted(names)) or 'none'})"
