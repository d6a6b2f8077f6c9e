"""Writes one Kubernetes object as block YAML that readers of YAML 1.1 and 1.2 take for the same values.

A general dumper would take most of a compile. This one knows that manifests repeat a few hundred texts and a
few dozen shapes of mappings, and decides about each of them once.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from tfgitops.kubernetes.order import ordered

# A plain scalar starts with a letter, `/`, `_`, `$` or an option's dashes, so that no reader sees a number or
# one of YAML's signs in it. A colon is inside a word, a blank single and between words, a hash nowhere.
_WORD = r"[A-Za-z0-9_./+\-@=\[\]'$(),]"
_PLAIN = re.compile(rf"(?:[A-Za-z_/$]|--?[A-Za-z]){_WORD}*(?::{_WORD}+)*(?: {_WORD}+)*").fullmatch
# An amount may start with a digit; `1E` and `1e` are left out, being too near to floats.
_AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[KMGTPE]i|[numkMGTPsh])").fullmatch
_RETYPED: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})

# What is invisible, ends a line for some reader, or is not allowed in YAML. The ranges are written out: what
# Python calls printable changes with its version, and one spec must give the same bytes on all of them.
_UNSEEN: Final = (
    r"\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u2800\u3000\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    r"\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_HIDDEN = re.compile(f"[{_UNSEEN}]")
_ESCAPED = re.compile(rf'["\\{_UNSEEN}]')
_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BLANK_LINE = re.compile(r"^ +$", re.MULTILINE)

_CACHED_LENGTH: Final = 200
_CACHED_TEXTS: Final = 50_000
_NEWLINE: Final = "\n"
_KEY_MAX: Final = 1000  # beyond 1024 characters, readers want `? key`


def emit(manifest: Mapping[str, Any]) -> str:
    """Write one object as YAML: keys in Kubernetes's order, lists at their key's indentation, no line folded.

    :param manifest: dicts, lists, str, int, bool and None, of exactly these types.
    :raises TypeError: for any other type, which would be a bug of ours.
    """
    lines: list[str] = []
    _emit_mapping(manifest, "", lines)
    return "".join(lines) or "{}\n"


def _emit_mapping(mapping: Mapping[str, Any], pad: str, lines: list[str]) -> None:
    for key, head in _heads(tuple(mapping), pad):
        value = mapping[key]
        kind = type(value)
        if kind is str:
            lines.append(f"{head} {_long_text(value, pad) if _NEWLINE in value else _TEXTS[value]}\n")
        elif kind is dict and value:
            lines.append(f"{head}\n")
            _emit_mapping(value, pad + "  ", lines)
        elif kind is list and value:
            lines.append(f"{head}\n")
            _emit_list(value, pad, lines)
        else:
            lines.append(f"{head} {_atom(value)}\n")


def _emit_list(items: list[Any], pad: str, lines: list[str]) -> None:
    inner = pad + "  "
    for item in items:
        kind = type(item)
        if kind is str:
            lines.append(f"{pad}- {_long_text(item, pad) if _NEWLINE in item else _TEXTS[item]}\n")
        elif (kind is dict or kind is list) and item:
            start = len(lines)
            if kind is dict:
                _emit_mapping(item, inner, lines)
            else:
                _emit_list(item, inner, lines)
            lines[start] = f"{pad}- {lines[start][len(inner) :]}"
        else:
            lines.append(f"{pad}- {_atom(item)}\n")


@lru_cache(maxsize=4096)
def _heads(keys: tuple[str, ...], pad: str) -> list[tuple[str, str]]:
    """Pair each key, in its order, with the start of its line, as far as the colon."""
    return [(key, _head(_TEXTS[key], pad)) for key in ordered(keys)]


def _head(key: str, pad: str) -> str:
    return f"{pad}{key}:" if len(key) <= _KEY_MAX else f"{pad}? {key}\n{pad}:"


def _atom(value: Any) -> str:
    """Write what fits into a line and is no text."""
    if value is True or value is False:
        return "true" if value else "false"
    if value is None:
        return "null"
    if type(value) is int:
        return str(value)
    if type(value) in {dict, list}:
        return "[]" if type(value) is list else "{}"
    raise TypeError(f"cannot write a {type(value).__name__} as YAML: {value!r}")


class _Texts(dict[str, str]):
    """Remembers how to write each text on one line."""

    def __missing__(self, text: str) -> str:
        written = _one_line(text)
        if len(text) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_TEXTS:
                self.clear()
            self[text] = written
        return written


_TEXTS: Final = _Texts()


def _one_line(text: str) -> str:
    if (_PLAIN(text) and text.lower() not in _RETYPED) or _AMOUNT(text):
        return text
    if _HIDDEN.search(text):
        return f'"{_ESCAPED.sub(_escape, text)}"'
    return "'" + text.replace("'", "''") + "'"


def _escape(match: re.Match[str]) -> str:
    """Escape one character as JSON and both versions of YAML do; beyond U+FFFF, as both versions of YAML."""
    char = match[0]
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _long_text(text: str, pad: str) -> str:
    """Write lines of text as a literal block if that holds them exactly, otherwise escaped on one line."""
    body = text.rstrip(_NEWLINE)
    if not body or _HIDDEN.search(body.replace(_NEWLINE, "")) or _BLANK_LINE.search(text):
        return _TEXTS[text]
    pad += "  "
    indicator = "2" if body[0] in " \n" else ""
    ends = len(text) - len(body)
    keep = "+" if ends > 1 else "-" if ends == 0 else ""
    lines = [pad + line if line else "" for line in body.split(_NEWLINE)]
    return f"|{indicator}{keep}\n" + "\n".join(lines) + "\n" * (ends - 1)
