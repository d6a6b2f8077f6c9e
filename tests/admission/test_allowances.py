"""`allow`: one problem at one place, with a reason and a last day; never what the cluster would refuse."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commandline import run

import tfgitops
from tfgitops import Plugins, Problem, discover, hookimpl
from tfgitops.plugins.door import Plugin
from tfgitops.spec.diagnostics import WARNED, compiler_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from repository import Repository

    from tfgitops import Environment
    from tfgitops.testing import Result

    Compile = Callable[..., Result]

LITTLE = "memory: 1Mi"  # a warning, TF502, at the memory
POLICY = "policy: {noLatest: deny}\n"


def entry(
    code: str = "TF502", at: str = "jobs.train.worker.memory", until: str = "2026-06-30", why: str = "why"
) -> str:
    return f"allow: [{{code: {code}, at: {at}, reason: {why}, until: {until}}}]\n"


def job(keys: str = f"worker: {{replicas: 1, {LITTLE}}}", image: str = "image: a:1, ") -> str:
    return f"jobs: {{train: {{{image}{keys}}}}}\n"


def told(result: Result) -> list[str]:
    """Return what is said beside that there is no Git here."""
    return [code for code in result.codes if code != "TF803"]


def test_a_warning_is_said_unless_it_is_allowed(compile_spec: Compile) -> None:
    assert told(compile_spec(job())) == ["TF502"]
    result = compile_spec(entry() + job())
    assert (told(result), len(result.compiled.allowed)) == ([], 1)
    (allowed,) = result.compiled.allowed
    assert (allowed.diagnostic.code, allowed.by.reason, allowed.by.until) == ("TF502", "why", "2026-06-30")


@pytest.mark.parametrize(
    "at",
    ["jobs.train.image", "jobs.train.worker.image", "jobs.train", "jobs.train.worker", "defaults.image", "defaults",
     "'jobs[train].image'", "'jobs[\"train\"].image'"],
)  # fmt: skip
def test_an_inherited_value_is_named_in_its_job_or_where_it_is_written(compile_spec: Compile, at: str) -> None:
    spec = POLICY + "defaults: {image: a}\n" + job("worker: 1", image="")
    assert told(compile_spec(spec)) == ["POLICY05"]
    assert told(compile_spec(entry("POLICY05", at) + spec)) == []


@pytest.mark.parametrize(
    "at",
    ["jobs.other.image", "jobs.train.command", "jobs.train.chief.image", "jobs.trai", "jobs.train.ima", "namespace"],
)
def test_another_place_is_not_allowed(compile_spec: Compile, at: str) -> None:
    spec = POLICY + "defaults: {image: a}\n" + job("worker: 1", image="")
    assert "POLICY05" in told(compile_spec(entry("POLICY05", at) + spec))


def test_a_role_with_a_value_of_its_own_is_not_meant_by_the_jobs(compile_spec: Compile) -> None:
    spec = POLICY + job("chief: {image: b}, worker: 1", image="image: a, ")
    result = compile_spec(entry("POLICY05", "jobs.train.image") + spec)
    assert told(result) == ["POLICY05"]
    assert "the image b " in result.text
    assert told(compile_spec(entry("POLICY05", "jobs.train") + spec)) == []


def test_in_one_job_means_this_job_alone_and_where_it_is_written_all_that_inherit_it(compile_spec: Compile) -> None:
    spec = POLICY + "defaults: {image: a}\njobs: {one: {worker: 1}, two: {worker: 1}}\n"
    result = compile_spec(entry("POLICY05", "jobs.one.image") + spec)
    assert told(result) == ["POLICY05"]
    assert "inherited by the job 'two'" in result.text
    assert told(compile_spec(entry("POLICY05", "defaults.image") + spec)) == []


def test_what_a_job_is_made_from_is_meant_where_it_is_written(compile_spec: Compile) -> None:
    spec = POLICY + "jobs: {one: {image: a, worker: 1}, two: {from: one}}\n"
    assert told(compile_spec(entry("POLICY05", "jobs.one.image") + spec)) == []
    assert told(compile_spec(entry("POLICY05", "jobs.two.image") + spec)) == ["POLICY05"]
    away = POLICY + "defaults: {image: a}\njobs: {one: {worker: 1}, two: {from: one}}\n"
    assert told(compile_spec(entry("POLICY05", "jobs.one.image") + away)) == ["POLICY05"]


def test_a_job_in_a_file_of_its_own_is_named_alike(compile_spec: Compile) -> None:
    files = {"jobs/train.yaml": "image: a\nworker: 1\n"}
    assert told(compile_spec(entry("POLICY05", "jobs.train.image") + POLICY + "jobs: {}\n", files)) == []
    result = compile_spec(entry("POLICY05", "jobs.train.imaeg") + POLICY + "jobs: {}\n", files)
    assert sorted(told(result)) == ["POLICY05", "TF801"]
    assert "did you mean 'image'?" in result.text
    result = compile_spec(entry("POLICY05", "jobs.trian.image") + POLICY + "jobs: {}\n", files)
    assert "did you mean 'train'?" in result.text


def test_an_exception_in_the_file_of_a_job_is_told_where_it_belongs(compile_spec: Compile) -> None:
    files = {"jobs/train.yaml": "image: a\nworker: 1\n" + entry()}
    assert "it belongs to environment.yaml" in compile_spec("jobs: {}\n", files).text


def test_a_key_with_dots_stands_in_brackets(compile_spec: Compile) -> None:
    spec = "policy: {requiredLabels: {level: deny, labels: [example.com/team, team]}}\n" + job("worker: 1")
    result = compile_spec(entry("POLICY04", "'jobs.train.labels[example.com/team]'") + spec)
    assert (told(result), "no label 'team'" in result.text) == (["POLICY04"], True)


def test_an_index_stands_in_brackets(compile_spec: Compile) -> None:
    spec = POLICY + job("pod: {spec: {initContainers: [{name: i, image: b}]}}, worker: 1")
    assert told(compile_spec(spec)) == ["POLICY05"]
    assert told(compile_spec(entry("POLICY05", "'jobs.train.pod.spec.initContainers[0].image'") + spec)) == []


def test_what_is_odd_in_a_file_can_be_allowed_where_it_is_written(compile_spec: Compile) -> None:
    spec = job("env: {A: 'a\u00a0b'}, worker: 1")
    assert told(compile_spec(spec)) == ["TF109"]
    assert told(compile_spec(entry("TF109", "jobs.train.env.A") + spec)) == []
    assert told(compile_spec(entry("TF109", "jobs.train.env.A", "2026-02-30") + spec)) == ["TF203", "TF109"]


@pytest.mark.parametrize("code", sorted(compiler_codes().keys() - WARNED))
def test_a_code_that_is_always_an_error_of_ours_is_refused(compile_spec: Compile, code: str) -> None:
    result = compile_spec(entry(code) + job("worker: 1"))
    assert (result.ok, told(result)) == (False, ["TF802"])
    assert f"{code} cannot be allowed: {compiler_codes()[code]}" in result.text


def test_the_codes_that_may_be_warnings_are_known() -> None:
    """Wherever the compiler says that something is not simply an error, its code is one that can be allowed."""
    said: set[str] = set()
    for path in sorted(Path(tfgitops.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            given = {word.arg: word.value for word in node.keywords} if isinstance(node, ast.Call) else {}
            severity = given.get("severity", ast.Constant("error"))
            if not (isinstance(severity, ast.Constant) and severity.value == "error") and "code" in given:
                inner = [one.value for one in ast.walk(given["code"]) if isinstance(one, ast.Constant)]
                said |= {code for code in inner if isinstance(code, str)}
    of_no_environment = {"TF106", "TF603", "TF604", "TF801", "TF803"}  # of the report, lock, guard and exceptions
    assert said - of_no_environment == WARNED | (said & {"TF501"})


def test_an_error_of_a_code_that_may_be_a_warning_is_refused_where_it_is_one(compile_spec: Compile) -> None:
    spec = job("worker: {replicas: 1, policies: [{event: PodPending, action: RestartJob}]}")
    assert told(compile_spec(spec)) == ["TF502"]
    result = compile_spec(entry("TF502", "jobs.train") + spec)
    assert (result.ok, sorted(told(result))) == (False, ["TF502", "TF802"])
    assert "is an error that cannot be allowed" in result.text
    assert result.compiled.allowed == ()


def test_a_plugin_says_which_of_its_errors_can_be_allowed(compile_spec: Compile) -> None:
    class Costs:
        tfgitops_api = 1
        CODES = {"COST01": "too dear", "COST02": "never paid"}  # noqa: RUF012

        @hookimpl
        def tfgitops_check_environment(self, environment: Environment) -> Iterator[Problem]:
            yield Problem(code="COST01", message="too dear", at=environment.jobs[0].route, allowable=True)
            yield Problem(code="COST02", message="never paid", at=environment.jobs[0].route)

    plugins = Plugins((*discover().plugins, Plugin("costs", Costs(), "1", "here")))
    assert told(compile_spec(entry("COST01", "jobs.train") + job("worker: 1"), plugins=plugins)) == ["COST02"]
    result = compile_spec(entry("COST02", "jobs.train") + job("worker: 1"), plugins=plugins)
    assert sorted(told(result)) == ["COST01", "COST02", "TF802"]


def test_whether_an_error_can_be_allowed_is_true_or_false(compile_spec: Compile) -> None:
    class Vague:
        tfgitops_api = 1

        @hookimpl
        def tfgitops_check_environment(self) -> Iterator[Problem]:
            yield Problem(code="V01", message="m", at=(), allowable="perhaps")  # type: ignore[arg-type]

    plugins = Plugins((Plugin("vague", Vague(), "1", "here"),))
    assert "True or False" in compile_spec(job("worker: 1"), plugins=plugins).text


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (entry("tf502"), "no problem has the code tf502", "did you mean 'TF502'?"),
        (entry("POLICY5"), "no problem has the code POLICY5", "did you mean 'POLICY05'?"),
        (entry(at="jobs.trian.worker"), "'jobs' has no 'trian'", "did you mean 'train'?"),
        (entry(at="job.train"), "the spec has no 'job'", "did you mean 'jobs'?"),
        (entry(at="jobs.train.wroker.memory"), "'jobs.train' has no 'wroker'", "did you mean 'worker'?"),
        (entry(at="jobs.train.worker.imag"), "'jobs.train.worker' has no 'imag'", "did you mean 'image'?"),
        (entry(at="jobs.train.image"), "there is no TF502 at jobs.train.image", "take this entry out"),
    ],
)
def test_an_entry_that_allows_nothing_is_a_warning(compile_spec: Compile, text: str, message: str, hint: str) -> None:
    result = compile_spec(text + job("worker: 1"))
    assert (result.ok, told(result)) == (True, ["TF801"])
    assert message in result.text
    assert hint in result.text


def test_a_mistyped_entry_is_told_beside_the_error_that_it_is_for(compile_spec: Compile) -> None:
    result = compile_spec(entry("POLICY05", "jobs.train.imaje") + POLICY + job("worker: 1", image="image: a, "))
    assert sorted(told(result)) == ["POLICY05", "TF801"]
    assert "did you mean 'image'?" in result.text
    stopped = compile_spec(entry("POLICY05", "jobs.train.image") + POLICY + job("worker: {minAvailable: 3}"))
    assert told(stopped) == ["TF303"], "whether it is of use is not known before the last stage"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (entry(at="jobs"), "'jobs' is all of them"),
        (entry(at="volumes"), "'volumes' is all of them"),
        (entry(at="'jobs[train'"), "cannot be read as a place"),
        (entry(at="'.'"), "cannot be read as a place"),
        (entry(at="''"), "is empty"),
        (entry(why="' '"), "the reason is empty"),
        (entry(until="2026-2-3"), "is not a day of the calendar"),
        (entry(until="2026-02-29"), "is not a day of the calendar"),
        (entry(until="20260228"), "must be text"),
        ("allow: [{code: TF502, at: jobs.train, reason: why}]\n", "'until'"),
        ("allow: [{code: TF502, at: jobs.train, reason: why, expires: 2026-01-01}]\n", "the key is `until`"),
        ("allow: {code: TF502}\n", "a list"),
        ("allow: [null]\n", "must be a map"),
        ("allow: [{code: 7, at: jobs.train, reason: why, until: 2026-01-01}]\n", "must be text"),
        ("allow: [{code: TF502, at: null, reason: why, until: 2026-01-01}]\n", "must be text"),
    ],
)
def test_an_entry_of_another_form_is_refused(compile_spec: Compile, text: str, said: str) -> None:
    result = compile_spec(text + job("worker: 1"))
    assert not result.ok
    assert said in result.text


def test_the_list_of_a_stronger_file_replaces_that_of_a_weaker_one(compile_spec: Compile) -> None:
    base = {"../base.yaml": entry() + job()}
    assert told(compile_spec("extends: ../base.yaml\n", base)) == []
    assert told(compile_spec("extends: ../base.yaml\nallow: []\n", base)) == ["TF502"]
    assert told(compile_spec("extends: ../base.yaml\nallow: null\n", base)) == ["TF502"]


# --- the last day -----------------------------------------------------------------------------------------------------


def commit_on(repository: Repository, date: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit all, by a committer of another day than the author's."""
    identity = {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_CONFIG_GLOBAL": os.devnull}
    identity |= {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z"}
    command = ["git", "commit", "--quiet", "--allow-empty", "--all", "-m", "change"]
    settings = os.environ | identity | {"GIT_COMMITTER_DATE": date}
    subprocess.run(command, cwd=repository.top, env=settings, check=True, capture_output=True)


@pytest.fixture
def little(repository: Repository) -> Repository:
    """Return a repository with a warning that is allowed until the end of June."""
    allowed = entry(at="jobs.bert.worker.memory", why="until the new nodes come")
    repository.prod(("gitops: argocd\n", f"gitops: argocd\n{allowed}"), ("cpu: 4, gpu: 1", "cpu: 4, gpu: 1, " + LITTLE))
    return repository


@pytest.mark.parametrize(
    ("date", "allowed"),
    [
        ("2026-06-29T23:59:59Z", True),
        ("2026-06-30T23:59:59Z", True),
        ("2026-07-01T00:00:00Z", False),
        ("2026-07-01T01:30:00+02:00", True),  # still June in UTC
        ("2026-06-30T22:30:00-02:00", False),  # July in UTC
    ],
)
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_last_day_is_compared_with_the_newest_commits_in_utc(
    little: Repository, date: str, zone: str, *, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    commit_on(little, date, monkeypatch)
    result = run("validate", "--strict")
    assert result.exit_code == int(not allowed), result.output
    if not allowed:
        assert "error[TF502]" in result.stderr
        assert "allowed until 2026-06-30, and the newest commit is of 2026-07-01" in result.stderr
        assert "prod/environment.yaml:7:9" in result.stderr


def test_what_is_allowed_is_in_no_format_and_is_listed_with_v(little: Repository) -> None:
    little.commit("change")
    assert json.loads(run("validate", "--format", "json").stdout)["problems"] == []
    assert json.loads(run("validate", "--format", "sarif", "-v").stdout)["runs"][0]["results"] == []
    assert run("validate", "--format", "github").stdout == ""
    assert "allowed" not in run("validate").output
    line = (
        "allowed  environments/prod/environment.yaml:7  TF502 at jobs.bert.worker.memory until 2026-06-30: "
        "until the new nodes come"
    )
    assert run("validate", "-v").stdout.splitlines()[0] == line
    little.build("--restart-all")
    assert run("build", "--check", "-v").stdout.splitlines()[0] == line


def test_outside_of_git_every_entry_holds_and_one_warning_says_so(compile_spec: Compile) -> None:
    twice = entry(until="2001-01-01")[:-2] + ", {code: TF502, at: jobs.train, reason: b, until: 2001-01-01}]\n"
    result = compile_spec(twice + job())
    assert (result.ok, result.codes) == (True, ["TF803"])
    assert compile_spec("allow: []\n" + job("worker: 1")).codes == []


def test_before_the_first_commit_it_is_the_same(tmp_path: Path, compile_spec: Compile) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    assert compile_spec(entry(until="2001-01-01") + job()).codes == ["TF803"]


def test_without_git_it_is_the_same(little: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    little.commit("change")
    monkeypatch.setenv("PATH", "")
    assert run("validate").stderr.count("warning[TF803]") == 1


def test_git_is_asked_once_a_call_and_only_where_something_is_allowed(
    little: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    little.commit("change")
    little.write("environments/test/environment.yaml", little.read("environments/prod/environment.yaml"))
    asked: list[list[str]] = []
    before = subprocess.run

    def counted(command: list[str], **more: object) -> object:
        asked.append(command)
        return before(command, **more)  # type: ignore[call-overload]

    monkeypatch.setattr("tfgitops.spec.git.subprocess.run", counted)
    run("validate")
    assert len(asked) == 1
    little.prod((entry(at="jobs.bert.worker.memory", why="until the new nodes come"), ""))
    run("validate", "environments/prod")
    assert len(asked) == 1


def test_it_holds_in_a_shallow_clone(little: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_on(little, "2026-07-02T00:00:00Z", monkeypatch)
    little.git("clone", "--quiet", "--depth=1", "--branch=change", f"file://{little.top}", str(tmp_path / "clone"))
    result = run("validate", str(tmp_path / "clone" / "environments"))
    assert "the newest commit is of 2026-07-02" in result.stderr


def test_a_pinned_job_is_named_by_itself_or_its_pin(repository: Repository) -> None:
    repository.prod(("  bert:\n", "  bert:\n    image: a\n"))
    repository.build("--restart-all")
    name = next(
        line.split()[-1] for line in repository.manifest("bert").splitlines() if line.startswith("  name: bert-")
    )
    repository.prod(("  bert:\n", f"  bert:\n    pin: {name}\n"), ("gitops: argocd\n", f"gitops: argocd\n{POLICY}"))
    repository.commit("pinned")
    assert "error[POLICY05]" in run("validate").stderr
    for at in ("jobs.bert", "jobs.bert.pin"):
        repository.prod((POLICY, POLICY + entry("POLICY05", at)))
        assert run("validate", "--strict").exit_code == 0
        repository.prod((entry("POLICY05", at), ""))
