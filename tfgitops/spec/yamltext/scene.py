"""A fault as libyaml saw it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # it is imported there to be used so
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.tokens import StreamEndToken

from tfgitops.spec.yamltext.lines import Lines
from tfgitops.spec.yamltext.textfault import Fault, Place

if TYPE_CHECKING:
    from collections.abc import Iterator


class Scene:
    """A fault as libyaml saw it: where it gave up, and where what it was reading had begun."""

    def __init__(self, text: str, spelled: str, error: MarkedYAMLError) -> None:
        self.text, self.spelled = text, spelled
        self.lines = Lines(text)
        mark = error.problem_mark or error.context_mark
        self.line: int = mark.line if mark else 0
        self.column: int = mark.column if mark else 0
        begun = error.context_mark or mark
        self.begun: tuple[int, int] = (begun.line, begun.column) if begun else (0, 0)
        self.written = self.lines.whole(self.line)
        self.char = self.written[self.column : self.column + 1]
        self.before = self.written[: self.column]
        self.first = not self.before.strip(" ")  # whether it gave up at the first word of a line
        self.opening = self.lines.whole(self.begun[0])[self.begun[1] : self.begun[1] + 1]

    def say(self, message: str, hint: str, width: int = 1, also: Place | None = None) -> Fault:
        """Make a fault where libyaml gave up."""
        return Fault("TF103", message, self.line, self.column, hint, width, also)

    def say_begun(self, message: str, hint: str, width: int = 1, also: Place | None = None) -> Fault:
        """Make a fault where that begins which libyaml could not end."""
        return Fault("TF103", message, *self.begun, hint, width, also)

    def word(self) -> str:
        """Return what stands at the place, up to the next blank or bracket."""
        found = re.match(r"[^\s,\[\]{}]+", self.written[self.column :])
        return found[0] if found else self.char

    def place(self, message: str) -> Place | None:
        """Return where libyaml gave up, unless that is the end of the file."""
        return Place(message, self.line, self.column) if self.written[self.column :].strip() else None


def cannot_start(scene: Scene) -> Fault:
    """Say that a value cannot begin like this."""
    return scene.say(f"a value cannot begin with '{scene.char}'", _quoted(scene), len(scene.word()))


def _quoted(scene: Scene) -> str:
    quote = '"' if "'" in scene.word() else "'"
    return f"quote the text: {quote}{scene.word()}{quote}"


def tokens_of(text: str) -> Iterator[Any]:
    """Yield the tokens of a text, up to what cannot be read."""
    parser = CParser(text)
    try:
        while type(token := parser.get_token()) is not StreamEndToken:
            yield token
    except YAMLError:
        return
