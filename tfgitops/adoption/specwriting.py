"""Write a spec as a person would: short maps on one line, texts as blocks, and the comments of the source."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.emit import emit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.adoption.comments import Comment
    from tfgitops.targets.routes import Route

_WIDTH = 110
_BLOCKS = 2
"""Levels that are never on one line: the keys at the top, and the entries of `jobs`."""

_TOP = ("apiVersion", "kind", "cluster", "gitops", "namespace", "queues", "configMaps", "volumes", "defaults", "jobs")
_ORDER = (
    "name", "image", "command", "args", "strategy", "completes", "queue", "priorityClassName", "replicas",
    "minAvailable", "maxRetry", "cpu", "memory", "gpu", "shm", "chief", "ps", "worker", "evaluator", "tasks",
)  # fmt: skip
_LATE = ("policies", "plugins", "labels", "annotations", "container", "pod")
_RANKS = {key: rank for rank, key in enumerate(_ORDER)} | {key: 200 + rank for rank, key in enumerate(_LATE)}
_IN_BRACKETS = re.compile(r"[,\[\]{}'\"?]|: |^ | $")


def write_spec(spec: Mapping[str, Any], comments: Mapping[Route, Comment]) -> str:
    """Return the text of a spec; ``comments`` are those of its routes."""
    return "\n".join(_Writer(comments).mapping(spec, (), "")) + "\n"


class _Writer:
    def __init__(self, comments: Mapping[Route, Comment]) -> None:
        self._comments = comments

    def mapping(self, value: Mapping[str, Any], at: Route, pad: str) -> Iterator[str]:
        for key in _in_order(value) if _is_ours(at) else value:
            comment = self._comments.get((*at, key))
            for line in comment.above if comment else ():
                yield f"{pad}# {line}".rstrip()
            lines = [*self._entry(key, value[key], (*at, key), pad)]
            if comment and comment.behind:
                lines[0] += f"  # {comment.behind}"
            yield from lines

    def _entry(self, key: str, value: Any, at: Route, pad: str) -> Iterator[str]:
        head = f"{pad}{_scalar(key)}:"
        inline = "" if isinstance(value, dict) and value and self._is_block(at) else _inline(value)
        if inline and len(head) + len(inline) < _WIDTH:
            yield f"{head} {inline}"
        elif isinstance(value, dict):
            yield head
            yield from self.mapping(value, at, f"{pad}  ")
        elif isinstance(value, list):
            yield head
            yield from self._items(value, at, pad)
        else:
            yield from (f"{pad}{line}" if line else "" for line in emit({key: value}).removesuffix("\n").split("\n"))

    def _items(self, items: list[Any], at: Route, pad: str) -> Iterator[str]:
        for index, item in enumerate(items):
            inline = _inline(item)
            if inline and len(inline) + len(pad) < _WIDTH:
                yield f"{pad}- {inline}"
            elif isinstance(item, dict):
                first, *others = self.mapping(item, (*at, index), f"{pad}  ")
                yield f"{pad}- {first.lstrip()}"
                yield from others
            else:
                lines = emit({"x": [item]}).removesuffix("\n").split("\n")[1:]
                yield from (f"{pad}{line}" if line else "" for line in lines)

    def _is_block(self, at: Route) -> bool:
        below = any(route[: len(at)] == at and len(route) > len(at) for route in self._comments)
        return below or len(at) < _BLOCKS or (at[0] == "jobs" and len(at) == _BLOCKS)


def _is_ours(at: Route) -> bool:
    """Tell whether the keys of a map are those of a spec, and not names or fields of Kubernetes."""
    return not {"env", "pod", "container", "labels", "annotations", "nodeSelector"} & {*at} and at not in {
        ("jobs",), ("volumes",), ("queues",), ("configMaps",)
    }  # fmt: skip


def _in_order(keys: Iterable[str]) -> list[str]:
    found = list(keys)
    return sorted(found, key=_TOP.index if "apiVersion" in found else lambda key: _RANKS.get(key, 100))


def _inline(value: Any) -> str:
    """Return a value on one line; nothing if it has a text of several lines, or is too long for a line."""
    if isinstance(value, dict):
        keys = _in_order(value) if value.keys() & _RANKS.keys() else value
        parts = [f"{_bracketed(key)}: {_inline(value[key])}" if _inline(value[key]) else "" for key in keys]
        return f"{{{', '.join(parts)}}}" if all(parts) else ""
    if isinstance(value, list):
        parts = [_inline(item) for item in value]
        return f"[{', '.join(parts)}]" if all(parts) else ""
    return "" if isinstance(value, str) and "\n" in value else _bracketed(value)


def _bracketed(value: Any) -> str:
    """Return a scalar as it is written between brackets."""
    text = _scalar(value)
    return json.dumps(value, ensure_ascii=False) if _IN_BRACKETS.search(text) and text[0] not in "'\"" else text


def _scalar(value: Any) -> str:
    return emit({"x": value}).rstrip("\n").removeprefix("x: ")
