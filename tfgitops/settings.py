"""What a root's pyproject.toml sets plugins to, judged by the schemas that they give, at the lines that say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.diagnostics import Diagnostic, Span
from tfgitops.load import shown
from tfgitops.schema import SETTINGS
from tfgitops.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.diagnostics import Problem, Route
    from tfgitops.hookspecs import SchemaFragment
    from tfgitops.project import Project

_TABLE = ("tool", "tfgitops", "settings")


def judge_settings(project: Project, fragments: Iterable[tuple[str, SchemaFragment]]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the settings of each plugin that says what they may be.

    Args:
        project: the root, with its settings.
        fragments: the keys of all plugins, each with the name of its plugin.
    """
    properties: dict[str, dict[str, Any]] = {}
    for name, fragment in fragments:
        if fragment.site == SETTINGS:
            properties.setdefault(name, {})[fragment.key] = fragment.schema
    for name, known in properties.items():
        schema = {"type": "object", "additionalProperties": False, "properties": known}
        for problem in validate(_as_json(project.settings.get(name, {})), schema, part=False):
            yield _at_its_line(project, name, problem)


def _as_json(value: Any) -> Any:
    """Return a value of TOML as JSON has it: dates and times are texts."""
    if type(value) is dict:
        return {key: _as_json(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_as_json(item) for item in value]
    return value if type(value) in (str, int, float, bool) else str(value)


def _at_its_line(project: Project, plugin: str, problem: Problem) -> Diagnostic:
    path = project.root / "pyproject.toml"
    span = _find(shown(path), _read(project), (*_TABLE, plugin, *problem.at), problem)
    message = f"settings of '{plugin}': {problem.message}"
    return Diagnostic(
        code=problem.code, severity=problem.severity, message=message if span else f"{shown(path)}: {message}",
        span=span, file="" if span else shown(path), found=problem.found, expected=problem.expected,
        hint=problem.hint,
    )  # fmt: skip


def _read(project: Project) -> str:
    try:
        return (project.root / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # the settings of a test need no file
        return ""


def _find(name: str, text: str, route: Route, problem: Problem) -> Span | None:
    """Find where TOML says a route: its parser tells no lines, so it is asked up to which line there is no such key."""
    keys = tuple(key for key in route if isinstance(key, str))
    lines = text.split("\n")
    for index, line in enumerate(lines):
        column = line.find(keys[-1])
        if column >= 0 and _says(lines[:index], keys) is False and _begins(lines, index, keys):
            value = problem.found.strip("'")
            there = line.find(value, column + len(keys[-1])) if value and not problem.on_key else -1
            start, width = (there, len(value)) if there >= 0 else (column, len(keys[-1]))
            return Span(file=name, line=index + 1, column=start + 1, width=width, excerpt=line)
    return None


def _begins(lines: list[str], index: int, keys: tuple[str, ...]) -> bool:
    """Tell whether what begins on a line, and may go on below it, says a key."""
    ends = (_says(lines[:end], keys) for end in range(index + 1, len(lines) + 1))
    return next((said for said in ends if said is not None), False)


def _says(lines: list[str], keys: tuple[str, ...]) -> bool | None:
    """Tell whether some lines say a key; None where they end within a value."""
    import tomllib  # noqa: PLC0415 - for those who made a mistake alone

    try:
        value: Mapping[str, Any] | Any = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True
