"""Reads the manifests that a commit has: by their text, or beside the manifests that follow them."""

from __future__ import annotations

from functools import lru_cache
from operator import is_not
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.emit import emit
from tfgitops.review.changes import has_defaults
from tfgitops.spec.yamltext import TextError, parse
from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import ordered
from tfgitops.targets.volcano.defaults import stored
from tfgitops.targets.volcano.lookalikes import frame, is_clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = dict[str, Any]


def manifest_in(text: str, later: Json | None = None) -> Json | None:
    """Return the manifest that a file holds, None if it cannot be compared: a cluster must accept a Job or a Queue.

    ``later`` is the manifest that follows it: if few texts differ, as after a new image, it need not be parsed.
    """
    try:
        value = _guessed(text, later) or parse(text)
    except TextError:
        return None
    return value if _is_readable(value) else None


def _guessed(text: str, later: Json | None) -> Json | None:
    """Return the later manifest with the scalars of the earlier text where lines differ, if that has the same text.

    A wrong guess has another text. To write a guess takes less than a fifth of the time that parsing takes.
    """
    first, second, body = [*text.split("\n", 2), "", ""][:3]
    if later is None or not all(line[:1] == "#" and line.isprintable() for line in (first, second)):
        return None
    lines, others = body.split("\n"), emit(later).split("\n")
    if len(lines) != len(others):
        return None
    differing = dict.fromkeys(pair for pair in zip(lines, others, strict=True) if pair[0] != pair[1])
    swaps = {_scalar(other): _scalar(line)[1] for line, other in differing}
    guess = _swapped(later, "", swaps)
    return guess if emit(guess) == body else None


@lru_cache(maxsize=64)  # of long texts, too
def _scalar(line: str) -> tuple[str, Any]:
    """Return the key and the scalar of a line, "" as the key of an element; what is none stays a line."""
    try:
        value = parse(line.strip())
    except TextError:
        return "", line
    while type(value) is list and len(value) == 1:
        value = value[0]
    key = ""
    if type(value) is dict and len(value) == 1:
        [(key, value)] = value.items()
    return (key, value) if not isinstance(value, dict | list) else ("", line)


def _swapped(value: Any, key: str, swaps: Mapping[tuple[str, Any], Any]) -> Any:
    """Return a part of a manifest with other scalars, in the order of its text; a part without any as it is."""
    if type(value) is dict:
        new = {name: _swapped(value[name], name, swaps) for name in ordered(tuple(value))}
        return new if any(new[name] is not value[name] for name in new) else value
    if type(value) is list:
        items = [_swapped(item, "", swaps) for item in value]
        return items if any(map(is_not, items, value)) else value
    return swaps.get((key, value), value)


def _is_readable(value: Any) -> bool:
    if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("apiVersion", "kind")):
        return False
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return False
    if metadata.get("namespace") is not None and not isinstance(metadata["namespace"], str):
        return False
    if not all(isinstance(metadata.get(key, {}), dict) for key in ("labels", "annotations")):
        return False
    if not isinstance(value.get("spec", {}), dict):
        return False
    return not has_defaults(value) or ("spec" in value and _is_storable(value))


def _is_storable(manifest: Json) -> bool:
    """Tell whether a server would store a Job or a Queue; of Jobs that are alike, one is judged."""
    tasks = manifest["spec"].get("tasks")
    are_tasks = type(tasks) is list and all(type(one) is dict and type(one.get("template")) is dict for one in tasks)
    clean = are_tasks and all(map(is_clean, tasks))
    return _is_storable_frame(frame(manifest)) if clean else not stored(manifest).notes.faults


@by_content(1 << 12)
def _is_storable_frame(manifest: Json) -> bool:
    return not stored(manifest, tasks=False).notes.faults
