"""Cuts a patch into parts whose union it is, as several plugins, or several patches of one, might say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tfgitops.targets.kubernetes.merge import RULES, Part, Rule

if TYPE_CHECKING:
    from collections.abc import Callable

MISSING = object()
"""What a part has of a field that went to other parts."""

_AS_SET: Callable[..., Any] | None = RULES["PodTemplateSpec"].fields["spec"].fields["tolerations"].unite
_WHOLE = Rule(one_of=True)


def cut(value: Any, rule: Rule, count: int, data: st.DataObject) -> list[Any]:
    """Cut a value into parts whose union it is; MISSING where a part has nothing of it."""
    if isinstance(value, Mapping) and value.keys() - rule.keys and not rule.one_of:
        return cut_map(value, rule, count, data)
    if isinstance(value, list) and value and (rule.keys or rule.unite == _AS_SET):
        pieces = [cut(element, rule if rule.keys else _WHOLE, count, data) for element in value]
        parts = [[piece for piece in part if piece is not MISSING] for part in zip(*pieces, strict=True)]
        return [part or MISSING for part in parts]
    owners = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    return [value if index in owners else MISSING for index in range(count)]


def cut_map(value: Part, rule: Rule, count: int, data: st.DataObject) -> list[Any]:
    parts: list[Any] = [{} for _ in range(count)]
    for key in value.keys() - rule.keys:
        for part, piece in zip(parts, cut(value[key], rule.of(key), count, data), strict=True):
            if piece is not MISSING:
                part[key] = piece
    return [part | {key: value[key] for key in rule.keys if key in value} if part else MISSING for part in parts]
