"""Judge the shape of a spec by its JSON Schema, and say what is wrong in the spec's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.places import Places
from tfgitops.spec.schema.keywords import errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.spec.diagnostics import Diagnostic, Problem
    from tfgitops.spec.document import Document
    from tfgitops.spec.schema.specschema import SpecSchema
    from tfgitops.targets.routes import Route


def validate_file(document: Document, schema: SpecSchema) -> Iterator[Problem]:
    """Yield what is wrong with one file of a spec by itself, also where a stronger one overrides it."""
    shape = schema.job if document.prefix else schema.environment
    return validate(document.value, shape, document.prefix, part=True)


def validate(value: Any, schema: Mapping[str, Any], at: Route = (), *, part: bool) -> Iterator[Problem]:
    """Yield a problem for each place where a value has not the shape that a schema gives it.

    Args:
        value: a file's value, or a merged spec.
        schema: a schema without references, from `tfgitops.spec.schema.specschema.join`.
        at: the route of the value in the merged spec.
        part: whether this is one file, in which nothing is required, ``null`` removes, and short forms are allowed.
    """
    if found := [*errors(value, schema, part=part)]:
        from tfgitops.spec.schema.wording import problems  # noqa: PLC0415 - most specs are right

        yield from problems(found, value, schema, at)


def validate_parts(documents: Iterable[Document], schema: SpecSchema) -> Iterator[Diagnostic]:
    """Judge each file by itself: what is wrong in one is shown there, also where a stronger one overrides it."""
    for document in documents:
        yield from Places(documents=(document,)).diagnose(validate_file(document, schema))
