"""CI files: what is uploaded and posted, once, and then anew."""

from __future__ import annotations

import json
import shutil
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from checkout import REPOSITORY
from steps import EXAMPLES, HEAD, put, read, shell, step

if TYPE_CHECKING:
    from pathlib import Path

MARK = "<!-- tfgitops-review -->"
GH = f"""#!{sys.executable}
import json, os, subprocess, sys
with open("calls", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
if "--jq" in sys.argv:
    command = ["jq", "-r", sys.argv[sys.argv.index("--jq") + 1]]
    subprocess.run(command, input=os.environ["ANSWER"], text=True, check=True)
"""


@pytest.fixture
def gh(tmp_path: Path) -> Path:
    """Put a `gh` before the real one: it notes its calls, and answers a query from the variable ANSWER."""
    if not shutil.which("jq"):
        pytest.skip("jq, which has the language of gh's queries, is not here")
    put(tmp_path / "bin/gh", GH)
    (tmp_path / "bin/gh").chmod(0o755)
    return tmp_path


def calls(folder: Path) -> list[list[str]]:
    return [json.loads(line) for line in (folder / "calls").read_text(encoding="utf-8").splitlines()]


def comment(number: int, login: str, body: str) -> dict[str, Any]:
    return {"id": number, "user": {"login": login}, "body": body}


@pytest.mark.parametrize("example", ["github.yaml", "github-fork-comment.yaml"])
def test_a_comment_is_written_once_and_then_anew(gh: Path, example: str) -> None:
    script, where = step(example, "Comment"), {"GITHUB_REPOSITORY": "o/r", "NUMBER": "7"}
    others = [comment(1, "github-actions[bot]", "tests passed"), comment(2, "stranger", f"{MARK} mine")]
    shell(script, gh, **where, ANSWER=json.dumps(others)).check_returncode()
    assert calls(gh)[-1] == [
        "api", "--silent", "--method", "POST", "repos/o/r/issues/7/comments", "--field", "body=@comment.md",
    ]  # fmt: skip
    ours = [*others, comment(3, "github-actions[bot]", f"{MARK}\nold"), comment(4, "github-actions[bot]", MARK)]
    shell(script, gh, **where, ANSWER=json.dumps(ours)).check_returncode()
    assert calls(gh)[-1] == [
        "api", "--silent", "--method", "PATCH", "repos/o/r/issues/comments/3", "--field", "body=@comment.md",
    ]  # fmt: skip


def test_the_pull_request_of_a_fork_is_the_one_whose_head_was_checked(gh: Path) -> None:
    script = step("github-fork-comment.yaml", "Find the pull request")
    where = {"GITHUB_REPOSITORY": "o/r", "OWNER": "them", "BRANCH": "a b;c", "GITHUB_ENV": "env"}
    answer = json.dumps([{"number": 6, "head": {"sha": "aaa"}}, {"number": 7, "head": {"sha": "bbb"}}])
    shell(script, gh, **where, SHA="bbb", ANSWER=answer).check_returncode()
    shell(script, gh, **where, SHA="ccc", ANSWER=answer).check_returncode()
    assert (gh / "env").read_text(encoding="utf-8") == "NUMBER=7\nNUMBER=\n"
    assert "head=them:a b;c" in calls(gh)[-1]


def test_what_a_fork_left_is_read_as_text_and_only_if_it_is_one(tmp_path: Path) -> None:
    script = step("github-fork-comment.yaml", "Write")
    put(tmp_path / "artifact/review.md", "$(touch ran) all is well\n")
    shell(script, tmp_path).check_returncode()
    written = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert written.startswith(f"{MARK}\n_As the pull request's own run reports it")
    assert written.endswith("\n\n$(touch ran) all is well\n")
    assert not (tmp_path / "ran").exists()
    put(tmp_path / "artifact/review.md", "x" * 65_001)
    shell(script, tmp_path).check_returncode()
    assert len((tmp_path / "comment.md").read_text(encoding="utf-8")) < 1000
    (tmp_path / "artifact/review.md").unlink()
    (tmp_path / "artifact/review.md").symlink_to("/etc/hostname")
    assert shell(script, tmp_path).returncode == 1


@pytest.fixture
def prod(tmp_path: Path) -> Path:
    """Make a repository whose manifests are as compiled."""
    put(tmp_path / "pyproject.toml", "[tool.tfgitops]\n")
    put(tmp_path / "environments/prod/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'tf:1', worker: 1}}}}\n")
    shell("tfgitops lock && tfgitops build", tmp_path).check_returncode()
    return tmp_path


NO_REVIEW = "### tfgitops: there is no review\n\n    error[TF606]: ```\n    @team\n"


@pytest.mark.parametrize(
    ("script", "status", "text"),
    [
        ("echo fine", 0, "fine\n"),
        ("echo all but one; echo broken >&2; exit 1", 1, "all but one\n"),
        ("printf 'error[TF606]: ```\\n@team\\n' >&2; exit 1", 1, NO_REVIEW),
        ("seq 60000 | head -c 65000", 0, None),
    ],
)
def test_what_a_review_printed_is_posted_and_else_its_errors(
    tmp_path: Path, script: str, status: int, text: str | None
) -> None:
    where = {"BASE": "main", "GITHUB_STEP_SUMMARY": "summary"}
    put(tmp_path / "bin/tfgitops", f"#!/bin/sh\n{script}\n")
    (tmp_path / "bin/tfgitops").chmod(0o755)
    assert shell(step("github.yaml", "Review"), tmp_path, **where).returncode == status
    posted = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert len(posted) < 65_536
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert posted == f"{MARK}\n{summary}"
    forked = shell(step("github-fork-check.yaml", "Review"), tmp_path, **where)
    assert (forked.returncode, forked.stderr) == (status, "")
    assert (tmp_path / "review.md").read_text(encoding="utf-8") == summary
    assert text in (None, summary)


def test_a_review_that_no_comment_can_hold_is_in_the_summary(tmp_path: Path) -> None:
    put(tmp_path / "bin/tfgitops", "#!/bin/sh\nseq 60000\n")
    (tmp_path / "bin/tfgitops").chmod(0o755)
    where = {"BASE": "main", "GITHUB_STEP_SUMMARY": "summary"}
    shell(step("github.yaml", "Review"), tmp_path, **where).check_returncode()
    assert "too long for a comment" in (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert "\n60000\n" in (tmp_path / "summary").read_text(encoding="utf-8")


def test_a_job_of_gitlab_posts_what_it_has_and_fails_then(tmp_path: Path) -> None:
    script = "\n".join(read(EXAMPLES["gitlab.yaml"])["tfgitops-review"]["script"])
    put(tmp_path / "bin/python", "#!/bin/sh\ncat > note\n")
    put(tmp_path / "bin/git", "#!/bin/sh\nexit 1\n")
    said = {"echo fine": "fine\n", "echo some; exit 1": "some\n"}
    said["echo bad >&2; exit 1"] = "### tfgitops, no review\n\n    bad\n"
    for command, text in said.items():
        put(tmp_path / "bin/tfgitops", f"#!/bin/sh\n{command}\n")
        for name in ("git", "python", "tfgitops"):
            (tmp_path / "bin" / name).chmod(0o755)
        done = shell(script, tmp_path, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
        assert done.returncode == int("exit 1" in command)
        assert (tmp_path / "note").read_text(encoding="utf-8") == text


def test_the_check_of_github_leaves_a_log_to_upload(prod: Path) -> None:
    assert shell(step("github.yaml", "Check"), prod).returncode == 0
    put(prod / "environments/prod/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'tf:1', wroker: 1}}}}\n")
    assert shell(step("github.yaml", "Check"), prod).returncode == 1
    log = json.loads((prod / "tfgitops.sarif").read_text(encoding="utf-8"))
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["TF201"]


def test_the_check_of_gitlab_leaves_a_report_of_its_problems(prod: Path) -> None:
    put(prod / "environments/größe 1/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'tf:1', wroker: 1}}}}\n")
    script = "\n".join(read(EXAMPLES["gitlab.yaml"])["tfgitops-check"]["script"])
    outcome = shell(script, prod)
    assert outcome.returncode == 1
    assert "error[TF201]: unknown key 'wroker'" in outcome.stderr
    (entry,) = json.loads((prod / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert entry.pop("description").startswith("TF201: unknown key 'wroker'\nhelp: ")
    assert len(entry.pop("fingerprint")) == 32
    assert entry == {
        "check_name": "TF201", "severity": "major",
        "location": {"path": "environments/größe 1/environment.yaml", "lines": {"begin": 4}},
    }  # fmt: skip


def test_a_note_is_written_once_and_then_anew(tmp_path: Path) -> None:
    notes: list[dict[str, Any]] = [{"id": 1, "author": {"id": 5}, "body": f"{MARK} not ours"}]
    done: list[str] = []

    class GitLab(BaseHTTPRequestHandler):
        def _answer(self, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            assert self.headers["PRIVATE-TOKEN"] == "secret"
            self._answer({"id": 9} if self.path == "/user" else notes if self.path.endswith("page=1") else [])

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
            done.append(f"{self.command} {self.path} {body}")
            notes.append({"id": 2, "author": {"id": 9}, "body": body})
            self._answer(notes[-1])

        do_PUT = do_POST  # noqa: N815 - the name is http.server's

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), GitLab) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        where = {
            "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}", "CI_PROJECT_ID": "3",
            "CI_MERGE_REQUEST_IID": "4", "TFGITOPS_TOKEN": "secret", "no_proxy": "*",
        }  # fmt: skip
        for text in ("first", "second"):
            shell(f"echo {text} | python -P -m tfgitops.starting.gitlab_note", tmp_path, **where).check_returncode()
        server.shutdown()
    base = "/projects/3/merge_requests/4/notes"
    assert done == [f"POST {base} {MARK}\nfirst\n", f"PUT {base}/2 {MARK}\nsecond\n"]


@pytest.mark.parametrize("file", ["tfgitops/starting/files/gitlab.yaml", "templates/check/template.yml"])
def test_the_job_with_the_token_runs_no_python_of_the_checkout(file: str, tmp_path: Path) -> None:
    """As a `json.py` at the top, of a merge request that leaves `.gitlab-ci.yml` alone."""
    (line,) = [one for one in (REPOSITORY / file).read_text(encoding="utf-8").splitlines() if "gitlab_note" in one]
    for name in ("json", "tfgitops", "os", "sitecustomize"):
        put(tmp_path / f"{name}.py", "print('evil')\n")
    done = shell(f"touch review.md\n{line.strip(' -')}", tmp_path)
    assert "evil" not in done.stdout + done.stderr
    assert "tfgitops/starting/gitlab_note.py" in done.stderr  # it ran, and had no variables
