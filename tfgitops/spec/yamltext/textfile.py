"""Read one file as text: UTF-8, without a byte order mark, its lines ended by line feeds alone."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Final

from tfgitops.spec.diagnostics import Diagnostic, Span
from tfgitops.spec.disk import kind_of, read_file, unreadable

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES: Final = 16 * 2**20


def read_text(path: Path, name: str) -> str | Diagnostic:
    """Return a file's text, or what is wrong with the file; ``name`` is what to call it."""
    try:
        if kind_of(path) == "file" and path.stat().st_size > MAX_BYTES:
            return _wrong("TF106", f"{name} is larger than {MAX_BYTES >> 20} MiB", "split it into jobs/*.yaml")
        data = read_file(path)
    except OSError as error:
        return unreadable(path, error)
    return decoded(data, name)


def decoded(data: bytes, name: str) -> str | Diagnostic:
    """Return the text that a file's bytes are, or what is wrong with them; ``name`` is what to call the file."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4]:
        return _wrong("TF102", f"{name} is UTF-16 or UTF-32", "save it as UTF-8")
    data = data.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n"), len(before) - (before.rfind("\n") + 1)
        excerpt = data.split(b"\n")[line].decode("utf-8", "replace")
        span = Span(file=name, line=line + 1, column=column + 1, excerpt=excerpt)
        return _wrong("TF102", f"the byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8", span)


def _wrong(code: str, message: str, hint: str, span: Span | None = None) -> Diagnostic:
    return Diagnostic(code=code, severity="error", message=message, span=span, hint=hint)
