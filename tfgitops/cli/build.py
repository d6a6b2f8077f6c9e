"""`tfgitops build`: compile environments and write their manifests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tfgitops.cli.commandapp import FormatOption, NoColour, Paths, Quiet, Strict, Verbose, Without
from tfgitops.cli.completion import jobs
from tfgitops.cli.progress import erase, progress

if TYPE_CHECKING:
    from tfgitops.compiler.compiled import Compiled
    from tfgitops.review.restarts import Consent


def build(
    paths: Paths = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a manifest differs.")] = False,
    stdout: Annotated[bool, typer.Option("--stdout", help="Write the manifests to standard output.")] = False,
    locked: Annotated[bool, typer.Option("--locked", help="Refuse versions other than tfgitops.lock's.")] = False,
    restart: Annotated[
        list[str] | None,
        typer.Option(
            "--restart", metavar="[ENV/]JOB", help="Let this job restart, though its spec is unchanged.",
            autocompletion=jobs,
        ),
    ] = None,
    restart_all: Annotated[bool, typer.Option("--restart-all", help="Let every such job restart.")] = False,
    pin_rest: Annotated[bool, typer.Option("--pin-rest", help="Pin every other such job to its running Job.")] = False,
    queues_at_once: Annotated[
        bool, typer.Option("--queues-at-once", help="Build changes of queues that take several commits.")
    ] = False,
    strict: Strict = False,
    format_: FormatOption = "text",
    no_plugin: Without = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColour = False,
) -> int:  # fmt: skip
    """Compile environments and write their manifests."""
    from tfgitops.cli.environments import compiled, opened
    from tfgitops.compiler.compiled import documents
    from tfgitops.compiler.versionlock import check_lock, refuse_changed_plugins
    from tfgitops.pins.deliver import deliver
    from tfgitops.plugins.plain import printable
    from tfgitops.report.buildreport import as_diagnostics, changed_files, exceptions, lines
    from tfgitops.report.show import show
    from tfgitops.spec.diagnostics import has_errors

    if stdout and (check or format_ != "text"):
        raise typer.BadParameter("--stdout goes with neither --check nor a --format other than text")
    if (check or stdout) and (restart or restart_all or pin_rest or queues_at_once):
        raise typer.BadParameter(
            "--restart, --restart-all, --pin-rest and --queues-at-once are for a build that writes"
        )
    if restart_all and (restart or pin_rest):
        raise typer.BadParameter("--restart-all goes with neither --restart nor --pin-rest")
    session = opened(paths, no_plugin, before_plugins=refuse_changed_plugins if locked else lambda _: None)
    found = check_lock(session, locked=locked, strict=strict)
    if has_errors(found):
        return show(found, format_, no_colour=no_color, session=session)
    results = compiled(session, found, strict=strict)
    if stdout:
        sys.stdout.write(documents(results))
        return show(found, format_, no_colour=no_color, verbose=verbose)
    given = {"all": restart_all, "pin_rest": pin_rest, "queues_at_once": queues_at_once}
    consent = None if check else _consent(results, jobs=frozenset(restart or ()), **given)
    with progress(session, lambda: "comparing manifests"):
        delivered = list(deliver(session, results, consent, _wait))
    files = [file for one in delivered for file in changed_files(one, check=check)]
    found += [diagnostic for one in delivered for diagnostic in one.diagnostics]
    if check and format_ not in {"text", "json"}:
        found += as_diagnostics(files)
    code = show(found, format_, no_colour=no_color, files=files, session=session, verbose=verbose)
    if format_ == "text":
        told = [line for one in delivered for line in lines(one, check=check, verbose=verbose)]
        if quiet:
            told = [f"{word}  {printable(path)}" for word, path in files if check]
        elif verbose:
            sys.stdout.write(exceptions(results))
        sys.stdout.write("".join(f"{line}\n" for line in told))
    return code or int(check and bool(files))


def _consent(results: list[Compiled], **given: Any) -> Consent:
    """Return the consent that a command line gives; raise BadParameter if it names a job that there is not."""
    from tfgitops.review.restarts import Consent

    consent = Consent(**given)
    for name, hint in consent.unknown(results):
        raise typer.BadParameter(" ".join(filter(None, (f"--restart names no job: {name!r}.", hint))))
    return consent


def _wait(folder: Path) -> None:
    from tfgitops.report.buildreport import named

    erase()
    sys.stderr.write(f"waiting for another build of {named(folder)}\n")
