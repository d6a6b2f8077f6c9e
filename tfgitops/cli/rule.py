"""`tfgitops rule`: explain a diagnostic by its code."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tfgitops.cli.guard import guarded
from tfgitops.cli.options import Form, Without, command_app, example
from tfgitops.plugins.discovery import discover
from tfgitops.report.codes import CodeEntry, reference
from tfgitops.spec.project import find_root, read_project
from tfgitops.targets.nearest import did_you_mean

app = command_app()


@app.command(epilog=example("tfgitops rule TF201"))
@guarded
def rule(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="The code of a diagnostic, such as TF201.")
    ] = None,
    format_: Annotated[Form, typer.Option("--format", help="How the entry is shown.")] = Form.text,
    no_plugin: Without = None,
) -> int:  # fmt: skip
    """Explain a diagnostic by its code: what it means, why it matters, how to fix it.

    Without CODE it lists all codes, those of plugins too.
    """
    plugins = discover(read_project(find_root(Path.cwd() / "environments" / "any")), no_plugin or ())
    entries = reference(plugins.plugins)
    chosen = list(entries.values()) if code is None else [_find(code, entries)]
    if format_ is Form.json:
        document = {"version": 1, "codes": [asdict(entry) for entry in chosen]}
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    elif code is None:
        width = max(map(len, entries))
        sys.stdout.writelines(f"{entry.code:<{width}}  {entry.title}\n" for entry in chosen)
    else:
        text = chosen[0].text or f"The plugin `{chosen[0].plugin}` explains this code no further.\n"
        sys.stdout.write(f"# {chosen[0].heading}\n\n{text}")
    return 0


def _find(code: str, entries: dict[str, CodeEntry]) -> CodeEntry:
    """Return the entry of a code, in upper or lower case.

    Raises:
        BadParameter: there is no such code.
    """
    by_case = {known.upper(): entry for known, entry in entries.items()}
    if code.upper() not in by_case:
        hint = did_you_mean(code, entries) or "`tfgitops rule` lists all codes"
        raise typer.BadParameter(f"there is no code '{code}': {hint}")
    return by_case[code.upper()]
