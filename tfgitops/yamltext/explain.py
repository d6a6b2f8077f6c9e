"""Say in plain words why libyaml refused a text, and where the cause is rather than where it gave up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # it is imported there to be used so
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.tokens import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    StreamEndToken,
)

from tfgitops.yamltext.fault import Fault, Place
from tfgitops.yamltext.lines import Lines, blanks, dash_without_blank, known_habit, lonely

if TYPE_CHECKING:
    from collections.abc import Callable

_CLOSES = {"[": "]", "{": "}"}
_NAMES = {"[": "list", "{": "map"}


class _Scene:
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
        return Fault("TF103", message, self.line, self.column, hint, width, also)

    def say_begun(self, message: str, hint: str, width: int = 1, also: Place | None = None) -> Fault:
        return Fault("TF103", message, *self.begun, hint, width, also)

    def word(self) -> str:
        """Return what stands at the place, up to the next blank or bracket."""
        found = re.match(r"[^\s,\[\]{}]+", self.written[self.column :])
        return found[0] if found else self.char

    def place(self, message: str) -> Place | None:
        """Return where libyaml gave up, unless that is the end of the file."""
        return Place(message, self.line, self.column) if self.written[self.column :].strip() else None


def explain(text: str, spelled: str, error: MarkedYAMLError) -> Fault:
    """Turn libyaml's error into a fault.

    Args:
        text: the text as it was written.
        spelled: the text as libyaml read it, of the same length.
        error: what libyaml said.
    """
    scene = _Scene(text, spelled, error)
    tabbed = scene.before + scene.char
    if scene.char == "\t" or (not scene.before.strip(" ") and "\t" in tabbed):
        return scene.say("a tab is used for indentation", "indent with blanks; YAML does not allow tabs")
    said = f"{error.context or ''} | {error.problem or ''}"
    above = scene.lines.above(scene.line)
    for number in dict.fromkeys((scene.line, scene.begun[0] if _LINE_OF_ITS_OWN.search(said) else scene.line, above)):
        if habit := known_habit(scene.lines, number):
            return habit
    for pattern, say in _SAY:
        if pattern.search(said):
            return say(scene)
    return scene.say("this is no YAML", "quote the text, if it is one; else compare it with the lines above")


_LINE_OF_ITS_OWN = re.compile("flow|quoted|simple key|plain|block scalar")


def second_document(line: int, column: int, width: int = 3) -> Fault:
    """Make the fault of a text with more than one document."""
    hint = "give each environment a folder and a file of its own"
    return Fault("TF105", "a spec is one document, and a second one starts here", line, column, hint, width)


def _document_start(scene: _Scene) -> Fault:
    above = scene.lines.above(scene.line)
    if scene.lines[above].startswith("..."):
        return second_document(scene.line, scene.column, len(scene.word()))
    if fault := _left_over(scene):
        return fault
    top = next((n for n in range(scene.line) if scene.lines.bare(n).strip() and scene.lines[n][:3] != "---"), 0)
    if scene.first and scene.lines.indentation(top) > scene.column:
        also = scene.lines.place(top, "the first entry")
        message = "this entry is indented less than the first one"
        return scene.say(message, "indent all keys of the file alike", len(scene.word()), also)
    return scene.say("this belongs to nothing above", "a file holds one map, as `key: value`", len(scene.word()))


def _left_over(scene: _Scene) -> Fault | None:
    """Find what stands behind a value that is complete: brackets, commas, text behind quotes."""
    before = scene.before.rstrip(" ")
    glued = before == scene.before
    if scene.char in ("]", "}"):
        return scene.say(f"a '{scene.char}' too many: nothing above opens it", "leave it out")
    if before.endswith(("'", '"')):
        return _behind_quotes(scene, before[-1], glued=glued)
    if before.endswith(("]", "}")) and scene.char:
        message = f"text stands behind a closing '{before[-1]}'"
        return scene.say(message, "quote the whole value, or leave this out", len(scene.word()))
    if scene.char == ",":
        return scene.say("a ',' too many", "leave it out")
    return None


def _behind_quotes(scene: _Scene, quote: str, *, glued: bool) -> Fault:
    start = _last_token_before(scene)
    if start is not None and start.line < scene.line:
        also = scene.place("they close just before this")
        return Fault(
            "TF103", f"the quotes that open here close in line {scene.line + 1} only", start.line, start.column,
            f"close them in this line, with {quote}", 1, also,
        )  # fmt: skip
    if scene.char == ",":
        hint = "leave it out: only entries between brackets have commas"
    elif scene.written.startswith("//", scene.column):
        hint = "comments start with '#'"
    elif scene.char in ("'", '"'):
        hint = "put a ',' between the two, or quote the whole value once"
    elif glued and quote == "'":
        hint = "write '' for a ' inside of single quotes, or use double quotes"
    elif glued:
        hint = 'write \\" for a " inside of double quotes, or use single quotes'
    else:
        hint = "quote the whole value, or leave this out"
    return scene.say("text stands behind a closing quote", hint, max(1, len(scene.word())))


def _last_token_before(scene: _Scene) -> Any:
    """Return where the token before the place begins."""
    start = None
    for token in _tokens(scene.spelled):
        mark = token.start_mark
        if (mark.line, mark.column) >= (scene.line, scene.column):
            break
        start = mark
    return start


def _tokens(text: str) -> Any:
    parser = CParser(text)
    try:
        while type(token := parser.get_token()) is not StreamEndToken:
            yield token
    except YAMLError:
        return


def _not_lined_up(scene: _Scene) -> Fault:
    if fault := _left_over(scene):
        return fault
    if scene.first and re.match(r"-(\s|$)", scene.written[scene.column :]):
        hint = "indent it further than its key, or leave the '- ' out"
        return scene.say("a list entry stands among the keys of a map", hint)
    if not scene.first:
        return scene.say("this does not belong to the value before it", "quote the whole value", len(scene.word()))
    if scene.char == ":":
        return scene.say("a ':' without a key before it", "write `key: value`, or quote the text")
    near = _levels_beside(scene)
    message = "this entry does not line up with those above"
    hint = f"indent it by {' or '.join(near)}, not by {blanks(scene.column)}"
    above = scene.lines.place(scene.lines.above(scene.line), "the line above")
    return scene.say(message, hint, len(scene.word()), above)


def _levels_beside(scene: _Scene) -> list[str]:
    """Return by how many blanks the line could be indented: the next level that is open above, on each side."""
    number, levels = scene.line, [10**9]
    while (number := scene.lines.above(number)) >= 0 and levels[-1] > 0:
        if (indentation := scene.lines.indentation(number)) < levels[-1]:
            levels.append(indentation)
    less = next((level for level in levels if level < scene.column), 0)
    more = next((level for level in reversed(levels[1:]) if level > scene.column), less)
    return [str(level) for level in sorted({less, more})]


def _not_a_list_entry(scene: _Scene) -> Fault:
    if fault := _left_over(scene) or dash_without_blank(scene.lines, scene.line):
        return fault
    also = Place("the list begins here", *scene.begun)
    message = "this stands among the entries of a list, and is none"
    hint = "start it with '- ', or indent it like the entry that it belongs to"
    return scene.say(message, hint, len(scene.word()), also)


def _second_colon(scene: _Scene) -> Fault:
    before, number = scene.before, scene.line
    if before.startswith("---"):
        return scene.say("nothing may stand behind '---'", "begin on the next line")
    if glued := dash_without_blank(scene.lines, number):
        return glued
    above = scene.lines.above(number)
    start = scene.lines.start(number)
    if re.search(r":\s", scene.lines.bare(number)[start : scene.column]) or above < 0:
        return scene.say("a second ':' in one entry", "quote the text if the ':' belongs to it, or begin a new line")
    if not scene.lines.is_entry(above):
        return lonely(scene.lines, above)
    wanted = scene.lines.start(above)
    also = scene.lines.place(above, "the entry above")
    if scene.lines[number].lstrip(" ").startswith("- "):
        also = scene.lines.place(above, "this has a value already")
        hint = "indent it like the entries of its list"
        return Fault(
            "TF103", "a list entry does not belong here", number, scene.lines.indentation(number), hint, 1, also
        )
    message = f"this entry is indented by {blanks(start)}, and the one above by {wanted}"
    hint = "indent both alike; an entry that holds others has nothing behind its ':'"
    return Fault("TF103", message, number, start, hint, scene.column - start, also)


def _no_colon(scene: _Scene) -> Fault:
    number, column = scene.begun
    if scene.lines.whole(number)[:column].strip(" -") == "" and scene.lines.whole(number)[column : column + 1] not in (
        "[",
        "{",
    ):
        if len(scene.lines.whole(number)) > _LONGEST_KEY and scene.lines.is_entry(number):
            return scene.say_begun("a key is longer than 1024 characters", "give it a shorter name")
        return lonely(scene.lines, number)
    return scene.say_begun("this text is no `key: value`", "put a blank after the ':', or quote the whole text")


_LONGEST_KEY = 1024


def _flow(scene: _Scene) -> Fault:
    """Say why the entries between two brackets do not go on."""
    opening, (line, _) = scene.opening, scene.begun
    name, closing = _NAMES.get(opening, "list"), _CLOSES.get(opening, "]")
    not_closed = f"a {name} '{opening}' that is not closed"
    outdented = scene.line > line and scene.lines.indentation(scene.line) <= scene.lines.indentation(line)
    ended = not scene.written[scene.column :].strip()
    if ended or outdented:
        also = None if ended else scene.lines.place(scene.line, f"this is no part of the {name} any more")
        return scene.say_begun(not_closed, f"close it with '{closing}'", 1, also)
    opened = Place(f"the {name} begins here", *scene.begun)
    if scene.char in ("]", "}"):
        message = f"a '{scene.char}' closes what '{opening}' opened"
        return scene.say(message, f"write '{closing}'", 1, opened)
    before = scene.before.rstrip(" ")
    if before.endswith(("'", '"')) and scene.char != ":":
        return _behind_quotes(scene, before[-1], glued=before == scene.before)
    word = re.search(r"[^\s,\[\]{}]+$", before) if scene.char == ":" else None
    column = word.start() if word else scene.column
    width = len(word[0]) if word else max(1, len(scene.word()))
    what = word[0] if word else scene.word()
    message = f"no ',' is before '{what}'"
    hint = f"put a ',' between the entries of a {name}, or quote the text"
    return Fault("TF103", message, scene.line, column, hint, width, opened if scene.line != line else None)


def _no_node(scene: _Scene) -> Fault:
    """Say what stands where a value or a key belongs."""
    bracket = _open_bracket(scene)
    if bracket:
        return _no_entry(scene, *bracket)
    if not scene.written[scene.column :].strip():
        return scene.say("the file ends where a value belongs", "write the value")
    if scene.char in ("]", "}"):
        return scene.say(f"a '{scene.char}' that nothing opens", "leave it out, or quote the text")
    return _cannot_start(scene)


def _no_entry(scene: _Scene, opening: str, mark: Any) -> Fault:
    """Say the same of a list or map between brackets."""
    name, closing = _NAMES[opening], _CLOSES[opening]
    if not scene.written[scene.column :].strip():
        message = f"a {name} '{opening}' that is not closed"
        return Fault("TF103", message, mark.line, mark.column, f"close it with '{closing}'")
    if scene.char == ",":
        return scene.say("a ',' too many: no entry is before it", "leave it out")
    if scene.char in ("]", "}"):
        also = Place(f"the {name} begins here", mark.line, mark.column)
        return scene.say(f"a '{scene.char}' closes what '{opening}' opened", f"write '{closing}'", 1, also)
    if scene.char == "-":
        return scene.say("'- ' does not begin an entry between brackets", "leave the '-' out, or quote it")
    return _cannot_start(scene)


def _glued_colon(scene: _Scene) -> Fault:
    """Say why a ':' between brackets, with ',' or a bracket behind it, ends neither a key nor a text."""
    line, column = scene.begun
    begun = scene.lines.whole(line)
    word = begun[column : scene.column] if line == scene.line else scene.word()
    if begun[:column].rstrip(" ").endswith(("{", ",")):
        return scene.say(f"no blank after the ':' of '{word}'", f"write `{word}: …`, or quote the text")
    return scene.say("a ':' at the end of a text", "quote the text, or leave the ':' out")


def _open_bracket(scene: _Scene) -> tuple[str, Any] | None:
    """Return the innermost bracket that is open at the place, and its mark."""
    opened: list[tuple[str, Any]] = []
    for token in _tokens(scene.spelled):
        if (token.start_mark.line, token.start_mark.column) >= (scene.line, scene.column):
            break
        kind = type(token)
        if kind in (FlowSequenceStartToken, FlowMappingStartToken):
            opened.append(("[" if kind is FlowSequenceStartToken else "{", token.start_mark))
        elif kind in (FlowSequenceEndToken, FlowMappingEndToken) and opened:
            opened.pop()
    return opened[-1] if opened else None


def _quote(scene: _Scene) -> str:
    quote = '"' if "'" in scene.word() else "'"
    return f"quote the text: {quote}{scene.word()}{quote}"


def _cannot_start(scene: _Scene) -> Fault:
    return scene.say(f"a value cannot begin with '{scene.char}'", _quote(scene), len(scene.word()))


def _anchor(scene: _Scene) -> Fault:
    line, column = scene.begun
    found = re.match(r"[&*][^\s,\[\]{}]*", scene.lines.whole(line)[column:])
    word = found[0] if found else scene.opening
    kind, name = ("an alias", "*name") if scene.opening == "*" else ("an anchor", "&name")
    if len(word) == 1:
        message = f"'{scene.opening}' begins {kind}, and no name is behind it"
    else:
        message = f"'{word}' begins like {kind}, whose name has letters, digits, '-' and '_' alone"
    return scene.say_begun(message, f"quote the text: '{word}'; {kind} is written `{name}`", len(word))


def _block_text(scene: _Scene) -> Fault:
    rest = scene.lines.whole(scene.begun[0])[scene.begun[1] :]
    sign = scene.opening or "|"
    message = f"text stands behind '{sign}' in its line"
    hint = f"begin the text on the next line, indented; or quote it, if the '{sign}' belongs to it"
    return scene.say_begun(message, hint, len(rest.rstrip()))


def _quoted(scene: _Scene) -> Fault:
    quote = scene.opening or "'"
    return scene.say_begun("a quoted text that is not closed", f"close it with {quote}")


def _escape(scene: _Scene) -> Fault:
    escape = scene.written[scene.column : scene.column + 2]
    message = f"'{escape}' is no escape that double quotes know"
    hint = "use single quotes, in which '\\' is plain; or write '\\\\' for it"
    return scene.say(message, hint, len(escape))


def _escaped_code(scene: _Scene) -> Fault:
    start = max(0, scene.written.rfind("\\", 0, scene.column + 1))
    found = re.match(r"\\.[0-9A-Fa-f]*", scene.written[start:])
    escape = found[0] if found else scene.char
    message = f"'{escape}' names no character"
    hint = "'\\x' takes 2 hexadecimal digits, '\\u' 4, '\\U' 8; in single quotes '\\' is plain"
    return Fault("TF103", message, scene.line, start, hint, len(escape))


def _list_entry(scene: _Scene) -> Fault:
    if scene.first:
        above = scene.lines.place(scene.lines.above(scene.line), "this has a value already")
        return scene.say("a list entry does not belong here", "indent it like the entries of its list", 1, above)
    return scene.say("a list cannot begin behind a ':'", "begin it on a line of its own, or quote the text")


def _tag(scene: _Scene) -> Fault:
    line, column = scene.begun
    found = re.match(r"[^\s,\[\]{}]+", scene.lines.whole(line)[column:])
    word = found[0] if found else "!"
    hint = "leave the tag out; quote the value, if it is text"
    return Fault("TF105", f"the tag '{word}' is not allowed", line, column, hint, len(word))


def _directive(scene: _Scene) -> Fault:
    line, column = scene.begun
    return Fault("TF105", "a directive ('%') is not allowed", line, column, "leave this line out")


_SAY: list[tuple[re.Pattern[str], Callable[[_Scene], Fault]]] = [
    (re.compile(pattern), say)
    for pattern, say in (
        (r"scanning a directive", _directive),
        (r"expected <document start>", _document_start),
        (r"(scanning|parsing) (a|the) (quoted|double|single).*unknown escape", _escape),
        (r"quoted scalar.*(hexdecimal|escape)", _escaped_code),
        (r"quoted scalar", _quoted),
        (r"unexpected ':'", _glued_colon),
        (r"scanning an (alias|anchor)", _anchor),
        (r"(scanning|parsing) (a|the) tag|tag handle|tag URI", _tag),
        (r"block scalar.*(comment or line break|indicator)", _block_text),
        (r"mapping values are not allowed", _second_colon),
        (r"could not find expected ':'", _no_colon),
        (r"sequence entries are not allowed", _list_entry),
        (r"mapping keys are not allowed", _cannot_start),
        (r"cannot start any token", _cannot_start),
        (r"parsing a flow (mapping|sequence)", _flow),
        (r"node content", _no_node),
        (r"did not find expected key", _not_lined_up),
        (r"expected '-' indicator", _not_a_list_entry),
    )
]
"""What libyaml says, as `context | problem`, and what we say for it: the first that fits."""
