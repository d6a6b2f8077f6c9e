"""The outline of a pod template: all of it, but for texts of which no rule asks more than that they are there.

The templates of a thousand jobs differ in labels, images, commands and variables, and have a few dozen outlines.
"""

from __future__ import annotations

from typing import Any

from tfgitops.targets.kubernetes.names import is_label_value

_TEXT = "x"  # stands for any text
_TEXTS = {str}


def outline(template: dict[str, Any]) -> dict[str, Any]:
    """Give the outline of a template of any shape: Kubernetes takes all templates with one outline, or none."""
    seen = dict(template)
    if type(metadata := seen.get("metadata")) is dict:
        seen["metadata"] = outline_metadata(metadata)
    if type(spec := seen.get("spec")) is dict:
        seen["spec"] = spec = dict(spec)
        for key in ("containers", "initContainers"):
            if type(containers := spec.get(key)) is list:
                spec[key] = [_container(item) if type(item) is dict else item for item in containers]
    return seen


def outline_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Give the metadata of an object with one text for all labels that are legal."""
    if type(labels := metadata.get("labels")) is not dict:
        return metadata
    return {**metadata, "labels": {key: _label(value) for key, value in labels.items()}}


def _label(value: Any) -> Any:
    return _TEXT if type(value) is str and is_label_value(value) else value


def _container(container: dict[str, Any]) -> dict[str, Any]:
    seen = dict(container)
    if (image := seen.get("image")) and type(image) is str:
        seen["image"] = _TEXT
    for key in ("command", "args"):
        if type(words := seen.get(key)) is list and {*map(type, words)} == _TEXTS:
            seen[key] = [_TEXT]
    if type(env := seen.get("env")) is list:
        seen["env"] = [{**item, "value": _TEXT} if _has_text(item) else item for item in env]
    return seen


def _has_text(variable: Any) -> bool:
    return type(variable) is dict and type(value := variable.get("value")) is str and value != ""
