"""`tfgitops build`: compile environments and write their manifests."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tfgitops.cli.deliver import deliver, documents
from tfgitops.cli.environments import compiled, opened
from tfgitops.cli.guard import guarded
from tfgitops.cli.options import FormatOption, NoColour, Paths, Quiet, Strict, Verbose, Without, command_app, example
from tfgitops.compiler.versionlock import check_lock, refuse_changed_plugins
from tfgitops.report.show import Format, exceptions, show
from tfgitops.review.restarts import NO_CONSENT, Consent
from tfgitops.spec.diagnostics import has_errors

app = command_app()


@app.command(epilog=example("tfgitops build environments/prod"))
@guarded
def build(
    paths: Paths = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a manifest differs.")] = False,
    stdout: Annotated[bool, typer.Option("--stdout", help="Write the manifests to standard output.")] = False,
    locked: Annotated[bool, typer.Option("--locked", help="Refuse versions other than tfgitops.lock's.")] = False,
    restart: Annotated[
        list[str] | None,
        typer.Option("--restart", metavar="[ENV/]JOB", help="Let this job restart, though its spec is unchanged."),
    ] = None,
    restart_all: Annotated[bool, typer.Option("--restart-all", help="Let every such job restart.")] = False,
    pin_rest: Annotated[bool, typer.Option("--pin-rest", help="Pin every other such job to its running Job.")] = False,
    strict: Strict = False,
    format_: FormatOption = Format.text,
    no_plugin: Without = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColour = False,
) -> int:  # fmt: skip
    """Compile environments and write their manifests."""
    if stdout and (check or format_ is not Format.text):
        raise typer.BadParameter("--stdout goes with neither --check nor a --format other than text")
    consent = Consent(jobs=frozenset(restart or ()), all=restart_all, pin_rest=pin_rest)
    _refuse_odd_consent(consent, writes=not (check or stdout))
    before_plugins = refuse_changed_plugins if locked else lambda _: None
    session = opened(paths, no_plugin, before_plugins=before_plugins)
    found = check_lock(session, locked=locked, strict=strict)
    if has_errors(found):
        return show(found, format_, no_colour=no_color, session=session)
    results = compiled(session, found, strict=strict)
    for name, hint in consent.unknown(results):
        raise typer.BadParameter(" ".join(filter(None, (f"--restart names no job: {name!r}.", hint))))
    if stdout:
        sys.stdout.write(documents(results))
        return show(found, format_, no_colour=no_color, verbose=verbose)
    outcome = deliver(session, results, check=check, verbose=verbose, consent=consent)
    found += outcome.diagnostics
    if check and format_ in {Format.sarif, Format.github}:
        from tfgitops.report.differences import as_diagnostics  # noqa: PLC0415 - for two formats alone

        found += as_diagnostics(outcome.differences)
    code = show(
        found, format_, no_colour=no_color, files=outcome.differences, session=session, verbose=verbose
    )  # fmt: skip
    if format_ is Format.text:
        lines = outcome.lines if not quiet else [f"{word}  {path}" for word, path in outcome.differences if check]
        allowed = exceptions(results) if verbose and not quiet else ""
        sys.stdout.write(allowed + "".join(f"{line}\n" for line in lines))
    return code or int(check and bool(outcome.differences))


def _refuse_odd_consent(consent: Consent, *, writes: bool) -> None:
    if consent != NO_CONSENT and not writes:
        raise typer.BadParameter("--restart, --restart-all and --pin-rest are for a build that writes")
    if consent.all and (consent.jobs or consent.pin_rest):
        raise typer.BadParameter("--restart-all goes with neither --restart nor --pin-rest")
