"""`tfgitops migrate`: rewrite the keys that have former names."""

from __future__ import annotations

from tfgitops.cli.commandapp import FormatOption, NoColour, Paths, Quiet, Without


def migrate(
    paths: Paths = None,
    format_: FormatOption = "text",
    no_plugin: Without = None,
    quiet: Quiet = False,
    no_color: NoColour = False,
) -> int:
    """Rewrite keys that were renamed, and prove that no manifest changes by a byte.

    Only the keys change: comments and layout stay. If a manifest would change, no file does, and the command shows the
    place.
    """
    from tfgitops.cli.environments import opened, undisturbed
    from tfgitops.pins.migration import migrate_specs
    from tfgitops.report.show import show
    from tfgitops.spec.diagnostics import counted

    done, number = migrate_specs(opened(paths, no_plugin), undisturbed)
    if format_ == "text" and not quiet:
        print(*(f"renamed  {key.place}  {key.former} → {key.present}\n" for key in done), sep="", end="")
        same = f"{counted(number, 'manifest')}: the same bytes as before"
        print(same if done else "every key has its present name")
    return show((), format_, no_colour=no_color)
