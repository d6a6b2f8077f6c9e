"""Say in plain words why libyaml refused a text, and where the cause is rather than where it gave up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import counted
from tfgitops.spec.yamltext.brackets import flow, glued_colon, left_over, no_node
from tfgitops.spec.yamltext.lines import Scene, cannot_start, dash_without_blank, known_habit, lonely, tag_or_glued
from tfgitops.spec.yamltext.texterror import also_at, fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from ruamel.yaml.error import MarkedYAMLError

    from tfgitops.spec.diagnostics import Diagnostic


def explain(text: str, spelled: str, error: MarkedYAMLError) -> Diagnostic:
    """Turn libyaml's error into a fault.

    Args:
        text: the text as it was written.
        spelled: the text as libyaml read it, of the same length.
        error: what libyaml said.
    """
    scene = Scene(text, spelled, error)
    if scene.char == "\t":
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


def second_document(line: int, column: int, width: int = 3) -> Diagnostic:
    """Make the fault of a text with more than one document."""
    hint = "give each environment a folder and a file of its own"
    return fault("TF105", "a spec is one document, and a second one starts here", line, column, hint, width)


def _document_start(scene: Scene) -> Diagnostic:
    above = scene.lines.above(scene.line)
    if scene.lines[above].startswith("..."):
        return second_document(scene.line, scene.column, len(scene.word()))
    if found := left_over(scene):
        return found
    top = next((n for n in range(scene.line) if scene.lines.bare(n).strip() and scene.lines[n][:3] != "---"), 0)
    if scene.first and scene.lines.indentation(top) > scene.column:
        also = scene.lines.place(top, "the first entry")
        message = "this entry is indented less than the first one"
        return scene.say(message, "indent all keys of the file alike", len(scene.word()), also)
    return scene.say("this belongs to nothing above", "a file holds one map, as `key: value`", len(scene.word()))


def _not_lined_up(scene: Scene) -> Diagnostic:
    if found := left_over(scene):
        return found
    if scene.first and re.match(r"-(\s|$)", scene.written[scene.column :]):
        hint = "indent it further than its key, or leave the '- ' out"
        return scene.say("a list entry stands among the keys of a map", hint)
    if not scene.first:
        return scene.say("this does not belong to the value before it", "quote the whole value", len(scene.word()))
    if scene.char == ":":
        return scene.say("a ':' without a key before it", "write `key: value`, or quote the text")
    near = _levels_beside(scene)
    message = "this entry does not line up with those above"
    hint = f"indent it by {' or '.join(near)}, not by {counted(scene.column, 'blank')}"
    above = scene.lines.place(scene.lines.above(scene.line), "the line above")
    return scene.say(message, hint, len(scene.word()), above)


def _levels_beside(scene: Scene) -> list[str]:
    """Return by how many blanks the line could be indented: the next level that is open above, on each side."""
    number, levels = scene.line, [10**9]
    while (number := scene.lines.above(number)) >= 0 and levels[-1] > 0:
        if (indentation := scene.lines.indentation(number)) < levels[-1]:
            levels.append(indentation)
    less = next((level for level in levels if level < scene.column), 0)
    more = next((level for level in reversed(levels[1:]) if level > scene.column), less)
    return [str(level) for level in sorted({less, more})]


def _not_a_list_entry(scene: Scene) -> Diagnostic:
    if found := left_over(scene) or dash_without_blank(scene.lines, scene.line):
        return found
    also = also_at("the list begins here", *scene.begun)
    message = "this stands among the entries of a list, and is none"
    hint = "start it with '- ', or indent it like the entry that it belongs to"
    return scene.say(message, hint, len(scene.word()), also)


def _second_colon(scene: Scene) -> Diagnostic:
    """Say why a ':' cannot make a key of what is before it."""
    if scene.before.startswith("---"):
        return scene.say("nothing may stand behind '---'", "begin on the next line")
    if own := dash_without_blank(scene.lines, scene.line) or tag_or_glued(scene.lines, scene.line):
        return own
    above = scene.lines.above(scene.line)
    start = scene.lines.start(scene.line)
    if re.search(r":\s", scene.lines.bare(scene.line)[start : scene.column]) or above < 0:
        return scene.say("a second ':' in one entry", "quote the text if the ':' belongs to it, or begin a new line")
    if not scene.lines.is_entry(above):
        return lonely(scene.lines, above)
    if start <= scene.lines.start(above):
        return scene.say("a ':' does not belong here", "quote the text if the ':' belongs to it")
    return _too_far(scene, start, above)


def _too_far(scene: Scene, start: int, above: int) -> Diagnostic:
    """Say that an entry is indented more than the one above, which has a value already."""
    if scene.lines[scene.line].lstrip(" ").startswith("- "):
        also = scene.lines.place(above, "this has a value already")
        message, hint = "a list entry does not belong here", "indent it like the entries of its list"
        return fault("TF103", message, scene.line, scene.lines.indentation(scene.line), hint, 1, also)
    also = scene.lines.place(above, "the entry above")
    message = f"this entry is indented by {counted(start, 'blank')}, and the one above by {scene.lines.start(above)}"
    hint = "indent both alike; an entry that holds others has nothing behind its ':'"
    return fault("TF103", message, scene.line, start, hint, scene.column - start, also)


def _no_colon(scene: Scene) -> Diagnostic:
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


def _anchor(scene: Scene) -> Diagnostic:
    line, column = scene.begun
    found = re.match(r"[&*][^\s,\[\]{}]*", scene.lines.whole(line)[column:])
    word = found[0] if found else scene.opening
    kind, name = ("an alias", "*name") if scene.opening == "*" else ("an anchor", "&name")
    if len(word) == 1:
        message = f"'{scene.opening}' begins {kind}, and no name is behind it"
    else:
        message = f"'{word}' begins like {kind}, whose name has letters, digits, '-' and '_' alone"
    return scene.say_begun(message, f"quote the text: '{word}'; {kind} is written `{name}`", len(word))


def _block_text(scene: Scene) -> Diagnostic:
    rest = scene.lines.whole(scene.begun[0])[scene.begun[1] :]
    sign = scene.opening or "|"
    message = f"text stands behind '{sign}' in its line"
    hint = f"begin the text on the next line, indented; or quote it, if the '{sign}' belongs to it"
    return scene.say_begun(message, hint, len(rest.rstrip()))


def _quoted(scene: Scene) -> Diagnostic:
    quote = scene.opening or "'"
    return scene.say_begun("a quoted text that is not closed", f"close it with {quote}")


def _escape(scene: Scene) -> Diagnostic:
    escape = scene.written[scene.column : scene.column + 2]
    message = f"'{escape}' is no escape that double quotes know"
    hint = "use single quotes, in which '\\' is plain; or write '\\\\' for it"
    return scene.say(message, hint, len(escape))


def _escaped_code(scene: Scene) -> Diagnostic:
    start = max(0, scene.written.rfind("\\", 0, scene.column + 1))
    found = re.match(r"\\.[0-9A-Fa-f]*", scene.written[start:])
    escape = found[0] if found else scene.char
    message = f"'{escape}' names no character"
    hint = "'\\x' takes 2 hexadecimal digits, '\\u' 4, '\\U' 8; in single quotes '\\' is plain"
    return fault("TF103", message, scene.line, start, hint, len(escape))


def _list_entry(scene: Scene) -> Diagnostic:
    if scene.first:
        above = scene.lines.place(scene.lines.above(scene.line), "this has a value already")
        return scene.say("a list entry does not belong here", "indent it like the entries of its list", 1, above)
    return scene.say("a list cannot begin behind a ':'", "begin it on a line of its own, or quote the text")


def _tag(scene: Scene) -> Diagnostic:
    line, column = scene.begun
    found = re.match(r"[^\s,\[\]{}]+", scene.lines.whole(line)[column:])
    word = found[0] if found else "!"
    hint = "leave the tag out; quote the value, if it is text"
    return fault("TF105", f"the tag '{word}' is not allowed", line, column, hint, len(word))


def _directive(scene: Scene) -> Diagnostic:
    line, column = scene.begun
    return fault("TF105", "a directive ('%') is not allowed", line, column, "leave this line out")


_SAY: list[tuple[re.Pattern[str], Callable[[Scene], Diagnostic]]] = [
    (re.compile(pattern), say)
    for pattern, say in (
        (r"scanning a directive", _directive),
        (r"expected <document start>", _document_start),
        (r"(scanning|parsing) (a|the) (quoted|double|single).*unknown escape", _escape),
        (r"quoted scalar.*(hexdecimal|escape)", _escaped_code),
        (r"quoted scalar", _quoted),
        (r"unexpected ':'", glued_colon),
        (r"scanning an (alias|anchor)", _anchor),
        (r"(scanning|parsing) (a|the) tag|tag handle|tag URI", _tag),
        (r"block scalar.*(comment or line break|indicator)", _block_text),
        (r"mapping values are not allowed", _second_colon),
        (r"could not find expected ':'", _no_colon),
        (r"sequence entries are not allowed", _list_entry),
        (r"mapping keys are not allowed", cannot_start),
        (r"cannot start any token", cannot_start),
        (r"parsing a flow (mapping|sequence)", flow),
        (r"node content", no_node),
        (r"did not find expected key", _not_lined_up),
        (r"expected '-' indicator", _not_a_list_entry),
    )
]
"""What libyaml says, as `context | problem`, and what we say for it: the first that fits."""
