"""Check a plugin's keys: each patch names the key that asked for it, and each key has a description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.plugins.door import Plugins
from tfgitops.provenance.replanned import JobPatches
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.routes import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugin
    from tfgitops.plugins.hookspecs import SchemaFragment
    from tfgitops.spec.model import Job, Patch
    from tfgitops.targets.routes import Route

_MAPS = ("properties", "patternProperties")


def misattributed(compiled: Compiled, plugin: Plugin, plugins: Plugins) -> Iterator[str]:
    """Yield a sentence for each patch that disappears with one key of the plugin and names another."""
    environment = compiled.environment
    if not compiled.ok or environment is None or not hasattr(plugin.hooks, "tfgitops_contribute"):
        return
    own = {(one.site, one.key) for one in plugins.fragments if f"plugin '{plugin.name}'" in one.owner}
    for job in environment.jobs:
        if not job.pin:
            patches = JobPatches(job, Plugins((plugin,)))
            keys = [route for route in _routes(job, own) if patches.written(route) is not MISSING]
            for _, patch in patches.all:
                yield from _misattributed(patches, plugin.name, patch, keys)


def _routes(job: Job, own: set[tuple[str, str]]) -> Iterator[Route]:
    """Yield where a job may have keys of a plugin: its own, those of its roles, and those at the top."""
    for site, key in sorted(own):
        if site == "environment":
            yield (key,)
        elif site in ("job", "role"):
            yield from ((*route, key) for route in (job.route, *(role.route for role in job.roles)))


def _misattributed(patches: JobPatches, plugin: str, patch: Patch, keys: list[Route]) -> Iterator[str]:
    because = patches.said(patch.because)
    if patches.written(because) is MISSING:
        return  # the check of each answer reports it
    asking = [route for route in keys if patches.without(plugin, patch, route) is False]
    if not asking or any(because[: len(route)] == route for route in asking):
        return
    if patches.is_unasked(because) or patches.without(plugin, patch, because):
        key, said = ".".join(map(str, asking[0])), ".".join(map(str, because))
        yield f"tfgitops_contribute yields a patch of {patch.target!r} because of `{said}`, but it is there for `{key}`"


def undescribed(fragment: SchemaFragment) -> Iterator[str]:
    """Yield a sentence for each property without a description, and for each map that takes any key."""
    if not _has_description(fragment.schema):
        yield f"the key '{fragment.key}' has no description"
    yield from _undescribed(fragment.schema, fragment.key)


def _undescribed(schema: Any, name: str) -> Iterator[str]:
    if isinstance(schema, list):
        for inner in schema:
            yield from _undescribed(inner, name)
    if not isinstance(schema, dict):
        return
    if "properties" in schema and "additionalProperties" not in schema:
        yield f"'{name}' takes any key: a typing mistake in it would pass; say `additionalProperties: false`"
    for keyword, value in schema.items():
        if keyword not in _MAPS:
            yield from _undescribed(value, name)
            continue
        for key, inner in value.items():
            if not _has_description(inner):
                yield f"the property '{name}.{key}' has no description"
            yield from _undescribed(inner, f"{name}.{key}")


def _has_description(schema: Any) -> bool:
    """Tell whether a schema, or the definition that it refers to, has a description."""
    if not isinstance(schema, dict):
        return True
    document, marker, name = str(schema.get("$ref", "")).partition("#/$defs/")
    target = schema_file(document or "core.schema.json")["$defs"].get(name, {}) if marker else {}
    return bool(schema.get("description") or target.get("description") or document == "pod.schema.json")
