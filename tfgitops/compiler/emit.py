"""Writes one Kubernetes object as block YAML that readers of YAML 1.1 and 1.2 take for the same values.

A general dumper would take most of a compile. This one knows that manifests repeat a few hundred texts and a
few dozen shapes of mappings, and decides about each of them once.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Final

from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import ordered

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
_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BLANK_LINE = re.compile(r"^ +$", re.MULTILINE)

# What many objects have in common, and so is written once.
_SHARED: Final = frozenset(
    (
        "affinity", "nodeSelector", "plugins", "policies", "ports", "resources", "securityContext", "tolerations",
        "valueFrom", "volumeMounts", "volumes",
    )
)  # fmt: skip
_SHARED_SIZE: Final = 2000
_CACHED_LENGTH: Final = 200
_CACHED_TEXTS: Final = 50_000
_NEWLINE: Final = "\n"
_HOLDERS: Final = frozenset({dict, list})
_KEY_MAX: Final = 1000  # beyond 1024 characters, readers want `? key`


@cache
def _hidden() -> re.Pattern[str]:  # made ready only where a text needs it, for that takes long
    return re.compile(f"[{_UNSEEN}]")


@cache
def _escaped() -> re.Pattern[str]:
    return re.compile(rf'["\\{_UNSEEN}]')


def emit(manifest: Mapping[str, Any]) -> str:
    """Write one object as YAML: keys in Kubernetes's order, lists at their key's indentation, no line folded.

    :param manifest: dicts, lists, str, int, bool and None, of exactly these types.
    :raises TypeError: for any other type, which would be a bug of ours.
    """
    lines: list[str] = []
    _emit_mapping(manifest, "", "", lines)
    return _NEWLINE.join(lines) + _NEWLINE if lines else "{}\n"


def _emit_mapping(mapping: Mapping[str, Any], first: str, pad: str, lines: list[str]) -> None:
    """Write a mapping: the first line behind `first`, the others behind `pad`."""
    for key, head, start, shared in _heads(tuple(mapping), first, pad):
        value = mapping[key]
        kind = type(value)
        if kind is str:
            lines.append(start + (_TEXTS[value] or _lines_of_text(value, pad)))
        elif not value or kind not in _HOLDERS:
            lines.append(start + _atom(value))
        elif shared:
            lines.append(_emit_shared(value, head, pad))
        else:
            lines.append(head)
            _emit_holder(value, pad, lines)


def _emit_holder(value: Any, pad: str, lines: list[str]) -> None:
    if type(value) is dict:
        inner = pad + "  "
        _emit_mapping(value, inner, inner, lines)
    else:
        _emit_list(value, pad, lines)


@by_content(4096, _SHARED_SIZE)
def _emit_shared(value: Any, head: str, pad: str) -> str:
    lines = [head]
    _emit_holder(value, pad, lines)
    return _NEWLINE.join(lines)


def _emit_list(items: list[Any], pad: str, lines: list[str]) -> None:
    first, inner = pad + "- ", pad + "  "
    for item in items:
        kind = type(item)
        if kind is str:
            lines.append(first + (_TEXTS[item] or _lines_of_text(item, pad)))
        elif not item or kind not in _HOLDERS:
            lines.append(first + _atom(item))
        elif kind is dict:
            _emit_mapping(item, first, inner, lines)
        else:
            start = len(lines)
            _emit_list(item, inner, lines)
            lines[start] = first + lines[start][len(inner) :]


@lru_cache(maxsize=4096)
def _heads(keys: tuple[str, ...], first: str, pad: str) -> list[tuple[str, str, str, bool]]:
    """Give each key, in its order: its line as far as the colon, the same with a blank, and whether it is shared."""
    found = []
    for key in ordered(keys):
        written = _TEXTS[key] or _one_line(key)
        head = f"{first}{written}:" if len(written) <= _KEY_MAX else f"{first}? {written}\n{pad}:"
        found.append((key, head, f"{head} ", key in _SHARED))
        first = pad
    return found


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
    """Remembers how to write each text on one line; empty for text of several lines."""

    def __missing__(self, text: str) -> str:
        written = "" if _NEWLINE in text else _one_line(text)
        if len(text) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_TEXTS:
                self.clear()
            self[text] = written
        return written


_TEXTS: Final = _Texts()


def _one_line(text: str) -> str:
    if (_PLAIN(text) and text.lower() not in _RETYPED) or _AMOUNT(text):
        return text
    if _is_hidden(text):
        return f'"{_escaped().sub(_escape, text)}"'
    return "'" + text.replace("'", "''") + "'"


def _escape(match: re.Match[str]) -> str:
    """Escape one character as JSON and both versions of YAML do; beyond U+FFFF, as both versions of YAML."""
    char = match[0]
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _is_hidden(text: str) -> bool:
    """Tell whether some of a text cannot be seen; in ASCII, Python has always called the same characters printable."""
    return not text.isprintable() if text.isascii() else _hidden().search(text) is not None


@lru_cache(maxsize=256)
def _lines_of_text(text: str, pad: str) -> str:
    """Write lines of text as a literal block if that holds them exactly, otherwise escaped on one line."""
    body = text.rstrip(_NEWLINE)
    if not body or _is_hidden(body.replace(_NEWLINE, "")) or _BLANK_LINE.search(text):
        return _one_line(text)
    pad += "  "
    indicator = "2" if body[0] in " \n" else ""
    ends = len(text) - len(body)
    keep = "+" if ends > 1 else "-" if ends == 0 else ""
    lines = [pad + line if line else "" for line in body.split(_NEWLINE)]
    return f"|{indicator}{keep}\n" + "\n".join(lines) + "\n" * (ends - 1)
