"""Create a plugin from a template, and name a local one in pyproject.toml without changing another character of it."""

from __future__ import annotations

import copy
import re
import tomllib
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.write import replace_file
from tfgitops.plugins.door import GROUP
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import shown, unwritable
from tfgitops.spec.project import PYPROJECT, SPEC, find_root, read_project
from tfgitops.spec.schema.specschema import joined_source
from tfgitops.testing.bench import find_plugins
from tfgitops.testing.cases import KINDS, Case, find_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

    from tfgitops.plugins.door import Plugin, Plugins

_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*tfgitops[ \t]*\][ \t]*(?:#[^\n]*)?(?:\n|\Z)", re.MULTILINE)
_PLUGINS = re.compile(r"^[ \t]*plugins[ \t]*=[ \t]*\[", re.MULTILINE)
_LAST = re.compile(r"(?<=[\"'])(,?)((?:\s*#[^\n]*)*)(\s*)\Z")
_FIRST_OF_LINE = re.compile(r"\n([ \t]*)[\"']")


def with_local_plugin(text: str, plugin: str, name: str) -> str:
    """Return the text of a pyproject.toml with one more entry in ``[tool.tfgitops] plugins``.

    The new text is parsed again: it must say what it said before, and name the plugin by the path of its file from the
    root. ``name`` is what messages call the pyproject.toml. Raises CompileError if it is no TOML, or the entry cannot
    be put in.
    """
    old = _read(text)
    if old is None:
        raise CompileError.of("TF602", f"{name} is not TOML", "mend it first")
    table = old.get("tool", {}).get("tfgitops", {})
    listed = table.get("plugins", []) if isinstance(table, dict) else []
    if plugin in listed:
        return text
    wanted = copy.deepcopy(old)
    wanted.setdefault("tool", {}).setdefault("tfgitops", {})["plugins"] = [*listed, plugin]
    plain = text.replace("\r\n", "\n")
    line_end = "\r\n" if "\n" in text and text.count("\r\n") == text.count("\n") else "\n"
    for new in _attempts(plain, f'"{plugin}"') if plain.replace("\n", line_end) == text else ():
        edited = new.replace("\n", line_end)
        if _read(edited) == wanted:
            return edited
    hint = f'add "{plugin}" to [tool.tfgitops] plugins'
    raise CompileError.of("TF602", f"{name} is written in a way that cannot be edited", hint)


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _attempts(text: str, entry: str) -> Iterator[str]:
    """Yield texts with the entry: in the list that is there, below its table's header, or in a table at the end.

    At most one of them is TOML that says what is wanted.
    """
    if header := _HEADER.search(text):
        if found := _PLUGINS.search(text, header.end()):
            yield from _appended(text, found.end(), entry)
        gap = "" if header[0].endswith("\n") else "\n"
        yield f"{text[: header.end()]}{gap}plugins = [{entry}]\n{text[header.end() :]}"
    else:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        yield f"{text}{gap}[tool.tfgitops]\nplugins = [{entry}]\n"


def _appended(text: str, start: int, entry: str) -> Iterator[str]:
    """Yield texts with an entry behind the last of a list that begins at ``start``, laid out as that one is.

    Each `]` may be the list's end: another one stands in a remark or in a name, and the text would not be TOML.
    """
    for end in re.finditer(r"\]", text[start:]):
        before, rest = text[start : start + end.start()], text[start + end.start() :]
        if not before.strip():
            yield f"{text[:start]}{entry}{before}{rest}"
        elif last := _LAST.search(before):
            indents = _FIRST_OF_LINE.findall(before)
            gap = f"\n{indents[-1]}" if indents else " "
            kept, (comma, remark, space) = before[: last.start(1)], last.groups()
            yield f"{text[:start]}{kept},{remark}{gap}{entry}{comma}{space}{rest}"


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

    Raises CompileError if a plugin cannot have this name, or the keys that go with it are others' already.
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

    Raises CompileError if something is there already, or the files cannot be written.
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

    Raises CompileError if something is there already, the folder is outside of the root, pyproject.toml cannot be
    edited, or the files cannot be written.
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
