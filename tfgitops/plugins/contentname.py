"""Objects that are named by what they hold, so that other content is another object."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.plain import plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIGITS = 8


def named_by_content(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest whose name ends with ``-`` and a digest of eight hexadecimal digits of all of it.

    A pod that refers to it by this name refers to this content: with other content the pod, and so its Job, is another
    one, while those that run, or are pinned, keep what they have.

    Raises:
        AnswerError: it holds what no manifest can hold.
    """
    named = plain_map(manifest, "manifest")
    text = json.dumps(named, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    named["metadata"]["name"] += f"-{sha256(text.encode()).hexdigest()[:_DIGITS]}"
    return named
