"""Give the keys of a spec their present names: a key that was renamed is accepted under its former name.

The schema of a key lists its former names as `x-formerly`. `tfgitops migrate` rewrites them in the files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.spec.document import Document
    from tfgitops.spec.schema.specschema import SpecSchema, Widener
    from tfgitops.targets.routes import Route


def with_present_keys(documents: Iterable[Document], schema: SpecSchema) -> tuple[Document, ...]:
    """Return the files of a spec with the present names of their keys.

    A key that stands beside its former name keeps the former one, which is then an unknown key.
    """
    return tuple(_presented(one, schema.job_former if one.prefix else schema.former) for one in documents)


def former_names(documents: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield a warning for each key that a file has under a former name."""
    for document in documents:
        for route, name in document.former.items():
            message = f"'{name}' is the former name of '{route[-1]}'"
            span = document.span(route, on_key=True)
            yield Diagnostic(
                code="TF206", severity="warning", message=message, span=span, at=route,
                hint=f"`tfgitops migrate` writes '{route[-1]}' instead",
            )  # fmt: skip


def _presented(document: Document, plan: Widener) -> Document:
    found = dict(document.former)
    value = _renamed(document.value, plan, document.prefix, found)
    return replace(document, value=value, former=found) if value is not document.value else document


def _renamed(value: Any, plan: Widener | None, at: Route, found: dict[Route, str]) -> Any:
    """Return a value with present names, the same one if it has no others, and note each by its route."""
    if plan is None:
        return value
    if type(value) is list and plan.items:
        items = [_renamed(item, plan.items, (*at, index), found) for index, item in enumerate(value)]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if type(value) is not dict:
        return value
    present = {name: key for key, inner in plan.properties.items() for name in inner.shorthand}
    renamed = {}
    for name, inner in value.items():
        key = present.get(name)
        if key is None or key in value:
            key = name
        else:
            found[*at, key] = name
        renamed[key] = _renamed(inner, plan.properties.get(key, plan.others), (*at, key), found)
    changed = renamed.keys() != value.keys() or any(renamed[key] is not value[key] for key in renamed)
    return renamed if changed else value
