"""The public face of tfgitops: what a plugin imports, and the compiler as a function.

Each name is fetched from its home when it is first asked for: the command line must come to its own first line before
the compiler is imported (`tfgitops.__main__`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tfgitops.compiler.compiled import Compiled, File
    from tfgitops.compiler.pipeline import compile_environment
    from tfgitops.planning.gang import gang_pods
    from tfgitops.plugins.discovery import discover
    from tfgitops.plugins.door import Plugins, read_schema
    from tfgitops.plugins.hookspecs import API_VERSION, Accelerator, Object, SchemaFragment, hookimpl
    from tfgitops.plugins.plain import named_by_content
    from tfgitops.plugins.servers import server_labels, server_objects
    from tfgitops.spec.diagnostics import Note, Problem, Words
    from tfgitops.spec.model import Environment, Job, Patch, Role, View
    from tfgitops.targets.kubernetes import duration, quantity
    from tfgitops.targets.kubernetes.image import Image, PodImage, parse_image, pod_images
    from tfgitops.targets.kubernetes.resources import (
        GPUS,
        claimed_devices,
        is_extended,
        near_device,
        pod_requests,
        unnamed_resources,
    )
    from tfgitops.targets.nearest import did_you_mean
    from tfgitops.targets.routes import Route
    from tfgitops.targets.secrets import Secret, secrets_of

__version__ = "0.1.0"

_HOMES = {
    "compiler.compiled": ("Compiled", "File"),
    "compiler.pipeline": ("compile_environment",),
    "planning.gang": ("gang_pods",),
    "plugins.discovery": ("discover",),
    "plugins.door": ("Plugins", "read_schema"),
    "plugins.hookspecs": ("API_VERSION", "Accelerator", "Object", "SchemaFragment", "hookimpl"),
    "plugins.plain": ("named_by_content",),
    "plugins.servers": ("server_labels", "server_objects"),
    "spec.diagnostics": ("Note", "Problem", "Words"),
    "spec.model": ("Environment", "Job", "Patch", "Role", "View"),
    "targets.kubernetes": ("duration", "quantity"),
    "targets.kubernetes.image": ("Image", "PodImage", "parse_image", "pod_images"),
    "targets.kubernetes.resources": (
        "GPUS", "claimed_devices", "is_extended", "near_device", "pod_requests", "unnamed_resources",
    ),
    "targets.nearest": ("did_you_mean",),
    "targets.routes": ("Route",),
    "targets.secrets": ("Secret", "secrets_of"),
}  # fmt: skip


def fetcher(module: dict[str, Any], homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, by its globals, which fetches public names from their homes in it."""
    package = module["__name__"]

    def fetch(name: str) -> Any:
        for home, names in homes.items():
            if name in names:
                module[name] = getattr(__import__(f"{package}.{home}", fromlist=(name,)), name)
                return module[name]
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return fetch


__getattr__ = fetcher(globals(), _HOMES)

__all__ = [
    "API_VERSION", "GPUS", "Accelerator", "Compiled", "Environment", "File", "Image", "Job", "Note", "Object", "Patch",
    "Plugins", "PodImage", "Problem", "Role", "Route", "SchemaFragment", "Secret", "View", "Words", "__version__",
    "claimed_devices", "compile_environment", "did_you_mean", "discover", "duration", "gang_pods", "hookimpl",
    "is_extended", "named_by_content", "near_device", "parse_image", "pod_images", "pod_requests", "quantity",
    "read_schema", "secrets_of", "server_labels", "server_objects", "unnamed_resources",
]  # fmt: skip
