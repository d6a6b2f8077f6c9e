"""Test the tests: change one thing of a module at a time, and see whether a test fails (`make mutants`).

A run tries a sample of each module, the same changes in each run. The first run measures which test runs which line.
From then on a change costs as much as the tests of its line, the quickest first, until one fails.
`.mutants/results.jsonl` holds the verdicts: a run goes on where the last one stopped. A change that does not matter
stands in `tools/mutants.equal.txt`, with its reason.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

REPOSITORY = Path(__file__).parent.parent
WORK = REPOSITORY / ".mutants"
TREE = WORK / "tree"
RESULTS = WORK / "results.jsonl"
EQUAL = Path(__file__).with_suffix(".equal.txt")
COPIED = ("tfgitops", "plugins", "schemas", "tests", "conformance", "environments", "docs", "templates", "tools")

MODULES = {
    "tfgitops/admission/admit.py": [
        "tests/admission",
        "tests/planning/test_pinned.py",
        "tests/targets/volcano/test_clean.py",
        "tests/test_cases.py",
    ],
    "tfgitops/targets/kubernetes/merge.py": [
        "tests/targets/kubernetes/test_merge.py",
        "tests/planning",
        "tests/test_cases.py",
    ],
    "tfgitops/spec/resolve.py": [
        "tests/spec",
        "tests/planning",
        "tests/provenance/test_layers.py",
        "tests/test_cases.py",
    ],
    "tfgitops/compiler/write.py": ["tests/cli/test_check.py", "tests/cli", "tests/compiler", "tests/pins"],
    "tfgitops/review/restarts.py": [
        "tests/review/test_guard.py",
        "tests/review/test_causes.py",
        "tests/review/test_losses.py",
        "tests/review/test_moves.py",
        "tests/review/test_queue_steps.py",
        "tests/review/test_refusals.py",
        "tests/cli/test_hostile.py",
        "tests/pins",
    ],
}
"""The modules that are changed, and the tests that may notice it; the first ones also for a change of a table."""

PRELOADED = ("pytest", "hypothesis", "yaml", "ruamel.yaml", "jsonschema", "typer.testing")
_REWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"
LONGEST = 60
"""Seconds of the processor after which a change counts as noticed: an endless loop."""
STUCK = 300
"""Seconds of the clock after which it does, too: a wait for what never comes."""
MANY = 15_000
"""How many milliseconds the tests of one line may take, the quickest first."""
FIRST = 8
"""How many of them run first."""

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
    ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip


class Place(NamedTuple):
    """One node of a module, how to put another one there, and the statement, classes and functions around it."""

    node: ast.AST
    put: Callable[[ast.AST], None]
    line: int
    around: tuple[ast.AST, ...]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of a module: its line, what it changes, the module's text with it, and a key for its verdict."""

    module: str
    line: int
    told: str
    text: str
    key: str


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Yield each change of a module that we know how to make."""
    tree = ast.parse(source)
    for node, put, line, around in _places(tree, 0, ()):
        function = ".".join(name for one in around if (name := getattr(one, "name", "")))
        for other in _changes(node):
            put(other)
            text = ast.unparse(ast.fix_missing_locations(tree))
            own = f"{module}\0{ast.unparse(around[-1])}"  # a change elsewhere in the module keeps the verdict
            put(node)
            told = f"{function}: {_shown(node)} → {_shown(other)}"
            key = hashlib.sha256(own.encode()).hexdigest()[:16]
            yield Mutant(module=module, line=line, told=told, text=text, key=key)


def _places(parent: ast.AST, line: int, around: tuple[ast.AST, ...]) -> Iterator[Place]:
    """Yield the place of each node that a program runs."""
    for name, value in ast.iter_fields(parent):
        if name in {"annotation", "returns", "decorator_list", "ctx"}:
            continue
        listed = enumerate(value) if isinstance(value, list) else ()
        for put, child in [
            (partial(setattr, parent, name), value),
            *((partial(value.__setitem__, index), child) for index, child in listed),
        ]:
            if isinstance(child, ast.AST) and not _is_idle(child):
                named = not around or isinstance(child, ast.FunctionDef | ast.ClassDef)
                at, inside = getattr(child, "lineno", line), (*around, child) if named else around
                yield Place(child, put, at, inside)
                if not isinstance(child, ast.JoinedStr):
                    yield from _places(child, at, inside)


def _is_idle(node: ast.AST) -> bool:
    """Tell whether a node does nothing when it is run, or only for a type checker."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
        return True
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or isinstance(node, ast.Import | ast.ImportFrom | ast.Assert)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand instead of a node."""
    if swap := _SWAPS.get(type(node)):
        yield swap()
    if isinstance(node, ast.Constant):
        yield from map(ast.Constant, _values(node.value))
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.If(test=test, body=body, orelse=rest):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, rest)
        case ast.IfExp(test=test, body=one, orelse=other):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), one, other)
        case ast.comprehension(target, iterated, [_, *_], is_async):
            yield ast.comprehension(target, iterated, [], is_async)
        case ast.Return(value=ast.expr() as value) if getattr(value, "value", "") not in {None, False}:
            yield ast.Return(None)
        case ast.Expr() | ast.AugAssign() | ast.Raise():
            yield ast.Pass()
        case ast.BoolOp(op=op, values=[first, *others]):
            yield first
            yield others[0] if len(others) == 1 else ast.BoolOp(op, others)


def _values(value: object) -> list[str | int]:
    """Return other values for a constant."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    return [f"{value}XX"] if isinstance(value, str) else []


def _shown(node: ast.AST) -> str:
    text = type(node).__name__ if isinstance(node, ast.cmpop | ast.boolop | ast.operator) else ast.unparse(node)
    return text if len(text) < 90 else f"{text[:60]} … {text[-25:]}".replace("\n", " ")  # noqa: PLR2004


def _copy_tree() -> None:
    """Copy what the tests need, so that a change is made there and not here."""
    for name in COPIED:
        shutil.rmtree(TREE / name, ignore_errors=True)
        shutil.copytree(REPOSITORY / name, TREE / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for path in REPOSITORY.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, TREE)


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(str(TREE / name) for name in ("", "plugins"))
    return {**os.environ, "PYTHONPATH": paths, "COVERAGE_FILE": str(WORK / "coverage"), "CI": ""}


def measure(module: str) -> dict[str, list[str]]:
    """Return the tests that run each line of a module, the quickest first."""
    sources = [(TREE / module).read_bytes(), *(path.read_bytes() for name in MODULES[module] for path in _files(name))]
    kept = WORK / f"{module.replace('/', '.')}.json"
    digest = hashlib.sha256(b"\0".join(sources)).hexdigest()
    if kept.exists() and (known := json.loads(kept.read_text()))["digest"] == digest:
        return dict(known["lines"])
    print(f"{module}: measuring which test runs which line", flush=True)
    package = module.removesuffix(".py").replace("/", ".")
    options = ["-q", "-vv", "-n", "0", "--durations=0", f"--cov={package}", "--cov-context=test", "--cov-report="]
    command = [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", *MODULES[module]]
    done = subprocess.run(command, cwd=TREE, env=_environment(), capture_output=True, text=True, check=False)  # noqa: S603
    failed = set(re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE))
    took: Counter[str] = Counter()
    for seconds, name in re.findall(r"^([\d.]+)s (?:call|setup|teardown) +(\S.*)$", done.stdout, re.MULTILINE):
        took[name.strip()] += int(float(seconds) * 1000)
    from coverage import CoverageData  # noqa: PLC0415 - where it is measured only

    data = CoverageData(str(WORK / "coverage"))
    data.read()
    lines = {}
    for line, contexts in data.contexts_by_lineno(str(TREE / module)).items():
        tests = {context.rpartition("|")[0] for context in contexts if context} - failed
        lines[str(line)] = _quickest(tests, took)
    lines["all"] = _quickest(chain(*lines.values()), took)
    kept.write_text(json.dumps({"digest": digest, "lines": lines}), encoding="utf-8")
    print(f"{module}: {done.stdout.strip().splitlines()[-1:]}", flush=True)
    return lines


def _quickest(tests: Iterable[str], took: Mapping[str, int]) -> list[str]:
    order = sorted({*tests}, key=lambda test: (took[test], test))
    until = accumulate(took[test] + 1 for test in order)
    return [test for test, sum_ in zip(order, until, strict=True) if sum_ <= MANY]


def tests_of(lines: dict[str, list[str]], mutant: Mutant) -> list[str]:
    """Return the tests of a line, or of the one before that the statement begins with.

    A table is read by tests that run no line of its module, so the first tests of the module's row are run for it.
    """
    if mutant.told.startswith(":"):
        return [MODULES[mutant.module][0]]
    near = (lines.get(str(number)) for number in range(mutant.line, mutant.line - 8, -1))
    return next(filter(None, near), lines["all"])


def _files(name: str) -> list[Path]:
    place = TREE / name
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def is_noticed(module: str, text: str, tests: list[str]) -> bool:
    """Tell whether one of some tests fails, or hangs, with another text of a module."""
    target = TREE / module
    original = target.read_text(encoding="utf-8")
    for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*"):
        compiled.unlink()
    try:
        target.write_text(text, encoding="utf-8")
        if not (child := os.fork()):
            _run(tests)
        return _wait(child) != 0
    finally:
        target.write_text(original, encoding="utf-8")


def _run(tests: list[str]) -> None:
    """Run tests in this process, a copy of one that has imported all but this repository, and end it."""
    code = 1
    try:
        os.setpgrp()
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        os.environ |= _environment() | {"PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(TREE), str(TREE / "plugins")]
        os.chdir(TREE)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        pytest = importlib.import_module("pytest")
        code = int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-W", _REWRITTEN, *tests]))
    finally:
        os._exit(code)


def _wait(child: int) -> int:
    """Return the exit code of a process, which is killed if it takes too long; end all that it started."""
    stuck = threading.Timer(STUCK, os.killpg, (child, signal.SIGKILL))
    stuck.start()
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        stuck.cancel()
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


def _known(*, again: bool) -> dict[str, str]:
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    verdicts = {one["key"]: one["verdict"] for one in map(json.loads, lines)}
    return {key: verdict for key, verdict in verdicts.items() if not again or verdict == "killed"}


def sample(module: str, equal: set[str], most: int) -> list[Mutant]:
    """Return some changes of a module that matter, the same in each run: their order is that of their digests."""
    every = mutants(module, (TREE / module).read_text(encoding="utf-8"))
    return sorted((one for one in every if f"{module} {one.told}" not in equal), key=lambda one: one.key)[:most]


def _report(module: str, sampled: list[Mutant], verdicts: dict[str, str]) -> None:
    """Print the changes of a module that no test notices, and its score."""
    for mutant in sampled:
        if verdicts.get(mutant.key) == "survived":
            print(f"{mutant.module}:{mutant.line} {mutant.told}")
    counts = Counter(verdicts.get(mutant.key, "not tried") for mutant in sampled)
    tried = counts["killed"] + counts["survived"]
    score = f"{counts['killed']} of {tried} killed, {counts['killed'] / max(tried, 1):.0%}"
    print(f"{module}: {score} ({len(sampled)} sampled, {counts['not tried']} not tried)")


def main() -> None:
    """Try changes until the time is over, those of all modules in turn; print what survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=[*MODULES])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--sample", type=int, default=100, help="how many changes of each module")
    parser.add_argument("--again", action="store_true", help="try those again that survived")
    chosen = parser.parse_args()
    end = time.monotonic() + chosen.minutes * 60
    WORK.mkdir(exist_ok=True)
    TREE.mkdir(exist_ok=True)
    _copy_tree()
    equal = {line for line in EQUAL.read_text(encoding="utf-8").splitlines() if line} if EQUAL.exists() else set()
    verdicts = _known(again=chosen.again)
    every = [one for module in chosen.modules for one in sample(module, equal, chosen.sample)]
    todo = sorted((one for one in every if one.key not in verdicts), key=lambda one: one.key)
    tests = {module: measure(module) for module in {one.module for one in todo}}
    for name in PRELOADED:
        importlib.import_module(name)
    for module, lines in tests.items():
        if is_noticed(module, (TREE / module).read_text(encoding="utf-8"), lines["all"][:10]):
            sys.exit(f"{module}: its tests fail without a change")
    for mutant in todo:
        if time.monotonic() > end:
            break
        some = tests_of(tests[mutant.module], mutant)
        parts = some[:FIRST], some[FIRST:]  # most changes are noticed soon, and to collect tests takes long
        noticed = any(is_noticed(mutant.module, mutant.text, part) for part in parts if part)
        verdict = "killed" if noticed else "survived"
        verdicts[mutant.key] = verdict
        with RESULTS.open("a", encoding="utf-8") as results:
            line = {"key": mutant.key, "verdict": verdict, "module": mutant.module, "told": mutant.told}
            results.write(f"{json.dumps(line, ensure_ascii=False)}\n")
    for module in chosen.modules:
        _report(module, [one for one in every if one.module == module], verdicts)


if __name__ == "__main__":
    main()
