"""Compiles kept and generated specs, lets Kubernetes's own code judge the results, and keeps disagreements.

Whatever compiles must be admitted, with nothing pruned, defaulted or rewritten; of some, the files must also be read
alike and be built alike by kustomize. Of each disagreement a smallest spec is kept, to be judged first ever after.
"""

from __future__ import annotations

import json
import re
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import kept
import kustomized
import readers
import yaml
from oracle import KINDS, Judge
from smallest import smallest
from specs import nearly_sound, put_files
from sweep import swept

from tfgitops import Compiled, Plugins, compile_environment, discover
from tfgitops.spec.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

DRIFTS = "and the server would"  # in the message of each fault of `judge_drift`
KEPT_AT_MOST = 20  # of so many kinds of disagreement a spec is made small and kept; the others are only printed
READ_EVERY = 25  # of so many specs that compile, the files of one are given to all readers and to kustomize


class Search:
    """Compiles and judges one spec after another, and keeps the first for each kind of disagreement."""

    def __init__(self, judge: Judge, plugins: Plugins, folder: Path, counts: Counter[str]) -> None:
        self._judge = judge
        self._plugins = plugins
        self._folder = folder
        put_files(folder)
        self._counts = counts
        self._known: set[str] = set()  # disagreements that the kept cases still show
        self.found: dict[str, tuple[str, Json]] = {}
        self.codes: Counter[str] = Counter()

    def replay(self, case: Path) -> None:
        """Judge a kept case unchanged, and return its disagreements."""
        self._counts["kept"] += 1
        compiled = self._compile(case.read_text(encoding="utf-8"))
        for message in self._messages(compiled, self._counts):
            self._counts["disagreements"] += 1
            self._known.add(pattern(message))
            print(f"{case}: {message}")

    def look(self, spec: Json, kind: str = "specs") -> None:
        """Compile and judge one spec, count it under its kind, and note new disagreements."""
        self._counts[kind] += 1
        compiled = self._compile(json.dumps(spec))
        if isinstance(compiled, Compiled):
            self._counts["compiled"] += compiled.ok
            self.codes.update({found.code for found in compiled.diagnostics if found.severity == "error"})
        for message in self._messages(compiled, None if self._counts["compiled"] % READ_EVERY else self._counts):
            if pattern(message) not in self._known:
                self.found.setdefault(pattern(message), (message, spec))

    def keep(self) -> None:
        """Keep a smallest spec for each of the first disagreements, and print all with the verdicts."""
        self._counts["disagreements"] += len(self.found)
        found = [*self.found.items()]
        said: dict[str, list[str]] = {}
        for wanted, (message, spec) in found[:KEPT_AT_MOST]:
            least = smallest(spec, lambda less: wanted in self._patterns(less))  # noqa: B023 - asked at once
            said.setdefault(json.dumps(least), []).append(message)
        for text, messages in said.items():
            path = kept.keep(json.loads(text), messages)
            print("\n".join([*messages, f"    {text}", f"    kept as {path}"]))
        for _, (message, _) in found[KEPT_AT_MOST:]:
            print(f"{message}\n    not kept: mend those before it first")

    def _patterns(self, spec: Json) -> set[str]:
        return {pattern(message) for message in self._messages(self._compile(json.dumps(spec)), Counter())}

    def _compile(self, text: str) -> Compiled | str:
        """Compile the text of a spec; a crash is described."""
        (self._folder / "environment.yaml").write_text(text, encoding="utf-8")
        try:
            return compile_environment(self._folder, self._plugins, Project(root=self._folder))
        except Exception as error:  # noqa: BLE001 - a compile never raises
            place = traceback.extract_tb(error.__traceback__)[-1]
            return f"crash: {type(error).__name__} in {Path(place.filename).name}, {place.name}: {error}"

    def _messages(self, compiled: Compiled | str, files: Counter[str] | None) -> Iterator[str]:
        """Yield the faults of a compile, of its objects, and of its files if these are counted."""
        if isinstance(compiled, str):
            yield compiled
            return
        yield from own_faults(compiled)
        if not compiled.ok:
            return
        for planned, file in zip(compiled.objects, compiled.files, strict=False):
            if planned.manifest["kind"] in KINDS:
                yield from self._objections(yaml.load(file.text, yaml.CSafeLoader))
        if files is not None:
            yield from self._misread(compiled, files)

    def _objections(self, manifest: Json) -> Iterator[str]:
        for objection in self._judge.objections(manifest):
            for message in re.split(r"; (?=spec\.)", objection.message):
                yield f"{objection.kind}: {message}"

    def _misread(self, compiled: Compiled, counts: Counter[str]) -> Iterator[str]:
        for file in compiled.files:
            counts["files"] += 1
            yield from readers.differences(file.text, self._judge)
        texts = {file.path: file.text for file in compiled.files}
        for files in kustomized.by_folder(texts).values():
            yield from kustomized.differences(files, self._judge, counts)


def own_faults(compiled: Compiled) -> Iterator[str]:
    """Yield our own faults in a refused spec: a crash of a bundled plugin, or a default that we do not write.

    A null that a list of the spec holds is no such default: the spec wrote it, and is told to leave it out.
    """
    for found in compiled.diagnostics:
        if found.code == "TF901":
            yield f"crash: {found.message}"
        elif DRIFTS in found.message and found.found != "null":
            yield f"drifted: {found.message}"


def pattern(message: str) -> str:
    """Return a message without values, indices and numbers: messages of one kind are then equal."""
    message = re.sub(r"""'[^']*'|"(?:[^"\\]|\\.)*\"""", "…", message)
    message = re.sub(r"(?s)(Invalid value|Unsupported value|Duplicate value): .*?(?=: |$)", r"\1", message)
    return re.sub(r"\d+", "N", message)[:160]


def search(judge: Judge, counts: Counter[str], *, examples: int, seed: int) -> Search:
    """Judge the kept cases, then each field of a pod, then the generated specs."""
    plugins, random = discover(), Random(seed)  # noqa: S311 - repeatable, not secret
    with TemporaryDirectory() as folder:
        searched = Search(judge, plugins, Path(folder), counts)
        for case in kept.cases():
            searched.replay(case)
        for spec in swept():
            searched.look(spec, "swept")
        for _ in range(examples):
            searched.look(nearly_sound(random, plugins.schema))
        searched.keep()
    return searched
