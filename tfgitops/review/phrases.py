"""The phrases that all forms of a review share: fields, amounts, causes and counts."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from tfgitops.review.causes import is_discovery
from tfgitops.review.reviewresult import NO_LINE
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import counted
from tfgitops.spec.disk import shown
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.routes import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tfgitops.review.causes import Cause
    from tfgitops.review.changes import Change, FieldChange
    from tfgitops.review.reviewresult import Amount, EnvironmentReview, Group, QueueTotals, Review

_VALUE_MAX = 60
_FIELDS_MAX = 8
_TASK = re.compile(r"spec\.tasks\[([^\]]+)\](?:\.(.*))?").fullmatch
_ADDRESSES = "the addresses of its pods (TF_CONFIG)"
_ADDRESSES_OF_JOB = "the addresses of the pods of a job"

Field = tuple[str, str, str]
"""What is said of one field: its name with the roles that have it, the value before, the value after."""

Row = tuple[str, str, str, str, str]
"""What is said of one resource of a queue: its title, the amounts before and after, the change, the capability."""

_STATES = {
    ("new", False): "all of it is new",
    ("new", True): "new, with objects that another environment had",
    ("gone", False): "there is no spec any more: all of it goes",
    ("gone", True): "there is no spec any more: objects that are not listed belong to another environment now",
    ("broken", False): "does not compile: see the problems",
}


def state(one: EnvironmentReview) -> str:
    """Say what becomes of an environment as a whole, to stand behind its name; "" if it is as it was."""
    said = _STATES.get((one.state, one.shared), "")
    if one.moved:
        said = f"was {named(one.moved)}" if one.state == "new" else f"is {named(one.moved)} now"
    if one.other_cluster:
        said = f"it is on cluster {one.other_cluster} now, so all of it goes from here"
        if one.state == "new":
            said = f"it was on cluster {one.other_cluster}, so all of it is new here"
    return f": {said}" if said else ""


def headline(review: Review) -> str:
    """Sum up in one sentence what becomes of the trainings."""
    said = _becomes(review)
    if not said and any(one.changes for one in review.environments):
        said = ["no training restarts, starts or stops"]
    elif not said:
        said = ["the specs change nothing" if review.by_hand or review.stale else "nothing will change"]
        if review.stale:
            said = [f"{said[0]}, but {_manifests(review.stale, 'not as they say')}"]
    elif unchanged := sum(one.jobs_unchanged for one in review.environments):
        number = str(unchanged) if "training" in " ".join(said) else counted(unchanged, "training")
        said.append(f"{number} {'keeps' if unchanged == 1 else 'keep'} running")
    return ", ".join([_manifests(review.by_hand, "not as generated")] * bool(review.by_hand) + said)


def _becomes(review: Review) -> list[str]:
    counts, broken = review.counts(), len(review.broken)
    refused = counts["refused"]
    said = [f"{counted(refused, 'object')} refused by the cluster"] if refused else []
    if broken:
        said.append(f"{broken} environment{' does' if broken == 1 else 's do'} not compile")
    thing = "training"
    for number, one, many in (
        (counts["new run"] + counts["renamed"] + counts["restart"], "restarts", "restart"),
        (counts["added"], "starts", "start"),
        (counts["removed"], "stops", "stop"),
        (counts["in place"], "changes in place", "change in place"),
    ):
        if number:
            said.append(f"{counted(number, thing) if thing else number} {one if number == 1 else many}")
            thing = ""  # the other numbers are of trainings, too
    return said


def _manifests(number: int, what: str) -> str:
    return f"{number} manifest{' is' if number == 1 else 's are'} {what}"


def has_news(one: EnvironmentReview) -> bool:
    """Tell whether there is anything to say of an environment."""
    return bool(one.changes or one.notes) or one.state not in ("compared", "gone" if one.moved else "")


def unchanged(one: EnvironmentReview) -> str:
    """Count the unchanged objects of an environment."""
    others = one.unchanged - one.jobs_unchanged
    return f"{counted(one.jobs_unchanged, 'training')}, {counted(others, 'other object')}"


def stale(review: Review) -> list[tuple[str, str]]:
    """Return the state and path of each manifest that `build` will write or remove; it leaves the files of others."""
    return [
        (found.state, f"{near(shown(one.folder / MANIFESTS))}/{found.path}")
        for one in review.environments
        for found in one.differences
        if found.state != "foreign"
    ]


def near(path: str) -> str:
    """Name a path from here, with dots where that is shorter."""
    return min(path, os.path.relpath(path), key=len) if os.path.isabs(path) else path  # noqa: PTH117 - a text


def named(folder: Path) -> str:
    """Name an environment by its path from here, or by its folder's name instead of a dot."""
    name = near(shown(folder))
    return folder.name if name == "." else name


def why(group: Group, review: Review) -> list[tuple[str, str]]:
    """Return the causes of new runs, each with its place."""
    if not group.causes:
        outside = ", ".join(review.outside)
        return [(NO_LINE if outside else f"{NO_LINE} (no file says so)", outside)]
    return [reason(cause) for cause in group.causes]


def reason(cause: Cause) -> tuple[str, str]:
    """Return a cause and its place."""
    return cause.label, f"{near(cause.span.file)}:{cause.span.line}"


def shared_fields(changes: Sequence[Change]) -> tuple[list[Field], dict[str, list[Field]]]:
    """Return the fields that some changes share, and the other fields of each by its path."""
    if len(changes) == 1:
        return fields_of(changes[0]), {}
    said = {change.path: _fields(change) for change in changes}
    first = next(iter(said.values()))
    shared = [plain for plain in first if all(plain in one for one in said.values())]
    own = {path: [named for plain, named in one.items() if plain not in shared] for path, one in said.items()}
    return shared, own


def fields_of(change: Change) -> list[Field]:
    """Return the fields that differ, one of several roles once, with its roles unless all have it."""
    return list(_fields(change).values())


def _fields(change: Change) -> dict[Field, Field]:
    """Return the fields that differ without their roles, each with the same field as it is said with them."""
    grouped: dict[Field, list[str]] = {}
    telling = [(*_short(field.path), field, remark) for field, remark in _telling(change)]
    of_job = {name: _said(field, name + remark) for role, name, field, remark in telling if not role}
    apart = set()  # a role's fields that else look like the job's own
    for role, name, field, remark in telling:
        said = _said(field, name + remark)
        holders = grouped.setdefault(said, [])
        if role and role not in holders:
            holders.append(role)
        if of_job.get(name, said) != said:
            apart.add(said)
    number = len(change.manifest["spec"].get("tasks") or ()) if change.is_job else 0
    return {
        (name, before, after): (f"{', '.join(holders)}: {name}", before, after)
        if holders and (len(holders) < number or (name, before, after) in apart) and name != _ADDRESSES
        else (name, before, after)
        for (name, before, after), holders in grouped.items()
    }


def _said(field: FieldChange, name: str) -> Field:
    """Say what becomes of a field; of a whole block that only one side has, just that."""
    if is_discovery(field):
        return _ADDRESSES if field.at[:2] == ("spec", "tasks") else _ADDRESSES_OF_JOB, "", ""
    if field.before is MISSING and _is_block(field.after):
        return f"{name} (new)", "", ""
    if field.gone and _is_block(field.before):
        return f"{name} (gone)", "", ""
    return name, *_both(*map(value, field.shown))


def _both(before: str, after: str) -> tuple[str, str]:
    """Cut two long values to where they differ, with a little of the text before."""
    start = 0
    if max(len(before), len(after)) > _VALUE_MAX:
        pairs = enumerate(zip(before, after, strict=False))
        same = next((index for index, (one, other) in pairs if one != other), min(len(before), len(after)))
        start = max(0, same - _VALUE_MAX // 3)
    return _cut(before, start), _cut(after, start)


def _cut(text: str, start: int) -> str:
    text = f"…{text[start:]}" if start else text
    return text if len(text) <= _VALUE_MAX else text[: _VALUE_MAX - 1] + "…"


def _is_block(given: Any) -> bool:
    if isinstance(given, dict):
        return bool(given) and given.keys() != {"name", "value"}
    return isinstance(given, list) and any(isinstance(item, dict | list) for item in given)


def _telling(change: Change) -> list[tuple[FieldChange, str]]:
    """Return the fields that explain a change, each with a remark if it is no reason.

    Addresses change because the number of pods does, so all fields are shown; else fields that change in place come
    behind the reasons.
    """
    if change.verdict != "new run":
        return [(field, "") for field in change.hard or change.fields]
    if any(is_discovery(field) for field in change.hard):
        return [(field, "") for field in change.fields]
    mild = [(field, " (in place)") for field in change.fields if field not in change.hard]
    return [*((field, "") for field in change.hard), *mild]


def few(said: Sequence[Field]) -> tuple[Sequence[Field], str]:
    """Return the first few fields, and a word for the rest."""
    rest = len(said) - _FIELDS_MAX
    return (said, "") if rest <= 1 else (said[:_FIELDS_MAX], f"and {rest} more fields")


def _short(path: str) -> tuple[str, str]:
    """Return the role that a field is of, and its name as a spec would say it."""
    task = _TASK(path)
    if not task:
        return "", path.removeprefix("spec.").removeprefix("metadata.") or path
    rest = (task[2] or "the role").removeprefix("template.spec.containers[tensorflow].")
    rest = re.sub(r"^template\.(spec|metadata)\.", "pod ", rest)
    return task[1], re.sub(r"^env\[([^\]]+)\](\.value)?$", r"env \1", rest)


def value(given: Any) -> str:
    """Write a value of a manifest on one line."""
    if given is MISSING:
        return "(none)"
    if isinstance(given, dict) and given.keys() == {"name", "value"}:  # a whole variable
        given = given["value"]
    if isinstance(given, str):
        return given if given.isprintable() and given else json.dumps(given, ensure_ascii=False)
    if isinstance(given, list) and all(isinstance(item, str) for item in given):
        return "[" + ", ".join(item if item.isprintable() else json.dumps(item) for item in given) + "]"
    return json.dumps(given, ensure_ascii=False, separators=(", ", ": "))


def amount(resource: str, nanos: int) -> str:
    """Write an amount of a resource: memory by Gi, all else by number."""
    if not nanos:
        return "0"
    if resource == "memory":
        gibi = nanos / quantity.NANO / 2**30
        return f"{gibi:,.0f}Gi" if gibi >= 10 or gibi == int(gibi) else f"{gibi:.1f}Gi"  # noqa: PLR2004
    return f"{nanos / quantity.NANO:,.3f}".rstrip("0").rstrip(".")


def _capability(one: Amount, queue: QueueTotals) -> str:
    """Write a queue's limit of a resource, the earlier one if it differs, and whether its jobs exceed it."""
    if queue.state == "external":
        return "not ours to know"
    before, after = ("no limit" if most is None else amount(one.resource, most) for most in (one.was_most, one.most))
    if queue.state == "gone":
        return f"was {before}"
    said = after if before == after or queue.state == "new" else f"{before} → {after}"
    return f"{said} (they take turns)" if one.most is not None and one.after > one.most else said


def _queue_rows(one: QueueTotals, *, everything: bool) -> Iterator[Row]:
    """Yield the requests that change, or all."""
    change = one.jobs_after - one.jobs_before
    yield "jobs", str(one.jobs_before), str(one.jobs_after), f"{change:+d}" if change else "", ""
    for asked in one.amounts:
        if asked.changed or everything:
            before, after = amount(asked.resource, asked.before), amount(asked.resource, asked.after)
            more = asked.after - asked.before
            difference = f"{'+' if more > 0 else '-'}{amount(asked.resource, abs(more))}" if more else ""
            yield asked.title, before, after, difference, _capability(asked, one)


def queue_table(review: Review, *, everything: bool = False) -> list[tuple[str, list[Row]]]:
    """Return the queues that change, or all, each by its name, with its cluster where there are several."""
    several = len({one.cluster for one in review.queues}) > 1
    return [
        (f"{one.cluster}/{one.name}" if several else one.name, list(_queue_rows(one, everything=everything)))
        for one in review.queues
        if one.changed or everything
    ]
