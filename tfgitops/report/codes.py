"""The reference entry of each code: its title, and Markdown from the package that reports the code."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.plugins.faults import file_of
from tfgitops.report.as_json import json_document
from tfgitops.spec import diagnostics

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from tfgitops.plugins.door import Plugin

FILE = "diagnostics.md"
"""The file beside a plugin's module that explains its codes, each below a heading ``## CODE``."""

_HEADING = re.compile(r"^## (\S+?)(?:: .+)?[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeEntry:
    """One code: its title in one line, its explanation in Markdown, and the plugin that reports it.

    ``plugin`` is empty for the compiler's own codes, ``text`` for a code that its plugin does not explain.
    """

    code: str
    title: str
    plugin: str
    text: str


def reference(plugins: Iterable[Plugin]) -> dict[str, CodeEntry]:
    """Return the entries of the compiler and of plugins that can be used, in that order."""
    found = _entries("", diagnostics.compiler_codes(), diagnostics.__file__)
    for plugin in plugins:
        listed = {} if plugin.fault else plugin.codes
        for code, entry in _entries(plugin.name, listed, file_of(plugin.hooks)).items():
            found.setdefault(code, entry)
    return found


def _entries(plugin: str, codes: Mapping[str, str], file: str) -> dict[str, CodeEntry]:
    """Return an entry for each code of one owner, with the text from the page beside its file or in its folder."""
    place = Path(file)
    page = (place if place.is_dir() else place.parent) / FILE
    texts = explained(page.read_text(encoding="utf-8", errors="replace")) if file and page.is_file() else {}
    return {
        str(code): CodeEntry(code=str(code), title=str(title), plugin=plugin, text=texts.get(str(code), ""))
        for code, title in codes.items()
    }


def explained(page: str) -> dict[str, str]:
    """Return the text below each heading ``## CODE`` of a page, which may go on with ``: title``."""
    _, *parts = _HEADING.split(page)
    return {code: text.strip() + "\n" for code, text in zip(parts[::2], parts[1::2], strict=True)}


def listing(entries: Collection[CodeEntry]) -> str:
    """Return a line for each code: the code and its title."""
    width = max(len(entry.code) for entry in entries)
    return "".join(f"{entry.code:<{width}}  {entry.title}\n" for entry in entries)


def as_text(entry: CodeEntry) -> str:
    """Return the explanation of one code as Markdown."""
    text = entry.text or f"The plugin `{entry.plugin}` explains this code no further.\n"
    return f"# {entry.code}: {entry.title}{f' (plugin `{entry.plugin}`)' if entry.plugin else ''}\n\n{text}"


def as_json(entries: Iterable[CodeEntry]) -> str:
    """Return ``{version, codes: [{code, title, plugin, text}]}``."""
    return json_document(codes=[asdict(entry) for entry in entries])
