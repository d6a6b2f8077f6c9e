"""A fault says which rule a manifest breaks, where in it, and what to do; tables of rules make faults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfgitops.targets.routes import Route

_SHOWN = 60  # characters of a text that a message quotes


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One broken rule; `at` is a route of keys and indices into the manifest, and may end in an absent key."""

    rule: str
    at: Route
    message: str
    hint: str = ""
    found: str = ""
    expected: str = ""

    def below(self, base: Route) -> Fault:
        """Give the same fault as seen from a document that holds this one at `base`."""
        return replace(self, at=base + self.at)


class Rules(dict[str, tuple[str, str]]):
    """A table of rules: by name the message and the hint, each with {words} to be filled in."""

    @classmethod
    def read(cls, table: str) -> Rules:
        """Read a table of lines ``name: message | hint``; what is indented deeper goes on.

        Rules with the same message and hint stand in one row, ``one, another: message | hint``, and may wrap at commas.
        """
        found = cls()
        rows = table.strip("\n").replace("\n        ", " ").replace(",\n    ", ", ")
        for row in rows.splitlines():
            names, _, sentences = row.strip().partition(": ")
            message, _, hint = sentences.partition(" | ")
            found |= dict.fromkeys(names.split(", "), (message, hint))
        return found

    def fault(self, rule: str, at: Route, *, found: object = "", expected: str = "", **words: object) -> Fault:
        """Say that a rule is broken at a place."""
        message, hint = (sentence.format(found=found, **words) for sentence in self[rule])
        return Fault(rule=rule, at=at, message=message, hint=hint, found=str(found), expected=expected)


def show(value: object) -> str:
    """Write a value as a message quotes it: short, on one line, in JSON's words."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list():
            return "a list"
    text = str(value)
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...") if isinstance(value, str) else text
