"""Each limit of `spec/bounds.py`: one more is refused, or not shown, and takes little memory."""

from __future__ import annotations

import re
import resource
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checkout import REPOSITORY
from commandline import run

from tfgitops.spec import bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
JOBS = "jobs:\n  train: {image: 'tf:2.21', worker: 2}\n"
PROD = Path("environments/prod")


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    put("pyproject.toml", "[tool.tfgitops]\n")
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2**20, "one GiB, in units of 1,024 bytes"


def put(path: Path | str, text: str) -> None:
    target = PROD / path if path != "pyproject.toml" else Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def spec(text: str) -> None:
    put("environment.yaml", HEAD + text)


def entries(number: int, line: str, indentation: int = 0) -> str:
    return "".join(f"{' ' * indentation}{line.format(index)}\n" for index in range(number))


def aliases(text: int, number: int) -> str:
    return f"x-a: &a {'x' * text}\nx-b: [{', '.join(['*a'] * number)}]\n"


def chain_of_files(number: int) -> None:
    spec(f"extends: b0.yaml\n{JOBS}")
    for index in range(number - 1):
        put(f"b{index}.yaml", f"extends: b{index + 1}.yaml\n" if index < number - 2 else "x-a: 1\n")


def large_files(number: int) -> None:
    put("base.yaml", HEAD)
    spec("jobs: {}\n")
    for index in range(number):
        put(f"jobs/j{index}.yaml", f"image: tf\nworker: 1\nenv: {{A: '{'x' * 500_000}'}}\n{aliases(500_000, 7)}")


def many_files(number: int) -> None:
    spec("jobs: {}\n")
    for index in range(number):
        put(f"jobs/j{index}.yaml", "{}\n")


def many_scripts(number: int) -> None:
    spec("jobs:\n" + entries(number, "j{0}: {{image: tf, worker: 1, script: t{0}.py}}", 2))
    for index in range(number):
        put(f"t{index}.py", "#" * bounds.TEXT_FILE)


PAST: dict[str, Callable[[], object]] = {
    "a spec, a file that it extends, or a manifest": lambda: spec(f"{JOBS}#{'x' * bounds.FILE}\n"),
    "folders below `environments/`, `jobs/` or `manifests/`": lambda: (
        spec(JOBS),
        put(f"jobs/{'a/' * (bounds.DEPTH + 1)}x", ""),
    ),
    "the nesting of a file": lambda: spec(f"{JOBS}x-a: {'[' * bounds.DEPTH}{']' * bounds.DEPTH}\n"),
    "one map or list": lambda: spec(JOBS + "x-a:\n" + entries(bounds.ENTRIES + 1, "k{}: 1", 2)),
    "one text": lambda: spec(f"{JOBS}x-a: {'x' * (bounds.SCALAR + 1)}\n"),
    "a file, its aliases expanded": lambda: spec(JOBS + aliases(bounds.SCALAR, 17)),
    "a file that `script` or `configMaps` names": lambda: (
        spec(JOBS.replace("worker", "script: t.py, worker")), put("t.py", "#" * (bounds.TEXT_FILE + 1)),
    ),
    "all such files of an environment": lambda: many_scripts(65),
    "a chain of `extends`": lambda: chain_of_files(bounds.CHAIN + 1),
    "a chain of `from`": lambda: spec(
        "jobs:\n  j0: {image: tf, worker: 1}\n"
        + "".join(f"  j{n}: {{from: j{n - 1}}}\n" for n in range(1, bounds.CHAIN + 1))
    ),
    "all files of an environment, their aliases expanded": lambda: large_files(20),
    "the jobs of an environment": lambda: many_files(bounds.JOBS + 1),
    "all that the jobs of an environment inherit": lambda: spec(
        f"defaults: {{env: {{A: {'x' * 1_000_000}}}}}\njobs:\n" + entries(70, "j{}: {{image: tf, worker: 1}}", 2)
    ),
    "all such files, each counted for every job that has it": lambda: (
        put("t.py", "#" * bounds.TEXT_FILE),
        spec("defaults: {script: t.py}\njobs:\n" + entries(bounds.JOBS, "j{}: {{image: tf, worker: 1}}", 2)),
    ),
    "the pods of an environment": lambda: spec("jobs:\n" + entries(101, "j{}: {{image: tf, worker: 10000}}", 2)),
}  # fmt: skip
SHOWN: dict[str, tuple[Callable[[], object], str, int]] = {
    "faults that are shown of a file that is not YAML": (
        lambda: spec(JOBS + entries(bounds.FAULTS + 9, "x-{}: !t 1")), "error[TF105]", bounds.FAULTS,
    ),
    "unknown keys that are shown of one map": (
        lambda: spec(JOBS + entries(bounds.UNKNOWN + 9, "k{}: 1")), "error[TF201]", bounds.UNKNOWN,
    ),
    "wrong values that are looked at in one file": (
        lambda: spec("jobs:\n" + entries(bounds.SHAPE + 9, "j{}: {{image: tf, worker: x}}", 2)),
        "error[TF20", bounds.SHAPE,
    ),
    "a job whose faults are shown at the lines of its values, and not at its name": (
        lambda: spec(
            "jobs:\n  a:\n    image: tf\n    worker: 1\n    policies:\n"
            + "    - {event: PodFailed, action: RestartJob}\n" * bounds.TRACED
        ),
        "environment.yaml:5:3", 1,
    ),
    "problems that one command shows": (
        lambda: [
            put(f"../e{index}/environment.yaml", HEAD + "jobs:\n" + entries(99, "j{}: {{image: tf, wrker: 1}}", 2))
            for index in range(12)
        ],
        "error[TF201]", bounds.SHOWN,
    ),
}  # fmt: skip


def test_each_limit_has_a_test() -> None:
    assert [*PAST, *SHOWN] == [bound.of for bound in bounds.BOUNDS]


@pytest.mark.parametrize("of", PAST)
def test_one_more_is_refused(of: str) -> None:
    PAST[of]()
    result = run("validate")
    assert result.exit_code == 1
    assert "error[TF106]" in result.stderr
    assert "Traceback" not in result.output
    assert result.stderr.count("error[") == 1, result.stderr[:3000]
    assert len(result.stderr) < 5_000


@pytest.mark.parametrize("of", SHOWN)
def test_no_more_is_shown(of: str) -> None:
    make, what, most = SHOWN[of]
    make()
    result = run("validate")
    assert result.exit_code == 1
    assert result.stderr.count(what) == most


def test_what_is_not_shown_is_counted_in_each_format() -> None:
    SHOWN["problems that one command shows"][0]()
    for form in ("text", "json", "sarif", "github"):
        result = run("validate", "--format", form)
        assert result.exit_code == 1
        assert re.search(r"and \d+ more problems", result.output)


def test_an_error_is_shown_before_warnings() -> None:
    for index in range(12):
        put(f"../e{index}/environment.yaml", HEAD + "jobs:\n" + entries(99, "j{}: ", 2))
    put("../z/environment.yaml", HEAD + JOBS.replace("worker", "wrker"))
    result = run("validate")
    assert result.exit_code == 1
    assert "unknown key 'wrker'" in result.stderr
    assert "warning[TF106]: and " in result.stderr


def test_a_file_that_a_thousand_jobs_name_is_read_once_and_counts_once() -> None:
    put("t.py", "#" * 100_000)
    spec("jobs:\n" + entries(1000, "j{}: {{image: tf, worker: 1, script: t.py}}", 2))
    assert run("validate").exit_code == 0


def test_the_page_has_the_limits() -> None:
    page = (REPOSITORY / "docs" / "reliability.md").read_text(encoding="utf-8")
    for bound in bounds.BOUNDS:
        assert f"| {bound.of} | {bound.number} |" in page
