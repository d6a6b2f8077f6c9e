"""Tries each field of a pod with each value of the tables: one spec per value, odd in one place.

What is drawn at random seldom comes to what lies deep in a pod, and more seldom to the one value that a rule is about.
"""

from __future__ import annotations

import copy
from collections import deque
from random import Random
from typing import TYPE_CHECKING, Any

import tables
from fields import MENDERS, SCALARS, Draw, definition, map_pools, pod_value, pools, reference
from specs import complete, environment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
Step = tuple[str, str, str]  # a type, the key that it stands under, and a key of it

_ROOTS = {"Container": "container", "PodSpec": "spec", "ObjectMeta": "metadata"}
_ABSENT = object()


def swept() -> Iterator[Json]:
    """Yield specs for each value of each field of a pod: alone, with fitting fields, and with other fields."""
    cases = ((way, value) for way in _fields() for value in _values(way[-1]))
    for number, (way, value) in enumerate(cases):
        jobs = [_job(number, way, value, beside) for beside in ("nothing", "what fits", "others")]
        for job in [*jobs]:
            jobs.append(copy.deepcopy(job))
            complete(jobs[-1])
        yield from map(environment_of, (job for i, job in enumerate(jobs) if job not in jobs[:i]))


def _job(number: int, way: tuple[Step, ...], value: Any, beside: str) -> Json:
    fields = _around(Draw(Random(number)), way, value, beside)  # noqa: S311 - repeatable, not secret
    for ours in ("name", "containers"):
        if ours != way[0][2]:
            fields.pop(ours, None)
    root = _ROOTS[way[0][0]]
    place = {"container": fields} if root == "container" else {"pod": {root: fields}}
    return {"image": "tf:2.21", "worker": 2, **place}


def _fields() -> Iterator[tuple[Step, ...]]:
    """Yield the way to each field; a type is entered only once, because its rules are the same everywhere."""
    todo: deque[tuple[tuple[Step, ...], str, str]] = deque(((), name, root) for name, root in _ROOTS.items())
    seen: set[str] = set()
    while todo:
        way, name, holder = todo.popleft()
        for key, schema in sorted(definition(name)["properties"].items()):
            steps = (*way, (name, holder, key))
            yield steps
            inner = reference(schema)
            if inner and inner not in SCALARS and name not in seen and key not in _left(name):
                todo.append((steps, inner, key))
        seen.add(name)


def _left(name: str) -> set[str]:
    """Return the keys of a type that are rejected with any value."""
    types = definition(name)["properties"].keys() - {"name", *tables.ONE_OF["Volume"]} if name == "Volume" else ()
    return {*tables.REFUSED, *types}


def _values(step: Step) -> Iterator[Any]:
    """Yield each value for the last key of a way, and its absence."""
    name, holder, key = step
    yield from (_ABSENT, None)
    yield from _values_of(definition(name)["properties"][key], name, key, holder)


def _values_of(schema: Json, name: str, key: str, holder: str) -> Iterator[Any]:
    if "items" in schema:
        inner = list(_values_of(schema["items"], name, key, holder))
        yield from ([], *([value] for value in inner), [inner[0], inner[0]])
    elif "$ref" in schema and reference(schema) not in SCALARS:
        yield from (*_samples(reference(schema), key), {})
    elif isinstance(schema.get("additionalProperties"), dict):
        (keys, odd_keys), (values, odd_values) = map_pools(schema["additionalProperties"], name)
        yield from ({name: values[0]} for name in (*keys, *odd_keys))
        yield from ({keys[0]: value} for value in (*values, *odd_values))
    else:
        usual, odd = pools(schema, name, key, holder)
        yield from (*usual, *odd)


def _samples(name: str, key: str) -> tuple[Any, ...]:
    """Return sound values of a type: a bare one, one per exclusive source, and one with two sources."""
    draw, sources = Draw(Random(key)), tables.ONE_OF.get(name, ())  # noqa: S311
    ways = [_needed(name, source) for source in sources] or [_needed(name, "")]
    return tuple(pod_value(draw, name, key, list(keys)) for keys in (*ways, {**ways[0], **ways[-1]}) if keys)


def _needed(name: str, key: str) -> dict[str, None]:
    """Return the keys that a value of a type needs, and one more."""
    sources = tables.ONE_OF.get(name, ())
    needed = dict.fromkeys([*definition(name).get("x-required", ()), *tables.ALSO.get(name, ())])
    if sources:
        needed[key if key in sources else sources[0]] = None
    return needed | ({key: None} if key else {})


def _around(draw: Draw, way: tuple[Step, ...], value: Any, beside: str) -> Json:
    """Return a sound value of the first type of a way, with a given value at its end and fields beside it."""
    fields: Any = value
    for place, (name, holder, key) in reversed(list(enumerate(way))):
        last, properties = place == len(way) - 1, definition(name)["properties"]
        others = draw.some(properties.keys() - _left(name)) if last and beside == "others" else {}
        outer: Json = pod_value(draw, name, holder, list(_needed(name, key) | others))
        if fields is _ABSENT:
            outer.pop(key, None)
        else:
            outer[key] = [fields] if not last and "items" in properties[key] else fields
        if name in MENDERS and (beside == "what fits" or not last):
            MENDERS[name](outer)
        fields = outer
    assert isinstance(fields, dict)
    return fields
