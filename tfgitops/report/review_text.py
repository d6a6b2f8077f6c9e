"""A review for a terminal: what restarts and why, what each queue gains, what can go wrong, in 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tfgitops.plugins.plain import printable
from tfgitops.report.text import paint, table, wrapped
from tfgitops.review import phrases as words
from tfgitops.spec.diagnostics import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.review.changes import Change, Verdict
    from tfgitops.review.reviewresult import EnvironmentReview, Group, Review

_WIDTH = 80
_NAMES_MAX = 30
_STALE_MAX = 5
_BECOMES: dict[Verdict, tuple[str, str]] = {
    "refused": ("refused by the cluster", "error"), "renamed": ("renamed, and starts anew", "warning"),
    "restart": ("changes in place, and restarts", "warning"), "added": ("new", "help"),
    "removed": ("removed", "error"), "in place": ("changes in place", "note"),
}  # fmt: skip
"""The title of those of which something becomes, and its style."""

_HEAD = ("", "before", "after", "change", "capability")


def render(review: Review, *, colour: bool = False, verbose: bool = False) -> str:
    """Return the text of a review; ``verbose`` lists all names, and queues in which nothing changes."""
    page = _Page(review, colour=colour, verbose=verbose)
    parts = [
        *(page.environment(one) for one in review.environments if words.has_news(one) or verbose),
        page.queues(), page.risks(), page.stale(),
    ]  # fmt: skip
    headline = words.headline(review)
    head = f"{headline[:1].upper()}{headline[1:]} (against {printable(review.ref)}, merge base {review.commit[:10]})"
    lines = [page.paint("bold", line) for line in textwrap.wrap(head, _WIDTH)]
    for part in parts:
        found = list(part)
        lines += ["", *found] if found else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


class _Page:
    def __init__(self, review: Review, *, colour: bool, verbose: bool) -> None:
        self._review = review
        self._colour = colour
        self._verbose = verbose

    def paint(self, style: str, text: str) -> str:
        return paint(style, text, colour=self._colour)

    def environment(self, one: EnvironmentReview) -> Iterator[str]:
        cluster = "" if one.state == "broken" else f" (cluster {printable(one.cluster)})"
        title = f"{printable(one.name)}{cluster}{printable(words.state(one))}"
        yield from (self.paint("bold", line) for line in _wrapped(title, 0))
        for group in one.groups:
            yield from self._new_runs(group)
        for verdict, (title, style) in _BECOMES.items():
            if changes := one.of(verdict):
                yield f"  {self.paint(style, title)}"
                yield from self._cut([line for change in changes for line in self._change(change)])
        for note in one.notes:
            yield from _wrapped(f"note: {printable(note)}", 2)
        if one.pinned:
            yield from _wrapped(f"kept by a pin: {printable(', '.join(one.pinned))}", 2)
        if one.changes and one.unchanged:
            yield f"  unchanged: {words.unchanged(one)}"

    def _new_runs(self, group: Group) -> Iterator[str]:
        changes = group.changes
        number = f"{len(changes)} new runs" if len(changes) > 1 else "new run"
        yield f"  {self.paint('warning', number)}, because of"
        for reason in words.why(group, self._review):
            yield from self._reason(*reason, 4)
        said, own = words.shared_fields(changes)
        yield from self._fields(said, 6)
        width = max(len(change.title) for change in changes)
        lines = []
        for change in changes:
            lines += _run(change, width)
            for label, place in map(words.reason, group.also.get(change.path, ())):
                lines += self._reason(f"also {label}", place, 8)
            lines += self._fields(own.get(change.path, ()), 8)
        yield from self._cut(lines)

    def _reason(self, label: str, place: str, indent: int) -> Iterator[str]:
        """Yield a cause with its place behind it, or below it where both do not go on one line."""
        label, place = printable(label), printable(place)
        if indent + len(label) + len(place) + 2 <= _WIDTH:
            yield f"{' ' * indent}{label}  {self.paint('place', place)}".rstrip()
        else:
            yield from _wrapped(label, indent)
            yield f"{' ' * (indent + 2)}{self.paint('place', place)}"

    def _change(self, change: Change) -> Iterator[str]:
        if change.verdict == "renamed":
            yield from _run(change, 0)
            return
        name = change.title if change.is_job else f"{change.kind} {change.title}"
        if change.is_job and change.verdict in ("added", "removed"):
            name += f"  ({change.new_name or change.old_name})"
        yield f"    {printable(name)}"
        yield from self._fields(words.fields_of(change), 8)
        if change.reason:
            yield from _wrapped(printable(change.reason), 8)

    def _fields(self, said: Sequence[words.Field], indent: int) -> Iterator[str]:
        shown, rest = words.few(said)
        for name, before, after in shown:
            text = f"{name}  {before} → {after}" if before or after else name
            if len(text) + indent <= _WIDTH:
                yield " " * indent + printable(text)
                continue
            yield from _wrapped(printable(f"{name}  {before}"), indent)
            yield from _wrapped(printable(f"→ {after}"), indent + 4)
        if rest:
            yield " " * indent + rest

    def _cut(self, lines: Sequence[str]) -> Sequence[str]:
        one_more = len(lines) <= _NAMES_MAX + 1
        return lines if self._verbose or one_more else _shortened(lines, _NAMES_MAX, "    {} lines (-v shows all)")

    def queues(self) -> Iterator[str]:
        shown = words.queue_table(self._review, everything=self._verbose)
        if not shown:
            return
        head, *lines = table([_HEAD, *(row for _, rows in shown for row in rows)], right=range(1, 4))
        yield self.paint("bold", "what the jobs of each queue ask for")
        yield f"  {head}"
        for name, rows in shown:
            yield printable(name)
            yield from (f"  {printable(lines.pop(0))}" for _ in rows)
        if beside := self._review.beside:
            yield from _wrapped(f"(with the jobs of {printable(', '.join(beside))}, not reviewed here)", 0)
        if broken := self._review.broken:
            yield from _wrapped(f"(without {printable(', '.join(broken))})", 0)

    def risks(self) -> Iterator[str]:
        if self._review.risks:
            yield self.paint("warning", "what can go wrong")
        said = (printable(f"{risk.environment}: {risk.said}") for risk in self._review.risks)
        yield from self._cut([line for one in said for line in _wrapped(one, 2, "- ")])

    def stale(self) -> Iterator[str]:
        if found := words.stale(self._review):
            number = counted(len(found), "file")
            said = f"the committed manifests are not as the specs say ({number}):"
            advice = "run `tfgitops build`"
            yield from [f"{said} {advice}"] if len(said) + len(advice) < _WIDTH else [said, f"  {advice}"]
            for line in _shortened([f"{state}  {printable(path)}" for state, path in found], _STALE_MAX):
                yield from _wrapped(line, 2)


def _shortened(lines: Sequence[str], most: int, more: str = "{}") -> Sequence[str]:
    """Return the first lines, and one that counts the others: ``more`` stands around `… and 3 more`."""
    left = len(lines) - most
    return lines if left <= 0 else [*lines[:most], more.format(f"… and {left} more")]


def _run(change: Change, width: int) -> list[str]:
    """Name a job and its runs on one line, or on three where they are long."""
    title, old, new = map(printable, (change.title, change.old_name, change.new_name))
    line = f"    {title:<{width}}  {old} → {new}"
    return [line] if len(line) <= _WIDTH else [f"    {title}", f"        {old}", f"      → {new}"]


def _wrapped(text: str, indent: int, bullet: str = "") -> list[str]:
    return wrapped(text, " " * indent + bullet, " " * (indent + 2))
