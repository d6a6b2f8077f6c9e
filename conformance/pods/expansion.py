"""Expands `$(NAME)` as the kubelet does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DOLLAR = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with each `$(NAME)` replaced by its value.

    `$$` becomes one dollar, so `$$(NAME)` is a literal. An unknown name stays as it is.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        return "$" if name is None else variables.get(name, found[0])

    return _DOLLAR.sub(value, text)
