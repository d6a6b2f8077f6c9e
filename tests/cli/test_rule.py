"""`tfgitops rule`: the reference entry of a code, the compiler's and any plugin's."""

from __future__ import annotations

import json
import re

import pytest
from builder import cut
from commandline import run
from workspace import put

from tfgitops.spec.diagnostics import compiler_codes

LOCAL = 'tfgitops_api = 1\nCODES = {"TEAM01": "a team that nobody knows", "TEAM02": "a team twice"}\n'


@pytest.mark.parametrize("code", ["TF201", "tf201"])
def test_an_entry_is_printed_in_full(code: str) -> None:
    result = run("rule", code)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("# TF201: an unknown key\n\nThe spec has a key that")
    assert "**How to fix it:**" in result.stdout
    assert result.stdout.count("```yaml\n") == 2


def test_without_a_code_all_are_listed_in_one_line_each() -> None:
    result = run("rule")
    assert result.exit_code == 0
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert ["TF201", "an unknown key"] in lines
    assert ["QUEUE01", "a queue that is not known"] in lines
    assert len(lines) > len(compiler_codes())


def test_programs_get_the_same_as_json() -> None:
    one = json.loads(run("rule", "GPU01", "--format", "json").stdout)
    every = json.loads(run("rule", "--format", "json").stdout)
    assert (one["version"], [entry["code"] for entry in one["codes"]]) == (1, ["GPU01"])
    assert one["codes"][0] in every["codes"]
    assert one["codes"][0]["plugin"] == "gpu"
    assert one["codes"][0]["title"] == "a gpu block asks for two kinds of GPU at once"


@pytest.mark.parametrize(
    ("code", "hint"),
    [("TF20", "did you mean 'TF2"), ("QUEUE1", "did you mean 'QUEUE01'?"), ("?", "`tfgitops rule` lists all codes")],
)
def test_a_code_that_nobody_has_is_a_wrong_command_line(code: str, hint: str) -> None:
    result = run("rule", code)
    assert result.exit_code == 2
    words = " ".join(result.stderr.split())
    assert f"there is no code '{code}': " in words
    assert hint in words


def test_a_plugin_explains_its_codes_in_a_file_beside_it() -> None:
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["plugins/team.py"]\n')
    put("plugins/team.py", LOCAL)
    assert re.search("^TEAM01 +a team that nobody knows$", run("rule").stdout, re.MULTILINE)
    assert run("rule", "TEAM01").stdout == (
        "# TEAM01: a team that nobody knows (plugin `team`)\n\nThe plugin `team` explains this code no further.\n"
    )
    put("plugins/diagnostics.md", "# Codes\n\n## TEAM01\n\nDeclare it.\n\n## TEAM03\n\nNo such code.\n")
    assert run("rule", "team01").stdout == "# TEAM01: a team that nobody knows (plugin `team`)\n\nDeclare it.\n"
    assert "explains this code no further" in run("rule", "TEAM02").stdout
    assert run("rule", "TEAM03").exit_code == 2
    assert run("rule", "TEAM01", "--no-plugin", "team").exit_code == 2


def test_a_plugin_that_cannot_be_used_has_no_codes() -> None:
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["team.py"]\n')
    put("team.py", cut(LOCAL, "1", "99", 1))
    assert run("rule", "TF201").exit_code == 0
    assert "TEAM01" not in run("rule").stdout
