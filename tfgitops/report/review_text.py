"""A review for a terminal: what restarts and why, what each queue gains, what can go wrong, in 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tfgitops.plain import printable
from tfgitops.review import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.changes import Change, Verdict
    from tfgitops.review.model import EnvironmentReview, Group, QueueTotals, Review, Risk

_WIDTH = 80
_NAMES_MAX = 30
_STALE_MAX = 5
_COLOURS = {
    "refused": "\x1b[1;31m", "new run": "\x1b[1;33m", "renamed": "\x1b[1;33m", "added": "\x1b[1;32m",
    "removed": "\x1b[1;31m", "in place": "\x1b[1;36m", "bold": "\x1b[1m", "risk": "\x1b[1;33m", "place": "\x1b[2m",
}  # fmt: skip
_TITLES: dict[Verdict, str] = {
    "refused": "refused by the cluster", "renamed": "renamed, and starts anew", "added": "new", "removed": "goes away",
    "in place": "changes in place",
}  # fmt: skip


def render(review: Review, *, colour: bool = False, verbose: bool = False) -> str:
    """Return the text of a review; ``verbose`` lists all names, and queues in which nothing changes."""
    page = _Page(colour=colour, verbose=verbose)
    parts = [
        *([page.environment(one)] for one in review.environments if words.has_news(one) or verbose),
        page.queues(review.queues), page.risks(review.risks), page.stale(review.environments),
    ]  # fmt: skip
    head = f"{_sentence(words.headline(review.counts()))} (against {review.ref}, merge base {review.commit[:10]})"
    lines = [page.paint("bold", line) for line in textwrap.wrap(head, _WIDTH)]
    for part in parts:
        found = [*_flat(part)]
        if found:
            lines += ["", *found]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _flat(part: Iterable[object]) -> Iterator[str]:
    for item in part:
        if isinstance(item, str):
            yield item
        else:
            yield from _flat(item)  # type: ignore[arg-type]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


class _Page:
    def __init__(self, *, colour: bool, verbose: bool) -> None:
        self._colour = colour
        self._verbose = verbose

    def paint(self, style: str, text: str) -> str:
        return f"{_COLOURS[style]}{text}\x1b[0m" if self._colour else text

    def environment(self, one: EnvironmentReview) -> Iterator[str]:
        state = f": {words.STATES[one.state]}" if one.state in words.STATES else ""
        yield self.paint("bold", f"{printable(one.name)} (cluster {printable(one.cluster)}){state}")
        for group in one.groups:
            yield from self._new_runs(group)
        for verdict, title in _TITLES.items():
            changes = [change for change in one.changes if change.verdict == verdict]
            if changes:
                yield f"  {self.paint(verdict, title)}"
                yield from self._cut([line for change in changes for line in self._change(change)])
        for note in one.notes:
            yield from _wrapped(f"note: {printable(note)}", 2)
        if one.changes and one.unchanged:
            yield f"  unchanged: {_count(one.jobs_unchanged, 'training')}, {_others(one)}"

    def _new_runs(self, group: Group) -> Iterator[str]:
        changes = group.changes
        number = f"{len(changes)} new runs" if len(changes) > 1 else "new run"
        yield f"  {self.paint('new run', number)}, because of"
        for label, place in words.why(group):
            yield f"    {printable(label)}  {self.paint('place', printable(place))}"
        said = words.shared_fields(changes)
        if said is not None:
            yield from self._fields(said, 6)
        width = max(len(change.title) for change in changes)
        lines = []
        for change in changes:
            lines.append(f"    {change.title:<{width}}  {change.old_name} → {change.new_name}")
            if said is None:
                lines += self._fields(words.fields_of(change), 8)
        yield from self._cut(lines)

    def _change(self, change: Change) -> Iterator[str]:
        name = change.title if change.is_job else f"{change.kind} {change.title}"
        if change.verdict == "renamed":
            name = f"{change.old_name} → {change.new_name}"
        elif change.is_job and change.verdict in ("added", "removed"):
            name += f"  ({change.new_name or change.old_name})"
        yield f"    {printable(name)}"
        if change.reason:
            yield from _wrapped(printable(change.reason), 8)
        elif change.verdict in ("in place", "refused"):
            yield from self._fields(words.fields_of(change), 8)

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

    def _cut(self, lines: list[str]) -> Iterator[str]:
        if self._verbose or len(lines) <= _NAMES_MAX + 1:
            yield from lines
        else:
            yield from lines[:_NAMES_MAX]
            yield f"    … and {len(lines) - _NAMES_MAX} more lines (-v shows all)"

    def queues(self, queues: Sequence[QueueTotals]) -> Iterator[str]:
        rows = [("queue", "asked for by its jobs", "before", "after", "change", "capability")]
        clusters = len({one.cluster for one in queues})
        for one in queues:
            if one.changed or self._verbose:
                name = words.queue_name(one, clusters)
                rows.append((name, "jobs", str(one.jobs_before), str(one.jobs_after), _signed(one), ""))
                rows += [
                    (
                        "", amount.title, words.amount(amount.resource, amount.before),
                        words.amount(amount.resource, amount.after), words.difference(amount),
                        " ".join(filter(None, (words.capability(amount, one), words.remark(amount)))),
                    )
                    for amount in one.amounts
                    if amount.changed or self._verbose
                ]  # fmt: skip
        if len(rows) > 1:
            yield from self._table(rows)

    def _table(self, rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for number, row in enumerate(rows):
            cells = [
                f"{cell:>{width}}" if 2 <= column <= 4 else f"{cell:<{width}}"  # noqa: PLR2004 - the numbers
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            line = printable("  ".join(cells).rstrip())
            yield self.paint("bold", line) if number == 0 else line

    def risks(self, risks: Sequence[Risk]) -> Iterator[str]:
        if risks:
            yield self.paint("risk", "what can go wrong")
        lines = [line for risk in risks for line in _wrapped(printable(_risk(risk)), 2, "- ")]
        yield from self._cut(lines)

    def stale(self, environments: Iterable[EnvironmentReview]) -> Iterator[str]:
        found = [(one, difference) for one in environments for difference in one.differences]
        if found:
            number = _count(len(found), "file")
            yield f"the committed manifests are not as the specs say ({number}): run `tfgitops build`"
            for one, difference in found[:_STALE_MAX]:
                yield f"  {difference.state}  {printable(f'{one.name}/manifests/{difference.path}')}"
            if len(found) > _STALE_MAX:
                yield f"  … and {len(found) - _STALE_MAX} more"


def _signed(one: QueueTotals) -> str:
    change = one.jobs_after - one.jobs_before
    return f"{change:+d}" if change else ""


def _risk(risk: Risk) -> str:
    return f"{risk.environment}: {risk.message}" + (f"; {risk.advice}" if risk.advice else "")


def _others(one: EnvironmentReview) -> str:
    return _count(one.unchanged - one.jobs_unchanged, "further object")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _wrapped(text: str, indent: int, bullet: str = "") -> list[str]:
    first, rest = " " * indent + bullet, " " * (indent + 2)
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
