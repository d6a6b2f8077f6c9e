"""The scene of a fault: the lines around it, where libyaml gave up, and what people are known to write there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfgitops.spec.yamltext.textfaults import BLANKS, also_at, fault, line_and_column
from tfgitops.targets.kubernetes.names import describe

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError

    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.yamltext.textfaults import Also

_QUOTED = re.compile(r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?:^|(?<=\s))#.*""")
_TEMPLATE = re.compile(r"\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)|<%.*?(?:%>|$)")
_ODD_BLANK = re.compile(rf"(?:^|[:\-?,\[{{]) *([{BLANKS}])")
_WIDE = re.compile("^[^:]*?([\uff1a])")
_DASHES = re.compile(r"(?: *- )* *")
_BLOCK_TEXT = re.compile(r"(?:^|[:\-] )\s*([|>])[-+0-9]*$")
_GLUED = re.compile(r"([A-Za-z][\w./-]*):(?=[^\s/])(\S.*)")
_EQUALS = re.compile(r"([A-Za-z][\w.-]*)\s*=\s*(.*)")
_ENTRY = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s#:][^:#]*?)\s*:(?:\s|$)""")
_LONG = 1000  # characters of a line by which all of it is judged


class Scene:
    """A text that libyaml refused: where it gave up, and where what it was reading had begun; counted from 0."""

    def __init__(self, text: str, spelled: str, error: MarkedYAMLError) -> None:
        self.spelled = spelled
        self._lines = text.split("\n")
        mark = error.problem_mark or error.context_mark
        begun = error.context_mark or mark
        self.line: int = mark.line if mark else 0
        self.column: int = mark.column if mark else 0
        self.begun: tuple[int, int] = (begun.line, begun.column) if begun else (0, 0)
        self.before, self.rest = self.split(self.line, self.column)
        self.char = self.rest[:1]
        self.first = not self.before.strip(" ")  # whether it gave up at the first word of a line
        self.before_begun, self.opened = self.split(*self.begun)

    def say(  # noqa: PLR0917 - as `fault`
        self, message: str, hint: str, width: int = 1, also: Also | None = None, at: tuple[int, int] | None = None,
        code: str = "TF103",
    ) -> Diagnostic:  # fmt: skip
        """Make a fault at a place, by default where libyaml gave up."""
        line, column = (self.line, self.column) if at is None else at
        return fault(code, message, line, column, hint, width, also)

    def word(self) -> str:
        """Return what stands at the place, up to the next blank or bracket."""
        found = re.match(r"[^\s,\[\]{}]+", self.rest)
        return found[0] if found else self.char

    def line_at(self, number: int) -> str:
        """Return a line, and nothing for one that does not exist."""
        return self._lines[number] if 0 <= number < len(self._lines) else ""

    def split(self, number: int, column: int) -> tuple[str, str]:
        """Return what stands in a line before a column, and from there on."""
        return self.line_at(number)[:column], self.line_at(number)[column:]

    def bare(self, number: int) -> str:
        """Return a line without its comment and with its quoted texts blotted out, each character at its place."""
        line = self.line_at(number)[:_LONG]
        return _QUOTED.sub(lambda found: ("q" if found[0][0] != "#" else " ") * len(found[0]), line).rstrip(" ")

    def indentation(self, number: int) -> int:
        """Count the blanks at the beginning of a line."""
        line = self.line_at(number)
        return len(line) - len(line.lstrip(" "))

    def start(self, number: int) -> int:
        """Return the column where a line's entry begins, behind the dashes of lists."""
        found = _DASHES.match(self.line_at(number)[:_LONG])
        return found.end() if found else 0

    def above(self, number: int) -> int:
        """Return the number of the nearest line above that holds more than a comment; -1 if there is none."""
        number = min(number, len(self._lines)) - 1
        while number >= 0 and not self.bare(number).strip():
            number -= 1
        return number

    def is_entry(self, number: int) -> bool:
        """Tell whether a line begins with `key:`."""
        return _ENTRY.match(self.line_at(number)[:_LONG], self.start(number)) is not None

    def place(self, number: int, message: str) -> Also:
        """Return the place of all that is written in a line."""
        start = self.indentation(number)
        return also_at(message, number, start, max(1, len(self.bare(number)) - start))


def template_at(text: str, index: int) -> Diagnostic | None:
    """Return a fault for the template that begins at an index of a text, if one does."""
    match = _TEMPLATE.match(text, index) if index >= 0 else None
    return _template(match[0].split("\n", 1)[0], *line_and_column(text, index)) if match else None


def _template(written: str, line: int, column: int) -> Diagnostic:
    hint = "write the value itself, or expand the template before"
    return fault("TF103", "a template is not expanded here", line, column, hint, len(written))


def known_habit(scene: Scene, number: int) -> Diagnostic | None:
    """Find in a line what is wrong in any place: templates, foreign comments, blanks that are none."""
    bare = scene.bare(number)
    if match := _TEMPLATE.search(bare):
        return _template(match[0], number, match.start())
    if match := re.match(r"\s*//", bare):
        return scene.say("'//' does not start a comment", "comments start with '#'", 2, at=(number, match.end() - 2))
    if match := _ODD_BLANK.search(bare):
        message, hint = f"{describe(match[1])} stands where a blank belongs", "type the blank anew"
    elif match := _WIDE.search(bare):
        message, hint = f"{describe(match[1])} is no ':'", "write ': '"
    return scene.say(message, hint, at=(number, match.start(1)), code="TF109") if match else None


def lonely(scene: Scene, number: int) -> Diagnostic:
    """Say what is wrong with a line that stands among entries, and is none."""
    start = scene.start(number)
    written = scene.bare(number)[start:]
    above = scene.above(number)
    if match := _BLOCK_TEXT.search(scene.bare(above)):
        also = scene.place(above, f"the text of this '{match[1]}'")
        hint = "indent each line of the text further than its key"
        message = f"the text behind '{match[1]}' is not indented"
        return scene.say(message, hint, len(written), also, (number, start))
    if found := tag_or_glued(scene, number):
        return found
    if match := _EQUALS.match(written):
        message, hint = f"'=' does not give '{match[1]}' a value", f"write `{match[1]}: {match[2]}`"
        return scene.say(message, hint, at=(number, start + written.index("=")))
    if glued := dash_without_blank(scene, number):
        return glued
    message = "this line has no ': '"
    hint = "write `key: value`; further lines of a text are indented more than its key"
    if re.fullmatch(r"[\w./-]+", written):
        message, hint = f"'{written}' has no ':'", f"write `{written}: …`"
    return scene.say(message, hint, max(1, len(written)), at=(number, start))


def dash_without_blank(scene: Scene, number: int) -> Diagnostic | None:
    """Find `-b`, where `- b` was meant."""
    match = re.match(r" *(-)([^\s-].*)", scene.line_at(number)[:_LONG])
    if match is None:
        return None
    return scene.say("no blank after the '-'", f"write `- {match[2].strip()}`", at=(number, match.start(1)))


def tag_or_glued(scene: Scene, number: int) -> Diagnostic | None:
    """Find what keeps a line from being an entry: a tag before its key, or no blank after its `:`."""
    start = scene.start(number)
    written = scene.line_at(number)[start:_LONG]
    if match := re.match(r"![^\s:]*", written):
        hint = "leave the '!' out; quote the key, if it belongs to it"
        return scene.say(f"the tag '{match[0]}' is not allowed", hint, len(match[0]), None, (number, start), "TF105")
    if match := _GLUED.match(written.rstrip()):
        message, hint = f"no blank after the ':' of '{match[1]}'", f"write `{match[1]}: {match[2]}`"
        return scene.say(message, hint, at=(number, start + len(match[1])))
    return None


def cannot_start(scene: Scene) -> Diagnostic:
    """Say that a value cannot begin like this."""
    quote = '"' if "'" in scene.word() else "'"
    hint = f"quote the text: {quote}{scene.word()}{quote}"
    return scene.say(f"a value cannot begin with '{scene.char}'", hint, len(scene.word()))
