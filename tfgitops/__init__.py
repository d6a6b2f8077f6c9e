"""The public face of tfgitops: what a plugin imports, and the compiler as a function.

Each name is fetched from its home when it is first asked for: the command line must come to its own first line before
the compiler is imported (`tfgitops.program`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfgitops.diagnostics import Note, Problem, Route, Words, did_you_mean
    from tfgitops.hookspecs import API_VERSION, Accelerator, Object, Patch, SchemaFragment, hookimpl
    from tfgitops.kubernetes import duration, quantity
    from tfgitops.kubernetes.content import named_by_content
    from tfgitops.kubernetes.image import Image, parse_image
    from tfgitops.kubernetes.podimages import PodImage, pod_images
    from tfgitops.kubernetes.requirements import is_extended
    from tfgitops.kubernetes.resources import pod_requests
    from tfgitops.model import Environment, Job, Role
    from tfgitops.pipeline import Compiled, File, compile_environment
    from tfgitops.plugins.discovery import discover
    from tfgitops.plugins.door import Plugins, read_schema
    from tfgitops.version import __version__
    from tfgitops.view import View
    from tfgitops.volcano.gang import gang_pods

_HOMES = {
    "diagnostics": ("Note", "Problem", "Route", "Words", "did_you_mean"),
    "hookspecs": ("API_VERSION", "Accelerator", "Object", "Patch", "SchemaFragment", "hookimpl"),
    "kubernetes": ("duration", "quantity"),
    "kubernetes.content": ("named_by_content",),
    "kubernetes.image": ("Image", "parse_image"),
    "kubernetes.podimages": ("PodImage", "pod_images"),
    "kubernetes.requirements": ("is_extended",),
    "kubernetes.resources": ("pod_requests",),
    "model": ("Environment", "Job", "Role"),
    "pipeline": ("Compiled", "File", "compile_environment"),
    "plugins.discovery": ("discover",),
    "plugins.door": ("Plugins", "read_schema"),
    "version": ("__version__",),
    "view": ("View",),
    "volcano.gang": ("gang_pods",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Fetch a public name from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'tfgitops' has no attribute '{name}'")
    if _HOME[name] == "kubernetes":
        return import_module(f"tfgitops.kubernetes.{name}")
    value = getattr(import_module(f"tfgitops.{_HOME[name]}"), name)
    globals()[name] = value
    return value


__all__ = [
    "API_VERSION",
    "Accelerator",
    "Compiled",
    "Environment",
    "File",
    "Image",
    "Job",
    "Note",
    "Object",
    "Patch",
    "Plugins",
    "PodImage",
    "Problem",
    "Role",
    "Route",
    "SchemaFragment",
    "View",
    "Words",
    "__version__",
    "compile_environment",
    "did_you_mean",
    "discover",
    "duration",
    "gang_pods",
    "hookimpl",
    "is_extended",
    "named_by_content",
    "parse_image",
    "pod_images",
    "pod_requests",
    "quantity",
    "read_schema",
]
