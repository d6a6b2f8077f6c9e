"""The command line, called in this process."""

from __future__ import annotations

from functools import cache
from typing import Any

from typer import testing
from typer.main import get_command

from tfgitops.cli import app

# Otherwise typer makes all commands of an app anew at each call, which takes as long as a small compile.
vars(testing)["_get_command"] = cache(get_command)


def run(*arguments: object, **environment: str) -> Any:
    """Run `tfgitops` with some arguments, and with variables beside those of this process."""
    return testing.CliRunner().invoke(app, [*map(str, arguments)], env=environment)
