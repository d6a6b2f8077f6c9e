"""Write a new plugin: nothing that exists is overwritten, and what its cases expect comes from the compiler."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from tfgitops.compiler.write import replace_file
from tfgitops.plugins.door import GROUP
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import shown, unwritable
from tfgitops.spec.project import PYPROJECT, SPEC, find_root, read_project
from tfgitops.spec.schema.specschema import joined_source
from tfgitops.testing.cases import KINDS, Case, find_cases
from tfgitops.testing.finding import find_plugins
from tfgitops.testing.scaffold.localentry import with_local_plugin

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from tfgitops.plugins.door import Plugin, Plugins

_NAME = re.compile(r"[a-z](?:-?[a-z0-9])*").fullmatch
_NAME_MAX = 40
_RESERVED = ("core", "tf", "tfgitops")
_PACKAGE = {
    PYPROJECT: "pyproject.toml",
    "README.md": "README.md",
    "$module/schema.json": "schema.json",
    "tests/test_$snake.py": "test.py",
    "tests/cases/ok/declared/environment.yaml": "ok.yaml",
    "tests/cases/bad/not-declared/environment.yaml": "bad.yaml",
}
_LOCAL_CASES = "plugins/cases"
_SHARED_SCHEMA = """    schema = read_schema(__name__)
    yield SchemaFragment("environment", "$keys", schema["$keys"])
    yield SchemaFragment("job", "$key", schema["$key"])
"""
_OWN_SCHEMA = """    yield SchemaFragment("environment", "$keys", _DECLARED)
    yield SchemaFragment("job", "$key", _KEY)
"""


def forms_of(name: str, plugins: Plugins) -> dict[str, str]:
    """Return the forms of a plugin's name, each by what it is called in the templates in ``files/``.

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
    for key, holder in ((forms["keys"], "environment"), (forms["key"], "job"), (forms["key"], "role")):
        if key in definitions[holder]["properties"]:
            message = f"the key '{key}', which would be that of the plugin '{forms['name']}', is owned already"
            raise CompileError.of("TF205", message, "choose another name")


def write_package(forms: Mapping[str, str], folder: Path) -> list[Path]:
    """Write a plugin as a package, with its cases, and return its files.

    Raises:
        CompileError: something is there already, or the files cannot be written.
    """
    texts = {Template(path).substitute(forms): _filled(source, forms) for path, source in _PACKAGE.items()}
    texts[f"{forms['module']}/__init__.py"] = _hooks(forms, _SHARED_SCHEMA, read="\n    read_schema,")
    if folder.is_dir() and any(folder.iterdir()):
        _refuse(folder, "there already, and not empty", "name another folder with -o")
    for path, text in texts.items():
        _write(folder / path, text)
    plugins = find_plugins(folder)
    for case in find_cases(folder / "tests" / "cases"):
        case.run(plugins, refresh=True)
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def write_local(forms: Mapping[str, str], folder: Path | None = None) -> list[Path]:
    """Write a plugin as one file of the repository that is worked in, name it there, and return its files and cases.

    Raises:
        CompileError: something is there already, the folder is outside of the root, pyproject.toml cannot be edited, or
            the files cannot be written.
    """
    root = find_root(Path.cwd() / "environments" / "any").resolve()
    path = ((folder or root / "plugins") / f"{forms['name']}.py").resolve()
    if not path.is_relative_to(root):
        _refuse(path, f"outside of the root, {shown(root)}", "name a folder inside with -o")
    cases = {root / _LOCAL_CASES / kind / forms["name"]: f"{kind}.yaml" for kind in KINDS}
    for place in (path, *cases):
        if place.exists():
            _refuse(place, "there already", "choose another name, or another folder with -o")
    read_project(root)  # what is wrong with it already is said in its own words
    project = root / PYPROJECT
    old = project.read_bytes().decode() if project.exists() else ""  # what cannot be read was told by read_project
    new = with_local_plugin(old, path.relative_to(root).as_posix(), shown(project))
    _write(path, _hooks(forms, _OWN_SCHEMA, inline=_filled("schema.py", forms), any=", Any"))
    _write(project, new)
    for case, source in cases.items():
        _write(case / SPEC, _filled(source, forms))
        Case(folder=case, good=case.parent.name == "ok").run(find_plugins(path), refresh=True)
    return [path, project, *sorted(one for case in cases for one in case.rglob("*") if one.is_file())]


def _refuse(path: Path, what: str, hint: str) -> NoReturn:
    raise CompileError.of("TF601", f"{shown(path)} is {what}", hint)


def _hooks(forms: Mapping[str, str], fragments: str, **parts: str) -> str:
    given = {"inline": "", "read": "", "any": "", **parts, "fragments": Template(fragments).substitute(forms)}
    return _filled("hooks.py", {**forms, **given})


def _filled(source: str, forms: Mapping[str, str]) -> str:
    text = files("tfgitops.testing.scaffold").joinpath("files", f"{source}.tmpl").read_text(encoding="utf-8")
    return Template(text).substitute(forms)


def _write(path: Path, text: str) -> None:
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        replace_file(path, text.encode(), mode)
    except OSError as error:
        raise unwritable(path, error) from error
