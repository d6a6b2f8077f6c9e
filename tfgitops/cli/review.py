"""`tfgitops review`: say what a change of the specs will do to the cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tfgitops.cli.commandapp import NoColour, Paths, Verbose, Without
from tfgitops.cli.completion import refs
from tfgitops.cli.progress import progress

if TYPE_CHECKING:
    from tfgitops.spec.diagnostics import Diagnostic


def review(
    paths: Paths = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="REF", help="Compare with the merge base of HEAD and REF.", show_default="origin/HEAD",
            autocompletion=refs,
        ),
    ] = None,
    form: Annotated[
        Literal["text", "markdown", "json"], typer.Option("--format", help="How the review is shown.")
    ] = "text",
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if something will change.")] = False,
    no_plugin: Without = None,
    verbose: Verbose = False,
    no_color: NoColour = False,
) -> int:  # fmt: skip
    """Say what a change will do: which trainings restart, and why."""
    from tfgitops.cli.environments import compiled, opened, paths_of
    from tfgitops.compiler.versionlock import check_lock
    from tfgitops.report.show import coloured, show
    from tfgitops.review.reviewall import review as collect
    from tfgitops.spec.diagnostics import CompileError, has_errors, ordered, without_notes

    reviewed, session = None, None
    found: list[Diagnostic] = []
    try:
        session = opened(paths, no_plugin, keep_absent=True)
        found = check_lock(session)
        results = compiled(session, found)
        with progress(session, lambda: "comparing with the base"):
            reviewed = collect(session, results, paths_of(paths), against)
    except CompileError as error:
        found += error.diagnostics
    found = found if verbose else without_notes(found)
    changed = exit_code and reviewed is not None and reviewed.changes_something
    if form == "json":  # one document, whatever happened
        from tfgitops.report import review_json

        sys.stdout.write(review_json.render(reviewed, ordered(found)))
        return int(has_errors(found) or changed)
    code = show(found, "text", no_colour=no_color, session=session, verbose=verbose)
    if reviewed and form == "markdown":
        from tfgitops.report import review_markdown

        sys.stdout.write(review_markdown.render(reviewed, found))
    elif reviewed:
        from tfgitops.report import review_text

        colour = coloured(sys.stdout, no_colour=no_color)
        sys.stdout.write(review_text.render(reviewed, colour=colour, verbose=verbose))
    return code or int(changed)
