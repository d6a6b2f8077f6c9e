"""What is said of a plugin at fault: which one, of what version and source, what it did, and where."""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.hookspecs import HOOKS
from tfgitops.plugins.plain import brief
from tfgitops.spec.diagnostics import Diagnostic, Problem
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from pluggy import PluginManager

    from tfgitops.plugins.door import Plugin
    from tfgitops.plugins.plain import AnswerError
    from tfgitops.targets.routes import Route

_ITS_FAULT = "this is a fault of the plugin, {}, not of the spec"
_CHANGES = re.compile(
    r"'(?:View|tuple)' object (?:(?:does not|doesn't) support item (?:assignment|deletion)|has no attribute "
    r"'(?:append|clear|extend|insert|pop|popitem|remove|reverse|setdefault|sort|update)')"
).match
_OURS = __file__.rsplit(os.sep, 2)[0] + os.sep
_PYTHONS = os.__file__.rpartition(os.sep)[0] + os.sep


class OutOfTimeError(BaseException):
    """Raised in a plugin that takes too long; no `Exception`, lest its ``except`` clauses take it for one of theirs."""


class MovedError(Exception):
    """A plugin went to another working directory, and left the compiler there."""


def failure(plugin: Plugin, hook: str, error: BaseException, at: Route, seconds: float) -> Problem:
    """Say that a hook raised, or was stopped after some seconds, or left the working directory."""
    hint, code = _ITS_FAULT.format(plugin.origin), "TF901"
    where = _where(error, file_of(plugin.hooks))
    what = f"failed in {hook}: {told(error)}{where}"
    if isinstance(error, OutOfTimeError):
        what = f"did not come to an end in {hook} within {seconds:g} s, and was stopped{where}"
        hint += "; it is not asked again in this run. TFGITOPS_HOOK_SECONDS gives it longer"
    elif isinstance(error, AttributeError | TypeError) and _CHANGES(str(error)):
        hint += "; hooks change nothing: make a copy"
    elif isinstance(error, MovedError):
        what, code = f"{error} in {hook}", "TF902"
    return Problem(code=code, at=at, message=f"plugin '{plugin.name}' {plugin.version} {what}", hint=hint)


def refusal(plugin: Plugin, what: str, error: AnswerError, at: Route) -> Problem:
    """Say that an answer is not what the hook promises."""
    said = ": ".join(filter(None, (f"plugin '{plugin.name}' {plugin.version} {what}", error.message)))
    return Problem(
        code="TF902", message=said, at=at, found=error.found, expected=error.expected,
        hint=_ITS_FAULT.format(plugin.origin),
    )  # fmt: skip


def misfit(manager: PluginManager, hooks: Any) -> tuple[str, str]:
    """Say which function of a plugin would never be called, or could not be, and what helps; else nothing."""
    for name in dir(hooks):
        options = manager.parse_hookimpl_opts(hooks, name)
        function = getattr(hooks, name) if options or name.startswith("tfgitops_") else None
        if not inspect.isroutine(function):
            continue
        hook = (options and options.get("specname")) or name
        if hook not in HOOKS:
            return f"has {hook}, which is no hook", did_you_mean(hook, HOOKS) or f"the hooks are {', '.join(HOOKS)}"
        if not options:
            return f"has {hook}, which is not marked as a hook", "put @hookimpl before it"
        known = getattr(manager.hook, hook).spec.argnames
        for one in inspect.signature(function).parameters.values():
            if one.name not in known and one.default is inspect.Parameter.empty:
                may = f"it may take: {', '.join(known)}" if known else "it takes none"
                hint = "; ".join(filter(None, (did_you_mean(one.name, known), may)))
                return f"cannot be used: {hook} has no argument '{one.name}'", hint
    return "", ""


def unusable(message: str, hint: str = "") -> Diagnostic:
    """Say what is wrong with a plugin whatever the spec says."""
    return Diagnostic(code="TF902", severity="error", message=message, hint=hint)


def keys_unknown(name: str) -> str:
    """Say what is done with the keys of a spec while a plugin's are unknown."""
    return f"until it can be used, keys that nobody knows are taken for its own; `--no-plugin {name}` leaves it out"


def told(error: BaseException) -> str:
    """Write an exception in short; of a syntax error what and where it is."""
    if isinstance(error, SyntaxError):
        place = f"{Path(str(error.filename)).name}:{error.lineno}"
        return f"{type(error).__name__}: {brief(error.msg, 200)} ({place})"
    return brief(error, 400)


def failed_import(error: BaseException, file: str, seconds: float) -> str:
    """Say why a plugin cannot be imported, and where it got to; ``file`` is its own, if it is known."""
    if isinstance(error, OutOfTimeError):
        return f"it did not come to an end within {seconds:g} s{_where(error, file)}"
    return told(error) + ("" if isinstance(error, SyntaxError) else _where(error, file))


def _where(error: BaseException, file: str) -> str:
    """Name the last line of the plugin's own that was run; else of what is neither ours nor Python's."""
    from traceback import walk_tb  # noqa: PLC0415 - it imports much

    lines = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    own = [(name, line) for name, line in lines if file and name.startswith(file.removesuffix("__init__.py"))]
    own = own or [(name, line) for name, line in lines if not _is_of_others(name)]
    return f" ({Path(own[-1][0]).name}:{own[-1][1]})" if own else ""


def file_of(hooks: Any) -> str:
    """Return the file that a plugin is written in, a package's first one, or nothing."""
    module = hooks if isinstance(hooks, ModuleType) else sys.modules.get(type(hooks).__module__)
    return getattr(module, "__file__", None) or ""


def _is_of_others(file: str) -> bool:
    return file.startswith((_OURS, "<frozen ")) or (file.startswith(_PYTHONS) and "site-packages" not in file)
