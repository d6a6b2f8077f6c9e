"""Put `bootstrap` into the spec of an environment, and write the files that it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.compiler.write import apply, compare_bootstrap, replace_file
from tfgitops.pins.deliver import Delivery
from tfgitops.pins.specedits import all_or_none
from tfgitops.spec.committed import BOOTSTRAP
from tfgitops.spec.diagnostics import CompileError, Diagnostic, Problem
from tfgitops.spec.disk import unwritable
from tfgitops.spec.yamltext.edit import EditError, edited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.spec.yamltext.edit import Value


def refuse_others(results: Iterable[Compiled], controller: str) -> None:
    """Raise CompileError if an environment names another controller, or none on purpose."""
    found: list[Diagnostic] = []
    for one in results:
        environment = one.environment
        if environment and environment.data.get("gitops", controller) != controller:
            problem = Problem(
                code="TF605", at=("gitops",), found=environment.gitops, expected=controller,
                message=f"{environment.name} is not for {controller}: `gitops` is {environment.gitops}",
                hint=f"name only the environments that are, or write `gitops: {controller}`",
            )  # fmt: skip
            found += environment.places.diagnose([problem])
    if found:
        raise CompileError(found)


def bootstrap_environment(
    compiled: Compiled, controller: str, settings: Mapping[str, str], session: Session
) -> tuple[Delivery, list[str]]:
    """Put the settings of `bootstrap` into a spec, and write the files: all of it, or nothing.

    They go into the environment's own file, unless a file says the same already; every other byte of it stays. Returns
    the result, and the keys that were written. Raises CompileError if the file cannot be edited or written, or the
    edited spec does not compile.
    """
    environment = compiled.environment
    assert environment is not None
    document = environment.places.documents[0]
    changes: dict[tuple[str, ...], Value | None] = {}
    known = environment.data.get("bootstrap") or {}
    wanted = {key: value for key, value in settings.items() if known.get(key) != value}
    if wanted and document.value.get("bootstrap"):
        changes |= {("bootstrap", key): value for key, value in wanted.items()}
    elif wanted:
        changes["bootstrap",] = settings
    if environment.gitops != controller:
        changes["gitops",] = controller
    try:
        with all_or_none([document.path]):
            if changes:
                text = edited(document.path.read_bytes().decode(), changes)
                replace_file(document.path, text.encode(), document.path.stat().st_mode & 0o777)
            again = compile_environment(compiled.folder, session.plugins, session.project)
            if not again.ok:
                raise CompileError(again.diagnostics)
            done = Delivery(folder=again.folder, given=compiled, compiled=again, done=True)
            done.bootstrap = compare_bootstrap(again.folder, again.bootstrap)
            apply(again.folder, again.bootstrap, done.bootstrap, [], BOOTSTRAP)
    except EditError as error:
        block = ", ".join(f"{key}: {value}" for key, value in settings.items())
        hint = f"write `gitops: {controller}` and `bootstrap: {{{block}}}` by hand, then run `tfgitops build`"
        message = f"{document.name} cannot be edited without changing anything else"
        raise CompileError.of("TF605", message, hint) from error
    except OSError as error:
        raise unwritable(document.path, error) from error
    return done, [".".join(route) for route in changes]
