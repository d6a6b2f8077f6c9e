"""Specs that are made of another spec, and cuts in texts that must hold what is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

GONE = object()
"""The value of a key that is left out."""


class _WithoutAliases(yaml.SafeDumper):
    """Writes a value twice where it stands twice."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - it holds for any value
        return True


def spec_with(spec: str, changes: Mapping[str, Any]) -> str:
    """Return a spec in block style with other values at routes, such as `jobs.train.worker`."""
    data = yaml.safe_load(spec)
    for route, value in changes.items():
        *above, last = route.split(".")
        block = data
        for key in above:
            block = block.setdefault(key, {})
        if value is GONE:
            del block[last]
        else:
            block[last] = value
    return yaml.dump(data, Dumper=_WithoutAliases, sort_keys=False, allow_unicode=True, width=1000)


def cut(text: str, old: str, new: str, count: int = -1) -> str:
    """Put other text for what must be there."""
    assert old in text, f"{old!r} is not in the text"
    return text.replace(old, new, count)
