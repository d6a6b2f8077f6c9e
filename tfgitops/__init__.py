"""The public face of tfgitops: what a plugin imports, and the compiler as a function.

Each name is fetched from its home when it is first asked for: the command line must come to its own first line before
the compiler is imported (`tfgitops.__main__`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfgitops.compiler.compiled import Compiled, File
    from tfgitops.compiler.pipeline import compile_environment
    from tfgitops.planning.gang import gang_pods
    from tfgitops.plugins.contentname import named_by_content
    from tfgitops.plugins.discovery import discover
    from tfgitops.plugins.door import Plugins, read_schema
    from tfgitops.plugins.hookspecs import API_VERSION, Accelerator, Object, SchemaFragment, hookimpl
    from tfgitops.spec.diagnostics import Note, Problem, Words
    from tfgitops.spec.model import Environment, Job, Patch, Role, View
    from tfgitops.targets.kubernetes import duration, quantity
    from tfgitops.targets.kubernetes.image import Image, parse_image
    from tfgitops.targets.kubernetes.podimages import PodImage, pod_images
    from tfgitops.targets.kubernetes.requirements import is_extended
    from tfgitops.targets.kubernetes.resources import pod_requests
    from tfgitops.targets.nearest import did_you_mean
    from tfgitops.targets.routes import Route

__version__ = "0.1.0"

_HOMES = {
    "compiler.compiled": ("Compiled", "File"),
    "compiler.pipeline": ("compile_environment",),
    "planning.gang": ("gang_pods",),
    "plugins.contentname": ("named_by_content",),
    "plugins.discovery": ("discover",),
    "plugins.door": ("Plugins", "read_schema"),
    "plugins.hookspecs": ("API_VERSION", "Accelerator", "Object", "SchemaFragment", "hookimpl"),
    "spec.diagnostics": ("Note", "Problem", "Words"),
    "spec.model": ("Environment", "Job", "Patch", "Role", "View"),
    "targets.kubernetes": ("duration", "quantity"),
    "targets.kubernetes.image": ("Image", "parse_image"),
    "targets.kubernetes.podimages": ("PodImage", "pod_images"),
    "targets.kubernetes.requirements": ("is_extended",),
    "targets.kubernetes.resources": ("pod_requests",),
    "targets.nearest": ("did_you_mean",),
    "targets.routes": ("Route",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Fetch a public name from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'tfgitops' has no attribute '{name}'")
    if _HOME[name] == "targets.kubernetes":
        return import_module(f"tfgitops.targets.kubernetes.{name}")
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
