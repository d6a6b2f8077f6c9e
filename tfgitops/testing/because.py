"""Whether each patch says which key asked for it: taken away, that key takes the patch with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.plugins.door import Plugins
from tfgitops.provenance.jobpatches import JobPatches
from tfgitops.targets.routes import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugin
    from tfgitops.spec.model import Job, Patch
    from tfgitops.targets.routes import Route


def unnamed(compiled: Compiled, plugin: Plugin, plugins: Plugins) -> Iterator[str]:
    """Yield a sentence for each patch that is there because of a key of its plugin's own, and says another."""
    environment = compiled.environment
    if not compiled.ok or environment is None or not hasattr(plugin.hooks, "tfgitops_contribute"):
        return
    own = {(one.site, one.key) for one in plugins.fragments if f"plugin '{plugin.name}'" in one.owner}
    alone = Plugins((plugin,))
    for job in environment.jobs:
        if not job.pin:
            patches = JobPatches(job, alone)
            keys = [route for route in _routes(job, own) if patches.written(route) is not MISSING]
            for _, patch in patches.all:
                yield from _unnamed(patches, plugin.name, patch, keys)


def _routes(job: Job, own: set[tuple[str, str]]) -> Iterator[Route]:
    """Yield where a job may have keys of a plugin: its own, those of its roles, and those at the top."""
    for site, key in sorted(own):
        if site == "environment":
            yield (key,)
        elif site in ("job", "role"):
            yield (*job.route, key)
            yield from ((*role.route, key) for role in job.roles)


def _unnamed(patches: JobPatches, plugin: str, patch: Patch, keys: list[Route]) -> Iterator[str]:
    because = patches.said(patch.because)
    if patches.written(because) is MISSING:
        return  # that is told already
    asking = [route for route in keys if patches.without(plugin, patch, route) is False]
    if not asking or any(because[: len(route)] == route for route in asking):
        return
    if patches.is_unasked(because) or patches.without(plugin, patch, because):
        key, said = ".".join(map(str, asking[0])), ".".join(map(str, because))
        yield f"tfgitops_contribute yields a patch of {patch.target!r} because of `{said}`, but it is there for `{key}`"
