"""What a root's pyproject.toml sets plugins to, judged by the schemas that they give, at the lines that say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.plugins.settingsfile import find_setting
from tfgitops.spec.diagnostics import Diagnostic
from tfgitops.spec.disk import shown
from tfgitops.spec.validation import validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Problem
    from tfgitops.spec.project import Project


def judge_settings(project: Project, plugins: Plugins) -> Iterator[Diagnostic]:
    """Yield what is wrong with the settings of each plugin that says what they may be.

    Raises:
        CompileError: two plugins own one key, or a fragment has no place.
    """
    for plugin in plugins.plugins:
        if schema := plugins.schema.settings.get(str(plugin)):
            for problem in validate(_as_json(project.settings.get(plugin.name, {})), schema, part=False):
                yield _at_its_line(project, plugin.name, problem)


def _as_json(value: Any) -> Any:
    """Return a value of TOML as JSON has it: dates and times are texts."""
    if type(value) is dict:
        return {key: _as_json(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_as_json(item) for item in value]
    return value if type(value) in (str, int, float, bool) else str(value)


def _at_its_line(project: Project, plugin: str, problem: Problem) -> Diagnostic:
    path = project.root / "pyproject.toml"
    place = (plugin, *problem.at)
    span = find_setting(project.root, place, problem.found.strip("'"), on_key=problem.on_key)
    message = f"settings of '{plugin}': {problem.message}"
    return Diagnostic(
        code=problem.code, severity=problem.severity, message=message if span else f"{shown(path)}: {message}",
        span=span, file="" if span else shown(path), found=problem.found, expected=problem.expected,
        hint=problem.hint,
    )  # fmt: skip
