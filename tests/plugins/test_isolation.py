"""A plugin at fault is named, with its version and source, and all the rest of the report is there beside it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from builder import GONE, cut, spec_with
from commandline import run
from plugged import HEAD, MANIFESTS, SPEC, Plugged, build, contribute, hook

from tfgitops import Plugins, hookimpl
from tfgitops.plugins.door import Plugin
from tfgitops.plugins.faults import OutOfTimeError
from tfgitops.plugins.isolation import Aside, isolated, time_limit
from tfgitops.report.text import render
from tfgitops.spec.diagnostics import CompileError

if TYPE_CHECKING:
    from collections.abc import Iterable

TYPING_MISTAKE = spec_with(SPEC, {"jobs.train.image": GONE, "jobs.train.imag": "tf"})
HOOKS = {
    "tfgitops_check_environment": "environment",
    "tfgitops_contribute": "job",
    "tfgitops_objects": "environment",
    "tfgitops_check_manifests": "environment, manifests",
}
TEAM = hook("tfgitops_schema", "", 'yield SchemaFragment("job", "team", {"type": "string", "description": "whose"})')
WITH_TEAM = SPEC + "    team: vision\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plugged:
    monkeypatch.chdir(tmp_path)
    return Plugged(tmp_path)


def codes(repository: Plugged) -> list[str]:
    return [found.code for found in repository.compile().diagnostics]


# --- the rest of the report ---------------------------------------------------------------------------------------

UNUSABLE = {
    "it cannot be imported": ("import nosuch\n", TEAM, "cannot be imported: ModuleNotFoundError"),
    "it is no Python": ("def (\n", TEAM, "cannot be imported: SyntaxError: invalid syntax (broken.py:1)"),
    "it ends the program": ("raise SystemExit(0)\n", TEAM, "cannot be imported: SystemExit(0) (broken.py:1)"),
    "another version of the contract": (cut(HEAD, "= 1", "= 2"), TEAM, "declares tfgitops_api = 2"),
    "a version that is none": (cut(HEAD, "= 1", "= True"), TEAM, "declares tfgitops_api = True"),
    "a hook that is none": (HEAD, TEAM + hook("tfgitops_contributes", "job", "return []"), "did you mean"),
    "an argument that is none": (HEAD, TEAM + hook("tfgitops_contribute", "jobs", "return []"), "cannot be used"),
    "its schema raises": (HEAD, hook("tfgitops_schema", "", "raise ValueError('boom')"), "failed in tfgitops_schema"),
    "its key has no schema": (HEAD, cut(TEAM, "string", "nonsense"), "no JSON Schema"),
    "its fragment is none": (HEAD, hook("tfgitops_schema", "", "yield 3"), "yielded an int from tfgitops_schema"),
}  # fmt: skip


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_is_wrong_with_the_spec_is_told_beside_a_plugin_that_cannot_be_used(
    what: str, repository: Plugged
) -> None:
    head, body, said = UNUSABLE[what]
    repository.plugin("broken", body, head)
    check = hook("tfgitops_check_environment", "environment", "yield Problem(code='O1', message='o', at=())")
    repository.plugin("owner", check)
    repository.spec(spec_with(WITH_TEAM, {"jobs.train.queue": "nowhere"}))
    result = build()
    assert result.exit_code == 1
    assert said in result.stderr
    assert "plugin 'broken' local" in result.stderr
    assert "broken.py" in result.stderr
    assert [code in result.stderr for code in ("[O1]", "[QUEUE01]")] == [True, True]
    assert "unknown key" not in result.stderr, "its own key is no typing mistake"
    assert result.stderr.count("error[") == 3
    assert not MANIFESTS.exists()


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_spec_without_a_fault_is_not_written_without_one_of_its_plugins(what: str, repository: Plugged) -> None:
    head, body, _ = UNUSABLE[what]
    repository.plugin("broken", body, head)
    repository.spec(WITH_TEAM)
    result = build()
    assert result.exit_code == 1
    assert result.stderr.count("error[") == 1
    assert "environments/prod: nothing written" in result.stdout
    assert not MANIFESTS.exists()


def test_a_typing_mistake_is_still_told_where_keys_are_unknown(repository: Plugged) -> None:
    repository.plugin("broken", head="import nosuch\n")
    repository.spec(TYPING_MISTAKE + "    team: vision\n    gpus: 1\n")
    text = build().stderr
    assert "unknown key 'imag'" in text
    assert "unknown key 'team'" not in text
    assert "keys that nobody knows are taken for its own; `--no-plugin broken` leaves it out" in text


def test_an_unknown_key_is_no_error_wherever_it_may_stand(repository: Plugged) -> None:
    repository.plugin("broken", head="import nosuch\n")
    worker = {"gpu": {"count": 1, "lead": "x", "cuont": 3}, "tier": "gold"}
    defaults = {"team": "a", "worker": {"tier": 1}}
    repository.spec(spec_with(SPEC, {"teams": {"a": 1}, "defaults": defaults, "jobs.train.worker": worker}))
    folder = repository.root / "environments/prod/jobs"
    folder.mkdir()
    (folder / "other.yaml").write_text("image: y\nteam: c\nchief: {tier: 3}\nworkr: 2\n")
    messages = [found.message for found in repository.compile().diagnostics]
    assert messages[1:] == ["unknown key 'cuont'", "unknown key 'workr'"]


def test_annotations_stand_on_the_file_of_a_local_plugin(repository: Plugged) -> None:
    repository.plugin("broken", head="import nosuch\n")
    assert run("validate", "--format", "github").stdout.startswith("::error file=broken.py,")


def test_keys_stay_known_where_the_plugin_at_fault_has_said_its_own(repository: Plugged) -> None:
    repository.plugin("broken", TEAM + hook("tfgitops_check_environment", "environment", "raise ValueError"))
    repository.spec(SPEC + "    taem: vision\n")
    assert "did you mean 'team'?" in build().stderr


def test_only_the_value_of_a_key_with_a_broken_schema_may_be_anything(repository: Plugged) -> None:
    fragments = [f"yield SchemaFragment('job', '{k}', {{'type': '{t}'}})" for k, t in (("team", "x"), ("ok", "string"))]
    repository.plugin("broken", hook("tfgitops_schema", "", "\n".join(fragments)))
    repository.spec(SPEC + "    team: [1]\n    ok: [1]\n    other: 1\n")
    assert codes(repository) == ["TF902", "TF202", "TF201"]


def test_of_two_plugins_with_one_key_both_are_named_and_its_values_are_left_alone(repository: Plugged) -> None:
    repository.plugin("one", TEAM + contribute("raise ValueError('not asked')"))
    repository.plugin("two", cut(TEAM, "string", "integer") + contribute("raise ValueError('not asked')"))
    repository.spec(SPEC + "    team: {of: nobody}\n")
    [found] = repository.compile().diagnostics
    assert found.message == (
        "the key 'team' of plugin 'two' local (two.py) for the job is owned already, by plugin 'one' local (one.py)"
    )


def test_a_bundled_plugin_keeps_its_key_and_goes_on(repository: Plugged) -> None:
    repository.plugin("a", cut(TEAM, "team", "queue"))
    repository.spec(SPEC + "    queue: nowhere\n")
    assert codes(repository) == ["TF902", "QUEUE01"]
    assert "of plugin 'a' local (a.py) for the job is owned already, by plugin 'queue'" in build().stderr


def test_a_key_in_the_block_of_a_plugin_that_cannot_be_used_is_nobodys_fault(repository: Plugged) -> None:
    repository.plugin("broken", head="import nosuch\n")
    repository.plugin("inner", hook("tfgitops_schema", "", 'yield SchemaFragment("team", "tier", {})'))
    assert codes(repository) == ["TF902"]


def test_every_plugin_at_fault_is_told_in_one_run(repository: Plugged) -> None:
    repository.plugin("a", head="import nosuch\n")
    repository.plugin("b", head="tfgitops_api = 3\n")
    repository.plugin("c", contribute("raise ValueError"))
    repository.plugin("d", hook("tfgitops_check_environment", "environment", "yield 3"))
    repository.plugin("e", hook("tfgitops_schema", "", "raise ValueError"))
    assert sorted(codes(repository)) == ["TF901", "TF901", "TF902", "TF902", "TF902"]


def test_planning_goes_on_when_a_check_raises(repository: Plugged) -> None:
    repository.plugin("broken", hook("tfgitops_check_environment", "environment", "raise ValueError('boom')"))
    repository.spec(spec_with(SPEC, {"jobs.train.worker": {"replicas": 2, "pod": {"spec": {"subdomain": "x"}}}}))
    assert codes(repository) == ["TF901", "TF402"]


def test_the_manifests_are_judged_when_only_a_check_is_missing(repository: Plugged) -> None:
    repository.spec(spec_with(SPEC, {"jobs.train.worker": {"replicas": 2, "pod": {"spec": {"dnsPolicy": "Nonsense"}}}}))
    [without] = codes(repository)
    repository.plugin("broken", hook("tfgitops_check_environment", "environment", "raise ValueError('boom')"))
    assert codes(repository) == ["TF901", without]


def test_what_is_missing_in_a_manifest_is_not_the_specs_fault(repository: Plugged) -> None:
    """A volume that a plugin should have added: the mount of the spec is right."""
    volume = "yield job.roles[0].pod({'spec': {'volumes': [{'name': 'v', 'emptyDir': {}}]}})"
    repository.spec(SPEC + "    container: {volumeMounts: [{name: v, mountPath: /v}]}\n")
    repository.plugin("volumes", contribute(f"raise ValueError\n{volume}"))
    assert codes(repository) == ["TF901"]
    repository.plugin("volumes", contribute(volume))
    assert codes(repository) == []


def test_one_crash_is_told_once_however_many_jobs_there_are(repository: Plugged) -> None:
    job = "    image: tf:2.21\n    worker: 2\n"
    repository.spec(SPEC + "".join(f"  j{number}:\n{job}" for number in range(50)))
    repository.plugin("broken", contribute("raise ValueError(job.name)"))
    assert codes(repository) == ["TF901"]


def test_a_plugin_that_fails_in_one_environment_is_asked_in_the_next(repository: Plugged) -> None:
    other = repository.root / "environments/dev"
    other.mkdir()
    (other / "environment.yaml").write_text(SPEC)
    body = "if environment.name == 'dev': raise ValueError('boom')\nyield Problem(code='P1', message='p', at=())"
    repository.plugin("broken", hook("tfgitops_check_environment", "environment", body))
    result = build()
    assert ("TF901" in result.stderr, "P1" in result.stderr) == (True, True)


COMPILING = [
    ["build"], ["build", "--check"], ["validate"], ["images"], ["review"], ["explain", "environments/prod"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", COMPILING)
def test_every_command_that_compiles_names_the_plugin_and_goes_without_it_when_told(
    arguments: list[str], repository: Plugged
) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main"], check=True)
    subprocess.run(["git", "add", "-A"], check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *identity, "commit", "-qm", "x"], check=True)
    against = ["--against", "main"] if arguments == ["review"] else []
    assert run("build").exit_code == 0
    repository.plugin("broken", head="import nosuch\n")
    result = run(*arguments, *against)
    assert result.exit_code == 1, result.output
    assert "plugin 'broken' local (broken.py) cannot be imported" in result.stderr
    assert "Traceback" not in result.stderr
    result = run(*arguments, *against, "--no-plugin", "broken")
    assert result.exit_code == 0, result.output
    assert "broken" not in result.stderr


def test_unpin_tells_of_the_next_build_without_a_plugin_when_told(repository: Plugged) -> None:
    assert run("build").exit_code == 0
    assert run("pin", "environments/prod", "train").exit_code == 0
    repository.plugin("broken", head="import nosuch\n")
    result = run("unpin", "environments/prod", "train", "--no-plugin", "broken")
    assert (result.exit_code, "changes nothing" in result.stdout) == (0, True), result.output


@pytest.mark.parametrize("command", ["schema", "lock"])
def test_what_a_plugin_has_no_part_in_is_not_written(command: str, repository: Plugged) -> None:
    repository.plugin("broken", head="import nosuch\n")
    result = run(command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "'broken'" in result.stderr
    assert not Path("tfgitops.lock").exists()
    assert run(command, "--no-plugin", "broken").exit_code == 0


def test_the_version_names_what_cannot_be_used(repository: Plugged) -> None:
    repository.plugin("broken", head="import nosuch\n")
    result = run("--version")
    assert (result.exit_code, "broken local (cannot be used)" in result.stdout) == (0, True)
    Path("pyproject.toml").write_text("[tool.tfgitops]\nx = 1\n")
    result = run("--version")
    assert (result.exit_code, "unknown key 'x'" in result.stderr) == (1, True)


def test_the_lock_has_nothing_against_a_plugin_that_cannot_be_used(repository: Plugged) -> None:
    repository.plugin("broken", TEAM)
    assert run("lock").exit_code == 0
    Path("broken.py").write_text("import nosuch\n")
    result = build()
    assert "not installed" not in result.stderr


# --- what it may raise, and answer --------------------------------------------------------------------------------

RAISED = {
    "an end of the program": "raise SystemExit(0)",
    "no memory": "raise MemoryError",
    "no memory, really": "x = [0] * (1 << 60)",
    "a recursion": "def f(): return f()\nf()",
    "a recursion of generators": "def f(): yield from f()\nyield from f()",
    "an iterator that raises": "class I:\n    def __iter__(self): raise KeyError('x')\nreturn I()",
}


@pytest.mark.parametrize("what", RAISED)
def test_whatever_a_plugin_raises_is_its_own_fault(what: str, repository: Plugged) -> None:
    repository.plugin("broken", contribute(RAISED[what]))
    result = build()
    assert result.exit_code == 1, result.output
    assert "plugin 'broken' local" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Error" in result.stderr or "error[TF90" in result.stderr


def test_the_line_is_one_of_the_plugin_even_if_it_was_raised_in_code_of_others(repository: Plugged) -> None:
    repository.plugin("broken", contribute("import json\njson.loads('x')"))
    line = Path("broken.py").read_text().splitlines().index("    json.loads('x')") + 1
    assert f"(broken.py:{line})" in build().stderr
    repository.plugin("broken", contribute("job.data['x']"))
    assert "KeyError('x') (broken.py:" in build().stderr


def test_an_installed_plugin_is_named_with_its_version_and_package(
    repository: Plugged, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = repository.root / "site"
    (installed / "bad_plugin-1.2.dist-info").mkdir(parents=True)
    for name, text in {
        "bad_plugin.py": "import json\n\njson.loads('x')\n",
        "bad_plugin-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: bad-plugin\nVersion: 1.2\n",
        "bad_plugin-1.2.dist-info/entry_points.txt": "[tfgitops]\nbad = bad_plugin\n",
    }.items():
        (installed / name).write_text(text)
    monkeypatch.syspath_prepend(installed)
    result = build()
    assert "plugin 'bad' 1.2 (bad_plugin) cannot be imported: JSONDecodeError(" in result.stderr
    assert "(bad_plugin.py:3)" in result.stderr
    assert build("--no-plugin", "bad").exit_code == 0


def test_an_answer_without_end_is_cut(repository: Plugged) -> None:
    repository.plugin("broken", contribute("patch = job.patch({})\nwhile True: yield patch"))
    [found] = repository.compile().diagnostics
    assert (found.code, "100,000 answers" in found.message) == ("TF902", True)


def test_of_very_many_wrong_answers_some_are_told(repository: Plugged) -> None:
    repository.plugin("broken", contribute("for n in range(99): yield job.patch({f'a{n}': None})"))
    assert len(repository.compile().diagnostics) == 20


def test_a_problem_of_a_class_of_its_own_is_copied(repository: Plugged) -> None:
    body = "class P(Problem):\n    pass\nyield P(code='P1', message='p', at=())"
    repository.plugin("own", hook("tfgitops_check_environment", "environment", body))
    plugins = repository.discover()
    environment = repository.compile().environment
    assert environment is None
    assert codes(repository) == ["P1"]
    assert plugins.faults == ()


# --- an interrupt -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["at import", "in a hook"])
def test_an_interrupt_ends_the_run_and_says_which_plugin_was_at_work(where: str, repository: Plugged) -> None:
    body = "raise KeyboardInterrupt\n"
    repository.plugin("slow", contribute(body) if where == "in a hook" else body)
    result = build()
    assert result.exit_code == 130
    assert "interrupted while plugin 'slow' local (slow.py) was " in result.stderr


# --- a limited time -----------------------------------------------------------------------------------------------


@pytest.fixture
def hurried(repository: Plugged, monkeypatch: pytest.MonkeyPatch) -> Plugged:
    monkeypatch.setenv("TFGITOPS_HOOK_SECONDS", "0.2")
    return repository


LOOPS = {
    "in vain": "while True: pass",
    "asleep": "import time; time.sleep(60)",
    "catching all that is an exception": "while True:\n    try:\n        while True: pass\n    except Exception: pass",
    "catching all, twice": (
        "for _ in range(2):\n    try:\n        while True: pass\n    except BaseException: pass\nwhile True: pass"
    ),
    "in a comparison": "import re; re.match('(a+)+b', 'a' * 60)",
}


@pytest.mark.parametrize("what", LOOPS)
@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_does_not_end_is_stopped(what: str, name: str, hurried: Plugged) -> None:
    hurried.plugin("slow", hook(name, HOOKS[name], LOOPS[what]))
    start = time.monotonic()
    found = hurried.compile().diagnostics
    assert time.monotonic() - start < 5
    assert "TF901" in {one.code for one in found}
    text = render(found)
    assert "plugin 'slow' local" in text
    assert "slow.py" in text
    if what == "in vain":
        assert f"did not come to an end in {name} within 0.2 s, and was stopped (slow.py:" in text
        assert "TFGITOPS_HOOK_SECONDS" in text


@pytest.mark.parametrize("where", ["at import", "in its schema"])
def test_a_plugin_that_does_not_end_before_there_is_a_spec_is_stopped(where: str, hurried: Plugged) -> None:
    loop = "while True: pass\n"
    hurried.plugin("slow", loop if where == "at import" else hook("tfgitops_schema", "", loop))
    hurried.spec(TYPING_MISTAKE)
    text = build().stderr
    assert "did not come to an end" in text
    assert "unknown key 'imag'" in text


def test_the_time_is_spent_once_for_all_environments(hurried: Plugged) -> None:
    for name in "abcdefghij":
        folder = hurried.root / "environments" / name
        folder.mkdir()
        (folder / "environment.yaml").write_text(SPEC)
    hurried.plugin("slow", contribute("while True: pass"))
    start = time.monotonic()
    result = build()
    assert time.monotonic() - start < 2
    assert result.stderr.count("error[TF901]") == 11
    assert list(hurried.root.rglob("manifests")) == []


class Slow:
    @staticmethod
    @hookimpl
    def tfgitops_check_environment() -> Iterable[Any]:
        time.sleep(0.3)
        return []


def test_the_bundled_have_all_the_time(repository: Plugged) -> None:
    plugins = repository.discover().plugins
    assert all(plugin.bundled for plugin in plugins)
    for seconds, bundled, ok in ((0.1, False, False), (0.1, True, True), (0, False, True)):
        slow = Plugin("slow", Slow, "1", "slow", bundled=bundled)
        assert repository.compile(Plugins((*plugins, slow), seconds=seconds)).ok == ok


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf"])
def test_a_limit_that_is_none_is_refused(text: str, repository: Plugged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFGITOPS_HOOK_SECONDS", text)
    result = build()
    assert (result.exit_code, "TFGITOPS_HOOK_SECONDS is no number of seconds" in result.stderr) == (1, True)


def test_the_usual_limit_is_generous(repository: Plugged) -> None:
    assert repository.discover().seconds == 10


def test_timers_and_handlers_of_others_come_back() -> None:
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(OutOfTimeError), time_limit(0.05):
            time.sleep(10)
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] < 0.3
        time.sleep(0.4)
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_there_is_no_limit_outside_the_main_thread_and_no_fault() -> None:
    done = []

    def work() -> None:
        with time_limit(0.01):
            time.sleep(0.05)
        done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]


# --- what it leaves behind ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["at import", "in a hook"])
def test_what_a_plugin_prints_does_not_end_up_in_the_output(where: str, repository: Plugged) -> None:
    silent = run("build", "--stdout").stdout
    say = "print('a\\nb', end='')\nprint('\\x1b[31mc')\n"
    repository.plugin("loud", contribute(say + "return []") if where == "in a hook" else say)
    result = run("build", "--stdout")
    assert result.stdout == silent
    assert result.stderr == "plugin 'loud': a\nplugin 'loud': b\\x1b[31mc\n"
    result = run("validate", "--format", "json")
    assert json.loads(result.stdout)["problems"] == []


def test_a_prompt_is_seen_before_its_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    aside = Aside("x")
    aside.write("(Pdb) ")
    assert stream.getvalue() == "plugin 'x': (Pdb) "
    aside.flush()
    aside.end_line()
    aside.end_line()
    assert stream.getvalue() == "plugin 'x': (Pdb) \n"
    assert not aside.isatty()


@pytest.mark.parametrize("failure", ["", "raise ValueError"])
def test_a_plugin_that_goes_to_another_folder_is_brought_back(failure: str, repository: Plugged) -> None:
    body = f"import os; os.chdir('/')\n{failure}\nreturn []"
    repository.plugin("stray", hook("tfgitops_objects", "environment", body))
    [found] = repository.compile().diagnostics
    assert Path.cwd() == repository.root
    if not failure:
        assert found.code == "TF902"
        assert found.message == "plugin 'stray' local changed the working directory to / in tfgitops_objects"


def test_standard_output_is_ours_again_whatever_a_plugin_made_of_it(repository: Plugged) -> None:
    repository.plugin("thief", contribute("import sys; sys.stdout = None\nreturn []"))
    before = sys.stdout
    assert repository.compile().ok
    assert sys.stdout is before


def test_a_folder_that_is_gone_is_nobodys_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with isolated("x", 1):
        pass
    os.chdir(tmp_path)


# --- to see what happens ------------------------------------------------------------------------------------------


def test_each_call_and_answer_is_shown_when_asked_for(repository: Plugged, monkeypatch: pytest.MonkeyPatch) -> None:
    body = contribute("yield job.patch({'metadata': {'annotations': {'a': 'x' * 500 + '\\x1b'}}}, 'image')\nyield 3")
    repository.plugin("chatty", TEAM + body)
    repository.plugin("broken", hook("tfgitops_objects", "environment", "raise ValueError('\\x1b boom')"))
    repository.spec(WITH_TEAM)
    silent = run("build")
    monkeypatch.setenv("TFGITOPS_TRACE", "hooks")
    result = run("build")
    assert result.stdout == silent.stdout
    lines = result.stderr.splitlines()
    asked = "tfgitops_contribute: plugin 'chatty' local (chatty.py), job prod/train, 1 answer, "
    assert any(line.startswith(asked) for line in lines)
    assert "  job {'metadata': {'annotations': {'a': 'xxx" in result.stderr
    assert "because of jobs.train.image" in result.stderr
    assert "  job.team {'type': 'string'" in result.stderr
    assert "  TF902: plugin 'chatty' local yielded an int from tfgitops_contribute" in lines
    assert "  TF901: plugin 'broken' local failed in tfgitops_objects: ValueError('\\x1b boom')" in result.stderr
    assert "\x1b" not in result.stderr
    traced = lines[: lines.index(silent.stderr.splitlines()[0])]
    assert max(map(len, traced)) <= 160


def test_answers_of_all_kinds_are_shown(repository: Plugged, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}}"
    body = hook("tfgitops_objects", "environment", f"yield Object({manifest}, ('jobs',))")
    problem = "Problem(code='P1', message='p', at=('jobs', 'train'), severity='warning')"
    body += hook("tfgitops_check_manifests", "environment, manifests", f"for _ in range(60): yield {problem}")
    repository.plugin("chatty", body)
    monkeypatch.setenv("TFGITOPS_TRACE", "hooks")
    text = build().stderr
    assert "  workloads ConfigMap x  because of jobs\n" in text
    assert "environment prod with 2 manifests, 60 answers" in text
    assert "  warning P1 at jobs.train: p\n  … and 10 more\n" in text


def test_accelerators_are_shown_too(repository: Plugged, capsys: pytest.CaptureFixture[str]) -> None:
    plugins = Plugins(repository.discover().plugins, traced=True)
    answers = list(plugins.ask("tfgitops_accelerators", (), []))
    lines = capsys.readouterr().err.splitlines()
    assert f"plugin 'gpu' 0.1.0 (tfgitops_gpu), {len(answers)} answers, " in "\n".join(lines)
    assert "  volcano.sh/vgpu-number: virtual GPUs, 1" in lines


def test_what_cannot_be_traced_is_refused(repository: Plugged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFGITOPS_TRACE", "hook")
    result = build()
    assert (result.exit_code, "TFGITOPS_TRACE=hooks shows each call of a plugin" in result.stderr) == (1, True)


def test_nothing_of_it_is_imported_where_all_plugins_are_bundled(repository: Plugged) -> None:
    code = (
        "import sys; from tfgitops.cli import app; app(['validate', '-q'], standalone_mode=False)"
        "\nprint(*sorted(m for m in sys.modules if m.startswith('tfgitops.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"tfgitops.plugins.isolation", "tfgitops.plugins.hooktrace"} & {*done.stdout.split()}
    assert "tfgitops.plugins.door" in done.stdout.split() or done.stdout == ""


def test_names_that_are_not_there_are_told_together(repository: Plugged) -> None:
    repository.settings("[tool.tfgitops.settings.qeue]\nrequired = true")
    with pytest.raises(CompileError) as caught:
        repository.discover("gpus")
    assert len(caught.value.diagnostics) == 2
    assert yaml.safe_load(SPEC)["kind"] == "Environment"
