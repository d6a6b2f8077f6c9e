"""Say what is wrong between brackets, behind them, and behind quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # it is imported there to be used so
from ruamel.yaml.error import YAMLError
from ruamel.yaml.tokens import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    StreamEndToken,
)

from tfgitops.spec.yamltext.scene import Scene, cannot_start
from tfgitops.spec.yamltext.textfaults import also_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.yamltext.textfaults import Also

    Place = tuple[int, int]

_CLOSES = {"[": "]", "{": "}"}
_NAMES = {"[": "list", "{": "map"}


def left_over(scene: Scene) -> Diagnostic | None:
    """Find what stands behind a value that is complete: brackets, commas, text behind quotes."""
    before = scene.before.rstrip(" ")
    if scene.char in ("]", "}"):
        return scene.say(f"a '{scene.char}' too many: nothing above opens it", "leave it out")
    if before.endswith(("'", '"')):
        return _behind_quotes(scene, before[-1])
    if before.endswith(("]", "}")) and scene.char:
        message = f"text stands behind a closing '{before[-1]}'"
        return scene.say(message, "quote the whole value, or leave this out", len(scene.word()))
    return scene.say("a ',' too many", "leave it out") if scene.char == "," else None


def _behind_quotes(scene: Scene, quote: str) -> Diagnostic:
    start = None
    for token in _tokens_before(scene):
        start = token.start_mark
    if start is not None and start.line < scene.line:
        also = also_at("they close just before this", scene.line, scene.column) if scene.rest.strip() else None
        message = f"the quotes that open here close in line {scene.line + 1} only"
        return scene.say(message, f"close them in this line, with {quote}", 1, also, (start.line, start.column))
    glued = scene.before.endswith(quote)
    if scene.char == ",":
        hint = "leave it out: only entries between brackets have commas"
    elif scene.rest.startswith("//"):
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


def _tokens_before(scene: Scene) -> Iterator[Any]:
    """Yield the tokens that begin before the place, up to what cannot be read."""
    parser = CParser(scene.spelled)
    try:
        while type(token := parser.get_token()) is not StreamEndToken:
            if (token.start_mark.line, token.start_mark.column) >= (scene.line, scene.column):
                return
            yield token
    except YAMLError:
        return


def flow(scene: Scene) -> Diagnostic:
    """Say why the entries between two brackets do not go on."""
    opening, line = scene.opened[:1], scene.begun[0]
    name = _NAMES.get(opening, "list")
    outdented = scene.line > line and scene.indentation(scene.line) <= scene.indentation(line)
    ended = not scene.rest.strip()
    before = scene.before.rstrip(" ")
    if before.endswith(("'", '"')) and not ended and scene.char not in (":", "]", "}"):
        return _behind_quotes(scene, before[-1])
    if ended or outdented:
        also = None if ended else scene.place(scene.line, f"this is no part of the {name} any more")
        return _not_closed(scene, opening, scene.begun, also)
    if scene.char in ("]", "}"):
        return _crossed(scene, opening, scene.begun)
    word = re.search(r"[^\s,\[\]{}]+$", before) if scene.char == ":" else None
    column, what = (word.start(), word[0]) if word else (scene.column, scene.word())
    hint = f"put a ',' between the entries of a {name}, or quote the text"
    also = also_at(f"the {name} begins here", *scene.begun) if scene.line != line else None
    return scene.say(f"no ',' is before '{what}'", hint, max(1, len(what)), also, (scene.line, column))


def no_node(scene: Scene) -> Diagnostic:
    """Say what stands where a value or a key belongs."""
    bracket = _open_bracket(scene)
    ended = not scene.rest.strip()
    if bracket and (ended or scene.char in ("]", "}")):
        return (_not_closed if ended else _crossed)(scene, *bracket)
    if ended:
        return scene.say("the file ends where a value belongs", "write the value")
    if scene.char in ("]", "}"):
        return scene.say(f"a '{scene.char}' that nothing opens", "leave it out, or quote the text")
    if bracket and scene.char == ",":
        return scene.say("a ',' too many: no entry is before it", "leave it out")
    if bracket and scene.char == "-":
        return scene.say("'- ' does not begin an entry between brackets", "leave the '-' out, or quote it")
    return cannot_start(scene)


def _not_closed(scene: Scene, opening: str, at: Place, also: Also | None = None) -> Diagnostic:
    message = f"a {_NAMES.get(opening, 'list')} '{opening}' that is not closed"
    return scene.say(message, f"close it with '{_CLOSES.get(opening, ']')}'", 1, also, at)


def _crossed(scene: Scene, opening: str, at: Place) -> Diagnostic:
    message, hint = f"a '{scene.char}' closes what '{opening}' opened", f"write '{_CLOSES.get(opening, ']')}'"
    return scene.say(message, hint, 1, also_at(f"the {_NAMES.get(opening, 'list')} begins here", *at))


def _open_bracket(scene: Scene) -> tuple[str, Place] | None:
    """Return the innermost bracket that is open at the place, and its place."""
    opened: list[tuple[str, Place]] = []
    for token in _tokens_before(scene):
        if isinstance(token, FlowSequenceStartToken | FlowMappingStartToken):
            bracket = "[" if isinstance(token, FlowSequenceStartToken) else "{"
            opened.append((bracket, (token.start_mark.line, token.start_mark.column)))
        elif isinstance(token, FlowSequenceEndToken | FlowMappingEndToken) and opened:
            opened.pop()
    return opened[-1] if opened else None


def glued_colon(scene: Scene) -> Diagnostic:
    """Say why a ':' between brackets, with ',' or a bracket behind it, ends neither a key nor a text."""
    line, column = scene.begun
    word = scene.before[column:] if line == scene.line else scene.word()
    if scene.before_begun.rstrip(" ").endswith(("{", ",")):
        return scene.say(f"no blank after the ':' of '{word}'", f"write `{word}: …`, or quote the text")
    return scene.say("a ':' at the end of a text", "quote the text, or leave the ':' out")
