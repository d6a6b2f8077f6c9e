"""Say in plain words why libyaml refused a text, and where the cause is rather than where it gave up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import counted
from tfgitops.spec.yamltext.brackets import flow, glued_colon, left_over, no_node
from tfgitops.spec.yamltext.scene import Scene, cannot_start, dash_without_blank, known_habit, lonely, tag_or_glued
from tfgitops.spec.yamltext.textfaults import also_at, fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from ruamel.yaml.error import MarkedYAMLError

    from tfgitops.spec.diagnostics import Diagnostic

_LINE_OF_ITS_OWN = re.compile("flow|quoted|simple key|plain|block scalar")
_LONGEST_KEY = 1024
_DIRECTIVE = ("a directive ('%') is not allowed", "leave this line out")


def explain(text: str, spelled: str, error: MarkedYAMLError) -> Diagnostic:
    """Turn libyaml's error about a text into a fault; ``spelled`` is the text as libyaml read it, equally long."""
    scene = Scene(text, spelled, error)
    if scene.char == "\t":
        return scene.say("a tab is used for indentation", "indent with blanks; YAML does not allow tabs")
    said = f"{error.context or ''} | {error.problem or ''}"
    begun = scene.begun[0] if _LINE_OF_ITS_OWN.search(said) else scene.line
    for number in dict.fromkeys((scene.line, begun, scene.above(scene.line))):
        if habit := known_habit(scene, number):
            return habit
    for pattern, say in _SAY:
        if re.search(pattern, said):
            return say(scene)
    return scene.say("this is no YAML", "quote the text, if it is one; else compare it with the lines above")


def second_document(line: int, column: int, width: int = 3) -> Diagnostic:
    """Make the fault of a text with more than one document."""
    hint = "give each environment a folder and a file of its own"
    return fault("TF105", "a spec is one document, and a second one starts here", line, column, hint, width)


def _document_start(scene: Scene) -> Diagnostic:
    if scene.line_at(scene.above(scene.line)).startswith("..."):
        return second_document(scene.line, scene.column, len(scene.word()))
    if found := left_over(scene):
        return found
    tops = (n for n in range(scene.line) if scene.bare(n).strip() and not scene.line_at(n).startswith("---"))
    top = next(tops, 0)
    if scene.first and scene.indentation(top) > scene.column:
        also = scene.place(top, "the first entry")
        message = "this entry is indented less than the first one"
        return scene.say(message, "indent all keys of the file alike", len(scene.word()), also)
    return scene.say("this belongs to nothing above", "a file holds one map, as `key: value`", len(scene.word()))


def _not_lined_up(scene: Scene) -> Diagnostic:
    if found := left_over(scene):
        return found
    if scene.first and re.match(r"-(\s|$)", scene.rest):
        hint = "indent it further than its key, or leave the '- ' out"
        return scene.say("a list entry stands among the keys of a map", hint)
    if not scene.first:
        return scene.say("this does not belong to the value before it", "quote the whole value", len(scene.word()))
    if scene.char == ":":
        return scene.say("a ':' without a key before it", "write `key: value`, or quote the text")
    hint = f"indent it by {' or '.join(_levels_beside(scene))}, not by {counted(scene.column, 'blank')}"
    above = scene.place(scene.above(scene.line), "the line above")
    return scene.say("this entry does not line up with those above", hint, len(scene.word()), above)


def _levels_beside(scene: Scene) -> list[str]:
    """Return by how many blanks the line could be indented: the next level that is open above, on each side."""
    number, levels = scene.line, [10**9]
    while (number := scene.above(number)) >= 0 and levels[-1] > 0:
        if (indentation := scene.indentation(number)) < levels[-1]:
            levels.append(indentation)
    less = next((level for level in levels if level < scene.column), 0)
    more = next((level for level in reversed(levels[1:]) if level > scene.column), less)
    return [str(level) for level in sorted({less, more})]


def _not_a_list_entry(scene: Scene) -> Diagnostic:
    if found := left_over(scene) or dash_without_blank(scene, scene.line):
        return found
    also = also_at("the list begins here", *scene.begun)
    hint = "start it with '- ', or indent it like the entry that it belongs to"
    return scene.say("this stands among the entries of a list, and is none", hint, len(scene.word()), also)


def _second_colon(scene: Scene) -> Diagnostic:
    if scene.before.startswith("---"):
        return scene.say("nothing may stand behind '---'", "begin on the next line")
    if own := dash_without_blank(scene, scene.line) or tag_or_glued(scene, scene.line):
        return own
    above, start = scene.above(scene.line), scene.start(scene.line)
    if re.search(r":\s", scene.bare(scene.line)[start : scene.column]) or above < 0:
        return scene.say("a second ':' in one entry", "quote the text if the ':' belongs to it, or begin a new line")
    if not scene.is_entry(above):
        return lonely(scene, above)
    if start <= scene.start(above):
        return scene.say("a ':' does not belong here", "quote the text if the ':' belongs to it")
    return _too_far(scene, start, above)


def _too_far(scene: Scene, start: int, above: int) -> Diagnostic:
    """Say that an entry is indented more than the one above, which has a value already."""
    indentation = scene.indentation(scene.line)
    if scene.line_at(scene.line).startswith("- ", indentation):
        return _list_entry(scene, (scene.line, indentation))
    also = scene.place(above, "the entry above")
    message = f"this entry is indented by {counted(start, 'blank')}, and the one above by {scene.start(above)}"
    hint = "indent both alike; an entry that holds others has nothing behind its ':'"
    return scene.say(message, hint, scene.column - start, also, (scene.line, start))


def _list_entry(scene: Scene, at: tuple[int, int] | None = None) -> Diagnostic:
    if at or scene.first:
        above = scene.place(scene.above(scene.line), "this has a value already")
        message, hint = "a list entry does not belong here", "indent it like the entries of its list"
        return scene.say(message, hint, 1, above, at)
    return scene.say("a list cannot begin behind a ':'", "begin it on a line of its own, or quote the text")


def _no_colon(scene: Scene) -> Diagnostic:
    number = scene.begun[0]
    if scene.before_begun.strip(" -") or scene.opened.startswith(("[", "{")):
        hint = "put a blank after the ':', or quote the whole text"
        return scene.say("this text is no `key: value`", hint, at=scene.begun)
    if len(scene.line_at(number)) > _LONGEST_KEY and scene.is_entry(number):
        return scene.say("a key is longer than 1024 characters", "give it a shorter name", at=scene.begun)
    return lonely(scene, number)


def _anchor(scene: Scene) -> Diagnostic:
    opening = scene.opened[:1]
    found = re.match(r"[&*][^\s,\[\]{}]*", scene.opened)
    word = found[0] if found else opening
    kind, name = ("an alias", "*name") if opening == "*" else ("an anchor", "&name")
    message = f"'{word}' begins like {kind}, whose name has letters, digits, '-' and '_' alone"
    if len(word) == 1:
        message = f"'{opening}' begins {kind}, and no name is behind it"
    return scene.say(message, f"quote the text: '{word}'; {kind} is written `{name}`", len(word), at=scene.begun)


def _block_text(scene: Scene) -> Diagnostic:
    sign = scene.opened[:1] or "|"
    hint = f"begin the text on the next line, indented; or quote it, if the '{sign}' belongs to it"
    return scene.say(f"text stands behind '{sign}' in its line", hint, len(scene.opened.rstrip()), at=scene.begun)


def _quoted(scene: Scene) -> Diagnostic:
    quote = scene.opened[:1] or "'"
    return scene.say("a quoted text that is not closed", f"close it with {quote}", at=scene.begun)


def _escape(scene: Scene) -> Diagnostic:
    escape = scene.rest[:2]
    hint = "use single quotes, in which '\\' is plain; or write '\\\\' for it"
    return scene.say(f"'{escape}' is no escape that double quotes know", hint, len(escape))


def _escaped_code(scene: Scene) -> Diagnostic:
    line = scene.line_at(scene.line)
    start = max(0, line.rfind("\\", 0, scene.column + 1))
    found = re.match(r"\\.[0-9A-Fa-f]*", line[start:])
    escape = found[0] if found else scene.char
    hint = "'\\x' takes 2 hexadecimal digits, '\\u' 4, '\\U' 8; in single quotes '\\' is plain"
    return scene.say(f"'{escape}' names no character", hint, len(escape), at=(scene.line, start))


def _tag(scene: Scene) -> Diagnostic:
    found = re.match(r"[^\s,\[\]{}]+", scene.opened)
    word = found[0] if found else "!"
    hint = "leave the tag out; quote the value, if it is text"
    return scene.say(f"the tag '{word}' is not allowed", hint, len(word), at=scene.begun, code="TF105")


_SAY: tuple[tuple[str, Callable[[Scene], Diagnostic]], ...] = (
    (r"scanning a directive", lambda scene: scene.say(*_DIRECTIVE, at=scene.begun, code="TF105")),
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
    (r"mapping keys are not allowed|cannot start any token", cannot_start),
    (r"parsing a flow (mapping|sequence)", flow),
    (r"node content", no_node),
    (r"did not find expected key", _not_lined_up),
    (r"expected '-' indicator", _not_a_list_entry),
)
"""What libyaml says, as `context | problem`, and what we say for it: the first that fits."""
