"""The outline of a pod template: all of it, but for texts of which no rule asks more than that they are there.

The templates of a thousand jobs differ in labels, images, commands and variables, and have a few dozen outlines.
"""

from __future__ import annotations

from typing import Any

from tfgitops.kubernetes.names import is_label_value

_TEXT = "x"  # stands for any text


def outline(template: dict[str, Any]) -> dict[str, Any]:
    """Give the outline of a template of any shape: Kubernetes takes all templates with one outline, or none."""
    seen = dict(template)
    if type(metadata := seen.get("metadata")) is dict and type(labels := metadata.get("labels")) is dict:
        seen["metadata"] = {**metadata, "labels": {key: _label(value) for key, value in labels.items()}}
    if type(spec := seen.get("spec")) is dict:
        seen["spec"] = spec = dict(spec)
        for key in ("containers", "initContainers"):
            if type(containers := spec.get(key)) is list:
                spec[key] = [*map(_container, containers)]
    return seen


def _label(value: Any) -> Any:
    return _TEXT if type(value) is str and is_label_value(value) else value


def _container(container: Any) -> Any:
    if type(container) is not dict:
        return container
    seen = dict(container)
    if (image := seen.get("image")) and type(image) is str:
        seen["image"] = _TEXT
    for key in ("command", "args"):
        if type(words := seen.get(key)) is list and {*map(type, words)} == {str}:
            seen[key] = [_TEXT]
    if type(env := seen.get("env")) is list:
        seen["env"] = [*map(_variable, env)]
    return seen


def _variable(variable: Any) -> Any:
    if type(variable) is dict and (value := variable.get("value")) and type(value) is str:
        return {**variable, "value": _TEXT}
    return variable
