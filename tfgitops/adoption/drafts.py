"""A draft of a part of a spec: its keys, and for each the place in the source that it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from tfgitops.targets.routes import Route


_EMPTY = ("type",)
"""Fields whose empty text is their default."""


@dataclass(eq=False)
class Draft:
    """Keys of a job; ``origins`` lead from their routes to those of the Job that they are read from.

    With ``exact``, overlays keep what is empty.
    """

    data: dict[str, Any] = field(default_factory=dict)
    origins: dict[Route, Route] = field(default_factory=dict)
    exact: bool = False

    def get(self, route: Route) -> Any:
        """Return the value at a route, or `MISSING`."""
        return reach(self.data, route)

    def put(self, route: Route, value: Any, origin: Route | None = None) -> None:
        """Set the value at a route, with the maps above it."""
        holder: Any = self.data
        for key in route[:-1]:
            holder = holder.setdefault(key, {})
        holder[route[-1]] = value
        if origin is not None:
            self.origins.setdefault(route, origin)

    def overlay(self, at: Route, route: Route, value: Any, origin: Route) -> None:
        """Put a raw field of Kubernetes into an overlay of a job or role, at a route such as ("pod", "spec", KEY)."""
        if value not in ([], None) and (value != {} or self.exact):
            name = "Container" if route[0] == "container" else {"spec": "PodSpec"}.get(str(route[1]), "ObjectMeta")
            schema = schema_file("pod.schema.json")["$defs"][name]["properties"].get(route[-1], {})
            self.put((*at, *route), as_written(value, schema), origin)

    def drop(self, route: Route) -> Any:
        """Remove the value at a route, and the maps above it that are then empty; return the value."""
        if reach(self.data, route) is MISSING:
            return MISSING
        holders: list[Any] = [self.data]
        for key in route[:-1]:
            holders.append(holders[-1][key])
        value = holders[-1].pop(route[-1])
        for holder, key in zip(reversed(holders[:-1]), reversed(route[:-1]), strict=True):
            if holder[key] != {} or len(route) == 1:
                break
            if key in ("pod", "container", "spec", "metadata", "env", "ports", "nodeSelector"):
                del holder[key]
        return value

    def move(self, old: Route, new: Route) -> None:
        """Move a value, with the places that it and its parts stand for; a value that is there stays."""
        value = self.drop(old)
        for route, origin in [*self.origins.items()]:
            if route[: len(old)] == old:
                self.origins.setdefault((*new, *route[len(old) :]), origin)
        if self.get(new) is MISSING:
            self.put(new, value)

    def origin(self, route: Route) -> Route | None:
        """Return the place that a route, or its nearest parent with one, stands for."""
        for length in range(len(route), -1, -1):
            if route[:length] in self.origins:
                return self.origins[route[:length]]
        return None


def as_written(value: Any, schema: Any) -> Any:
    """Return a part of a pod as a spec writes it: modes of files in octal."""
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    if name == "FileMode" and type(value) is int:
        return f"0{value:o}"
    schema = schema_file("pod.schema.json")["$defs"][name] if name else schema
    if isinstance(value, dict):
        value = {key: inner for key, inner in value.items() if inner != "" or key not in _EMPTY}
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        return {key: as_written(inner, properties.get(key, others) or {}) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_written(item, schema.get("items") or {}) for item in value]
    return value
