"""Write one Kubernetes object as block YAML that readers of YAML 1.1 and 1.2 read alike.

Manifests repeat a few hundred texts and a few dozen shapes of mappings, and this writer decides about each of them
once. A general dumper would take most of the time of a compile.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import ordered

# A plain scalar starts with a letter, `/`, `_`, `$` or an option's dashes, so that no reader takes it for a number or
# for an indicator of YAML. It has colons only inside words, single blanks only between words, and no hash.
_WORD = r"[A-Za-z0-9_./+\-@=\[\]'$(),]"
_PLAIN = re.compile(rf"(?:[A-Za-z_/$]|--?[A-Za-z]){_WORD}*(?::{_WORD}+)*(?: {_WORD}+)*").fullmatch
# An amount may start with a digit. `1E` and `1e` are not plain, because they look like floats.
_AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[KMGTPE]i|[numkMGTPsh])").fullmatch
_RETYPED: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})

# Characters that are invisible, end a line for some reader, or are not allowed in YAML. `str.isprintable` would depend
# on the version of Python, and one spec must give the same bytes on all versions.
_UNSEEN: Final = (
    r"\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u2800\u3000\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    r"\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_HIDDEN: Final = f"[{_UNSEEN}]"  # `re` compiles it when a text first needs it, because that takes long
_ESCAPED: Final = rf'["\\{_UNSEEN}]'
_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BLANK_LINE = re.compile(r"^ +$", re.MULTILINE)

# Fields that are equal in many objects, so each text of theirs is written once.
_SHARED: Final = frozenset({
    "affinity", "nodeSelector", "plugins", "policies", "ports", "resources", "securityContext", "tolerations",
    "valueFrom", "volumeMounts", "volumes",
})  # fmt: skip
_SHARED_SIZE: Final = 2000
_CACHED_LENGTH: Final = 200
_CACHED_TEXTS: Final = 50_000
_NEWLINE: Final = "\n"
_HOLDERS: Final = frozenset({dict, list})
_KEY_MAX: Final = 1000  # beyond 1024 characters, readers want `? key`


def emit(manifest: Mapping[str, Any]) -> str:
    """Return one object as YAML: keys in Kubernetes's order, lists at the indentation of their key, no folded line.

    Raises TypeError for a value that is not exactly of the type dict, list, str, int, bool or None.
    """
    lines: list[str] = []
    _emit_mapping(manifest, "", "", lines)
    return _NEWLINE.join(lines) + _NEWLINE if lines else "{}\n"


def _emit_mapping(mapping: Mapping[str, Any], first: str, pad: str, lines: list[str]) -> None:
    """Append the lines of a mapping: the first one after `first`, the others after `pad`."""
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
    """Return for each key, in order: its line up to the colon, that line with a blank, and whether it is shared."""
    found = []
    for key in ordered(keys):
        written = _TEXTS[key] or _one_line(key)
        head = f"{first}{written}:" if len(written) <= _KEY_MAX else f"{first}? {written}\n{pad}:"
        found.append((key, head, f"{head} ", key in _SHARED))
        first = pad
    return found


def _atom(value: Any) -> str:
    """Return the form of a value that is no text and fits on a line."""
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
    """The texts as they are written on one line; empty for a text of several lines."""

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
        return f'"{re.sub(_ESCAPED, _escape, text)}"'
    return "'" + text.replace("'", "''") + "'"


def _escape(match: re.Match[str]) -> str:
    """Return the escape of a character in JSON and both versions of YAML; beyond U+FFFF, in YAML alone."""
    char = match[0]
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _is_hidden(text: str) -> bool:
    """Tell whether a text has invisible characters; for ASCII, all versions of Python agree on them."""
    return not text.isprintable() if text.isascii() else re.search(_HIDDEN, text) is not None


@lru_cache(maxsize=256)
def _lines_of_text(text: str, pad: str) -> str:
    """Return a text as a literal block if that holds it exactly, otherwise escaped on one line."""
    body = text.rstrip(_NEWLINE)
    if not body or _is_hidden(body.replace(_NEWLINE, "")) or _BLANK_LINE.search(text):
        return _one_line(text)
    pad += "  "
    indicator = "2" if body[0] in " \n" else ""
    ends = len(text) - len(body)
    keep = "+" if ends > 1 else "-" if ends == 0 else ""
    lines = [pad + line if line else "" for line in body.split(_NEWLINE)]
    return f"|{indicator}{keep}\n" + "\n".join(lines) + "\n" * (ends - 1)
