"""Write texts of strangers as Markdown: nothing in them has a meaning, and none is longer than a person reads.

GitHub and GitLab look for mentions, references and links in all text but code. So a word that is more than letters and
a little punctuation is shown as code.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from tfgitops.plugins.plain import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD_MAX = 200  # characters
_TEXT_MAX = 1500
_QUOTED = re.compile(r"`([^`]+)`")
_WORD = re.compile(r"""([('"]*)(\S*?)([)'".,;:]*)""").fullmatch
_TAME = re.compile(
    r"""(?![-+]+\Z|\d+[.)]\Z|.*www\.|.*\bGH-\d)(?:[^\W_]|[-.,;'"()/=+→…?]|:(?=\d|\W*\Z))+""", re.IGNORECASE
).fullmatch


def plain(text: str) -> str:
    """Write a sentence: words in backticks, and those that could mean something, become code."""
    written = ""
    for index, part in enumerate(_QUOTED.split(_cut(text, _TEXT_MAX))):
        piece = code(part) if index % 2 else re.sub(r"\S+", _word, part)
        written += " " * (written.endswith("`") and piece.startswith("`")) + piece  # else their backticks would join
    return written.strip() or code("")


def _word(found: re.Match[str]) -> str:
    word = found[0]
    if _TAME(word) and len(word) <= _WORD_MAX:
        return word
    parts = _WORD(word)
    return f"{parts[1]}{code(parts[2])}{parts[3]}" if parts and parts[2] else code(word)


def code(text: str) -> str:
    """Write a value as code, between more backticks than it has anywhere in a row."""
    text = _cut(text, _WORD_MAX) or " "
    fence = "`" * (max(map(len, re.findall(r"`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def html_code(text: str) -> str:
    """Write a value as code within a line of HTML."""
    return f"<code>{html.escape(_cut(text, _WORD_MAX))}</code>"


def row(cells: Iterable[str]) -> str:
    """Write a row of a table from cells of Markdown: a bar needs an escape there, even in code."""
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in escaped)


def _cut(text: str, most: int) -> str:
    if len(text) > 8 * most:  # a secret that is cut here is not shown
        text = f"{text[: 4 * most]}{text[-4 * most :]}"
    text = printable(text)
    return text if len(text) <= most else f"{text[: most * 3 // 4]}…{text[-most // 8 :]}"
