"""What plugin authors test with: specs from text, results to look into, folders of cases, and the class of tests."""

from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from builder import cut

from tfgitops import Problem, hookimpl
from tfgitops.spec.diagnostics import CompileError
from tfgitops.testing import Bench, CaseFailedError, Result, find_cases, find_plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tfgitops import Environment

TWO = """
    queues: {vision: {}}
    jobs:
      a: {image: tf, queue: vision, labels: {team: red}, ps: 1, worker: {replicas: 2, cpu: 4, shm: 1Gi, env: {X: 1}}}
      b: {image: tf, worker: 1, pod: {metadata: {annotations: {note: hello}}}}
"""


class Refusing:
    """A plugin that is an object."""

    tfgitops_api = 1

    @hookimpl
    def tfgitops_check_environment(self, environment: Environment) -> Iterator[Problem]:
        for job in environment.jobs:
            if job.name not in environment.settings["refusing"]["allowed"]:
                yield Problem(code="NO01", message="not allowed", at=(*job.route, "image"), hint="ask")


def test_a_result_is_looked_into_by_job_role_and_container(compile_spec: Bench) -> None:
    result = compile_spec(TWO)
    assert result.job("a").labels == {"team": "red", "tfgitops/job": "a"}
    assert list(result.job("a").tasks) == ["ps", "worker"]
    worker = result.container("worker", job="a")
    assert worker.env["X"] == "1"
    assert worker.requests == worker.limits == {"cpu": "4"}
    assert worker.mounts["/dev/shm"]["name"] in result.pod("worker", job="a").volumes  # noqa: S108
    assert result.pod("worker", job="b").annotations == {"note": "hello"}
    assert result.object("Queue", "vision") == result.manifest("cluster/queue-vision.yaml")
    assert "worker" in result.explain("a", "spec.tasks[worker].replicas")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda result: result.job(), "say which job is meant: a, b"),
        (lambda result: result.task("chief", job="a"), "the job has ps, worker"),
        (lambda result: result.object("Queue", "text"), "there is no Queue 'text': vision"),
        (lambda result: result.manifest("cluster/x.yaml"), "there is no cluster/x.yaml: there are cluster/queue-"),
        (lambda result: result.found("TF201"), "TF201 was found 0 times, not once:\nnothing was found"),
    ],
    ids=["job", "role", "object", "file", "code"],
)
def test_what_is_not_there_is_told_with_what_is(ask: Callable[[Result], Any], said: str, compile_spec: Bench) -> None:
    with pytest.raises(AssertionError) as caught:
        ask(compile_spec(TWO))
    assert said in str(caught.value)


def test_a_spec_that_does_not_compile_is_shown_where_its_job_is_asked_for(compile_spec: Bench) -> None:
    result = compile_spec("jobs:\n  a: {imge: tf, worker: 1}\n")
    with pytest.raises(AssertionError, match="did you mean 'image'"):
        result.job()
    assert (result.codes, result.line("TF201")) == (["TF201"], 5)


@pytest.mark.parametrize("given", [Refusing(), SimpleNamespace], ids=["an object", "a stranger"])
def test_an_object_may_be_a_plugin(given: object, compile_spec: Bench) -> None:
    if given is SimpleNamespace:
        with pytest.raises(CompileError, match="declares no `tfgitops_api`"):
            find_plugins(given)
        return
    settings = {"refusing": {"allowed": ["b"]}}
    result = compile_spec(TWO, plugins=find_plugins(given), settings=settings)
    assert (result.codes, result.line("NO01")) == (["NO01"], 7)


def test_only_what_is_given_when_nothing_installed_is_wanted() -> None:
    assert [plugin.name for plugin in find_plugins("gpu", Refusing(), installed=False).plugins] == ["gpu", "refusing"]
    with pytest.raises(CompileError, match="there is no plugin 'gqu'"):
        find_plugins("gqu")


def test_a_file_takes_the_place_of_an_installed_plugin_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "gpu.py").write_text("tfgitops_api = 1\n")
    [gpu] = [plugin for plugin in find_plugins(tmp_path / "gpu.py").plugins if plugin.name == "gpu"]
    assert gpu.origin == "gpu.py"


# --- cases -------------------------------------------------------------------------------------------------------

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    for name, job in (("ok/one", "{image: tf, worker: 1}"), ("bad/two", "{image: tf}")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "environment.yaml").write_text(f"{HEAD}jobs:\n  train: {job}\n")
    return tmp_path


def test_cases_are_written_anew_and_then_hold(cases: Path) -> None:
    plugins = find_plugins()
    for case in find_cases(cases):
        with pytest.raises(CaseFailedError):
            case.run(plugins)
        case.run(plugins, refresh=True)
        case.run(plugins)
    assert (cases / "ok/one/manifests/workloads/job-train.yaml").exists()
    assert not (cases / "ok/one/expected.txt").exists()
    assert (cases / "bad/two/expected.txt").read_text().startswith("error[TF302]")


def test_a_case_that_changed_is_shown_line_by_line(cases: Path) -> None:
    plugins = find_plugins()
    ok, bad = find_cases(cases)
    for case in (ok, bad):
        case.run(plugins, refresh=True)
    (ok.folder / "environment.yaml").write_text(f"{HEAD}jobs:\n  train: {{image: tf, worker: 2}}\n")
    with pytest.raises(CaseFailedError) as caught:
        ok.run(plugins)
    assert re.search(r"\n-\s+(- )?replicas: 1\n", str(caught.value))
    assert re.search(r"\n\+\s+(- )?replicas: 2\n", str(caught.value))
    (bad.folder / "environment.yaml").write_text(f"{HEAD}jobs:\n  train: {{image: tf, worker: 2}}\n")
    with pytest.raises(CaseFailedError, match="should not compile, and does"):
        bad.run(plugins)


def test_a_good_case_that_does_not_compile_is_not_written_anew(cases: Path) -> None:
    (cases / "ok/one/environment.yaml").write_text(f"{HEAD}jobs:\n  train: {{image: tf}}\n")
    with pytest.raises(CaseFailedError, match="ok/one does not compile"):
        find_cases(cases)[0].run(find_plugins(), refresh=True)
    assert not (cases / "ok/one/expected.txt").exists()


def test_a_folder_without_cases_is_no_folder_of_cases(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="there are no cases in"):
        find_cases(tmp_path)


# --- with pytest -------------------------------------------------------------------------------------------------

SUITE = """\
from pathlib import Path

from tfgitops.testing import PluginTests

class TestTeam(PluginTests):
    plugin = Path(__file__).parent / "team.py"
    cases = "."
"""
TEAM = """\
from tfgitops import Problem, hookimpl

tfgitops_api = 1
CODES = {"TEAM01": "a job called train"}


@hookimpl
def tfgitops_check_environment(environment):
    for job in environment.jobs:
        if len(job.roles) > 1:
            yield Problem(code="TEAM01", message="two roles", at=job.route, hint="take one")
"""


def run_pytest(folder: Path, *options: str) -> str:
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_a_test_file_of_a_few_lines_runs_all_cases_and_the_contract(cases: Path) -> None:
    (cases / "team.py").write_text(TEAM)
    (cases / "test_team.py").write_text(SUITE)
    (cases / "bad/two/environment.yaml").write_text(f"{HEAD}jobs:\n  train: {{image: tf, ps: 1, worker: 1}}\n")
    assert "2 failed, 1 passed" in run_pytest(cases)
    assert "3 passed" in run_pytest(cases, "--tfgitops-refresh")
    assert "3 passed" in run_pytest(cases)
    (cases / "team.py").write_text(cut(TEAM, ', hint="take one"', ""))
    said = run_pytest(cases)
    assert "2 failed, 1 passed" in said
    assert "hints: tfgitops_check_environment yields TEAM01 without a hint: two roles" in said
    assert "the contract: each problem has a hint, which is something to do" in said


def test_those_who_use_nothing_of_it_pay_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_none.py").write_text(
        "import sys\n\ndef test_none():\n    ours = {name for name in sys.modules if name.startswith('tfgitops')}\n"
        "    assert ours == {'tfgitops', 'tfgitops.testing', 'tfgitops.testing.pytest_plugin'}\n"
    )
    assert "1 passed" in run_pytest(tmp_path)
