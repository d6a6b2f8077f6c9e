"""Lets Kubernetes's own code judge every committed manifest, then generated specs, and sums it up in one line.

    python conformance/judge.py [--examples N] [--seed N]

`make conformance` builds the judge before. The CRDs are those in VOLCANO_CRDS. Each Job and Queue of `environments/`
and `tests/cases/ok/` is created and then updated with itself; each file is read by three readers. Exit status 1 where
anything is refused, pruned, defaulted or rewritten, or read in two ways; 2 where the judge cannot be asked.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import generated
import readers
import yaml
from oracle import KINDS, ROOT, Judge, NoJudgeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

COMMITTED = ("environments", "tests/cases/ok")
COUNTED = ("refused", "pruned", "drifted", "rewritten")


def committed() -> Iterator[Path]:
    """Yield the files of all committed manifests, sorted."""
    for folder in COMMITTED:
        yield from sorted((ROOT / folder).rglob("manifests/**/*.yaml"))


def judge_committed(judge: Judge, counts: Counter[str]) -> None:
    """Judge each committed file, print what is wrong with it, and count."""
    for path in committed():
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        counts["files"] += 1
        for difference in readers.differences(text, judge):
            counts["misread"] += 1
            print(f"{name}: {difference}")
        for manifest in yaml.load_all(text, yaml.CSafeLoader):
            _judge_object(judge, manifest, f"{name}", counts)


def _judge_object(judge: Judge, manifest: dict[str, Any], name: str, counts: Counter[str]) -> None:
    if manifest["kind"] not in KINDS:
        return
    counts["objects"] += 1
    objections = list(judge.objections(manifest))
    counts.update({objection.kind for objection in objections})
    for objection in objections:
        print(f"{name}: {objection.kind}: {objection.message}")


def summary(counts: Counter[str], seconds: float) -> str:
    """Sum up in one line."""
    outcomes = ", ".join(f"{counts[kind]} {kind}" for kind in COUNTED)
    return (
        f"conformance: {counts['objects']} objects judged: {outcomes}; "
        f"{counts['files']} files read by 3 readers: {counts['misread']} differ; "
        f"{counts['specs']} specs generated, {counts['compiled']} compiled: {counts['disagreements']} disagreements; "
        f"{seconds:.0f} s"
    )


def main(arguments: Sequence[str]) -> int:
    """Judge everything; 1 if anything is not as it should be, 2 if the judge cannot be asked."""
    options = generated.parser(__doc__).parse_args(arguments)
    started, counts = time.perf_counter(), Counter[str]()
    try:
        with Judge() as judge:
            judge_committed(judge, counts)
            generated.search(judge, counts, examples=options.examples, seed=options.seed)
    except NoJudgeError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    print(summary(counts, time.perf_counter() - started))
    wrong = sum(counts[kind] for kind in (*COUNTED, "misread", "disagreements"))
    return int(bool(wrong) or not counts["objects"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
