"""Plain values of what plugins answer: copied, bounded, and refused with their place where they are none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfgitops.targets.secrets import masked, masked_value
from tfgitops.targets.volcano.identity import short_digest

if TYPE_CHECKING:
    from tfgitops.targets.routes import Route

_JSON = "maps with keys of text, lists, text, whole numbers, true or false"
_DEEPEST = 64
_INTEGER_MIN, _INTEGER_MAX = -(1 << 63), (1 << 64) - 1
_ROUTE = "a route of the spec: a tuple of keys and indices, such as (*role.route, 'gpu')"
_ROUTE_KEYS = {str, int}


class AnswerError(Exception):
    """An answer that its hook does not allow: what is wrong with it, what was found, and what is expected."""

    def __init__(self, message: str, found: Any = "", expected: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.found = brief(found)
        self.expected = expected


def plain_map(value: Any, name: str, further: tuple[type, ...] = ()) -> dict[str, Any]:
    """Copy a map, and all that is in it, into plain values; ``further`` are scalars that it may hold too.

    Raises AnswerError if it is no map, or something in it is no JSON that a manifest can hold.
    """
    expect(isinstance(value, Mapping), name, value, "a map")
    plain: dict[str, Any] = _plain(value, (name,), further)
    return plain


def named_by_content(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest whose name ends with ``-`` and the first eight hexadecimal digits of a digest of all of it.

    A pod that refers to the object by this name refers to this content. With other content, the pod's Job is another
    one, while Jobs that run, or are pinned, keep the old object. Raises AnswerError if it holds what no manifest can
    hold.
    """
    named = plain_map(manifest, "manifest")
    named["metadata"]["name"] += f"-{short_digest(named)}"
    return named


def _plain(value: Any, at: Route, further: tuple[type, ...]) -> Any:
    """Copy a JSON value into dicts, lists and Python's own scalars, and refuse what is none."""
    expect(len(at) < _DEEPEST, place_of(at[:4]), "", f"at most {_DEEPEST} levels")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise AnswerError(f"a key of `{place_of(at)}` is no text", key, "text")
        return {_text(key, at): _plain(inner, (*at, key), further) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, (*at, index), further) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value, at)
    if type(value) is bool or isinstance(value, further):
        return value
    if isinstance(value, int) and _INTEGER_MIN <= value <= _INTEGER_MAX:
        return int(value)
    hint = "; leave the key out where there is nothing to say" if value is None else ""
    raise AnswerError(f"`{place_of(at)}` is no JSON that a manifest can hold", value, _JSON + hint)


def _text(value: str, at: Route) -> str:
    text = str.__str__(value)  # of an enumeration, its value
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AnswerError(f"`{place_of(at)}` is no Unicode text", value, "text") from error
    return text


def is_route(value: Any) -> bool:
    """Tell whether a value is a route of a spec."""
    return type(value) is tuple and _ROUTE_KEYS.issuperset(map(type, value))


def check_route(value: Any, name: str) -> None:
    """Refuse what is no route of a spec."""
    expect(is_route(value), name, value, _ROUTE)


def expect(right: object, name: str, found: Any, expected: str) -> None:
    """Refuse an answer, by the name of one of its fields or as a whole, unless that is right."""
    if not right:
        raise AnswerError(f"its `{name}` is wrong" if name else "", found, expected)


def place_of(at: Route) -> str:
    """Write a place in an answer: `value.spec.containers.0`."""
    return ".".join(str(key) for key in at)


def brief(value: Any, most: int = 80) -> str:
    """Write any value as a message quotes it: short, and the same in every run."""
    try:
        text = value if type(value) is str else repr(value)
    except Exception:  # noqa: BLE001 - such as a number of thousands of digits, which Python does not write out
        text = type(value).__name__
    return re.sub(r" at 0x[0-9a-f]+", "", text)[:most]


_COMMAND = re.compile(r"(?<!\S)::(?=[\w-])|##(?=\w*\[)")
"""How a line of a log can be a command to a CI system, such as ``::error::`` or ``##[error]``."""


def printable(text: str) -> str:
    """Return a text as people may see it: control characters as escapes, no commands to a CI system, no secrets.

    A name in a spec so drives neither a terminal nor a pipeline.
    """
    return escaped(defused(masked(text)))


def defused(text: str) -> str:
    """Return a text of the same length in which nothing is a command to a CI system."""
    return _COMMAND.sub(lambda match: match[0][0] + "·", text) if "::" in text or "##" in text else text


def escaped(text: str) -> str:
    """Show control characters as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def dumped(document: Any, *, ascii_only: bool) -> str:
    """Write a JSON document without secrets, in which no line is a command to a CI system."""
    text = json.dumps(masked_value(document), indent=2, ensure_ascii=ascii_only)
    return re.sub(r"##(?=\w*\[)", r"#\\u0023", text) + "\n"
