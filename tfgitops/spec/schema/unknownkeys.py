"""What an unknown key was meant to be, and which keys stand at the wrong depth.

Exact names come before what is only spelled like one: `dnsPolicy` is no mistake for `restartPolicy`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Problem
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.nearest import SURE, did_you_mean, nearest
from tfgitops.targets.routes import MISSING, reach
from tfgitops.targets.tensorflow import ROLE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.targets.routes import Route

_PERHAPS = 0.68
"""How near two words are where nothing better can be said; see `SURE`."""

_OF_CONTAINERS = "a field of Kubernetes's containers: `container: {{{}}}`"
_OF_PODS = "a field of Kubernetes's pods: `pod: {{spec: {{{}}}}}`"
_ROLES = "the roles are chief, ps, worker and evaluator; any other task goes under `tasks`"


def answer(key: str, value: Any, schema: Mapping[str, Any]) -> str:
    """Say what to do about a key that a schema of a map does not know."""
    if key.startswith("//"):
        return "comments start with '#'"
    known = _keys(schema)
    found = (
        did_you_mean(key, list(known), cutoff=1)
        or _exactly(key, value, known, schema)
        or _inside(key, value, known)
        or _nearly(key, known, schema)
        or str(schema.get("x-left-out", ""))
        or _at_last(key, value, known, schema.get("x-shorthand"))
    )
    return found.replace("VALUE", str(value) if type(value) is int else "N")


def _exactly(key: str, value: Any, known: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if said := brought(key, schema):
        return said
    if belongs := schema.get("x-elsewhere", {}).get(key):  # unless it is nearly one of those here
        fitting = [name for name, shape in known.items() if _fits(value, shape)]
        return did_you_mean(key, fitting, cutoff=SURE) or str(belongs)
    exact = next((place for name, place in _fields(known) if name == key), "")
    return exact or _other_overlay(key, known) or _of_role(key, known)


def _of_role(key: str, known: Mapping[str, Any]) -> str:
    """Answer a key that names a role and a key of it: ``psImage``, ``worker_replicas``."""
    for role in ROLE_NAMES:
        rest = _plain(key).removeprefix(role)
        if name := next((name for name in _keys(known.get(role)) if _plain(name) == rest != _plain(key)), ""):
            return f"write `{role}: {{{name}: {'VALUE' if name == 'replicas' else '…'}}}`"
    return ""


def _near(key: str, words: Iterable[str], cutoff: float) -> str:
    """Return the nearest word; one with letters before or without its first ones is another: account is no count."""
    near = nearest(key, words := list(words), cutoff=cutoff)
    one, other = key.lower(), near.lower()
    apart = one != other and (one.endswith(other) or other.endswith(one))
    return "" if apart or (cutoff < SURE and one[:1] != other[:1]) else near


def _fits(value: Any, schema: Any) -> bool:
    """Tell whether a value is a map where one is wanted, and none where none is."""
    wants_map = type(schema) is dict and schema.get("type") == "object"
    return wants_map == (type(value) is dict) or (wants_map and "x-shorthand" in schema)


def _other_overlay(key: str, known: Mapping[str, Any]) -> str:
    if "initContainers" in known and key in _keys(known.get("containers", {}).get("items")):
        return _OF_CONTAINERS.format(f"{key}: …")
    if "imagePullPolicy" in known and key in _keys(schema_file("pod.schema.json")["$defs"]["PodSpec"]):
        return _OF_PODS.format(f"{key}: …")
    return ""


def _nearly(key: str, known: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Answer a key with a typing mistake: for one of ours, for a word from elsewhere, for a field of Kubernetes."""
    if near := _near(key, known, SURE):
        return f"did you mean '{near}'?"
    hints = _hints(schema.get("x-hints", {}))
    if near := _near(_plain(key), hints, SURE):
        return hints[near]
    fields = dict(reversed([*_fields(known)]))  # the first place of a name counts
    return fields.get(_near(key, fields, SURE), "")


def brought(word: str, schema: Mapping[str, Any]) -> str:
    """Return a schema's answer to a key, or to a value, that people bring from elsewhere."""
    hints = schema.get("x-hints")
    return _hints(hints).get(_plain(word), "") if hints else ""


def _hints(entries: Mapping[str, str]) -> dict[str, str]:
    """Return the answer to each word; one entry may have several words, with blanks between them."""
    return {_plain(word): hint for words, hint in entries.items() for word in words.split()}


def _plain(word: str) -> str:
    """Return a word as it is however it is spelled: ``maxRetries``, ``max_retries``, ``max-retries``."""
    return word.lower().replace("_", "").replace("-", "")


def _fields(known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields of Kubernetes's pods and containers, and those one level below, each with its place."""
    container, pod = _keys(known.get("container")), _keys(_keys(known.get("pod")).get("spec"))
    for place, fields in ((_OF_CONTAINERS, container), (_OF_PODS, pod)):
        yield from ((name, place.format(f"{name}: …")) for name in fields)
    for place, fields in ((_OF_PODS, pod), (_OF_CONTAINERS, container)):
        for outer, shape in fields.items():
            yield from ((name, place.format(f"{outer}: {{{name}: …}}")) for name in _keys(shape))


def _keys(schema: Any) -> Mapping[str, Any]:
    """Return the schemas of the keys that a user may write in a map; a plugin's schema may be of any form."""
    if type(schema) is not dict:
        return {}
    read = schema.get("x-file", ())  # the compiler writes these itself
    return {key: inner for key, inner in schema.get("properties", {}).items() if key not in read}


def _inside(key: str, value: Any, known: Mapping[str, Any]) -> str:
    """Answer a key, or a word for one, of what stands one level below: of a job, for one who writes it at the top."""
    if "jobs" in known and "defaults" in known:
        job = known["jobs"]["additionalProperties"]
        if key in _keys(known["defaults"]):
            return f"it belongs to a job; for all jobs, `defaults: {{{key}: …}}`"
        if key in _keys(job):
            return f"it belongs to a job: `jobs: {{NAME: {{{key}: …}}}}`"
        found = _exactly(key, value, _keys(job), {"x-hints": job["x-hints"]})
        return f"in a job: {found}" if found and not found.startswith("not in") else found
    below = next((name for name, inner in known.items() if key in _keys(inner)), "")
    return f"it belongs under `{below}`" if below else ""


def _at_last(key: str, value: Any, known: Mapping[str, Any], shorthand: list[str] | None) -> str:
    """Guess, or say what there is, for a key of which nothing is known; a number may be that of a role's replicas."""
    if not known:
        return "no keys are known here"
    if "chief" in known and "worker" in known:
        if type(value) is dict and any(name in _keys(known["worker"]) for name in value):
            return _ROLES  # it has keys of a role
        if type(value) is int:
            takers = (name for name, one in known.items() if type(one) is dict and "integer" in one.get("type", ()))
            return f"{_ROLES}; further keys that take a number are {', '.join(sorted(takers))}"
    if near := _near(key, [name for name, shape in known.items() if _fits(value, shape)], _PERHAPS):
        return f"did you mean '{near}'?"
    listed = f"known here: {', '.join(sorted(known))}"
    return f"{listed}; if it is the name, write `name: {key}`" if shorthand == ["name"] else listed


def misplaced(value: Any, schema: Any, path: Iterable[str | int], start: Route) -> Problem | None:
    """Return the problem of the first key at the wrong depth on the way to an error in a value at ``start``."""
    at = start
    for key in path:
        at = (*at, key)
        if type(value) is dict and type(schema) is dict and key in value:
            block = _block_of(str(key), value, schema)
            if block is not None:
                return _at_wrong_depth(at, block)
        schema = _below(schema, key)
        found = reach(value, (key,))
        value = None if found is MISSING else found
    return None


def _at_wrong_depth(at: Route, block: str) -> Problem:
    """Say that a key belongs in the block beside it, or that it needs a name above it where the block has none."""
    key, above = str(at[-1]), ".".join(map(str, at[:-1]))
    message, hint = f"'{key}' stands beside '{block}', not in it", f"indent it below '{block}'"
    if not block:
        message, hint = f"'{key}' has no name above it", f"put one between: `{above}: {{NAME: {{{key}: …}}}}`"
    return Problem(code="TF201", message=message, at=at, hint=hint, on_key=True)


def _below(schema: Any, key: str | int) -> Any:
    if isinstance(key, int):
        return schema.get("items") if type(schema) is dict else None
    return _keys(schema).get(key) or (schema.get("additionalProperties") if type(schema) is dict else None)


def _block_of(key: str, siblings: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Name the block beside a key that it belongs in: `""` for one that has no name, None if it is in its place."""
    known = _keys(schema)
    if key in known:
        return None
    names = list(siblings)
    before = names[: names.index(key)][::-1]  # the nearest first
    named = schema.get("additionalProperties")
    if type(named) is dict:
        return _block_by_name(key, siblings, before, _keys(named))
    empty = (name for name in before if siblings[name] is None and _takes(known.get(name), key, siblings[key]))
    return next(empty, None)


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
