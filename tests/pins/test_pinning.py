"""`pin` and `unpin`: the pin is put into the spec and taken out of it, and every other byte stays."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from builder import cut, spec_with
from checkout import REPOSITORY
from commandline import run

from tfgitops.pins.pinning import pin_jobs, unpin_jobs
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.load import load
from tfgitops.spec.resolve import merge_files
from tfgitops.spec.yamltext.edit import EditError, edited
from tfgitops.testing import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = Path(sys.executable).parent / "tfgitops"
PROD = Path("environments/prod")
SPEC = PROD / "environment.yaml"
NAME = "train-01234567"
OTHER = "train-89abcdef"

PUT, LINE = "pin: train-01234567, ", "    pin: train-01234567\n"

LAYOUTS = {
    "a block": "jobs:\n  train:\n«LINE»    image: tf\n    worker: 2\n",
    "a block between comments": """\
# top
jobs:   # all

  # mine
  train:  # really
«LINE»
    # the image
    image: tf   # old
    worker: 2
    # below

  # other
  other: {image: tf, worker: 1}
# end
""",
    "a block with odd indentation and long texts": f"""\
jobs:
     train:
«            pin: train-01234567
»            command: "python   -m   train"
            image:     tf
            env: {{A: '{"x" * 200}', B: "é€😀"}}
            worker:   2
""",
    "a block that others refer to by its keys": """\
x-w: &w {replicas: 2}
jobs:
  train: \n«LINE»    image: &i tf
    worker: *w
  other: {image: *i, worker: *w}
""",
    "a block with a merge key": """\
x-j: &j {image: tf}
jobs:
  train:
«LINE»    <<: *j
    worker: 2
""",
    "a block with an anchor that nobody uses": "jobs:\n  train: &t\n«LINE»    image: tf\n    worker: 2\n",
    "an anchor on a line of its own": "jobs:\n  train:\n    &t\n«LINE»    image: tf\n    worker: 2\n",
    "quoted keys": "'jobs':\n  \"train\":\n«LINE»    'image': tf\n    worker: 2\n",
    "a script above": """\
jobs:
  other:
    image: tf
    worker: 1
    command: |+
      a


  train:
«LINE»    image: tf
    worker: 2
""",
    "brackets": "jobs:\n  train: {«PUT»image: tf, worker: {replicas: 2}}   # small\n",
    "brackets with blanks": "jobs:\n  train: { «PUT»image: tf:1?a, worker: 2 }\n",
    "brackets over lines": """\
jobs:
  train: {
      # the image
      «pin: train-01234567,
      »image: tf,   # old
      worker: 2,
  }
""",
    "brackets over lines, begun on the first": "jobs:\n  train: {«PUT»image: tf,\n          worker: 2}\n",
    "all in brackets": "jobs: {other: {image: tf, worker: 1}, train: {«PUT»image: tf, worker: 2}}\n",
    "an empty map": "extends: ../base.yaml\njobs:\n  other: {image: tf, worker: 1}\n  train: {«pin: train-01234567»}\n",
    "inherited, beside others": """\
extends: ../base.yaml
jobs:
«    train: {pin: train-01234567}
»    # first
    other: {image: tf, worker: 1}
""",
    "inherited, in brackets beside others":
        "extends: ../base.yaml\njobs: {«train: {pin: train-01234567}, »other: {image: tf, worker: 1}}\n",
    "inherited, without jobs here": "extends: ../base.yaml\n# end\n«jobs:\n  train: {pin: train-01234567}\n»",
    "inherited, no jobs": "extends: ../base.yaml\njobs: {«train: {pin: train-01234567}»}\n",
}  # fmt: skip
"""Specs in which a pin, marked by « and », is put into what is there without it, and taken out again."""

ONE_WAY = {"an empty map", "inherited, no jobs"}
"""What unpinning makes of them is shorter: a block that only held a pin goes with it."""


def without(layout: str) -> str:
    return HEAD + re.sub("«.*?»", "", LAYOUTS[layout], flags=re.DOTALL)


def having(layout: str) -> str:
    pins = {"LINE": LINE, "PUT": PUT}
    return HEAD + re.sub("«(.*?)»", lambda marked: pins.get(marked[1], marked[1]), LAYOUTS[layout], flags=re.DOTALL)


FORMS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "BOM": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "no final newline": lambda text: text.removesuffix("\n").encode(),
}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[tool.tfgitops]\n", encoding="utf-8")
    PROD.mkdir(parents=True)
    Path("environments/base.yaml").write_text(f"{HEAD}jobs: {{train: {{image: tf, worker: 3}}}}\n", encoding="utf-8")
    return tmp_path


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# --- the text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pin_is_put_in_and_nothing_else_is_touched(layout: str, form: str) -> None:
    before, after = (FORMS[form](text) for text in (without(layout), having(layout)))
    SPEC.write_bytes(before)
    [made] = pin_jobs(PROD, {"train": NAME})
    assert SPEC.read_bytes() == after
    assert (made.job, made.name, made.before, made.file) == ("train", NAME, "", str(SPEC))
    line = SPEC.read_text(encoding="utf-8-sig").splitlines()[made.line - 1]
    assert f"pin: {NAME}" in line


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", sorted(LAYOUTS.keys() - ONE_WAY))
def test_a_pin_is_taken_out_and_nothing_else_is_touched(layout: str, form: str) -> None:
    after, before = (FORMS[form](text) for text in (without(layout), having(layout)))
    SPEC.write_bytes(before)
    [gone] = unpin_jobs(PROD, ["train"])
    assert SPEC.read_bytes() == after
    assert (gone.job, gone.name, gone.before) == ("train", NAME, NAME)
    assert f"pin: {NAME}" in before.decode("utf-8-sig").splitlines()[gone.line - 1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_another_pin_takes_its_place(layout: str) -> None:
    text = having(layout)
    put(SPEC, text)
    [made] = pin_jobs(PROD, {"train": OTHER})
    assert SPEC.read_text(encoding="utf-8") == cut(text, NAME, OTHER)
    assert made.before == NAME
    [same] = pin_jobs(PROD, {"train": OTHER})
    assert same.before == same.name == OTHER


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("train:\n    image: tf\n    pin: NAME  # until May\n    worker: 2", "train:\n    image: tf\n    worker: 2"),
        ("train:\n    image: tf\n    # until May\n    pin: 'NAME'\n", "train:\n    image: tf\n    # until May\n"),
        ("train:\n    image: tf\n    pin:\n      NAME\n    worker: 2\n", "train:\n    image: tf\n    worker: 2\n"),
        ("train:\n    image: tf\n    pin: >-\n      NAME\n    worker: 2\n", "train:\n    image: tf\n    worker: 2\n"),
        ("train:\n    image: tf\n    worker: 2\n    pin: NAME", "train:\n    image: tf\n    worker: 2"),
        ("train: {image: tf, pin: NAME}", "train: {image: tf}"),
        ("train: {image: tf, pin: NAME }", "train: {image: tf }"),
        ("train: {image: tf, pin: NAME, worker: 2}", "train: {image: tf, worker: 2}"),
        ("train: {image: tf , pin: NAME ,worker: 2}", "train: {image: tf , worker: 2}"),
        ("train: {image: tf, pin: NAME,}", "train: {image: tf, }"),
        ("train: {\n    image: tf,\n    pin: NAME\n  }", "train: {\n    image: tf\n  }"),
        ("train: {\n    image: tf,  # a, b\n    pin: NAME  # c\n  }", "train: {\n    image: tf  # a, b\n  }"),
        ("train: {\n    image: tf,\n    pin: NAME,  # c\n    worker: 2}", "train: {\n    image: tf,\n    worker: 2}"),
        ("train: {image: tf,\n    pin: NAME, worker: 2}", "train: {image: tf,\n    worker: 2}"),
        ("train: {pin: NAME}", "train: {}"),
        ("train: { pin: NAME }", "train: { }"),
        ("train: {pin: NAME,}", "train: {}"),
        ("train: {\n    pin: NAME,\n  }", "train: {\n  }"),
        ("train:\n    pin: NAME\n", "train: {}\n"),
        ("train: # x: y\n    pin: NAME", "train: {} # x: y"),
    ],
)  # fmt: skip
def test_what_people_write_around_a_pin_stays(before: str, after: str) -> None:
    put(SPEC, f"{HEAD}jobs:\n  {cut(before, 'NAME', NAME)}")
    unpin_jobs(PROD, ["train"])
    assert SPEC.read_text(encoding="utf-8") == f"{HEAD}jobs:\n  {after}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("train:\n    pin:  # not yet\n    image: tf", "train:\n    pin: NAME  # not yet\n    image: tf"),
        ("train: {image: tf, pin: }", "train: {image: tf, pin: NAME}"),
        ("train: {pin: ~, image: tf}", "train: {pin: NAME, image: tf}"),
        ('train:\n    pin: "x-00000000" # old\n    image: tf', "train:\n    pin: NAME # old\n    image: tf"),
    ],
)  # fmt: skip
def test_a_pin_that_says_nothing_or_is_quoted_is_replaced(before: str, after: str) -> None:
    put(SPEC, f"{HEAD}jobs:\n  {before}\n")
    pin_jobs(PROD, {"train": NAME})
    assert SPEC.read_text(encoding="utf-8") == f"{HEAD}jobs:\n  {cut(after, 'NAME', NAME)}\n"


@pytest.mark.parametrize(
    "jobs",
    [
        "x-j: &j {image: tf, worker: 1}\njobs: {train: *j}\n",
        "jobs:\n  train: &t {image: tf, worker: 1}\n  other: *t\n",
        "jobs:\n  train: &t\n    image: tf\n    worker: 1\n  other: {<<: *t, worker: 2}\n",
        "x-jobs: &all {train: {image: tf, worker: 1}}\njobs: *all\n",
        "x-jobs: &all {train: {image: tf, worker: 1}}\njobs: {<<: *all}\n",
        "jobs:\n  train: {? image : tf, worker: 1, pin: &p x-00000000, labels: {p: *p}}\n",
    ],
)
def test_where_more_than_the_pin_would_change_it_is_refused(jobs: str) -> None:
    put(SPEC, HEAD + jobs)
    with pytest.raises(CompileError) as caught:
        pin_jobs(PROD, {"train": NAME})
    [found] = caught.value.diagnostics
    assert found.code == "TF605"
    assert found.span is not None
    assert SPEC.read_text(encoding="utf-8") == HEAD + jobs


def test_a_pin_that_came_by_a_merge_key_is_not_taken_out() -> None:
    text = f"{HEAD}x-j: &j {{pin: {NAME}}}\njobs: {{train: {{<<: *j, image: tf, worker: 1}}}}\n"
    put(SPEC, text)
    with pytest.raises(CompileError, match="cannot be edited without changing anything else"):
        unpin_jobs(PROD, ["train"])
    assert SPEC.read_text(encoding="utf-8") == text


def test_an_explicit_key_is_not_taken_out() -> None:
    text = f"{HEAD}jobs:\n  train:\n    ? pin\n    : {NAME}\n    ? image\n    : tf\n"
    put(SPEC, text)
    with pytest.raises(CompileError, match="cannot be edited"):
        unpin_jobs(PROD, ["train"])
    put(SPEC, cut(text, f"    ? pin\n    : {NAME}\n", ""))
    with pytest.raises(CompileError, match="cannot be edited"):
        pin_jobs(PROD, {"train": NAME})


def test_an_edit_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(EditError):
        edited("a: {b: c}\n", {("a", "x"): None})
    with pytest.raises(EditError):
        edited("a: [b]\n", {("a", "x"): "y"})
    with pytest.raises(EditError):
        edited("a: b\n", {("a", "x"): "y"})


@pytest.mark.parametrize("name", ["null", "true", "no"])
def test_a_job_may_have_any_name(name: str) -> None:
    put(Path("environments/base.yaml"), f"{HEAD}jobs: {{'{name}': {{image: tf, worker: 3}}}}\n")
    put(SPEC, f"extends: ../base.yaml\n{HEAD}")
    pin_jobs(PROD, {name: f"{name}-01234567"})
    put(SPEC, SPEC.read_text(encoding="utf-8"))
    assert [gone.job for gone in unpin_jobs(PROD, [name])] == [name]
    assert SPEC.read_text(encoding="utf-8") == f"extends: ../base.yaml\n{HEAD}"


# --- files ------------------------------------------------------------------------------------------------------


def test_several_jobs_of_several_files_in_one_call() -> None:
    spec = f"{HEAD}jobs:\n  a: {{image: tf, worker: 1}}\n  b:\n    image: tf\n    worker: 1\n"
    put(SPEC, spec)
    put(PROD / "jobs/c.yaml", "# c\nimage: tf   # x\nworker: 1\n")
    put(PROD / "jobs/d.yaml", "{image: tf, worker: 1}")
    made = pin_jobs(PROD, {job: f"{job}-01234567" for job in "abcd"})
    assert [pin.place.removeprefix(f"{PROD}/") for pin in made] == [
        "environment.yaml:5", "environment.yaml:7", "jobs/c.yaml:2", "jobs/d.yaml:1",
    ]  # fmt: skip
    assert SPEC.read_text(encoding="utf-8") == (
        f"{HEAD}jobs:\n  a: {{pin: a-01234567, image: tf, worker: 1}}\n"
        "  b:\n    pin: b-01234567\n    image: tf\n    worker: 1\n"
    )
    assert (PROD / "jobs/c.yaml").read_text(encoding="utf-8") == "# c\npin: c-01234567\nimage: tf   # x\nworker: 1\n"
    assert (PROD / "jobs/d.yaml").read_text(encoding="utf-8") == "{pin: d-01234567, image: tf, worker: 1}"
    unpin_jobs(PROD, "abcd")
    assert SPEC.read_text(encoding="utf-8") == spec
    assert (PROD / "jobs/c.yaml").read_text(encoding="utf-8") == "# c\nimage: tf   # x\nworker: 1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "jobs:\n  a: {pin: a-01234567}\n  b: {pin: b-01234567}\n"),
        ("jobs: # mine\n  c: {}\n", "jobs: # mine\n  a: {pin: a-01234567}\n  b: {pin: b-01234567}\n  c: {}\n"),
        ("jobs: {c: {image: tf}}\n", "jobs: {a: {pin: a-01234567}, b: {pin: b-01234567}, c: {image: tf}}\n"),
        ("jobs: {a: {image: tf}}\n", "jobs: {b: {pin: b-01234567}, a: {pin: a-01234567, image: tf}}\n"),
    ],
    ids=["none", "block", "brackets", "one of two"],
)  # fmt: skip
def test_several_inherited_jobs_in_one_call(before: str, after: str) -> None:
    job = "{image: tf, worker: 1}"
    put(Path("environments/base.yaml"), f"{HEAD}jobs: {{a: {job}, b: {job}, c: {job}}}\n")
    put(SPEC, f"extends: ../base.yaml\n{before}")
    made = pin_jobs(PROD, {"a": "a-01234567", "b": "b-01234567"})
    assert SPEC.read_text(encoding="utf-8") == f"extends: ../base.yaml\n{after}"
    assert [f"pin: {pin.name}" in SPEC.read_text(encoding="utf-8").splitlines()[pin.line - 1] for pin in made] == [
        True
    ] * 2
    unpin_jobs(PROD, ["a", "b"])
    assert SPEC.read_text(encoding="utf-8") == f"extends: ../base.yaml\n{before}"


def test_what_cannot_be_done_in_one_go_is_done_one_by_one() -> None:
    """Both pins go to the one place in the empty brackets, and stand in the way of each other there."""
    job = "{image: tf, worker: 1}"
    put(Path("environments/base.yaml"), f"{HEAD}jobs: {{a: {job}, b: {job}}}\n")
    put(SPEC, "extends: ../base.yaml\njobs: {}  # none of ours\n")
    pin_jobs(PROD, {"a": "a-01234567", "b": "b-01234567"})
    expected = "jobs: {b: {pin: b-01234567}, a: {pin: a-01234567}}  # none of ours\n"
    assert SPEC.read_text(encoding="utf-8") == f"extends: ../base.yaml\n{expected}"


def test_only_those_that_stand_in_the_way_are_named() -> None:
    put(SPEC, f"{HEAD}x-j: &j {{image: tf, worker: 1}}\njobs: {{a: *j, b: {{image: tf, worker: 1}}, c: *j}}\n")
    with pytest.raises(CompileError) as caught:
        pin_jobs(PROD, {job: f"{job}-01234567" for job in "abc"})
    assert [found.message.split("'")[1] for found in caught.value.diagnostics] == ["a", "c"]


def test_a_thousand_jobs_are_pinned_in_one_go() -> None:
    jobs = [f"job-{number}" for number in range(1000)]
    text = HEAD + "jobs:\n" + "".join(f"  {job}:  # {job}\n    image: tf\n    worker: 1\n" for job in jobs)
    put(SPEC, text)
    began = time.process_time()
    pin_jobs(PROD, {job: f"{job}-01234567" for job in jobs})
    unpin_jobs(PROD, jobs)
    assert time.process_time() - began < 30, "each would be read anew for each"
    assert SPEC.read_text(encoding="utf-8") == text


def test_a_file_of_a_job_that_holds_only_a_pin_is_left_empty() -> None:
    put(SPEC, f"extends: ../base.yaml\n{HEAD}")
    put(PROD / "jobs/train.yaml", f"pin: {NAME}\n")
    unpin_jobs(PROD, ["train"])
    assert (PROD / "jobs/train.yaml").read_text(encoding="utf-8") == "{}\n"


def test_all_or_nothing() -> None:
    put(SPEC, f"{HEAD}x-j: &j {{image: tf, worker: 1}}\njobs: {{a: {{image: tf, worker: 1}}, b: *j}}\n")
    before = SPEC.read_bytes()
    with pytest.raises(CompileError):
        pin_jobs(PROD, {"a": "a-01234567", "b": "b-01234567"})
    with pytest.raises(CompileError) as caught:
        pin_jobs(PROD, {"a": "a-01234567", "x": "x-01234567", "y": "y-01234567"})
    assert len(caught.value.diagnostics) == 2
    assert SPEC.read_bytes() == before


def test_what_cannot_be_written_leaves_all_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    put(SPEC, f"{HEAD}jobs: {{a: {{image: tf, worker: 1}}}}\n")
    put(PROD / "jobs/c.yaml", "image: tf\nworker: 1\n")
    before = {path: path.read_bytes() for path in (SPEC, PROD / "jobs/c.yaml")}
    replace = os.replace

    def full(source: str, target: str) -> None:
        if target.endswith("c.yaml"):
            raise OSError(28, "No space left on device", target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(CompileError, match=r"c\.yaml cannot be written: No space left"):
        pin_jobs(PROD, {"a": "a-01234567", "c": "c-01234567"})
    assert {path: path.read_bytes() for path in before} == before
    assert not [*PROD.rglob(".tfgitops-*")]


def test_an_interrupt_between_two_files_leaves_all_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    put(SPEC, f"{HEAD}jobs: {{a: {{image: tf, worker: 1}}}}\n")
    put(PROD / "jobs/c.yaml", "image: tf\nworker: 1\n")
    before = {path: path.read_bytes() for path in (SPEC, PROD / "jobs/c.yaml")}
    replace, written = os.replace, []

    def interrupted(source: str, target: str) -> None:
        written.append(target)
        if len(written) == len(before):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pin_jobs(PROD, {"a": "a-01234567", "c": "c-01234567"})
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_the_mode_of_the_file_stays(mode: int) -> None:
    put(SPEC, f"{HEAD}jobs: {{train: {{image: tf, worker: 1}}}}\n")
    SPEC.chmod(mode)
    pin_jobs(PROD, {"train": NAME})
    assert stat.S_IMODE(SPEC.stat().st_mode) == mode


def test_a_link_stays_a_link_and_its_target_is_edited(root: Path) -> None:
    put(root / "real.yaml", f"{HEAD}jobs: {{train: {{image: tf, worker: 1}}}}\n")
    SPEC.symlink_to("../../real.yaml")
    pin_jobs(PROD, {"train": NAME})
    assert SPEC.is_symlink()
    assert NAME in (root / "real.yaml").read_text(encoding="utf-8")


def test_nothing_is_written_through_a_link_out_of_the_root(tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "real.yaml"
    put(outside, f"{HEAD}jobs: {{train: {{image: tf, worker: 1}}}}\n")
    before = outside.read_bytes()
    SPEC.symlink_to(outside)
    with pytest.raises(CompileError, match="out of the root"):
        pin_jobs(PROD, {"train": NAME})
    assert outside.read_bytes() == before


# --- the commands -----------------------------------------------------------------------------------------------

TWO = f"{HEAD}jobs:\n  # mine\n  train:\n    image: 'tf:1'\n    worker: 2\n  other: {{image: 'tf:1', worker: 1}}\n"


@pytest.fixture
def built() -> dict[str, str]:
    """Build two jobs, and return the names of their Jobs."""
    put(SPEC, TWO)
    assert run("build").exit_code == 0
    files = (PROD / "manifests/workloads").glob("job-*.yaml")
    return {f.stem.removeprefix("job-"): f.read_text(encoding="utf-8").split("  name: ")[1].split()[0] for f in files}


def test_pin_then_a_change_then_build_keeps_the_run(built: dict[str, str]) -> None:
    manifest = PROD / "manifests/workloads/job-train.yaml"
    before = manifest.read_bytes()
    result = run("pin", PROD, "train")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"pinned  {SPEC}:7  {built['train']}\n"
    put(SPEC, cut(SPEC.read_text(encoding="utf-8"), "tf:1", "tf:2"))
    assert run("build").exit_code == 0
    assert manifest.read_bytes() == before
    assert run("build", "--check").exit_code == 0


def test_pin_again_changes_nothing_and_says_so(built: dict[str, str]) -> None:
    run("pin", PROD, "train")
    before = (SPEC.read_bytes(), SPEC.stat().st_mtime_ns)
    result = run("pin", SPEC, "train", "train")
    assert result.stdout == f"unchanged  {SPEC}:7  {built['train']}\n"
    assert (SPEC.read_bytes(), SPEC.stat().st_mtime_ns) == before


def test_unpin_says_what_comes_of_it(built: dict[str, str]) -> None:
    run("pin", PROD, "train", "other")
    put(SPEC, cut(SPEC.read_text(encoding="utf-8"), "    image: 'tf:1'", "    image: 'tf:2'"))
    result = run("unpin", PROD, "train", "other")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:2] == [f"unpinned  {SPEC}:7  {built['train']}", f"unpinned  {SPEC}:10  {built['other']}"]
    assert lines[2].startswith(f"train: the next build makes a new run, {built['train']} → train-")
    assert lines[2].endswith(": worker.image")
    assert lines[3] == f"other: still {built['other']}; the next build changes nothing"
    assert SPEC.read_text(encoding="utf-8") == cut(TWO, "    image: 'tf:1'", "    image: 'tf:2'")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("    labels: {a: b}\n    worker: 2", "the next build updates it in place"),
        (
            "    worker: {replicas: 2, cpu: 1, memory: 2Gi, env: {A: b}}",
            ": worker.env, worker.resources.requests, worker.resources.limits",
        ),
        ("    worker: 2\n    queue: nowhere", "the spec is not valid without the pin"),
        ("    worker: 5", " → train-"),
    ],
)
def test_unpin_tells_in_place_from_anew(change: str, told: str, built: dict[str, str]) -> None:
    run("pin", PROD, "train")
    put(SPEC, cut(SPEC.read_text(encoding="utf-8"), "    worker: 2", change))
    result = run("unpin", PROD, "train")
    assert result.exit_code == 0
    assert told in result.stdout


def test_unpin_of_what_has_no_manifest_any_more(built: dict[str, str]) -> None:
    run("pin", PROD, "train")
    (PROD / "manifests/workloads/job-train.yaml").unlink()
    assert run("build").exit_code == 1
    assert "train: the next build writes its manifest anew" in run("unpin", PROD, "train").stdout
    assert run("build").exit_code == 0


def test_quiet_is_quiet(built: dict[str, str]) -> None:
    assert run("pin", PROD, "train", "-q").stdout == ""
    assert run("unpin", PROD, "train", "--quiet").stdout == ""
    assert SPEC.read_text(encoding="utf-8") == TWO


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pin", PROD, "trian"], "did you mean 'train'?"),
        (["unpin", PROD, "trian"], "did you mean 'train'?"),
        (["unpin", PROD, "train"], "the job 'train' is not pinned"),
        (["pin", "environments/nowhere", "train"], "is not there"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    arguments: list[Any], message: str, built: dict[str, str]
) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""
    assert SPEC.read_text(encoding="utf-8") == TWO


def test_an_environment_is_to_be_named(built: dict[str, str]) -> None:
    put(Path("environments/dev/environment.yaml"), TWO)
    result = run("pin", "environments", "train")
    assert result.exit_code == 1
    assert "environments holds 2 environments" in result.stderr
    assert run("pin", PROD).exit_code == 2


@pytest.mark.parametrize("state", ["edited", "not committed"])
def test_only_what_is_committed_and_whole_can_be_pinned(state: str, built: dict[str, str]) -> None:
    manifest = PROD / "manifests/workloads/job-train.yaml"
    if state == "edited":
        manifest.write_text(manifest.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    else:
        manifest.unlink()
    result = run("pin", PROD, "train", "other")
    assert result.exit_code == 1
    assert "error[TF306]" in result.stderr
    assert f"{SPEC}:6:3" in result.stderr
    assert SPEC.read_text(encoding="utf-8") == TWO


def test_the_pin_of_what_an_environment_extends_is_none_of_its_own() -> None:
    put(Path("environments/other/environment.yaml"), f"{HEAD}jobs: {{train: {{image: tf, worker: 3, pin: {NAME}}}}}\n")
    put(SPEC, f"extends: ../other/environment.yaml\n{HEAD}")
    result = run("unpin", PROD, "train")
    assert result.exit_code == 1
    assert "the job 'train' is not pinned" in result.stderr
    assert run("build", PROD).exit_code == 0
    assert run("pin", PROD, "train").exit_code == 0
    assert "  train: {pin: train-" in SPEC.read_text(encoding="utf-8")


def test_another_namespace_is_no_place_for_a_pin(built: dict[str, str]) -> None:
    put(SPEC, spec_with(TWO, {"namespace": {"name": "lab"}}))
    result = run("pin", PROD, "train")
    assert result.exit_code == 1
    assert "is in the namespace 'ml', and the environment's is 'lab'" in result.stderr


def test_problems_can_be_asked_for_as_json(built: dict[str, str]) -> None:
    assert '"problems": []' in run("pin", PROD, "train", "--format", "json").stdout
    assert '"code": "TF605"' in run("unpin", PROD, "other", "--format", "json").stdout


def test_a_build_at_the_same_time_is_waited_for(built: dict[str, str]) -> None:
    code = "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], 0), fcntl.LOCK_EX); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(PROD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with subprocess.Popen([PROGRAM, "pin", PROD, "train"], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert "waiting for a build of environments/prod" in process.stderr.readline()
            assert SPEC.read_text(encoding="utf-8") == TWO
            other.communicate("\n")
            assert process.wait() == 0
    assert built["train"] in SPEC.read_text(encoding="utf-8")


# --- all that we have -------------------------------------------------------------------------------------------

PLACES = ("tests/cases/ok/**/environment.yaml", "environments/*/environment.yaml")
SPECS = sorted(path for place in PLACES for path in REPOSITORY.glob(place))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.parent.name)
def test_every_spec_of_ours_comes_back_from_a_pin_as_it_was(spec: Path, root: Path) -> None:
    """Each job is pinned by its own, all of them together, and unpinned again."""
    shutil.copytree(spec.parents[1], root / "all", ignore=shutil.ignore_patterns("manifests"), dirs_exist_ok=True)
    folder = root / "all" / spec.parent.name
    jobs = sorted(_jobs(folder))
    for job in jobs:
        with suppress(CompileError):
            unpin_jobs(folder, [job])
    files = {path: path.read_bytes() for path in (root / "all").rglob("*.yaml")}
    made = pin_jobs(folder, {job: f"{job}-01234567" for job in jobs})
    assert {pin.job for pin in made} == set(jobs)
    assert {path.read_bytes() != content for path, content in files.items()} >= {bool(jobs)}
    assert all(block["pin"] == f"{job}-01234567" for job, block in _jobs(folder).items())
    unpin_jobs(folder, jobs)
    assert {path: path.read_bytes() for path in files} == files


def _jobs(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = merge_files(load(folder).documents)["jobs"]
    return {name: block for name, block in found.items() if block is not None}
