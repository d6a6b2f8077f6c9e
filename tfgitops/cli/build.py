"""`tfgitops build`: compile environments and write their manifests."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tfgitops.cli.commandapp import FormatOption, NoColour, Paths, Quiet, Strict, Verbose, Without
from tfgitops.cli.completion import jobs
from tfgitops.cli.progress import erase, progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.pins.deliver import Delivery
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
    from tfgitops.compiler.stamps import stamp_of
    from tfgitops.compiler.versionlock import check_lock, refuse_changed_plugins
    from tfgitops.pins.deliver import deliver
    from tfgitops.plugins.plain import printable
    from tfgitops.report.buildreport import as_diagnostics, changed_files, exceptions, lines
    from tfgitops.report.show import as_text, coloured, show
    from tfgitops.spec.diagnostics import has_errors

    _refuse_options(
        silent=stdout and (check or format_ != "text"),
        consents=(check or stdout) and bool(restart or restart_all or pin_rest or queues_at_once),
        contrary=restart_all and bool(restart or pin_rest),
    )
    session = opened(paths, no_plugin, before_plugins=refuse_changed_plugins if locked else lambda _: None)
    found = check_lock(session, locked=locked, strict=strict)
    if has_errors(found):
        return show(found, format_, no_colour=no_color, session=session)
    stamp = None
    if format_ == "text" and not any((
        check, stdout, locked, restart, restart_all, pin_rest, queues_at_once, verbose,
    )):  # fmt: skip
        stamp = stamp_of(session, strict, quiet, coloured(sys.stderr, no_colour=no_color), found)
    if stamp and (words := stamp.words(_wait)):
        sys.stderr.write(words[0])
        sys.stdout.write(words[1])
        return 0
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
    if stamp and not code:
        stamp.keep(results, [as_text(found, no_colour=no_color), "" if quiet else _unchanged(delivered)])
    return code or int(check and bool(files))


def _consent(results: list[Compiled], **given: Any) -> Consent:
    """Return the consent that a command line gives; raise BadParameter if it names a job that there is not."""
    from tfgitops.review.restarts import Consent

    consent = Consent(**given)
    for name, hint in consent.unknown(results):
        raise typer.BadParameter(" ".join(filter(None, (f"--restart names no job: {name!r}.", hint))))
    return consent


def _refuse_options(*, silent: bool, consents: bool, contrary: bool) -> None:
    """Raise BadParameter for options that do not go together."""
    if silent:
        raise typer.BadParameter("--stdout goes with neither --check nor a --format other than text")
    if consents:
        raise typer.BadParameter(
            "--restart, --restart-all, --pin-rest and --queues-at-once are for a build that writes"
        )
    if contrary:
        raise typer.BadParameter("--restart-all goes with neither --restart nor --pin-rest")


def _unchanged(delivered: Iterable[Delivery]) -> str:
    """Return what the next build says if nothing changes."""
    from tfgitops.report.buildreport import lines

    told = (replace(one, differences=(), bootstrap=()) for one in delivered)
    return "".join(f"{line}\n" for one in told for line in lines(one, check=False, verbose=False))


def _wait(folder: Path) -> None:
    from tfgitops.report.buildreport import named

    erase()
    sys.stderr.write(f"waiting for another build of {named(folder)}\n")
