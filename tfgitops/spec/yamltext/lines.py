"""Look at the lines around a fault: where libyaml gave up, and what people are known to write there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # it is imported there to be used so
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.tokens import StreamEndToken

from tfgitops.spec.yamltext.characters import BLANKS
from tfgitops.spec.yamltext.texterror import also_at, fault, line_and_column
from tfgitops.targets.kubernetes.names import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.yamltext.texterror import Also

_QUOTED = re.compile(r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?:^|(?<=\s))#.*""")
_TEMPLATE = re.compile(r"\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)|<%.*?(?:%>|$)")
_ODD_BLANK = re.compile(rf"(?:^|[:\-?,\[{{]) *([{BLANKS}])")
_WIDE = re.compile("^[^:]*?([\uff1a])")
_DASHES = re.compile(r"(?: *- )* *")
_BLOCK_TEXT = re.compile(r"(?:^|[:\-] )\s*([|>])[-+0-9]*$")
_GLUED = re.compile(r"([A-Za-z][\w./-]*):(?=[^\s/])(\S.*)")
_EQUALS = re.compile(r"([A-Za-z][\w.-]*)\s*=\s*(.*)")
_ENTRY = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s#:][^:#]*?)\s*:(?:\s|$)""")


_LONG = 1000


class Lines:
    """The lines of a text, by numbers that count from 0; all but the whole line is judged by its beginning."""

    def __init__(self, text: str) -> None:
        self.all = text.split("\n")

    def whole(self, number: int) -> str:
        """Return a line, and nothing for one that does not exist."""
        return self.all[number] if 0 <= number < len(self.all) else ""

    def __getitem__(self, number: int) -> str:
        return self.whole(number)[:_LONG]

    def bare(self, number: int) -> str:
        """Return a line without its comment and with its quoted texts blotted out, each character at its place."""
        blotted = _QUOTED.sub(lambda found: ("q" if found[0][0] != "#" else " ") * len(found[0]), self[number])
        return blotted.rstrip(" ")

    def indentation(self, number: int) -> int:
        """Count the blanks at the beginning of a line."""
        line = self.whole(number)
        return len(line) - len(line.lstrip(" "))

    def start(self, number: int) -> int:
        """Return the column where a line's entry begins, behind the dashes of lists."""
        found = _DASHES.match(self[number])
        return found.end() if found else 0

    def above(self, number: int) -> int:
        """Return the number of the nearest line above that holds more than a comment; -1 if there is none."""
        number = min(number, len(self.all)) - 1
        while number >= 0 and not self.bare(number).strip():
            number -= 1
        return number

    def is_entry(self, number: int) -> bool:
        """Tell whether a line begins with `key:`."""
        return _ENTRY.match(self[number], self.start(number)) is not None

    def place(self, number: int, message: str) -> Also:
        """Return the place of all that is written in a line."""
        start = self.indentation(number)
        return also_at(message, number, start, max(1, len(self.bare(number)) - start))


def template_at(text: str, index: int) -> Diagnostic | None:
    """Return a fault for the template that begins at an index of a text, if one does."""
    match = _TEMPLATE.match(text, index) if index >= 0 else None
    if match is None:
        return None
    return _template(match[0].split("\n", 1)[0], *line_and_column(text, index))


def _template(written: str, line: int, column: int) -> Diagnostic:
    message = "a template is not expanded here"
    return fault("TF103", message, line, column, "write the value itself, or expand the template before", len(written))


def known_habit(lines: Lines, number: int) -> Diagnostic | None:
    """Find in a line what is wrong in any place: templates, foreign comments, blanks that are none."""
    bare = lines.bare(number)
    if match := _TEMPLATE.search(bare):
        return _template(match[0], number, match.start())
    if match := re.match(r"\s*//", bare):
        return fault("TF103", "'//' does not start a comment", number, match.end() - 2, "comments start with '#'", 2)
    if match := _ODD_BLANK.search(bare):
        message = f"{describe(match[1])} stands where a blank belongs"
        return fault("TF109", message, number, match.start(1), "type the blank anew")
    if match := _WIDE.search(bare):
        return fault("TF109", f"{describe(match[1])} is no ':'", number, match.start(1), "write ': '")
    return None


def lonely(lines: Lines, number: int) -> Diagnostic:
    """Say what is wrong with a line that stands among entries, and is none."""
    start = lines.start(number)
    written = lines.bare(number)[start:]
    above = lines.above(number)
    if match := _BLOCK_TEXT.search(lines.bare(above)):
        also = lines.place(above, f"the text of this '{match[1]}'")
        hint = "indent each line of the text further than its key"
        return fault("TF103", f"the text behind '{match[1]}' is not indented", number, start, hint, len(written), also)
    if found := tag_or_glued(lines, number):
        return found
    if match := _EQUALS.match(written):
        column = start + written.index("=")
        hint = f"write `{match[1]}: {match[2]}`"
        return fault("TF103", f"'=' does not give '{match[1]}' a value", number, column, hint)
    if glued := dash_without_blank(lines, number):
        return glued
    if re.fullmatch(r"[\w./-]+", written):
        return fault("TF103", f"'{written}' has no ':'", number, start, f"write `{written}: …`", len(written))
    hint = "write `key: value`; further lines of a text are indented more than its key"
    return fault("TF103", "this line has no ': '", number, start, hint, max(1, len(written)))


def dash_without_blank(lines: Lines, number: int) -> Diagnostic | None:
    """Find `-b`, where `- b` was meant."""
    match = re.match(r" *(-)([^\s-].*)", lines[number])
    if match is None:
        return None
    return fault("TF103", "no blank after the '-'", number, match.start(1), f"write `- {match[2].strip()}`")


def tag_or_glued(lines: Lines, number: int) -> Diagnostic | None:
    """Find what keeps a line from being an entry: a tag before its key, or no blank after its `:`."""
    start = lines.start(number)
    if match := re.match(r"![^\s:]*", lines[number][start:]):
        hint = "leave the '!' out; quote the key, if it belongs to it"
        return fault("TF105", f"the tag '{match[0]}' is not allowed", number, start, hint, len(match[0]))
    if match := _GLUED.match(lines[number][start:].rstrip()):
        word = match[1]
        message, hint = f"no blank after the ':' of '{word}'", f"write `{word}: {match[2]}`"
        return fault("TF103", message, number, start + len(word), hint)
    return None


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

    def say(self, message: str, hint: str, width: int = 1, also: Also | None = None) -> Diagnostic:
        """Make a fault where libyaml gave up."""
        return fault("TF103", message, self.line, self.column, hint, width, also)

    def say_begun(self, message: str, hint: str, width: int = 1, also: Also | None = None) -> Diagnostic:
        """Make a fault where that begins which libyaml could not end."""
        return fault("TF103", message, *self.begun, hint, width, also)

    def word(self) -> str:
        """Return what stands at the place, up to the next blank or bracket."""
        found = re.match(r"[^\s,\[\]{}]+", self.written[self.column :])
        return found[0] if found else self.char

    def place(self, message: str) -> Also | None:
        """Return where libyaml gave up, unless that is the end of the file."""
        return also_at(message, self.line, self.column) if self.written[self.column :].strip() else None


def cannot_start(scene: Scene) -> Diagnostic:
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
