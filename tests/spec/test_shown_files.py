"""Only specs by name and place are read as specs and shown: no other file of the checkout, and none outside of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commandline import run

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
JOBS = "jobs:\n  train: {image: 'tf:2.21', worker: 2}\n"
SECRET = "hvs.CAESIJRM-token"  # noqa: S105 - none
PROD = Path("environments/prod")
FORMATS = ("text", "json", "sarif", "github")

LINES = ("{}", "token: {}", "TOKEN={}", "{{a: {}, b", "a: '{}", "a: \xe9 {}")
LINKS = ("environments/base.yaml", "environments/prod/environment.yaml", "environments/prod/jobs/a.yaml")
FILES = (
    ".vault-token", ".env", ".git/FETCH_HEAD", ".git/config.yaml", ".netrc", "id_rsa", "token.txt", "gha-creds-1.json",
    "environments/.hidden/base.yaml", "environments/prod/.secret.yaml", "environments/prod/jobs/.secret.yaml",
    "uv.lock", "environments/prod/notes",
)  # fmt: skip


def put(path: Path | str, text: str) -> Path:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode("latin-1"))
    return target


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a repository below a folder that has files, too."""
    put(tmp_path / "outside.yaml", f"token: {SECRET}\n")
    put(tmp_path / "repository/.git/HEAD", "ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path / "repository")
    put(PROD / "environment.yaml", HEAD + JOBS)
    return tmp_path / "repository"


def silent(code: str, *arguments: str) -> str:
    """Assert that a command fails, and in no format shows the secret."""
    for form in FORMATS:
        result = run("validate", *arguments, "--format", form)
        assert result.exit_code == 1
        assert SECRET not in result.output
        assert SECRET[:12] not in result.output
        assert code in result.output
    return str(run("validate", *arguments).stderr)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("file", FILES)
def test_a_spec_extends_no_file_that_is_no_spec_by_its_name_and_place(file: str, line: str) -> None:
    put(file, f"{line.format(SECRET)}\n")
    put(PROD / "environment.yaml", f"extends: ../../{file}\n{HEAD}{JOBS}")
    silent("TF108")


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("file", FILES)
def test_a_link_makes_no_spec_of_it(file: str, link: str) -> None:
    put(file, f"token: {SECRET}\n")
    put(PROD / "environment.yaml", f"extends: ../base.yaml\n{HEAD}{JOBS}")
    Path(link).parent.mkdir(exist_ok=True)
    Path(link).unlink(missing_ok=True)
    Path(link).symlink_to(Path(file).resolve())
    silent("TF108")


@pytest.mark.parametrize("name", ["base.yaml", "base.yml", "BASE.YAML", "shared/base.v2.yaml"])
def test_files_of_the_repository_with_the_name_of_yaml_are_extended(name: str) -> None:
    put(name, "defaults: {maxRetry: 5}\n")
    put(PROD / "environment.yaml", f"extends: ../../{name}\n{HEAD}{JOBS}")
    assert run("validate").exit_code == 0


@pytest.mark.parametrize("form", ["script: ../../{}", "script: {{file: ../../{}}}"])
@pytest.mark.parametrize("file", [".vault-token", ".env", ".git/FETCH_HEAD", "environments/prod/.secret"])
def test_no_key_names_a_hidden_file(form: str, file: str) -> None:
    put(file, f"{SECRET}\n")
    put(PROD / "environment.yaml", HEAD + JOBS.replace("worker", f"{form.format(file)}, worker"))
    silent("TF108")
    link = Path("environments/prod/train.py")
    link.symlink_to(Path(file).resolve())
    put(PROD / "environment.yaml", HEAD + JOBS.replace("worker", "script: train.py, worker"))
    silent("TF108")


def test_of_a_file_that_a_key_names_no_line_is_shown() -> None:
    put("credentials", f"\xe9 {SECRET}\n")
    put(PROD / "environment.yaml", HEAD + JOBS.replace("worker", "script: ../../credentials, worker"))
    assert "is not UTF-8" in silent("TF102")


def test_of_a_file_that_is_too_large_for_a_configmap_no_line_is_shown() -> None:
    put("credentials", f"{SECRET}\n" * 60_000)
    put(PROD / "environment.yaml", HEAD + JOBS.replace("worker", "script: ../../credentials, worker"))
    result = run("validate")
    assert SECRET not in result.output


@pytest.mark.parametrize("link", ["environments", "environments/prod", "environments/prod/jobs"])
@pytest.mark.parametrize("git", [True, False])
def test_a_folder_that_is_a_link_out_of_the_repository_is_refused(link: str, git: bool, root: Path) -> None:
    """Also where it leads into another checkout."""
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    if git:
        put(elsewhere / ".git/HEAD", "ref: refs/heads/main\n")
    place = Path(link)
    place.mkdir(exist_ok=True)
    place.rename(elsewhere / "there")
    place.symlink_to(elsewhere / "there")
    for file in elsewhere.rglob("*.yaml"):
        put(file, f"token: {SECRET}\n")
    put(elsewhere / "there" / "x.yaml", f"token: {SECRET}\n")
    for paths in ([], ["environments/prod"], ["environments/prod/environment.yaml"]):
        for command in ("validate", "build", "review", "images"):
            result = run(command, *paths)
            assert result.exit_code == 1, (command, paths)
            assert SECRET not in result.output
            assert re.search(r"leads out of the root|is a link", result.stderr), result.output
    assert not [*elsewhere.rglob("manifests")]


def test_a_link_within_the_repository_stands_for_what_it_leads_to() -> None:
    PROD.parent.rename("live")
    Path("environments").symlink_to("live")
    assert run("validate").exit_code == 0
    assert run("validate", "environments/prod").exit_code == 0


def test_a_lock_that_is_a_link_is_not_read() -> None:
    put(".env", f'TOKEN = "{SECRET}"\nPORT = 5\n')
    Path("tfgitops.lock").symlink_to(".env")
    for command in (["validate"], ["build", "--check", "--locked"]):
        assert SECRET not in run(*command).output


def test_settings_that_are_a_link_are_not_read() -> None:
    put(".env", f'[tool.tfgitops]\nTOKEN = "{SECRET}"\n')
    Path("pyproject.toml").symlink_to(".env")
    result = run("validate")
    assert SECRET not in result.output


VISIBLE = (
    "apiVersion: v1\nkind: Secret\nstringData: {{pin: '{}'}}\n", "namespace: '{}'\nlicense: '{}'\n", "license: {}\n",
    "- {}\n", "{}\n", "a: b: {}\n", "seed: !vault |\n  {}\nb: !vault {}\n", "x: 1\ndefaults: {}\n",
    "x: 1\njobs: {{a: '{}'}}\n", "x: 1\na: 1\na: {}\n", "x-a: [{}\n", "x: {}: \n\t- a\n", "x: '{}\n", "x: *{}\n",
    "x: !!{} y\n", "? {}\n: [\n", "%{}\n---\n", "x: 1\n--- {}\n", "x: 1\n... {}\n", 'x: "\\q {}"\n', "x: @{}\n",
    "x: `{}\n",
    "x: &{} 1\ny: *b\n", "x: |9 {}\n  a\n", "{{x: {}\n", "x: 0o17 {}\nok: 12:30:{}\n", "x: 1\n{}\n", "x: 1\n{}: [\n",
    "<<: {}\n", "x: {{<<: {}}}\n",
)  # fmt: skip


@pytest.mark.parametrize("text", VISIBLE)
def test_of_a_visible_yaml_file_that_is_no_spec_no_value_is_shown(text: str) -> None:
    """As a values file of Helm, which the name does not tell from a spec."""
    put("secrets.yaml", text.replace("{}", "Kx7-quokka").replace("{{", "{").replace("}}", "}"))
    put(PROD / "environment.yaml", f"extends: ../../secrets.yaml\n{HEAD}{JOBS}")
    for form in FORMATS:
        result = run("validate", "--format", form)
        assert result.exit_code == 1
        assert "quokka" not in result.output, result.output
        assert "secrets.yaml" in result.output


def test_of_a_spec_that_others_extend_the_line_is_shown() -> None:
    for text in ("defaults: {image: [}\n", "dfaults: {image: tf}\n"):
        put("base.yaml", f"# {HEAD}{text}")
        put(PROD / "environment.yaml", f"extends: ../../base.yaml\n{HEAD}{JOBS}")
        assert f" | {text}" in run("validate").stderr
    put("base.yaml", "defaults: {image: 3, wrker: 1}\n")
    assert " | defaults: {image: 3, wrker: 1}" in run("validate").stderr
