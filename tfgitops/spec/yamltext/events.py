"""The events of a text, from ruamel's C parser, which is made to read what YAML allows and it does not.

libyaml 0.1.7 refuses `:` and `?` inside an unquoted text between brackets, as in `{image: tf:1}` and `[a?b]`, which
libyaml 0.2 and YAML itself take. Such a text is read again with other characters in their place, one for one, so
that no position moves; they are put back into each scalar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # it is imported there to be used so
from ruamel.yaml.error import MarkedYAMLError

from tfgitops.spec.yamltext.texterror import TextError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.spec.diagnostics import Diagnostic

T = TypeVar("T")

_OLD = re.compile("unexpected ':'|expected ','")
_STANDS_FOR = {0xE03A: ":", 0xE03F: "?"}
_NAME = re.compile(r"(?<![^\s\[{,])([&*!][^\s,\[\]{}]*)")  # an anchor, an alias or a tag
_INSIDE_TEXT = {
    ":": re.compile(r"""(?:(?<=[^\s\[\]{},"'])|(?<=[\w./)] )):(?=[^\s,\[\]{}])"""),
    "?": re.compile(r"""(?:(?<=[^\s\[{,"'])|(?<=[\w./)] ))\?"""),
}


class Events:
    """The events of one text, one by one; `text` gives a scalar its value as it was written."""

    def __init__(self, text: str, *, spelled: bool = False) -> None:
        self.next: Callable[[], Any] = CParser(text).get_event
        self.spelled = spelled

    def text(self, event: Any) -> str:
        """Return the text of a scalar."""
        value: str = event.value
        return value.translate(_STANDS_FOR) if self.spelled else value


def read(text: str, build: Callable[[Events], T]) -> T:
    """Let a builder read the events of a text; it is called a second time if the text must be spelled anew.

    Raises:
        TextError: the text is not YAML.
    """
    try:
        return build(Events(text))
    except MarkedYAMLError as error:
        spelled = respell(text) if _OLD.search(str(error.problem)) else text
        if spelled == text:
            raise TextError([_explain(text, text, error)]) from error
    try:
        return build(Events(spelled, spelled=True))
    except MarkedYAMLError as error:
        raise TextError([_explain(text, spelled, error)]) from error


def _explain(text: str, spelled: str, error: MarkedYAMLError) -> Diagnostic:
    from tfgitops.spec.yamltext.reasons import explain  # noqa: PLC0415 - half of this package, for faulty texts alone

    return explain(text, spelled, error)


def respell(text: str) -> str:
    """Replace each `:` and `?` that only libyaml 0.1 takes for an indicator; where it is one, it stays."""
    if any(chr(code) in text for code in _STANDS_FOR):
        return text
    pieces = _NAME.split(text)
    for stand_in, char in _STANDS_FOR.items():
        pieces[::2] = [_INSIDE_TEXT[char].sub(chr(stand_in), piece) for piece in pieces[::2]]
    return "".join(pieces)
