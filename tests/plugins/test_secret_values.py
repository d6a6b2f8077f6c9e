"""A secret in a spec is an error, or a warning, wherever it stands, and no command shows it in any format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from builder import spec_with
from commandline import run

from tfgitops.targets import secrets

if TYPE_CHECKING:
    from repository import Repository

SPEC = "environments/prod/environment.yaml"
TOKEN = "hf_" + "Zq3vX8pLw0RtY6uB1nMk9sDf4GhJ2aQe7c"
OTHER = "hf_" + "Zq3vX8pLw0RtY6uB1nMk9sDf4GhJ2aQe7c"[::-1]
PASSWORD = "s3-Gq9x-kite"  # noqa: S105 - nobody has it
PLACES = {
    "env": ("jobs.bert.env", f"{{HUB: {TOKEN}}}", "SECRET01"),
    "env of a role": ("jobs.bert.worker.env", f"{{DB_PASSWORD: {PASSWORD}}}", "SECRET02"),
    "command": ("jobs.bert.command", f"[python, train.py, --token, {TOKEN}]", "SECRET01"),
    "option": ("jobs.bert.command", f"[python, train.py, --password, {PASSWORD}]", "SECRET02"),
    "text": ("jobs.bert.command", f"'DB_PASSWORD={PASSWORD} python train.py'", "SECRET02"),
    "args": ("jobs.bert.args", f"['--hub={TOKEN}']", "SECRET01"),
    "annotation": ("jobs.bert.annotations", f"{{example.com/x: {TOKEN}}}", "SECRET01"),
    "overlay": ("jobs.bert.container", f"{{env: [{{name: DB_PASSWORD, value: {PASSWORD}}}]}}", "SECRET02"),
    "overlay of a job": ("jobs.bert.pod", f"{{metadata: {{annotations: {{a: {TOKEN}}}}}}}", "SECRET01"),
    "queue": ("queues.vision.annotations", f"{{a: {TOKEN}}}", "SECRET01"),
    "defaults": ("defaults.env", f"{{URL: 'https://ml:{PASSWORD}@example.com/x'}}", "SECRET01"),
}  # fmt: skip
COMMANDS = [
    "validate", "validate -v", "build --check", "build --format json --check", "build --format sarif --check",
    "build --format github --check", "review", "review --format markdown", "review --format json",
    "explain environments/prod", "explain environments/prod bert", "explain environments/prod bert .",
    "explain environments/prod bert . --format json", "explain environments/prod bert spec.tasks --format json",
    "images", "plugins list", "plugins list -v",
]  # fmt: skip


def _allow(repository: Repository) -> None:
    """Allow both codes in all jobs, at the top of the spec."""
    entries = "".join(
        f"  - {{code: {code}, at: {at}, reason: a test of ours, until: 2030-01-01}}\n"
        for code in ("SECRET01", "SECRET02")
        for at in ("jobs.bert", "jobs.resnet", "jobs.shards", "queues.vision", "defaults.env")
    )
    repository.edit(SPEC, ("jobs:\n", f"allow:\n{entries}jobs:\n"))


def _hold(repository: Repository, at: str, value: str) -> None:
    import yaml  # noqa: PLC0415

    repository.write(SPEC, spec_with(repository.read(SPEC), {at: yaml.safe_load(value)}))


@pytest.mark.parametrize(("at", "value", "code"), PLACES.values(), ids=PLACES)
def test_a_secret_is_told_at_its_place_and_never_shown(repository: Repository, at: str, value: str, code: str) -> None:
    _hold(repository, at, value)
    found = json.loads(run("validate", "--format", "json").stdout)["problems"]
    assert {one["code"] for one in found if one["code"].startswith("SECRET")} == {code}
    assert all(one["line"] for one in found)
    _never_shown(repository)
    _allow(repository)
    assert "[SECRET" not in run("validate").stderr
    _never_shown(repository)
    repository.build("--restart-all")
    repository.commit("with a secret")
    repository.git("branch", "--force", "main")
    repository.write(SPEC, repository.read(SPEC).replace(TOKEN, OTHER).replace(PASSWORD, f"{PASSWORD}2"))
    _never_shown(repository, OTHER)


def _never_shown(repository: Repository, *more: str) -> None:
    for command in COMMANDS:
        words = [*command.split(), *(["--against", "main"] if command.startswith("review") else [])]
        secrets._remembered.clear()  # of an earlier command
        result = run(*words, TFGITOPS_TRACE="hooks")
        output = result.stdout + result.stderr
        assert [one for one in (TOKEN, PASSWORD, *more) if one in output] == [], (command, output)


def test_secrets_of_files_are_found(repository: Repository) -> None:
    repository.write("environments/prod/train.py", f'import hub\n\nhub.login("{TOKEN}")\n')
    repository.write("environments/prod/app.ini", f"[db]\npassword = {PASSWORD}\n")
    repository.edit(
        SPEC,
        (
            "  bert:\n    command: [python, train.py, --out=/logs/$(RUN)]",
            "  bert:\n    script: train.py\n    configMaps: [app]",
        ),
        ("queues:", "configMaps: {app: {files: [app.ini]}}\nqueues:"),
    )
    result = run("validate")
    assert "error[SECRET01]: a token of Hugging Face stands here" in result.stderr
    assert "--> environments/prod/train.py:1" in result.stderr
    assert "warning[SECRET02]: the value of password seems to stand here" in result.stderr
    _never_shown(repository)
