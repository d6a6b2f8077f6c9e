"""A review as the comment of a pull request: all that matters first, lists folded, and never longer than one may be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from tfgitops.report.markdown import code, html_code, plain, row
from tfgitops.report.text import totals
from tfgitops.review import phrases as words
from tfgitops.spec.diagnostics import a_few, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.review.changes import Change, Verdict
    from tfgitops.review.reviewresult import EnvironmentReview, Group, Review, Risk
    from tfgitops.spec.diagnostics import Diagnostic

LIMIT = 65_000
"""Characters of a comment; GitHub takes 65,536."""

_NUMBER = 8  # characters that the number of rows left out may take
_LAST = 100  # characters of the line that says what was left out
_OPEN_ROWS = 6  # a longer list is folded
_ITEMS_MAX = 40
_STALE_MAX = 3
_TITLES: dict[Verdict, str] = {
    "refused": "Refused by the cluster", "renamed": "Renamed, and start anew",
    "restart": "Change in place, and restart", "added": "New", "removed": "Removed",
    "in place": "Change in place",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part that stays or goes as a whole, but for its rows; ``more`` says how many rows are missing."""

    head: Sequence[str]
    rows: Sequence[str] = ()
    tail: Sequence[str] = ()
    more: str = "- … and {} more"

    @property
    def least(self) -> int:
        """How long it is without its rows."""
        return _length((*self.head, *self.tail)) + (len(self.more) + _NUMBER if self.rows else 0)

    def within(self, room: int) -> list[str]:
        """Return its lines, with the first rows that have room."""
        fitting = sum(used <= room for used in accumulate(len(row) + 1 for row in self.rows))
        rows, left = self.rows[:fitting], len(self.rows) - fitting
        return [*self.head, *rows, *([self.more.format(left)] if left else []), *self.tail]


def fit(blocks: Iterable[Block], room: int) -> tuple[list[str], int]:
    """Return the lines of all blocks that have room, in their order, and how many have none.

    All of them are thought of before the rows of any; short lists are whole before long ones get what is left.
    """
    kept, left_out = [], 0
    for block in blocks:
        if block.least <= room:
            kept.append(block)
            room -= block.least
        else:
            left_out += 1
    shares: dict[int, int] = {}
    for number, index in enumerate(sorted(range(len(kept)), key=lambda index: _length(kept[index].rows))):
        shares[index] = min(_length(kept[index].rows), room // (len(kept) - number))
        room -= shares[index]
    return [line for index, block in enumerate(kept) for line in block.within(shares[index])], left_out


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def render(review: Review, diagnostics: Sequence[Diagnostic] = ()) -> str:
    """Return the Markdown of a review; problems are counted, and shown elsewhere."""
    compared = f"Compared with {code(review.ref)}, merge base {code(review.commit[:10])}."
    head = [f"### tfgitops: {words.headline(review)}", "", compared]
    if diagnostics:
        head.append(f"**{totals(diagnostics)}** in the specs: see the log of `tfgitops review`.")
    room = LIMIT - _LAST - _length(head)
    tail, left_out = fit([*_queues(review), *_risks(review.risks), *_stale(review)], room // 2)
    body, more = fit(_blocks(review), room - _length(tail))
    if left_out := left_out + more:
        body += ["", f"*{counted(left_out, 'part')} left out, to fit into one comment: run `tfgitops review`.*"]
    return "\n".join([*head, *body, *tail]).rstrip() + "\n"


def _blocks(review: Review) -> Iterator[Block]:
    """Yield what may be left out or cut, in the order in which it is shown, the most important first."""
    for one in review.environments:
        if not words.has_news(one):
            continue
        state = words.state(one)
        cluster = "" if one.state == "broken" else f", cluster {plain(one.cluster)}"
        yield Block(head=["", f"#### {plain(one.name)}{cluster}{state and plain(state)}"])
        first, *others = _TITLES
        yield from _objects(one, first)
        for group in one.groups:
            yield _group(group, review)
        for verdict in others:
            yield from _objects(one, verdict)
        if one.notes:
            yield Block(head=[""], rows=[f"- {plain(note)}" for note in one.notes])
        if one.pinned:
            yield Block(head=["", f"Kept by a pin: {a_few([*map(plain, one.pinned)], _ITEMS_MAX)}."])
        if one.changes and one.unchanged:
            yield Block(head=["", f"Unchanged: {words.unchanged(one)}."])


def _objects(one: EnvironmentReview, verdict: Verdict) -> Iterator[Block]:
    if changes := one.of(verdict):
        jobs = sum(change.is_job for change in changes)
        parts = ((jobs, "training"), (len(changes) - jobs, "other object"))
        summary = ", ".join(counted(number, thing) for number, thing in parts if number)
        head, rows = ["", f"**{_TITLES[verdict]}**", ""], list(map(_change, changes))
        yield _folded(head, rows, summary) if len(rows) > _OPEN_ROWS * 2 else Block(head=head, rows=rows)


def _folded(head: Sequence[str], rows: Sequence[str], summary: str, more: str = Block.more) -> Block:
    opened = f"<details><summary>{summary}</summary>"
    return Block(head=[*head, opened, ""], rows=rows, tail=["", "</details>"], more=more)


def _group(group: Group, review: Review) -> Block:
    """Say what caused some runs and what they share, and of each, in a table, what it has beside."""
    changes = group.changes
    number = f"{len(changes)} trainings start" if len(changes) > 1 else "1 training starts"
    reasons = ", ".join(
        f"{code(label)}" + (f" ({plain(place)})" if place else "") for label, place in words.why(group, review)
    )
    said, own = words.shared_fields(changes)
    fields = [f"- {one}" for one in _fields(said)]
    head = ["", f"**{number} anew** because of {reasons}", *([""] if fields else []), *fields, ""]
    same = not group.also and not any(own.values())
    columns = ["training", "run that ends", "run that starts", *([] if same else ["what differs"])]
    title = [row(columns), "|" + "---|" * len(columns)]
    rows = [_row(change, None if same else own.get(change.path, ()), group) for change in changes]
    more = "| … and {} more" + " |" * len(columns)
    if len(changes) <= _OPEN_ROWS:
        return Block(head=[*head, *title], rows=rows, more=more)
    first = ", ".join(html_code(change.title) for change in changes[:_OPEN_ROWS])
    folded = _folded(head, rows, f"{first} and {len(changes) - _OPEN_ROWS} more", more)
    return replace(folded, head=[*folded.head, *title])


def _row(change: Change, own: Sequence[words.Field] | None, group: Group) -> str:
    cells = [plain(change.title), code(change.old_name), code(change.new_name)]
    if own is not None:
        also = [
            f"also because of {code(label)} ({plain(place)})"
            for label, place in map(words.reason, group.also.get(change.path, ()))
        ]
        cells.append("; ".join([*_fields(own), *also]))
    return row(cells)


def _fields(said: Sequence[words.Field]) -> Iterator[str]:
    """Yield each of the first few fields, and a word for the rest."""
    shown, rest = words.few(said)
    for name, before, after in shown:
        yield f"{plain(name)}: {code(before)} → {code(after)}" if before or after else plain(name)
    if rest:
        yield rest


def _change(change: Change) -> str:
    name = f"**{plain(change.title)}**" if change.is_job else f"{plain(change.kind)} **{plain(change.title)}**"
    if change.verdict == "renamed":
        return f"- {code(change.old_name)} → {code(change.new_name)}"
    if change.verdict in ("added", "removed"):
        return f"- {name}" + (f" as {code(change.new_name or change.old_name)}" if change.is_job else "")
    said = [*_fields(words.fields_of(change)), *([plain(change.reason)] if change.reason else [])]
    return f"- {name}: {'; '.join(said)}"


def _queues(review: Review) -> Iterator[Block]:
    changed = words.queue_table(review)
    if not changed:
        return
    rows = []
    for queue, amounts in changed:
        name = plain(queue)
        for title, *numbers, limit in amounts:
            rows.append(row([name, plain(title), *numbers, limit and plain(limit)]))
            name = ""
    columns = "| queue | asked for by its jobs | before | after | change | capability |"
    head = ["", "#### Queues", "", columns, "|---|---|---:|---:|---:|---|"]
    tail = []
    if review.broken:
        tail += ["", f"Without {a_few([*map(code, review.broken)], _ITEMS_MAX)}."]
    if review.beside:
        tail += ["", f"With the jobs of {a_few([*map(code, review.beside)], _ITEMS_MAX)}, not reviewed here."]
    yield Block(head=head, rows=rows, tail=tail, more="| … and {} more rows | | | | | |")


def _risks(risks: Sequence[Risk]) -> Iterator[Block]:
    if risks:
        rows = [f"- {plain(risk.environment)}: {plain(risk.said)}" for risk in risks]
        yield Block(head=["", "#### What can go wrong", ""], rows=rows)


def _stale(review: Review) -> Iterator[Block]:
    if found := words.stale(review):
        few = a_few([f"{state} {code(path)}" for state, path in found], _STALE_MAX)
        said = f"> **The committed manifests are not as the specs say**: run `tfgitops build`. {few}"
        yield Block(head=["", said])
