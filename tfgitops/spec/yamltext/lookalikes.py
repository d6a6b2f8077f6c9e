"""Find characters in the texts of a spec that look like others, or like nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Diagnostic
from tfgitops.spec.yamltext import BLANKS, LOOKALIKES
from tfgitops.targets.kubernetes.names import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.spec.diagnostics import Severity
    from tfgitops.spec.document import Document
    from tfgitops.targets.routes import Route

_NOTHING = re.compile(f"[{BLANKS}\u202a-\u202e]")
_NEVER = re.compile("[\0\x85\u2028\u2029\ufdd0-\ufdef\ufffe\uffff]")
_ESCAPE = re.compile(r"\\[0NLPxuU]")  # in double quotes, a way to write any character in ASCII
_DASH = re.compile("[\u2013\u2014\u2212]+(?=[A-Za-z])")
_QUOTES = "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"


def lookalikes(document: Document) -> Iterator[Diagnostic]:
    """Yield what is odd about each key and text of a document that is read."""
    if document.text.isascii() and not _ESCAPE.search(document.text):
        return
    for text, route, on_key in _texts(document.value, document.prefix):
        if text.isascii() and "\0" not in text:
            continue
        if judged := _judge(text, _name(route), on_key=on_key):
            severity, message, hint = judged
            span = document.span(route, on_key=on_key)
            yield Diagnostic(code="TF109", severity=severity, message=message, span=span, hint=hint, at=route)


def _texts(value: Any, route: Route) -> Iterator[tuple[str, Route, bool]]:
    if type(value) is dict:
        for key, inner in value.items():
            yield key, (*route, key), True
            yield from _texts(inner, (*route, key))
    elif type(value) is list:
        for index, inner in enumerate(value):
            yield from _texts(inner, (*route, index))
    elif type(value) is str:
        yield value, route, False


def _judge(text: str, name: str, *, on_key: bool) -> tuple[Severity, str, str] | None:
    if found := _NEVER.search(text):
        return "error", f"{name} has {describe(found[0])}, which no text may hold", "leave it out"
    if text[0] in _QUOTES:
        plain = LOOKALIKES.get(ord(text[0]), '"')
        return "error", f"{name} has {describe(text[0])}, which quotes nothing in YAML", f"use {plain}"
    if found := _NOTHING.search(text):
        turns_text = "\u202a" <= found[0] <= "\u202e"
        message = f"{name} has {describe(found[0])}, which looks like a blank, or like nothing"
        return "error" if on_key or turns_text else "warning", message, "type it anew"
    if not on_key and (found := _DASH.match(text)):
        message = f"{name} begins with {describe(found[0][0])}, which is no '-'"
        option = text[found.end() :].split("=", maxsplit=1)[0].split(" ", maxsplit=1)[0]
        dashes = "-" if len(option) == 1 else "--"
        return "warning", message, f"write '{dashes}{option}' if this is an option"
    return None


def _name(route: Route) -> str:
    """Name a place by its last key and the indices behind it: `command[1]`."""
    start = max((index for index, key in enumerate(route) if isinstance(key, str)), default=0)
    return f"'{route[start]}{''.join(f'[{key}]' for key in route[start + 1 :])}'" if route else "the file"
