"""Write a new plugin: nothing that exists is overwritten, and what its cases expect comes from the compiler."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from tfgitops.compiler.write import replace_file
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import shown, unwritable
from tfgitops.spec.project import PYPROJECT, SPEC, find_root, read_project
from tfgitops.testing.cases import KINDS, Case, find_cases
from tfgitops.testing.finding import find_plugins
from tfgitops.testing.scaffold.localentry import with_local_plugin

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def write_package(forms: Mapping[str, str], folder: Path) -> list[Path]:
    """Write a plugin as a package, with its cases, and return its files.

    Raises:
        CompileError: something is there already, or the files cannot be written.
    """
    texts = {Template(path).substitute(forms): _filled(source, forms) for path, source in _PACKAGE.items()}
    texts[f"{forms['module']}/__init__.py"] = _hooks(forms, _SHARED_SCHEMA, read="\n    read_schema,")
    if folder.is_dir() and any(folder.iterdir()):
        raise CompileError.of(
            "TF601", f"{shown(folder)} is there already, and not empty", "name another folder with -o"
        )
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
        raise CompileError.of(
            "TF601", f"{shown(path)} is outside of the root, {shown(root)}", "name a folder inside with -o"
        )
    cases = {root / _LOCAL_CASES / kind / forms["name"]: f"{kind}.yaml" for kind in KINDS}
    for place in (path, *cases):
        if place.exists():
            raise CompileError.of(
                "TF601", f"{shown(place)} is there already", "choose another name, or another folder with -o"
            )
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
