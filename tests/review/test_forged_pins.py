"""A pinned manifest is one that Git's history has: a forged one is refused, and the review says so loudly."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
import yaml
from builder import cut
from commandline import run

from tfgitops.targets.volcano.identity import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from repository import Repository

BERT = "environments/prod/manifests/workloads/job-bert.yaml"
SPEC = "environments/prod/environment.yaml"
EVIL = ("registry.example.com/tf:2.21", "evil.example.com/tf:2.21")


def headed(text: str) -> str:
    """Return a text with a header that vouches for it."""
    first, _, rest = text.split("\n", 2)
    return f"{first}\n# sha256:{sha256(rest.encode()).hexdigest()}\n{rest}"


def forge(repository: Repository, path: str, *changes: tuple[str, str], own: str = "") -> None:
    """Change a manifest, compute all its digests anew, and rename its pin."""
    text = repository.read(path)
    for old, new in changes:
        text = cut(text, old, new)
    if own:
        text = re.sub(r" own \w{8}\n", f" own {own}\n", text, count=1)
    manifest = yaml.safe_load(text)
    if manifest["kind"] == "Job":
        old = manifest["metadata"]["name"]
        new = f"{old.rpartition('-')[0]}-{digest_of(manifest)}"
        text = cut(text, old, new)
        if old in repository.read(SPEC):
            repository.prod((old, new))
    repository.write(path, headed(text))


@pytest.fixture
def pinned(repository: Repository) -> Repository:
    """A repository in which a training is pinned, on both branches."""
    assert run("pin", "environments/prod", "bert").exit_code == 0
    repository.commit("pinned")
    repository.keep()
    return repository


FORGERIES: dict[str, Callable[[Repository], None]] = {
    "another image": lambda repository: forge(repository, BERT, EVIL),
    "another minAvailable": lambda repository: forge(repository, BERT, ("minAvailable: 2", "minAvailable: 1")),
    "another priority": lambda repository: forge(
        repository, BERT, ("  queue: vision", "  priorityClassName: high\n  queue: vision")
    ),
    "another label": lambda repository: forge(
        repository, BERT, ("  labels:\n    tfgitops/job: bert\n", "  labels:\n    team: mine\n    tfgitops/job: bert\n")
    ),
    "another digest of the block": lambda repository: forge(repository, BERT, own="01234567"),
}


def told(repository: Repository, path: str = BERT) -> None:
    """Assert that a review says first of all that a file is not one of the history, in each form."""
    inside = path.removeprefix("environments/prod/")
    result = repository.review("--exit-code")
    assert result.exit_code == 1, result.output
    text = " ".join(result.stdout.split())
    assert f"{inside} is kept by a pin, and no commit up to" in text
    risks = json.loads(repository.review("--format", "json").stdout)["risks"]
    assert risks[0]["code"] == "pin"
    assert inside in " ".join(repository.review("--format", "markdown").stdout.split())


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_pin_is_refused_until_it_is_committed_and_then_the_review_tells(
    forgery: str, pinned: Repository
) -> None:
    FORGERIES[forgery](pinned)
    before = pinned.manifest("bert")
    for arguments in (["build", "--check"], ["build"], ["build", "--restart-all"]):
        result = run(*arguments)
        assert result.exit_code == 1
        assert (
            "error[TF306]: manifests/workloads/job-bert.yaml is kept by a pin, and is not the committed file"
            in result.stderr
        )
        assert f"git checkout -- {BERT}" in result.stderr
    assert pinned.manifest("bert") == before
    told(pinned)
    pinned.commit("forged")
    told(pinned)


def test_a_pin_on_a_forged_manifest_of_a_training_that_was_not_pinned_is_told(repository: Repository) -> None:
    forge(repository, BERT, EVIL)
    name = yaml.safe_load(repository.manifest("bert"))["metadata"]["name"]
    repository.prod(("  bert:\n", f"  bert:\n    pin: {name}\n"))
    assert run("build", "--check").exit_code == 1
    repository.commit("forged")
    told(repository)


def test_a_forged_pin_of_two_commits_is_told(repository: Repository) -> None:
    forge(repository, BERT, EVIL)
    repository.commit("a manifest")
    name = yaml.safe_load(repository.manifest("bert"))["metadata"]["name"]
    repository.prod(("  bert:\n", f"  bert:\n    pin: {name}\n"))
    repository.commit("a pin")
    told(repository)


def test_a_forged_object_that_a_pinned_training_needs_is_told(pinned: Repository) -> None:
    queue = "environments/prod/manifests/cluster/queue-vision.yaml"
    pinned.prod(("queues:\n  vision: {capability: {cpu: 64, nvidia.com/gpu: 8}}\n", ""), ("  queue: vision\n", ""))
    assert run("build", "--restart-all").exit_code == 0
    pinned.commit("kept for the pin")
    assert "kept for pinned jobs" in run("build", "--check").stdout
    forge(pinned, queue, ("cpu: '64'", "cpu: '640'"))
    assert run("build", "--check").exit_code == 1
    pinned.commit("forged")
    told(pinned, queue)


def test_a_pinned_training_in_a_forged_new_environment_is_told(pinned: Repository) -> None:
    pinned.write("environments/lab/environment.yaml", cut(pinned.read(SPEC), "eu-1", "us-1"))
    for path in ("cluster/queue-vision.yaml", "workloads/job-bert.yaml", "workloads/pvc-logs.yaml"):
        pinned.write(f"environments/lab/manifests/{path}", pinned.read(f"environments/prod/manifests/{path}"))
    assert run("build", "--restart-all").exit_code == 0
    assert '"pin"' not in pinned.review("--format", "json").stdout, "the file of a neighbour is known"
    forge(pinned, "environments/lab/manifests/workloads/job-bert.yaml", ("minAvailable: 2", "minAvailable: 1"))
    assert run("build", "--check").exit_code == 1


# --- no false alarm -----------------------------------------------------------------------------------------------


def quiet(repository: Repository) -> None:
    result = run("build", "--check")
    assert result.exit_code == 0, result.output
    risks = json.loads(repository.review("--format", "json").stdout)["risks"]
    assert [risk for risk in risks if risk["code"] == "pin"] == []


def test_a_new_pin_of_what_runs_is_fine(repository: Repository) -> None:
    run("pin", "environments/prod", "bert")
    quiet(repository)
    repository.base(("2.21", "2.22"))
    repository.build("--restart-all")
    repository.commit("others restart")
    quiet(repository)


def test_a_pin_of_an_earlier_run_that_is_restored_from_git_is_fine(repository: Repository) -> None:
    old = repository.manifest("bert")
    repository.base(("2.21", "2.22"))
    repository.keep()
    repository.write(BERT, old)
    name = yaml.safe_load(old)["metadata"]["name"]
    repository.prod(("  bert:\n", f"  bert:\n    pin: {name}\n"))
    assert "is not the committed file" in run("build", "--check").stderr
    repository.commit("back")
    quiet(repository)


def test_a_pin_of_a_run_of_this_branch_alone_is_told(repository: Repository) -> None:
    repository.base(("2.21", "2.22"))
    repository.build("--restart-all")
    repository.commit("new runs")
    run("pin", "environments/prod", "bert")
    repository.commit("a pin")
    assert run("build", "--check").exit_code == 0
    told(repository)


def test_pins_move_with_their_folder(pinned: Repository) -> None:
    pinned.git("mv", "environments/prod", "environments/live")
    assert run("build", "--check").exit_code == 0
    risks = json.loads(pinned.review("--format", "json").stdout)["risks"]
    assert [risk for risk in risks if risk["code"] == "pin"] == []


def test_line_ends_of_windows_are_no_forgery(pinned: Repository) -> None:
    pinned.write(".gitattributes", "* -text\n")
    (pinned.top / BERT).write_bytes(pinned.manifest("bert").replace("\n", "\r\n").encode())
    assert run("build", "--check").exit_code == 0
    pinned.commit("CRLF")
    quiet(pinned)


def test_without_git_a_pin_is_judged_by_its_manifest_alone(pinned: Repository) -> None:
    (pinned.top / ".git").rename(pinned.top / "git")
    assert run("build", "--check").exit_code == 0
