"""A command that is text is run by a shell, and replaced by its program where it is a single one."""

from __future__ import annotations

import subprocess
from shutil import which
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfgitops.targets.shell.command import last_program, script_of, shell_command

if TYPE_CHECKING:
    from pathlib import Path

SIMPLE = [
    "python train.py",
    "python train.py --out=$(RUN) > /log/out.txt 2>&1",
    "python -c 'a; b && c'",
    'python train.py "--name=a b" --x=$X ${Y}',
    "python a.py \\\n  --b",
    "  python train.py",
    "python train.py --devices=$(nvidia-smi -L | wc -l) > out",
    "a `b; c`",
    "a # b; c",
    "a $(b; c)",
    "python - <<E\nimport a\nE",
]
LAST = {
    "cd x && python t.py": "cd x && exec python t.py",
    "A=1 python t.py": "A=1 exec python t.py",
    "A=1 B='x y' python t.py": "A=1 B='x y' exec python t.py",
    "set -e\n# first\ncd x\npython t.py  # then": "set -e\n# first\ncd x\nexec python t.py  # then",
    "> log 2>&1 python t.py": "> log 2>&1 exec python t.py",
    "a; b ;\n\n": "a; exec b ;",
    "a || b": "a || exec b",
    "tensorboard & python t.py": "tensorboard & exec python t.py",
    "exec 2>&1; python t.py": "exec 2>&1; exec python t.py",
    "until nc -z a; do sleep 1; done; python t.py": "until nc -z a; do sleep 1; done; exec python t.py",
    "case a in (b) c;; d) e;; esac; python t.py": "case a in (b) c;; d) e;; esac; exec python t.py",
    "f() { a; }; f; python t.py": "f() { a; }; f; exec python t.py",
    "cat > x <<E\na | b\nE\npython x": "cat > x <<E\na | b\nE\nexec python x",
    ". ./env.sh && python3.11 t.py": ". ./env.sh && exec python3.11 t.py",
    ". /venv/bin/activate; torchrun t.py": ". /venv/bin/activate; exec torchrun t.py",
    "mkdir x && cp a x": "mkdir x && exec cp a x",
}
LOST = {
    "a | b": "b",
    "python t.py | tee log": "python",
    "(a)": "a",
    "{ a; }": "a",
    "for i in 1 2; do a; done": "a",
    "if a; then b; fi": "b",
    "! a": "a",
    "time a": "a",
    "python t.py; exit $?": "python",
    "python t.py && cp -r out /log": "python",
    "a || b || echo no": "b",
    "f() { a; }; f": "f",
    "alias a=b\na": "a",
    "trap 'rm x' EXIT; a": "a",
    "a & wait": "a",
    ". ./env.sh; train": "train",
    "a &": "a",
}
SILENT = [
    "cd /x", "A=1", "echo a", "echo '$(' ; rm x ; echo ')'", "'unclosed", "exec a", "cd x && exec a",
    "if a; then exec b; else exec c; fi", "a & p=$!; trap 'kill $p' TERM; wait",
]  # fmt: skip


@pytest.mark.parametrize("text", SIMPLE)
def test_one_program_replaces_the_shell(text: str) -> None:
    assert shell_command(text) == ["/bin/sh", "-c", f"exec {text.lstrip()}"]


@pytest.mark.parametrize("text", LAST)
def test_the_last_program_replaces_the_shell(text: str) -> None:
    assert shell_command(text) == ["/bin/sh", "-c", LAST[text]]


@pytest.mark.parametrize("text", [*LOST, *SILENT])
def test_anything_else_is_left_to_the_shell_as_it_is(text: str) -> None:
    assert shell_command(text) == ["/bin/sh", "-c", text]
    program, may_replace = last_program(text)
    assert (program.text if program else None, may_replace) == (LOST.get(text), False)


ATOMS = st.sampled_from([
    "f", "true", "false", "cd /", "A=1", "export A=2", "A=3 sh -c 'echo $A'", "sh -c 'exit 3'", "cat <<E\nb $A\nE\n",
    "printenv A", "f() { echo f; }", "set -e", "trap 'echo t' EXIT", "sh -c 'echo e >&2' 2>&1", "! true",
    "echo `echo b`", "no-such-program 2>/dev/null", "pwd", "exit 4", "sort </dev/null # c",
])  # fmt: skip
FRAMES = st.sampled_from(
    [
        "{}",
        "{}",
        "( {}\n)",
        "{{ {}\n}}",
        "if true; then {}\nfi",
        "for i in 1 2; do {}\ndone",
        "case a in a) {}\n;; esac",
    ]
)
SEPARATORS = st.sampled_from(["\n", ";\n", " &&\n", " ||\n", " |\n", "\nwait\n"])


@pytest.mark.parametrize("shell", [shell for shell in ("sh", "dash", "bash") if which(shell)])
@given(st.lists(st.tuples(ATOMS, FRAMES, SEPARATORS), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_real_shell_does_the_same_with_and_without_exec(shell: str, parts: list[tuple[str, str, str]]) -> None:
    text = "".join(frame.format(atom) + (after if index + 1 < len(parts) else "")
                   for index, (atom, frame, after) in enumerate(parts))  # fmt: skip
    with_exec = shell_command(text)[2]
    assert outcome(shell, with_exec) == outcome(shell, text.rstrip("\n")), with_exec


def outcome(shell: str, text: str) -> tuple[int, bytes]:
    """Return the exit code of a text, and what it prints."""
    done = subprocess.run([shell, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout


def test_a_stopped_program_hears_of_it(tmp_path: Path) -> None:
    """The shell of Debian and Ubuntu as the first process: without `exec`, no program would write its checkpoint."""
    program = tmp_path / "train"
    program.write_text("trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.05; done\n")
    command = shell_command(f"cd {tmp_path} && A=1 sh ./train")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stdout.readline() == b"up\n"
        running.terminate()
        assert running.stdout.read() == b"saved\n"


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
