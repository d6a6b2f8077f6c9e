"""Compares how three readers read the YAML that tfgitops writes: YAML 1.1, YAML 1.2 and Go's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml
from ruamel.yaml import YAML

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle import Judge


def differences(text: str, judge: Judge) -> Iterator[str]:
    """Yield a line for each reader that differs from Go's, which feeds clusters."""
    expected = _attempt(judge.read, text)
    readers: dict[str, Callable[[str], Any]] = {"PyYAML": _yaml_1_1, "ruamel.yaml": YAML(typ="safe", pure=True).load}
    for name, read in readers.items():
        found = _attempt(read, text)
        if found != expected:
            yield f"{name} reads " + apart(found, expected, "where Go's reads")


def _yaml_1_1(text: str) -> Any:
    return yaml.load(text, yaml.CSafeLoader)


def _attempt(read: Callable[[str], Any], text: str) -> str:
    """Return a reader's value in one form, or its failure."""
    try:
        return json.dumps(read(text), sort_keys=True, default=repr)
    except Exception as error:  # noqa: BLE001 - an exception is the reader's answer
        return f"{type(error).__name__}: {error}"


def apart(left: str, right: str, between: str) -> str:
    """Quote two texts from shortly before their first difference, with some words between them."""
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    start = max(same - 40, 0)
    return f"…{left[start : same + 40]}… {between} …{right[start : same + 40]}…"
