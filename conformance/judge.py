"""Lets Kubernetes's own code judge committed manifests, kept and generated specs, and prints one line of totals.

    python conformance/judge.py [--examples N] [--seed N] [--or-skip]

The judge is built first, with Go; the CRDs are those in VOLCANO_CRDS. Each object of `environments/` and
`tests/cases/ok/` is created and then updated with itself; each file is read by three readers; each folder is built by
kustomize; the objects beside Jobs of `objects.yaml` are judged; what each key of a spec changes in place is tried as
an update; each spec in `conformance/cases/` and N generated ones are compiled and judged in the same way. Exit status 1
where anything is refused, pruned, defaulted, rewritten, read in two ways or built otherwise; 2 where the judge cannot
be asked.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

import generated
import kustomized
import readers
import updates
import yaml
from crds import ROOT
from furtherkinds import judge_objects
from oracle import KINDS, BrokenJudgeError, Judge, NoJudgeError

from tfgitops import discover

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMMITTED = ("environments", "tests/cases/ok", "tests/releases")
VERDICTS = ("refused", "pruned", "drifted", "rewritten")
WRONG = (*VERDICTS, "misread", "misbuilt", "misjudged", "disagreements")
LOOKED_AT = ("objects", "files", "folders", "kustomized", "updates", "kept", "swept", "compiled")


def committed() -> dict[str, str]:
    """Read the files of all committed manifests, by their paths in the repository, sorted."""
    paths = [path for folder in COMMITTED for path in sorted((ROOT / folder).rglob("manifests/**/*.yaml"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def judge_committed(judge: Judge, files: Mapping[str, str], counts: Counter[str]) -> Iterator[str]:
    """Judge and count each committed file and folder, and yield the disagreements."""
    for path, text in files.items():
        counts["files"] += 1
        yield from _counted(counts, "misread", path, readers.differences(text, judge))
        for manifest in yaml.load_all(text, yaml.CSafeLoader):
            yield from _judge_object(judge, manifest, path, counts)
    for folder, texts in kustomized.by_folder(files).items():
        yield from _counted(counts, "misbuilt", folder, kustomized.differences(texts, judge, counts))


def _judge_object(judge: Judge, manifest: dict[str, Any], name: str, counts: Counter[str]) -> Iterator[str]:
    if manifest["kind"] not in KINDS:
        return
    counts["objects"] += 1
    for objection in judge.objections(manifest):
        yield from _counted(counts, objection.kind, name, [f"{objection.kind}: {objection.message}"])


def judge_updates(judge: Judge, counts: Counter[str]) -> Iterator[str]:
    """Judge and count the changes in place by each key of a spec, and yield the disagreements."""
    found = updates.run(discover())
    yield from _counted(counts, "disagreements", "updates", updates.wrong(found))
    for key, by_context in found.items():
        pairs = [pair for tried in by_context.values() for pair in tried.in_place if pair[0]["kind"] in KINDS]
        counts["updates"] += len(pairs)
        refusals = [said for old, new in pairs if (said := judge.refusal(old, new))]
        yield from _counted(counts, "misjudged", key, refusals)


def _counted(counts: Counter[str], kind: str, name: str, messages: Iterator[str] | Sequence[str]) -> Iterator[str]:
    for message in messages:
        counts[kind] += 1
        yield f"{name}: {message}"


def summary(counts: Counter[str], seconds: float) -> str:
    """Return the totals as one line."""
    verdicts = ", ".join(f"{counts[kind]} {kind}" for kind in VERDICTS)
    return (
        f"conformance: {counts['objects']} objects judged: {verdicts}; "
        f"{counts['files']} files read by 3 readers: {counts['misread']} differ; "
        f"{counts['folders']} folders ({counts['kustomized']} objects) built by kustomize: "
        f"{counts['misbuilt']} differ; "
        f"{counts['updates']} updates in place judged: {counts['misjudged']} refused; "
        f"{counts['kept']} kept, {counts['swept']} swept and {counts['specs']} generated specs, "
        f"{counts['compiled']} compiled: {counts['disagreements']} disagreements; {seconds:.0f} s"
    )


def passed(counts: Counter[str]) -> bool:
    """Tell whether there is no disagreement and nothing was left out."""
    looked_at = all(counts[what] for what in LOOKED_AT)
    return looked_at and not any(counts[kind] for kind in WRONG)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--examples", type=int, default=300, help="how many specs are generated (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another number generates other specs (%(default)s)")
    parser.add_argument("--or-skip", action="store_true", help="where the judge cannot be had, say so and succeed")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Judge everything; return 1 for any disagreement, 2 if the judge cannot be asked."""
    options = _options(arguments)
    started, counts = time.perf_counter(), Counter[str]()
    try:
        with Judge() as judge:
            found = (
                judge_committed(judge, committed(), counts),
                judge_updates(judge, counts),
                judge_objects(judge, counts),
            )
            for line in chain(*found):
                print(line)
            searched = generated.search(judge, counts, examples=options.examples, seed=options.seed)
    except (NoJudgeError, BrokenJudgeError) as error:
        if options.or_skip and isinstance(error, NoJudgeError):
            print(f"conformance: skipped: {error}")
            return 0
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    print(f"generated specs that are refused, by code: {dict(sorted(searched.codes.items()))}")
    print(summary(counts, time.perf_counter() - started))
    return int(not passed(counts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
