"""What is surely broken in a shell text is told, on its line; what may well be meant is not."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fuzzed import fuzz
from hypothesis import example, given
from hypothesis import strategies as st

from tfgitops.spec.diagnostics import Words
from tfgitops.spec.document import Document
from tfgitops.targets.shell.shellfaults import shell_faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

OPTION, BLANKS, LAST, BACKGROUND, BASH = (
    "begins with '-'",
    "blanks behind",
    "no line follows",
    "ends with '&'",
    "bash's own",
)

BROKEN = {
    "options below a command": ("python train.py\n  --steps=3\n  --out=/log", OPTION, 1, "--steps=3"),
    "options behind a comment": ("python train.py \\\n  # three\n  --steps=3", OPTION, 2, "--steps=3"),
    "options behind an empty line": ("python train.py \\\n\n  -s 3", OPTION, 2, "-s"),
    "options behind a pipe": ("a |\n  -b", OPTION, 1, "-b"),
    "options below the end of a here-document": ("cat <<E\n-no\nE\n  -b", OPTION, 3, "-b"),
    "options in a loop": ("for a in b; do\n  run\n    --x\ndone", OPTION, 2, "--x"),
    "options below a case": ("case a in\n  -h) run\n   --x ;;\nesac", OPTION, 2, "--x"),
    "options of the last line of quotes": ("python -c '\n  -1' a\n  --x", OPTION, 2, "--x"),
    "blanks behind a backslash": ("python train.py \\  \n  a", BLANKS, 0, "\\ "),
    "a tab behind a backslash": ("cd a\npython train.py \\\t\n  a", BLANKS, 1, "\\\t"),
    "blanks behind the last backslash": ("python train.py \\ ", BLANKS, 0, "\\ "),
    "a backslash at the end": ("python train.py \\\n", LAST, 0, "\\"),
    "a backslash behind quotes of several lines": ('python -c "import a\na.run()"\\', LAST, 1, 'a.run()"\\'),
    "blanks behind quotes of several lines": ("python -c 'import a\na.run()'\\ ", BLANKS, 1, "\\ "),
    "in the background": ("python train.py &", BACKGROUND, 0, "&"),
    "in the background, with a comment": ("a; python train.py &  # quick\n\n", BACKGROUND, 0, "&"),
    "in the background, behind another": ("a & wait\nb > c 2>&1 &", BACKGROUND, 1, "&"),
    "pipefail": ("set -euo pipefail\na", BASH, 0, "pipefail"),
    "pipefail by itself": ("cd a && set -o pipefail", BASH, 0, "pipefail"),
    "a test": ("if [[ -f a ]]; then b; fi", BASH, 0, "[["),
    "a negated test": ("! [[ -f a && -f b ]] && c", BASH, 0, "[["),
    "source": ("a\nsource env.sh", BASH, 1, "source"),
    "source behind an assignment": ("A=1 source env.sh", BASH, 0, "source"),
    "an array": ("a=(1 2)\nb", BASH, 0, "a=("),
    "a longer array": ("a+=(\n  --b\n)\nc", BASH, 0, "a+=("),
    "a process substitution": ("diff <(a) b", BASH, 0, "<("),
    "a function": ("function f {\n a\n}\nf", BASH, 0, "function"),
    "both streams": ("a &> b", BASH, 0, "&>"),
    "a pipe of both streams": ("a |& b", BASH, 0, "|&"),
    "a here-string": ("a <<< b", BASH, 0, "<<<"),
    "pushd in a body of a case": ("case $A in a) pushd b;; esac", BASH, 0, "pushd"),
}


@pytest.mark.parametrize(("text", "said", "line", "words"), BROKEN.values(), ids=BROKEN)
def test_what_is_surely_broken_is_told_where_it_stands(text: str, said: str, line: int, words: str) -> None:
    (fault,) = shell_faults(text, bash=False)
    assert said in fault.message
    assert (fault.line, fault.words) == (line, words)
    assert fault.hint
    assert shell_faults(text, bash=True) == (() if said == BASH else (fault,))


FINE = {
    "one command": "python train.py --steps=3",
    "lines that go on": "python train.py \\\n  --steps=3 \\\n  --out=/log\n",
    "lines that go on behind an escaped backslash": "a '\\' \\\\ \\\n  -b",
    "quotes of several lines": "python -c '\n-1\nsource [[ &'",
    "double quotes of several lines": 'echo "\n- a\n$(echo ")")\n- b"',
    "a quote in double quotes": 'echo "it\'s" \\\n  -x',
    "a here-document": "cat > a.yaml <<EOF\n- a: b\n  -c\nsource x &\nEOF\nrun a.yaml",
    "a quoted here-document": "cat <<'E O F'\n- a\nit's\nE O F\nb",
    "a here-document behind tabs": "cat <<-EOF\n\t- a\n\tEOF\nb",
    "two here-documents": "a <<A <<B\n-a\nA\n-b\nB\nc",
    "a here-document that is not closed": "cat <<EOF\n-a\n",
    "a script of another shell": "bash <<E\nset -o pipefail\nE\nbash -c 'source a; [[ b ]]'",
    "comments": "# it's not closed: [[ source &\n# -a\na # &> b\n",
    "a hash in a word": "a b#c \\\n  -d",
    "patterns of a case": "case $1 in\n  -h|--help) a;;\n  (-v) b ;;\n  --) c\n    ;;\nesac",
    "a case in a case": "case a in\n a) case b in\n  -b) c;;\n esac;;\n -d) e;;\nesac",
    "waits": "a &\nb &\nwait",
    "streams": "a > b 2>&1 < c >&2",
    "and": "a && b || c",
    "arithmetic": "a=$(( 1 << 2 & 3 ))\nb=$((a\n-1))\nc",
    "arguments that are words of bash": "echo source function [[ pipefail\nmake let -j",
    "set without pipefail": "set -eu\na pipefail",
    "a function of the same name": "pushd() { cd $1; }\npushd a",
    "references of Kubernetes": "a --hosts=$(WORKER_HOSTS) \\\n  --out=/log/$(RUN)",
    "a substitution of several lines": "a $(b \\\n  -c\n) d",
    "backquotes": "a `b\n-c` d",
    "an expansion with quotes": "a ${b:-'-c\n-d'} e",
    "a subshell in the background that is waited for": "(a; b) & wait $!",
    "quotes that are not closed": "a '\n  -b",
    "brackets that are not closed": "a $(b\n  -c",
    "very many brackets": "a " + "$(" * 60_000 + "\n -b",
    "a file called -": "cat \\\n  - a",
    "an escaped blank within a line": "a b\\ c \\\n  -d",
    "blanks behind a backslash in quotes": "echo 'a \\ \n  -b'",
    "options of a sum": "[ a -o \\\n  -f b ]",
    "a redirected list": "{ a; b; } > c\nd",
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_what_may_be_meant_is_not(text: str) -> None:
    assert shell_faults(text, bash=False) == ()


BASH_ONLY = {
    "an array of options": 'a=(\n  --b\n  --c\n)\nrun "${a[@]}"',
    "a test of several lines": "[[ -f a &&\n   -f b ]] && c",
    "arithmetic as a command": "for ((i=0; i<3; i++)); do a; done\n((i<<2))\nb",
    "a declared array": "declare -a a=(\n -b\n)\nc",
    "a process of several lines": "a <(b\n -c) d",
}


@pytest.mark.parametrize("text", BASH_ONLY.values(), ids=BASH_ONLY)
def test_what_bash_takes_is_fine_where_bash_runs_it(text: str) -> None:
    assert shell_faults(text, bash=True) == ()
    assert subprocess.run(["bash", "-n", "-c", text], check=False).returncode == 0


ODD = st.text(alphabet=" \t\n\\'\"`$(){}[]<>&|;#-a=EOF", max_size=40)


@fuzz(300)
@example('"\n"\\')
@example("'\n'\\ ")
@given(ODD)
def test_no_text_is_too_odd(text: str) -> None:
    for fault in shell_faults(text, bash=False):
        line = text.split("\n")[fault.line]
        assert fault.words, (text, fault)
        assert line.startswith(fault.before + fault.words), (text, fault)


@fuzz(300)
@example('python -c "import a\na.run()"\\')
@example("a && b 2>&1 &")
@example("a $&")
@given(ODD)
def test_the_caret_is_on_the_words_of_a_block(text: str) -> None:
    block = "".join(f"    {line}\n" for line in text.split("\n"))
    document = Document(path=Path("a"), name="a", text=f"a: &a !!str |4-\n{block}b: c\n", value={"a": text, "b": "c"})
    for fault in shell_faults(text, bash=False):
        span = document.span(("a",), words=Words(fault.line, fault.words, fault.before))
        place = (fault.line + 2, len(fault.before) + 5, len(fault.words))
        assert (span.line, span.column, span.width) == place, (text, fault)


@pytest.mark.parametrize(
    ("command", "line", "marked"),
    [
        ("|\n      cd /a\n      python train.py\n        --steps=3", 11, "--steps=3"),
        (">\n      cd /a;\n      python train.py\n        --steps=3", 11, "--steps=3"),
        ('|-\n      python -c "import a\n      a.run()"\\', 10, 'a.run()"\\'),
        ("&a |-\n      a\n      - b", 10, "-"),
        (">-\n      a\n\n      - b", 11, "-"),
        ("&a >-\n      a\n      b &", 10, "&"),
        ("&a a &", 8, "&"),
        ("[bash, -c, 'a &']", 8, "&"),
        ("[sh, -c]\n    args: ['source a']", 9, "source"),
        ("b\n    pod: {spec: {initContainers: [{name: i, image: a, command: [sh, -c, 'b &']}]}}", 9, "&"),
        ("b\n    pod: {spec: {containers: [{name: tensorflow, command: [sh, -c, 'source b']}]}}", 9, "source"),
        ("'a &'\n    pod: {spec: {containers: [{name: tensorflow, command: [sh, -c, 'source b']}]}}", 9, "source"),
        ("b\n    container: {command: [sh, -c, '[[ a ]]']}", 9, "[["),
    ],
)
def test_it_is_told_on_its_line_of_the_block(
    compile_spec: Callable[[str], Result], command: str, line: int, marked: str
) -> None:
    result = compile_spec(f"jobs:\n  train:\n    image: a\n    worker: 1\n    command: {command}\n")
    assert (result.ok, result.codes) == (True, ["TF304"])
    span = result.compiled.diagnostics[0].span
    assert span is not None
    assert span.excerpt[span.column - 1 :][: span.width] == marked
    assert span.line == line


@pytest.mark.parametrize(
    ("command", "marked"),
    [("a && b 2>&1 &", 13), ("|\n      a && b 2>&1 &", 13), ("&a a &", 6), ("'cd resource; source b'", 15)],
)
def test_it_is_told_at_its_place_in_the_line(compile_spec: Callable[[str], Result], command: str, marked: int) -> None:
    result = compile_spec(f"jobs:\n  train:\n    image: a\n    worker: 1\n    command: {command}\n")
    (diagnostic,) = result.compiled.diagnostics
    assert diagnostic.span is not None
    text = command.rpartition("\n")[2].lstrip(" ")
    assert diagnostic.span.column - diagnostic.span.excerpt.index(text) == marked


def test_what_is_inherited_is_told_where_it_is_written_and_can_be_allowed(
    compile_spec: Callable[[str], Result],
) -> None:
    spec = "defaults: {image: a, command: 'a; b &'}\njobs: {one: {worker: 1}, two: {chief: 1, worker: 2}}\n"
    assert compile_spec(spec).codes == ["TF304"]
    allow = "allow: [{code: TF304, at: defaults.command, reason: it forks itself, until: 2999-01-01}]\n"
    assert compile_spec(allow + spec).codes == ["TF803"]
