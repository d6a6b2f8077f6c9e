"""Write the files of a new repository, its built manifests included, and leave every file that is there."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from tfgitops.compiler.session import Session, compile_all, open_session
from tfgitops.compiler.versionlock import lock_text
from tfgitops.compiler.write import apply, compare, replace_file
from tfgitops.plugins.discovery import discover
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import is_there, read_file, resolved, shown, unwritable
from tfgitops.spec.project import LOCK, PYPROJECT, SPEC, read_project
from tfgitops.spec.schema.editors import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Texts = Mapping[str, str]

ENVIRONMENTS: Final = "environments"
_SPECS = {
    f"{ENVIRONMENTS}/base.yaml": "base.yaml",
    f"{ENVIRONMENTS}/dev/{SPEC}": "dev.yaml",
    f"{ENVIRONMENTS}/prod/{SPEC}": "prod.yaml",
}
_OTHERS = {
    PYPROJECT: "pyproject.toml.tmpl",
    "requirements-tfgitops.txt": "requirements-tfgitops.txt",
    "README.md": "README.md.tmpl",
    "CODEOWNERS": "CODEOWNERS",
    ".gitattributes": "gitattributes",
    ".gitignore": "gitignore",
    ".pre-commit-config.yaml": "pre-commit.yaml",
    ".vscode/settings.json": "vscode-settings.json",
    ".vscode/extensions.json": "vscode-extensions.json",
}
_CI = {
    "github": {".github/workflows/tfgitops.yaml": "github.yaml"},
    "gitlab": {".gitlab-ci.yml": "gitlab.yaml"},
}


def write_repository(top: Path, gitops: str, hosts: tuple[str, ...]) -> Iterator[tuple[Path, bool]]:
    """Write what is missing of a new repository, and yield each path with whether it was written.

    A path that is there with another content is left; one with the right content is passed over. Where there are
    environments, none is added. Raises CompileError if the folder lies inside of another repository, or a file cannot
    be written.
    """
    _refuse_inside(top)
    others = _OTHERS | {target: source for host in hosts for target, source in _CI[host].items()}
    yield from _written(top, {target: _text(source) for target, source in others.items()})
    folder = top / ENVIRONMENTS
    if is_there(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        ours = {target: _text(source, gitops) for target, source in _SPECS.items()}
        if not all(_has(top / target, text) for target, text in ours.items()):
            yield folder, False
    else:
        yield from _written(top, {target: _text(source, gitops) for target, source in _SPECS.items()})
        yield from _built(folder)
    yield from _written(top, _derived(top))


def _refuse_inside(top: Path) -> None:
    above = next((one for one in resolved(top).parents if is_there(one / ".git")), None)
    if above and not is_there(top / ".git"):
        message = f"{shown(top)} is inside of the repository {shown(above)}, whose hosts read CI files at its top only"
        raise CompileError.of("TF601", message, f"run `tfgitops init` in {shown(above)}")


def _text(source: str, gitops: str = "none") -> str:
    text = files("tfgitops.starting").joinpath("files", source).read_text(encoding="utf-8")
    return text.replace("\ngitops: none", f"\ngitops: {gitops}", 1)


def _built(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Compile the environments below a folder, and write their manifests."""
    results = compile_all(open_session([folder]))
    if problems := [problem for one in results if not one.ok for problem in one.diagnostics]:
        raise CompileError(problems)
    for one in results:
        apply(one.folder, one.files, compare(one.folder, one.files), [])
        yield one.folder / MANIFESTS, True


def _derived(top: Path) -> Texts:
    """Return the files that follow from the plugins that are installed here."""
    project = read_project(resolved(top))
    plugins = discover(project, ())
    if plugins.faults:
        raise CompileError(plugins.faults)
    schemas = {which: as_text(plugins.fragments, job=which == "job") for which in ("environment", "job")}
    return {
        LOCK: lock_text(Session(project=project, plugins=plugins, folders=(), abandoned=())),
        **{f"schemas/{which}.schema.json": text for which, text in schemas.items()},
    }


def _written(top: Path, texts: Texts) -> Iterator[tuple[Path, bool]]:
    for target, text in texts.items():
        path = top / target
        if not is_there(path):
            try:
                replace_file(path, text.encode())
            except OSError as error:
                raise unwritable(path, error) from error
            yield path, True
        elif not _has(path, text):
            yield path, False


def _has(path: Path, text: str) -> bool:
    try:
        return read_file(path) == text.encode()
    except OSError:  # a folder, or a link to nothing
        return False
