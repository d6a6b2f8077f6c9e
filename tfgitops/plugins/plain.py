"""Answers of plugins in plain values, and what to say when a plugin fails instead."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.hookspecs import HOOKS
from tfgitops.spec.diagnostics import Diagnostic, Problem
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from pluggy import PluginManager

    from tfgitops.plugins.door import Plugin
    from tfgitops.targets.routes import Route


_JSON = "maps with keys of text, lists, text, whole numbers, true or false"
_DEEPEST = 64
_INTEGER_MIN, _INTEGER_MAX = -(1 << 63), (1 << 64) - 1
_ROUTE = "a route of the spec: a tuple of keys and indices, such as (*role.route, 'gpu')"
_ROUTE_KEYS = {str, int}


class AnswerError(Exception):
    """An answer that its hook does not allow: what is wrong with it, what was found, and what is expected."""

    def __init__(self, message: str, found: Any = "", expected: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.found = brief(found)
        self.expected = expected


def plain_map(value: Any, name: str, further: tuple[type, ...] = ()) -> dict[str, Any]:
    """Copy a map, and all that is in it, into plain values; ``further`` are scalars that it may hold too.

    Raises AnswerError if it is no map, or something in it is no JSON that a manifest can hold.
    """
    expect(isinstance(value, Mapping), name, value, "a map")
    plain: dict[str, Any] = _plain(value, (name,), further)
    return plain


def named_by_content(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest whose name ends with ``-`` and the first eight hexadecimal digits of a digest of all of it.

    A pod that refers to the object by this name refers to this content. With other content, the pod's Job is another
    one, while Jobs that run, or are pinned, keep the old object. Raises AnswerError if it holds what no manifest can
    hold.
    """
    named = plain_map(manifest, "manifest")
    text = json.dumps(named, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    named["metadata"]["name"] += f"-{sha256(text.encode()).hexdigest()[:8]}"
    return named


def _plain(value: Any, at: Route, further: tuple[type, ...]) -> Any:
    """Copy a JSON value into dicts, lists and Python's own scalars, and refuse what is none."""
    expect(len(at) < _DEEPEST, place_of(at[:4]), "", f"at most {_DEEPEST} levels")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise AnswerError(f"a key of `{place_of(at)}` is no text", key, "text")
        return {_text(key, at): _plain(inner, (*at, key), further) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, (*at, index), further) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value, at)
    if type(value) is bool or isinstance(value, further):
        return value
    if isinstance(value, int) and _INTEGER_MIN <= value <= _INTEGER_MAX:
        return int(value)
    hint = "; leave the key out where there is nothing to say" if value is None else ""
    raise AnswerError(f"`{place_of(at)}` is no JSON that a manifest can hold", value, _JSON + hint)


def _text(value: str, at: Route) -> str:
    text = str.__str__(value)  # of an enumeration, its value
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AnswerError(f"`{place_of(at)}` is no Unicode text", value, "text") from error
    return text


def is_route(value: Any) -> bool:
    """Tell whether a value is a route of a spec."""
    return type(value) is tuple and _ROUTE_KEYS.issuperset(map(type, value))


def check_route(value: Any, name: str) -> None:
    """Refuse what is no route of a spec."""
    expect(is_route(value), name, value, _ROUTE)


def expect(right: object, name: str, found: Any, expected: str) -> None:
    """Refuse an answer, by the name of one of its fields or as a whole, unless that is right."""
    if not right:
        raise AnswerError(f"its `{name}` is wrong" if name else "", found, expected)


def place_of(at: Route) -> str:
    """Write a place in an answer: `value.spec.containers.0`."""
    return ".".join(str(key) for key in at)


def brief(value: Any, most: int = 80) -> str:
    """Write any value as a message quotes it: short, and the same in every run."""
    try:
        text = value if type(value) is str else repr(value)
    except Exception:  # noqa: BLE001 - such as a number of thousands of digits, which Python does not write out
        text = type(value).__name__
    return re.sub(r" at 0x[0-9a-f]+", "", text)[:most]


def printable(text: str) -> str:
    """Show control characters as escapes, so that a name in a spec cannot drive the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


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
