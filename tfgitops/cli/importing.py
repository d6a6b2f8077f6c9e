"""`tfgitops import`: make a spec of Volcano Jobs or TFJobs that others wrote."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from tfgitops.cli.commandapp import FormatOption, NoColour, Quiet, Without


def importing(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Manifests as YAML or JSON; - is standard input.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write FOLDER/environment.yaml, which must be new."),
    ] = None,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAME", help="Import the objects of this namespace.")
    ] = "",
    format_: FormatOption = "text",
    no_plugin: Without = None,
    quiet: Quiet = False,
    no_color: NoColour = False,
) -> int:  # fmt: skip
    """Make a spec of Volcano Jobs or Kubeflow TFJobs, and tell what differs."""
    from tfgitops.adoption.adopt import adopt
    from tfgitops.adoption.adoptionreport import lines
    from tfgitops.adoption.sourcefiles import read_sources
    from tfgitops.plugins.discovery import plugins_here
    from tfgitops.report.show import show
    from tfgitops.spec.diagnostics import CompileError, has_errors
    from tfgitops.spec.disk import shown
    from tfgitops.spec.project import SPEC

    target = output / SPEC if output else None
    if output and target:
        _refuse_folder(output)
        _refuse([target])
    sources, problems = read_sources(files)
    if has_errors(problems):
        return show(problems, format_, no_colour=no_color)
    plugins = plugins_here(no_plugin)
    if plugins.faults:
        raise CompileError(plugins.faults)
    adopted = adopt(sources, plugins, namespace, shown(target) if target else "")
    code = show(adopted.diagnostics, format_, no_colour=no_color)
    if not quiet and format_ == "text":
        told = [one for one in adopted.told if adopted.text or not one.became]
        sys.stderr.write("".join(f"{line}\n" for line in lines(told)))
    if adopted.text and target:
        texts = {target.parent / path: text for path, text in {**adopted.files, SPEC: adopted.text}.items()}
        _refuse(texts)
        for path, text in texts.items():
            _write(path, text)
        if not quiet:
            sys.stderr.write(_next(target))
    elif adopted.text and format_ == "text":
        sys.stdout.write(adopted.text)
    return code


def _refuse_folder(folder: Path) -> None:
    """Raise CompileError for a folder whose environments the new one would hide, and for the name of a file."""
    from tfgitops.spec.diagnostics import CompileError
    from tfgitops.spec.disk import shown
    from tfgitops.spec.project import SPEC

    if folder.suffix in (".yaml", ".yml"):
        hint = f"-o names a folder, in which {SPEC} is written: -o {shown(folder.with_suffix(''))}"
        raise CompileError.of("TF602", f"{shown(folder)} is no name of an environment", hint)
    if any(folder.glob(f"*/{SPEC}")):
        raise CompileError.of("TF602", f"{shown(folder)} holds environments", f"name a new folder: -o {folder}/NAME")


def _next(target: Path) -> str:
    """Return what was written, and what to do with it."""
    from tfgitops.spec.disk import is_there, shown

    base = target.parent.parent / "base.yaml"
    share = f"  to share the values of {shown(base)}, add `extends: ../base.yaml` first\n" if is_there(base) else ""
    return f"wrote {shown(target)}; next: tfgitops build {shlex.quote(shown(target.parent))}\n{share}"


def _refuse(paths: Iterable[Path]) -> None:
    """Raise CompileError for a file that is there."""
    from tfgitops.spec.diagnostics import CompileError
    from tfgitops.spec.disk import is_there, shown

    for path in paths:
        if is_there(path):
            hint = "choose another folder, or remove the file; to add the jobs to it, import without -o, and copy them"
            raise CompileError.of("TF602", f"{shown(path)} is there already", hint)


def _write(target: Path, text: str) -> None:
    from tfgitops.spec.disk import unwritable

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise unwritable(target, error) from error
