"""Judge the shape of a spec by its JSON Schema; most specs fit, and only for the others is it asked what is wrong.

A file may lack what a merged spec must have, and ``null`` and short forms are allowed in it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from tfgitops.spec import bounds
from tfgitops.spec.diagnostics import unquoted
from tfgitops.spec.places import Places
from tfgitops.spec.schema.dialects import PART, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.spec.diagnostics import Diagnostic, Problem
    from tfgitops.spec.document import Document
    from tfgitops.spec.schema.specschema import SpecSchema
    from tfgitops.targets.routes import Route


_KINDS = ("apiVersion", "kind")  # wrong in a file that is for another program, as are unknown keys at the top


def validate_parts(documents: Iterable[Document], schema: SpecSchema) -> Iterator[Diagnostic]:
    """Judge each file by itself: what is wrong in one is shown there, also where a stronger one overrides it."""
    for document in documents:
        problems = list(validate_file(document, schema))
        other = [one for one in problems if len(one.at) == 1 and (one.code == "TF201" or one.at[0] in _KINDS)]
        found = Places(documents=(document,)).diagnose(problems if document.is_named else other or problems)
        yield from map(unquoted, found) if other and not document.is_named else found


def validate_file(document: Document, schema: SpecSchema) -> Iterator[Problem]:
    """Yield what is wrong with one file of a spec by itself."""
    shape = schema.job if document.prefix else schema.environment
    return validate(document.value, shape, document.prefix, part=True)


def validate(value: Any, schema: Mapping[str, Any], at: Route = (), *, part: bool) -> Iterator[Problem]:
    """Yield a problem for each place where a value, which stands at a route of the spec, has not its schema's shape.

    The schema has no references. ``part`` is whether the value is one file's: nothing is then required, ``null``
    removes, and short forms are allowed.
    """
    if not (PART if part else WHOLE).fits(value, schema):
        from tfgitops.spec.schema.shapeerrors import errors  # noqa: PLC0415 - most specs are right
        from tfgitops.spec.schema.wording import problems  # noqa: PLC0415

        yield from problems([*islice(errors(value, schema, part=part), bounds.SHAPE)], value, schema, at)
