"""Name a local plugin in the text of a pyproject.toml, and change no other character of it."""

from __future__ import annotations

import copy
import re
import tomllib
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import CompileError

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*tfgitops[ \t]*\][ \t]*(?:#[^\n]*)?(?:\n|\Z)", re.MULTILINE)
_PLUGINS = re.compile(r"^[ \t]*plugins[ \t]*=[ \t]*\[", re.MULTILINE)
_LAST = re.compile(r"(?<=[\"'])(,?)((?:\s*#[^\n]*)*)(\s*)\Z")
_FIRST_OF_LINE = re.compile(r"\n([ \t]*)[\"']")


def with_local_plugin(text: str, plugin: str, name: str) -> str:
    """Return the text of a pyproject.toml with one more entry in ``[tool.tfgitops] plugins``.

    The new text is parsed again: it must say what it said before, and name the plugin by the path of its file from the
    root. ``name`` is what messages call the pyproject.toml.

    Raises:
        CompileError: it is no TOML, or the entry cannot be put in.
    """
    old = _read(text)
    if old is None:
        raise CompileError.of("TF602", f"{name} is not TOML", "mend it first")
    table = old.get("tool", {}).get("tfgitops", {})
    listed = table.get("plugins", []) if isinstance(table, dict) else []
    if plugin in listed:
        return text
    wanted = copy.deepcopy(old)
    wanted.setdefault("tool", {}).setdefault("tfgitops", {})["plugins"] = [*listed, plugin]
    plain = text.replace("\r\n", "\n")
    line_end = "\r\n" if "\n" in text and text.count("\r\n") == text.count("\n") else "\n"
    for new in _attempts(plain, f'"{plugin}"') if plain.replace("\n", line_end) == text else ():
        edited = new.replace("\n", line_end)
        if _read(edited) == wanted:
            return edited
    hint = f'add "{plugin}" to [tool.tfgitops] plugins'
    raise CompileError.of("TF602", f"{name} is written in a way that cannot be edited", hint)


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _attempts(text: str, entry: str) -> Iterator[str]:
    """Yield texts with the entry: in the list that is there, below its table's header, or in a table at the end.

    At most one of them is TOML that says what is wanted.
    """
    if header := _HEADER.search(text):
        if found := _PLUGINS.search(text, header.end()):
            yield from _appended(text, found.end(), entry)
        gap = "" if header[0].endswith("\n") else "\n"
        yield f"{text[: header.end()]}{gap}plugins = [{entry}]\n{text[header.end() :]}"
    else:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        yield f"{text}{gap}[tool.tfgitops]\nplugins = [{entry}]\n"


def _appended(text: str, start: int, entry: str) -> Iterator[str]:
    """Yield texts with an entry behind the last of a list that begins at ``start``, laid out as that one is.

    Each `]` may be the list's end: another one stands in a remark or in a name, and the text would not be TOML.
    """
    for end in re.finditer(r"\]", text[start:]):
        before, rest = text[start : start + end.start()], text[start + end.start() :]
        if not before.strip():
            yield f"{text[:start]}{entry}{before}{rest}"
        elif last := _LAST.search(before):
            indents = _FIRST_OF_LINE.findall(before)
            gap = f"\n{indents[-1]}" if indents else " "
            kept, (comma, remark, space) = before[: last.start(1)], last.groups()
            yield f"{text[:start]}{kept},{remark}{gap}{entry}{comma}{space}{rest}"
