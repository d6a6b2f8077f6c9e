"""Keys under a former name are accepted with a warning, and `tfgitops migrate` rewrites them and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from builder import cut
from checkout import REPOSITORY
from commandline import run
from repository import Repository

from tfgitops import __version__, discover
from tfgitops.spec.schema import specschema
from tfgitops.spec.yamltext import compose
from tfgitops.spec.yamltext.edit import with_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.spec.schema.specschema import Widener
    from tfgitops.spec.yamltext import Node

PLUGIN = """
from tfgitops import Object, SchemaFragment, hookimpl

tfgitops_api = 1
CONTACT = {"type": "string", "description": "who answers", "x-formerly": ["email", "e-mail"]}
TEAM = {"type": "object", "properties": {"contact": CONTACT}, "required": ["contact"], "additionalProperties": False}


@hookimpl
def tfgitops_schema():
    teams = {"type": "object", "description": "teams", "additionalProperties": TEAM, "x-formerly": ["groups"]}
    yield SchemaFragment("environment", "teams", teams)
    yield SchemaFragment("role", "team", {"type": "string", "description": "a team", "x-formerly": ["group"]})


@hookimpl
def tfgitops_contribute(job):
    for role in job.roles:
        if name := role.get("team"):
            yield role.pod({"metadata": {"labels": {"team": name}}}, "team")


@hookimpl
def tfgitops_objects(environment):
    for name, block in (environment.get("teams") or {}).items():
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(block)}
        yield Object(manifest, ("teams", name))
"""
BASE = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
groups:  # who pays
  vision: { "e-mail" : vision@example.com }   # kept
defaults:
  image: tf:1
  group: vision
"""
PROD = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
extends: ../base.yaml
namespace: ml
x-parts:
  - &part {group: speech, cpu: 2}
groups: {speech: {'email': speech@example.com}}
jobs:
  train:
    worker: {<<: *part, replicas: 2}
    ps: {group: vision,cpu: 1}  # group: a comment
    env: {group: not a key}
"""
JOB = "worker: 1\r\ngroup: speech # its own\r\n"
PRESENT = {
    "environments/base.yaml": BASE.replace("groups:", "teams:").replace('"e-mail"', "contact").replace(
        "  group:", "  team:"
    ),
    "environments/prod/environment.yaml": PROD.replace("groups:", "teams:").replace("'email'", "contact")
    .replace("{group: speech", "{team: speech").replace("{group: vision", "{team: vision"),
    "environments/prod/jobs/other.yaml": JOB.replace("group:", "team:"),
}  # fmt: skip
FORMER = dict(zip(PRESENT, (BASE, PROD, JOB), strict=True))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["teams.py"]\n')
    Path("teams.py").write_text(PLUGIN)
    for name, text in FORMER.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(text.encode())
    return tmp_path


def texts() -> dict[str, str]:
    return {name: Path(name).read_bytes().decode() for name in FORMER}


def test_a_former_name_is_accepted_with_a_warning(repository: Path) -> None:
    built = run("build", "--format", "json")
    assert built.exit_code == 0, built.output
    problems = json.loads(built.stdout)["problems"]
    assert {problem["code"] for problem in problems} == {"TF206"}
    assert len(problems) == 8
    places = {(problem["file"], problem["line"], problem["column"]): problem for problem in problems}
    told = places["environments/prod/environment.yaml", 7, 19]
    assert told["message"] == "'email' is the former name of 'contact'"
    assert told["hint"] == "`tfgitops migrate` writes 'contact' instead"
    assert ("environments/prod/environment.yaml", 6, 12) in places  # where the merge key takes it from
    assert run("validate", "--strict").exit_code == 1


def test_migrate_rewrites_the_keys_and_proves_that_nothing_else_changes(repository: Path) -> None:
    assert run("build").exit_code == 0
    done = run("migrate")
    assert done.exit_code == 0, done.output
    assert texts() == PRESENT
    assert "renamed  environments/base.yaml:4  e-mail → contact\n" in done.stdout
    assert done.stdout.endswith("4 manifests: the same bytes as before\n")
    assert run("build", "--check", "--strict").exit_code == 0
    again = run("migrate")
    assert (again.exit_code, again.stdout) == (0, "every key has its present name\n")


def test_explain_names_the_line_of_a_former_name(repository: Path) -> None:
    told = run("explain", "environments/prod", "train", "spec.tasks[ps].template.metadata.labels.team")
    assert told.exit_code == 0, told.output
    assert "environments/prod/environment.yaml:11:17" in told.stdout


def test_a_key_beside_its_former_name_is_no_key(repository: Path) -> None:
    Path("environments/prod/jobs/other.yaml").write_text("worker: 1\ngroup: speech\nteam: vision\n")
    found = run("validate")
    assert found.exit_code == 1
    assert "unknown key 'group'" in found.output
    before = texts()
    assert run("migrate").exit_code == 1
    assert texts() == before


def test_what_would_change_a_manifest_is_shown_and_not_written(repository: Path) -> None:
    """A plugin whose answer depends on the name itself cannot be migrated: no file is left half rewritten."""
    odd = 'dict(block) | {"line": str("groups" in Path("environments/base.yaml").read_text())}'
    Path("teams.py").write_text("from pathlib import Path\n" + cut(PLUGIN, "dict(block)", odd))
    before = texts()
    done = run("migrate")
    assert done.exit_code == 1
    assert (
        "error[TF605]: the rewritten spec would change environments/prod/manifests/workloads/configmap-" in done.output
    )
    assert "= found: line: 'False'" in done.output
    assert "= expected: line: 'True'" in done.output
    assert texts() == before


def test_an_environment_with_errors_is_not_migrated(repository: Path) -> None:
    Path("environments/prod/jobs/other.yaml").write_text("wroker: 1\n")
    before = texts()
    done = run("migrate")
    assert done.exit_code == 1
    assert "unknown key 'wroker'" in done.output
    assert texts() == before


def test_a_review_of_a_migration_says_that_nothing_changes(repository: Path) -> None:
    git = Repository.of(repository)
    git.git("init", "--quiet", "--initial-branch=main")
    git.build()
    git.commit("former names")
    git.git("checkout", "--quiet", "-b", "change")
    assert run("migrate").exit_code == 0
    git.build()
    git.commit("present names")
    assert git.review("--exit-code").exit_code == 0
    git.edit("environments/base.yaml", ("image: tf:1", "image: tf:2"))
    git.build("--restart-all")
    git.commit("another image")
    reviewed = git.review().stdout
    assert "defaults.image" in reviewed
    assert "team" not in reviewed


def test_editors_are_told_that_a_former_name_is_deprecated(repository: Path) -> None:
    schema = json.loads(run("schema").stdout)["$defs"]
    former = schema["environment"]["properties"]["groups"]
    assert former["deprecated"] is True
    assert former["description"] == "the former name of teams"
    role = schema["role"].get("then", schema["role"])["properties"]
    assert role["group"]["type"] == role["team"]["type"]


def test_the_former_names_of_a_plugin_are_a_list(repository: Path) -> None:
    Path("teams.py").write_text(PLUGIN.replace('"x-formerly": ["groups"]', '"x-formerly": "groups"'))
    assert "`schema.x-formerly`" in run("validate").output


def test_a_former_name_that_another_key_has_now_is_that_key(repository: Path) -> None:
    Path("teams.py").write_text(PLUGIN.replace('"x-formerly": ["group"]', '"x-formerly": ["group", "image"]'))
    built = run("build")
    assert built.exit_code == 0, built.output
    assert "image: tf:1" in Path("environments/prod/manifests/workloads/job-other.yaml").read_text()
    former = json.loads(run("schema").stdout)["$defs"]["job"]
    assert "deprecated" not in former.get("then", former)["properties"]["image"]


def test_no_key_of_the_core_or_a_bundled_plugin_has_its_former_name_again() -> None:
    """The compiler would take the former name for the key that has it now."""

    def clashes(schema: object) -> list[str]:
        if isinstance(schema, list):
            return [name for item in schema for name in clashes(item)]
        if not isinstance(schema, dict):
            return []
        known = schema.get("properties", {})
        inner = known.values() if isinstance(known, dict) else ()
        former = [name for one in inner if isinstance(one, dict) for name in one.get("x-formerly", ())]
        own = [name for name in former if name in known or former.count(name) > 1]
        return own + [name for below in schema.values() for name in clashes(below)]

    assert clashes(specschema.joined_source(discover().fragments)) == []


READ_BEFORE = {"apiVersion", "kind", "extends", "jobs", "pin", "rerun", "path"}
"""Keys that are read before names are looked up, and the path of a text file; a rename of these needs more."""


def _renamable(schema: Any, done: set[int]) -> None:
    """Give every key of a schema a former name: the same with `Old` behind it."""
    if isinstance(schema, list):
        for item in schema:
            _renamable(item, done)
    elif isinstance(schema, dict) and id(schema) not in done:
        done.add(id(schema))
        for name, one in schema.get("properties", {}).items():
            if isinstance(one, dict) and name not in READ_BEFORE:
                one["x-formerly"] = [f"{name}Old"]
        for below in schema.values():
            _renamable(below, done)


def _former(node: Node, plan: Widener | None) -> Iterator[tuple[Node, str]]:
    """Yield each key of a text that has a former name, with that name."""
    for item in node.items if plan else ():
        yield from _former(item, plan.items if plan else None)
    for name, (key, value) in node.entries.items() if plan else ():
        inner = plan.properties.get(name, plan.others) if plan else None
        if inner and name in (plan.properties if plan else {}) and inner.shorthand:
            yield key, inner.shorthand[0]
        yield from _former(value, inner)


def test_any_key_can_be_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All keys of the spec with every key get another name at once: it compiles to the same bytes, and comes back."""
    joined = specschema._join

    def renamable(*arguments: Any, **options: Any) -> Any:
        core, clashes = joined(*arguments, **options)
        _renamable(core["$defs"], set())
        return core, clashes

    monkeypatch.setattr(specschema, "_join", renamable)
    place = tmp_path / "tests" / "releases" / __version__  # the files of `bootstrap` name it
    shutil.copytree(REPOSITORY / "tests" / "releases" / __version__, place)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(place)
    schema = discover().schema
    written = {
        path: path.read_text() for path in Path().rglob("*.yaml") if not {"manifests", "bootstrap"} & {*path.parts}
    }
    for path, text in written.items():
        tree = compose(text)
        assert tree
        plan = schema.job_former if path.parent.name == "jobs" else schema.former
        path.write_text(with_keys(text, _former(tree, plan)))
    former = {path: path.read_text() for path in written}
    assert sum(text.count("Old:") for text in former.values()) > 150
    checked = run("build", "--check")
    assert checked.exit_code == 0, checked.output
    done = run("migrate")
    assert done.exit_code == 0, done.output
    assert {path: path.read_text() for path in written} == written
