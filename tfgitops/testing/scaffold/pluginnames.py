"""What a new plugin is called, in all the forms in which its files say it."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from tfgitops.plugins.door import GROUP
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.schema.specschema import joined_source

if TYPE_CHECKING:
    from tfgitops.plugins.door import Plugin, Plugins

_NAME = re.compile(r"[a-z](?:-?[a-z0-9])*").fullmatch
_NAME_MAX = 40
_RESERVED = ("core", "tf", "tfgitops")


def forms_of(name: str, plugins: Plugins) -> dict[str, str]:
    """Return the forms of a name, by what they are called in the files of `tfgitops/scaffold/files`.

    Raises:
        CompileError: a plugin cannot have this name, or the keys that go with it are others' already.
    """
    if not _NAME(name) or len(name) > _NAME_MAX:
        hint = f"lower-case letters, digits and single '-', a letter first, {_NAME_MAX} at most, such as cost-centre"
        raise CompileError.of("TF205", f"'{name}' cannot be the name of a plugin", hint)
    if name in _RESERVED:
        raise CompileError.of("TF205", f"'{name}' is the name of tfgitops itself", "choose another")
    for plugin in plugins.plugins:
        if plugin.name == name:
            raise CompileError.of("TF205", f"there is a plugin '{name}' already: {plugin.origin}", _way_out(plugin))
    first, *further = name.split("-")
    key = first + "".join(word.capitalize() for word in further)
    snake = name.replace("-", "_")
    letters = "".join(filter(str.isalnum, name)).upper()
    forms = {
        "name": name, "key": key, "keys": _several(key), "snake": snake, "module": f"tfgitops_{snake}",
        "code": letters + ("_" if letters[-1].isdigit() else ""), "variable": snake.upper(),
        "title": name.replace("-", " ").capitalize(), "class": "".join(map(str.capitalize, name.split("-"))),
    }  # fmt: skip
    _check_keys(forms, plugins)
    return forms


def _several(key: str) -> str:
    """Return the key that declares what another one names: its plural, unless that cannot be told."""
    if key.endswith(("ss", "x", "z", "ch", "sh")):
        return f"{key}es"
    if key.endswith("y") and key[-2:-1] not in tuple("aeiou"):
        return f"{key[:-1]}ies"
    if key.endswith("s"):  # news, metrics, status
        return f"declared{key[0].upper()}{key[1:]}"
    return f"{key}s"


def _way_out(plugin: Plugin) -> str:
    """Say how a name becomes free."""
    hint = "choose another name"
    if plugin.version == "local":
        return f"{hint}, or take {plugin.origin} out of [tool.tfgitops] plugins"
    names = {point.dist.name for point in entry_points(group=GROUP, name=plugin.name) if point.dist} - {GROUP}
    return hint + "".join(f", or `pip uninstall {name}` first" for name in sorted(names))


def _check_keys(forms: dict[str, str], plugins: Plugins) -> None:
    definitions = joined_source(plugins.fragments)["$defs"]
    taken = [
        key
        for key, holder in ((forms["keys"], "environment"), (forms["key"], "job"), (forms["key"], "role"))
        if key in definitions[holder]["properties"]
    ]
    if taken:
        message = f"the key '{taken[0]}', which would be that of the plugin '{forms['name']}', is owned already"
        raise CompileError.of("TF205", message, "choose another name")
