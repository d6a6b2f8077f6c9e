"""Say what is wrong between brackets, behind them, and behind quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml.tokens import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
)

from tfgitops.spec.yamltext.lines import Scene, cannot_start, tokens_of
from tfgitops.spec.yamltext.texterror import also_at, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.spec.diagnostics import Diagnostic

CLOSES = {"[": "]", "{": "}"}
_NAMES = {"[": "list", "{": "map"}


def left_over(scene: Scene) -> Diagnostic | None:
    """Find what stands behind a value that is complete: brackets, commas, text behind quotes."""
    before = scene.before.rstrip(" ")
    glued = before == scene.before
    if scene.char in ("]", "}"):
        return scene.say(f"a '{scene.char}' too many: nothing above opens it", "leave it out")
    if before.endswith(("'", '"')):
        return behind_quotes(scene, before[-1], glued=glued)
    if before.endswith(("]", "}")) and scene.char:
        message = f"text stands behind a closing '{before[-1]}'"
        return scene.say(message, "quote the whole value, or leave this out", len(scene.word()))
    if scene.char == ",":
        return scene.say("a ',' too many", "leave it out")
    return None


def behind_quotes(scene: Scene, quote: str, *, glued: bool) -> Diagnostic:
    """Say why text stands behind quotes; ``glued`` is without a blank between."""
    start = last_token_before(scene)
    if start is not None and start.line < scene.line:
        also = scene.place("they close just before this")
        return fault(
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


def last_token_before(scene: Scene) -> Any:
    """Return where the token before the place begins."""
    start = None
    for token in _tokens_before(scene):
        start = token.start_mark
    return start


def _tokens_before(scene: Scene) -> Iterator[Any]:
    """Yield the tokens that begin before the place."""
    for token in tokens_of(scene.spelled):
        if (token.start_mark.line, token.start_mark.column) >= (scene.line, scene.column):
            return
        yield token


def flow(scene: Scene) -> Diagnostic:
    """Say why the entries between two brackets do not go on."""
    opening, (line, _) = scene.opening, scene.begun
    name, closing = _NAMES.get(opening, "list"), CLOSES.get(opening, "]")
    not_closed = f"a {name} '{opening}' that is not closed"
    outdented = scene.line > line and scene.lines.indentation(scene.line) <= scene.lines.indentation(line)
    ended = not scene.written[scene.column :].strip()
    before = scene.before.rstrip(" ")
    if before.endswith(("'", '"')) and not ended and scene.char not in (":", "]", "}"):
        return behind_quotes(scene, before[-1], glued=before == scene.before)
    if ended or outdented:
        also = None if ended else scene.lines.place(scene.line, f"this is no part of the {name} any more")
        return scene.say_begun(not_closed, f"close it with '{closing}'", 1, also)
    opened = also_at(f"the {name} begins here", *scene.begun)
    if scene.char in ("]", "}"):
        message = f"a '{scene.char}' closes what '{opening}' opened"
        return scene.say(message, f"write '{closing}'", 1, opened)
    word = re.search(r"[^\s,\[\]{}]+$", before) if scene.char == ":" else None
    column = word.start() if word else scene.column
    width = len(word[0]) if word else max(1, len(scene.word()))
    what = word[0] if word else scene.word()
    message = f"no ',' is before '{what}'"
    hint = f"put a ',' between the entries of a {name}, or quote the text"
    return fault("TF103", message, scene.line, column, hint, width, opened if scene.line != line else None)


def no_node(scene: Scene) -> Diagnostic:
    """Say what stands where a value or a key belongs."""
    bracket = open_bracket(scene)
    if bracket:
        return no_entry(scene, *bracket)
    if not scene.written[scene.column :].strip():
        return scene.say("the file ends where a value belongs", "write the value")
    if scene.char in ("]", "}"):
        return scene.say(f"a '{scene.char}' that nothing opens", "leave it out, or quote the text")
    return cannot_start(scene)


def no_entry(scene: Scene, opening: str, mark: Any) -> Diagnostic:
    """Say the same of a list or map between brackets."""
    name, closing = _NAMES[opening], CLOSES[opening]
    if not scene.written[scene.column :].strip():
        message = f"a {name} '{opening}' that is not closed"
        return fault("TF103", message, mark.line, mark.column, f"close it with '{closing}'")
    if scene.char == ",":
        return scene.say("a ',' too many: no entry is before it", "leave it out")
    if scene.char in ("]", "}"):
        also = also_at(f"the {name} begins here", mark.line, mark.column)
        return scene.say(f"a '{scene.char}' closes what '{opening}' opened", f"write '{closing}'", 1, also)
    if scene.char == "-":
        return scene.say("'- ' does not begin an entry between brackets", "leave the '-' out, or quote it")
    return cannot_start(scene)


def open_bracket(scene: Scene) -> tuple[str, Any] | None:
    """Return the innermost bracket that is open at the place, and its mark."""
    opened: list[tuple[str, Any]] = []
    for token in _tokens_before(scene):
        kind = type(token)
        if kind in (FlowSequenceStartToken, FlowMappingStartToken):
            opened.append(("[" if kind is FlowSequenceStartToken else "{", token.start_mark))
        elif kind in (FlowSequenceEndToken, FlowMappingEndToken) and opened:
            opened.pop()
    return opened[-1] if opened else None


def glued_colon(scene: Scene) -> Diagnostic:
    """Say why a ':' between brackets, with ',' or a bracket behind it, ends neither a key nor a text."""
    line, column = scene.begun
    begun = scene.lines.whole(line)
    word = begun[column : scene.column] if line == scene.line else scene.word()
    if begun[:column].rstrip(" ").endswith(("{", ",")):
        return scene.say(f"no blank after the ':' of '{word}'", f"write `{word}: …`, or quote the text")
    return scene.say("a ':' at the end of a text", "quote the text, or leave the ':' out")
