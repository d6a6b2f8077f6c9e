"""Characters that YAML does not allow, that break lines unseen, or that look like others."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from tfgitops.spec.yamltext.textfault import Fault, line_and_column
from tfgitops.targets.kubernetes.names import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOKALIKES: Final = {
    0x2018: "'", 0x2019: "'", 0x201A: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"', 0x2013: "-", 0x2014: "-",
    0x2212: "-", 0x00A0: " ", 0x3000: " ", 0xFF1A: ":", 0xFF0C: ",",
}  # fmt: skip
"""Characters of word processors and chats, and what was meant."""

BLANKS: Final = "\u00a0\u00ad\u1680\u2000-\u200f\u202f\u205f-\u2064\u3000\ufeff"
"""Characters that look like a blank, or like nothing: the inside of a class of a regular expression."""

_BREAKS = "\x85\u2028\u2029"
_REFUSED_ASCII = re.compile(r"[^\t\n\x20-\x7e]")


@cache
def _refused() -> re.Pattern[str]:
    return re.compile(r"[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def refused_characters(text: str) -> Iterator[Fault]:
    """Yield a fault for the first of each character that may not stand in a file."""
    seen = set()
    refused = _REFUSED_ASCII if text.isascii() else _refused()  # the other takes long to make ready
    for match in refused.finditer(text):
        char = match[0]
        if char in seen:
            continue
        seen.add(char)
        line, column = line_and_column(text, match.start())
        if char in _BREAKS:
            message = f"{describe(char)} breaks this line for YAML, though no editor shows it"
            yield Fault("TF109", message, line, column, "leave it out, or break the line as usual")
        else:
            message = f"{describe(char)} is a control character, which YAML does not allow"
            yield Fault("TF103", message, line, column, "leave it out")


def odd_characters(text: str) -> list[str]:
    """Name each character of a text that looks like another, or like nothing, by its code point."""
    if text.isascii() and text.isprintable():
        return []
    odd = [c for c in dict.fromkeys(text) if ord(c) in LOOKALIKES or (not c.isprintable() and c not in "\n\t")]
    return [describe(c) for c in odd]
