"""A job in short, for people: strategy, queue, gang, roles and totals, and what its name is made of."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tfgitops.report.text import table
from tfgitops.targets.volcano.identity import DIGITS, MUTABLE_JOB, MUTABLE_TASK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.provenance.summary import Summary
    from tfgitops.report.explanation import Paper
    from tfgitops.spec.diagnostics import Span

_INDENT = 10


def job_summary(summary: Summary, manifest: str, paper: Paper) -> str:
    """Return what `explain` says of a whole job; ``manifest`` is the path of its manifest."""
    gang = f"{summary.pods} pods, of which {summary.min_available} must be able to start for any to start"
    if summary.min_available == summary.pods:
        gang = f"{summary.pods} pods, which start together or not at all" if summary.pods > 1 else "1 pod"
    rows = [
        ("job", f"{summary.job}  {_place(summary.span)}"),
        ("object", f"{summary.object}, in the namespace {summary.namespace}"),
        ("manifest", manifest),
        *(
            (_base(name), _place(span) if name == "defaults" else f"{name[5:]}  {_place(span)}")
            for name, span in summary.bases
        ),
        ("strategy", _strategy(summary)),
        ("queue", f"{summary.queue}  {summary.queue_origin.layer}, {_place(summary.queue_origin.span)}"),
        ("gang", gang),
    ]
    lines = [f"{_labelled(label, paper)}{text}" for label, text in rows]
    lines += ["", *_roles(summary, paper), "", *_images(summary, paper), "", *_name(summary, paper)]
    more = f"name a field, such as spec.tasks[{summary.parts[0].name}].replicas, or . for all"
    lines += ["", f"{_labelled('more', paper)}{more}"]
    return "\n".join(lines) + "\n"


def _base(name: str) -> str:
    return "from" if name.startswith("from ") else name


def _place(span: Span) -> str:
    return f"{span.file}:{span.line}"


def _strategy(summary: Summary) -> str:
    if summary.strategy_span:
        return f"{summary.strategy}, given  {_place(summary.strategy_span)}"
    return f"{summary.strategy}, since {summary.why}"


def _roles(summary: Summary, paper: Paper) -> Iterator[str]:
    """Yield a table of the roles: their pods, what each pod asks for, and what all of them do."""
    resources = list(summary.total)
    head = ("role", "pods", *resources)
    rows = [
        head,
        *((part.name, str(part.pods), *(part.requests.get(name, "") for name in resources)) for part in summary.parts),
        ("all", str(summary.pods), *summary.total.values()),
    ]
    first, *others = table(rows, right=range(1, len(head)))
    yield paper.paint("bold", first)
    yield from others


def _images(summary: Summary, paper: Paper) -> Iterator[str]:
    images: dict[str, list[str]] = {}
    for part in summary.parts:
        for image in part.images:
            images.setdefault(image, []).append(part.name)
    for image, roles in images.items():
        of = "" if len(roles) == len(summary.parts) else f"  ({', '.join(roles)})"
        yield f"{_labelled('image', paper)}{image}{of}"


def _name(summary: Summary, paper: Paper) -> Iterator[str]:
    """Say what the digest in a job's name covers: when there is a new run, and when not."""
    tasks = " and ".join(f"`{name}`" for name in sorted(MUTABLE_TASK))
    jobs = " and ".join(f"`{name}`" for name in sorted(MUTABLE_JOB))
    text = (
        f"{summary.object} is the job's name and {DIGITS} digits of a digest. It covers all of `spec` but {jobs}, and "
        f"of each task {tasks}: these change in place, as labels and annotations of the Job do. Any other change is a "
        "new run under a new name, and the old one is pruned."
    )
    if summary.counted:
        text += f" TF_CONFIG names every host, so the replicas of {_and(summary.counted)} count all the same."
    for index, line in enumerate(textwrap.wrap(text, paper.width - _INDENT, break_on_hyphens=False)):
        yield f"{_labelled('' if index else 'name', paper)}{line}"


def _labelled(label: str, paper: Paper) -> str:
    return paper.paint("bold", label.ljust(_INDENT))


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
