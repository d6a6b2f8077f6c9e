"""Take out of a shell text what finds the pods of a job: the compiler writes TF_CONFIG and the hosts itself.

Tutorials of Volcano glue TF_CONFIG together from `/etc/volcano/ps.host` and `worker.host`. The program stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tfgitops.targets.shell.shelltokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfgitops.targets.shell.shelltokens import Token

_SEPARATORS = frozenset({";", "\n", "&&"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL).fullmatch
_REFERENCES = re.compile(r"\$\{?([A-Za-z_]\w*)")
_HOSTS = re.compile(r"/etc/volcano/([a-z0-9-]+)\.host\b")
_TYPE = re.compile(r"""["\\']*type["\\']*\s*:\s*["\\']*([a-z]+)""")
PORT = re.compile(r":(\d{1,5})\b")
_INDEX = re.compile(r"\$\{V[CK]_TASK_INDEX\}|\$V[CK]_TASK_INDEX\b")
TF_CONFIG = "TF_CONFIG"


class Simplified(NamedTuple):
    """A shell text without its discovery; ``kind`` and ``port`` are what its TF_CONFIG said of the pod."""

    text: str
    kind: str = ""
    port: int = 0
    config: bool = False
    hosts: tuple[str, ...] = ()


@dataclass(slots=True)
class _Statement:
    """A part of a text up to a separator; ``assigned`` are the variables of a statement that only assigns some."""

    start: int
    end: int = 0
    words: list[Token] = field(default_factory=list)
    simple: bool = True

    @property
    def assigned(self) -> dict[str, str]:
        words = [word.text for word in self.words]
        found = [_ASSIGNMENT(word) for word in (words[1:] if words[:1] == ["export"] else words)]
        if not self.simple or not found or not all(found):
            return {}
        return {match[1]: match[2] for match in found if match}


def simplified(text: str, ports: Mapping[str, int]) -> Simplified:
    """Return a text without the statements that make TF_CONFIG, and with our variables for lists of hosts.

    ``ports`` are those of the servers of each task. A text in which nothing is recognized is returned as it is.
    """
    try:
        statements = _statements(text)
    except ValueError:  # a quote that is not closed
        return Simplified(text)
    said = "".join(_value(statement, TF_CONFIG) for statement in statements)
    gone = [statement for statement in statements if statement.assigned.keys() == {TF_CONFIG} or _exports(statement)]
    gone += _feeders(text, statements, gone)
    feeding = "".join(text[statement.start : statement.end] for statement in gone)
    hosts = {} if not ports else _hosts(text, [one for one in statements if one not in gone], ports)
    gone += [statement for statement in statements if statement.assigned.keys() & hosts.keys()]
    if not gone:
        return Simplified(text)
    rest = _without(text, gone)
    for name, variable in hosts.items():
        rest = re.sub(rf"\$\{{{name}\}}|\${name}\b", lambda _, said=variable: f"$({said})", rest)  # type: ignore[misc]
    rest = _INDEX.sub("$(TASK_INDEX)", rest)
    kind, port = _TYPE.search(said), PORT.search(feeding)
    return Simplified(
        rest, kind[1] if kind else "", int(port[1]) if port else 0, bool(said), tuple(hosts.values())
    )  # fmt: skip


def _statements(text: str) -> list[_Statement]:
    found = [_Statement(0)]
    for token in tokens(text):
        if token.text in _SEPARATORS and not token.is_word:
            found[-1].end = token.end
            found.append(_Statement(token.end))
        elif token.is_word:
            found[-1].words.append(token)
        else:
            found[-1].simple = False
    found[-1].end = len(text)
    return [statement for statement in found if statement.words or not statement.simple]


def _value(statement: _Statement, name: str) -> str:
    return statement.assigned.get(name, "")


def _exports(statement: _Statement) -> bool:
    return [word.text for word in statement.words] == ["export", TF_CONFIG]


def _feeders(text: str, statements: Iterable[_Statement], gone: list[_Statement]) -> list[_Statement]:
    """Return the assignments that only statements which go refer to."""
    found: list[_Statement] = []
    while True:
        going = [*gone, *found]
        used = {name for one in going for name in _REFERENCES.findall(text[one.start : one.end])}
        rest = set(_REFERENCES.findall(_without(text, going)))
        new = [
            one for one in statements
            if one not in going and one.assigned and one.assigned.keys() <= used and not one.assigned.keys() & rest
        ]  # fmt: skip
        if not new:
            return found
        found += new


def _hosts(text: str, statements: Iterable[_Statement], ports: Mapping[str, int]) -> dict[str, str]:
    """Return our variables for those of a text that list the hosts of a task with the port of its servers."""
    found = {}
    for statement in statements:
        for name, value in statement.assigned.items():
            task, port = _HOSTS.search(value), PORT.search(value)
            if len(statement.assigned) == 1 and task and port and "," in value and text.count(f"{name}=") == 1:
                known = ports.get(task[1])
                if known == int(port[1]):
                    found[name] = f"{task[1].upper().replace('-', '_')}_HOSTS"
    return found


def _without(text: str, statements: Iterable[_Statement]) -> str:
    for statement in sorted(statements, key=lambda one: -one.start):
        text = text[: statement.start] + text[statement.end :]
    return "\n".join(line for line in text.strip().split("\n") if line.strip()) if text.strip() else ""
