"""`tfgitops pin`: keep the committed manifests of jobs as they are."""

from __future__ import annotations

from tfgitops.cli.commandapp import FormatOption, NoColour, Quiet
from tfgitops.cli.completion import Environment, Jobs


def pin(
    env: Environment, jobs: Jobs, format_: FormatOption = "text", quiet: Quiet = False, no_color: NoColour = False
) -> int:
    """Pin jobs to their committed manifests, which are then kept byte for byte: writes `pin` into the spec."""
    from tfgitops.cli.environments import one_environment, undisturbed
    from tfgitops.pins.pinning import committed_names, pin_jobs, refuse_uncommitted
    from tfgitops.report.show import show

    folder = one_environment(env)
    with undisturbed(folder):
        names = committed_names(folder, jobs)
        refuse_uncommitted(folder, names)
        done = pin_jobs(folder, names)
    if format_ == "text" and not quiet:
        for made in done:
            print(f"{'unchanged' if made.before == made.name else 'pinned'}  {made.place}  {made.name}")
    return show((), format_, no_colour=no_color)
