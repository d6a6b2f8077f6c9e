"""Ask Git whether the files that pins keep are committed ones: a forger can compute all digests anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.review.gitanswers import ran
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import Diagnostic
from tfgitops.spec.disk import shown
from tfgitops.spec.git import object_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.planning.plan import Planned
    from tfgitops.review.history import Base
    from tfgitops.review.lastruns import LastRuns


def uncommitted_pins(compiled: Compiled, last: LastRuns) -> Iterator[Diagnostic]:
    """Yield an error for each file that a pin keeps, and that is not in HEAD: it never ran."""
    head, environment = last.at(compiled), compiled.environment
    if head is None or environment is None:
        return
    for one in unknown_pins(compiled, head):
        path = compiled.folder / MANIFESTS / one.path
        there = head.path(path) in head.blobs
        yield Diagnostic(
            code="TF306", span=environment.places.span((*one.because[:2], "pin")),
            message=f"{MANIFESTS}/{one.path} is kept by a pin, and is not the committed file",
            hint=f"restore it: git checkout -- {shown(path)}" if there else "commit the manifest first, then pin it",
        )  # fmt: skip


def unknown_pins(compiled: Compiled, base: Base) -> list[Planned]:
    """Return the objects that a pin keeps, and whose file a commit does not have as it is, in any folder."""
    kept = {base.path(compiled.folder / MANIFESTS / one.path): one for one in compiled.objects if one.text}
    ids = {*base.blobs.values()} if kept else ()
    differing = {path: one for path, one in kept.items() if _id(base, one.text) not in ids}
    then = base.read(differing)  # perhaps with other line ends
    return [one for path, one in differing.items() if then.get(path, b"").replace(b"\r\n", b"\n") != one.text.encode()]


def was_known(base: Base, text: str) -> bool:
    """Tell whether a commit or an earlier one had a file with a text, wherever it was; merges count, too."""
    found = ran(base.top, "log", "-1", "-m", "--format=%H", f"--find-object={_id(base, text)}", base.commit)
    return not found.returncode and bool(found.stdout)


def _id(base: Base, text: str) -> str:
    return object_id(text.encode(), len(base.commit))
