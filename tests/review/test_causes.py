"""The lines that are named as causes are those that changed: also what was taken out, and what was changed before."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

import pytest
from builder import cut
from commandline import run

if TYPE_CHECKING:
    from pathlib import Path

    from repository import Repository

SPEC = "environments/prod/environment.yaml"
TF2 = "    strategy: in-graph\n"


def _causes(repository: Repository) -> dict[str, tuple[str, ...]]:
    document = json.loads(repository.review("--format", "json").stdout)
    return {
        change["name"]: tuple(
            f"{'.'.join(map(str, one['route']))}{' (removed)' * one['removed']} {one['file'][13:]}:{one['line']}"
            for one in change["causes"]
        )
        for one in document["environments"]
        for change in one["changes"]
        if change["verdict"] == "new run"
    }


def _guarded() -> list[str]:
    """Return what the guard blames, each with the place that it shows."""
    said = run("build").stderr
    return re.findall(r"error\[TF604\]: (.+) would restart.*\n +--> environments/(\S+:\d+):\d+\n", said) or [
        re.findall(r"error\[TF604\]: (.+) would restart", said)
    ]


ALL = ("bert", "resnet", "shards", "small")


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("serviceAccount: training", "serviceAccount"),
        ("workdir: /w", "workdir"),
        ("maxRetry: 5", "maxRetry"),
        ("restartPolicy: OnFailure", "restartPolicy"),
        ("imagePullSecrets: [registry]", "imagePullSecrets"),
    ],
)
def test_what_is_taken_out_of_defaults_is_named_by_its_key(full: Repository, line: str, cause: str) -> None:
    full.base((f"  {line}\n", ""))
    assert _causes(full) == dict.fromkeys(ALL, (f"defaults.{cause} (removed) base.yaml:3",))
    assert _guarded() == [(f"`defaults.{cause} (removed)`", "base.yaml:3")]


def test_so_is_the_port_of_those_that_have_one(full: Repository) -> None:
    full.base(("  port: 3333\n", ""))
    assert set(_causes(full).values()) == {("defaults.port (removed) base.yaml:3",)}


def test_so_is_what_null_removes(full: Repository) -> None:
    full.prod(("defaults:\n", "defaults:\n  serviceAccount: null\n"))
    assert _causes(full) == dict.fromkeys(ALL, ("defaults.serviceAccount prod/environment.yaml:12",))


@pytest.mark.parametrize(
    ("file", "old", "new", "cause", "jobs"),
    [
        ("base", "readOnly: true", "readOnly: false", "volumes.data.readOnly base.yaml:12", "resnet small"),
        ("base", ", readOnly: true", "", "volumes.data.readOnly (removed) base.yaml:12", "resnet small"),
        ("prod", "evaluator: {cpu: 1}", "evaluator: 0", "jobs.resnet.evaluator prod/environment.yaml:25",
         "resnet small"),
        ("prod", "    evaluator: {cpu: 1}\n", "", "jobs.resnet.evaluator (removed) prod/environment.yaml:18",
         "resnet small"),
        ("prod", "    worker: {replicas: 1}\n", "    worker: {replicas: 1}\n    evaluator: 0\n",
         "jobs.small.evaluator prod/environment.yaml:30", "small"),
        ("prod", ", shm: 1Gi", "", "jobs.resnet.worker.shm (removed) prod/environment.yaml:24", "resnet small"),
        ("prod", ", product: A100", "", "jobs.resnet.worker.gpu.product (removed) prod/environment.yaml:24",
         "resnet small"),
        ("prod", "from: resnet", "from: bert", "jobs.small.from prod/environment.yaml:28", "small"),
        ("prod", TF2, "", "jobs.resnet.strategy (removed) prod/environment.yaml:18", "resnet small"),
        ("prod", "    plugins: {svc: [--disable-network-policy=true]}\n", "",
         "jobs.resnet.plugins (removed) prod/environment.yaml:18", "resnet small"),
        ("prod", "[--disable-network-policy=true]", "[]",
         "jobs.resnet.plugins.svc.0 (removed) prod/environment.yaml:21", "resnet small"),
        ("prod", "volumes: [logs, data]", "volumes: [logs]", "jobs.resnet.volumes.1 (removed) prod/environment.yaml:20",
         "resnet small"),
        ("base", "[registry]", "[other]", "defaults.imagePullSecrets.0 base.yaml:10", "bert resnet shards small"),
        ("base", "[registry]", "[registry, other]", "defaults.imagePullSecrets.1 base.yaml:10",
         "bert resnet shards small"),
    ],
)  # fmt: skip
def test_the_line_that_changed_is_named_and_no_other(
    full: Repository, *, file: str, old: str, new: str, cause: str, jobs: str
) -> None:
    (full.base if file == "base" else full.prod)((old, new))
    assert _causes(full) == dict.fromkeys(jobs.split(), (cause,))


def test_one_line_is_said_once_by_the_guard(full: Repository) -> None:
    full.base(("[registry]", "[other]"))
    assert _guarded() == [("`defaults.imagePullSecrets.0`", "base.yaml:10")]


def test_another_file_that_was_there_is_named_by_the_line_that_leads_to_it(full: Repository) -> None:
    full.write("environments/new.yaml", cut(full.read("environments/base.yaml"), "tf:2.21", "tf:2.22"))
    full.commit("not used yet")
    full.git("branch", "--quiet", "--force", "main")
    full.prod(("../base.yaml", "../new.yaml"))
    assert _causes(full) == dict.fromkeys(ALL, ("extends prod/environment.yaml:3",))


def test_a_job_that_moves_to_a_file_of_its_own_is_blamed_for_what_it_says_otherwise(full: Repository) -> None:
    text = full.read(SPEC)
    start, end = text.index("  bert:"), text.index("  resnet:")
    full.write(SPEC, text[:start] + text[end:])
    block = textwrap.dedent(cut(text[start:end].partition("\n")[2], "gpu: 1", "gpu: 2"))
    full.write("environments/prod/jobs/bert.yaml", block)
    assert _causes(full) == {"bert": ("jobs.bert.worker.gpu prod/jobs/bert.yaml:2",)}


ANCHOR = """\
x-common: &common {image: r.io/t:1, worker: {replicas: 2, cpu: 1}}
jobs:
  a: {<<: *common, command: [x]}
  b: {<<: *common, command: [y]}
  c: {<<: *common, command: [z]}
"""


@pytest.fixture
def anchored(repository: Repository) -> Repository:
    """A repository whose jobs share something by an anchor."""
    text = repository.read(SPEC)
    repository.write(SPEC, text[: text.index("jobs:")] + ANCHOR)
    repository.keep()
    return repository


def test_what_an_anchor_shares_is_guarded_and_is_one_cause(anchored: Repository) -> None:
    anchored.prod(("r.io/t:1", "r.io/t:2"))
    cause = "x-common.image prod/environment.yaml:14"
    assert _guarded() == [("`x-common.image`", "prod/environment.yaml:14")]
    assert _causes(anchored) == dict.fromkeys("abc", (cause,))
    assert "`x-common.image` in environments/prod/environment.yaml restarts 3 trainings" in " ".join(
        anchored.review().stdout.split()
    )


def test_what_is_taken_out_of_an_anchor_is_one_cause(anchored: Repository) -> None:
    anchored.prod(("image: r.io/t:1, ", ""))
    assert _causes(anchored) == dict.fromkeys("abc", ("x-common.image (removed) prod/environment.yaml:14",))


ALIAS = """\
x-other: &other {image: r.io/t:1, env: {A: 2, B: 2}}
jobs:
  a: {image: r.io/t:1, command: [x], env: &e {A: 1, B: 2}, worker: 1}
  b: {image: r.io/t:1, command: [y], env: *e, worker: 1}
  c: {image: r.io/t:1, command: [y], env: {A: 3, B: 2}, worker: 1}
"""


@pytest.mark.parametrize(
    ("old", "new", "causes"),
    [
        ("env: {A: 3, B: 2}", "env: *e", {"c": ("jobs.c.env prod/environment.yaml:18",)}),
        (", env: *e", "", {"b": ("jobs.b.env (removed) prod/environment.yaml:17",)}),
        ("env: *e", "env: {A: 4, B: 2}", {"b": ("jobs.b.env.A prod/environment.yaml:17",)}),
        ("env: {A: 3, B: 2}", "<<: *other", {"c": ("jobs.c.<< prod/environment.yaml:18",)}),
        ("{A: 1,", "{A: 5,", dict.fromkeys("ab", ("jobs.a.env.A prod/environment.yaml:16",))),
    ],
)
def test_an_alias_that_changes_is_the_cause_and_not_the_line_that_it_leads_to(
    repository: Repository, old: str, new: str, causes: dict[str, tuple[str, ...]]
) -> None:
    """The case his-6."""
    text = repository.read(SPEC)
    repository.write(SPEC, text[: text.index("jobs:")] + ALIAS)
    repository.keep()
    repository.prod((old, new))
    assert _causes(repository) == causes


def test_an_alias_that_a_job_takes_is_its_own(anchored: Repository) -> None:
    written = "a: {image: r.io/t:1, worker: {replicas: 2, cpu: 2}, command: [x]}"
    anchored.prod(("a: {<<: *common, command: [x]}", written))
    anchored.build()


def test_a_bump_that_is_committed_and_not_built_is_still_named(full: Repository) -> None:
    full.base(("tf:2.21", "tf:2.22"))
    full.commit("bump")
    assert _guarded() == [("`defaults.image`", "base.yaml:4")]
    full.write("README.md", "another commit")
    full.commit("more")
    assert _guarded() == [("`defaults.image`", "base.yaml:4")]


def test_manifests_of_the_base_that_are_older_than_its_specs_are_told(full: Repository) -> None:
    full.base(("tf:2.21", "tf:2.22"))
    full.commit("bump")
    full.git("branch", "--quiet", "--force", "main")
    full.prod(("  bert:\n    command: [python, train.py", "  bert:\n    command: [python, other.py"))
    bump = "defaults.image base.yaml:4"
    found = _causes(full)
    assert found.pop("bert") == (bump, "jobs.bert.command.1 prod/environment.yaml:16")
    assert set(found.values()) == {(bump,)}
    text = " ".join(full.review().stdout.split())
    commit = full.git("rev-parse", "main")[:10]
    assert (
        f"note: the manifests at {commit} are older than its specs, which is why these restart, too: "
        "bert, resnet, shards, small" in text
    )


def test_a_shallow_clone_names_the_line_that_gives_the_value_now(full: Repository, tmp_path: Path) -> None:
    full.base(("tf:2.21", "tf:2.22"))
    full.commit("bump")
    full.git("clone", "--quiet", "--depth=1", f"file://{full.top}", str(tmp_path / "clone"))
    result = run("build", str(tmp_path / "clone" / "environments"))
    assert result.exit_code == 1
    assert "`defaults.image` would restart 4 trainings" in result.stderr


PLUGIN = """
from tfgitops import hookimpl
tfgitops_api = 1
@hookimpl
def tfgitops_contribute(job):
    for role in job.roles:
        yield role.container({'stdin': True}, 'image')
"""


def test_where_no_line_differs_the_file_that_names_the_versions_is_named(full: Repository) -> None:
    full.write("pyproject.toml", "[tool.tfgitops]\nplugins = ['mine.py']\n")
    full.write("mine.py", "tfgitops_api = 1\n")
    full.commit("plugin")
    full.git("branch", "--quiet", "--force", "main")
    full.write("mine.py", PLUGIN)
    full.prod(("size: 10Gi", "size: 20Gi"))
    assert _guarded() == [["another version of the compiler or of a plugin (mine.py)"]]
    full.commit("plugin, not built")
    assert _guarded() == [["another version of the compiler or of a plugin (no file says so)"]]
    full.git("branch", "--quiet", "--force", "main")
    assert "another version of the compiler or of a plugin (no file says so)" in full.review().stdout


def test_a_spec_of_the_base_that_is_wrong_by_now_is_compared_as_it_is(full: Repository) -> None:
    full.prod(("    from: resnet\n", "    from: resnet\n    unheard: of\n"))
    full.commit("wrong")
    full.git("branch", "--quiet", "--force", "main")
    full.prod(("    unheard: of\n", ""))
    full.base(("  workdir: /w\n", ""), ("tf:2.21", "tf:2.22"))
    assert set(_causes(full)) == set(ALL)
    assert all("defaults.image base.yaml:4" in causes for causes in _causes(full).values())


SETTING = """
from tfgitops import SchemaFragment, hookimpl
tfgitops_api = 1
@hookimpl
def tfgitops_schema():
    yield SchemaFragment("settings", "level", {"type": "string"})
@hookimpl
def tfgitops_contribute(job):
    for role in job.roles:
        if level := job.environment.settings.get("mine", {}).get("level"):
            yield role.container({'env': [{'name': 'LEVEL', 'value': level}]})
"""
PYPROJECT = """\
[tool.tfgitops]
plugins = ["mine.py"]
[tool.tfgitops.settings.mine]
level = "high"
"""


@pytest.mark.parametrize(
    ("new", "label", "line"), [('level = "low"\n', "level", 4), ("", "level (removed)", 3)], ids=["changed", "removed"]
)
def test_a_setting_of_a_plugin_is_named_as_a_line_of_the_spec_is(
    full: Repository, new: str, label: str, line: int
) -> None:
    full.write("mine.py", SETTING)
    full.write("pyproject.toml", PYPROJECT)
    full.keep()
    full.edit("pyproject.toml", ('level = "high"\n', new))
    text = " ".join(full.review().stdout.split())
    assert f"because of tool.tfgitops.settings.mine.{label} pyproject.toml:{line} env LEVEL high" in text
    assert f"`tool.tfgitops.settings.mine.{label}` would restart 4 trainings" in run("build").stderr
