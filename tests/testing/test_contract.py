"""The checker sees each way of breaking the contract, and none in our own plugins."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import pytest
from builder import cut

from tfgitops import Plugins, discover
from tfgitops.testing import RULES, ContractError, breaches, check_plugin

CASES = Path(__file__).parent.parent / "cases"
GOOD = """
from tfgitops import Object, Problem, SchemaFragment, hookimpl

tfgitops_api = 1
CODES = {"TEAM01": "a team that nobody knows"}


@hookimpl
def tfgitops_schema():
    yield SchemaFragment("job", "team", {"type": "string", "description": "who runs it"})


@hookimpl
def tfgitops_check_environment(environment):
    for job in environment.jobs:
        if job.get("team") == "nobody":
            yield Problem(code="TEAM01", message="nobody is no team", at=(*job.route, "team"), hint="name a team")


@hookimpl
def tfgitops_contribute(job):
    if team := job.get("team"):
        yield job.patch({"metadata": {"labels": {"team": team}}}, "team")


@hookimpl
def tfgitops_objects(environment):
    for job in environment.jobs:
        if team := job.get("team"):
            metadata = {"name": f"team-{job.name}"}
            yield Object({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, (*job.route, "team"))
"""
SPECS = (
    "jobs:\n  a: {image: tf, worker: 1, team: red, env: {B: 1, A: 2}}\n  b: {image: tf, worker: 1, team: blue}\n",
    "jobs:\n  a: {image: tf, worker: 1, team: nobody}\n",
)


def plugin(tmp_path: Path, change: tuple[str, str] = ("", "")) -> Path:
    """Write the good plugin with some of its text changed."""
    path = tmp_path / "team.py"
    path.write_text(cut(GOOD, *change) if change[0] else GOOD, encoding="utf-8")
    return path


def test_a_plugin_that_keeps_the_contract_passes(tmp_path: Path) -> None:
    check_plugin(plugin(tmp_path), SPECS)


@pytest.mark.parametrize("name", [one.name for one in discover().plugins])
def test_our_own_plugins_keep_the_contract_on_our_cases(name: str, plugins: Plugins) -> None:
    """The good ones, and those that show a code of the plugin's."""
    [hooks] = [one.hooks for one in plugins.plugins if one.name == name]
    told = [path for path in CASES.glob("bad/*/expected.txt") if any(code in path.read_text() for code in hooks.CODES)]
    places = [CASES / "ok", *sorted(path.parent for path in told)]
    check_plugin(name, [spec.parent for place in places for spec in sorted(place.rglob("environment.yaml"))])


Change = tuple[str, str]
YIELD = 'yield job.patch({"metadata": {"labels": {"team": team}}}, "team")'
SCHEMA = '{"type": "string", "description"'


def working(code: str) -> Change:
    """Let the plugin do something before it contributes."""
    head = "@hookimpl\ndef tfgitops_contribute(job):\n"
    return head, f"{head}    {code}\n"


def labelled(value: str) -> Change:
    """Let the plugin write another label."""
    return '{"team": team}', f'{{"team": {value}}}'


BROKEN: dict[str, tuple[str, Change]] = {
    "it raises": ("answers", working("1 / 0")),
    "it yields something else": ("answers", (YIELD, "yield team")),
    "it reads the clock": ("pure", working("import time; time.time()")),
    "it reads the date": ("pure", working("import datetime; datetime.date.today()")),
    "it writes the date": ("pure", working("import time; time.strftime('%F')")),
    "it asks for local time": ("pure", working("import time; time.localtime()")),
    "it asks who is there": ("pure", working("import getpass; getpass.getuser()")),
    "it asks what the machine is called": ("pure", working("import platform; platform.node()")),
    "it asks which language is spoken": ("pure", working("import locale; locale.getlocale()")),
    "it asks for the number of its process": ("pure", working("import os; os.getpid()")),
    "it reads a file": ("pure", working("open(__file__).close()")),
    "it lists a folder": ("pure", working("import os; os.listdir('.')")),
    "it asks for an address": ("pure", working("import socket; socket.getaddrinfo('localhost', 80)")),
    "it opens a socket": ("pure", working("import socket\n    with socket.socket() as s: s.bind(('127.0.0.1', 0))")),
    "it starts a program": ("pure", working("import subprocess; subprocess.run('true')")),
    "it throws dice": ("pure", labelled("str(__import__('random').randrange(10**9))")),
    "it counts": ("pure", labelled("str(CODES.setdefault('n', []).append(1) or len(CODES['n']))")),
    "it reads the variables of its process": ("pure", labelled("str(len(__import__('os').environ))")),
    "it changes what it is given": ("inputs", (YIELD, 'job.data._data["team"] = team + "x"')),
    "it takes the first key of a map": ("order", labelled('next(iter(job.get("env") or ["none"]))')),
    "it joins a set": ("order", labelled('"-".join({"a", "b", "c", "d", "e", team})')),
    "its patch names a key that is not there": ("because", (YIELD, cut(YIELD, ', "team")', ', "taem")'))),
    "its patch forgets the key": ("because", (YIELD, cut(YIELD, ', "team")', ")"))),
    "its patch names another key": ("because", (YIELD, cut(YIELD, ', "team")', ', "image")'))),
    "its object names nothing": ("because", ('(*job.route, "team"))\n', "())\n")),
    "its key has no description": ("descriptions", (', "description": "who runs it"', "")),
    "a property has no description": (
        "descriptions",
        (SCHEMA, cut(SCHEMA, "{", '{"patternProperties": {"x": {}}, ', 1)),
    ),
    "its map takes any key": ("descriptions", (SCHEMA, cut(SCHEMA, "{", '{"properties": {}, ', 1))),
    "its problem has no hint": ("hints", (', hint="name a team"', "")),
    "its code is not listed": ("codes", ('CODES = {"TEAM01"', 'CODES = {"TEAM02"')),
    "its code is the compiler's": ("codes", ('code="TEAM01"', 'code="TF203"')),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_breaks_the_contract_is_named_with_its_rule(what: str, tmp_path: Path) -> None:
    rule, change = BROKEN[what]
    found = breaches(plugin(tmp_path, change), SPECS)
    rules = {breach.rule for breach in found}
    assert rules - {"answers"} == {rule} - {"answers"}, found  # the compiler itself may say it, too
    assert rule in rules


def test_a_time_that_is_given_is_no_clock(tmp_path: Path) -> None:
    code = "import time; time.strftime('%F', time.gmtime(0)); time.asctime(time.localtime(0)); time.ctime(0)"
    check_plugin(plugin(tmp_path, working(code)), SPECS)


def test_what_python_asks_itself_is_not_the_plugins_doing(tmp_path: Path) -> None:
    check_plugin(plugin(tmp_path, working("import datetime; datetime.datetime.strptime('2026', '%Y')")), SPECS)


def test_the_line_that_is_impure_is_named(tmp_path: Path) -> None:
    path = plugin(tmp_path, working("import time; time.time()"))
    line = 1 + path.read_text().split("\n").index("    import time; time.time()")
    [breach] = breaches(path, SPECS)
    assert breach.message == f"tfgitops_contribute asks the clock (time.time) (team.py:{line})"


RETURNED = {
    "a map": ('return {"a": 1}', "returned a dict from tfgitops_contribute"),
    "a text": ("return 'ab'", "returned a str from tfgitops_contribute"),
    "an answer": ('return job.patch({}, "team")', "returned a Patch from tfgitops_contribute"),
    "a problem": (
        "from tfgitops import Problem; return Problem(code='T1', message='m', at=())",
        "returned a Problem from tfgitops_contribute",
    ),
    "a number": ("return 7", "returned an int from tfgitops_contribute"),
}


@pytest.mark.parametrize("what", RETURNED)
def test_what_is_no_list_of_answers_is_told_as_the_compiler_tells_it(what: str, tmp_path: Path) -> None:
    code, said = RETURNED[what]
    body = YIELD.join(('  if team := job.get("team"):\n        ', ""))
    found = breaches(plugin(tmp_path, (f"  {body}", f"    {code}")), SPECS)
    assert [breach.rule for breach in found] == ["answers"]
    assert said in found[0].message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('code="TEAM01"', "code=None"), "its `code` is wrong"),
        (('message="nobody is no team"', "message=7"), "its `message` is wrong"),
        (('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}', "{}"), "its `manifest.apiVersion` is"),
        ((YIELD, 'yield Patch(["job"], {}, None)'), "its `target` is wrong"),
    ],
)
def test_an_answer_with_a_wrong_field_is_told_as_the_compiler_tells_it(
    change: Change, said: str, tmp_path: Path
) -> None:
    path = plugin(tmp_path, change)
    path.write_text(cut(path.read_text(), "import Object,", "import Object, Patch,"))
    found = breaches(path, SPECS)
    assert {breach.rule for breach in found} == {"answers"}
    assert said in found[0].message


def test_a_plugin_that_raises_is_told_so_and_nothing_that_follows_from_it(tmp_path: Path) -> None:
    path = tmp_path / "team.py"
    path.write_text(
        "from tfgitops import hookimpl\n\ntfgitops_api = 1\n\n@hookimpl\ndef tfgitops_contribute(job):\n    1/0\n"
    )
    assert [breach.rule for breach in breaches(path, ["jobs: {a: {image: tf, worker: 1}}"])] == ["answers"]


def test_an_endless_loop_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFGITOPS_HOOK_SECONDS", "1")
    path = plugin(tmp_path, working("while True: pass"))
    start = time.monotonic()
    [breach] = breaches(path, SPECS)
    assert "did not come to an end in tfgitops_contribute" in breach.message
    assert time.monotonic() - start < 4


def test_each_rule_is_tried() -> None:
    assert {rule for rule, _ in BROKEN.values()} | {"shown"} == set(RULES)


def test_specs_that_do_not_use_the_plugin_show_nothing(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="shown: none of the specs makes it yield"):
        check_plugin(plugin(tmp_path), ["jobs:\n  a: {image: tf, worker: 1}\n"])


def test_a_fragment_that_is_none_is_named(tmp_path: Path) -> None:
    found = breaches(plugin(tmp_path, ('"type": "string"', '"type": "text"')), SPECS)
    assert ["is no JSON Schema" in breach.message for breach in found if breach.rule == "answers"] == [True]


def test_chance_with_a_seed_of_its_own_is_none(tmp_path: Path) -> None:
    check_plugin(plugin(tmp_path, labelled("str(__import__('random').Random(7).random())")), SPECS)


def test_what_others_do_while_garbage_is_collected_is_not_the_plugins_doing(tmp_path: Path) -> None:
    def ask_the_clock(*_: object) -> None:
        time.perf_counter()

    gc.callbacks.append(ask_the_clock)
    try:
        check_plugin(plugin(tmp_path, working("[[] for _ in range(100_000)]")), SPECS)
    finally:
        gc.callbacks.remove(ask_the_clock)
