"""Keys that stand at the wrong depth: beside the block that they belong in, or without the name above them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.spec.diagnostics import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.targets.routes import Route


class Slip(NamedTuple):
    """A key at the wrong depth: its route, and the block that it belongs in, or nothing if that has no name yet."""

    at: Route
    block: str

    def problem(self, start: Route) -> Problem:
        """Word it, for a value that stands at ``start``."""
        key, above = str(self.at[-1]), ".".join(map(str, (*start, *self.at)[:-1]))
        if self.block:
            message, hint = f"'{key}' stands beside '{self.block}', not in it", f"indent it below '{self.block}'"
        else:
            message, hint = f"'{key}' has no name above it", f"put one between: `{above}: {{NAME: {{{key}: …}}}}`"
        return Problem(code="TF201", message=message, at=(*start, *self.at), hint=hint, on_key=True)


def slip(value: Any, schema: Any, path: Iterable[str | int]) -> Slip | None:
    """Return the first key on the way to an error that stands at the wrong depth, if there is one."""
    route: Route = ()
    for key in path:
        route = (*route, key)
        if type(value) is dict and type(schema) is dict and key in value:
            block = _block_of(str(key), value, schema)
            if block is not None:
                return Slip(route, block)
        schema = _below(schema, key)
        value = value[key] if _has(value, key) else None
    return None


def _has(value: Any, key: str | int) -> bool:
    return key in value if type(value) is dict else type(value) is list and isinstance(key, int) and key < len(value)


def _below(schema: Any, key: str | int) -> Any:
    if type(schema) is not dict:
        return None
    if isinstance(key, int):
        return schema.get("items")
    return schema.get("properties", {}).get(key) or schema.get("additionalProperties")


def _block_of(key: str, siblings: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Name the block beside a key that it belongs in: `""` for one that has no name, None if it is in its place."""
    known = schema.get("properties", {})
    if key in known:
        return None
    before = list(_before(key, siblings))
    named = schema.get("additionalProperties")
    if type(named) is dict:
        return _block_by_name(key, siblings, before, named.get("properties", {}))
    empty = (name for name in before if siblings[name] is None and _takes(known.get(name), key, siblings[key]))
    return next(empty, None)


def _before(key: str, siblings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys before one, the nearest first."""
    names = list(siblings)
    yield from reversed(names[: names.index(key)])


def _block_by_name(
    key: str, siblings: Mapping[str, Any], before: Iterable[str], inner: Mapping[str, Any]
) -> str | None:
    """Find the block among blocks with names, as jobs are, for a key that is one of such a block."""
    if key not in inner:
        return None
    for name in before:
        if name not in inner:
            fits = siblings[name] is None or (type(siblings[name]) is dict and type(siblings[key]) is not dict)
            return name if fits else None
    # a block may have the name of a key, but no block is a single value
    single = any(name in inner and type(value) not in (dict, type(None)) for name, value in siblings.items())
    return "" if single else None


def _takes(schema: Any, key: str, value: Any) -> bool:
    """Tell whether an empty block could hold a key."""
    if type(schema) is not dict or key in schema.get("properties", {}):
        return type(schema) is dict
    inner = schema.get("additionalProperties")
    if type(inner) is not dict:
        return False
    if "properties" in inner and type(value) is dict:
        return any(name in inner["properties"] for name in value)
    if "properties" in inner and "x-shorthand" not in inner:
        return False
    return type(value) not in (dict, list)
