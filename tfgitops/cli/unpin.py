"""`tfgitops unpin`: let the spec decide about jobs again."""

from __future__ import annotations

from tfgitops.cli.commandapp import FormatOption, NoColour, Quiet, Without
from tfgitops.cli.completion import Environment, Jobs


def unpin(
    env: Environment,
    jobs: Jobs,
    format_: FormatOption = "text",
    no_plugin: Without = None,
    quiet: Quiet = False,
    no_color: NoColour = False,
) -> int:
    """Take the pins of jobs out of the spec, and say what the next build does with each; one not pinned is an error."""
    from tfgitops.cli.environments import one_environment, opened, undisturbed
    from tfgitops.compiler.session import compile_all
    from tfgitops.pins.pinning import outlook, unpin_jobs
    from tfgitops.report.show import show

    folder = one_environment(env)
    session = opened([folder], no_plugin)
    with undisturbed(folder):
        done = unpin_jobs(folder, jobs)
    if format_ == "text" and not quiet:
        [compiled] = compile_all(session)
        print(*(f"unpinned  {gone.place}  {gone.name}" for gone in done), sep="\n")
        print(*(outlook(compiled, gone, session) for gone in done), sep="\n")
    return show((), format_, no_colour=no_color)
