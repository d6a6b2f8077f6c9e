"""What a root's pyproject.toml sets plugins to, judged by the schemas that they give, at the lines that say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.diagnostics import Diagnostic, Span
from tfgitops.disk import read_file, shown
from tfgitops.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.diagnostics import Problem, Route
    from tfgitops.plugins.door import Plugins
    from tfgitops.project import Project

_TABLE = ("tool", "tfgitops", "settings")


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
    span = _find(shown(path), _read(project), (*_TABLE, plugin, *problem.at), problem)
    message = f"settings of '{plugin}': {problem.message}"
    return Diagnostic(
        code=problem.code, severity=problem.severity, message=message if span else f"{shown(path)}: {message}",
        span=span, file="" if span else shown(path), found=problem.found, expected=problem.expected,
        hint=problem.hint,
    )  # fmt: skip


def _read(project: Project) -> str:
    try:
        return read_file(project.root / "pyproject.toml").decode().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):  # the settings of a test need no file
        return ""


def _find(name: str, text: str, route: Route, problem: Problem) -> Span | None:
    """Find where TOML says a route: its parser tells no lines, so it is asked up to which line there is no such key."""
    keys = tuple(key for key in route if isinstance(key, str))
    lines = text.split("\n")
    for index, line in enumerate(lines):
        column = line.find(keys[-1])
        if column >= 0 and _says(lines[:index], keys) is False and (end := _end(lines, index, keys)):
            place = (index, column, len(keys[-1]))
            row, start, width = place if problem.on_key else _value(lines, place, end, problem.found) or place
            return Span(file=name, line=row + 1, column=start + 1, width=width, excerpt=lines[row])
    return None


def _value(lines: list[str], key: tuple[int, int, int], end: int, found: str) -> tuple[int, int, int] | None:
    """Find the text of a value behind its key, on the key's line or on those that belong to it."""
    first, column, width = key
    text = found.strip("'")
    for row in range(first, end):
        start = lines[row].find(text, column + width if row == first else 0)
        if text and start >= 0:
            return row, start, len(text)
    return None


def _end(lines: list[str], index: int, keys: tuple[str, ...]) -> int:
    """Return the line before which ends what begins on a line, if that says a key; else 0."""
    for end in range(index + 1, len(lines) + 1):
        said = _says(lines[:end], keys)
        if said is not None:
            return end if said else 0
    return 0


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
