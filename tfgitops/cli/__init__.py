"""The command line: one module a command, flags in, exit code out; here they meet, and what stands before them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from tfgitops.cli.guard import guarded
from tfgitops.cli.options import example

COMMANDS = ("build", "validate", "rule", "review", "explain", "images", "pin", "unpin", "schema", "lock", "plugins")
"""In the order of their use; each is a module here, imported when it is called: the others cost no start."""


class _Commands(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse what is empty, before the line is taken apart: as a path it would be the folder that one is in."""
        if not ctx.resilient_parsing and any(not word or (word[:2] == "--" and word[-1] == "=") for word in args):
            raise typer.BadParameter("an argument is empty, as is a variable of a shell that was never set")
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - click's signature
        for name in [cmd_name] if cmd_name in COMMANDS else COMMANDS:  # all, to find what may have been meant
            if name not in self.commands:
                self.commands[name] = typer.main.get_command(import_module(f"tfgitops.cli.{name}").app)
        return self.commands.get(cmd_name)


app = typer.Typer(
    cls=_Commands,
    name="tfgitops",
    help="Compile short specs into the Volcano Job manifests that run distributed TensorFlow from Git.",
    epilog=example("tfgitops build environments/prod"),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(*, value: bool) -> None:
    if value:
        from tfgitops import __version__  # noqa: PLC0415
        from tfgitops.plugins.discovery import discover  # noqa: PLC0415 - commands import what they need
        from tfgitops.spec.project import find_root, read_project  # noqa: PLC0415

        @guarded
        def show() -> int:
            plugins = discover(read_project(find_root(Path.cwd()))).plugins
            names = [f"{one.name} {one.version}{' (cannot be used)' if one.fault else ''}" for one in plugins]
            print(f"tfgitops {__version__} (plugins: {', '.join(names) or 'none'})")
            return 0

        show()


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda value: _version(value=value), is_eager=True, help="Show the versions."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""
