"""Tries the admission model on recorded verdicts of a real cluster, and prints the differences.

    python conformance/verdicts.py [DIR]

DIR is any folder laid out like `tests/verdicts` (the default); files that it lacks are skipped. The last line is the
totals. Exit status 1 on a false accept that is not listed in MISSING, and on a false reject by a rule that is not on
the public list STRICTER; 2 where there are no verdicts to compare with.
"""

from __future__ import annotations

import copy
import gzip
import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobupdates import judge_update

from tfgitops.targets.volcano.defaults import drift, noop, stored
from tfgitops.targets.volcano.job import judge_job
from tfgitops.targets.volcano.queue import judge_queue
from tfgitops.targets.volcano.stricter import STRICTER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Route

Json = dict[str, Any]

COMMITTED = Path(__file__).resolve().parent.parent / "tests" / "verdicts"
FILES = ("create", "update", "queue")

# Rules of Kubernetes's Pod validation that the model lacks, with the reason. At most 1 % of the rejected.
MISSING: dict[str, str] = {}


class NoVerdictsError(Exception):
    """Raised if a folder has no readable verdicts; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One recorded verdict, with the objects that it is about."""

    record: Json
    old: Json | None
    new: Json
    queues: Sequence[Json]

    @property
    def rule(self) -> str:
        """Return the rule that rejected the object, or nothing if it was allowed."""
        return "" if self.record["allowed"] else self.record["rule"] or "(no rule given)"

    @property
    def rules(self) -> dict[str, str]:
        """Return the rules that the object breaks, each with its JSON pointer."""
        return dict([(self.record["rule"], self.record["at"]), *self.record.get("also", ())])


@dataclass(kw_only=True)
class Report:
    """The result of a comparison."""

    cases: Counter[str] = field(default_factory=Counter)  # by the rule that rejected; "" if allowed
    missed: defaultdict[str, list[Case]] = field(default_factory=lambda: defaultdict(list))
    stricter: defaultdict[str, list[Case]] = field(default_factory=lambda: defaultdict(list))
    same: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)

    @property
    def missed_cases(self) -> int:
        """Count an object that the cluster rejected and the model accepted."""
        return sum(map(len, self.missed.values()))

    @property
    def stricter_cases(self) -> int:
        """Count an object once that the model rejected and the cluster accepted."""
        return len({case.record["id"] for cases in self.stricter.values() for case in cases})

    def compare(self, what: str, *, same: bool) -> None:
        """Count one comparison of something beside the verdict."""
        self.asked[what] += 1
        self.same[what] += same


def load(folder: Path) -> Iterator[Case]:
    """Read the cases of a folder.

    Raises:
        NoVerdictsError: it has none, or what it has is not laid out like `tests/verdicts`.
    """
    there = [file for name in FILES if (file := _file(folder, name))]
    if not there:
        raise NoVerdictsError(f"{folder} holds none of {', '.join(f'{name}.jsonl' for name in FILES)}, plain or .gz")
    if not (folder / "bases.json").is_file():
        raise NoVerdictsError(f"{folder} holds no bases.json, from which the manifests are made")
    bases = json.loads((folder / "bases.json").read_text(encoding="utf-8"))
    for file in there:
        for number, line in enumerate(_text(file).rstrip("\n").split("\n"), 1):
            try:
                yield _case(json.loads(line), bases)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise NoVerdictsError(f"{file}:{number}: no such record: {type(error).__name__}: {error}") from error


def _file(folder: Path, name: str) -> Path | None:
    files = (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")
    return next((file for file in files if file.is_file()), None)


def _text(file: Path) -> str:
    packed = file.read_bytes()
    return (gzip.decompress(packed) if file.suffix == ".gz" else packed).decode("utf-8")


def _case(record: Json, bases: Json) -> Case:
    base = bases["objects"][record["base"]]
    op = record.get("op") or ("update" if "oldPatch" in record else "create")
    return Case(
        record=record,
        old=patched(base, record["oldPatch"]) if op == "update" else None,
        new=patched(base, record["patch"]),
        queues=bases["queueSets"][record["queues"]],
    )


def patched(base: Json, operations: Sequence[Json]) -> Json:
    """Apply an RFC 6902 patch of add, remove and replace."""
    for operation in operations:
        path = [_unescaped(key) for key in operation["path"].split("/")[1:]]
        base = _applied(base, path, operation)
    return base


def _applied(value: Any, path: Sequence[str], operation: Json) -> Any:
    """Return a value with one operation applied; what is not on the path is shared, as copies would take longest."""
    step, *rest = path
    result = copy.copy(value)
    key: Any = step if isinstance(value, dict) else len(value) if step == "-" else int(step)
    if rest:
        result[key] = _applied(value[key], rest, operation)
    elif operation["op"] == "remove":
        del result[key]
    elif operation["op"] == "add" and isinstance(value, list):
        result.insert(key, operation.get("value"))
    else:
        result[key] = operation.get("value")
    return result


def _unescaped(key: str) -> str:
    return key.replace("~1", "/").replace("~0", "~")


def pointer(route: Route) -> str:
    """Write a route as a JSON pointer."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in route)


def judge(case: Case) -> list[Fault]:
    """Ask the model for its verdict."""
    if case.new.get("kind") == "Queue":
        return judge_queue(case.new, case.queues, "create" if case.old is None else "update")
    if case.old is None:
        return judge_job(case.new, case.queues)
    return judge_update(case.old, case.new)


def run(folder: Path = COMMITTED) -> Report:
    """Compare the model with all verdicts of a folder."""
    report = Report()
    for case in load(folder):
        faults = judge(case)
        report.cases[case.rule] += 1
        if case.record["allowed"] and faults:
            for rule in {fault.rule for fault in faults}:
                report.stricter[rule].append(case)
        elif not case.record["allowed"] and not faults:
            report.missed[case.rule].append(case)
        elif faults:
            _compare_faults(report, case, faults)
        else:
            _compare_stored(report, case)
    return report


def _compare_faults(report: Report, case: Case, faults: Sequence[Fault]) -> None:
    rules = case.rules
    report.compare("rule", same=any(fault.rule in rules for fault in faults))
    report.compare("at", same=any(pointer(fault.at) in rules.values() for fault in faults))


def _compare_stored(report: Report, case: Case) -> None:
    pruned = sorted(map(pointer, stored(case.new).notes.pruned))
    report.compare("pruned", same=pruned == case.record["pruned"])
    if case.old is None:
        ours = {pointer(route) for route in drift(case.new)} - {"/spec/parent"}  # the controller's, and later
        report.compare("drift", same=sorted(ours) == case.record["drift"])
    else:
        report.compare("noop", same=noop(case.old, case.new) == case.record["noop"])


def table(report: Report) -> Iterator[str]:
    """Return a report as lines of text, the totals last."""
    yield f"{'rule':72} {'cases':>5} {'agreed':>6} {'missed':>6}"
    for rule, count in sorted(report.cases.items()):
        missed = len(report.missed.get(rule, ()))
        agreed = count - (missed if rule else report.stricter_cases)
        yield f"{rule or '(allowed)':72} {count:5} {agreed:6} {missed:6}"
    yield "\nrefused by us and not by the cluster, by our rule:"
    yield from _listed(report.stricter, STRICTER)
    yield "\nrules that the model does not have:"
    yield from _listed(report.missed, MISSING)
    yield ""
    for what, asked in report.asked.items():
        yield f"{what}: {report.same[what]} of {asked} the same"
    yield totals(report)


def _listed(cases: Mapping[str, Sequence[Case]], reasons: Mapping[str, str]) -> Iterator[str]:
    for rule, found in sorted(cases.items()):
        yield f"  {rule:60} {len(found):4}  {reasons.get(rule, 'NOT LISTED: ' + found[0].record['id'])}"


def totals(report: Report) -> str:
    """Return the totals of a report as one line."""
    cases, missed, stricter = sum(report.cases.values()), report.missed_cases, report.stricter_cases
    agreed = cases - missed - stricter
    return f"{cases} verdicts: {agreed} agreed, {missed} false accepts, {stricter} stricter for a listed reason"


def unlisted(report: Report) -> list[str]:
    """Return the rules by which the model differs from the cluster without a listed reason."""
    return [
        *(rule for rule in report.missed if rule not in MISSING),
        *(rule for rule in report.stricter if rule not in STRICTER),
    ]


def main(arguments: Sequence[str]) -> int:
    """Print the report on a folder; return 1 for unlisted differences, 2 if there is nothing to report on."""
    try:
        report = run(Path(arguments[0]) if arguments else COMMITTED)
    except NoVerdictsError as error:
        sys.stderr.write(f"verdicts: {error}\n")
        return 2
    sys.stdout.write("\n".join(table(report)) + "\n")
    return 1 if unlisted(report) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
