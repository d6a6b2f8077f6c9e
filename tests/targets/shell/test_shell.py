"""A command that is text is run by a shell, and replaced by its program where it is a single one."""

from __future__ import annotations

import subprocess

import pytest

from tfgitops.targets.shell.command import is_simple_command, script_of, shell_command

SIMPLE = [
    "python train.py",
    "python train.py --out=$(RUN) > /log/out.txt 2>&1",
    "python -c 'a; b && c'",
    'python train.py "--name=a b" --x=$X ${Y}',
    "python a.py \\\n  --b",
    "  python train.py",
    "python train.py --devices=$(nvidia-smi -L | wc -l) > out",
]
COMPOUND = [
    "a && b",
    "a; b",
    "a | b",
    "a &",
    "a\nb",
    "(a)",
    "{ a; }",
    "A=1 b",
    "cd /x",
    "for i in 1 2; do a; done",
    "if a; then b; fi",
    "! a",
    "a `b`",
    "a # b",
    "'unclosed",
    "exec a",
    "f() { a; }",
    "echo '$(' ; rm x ; echo ')'",
    "a $(b; c)",
]


@pytest.mark.parametrize("text", SIMPLE)
def test_one_program_replaces_the_shell(text: str) -> None:
    assert is_simple_command(text)
    assert shell_command(text) == ["/bin/sh", "-c", f"exec {text.lstrip()}"]


@pytest.mark.parametrize("text", COMPOUND)
def test_anything_else_is_left_to_the_shell_as_it_is(text: str) -> None:
    assert shell_command(text) == ["/bin/sh", "-c", text]


@pytest.mark.parametrize("text", ["echo a b", "echo 'a;b' > /dev/stdout", "echo a\\\n  b", "echo $(echo a | cat) b"])
def test_a_real_shell_prints_the_same_with_and_without_exec(text: str) -> None:
    shell, flag, body = shell_command(text)
    with_exec = subprocess.run([shell, flag, body], capture_output=True, check=True)
    assert with_exec.stdout == subprocess.run([shell, flag, text], capture_output=True, check=True).stdout


def test_the_end_of_a_block_is_no_second_command() -> None:
    assert shell_command("python train.py\n") == ["/bin/sh", "-c", "exec python train.py"]


@pytest.mark.parametrize(
    ("command", "args", "route", "bash"),
    [
        ("a b", [], ("command",), False),
        (["sh", "-c", "a"], [], ("command", 2), False),
        (["/bin/bash", "-ec", "a"], [], ("command", 2), True),
        (["bash", "-euo", "pipefail", "-c", "a", "name"], [], ("command", 4), True),
        (["bash", "--login", "-c"], ["a"], ("args", 0), True),
        (["dash"], ["-c", "a"], ("args", 1), False),
    ],
)
def test_the_text_that_a_shell_runs_is_found(
    command: str | list[str], args: list[str], route: tuple[str | int, ...], *, bash: bool
) -> None:
    found = script_of(command, args)
    assert found
    assert (found.route, found.bash) == (route, bash)


@pytest.mark.parametrize(
    "command", [["python", "-c", "a"], ["bash"], ["bash", "-c"], ["bash", "a.sh", "-c", "b"], ["sh", "-"]]
)
def test_what_no_shell_runs_as_a_text_is_not(command: list[str]) -> None:
    assert script_of(command) is None
