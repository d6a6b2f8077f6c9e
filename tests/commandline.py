"""The command line, called in this process."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from typer import testing
from typer.main import get_command

from tfgitops.cli import app
from tfgitops.plugins import discovery


@cache
def _points(group: str, _path: tuple[str, ...]) -> Any:
    return entry_points(group=group)


# Each start of the command line makes its commands, and reads the entry points of all that is installed, which takes as
# long as a small compile. Here it is done once.
vars(testing)["_get_command"] = cache(get_command)
vars(discovery)["entry_points"] = lambda group: _points(group, tuple(sys.path))


def run(*arguments: object, **environment: str) -> Any:
    """Run `tfgitops` with some arguments, and with variables beside those of this process."""
    return testing.CliRunner().invoke(app, [*map(str, arguments)], env=environment)
