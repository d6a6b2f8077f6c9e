"""The public face of tfgitops: what a plugin imports, and the compiler as a function."""

from tfgitops.diagnostics import Note, Problem, Route, did_you_mean
from tfgitops.hookspecs import API_VERSION, Accelerator, Object, Patch, SchemaFragment, hookimpl
from tfgitops.kubernetes import quantity
from tfgitops.kubernetes.resources import pod_requests
from tfgitops.model import Environment, Job, Role
from tfgitops.pipeline import Compiled, File, compile_environment
from tfgitops.plugins import Plugins, discover, read_schema
from tfgitops.version import __version__
from tfgitops.view import View

__all__ = [
    "API_VERSION",
    "Accelerator",
    "Compiled",
    "Environment",
    "File",
    "Job",
    "Note",
    "Object",
    "Patch",
    "Plugins",
    "Problem",
    "Role",
    "Route",
    "SchemaFragment",
    "View",
    "__version__",
    "compile_environment",
    "did_you_mean",
    "discover",
    "hookimpl",
    "pod_requests",
    "quantity",
    "read_schema",
]
