"""The command line: one module a command, flags in, exit code out; here they meet, and the options before them."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from tfgitops.cli.commandapp import command_app, example, guarded

if TYPE_CHECKING:
    from types import ModuleType

COMMANDS = {
    "init": "trainings",
    "import": "job.yaml -o environments/prod",
    "build": "environments/prod",
    "validate": "environments/prod",
    "rule": "TF201",
    "review": "environments/prod --against origin/main",
    "explain": "environments/prod resnet 'spec.tasks[worker].replicas'",
    "images": "environments/prod",
    "bootstrap": "argocd --repo https://git.example.com/ml/trainings.git",
    "pin": "environments/prod resnet",
    "unpin": "environments/prod resnet",
    "schema": "-o schemas/environment.schema.json",
    "lock": "",
    "migrate": "environments",
    "plugins": "",
}
"""Each command with the arguments of its example. Its module is imported when it is called, to start quickly."""

_MODULES = {"import": "importing"}
"""Modules of commands whose names are words of Python."""


class _Commands(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse empty arguments before the line is parsed: an empty path would be the working directory."""
        if not ctx.resilient_parsing and any(not word or (word[:2] == "--" and word[-1] == "=") for word in args):
            raise typer.BadParameter("an argument is empty, as is a variable of a shell that was never set")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Say so if the import of a command is interrupted, as `guarded` does for the command itself."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(130) from None

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - click's signature
        for name in [cmd_name] if cmd_name in COMMANDS else COMMANDS:  # all, to find what may have been meant
            if name not in self.commands:
                self.commands[name] = typer.main.get_command(_app(name))
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - click's signature
        """List the commands by what their functions say, which takes less time than to know their arguments."""
        with formatter.section("Commands"):
            said = {name: inspect.getdoc(_function(_module(name))) or "" for name in COMMANDS}
            formatter.write_dl([(name, text.partition("\n")[0]) for name, text in said.items()])


def _module(name: str) -> ModuleType:
    return import_module(f"tfgitops.cli.{_MODULES.get(name, name)}")


def _function(module: ModuleType) -> Any:
    return getattr(module, module.__name__.rpartition(".")[2])


def _app(name: str) -> typer.Typer:
    """Return the application of one command: its module's own, or one around the module's function of that name."""
    module = _module(name)
    group: typer.Typer | None = getattr(module, "app", None)
    if group is not None:
        return group
    single = command_app()
    single.command(epilog=example(f"tfgitops {name} {COMMANDS[name]}".rstrip()))(guarded(_function(module)))
    return single


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


@guarded
def _show_version() -> int:
    from tfgitops.plugins.versions import versions

    print(versions())
    return 0


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda value: value and _show_version(), is_eager=True, help="Show the versions."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""
