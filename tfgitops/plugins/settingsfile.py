"""The settings of plugins in pyproject.toml: judged by the plugins' schemas, and found again at their lines."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Diagnostic, Span
from tfgitops.spec.disk import read_file, shown
from tfgitops.spec.project import PYPROJECT
from tfgitops.spec.schema.validation import validate
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Problem
    from tfgitops.spec.project import Project
    from tfgitops.targets.routes import Route

TABLE = ("tool", "tfgitops", "settings")


def judge_settings(project: Project, plugins: Plugins) -> Iterator[Diagnostic]:
    """Yield what is wrong with the settings of each plugin that says what they may be.

    Raises CompileError if two plugins own one key, or a fragment has no place.
    """
    for plugin in plugins.plugins:
        if schema := plugins.schema.settings.get(str(plugin)):
            settings = json.dumps(project.settings.get(plugin.name, {}), default=str)  # dates and times are texts
            for problem in validate(json.loads(settings), schema, part=False):
                yield _at_its_line(project.root, plugin.name, problem)


def _at_its_line(root: Path, plugin: str, problem: Problem) -> Diagnostic:
    span = find_setting(root, (plugin, *problem.at), problem.found.strip("'"), on_key=problem.on_key)
    file = "" if span else shown(root / PYPROJECT)
    message = f"settings of '{plugin}': {problem.message}"
    return Diagnostic(
        code=problem.code, severity=problem.severity, message=f"{file}: {message}" if file else message, span=span,
        file=file, found=problem.found, expected=problem.expected, hint=problem.hint,
    )  # fmt: skip


def find_setting(root: Path, route: Route, found: str = "", *, on_key: bool = False) -> Span | None:
    """Find a setting by its plugin and its keys, and in it the text ``found``; None where no line can be told.

    TOML's reader tells no lines, so it is asked up to which line there is no such key.
    """
    try:
        path = root / PYPROJECT
        lines = read_file(path).decode().replace("\r\n", "\n").split("\n")
    except (OSError, UnicodeDecodeError):  # the settings of a test need no file
        return None
    keys = tuple(key for key in (*TABLE, *route) if isinstance(key, str))
    for row, line in enumerate(lines):
        column, width = line.find(keys[-1]), len(keys[-1])
        if column < 0 or _says(lines[:row], keys) is not False:
            continue
        ends = range(row + 1, len(lines) + 1)
        end = next((end for end in ends if _says(lines[:end], keys) is not None), 0)  # the value may have several lines
        if end and _says(lines[:end], keys):
            for at in range(row, end) if found and not on_key else ():
                start = lines[at].find(found, column + width if at == row else 0)
                if start >= 0:
                    row, column, width = at, start, len(found)  # noqa: PLW2901 - the search is over
                    break
            return Span(file=shown(path), line=row + 1, column=column + 1, width=width, excerpt=lines[row])
    return None


def _says(lines: list[str], keys: tuple[str, ...]) -> bool | None:
    """Tell whether some lines say a key; None where they end within a value."""
    try:
        value: Any = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None
    return reach(value, keys) is not MISSING
