"""What an unknown key was meant to be: a word from elsewhere, a field of Kubernetes, or a key with a typing mistake.

Exact names come before what is only spelled like one: `dnsPolicy` is no mistake for `restartPolicy`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.nearest import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SURE = 0.8
"""How near two words are of which one is a typing mistake for the other."""

_PERHAPS = 0.68
"""How near they are where nothing better can be said."""

_OF_CONTAINERS = "a field of Kubernetes's containers: `container: {{{}}}`"
_OF_PODS = "a field of Kubernetes's pods: `pod: {{spec: {{{}}}}}`"
_ROLES = "the roles are chief, ps, worker and evaluator; any other task goes under `tasks`"


def answer(key: str, value: Any, schema: Mapping[str, Any]) -> str:
    """Say what to do about a key that a schema of a map does not know."""
    if key.startswith("//"):
        return "comments start with '#'"
    known: Mapping[str, Any] = schema.get("properties", {})
    return (
        did_you_mean(key, list(known), cutoff=1)
        or _exactly(key, value, known, schema)
        or _inside(key, value, known)
        or _nearly(key, known, schema, _SURE)
        or str(schema.get("x-left-out", ""))
        or (_ROLES if _is_role(value, known) else "")
        or _at_last(key, value, known, schema.get("x-shorthand"))
    )


def _exactly(key: str, value: Any, known: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Answer a key that has the name of something else."""
    if said := brought(key, schema):
        return said
    if belongs := schema.get("x-elsewhere", {}).get(key):  # unless it is nearly one of those here
        fitting = [name for name, shape in known.items() if _fits(value, shape)]
        return did_you_mean(key, fitting, cutoff=_SURE) or str(belongs)
    return next((place for name, place in _fields(known) if name == key), "") or _other_overlay(key, known)


def _fits(value: Any, schema: Any) -> bool:
    """Tell whether a value is a map where one is wanted, and none where none is."""
    wants_map = type(schema) is dict and schema.get("type") == "object"
    return wants_map == (type(value) is dict) or (wants_map and "x-shorthand" in schema)


def _other_overlay(key: str, known: Mapping[str, Any]) -> str:
    """Answer a field of a container in an overlay of a pod, and the other way round."""
    of_containers = _keys(known.get("containers", {}).get("items")) if "initContainers" in known else ()
    if key in of_containers:
        return _OF_CONTAINERS.format(f"{key}: …")
    of_pods = _keys(schema_file("pod.schema.json")["$defs"]["PodSpec"]) if "imagePullPolicy" in known else ()
    return _OF_PODS.format(f"{key}: …") if key in of_pods else ""


def _nearly(key: str, known: Mapping[str, Any], schema: Mapping[str, Any], cutoff: float) -> str:
    """Answer a key with a typing mistake: for one of ours, for a word from elsewhere, for a field of Kubernetes."""
    if near := did_you_mean(key, list(known), cutoff=cutoff):
        return near
    hints = _hints(schema.get("x-hints", {}))
    if near := nearest(_plain(key), hints, cutoff=cutoff):
        return hints[near]
    fields = dict(reversed([*_fields(known)]))  # the first place of a name counts
    return fields.get(nearest(key, fields, cutoff=cutoff), "")


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
    """Return the schemas of the keys of a map; a plugin's schema may be of any form."""
    keys: Mapping[str, Any] = schema.get("properties", {}) if type(schema) is dict else {}
    return keys


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


def _is_role(value: Any, known: Mapping[str, Any]) -> bool:
    """Tell whether a value in a job can be nothing but a role, since it has keys of one."""
    return _may_hold_roles(known) and type(value) is dict and any(key in _keys(known["worker"]) for key in value)


def _may_hold_roles(known: Mapping[str, Any]) -> bool:
    return "chief" in known and "worker" in known


def _at_last(key: str, value: Any, known: Mapping[str, Any], shorthand: list[str] | None) -> str:
    """Guess, or say what there is, for a key of which nothing is known; a number may be that of a role's replicas."""
    if not known:
        return "no keys are known here"
    if type(value) is int and _may_hold_roles(known):
        numbers = sorted(
            name for name, inner in known.items() if type(inner) is dict and "integer" in inner.get("type", ())
        )
        return f"{_ROLES}; further keys that take a number are {', '.join(numbers)}"
    if near := did_you_mean(key, list(known), cutoff=_PERHAPS):
        return near
    listed = f"known here: {', '.join(sorted(known))}"
    return f"{listed}; if it is the name, write `name: {key}`" if shorthand == ["name"] else listed
