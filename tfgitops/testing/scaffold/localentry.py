"""Name a local plugin in the text of a pyproject.toml, and change no other character of it."""

from __future__ import annotations

import copy
import re
import tomllib
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import CompileError, Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*tfgitops[ \t]*\][ \t]*(?:#[^\n]*)?(?:\n|\Z)", re.MULTILINE)
_NEXT = re.compile(r"^[ \t]*\[", re.MULTILINE)
_PLUGINS = re.compile(r"^[ \t]*plugins[ \t]*=[ \t]*\[", re.MULTILINE)
_TOKEN = re.compile(r"#[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|[\[\],]|[ \t\r\n]+|[^\s#\"'\[\],]+")


def with_local_plugin(text: str, plugin: str, name: str) -> str:
    """Return the text of a pyproject.toml with one more entry in ``[tool.tfgitops] plugins``.

    What comes of it is read again: it must say what it said before, and that.

    Args:
        text: the file as it is; nothing where there is none.
        plugin: the path of the plugin's file, relative to the root.
        name: what the file is called in messages.

    Raises:
        CompileError: it is no TOML, or the entry cannot be put in.
    """
    old = _read(text)
    if old is None:
        raise _refuse(f"{name} is not TOML", "mend it first")
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
    raise _refuse(f"{name} is written in a way that cannot be edited", f'add "{plugin}" to [tool.tfgitops] plugins')


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _attempts(text: str, entry: str) -> Iterator[str]:
    """Yield texts with the entry: in the list that is there, below its table's header, or in a table at the end."""
    header = _HEADER.search(text)
    if header is None:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        yield f"{text}{gap}[tool.tfgitops]\nplugins = [{entry}]\n"
        return
    following = _NEXT.search(text, header.end())
    body = text[: following.start() if following else len(text)]
    if found := _PLUGINS.search(body, header.end()):
        if (edited := _appended(text, found.end(), entry)) is not None:
            yield edited
        return
    gap = "" if header[0].endswith("\n") else "\n"
    yield f"{text[: header.end()]}{gap}plugins = [{entry}]\n{text[header.end() :]}"


def _appended(text: str, start: int, entry: str) -> str | None:
    """Put an entry behind the last of a list of texts that begins at ``start``, laid out as that one is."""
    last = comma = -1  # where the last entry ends, and the comma behind it
    first_of_line: str | None = None
    for token in _TOKEN.finditer(text, start):
        if token[0] == "]":
            break
        if token[0] == ",":
            comma = token.end()
        elif token[0][0] in "\"'":
            last, comma, first_of_line = token.end(), -1, _before(text, token.start())
    else:
        return None
    if last < 0:
        return f"{text[:start]}{entry}{text[start:]}"
    if comma < 0:
        text, comma = f"{text[:last]},{text[last:]}", last + 1
        trailing = ""
    else:
        trailing = ","
    gap = f"\n{first_of_line}" if first_of_line is not None else " "
    rest = text[comma:]
    if first_of_line is not None and (remark := re.match(r"[ \t]*#[^\n]*", rest)):
        comma += remark.end()  # a remark stays on the line of its entry
    return f"{text[:comma]}{gap}{entry}{trailing}{text[comma:]}"


def _before(text: str, position: int) -> str | None:
    """Return what indents a position, if nothing else stands before it on its line."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line if not line.strip() else None


def _refuse(message: str, hint: str) -> CompileError:
    return CompileError([Diagnostic(code="TF602", severity="error", message=message, hint=hint)])
