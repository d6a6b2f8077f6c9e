"""GitHub's workflow commands: annotations on the right place, and nothing of a spec is a command."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import commandline
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfgitops.plugins.plain import printable
from tfgitops.report import as_github
from tfgitops.report.checkout import Checkout
from tfgitops.report.text import explained
from tfgitops.spec.diagnostics import Diagnostic, Span

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
COMMAND = re.compile(r"::(?P<name>error|warning) (?P<properties>[^:]*)::(?P<data>[^\r\n]*)")
HERE = Checkout(top=Path.cwd(), fallback=Path("pyproject.toml"))
TEXTS = st.text(st.one_of(st.sampled_from("%:,=\r\n\x1b#[]A0"), st.characters(exclude_categories=())), max_size=40)

PATHS = st.binary(max_size=20).map(lambda name: os.fsdecode(name.replace(b"\0", b"")))


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Read a command as the documentation of its escapes has it: the data, then the properties."""
    match = COMMAND.fullmatch(line)
    assert match is not None, line
    pairs = dict(part.partition("=")[::2] for part in match["properties"].split(","))
    properties = {key: unescape(value.replace("%3A", ":").replace("%2C", ",")) for key, value in pairs.items()}
    return match["name"], properties, unescape(match["data"])


def unescape(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def run(*arguments: str | Path) -> Any:
    return commandline.run(*arguments, "--format", "github")


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    path = tmp_path / "environments" / "prod" / "environment.yaml"
    path.parent.mkdir(parents=True)
    return path


def test_an_annotation_is_on_the_marked_characters(spec: Path) -> None:
    spec.write_text(HEAD + "jobs:\n  train: {image: 'tf:2.21', wroker: 2}\n")
    outcome = run("validate")
    assert (outcome.exit_code, outcome.stderr) == (1, "")
    assert outcome.stdout == (
        "::error file=environments/prod/environment.yaml,line=5,endLine=5,col=29,endColumn=34,title=TF201"
        "::unknown key 'wroker'%0Ahelp: did you mean 'worker'?\n"
    )


def test_a_second_place_is_named_in_the_message(spec: Path) -> None:
    job = "{image: 'tf:2.21', queue: vision, worker: {replicas: 4, gpu: 1}}"
    spec.write_text(f"{HEAD}queues: {{vision: {{capability: {{nvidia.com/gpu: 2}}}}}}\njobs: {{train: {job}}}\n")
    _, properties, message = read(run("validate").stdout.rstrip("\n"))
    assert properties["title"] == "QUEUE05"
    assert message.endswith("\nnote: the queue's capability (environments/prod/environment.yaml:4:48)")


def test_paths_start_at_the_checkout(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec.write_text(HEAD + "jobs: {train: {image: 'tf:2.21', wroker: 2}}\n")
    monkeypatch.chdir(spec.parent)
    assert read(run("validate", ".").stdout.rstrip("\n"))[1]["file"] == "environments/prod/environment.yaml"


def test_warnings_are_warnings_and_the_exit_code_is_fine(spec: Path) -> None:
    spec.write_text(HEAD + "jobs: {train: {image: 'tf:2.21', worker: 2}}\n")
    Path("tfgitops.lock").write_text('tfgitops = "0.0.0"\n')
    outcome = run("validate")
    assert outcome.exit_code == 0
    read_lines = [read(line) for line in outcome.stdout.splitlines()]
    assert {(name, properties["file"]) for name, properties, _ in read_lines} == {("warning", "tfgitops.lock")}


def test_a_problem_of_no_file_has_none(spec: Path) -> None:
    name, properties, message = read(run("validate", "nowhere").stdout.rstrip("\n"))
    assert (name, properties) == ("error", {"title": "TF101"})
    assert message.startswith("nowhere is not there")


def test_a_stale_manifest_is_an_annotation_of_it(spec: Path) -> None:
    spec.write_text(HEAD + "jobs: {train: {image: 'tf:2.21', worker: 2}}\n")
    outcome = run("build", "--check")
    assert outcome.exit_code == 1
    _, properties, message = read(outcome.stdout.rstrip("\n"))
    manifest = "environments/prod/manifests/workloads/job-train.yaml"
    assert properties == {"file": manifest, "title": "TF611"}
    assert message.startswith("the manifest is missing: ")


@pytest.mark.parametrize(
    "attack", ["\n::set-output name=a::b", "\r::add-mask::b", "x\u2028::stop-commands::b", "%0A::debug::b"]
)
def test_a_stranger_starts_no_command_by_a_key(spec: Path, attack: str) -> None:
    spec.write_text(HEAD + f"jobs: {{train: {{image: 'tf:2.21', {json.dumps('w' + attack)}: 2}}}}\n")
    outcome = run("validate")
    assert outcome.exit_code == 1
    (line,) = re.split(r"[\r\n]+", outcome.stdout.rstrip("\n"))
    assert printable("w" + attack) in read(line)[2]


def test_a_stranger_starts_no_command_by_the_name_of_a_folder(spec: Path) -> None:
    folder = Path("environments/x\n::add-mask::a,title=b: c%0A")
    folder.mkdir()
    (folder / "environment.yaml").write_text(HEAD + "jobs: {train: {image: 'tf:2.21', wroker: 2}}\n")
    *_, line = run("validate").stdout.splitlines()
    properties = read(line)[1]
    assert properties["file"] == "environments/x\\n::add-mask::a,title=b: c%0A/environment.yaml"
    assert properties["title"] == "TF201"


@given(message=TEXTS, found=TEXTS, hint=TEXTS, file=PATHS, note=TEXTS)
def test_whatever_is_said_is_one_line_and_reads_back(message: str, found: str, hint: str, file: str, note: str) -> None:
    span = Span(file=f"a{file}", line=3, column=2, width=4)
    diagnostic = Diagnostic(
        code="TF201", severity="error", message=message, span=span, found=found, hint=hint, notes=((note, span),)
    )
    text = as_github.render([diagnostic], HERE)
    assert text.endswith("\n")
    (line,) = re.split(r"[\r\n]", text[:-1])
    name, properties, told = read(line)
    assert name == "error"
    assert (properties["line"], properties["col"], properties["endColumn"]) == ("3", "2", "5")
    assert told.startswith(explained(diagnostic))
    text.encode()
