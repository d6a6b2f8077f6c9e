"""Judge the shape of a spec by its JSON Schema, and say what is wrong in the spec's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.schema.keywords import errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.diagnostics import Problem, Route


def validate(value: Any, schema: Mapping[str, Any], at: Route = (), *, part: bool) -> Iterator[Problem]:
    """Yield a problem for each place where a value has not the shape that a schema gives it.

    Args:
        value: a file's value, or a merged spec.
        schema: a schema without references, from `tfgitops.schema.spec.join`.
        at: the route of the value in the merged spec.
        part: whether this is one file, in which nothing is required, ``null`` removes, and short forms are allowed.
    """
    if found := [*errors(value, schema, part=part)]:
        from tfgitops.schema.wording import problems  # noqa: PLC0415 - most specs are right

        yield from problems(found, value, schema, at)
