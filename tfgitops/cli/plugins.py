"""`tfgitops plugins`: list the plugins there are, write a new one, and try one on its cases."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from tfgitops.cli.commandapp import Form, Without, command_app, example, guarded

app = command_app()


@app.callback(epilog=example("tfgitops plugins new cost-centre"), no_args_is_help=True)
def plugins() -> None:
    """List the plugins, write a new one, or test one."""


@app.command("list", epilog=example("tfgitops plugins list"))
@guarded
def list_(
    form: Annotated[Form, typer.Option("--format", help="How plugins are listed.")] = "text",
    no_plugin: Without = None,
) -> int:
    """List the plugins there are: versions, hooks, keys, codes, where each comes from, and what keeps it from use."""
    from tfgitops.plugins.discovery import plugins_here
    from tfgitops.report import pluginlist as report

    found = report.inventory(plugins_here(no_plugin))
    sys.stdout.write(report.as_json(found) if form == "json" else report.as_text(found))
    return int(any(entry.fault for entry in found))


@app.command(epilog=example("tfgitops plugins new cost-centre --local"))
@guarded
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name, such as cost-centre.")],
    local: Annotated[bool, typer.Option("--local", help="Write one file of this repository, not a package.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="A folder: ./tfgitops-NAME, or with --local plugins/.", readable=False
        ),
    ] = None,
) -> int:
    """Write a new plugin that works, with a key, a check, patches and an object to change into yours."""
    from tfgitops.plugins.discovery import plugins_here
    from tfgitops.spec.disk import shown
    from tfgitops.testing.scaffold.create import forms_of, write_local, write_package

    forms = forms_of(name, plugins_here())
    folder = output or Path(f"tfgitops-{name}")
    written = write_local(forms, output) if local else write_package(forms, folder)
    next_steps = [
        f"cd {folder}",
        "tfgitops plugins test      its cases and the contract",
        "pip install -e .           and `tfgitops` knows it everywhere",
    ]
    if local:
        next_steps = [
            f"tfgitops plugins list      it is there; change {shown(written[0])} as you like",
            "tfgitops plugins test      its cases, in plugins/cases/, and the contract",
            f"tfgitops schema            what editors know of `{forms['key']}`",
        ]
    for path in written:
        print(f"wrote  {shown(path)}")
    print("\nNext:", *next_steps, sep="\n  ")
    return 0


@app.command("test", epilog=example("tfgitops plugins test --refresh"))
@guarded
def try_(
    path: Annotated[
        Path,
        typer.Argument(metavar="[PATH]", help="A package, a repository, or a local plugin's file.", readable=False),
    ] = Path(),
    refresh: Annotated[bool, typer.Option("--refresh", help="Write new expected results.")] = False,
) -> int:
    """Try a plugin on its cases, and check that it keeps the contract."""
    from tfgitops.testing.cases import run

    tried = failed = 0
    for name, fault in run(path, refresh=refresh):
        tried, failed = tried + 1, failed + bool(fault)
        print(f"{'FAIL' if fault else 'ok':<4}  {name}")
        if fault:
            print(textwrap.indent(fault, "      "))
    print(f"\n{failed} of {tried} failed" if failed else f"\n{tried} passed")
    return int(failed > 0)
