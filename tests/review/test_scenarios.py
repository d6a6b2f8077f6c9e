"""A change in a repository with a history is told as what it will do; the golden texts are for reading."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from builder import spec_with
from commandline import run
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Callable

    from repository import Repository

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "review.schema.json").read_text(encoding="utf-8"))
PROD_SPEC = "environments/prod/environment.yaml"


def _image_bump_in_one_job(repository: Repository) -> None:
    repository.prod(("  bert:\n", "  bert:\n    image: registry.example.com/tf:2.22\n"))


def _bump_in_defaults(repository: Repository) -> None:
    repository.base(("tf:2.21", "tf:2.22"))


def _replicas_without_discovery(repository: Repository) -> None:
    repository.prod(("{replicas: 4, cpu: 2", "{replicas: 6, cpu: 2"))


def _replicas_of_a_cluster(repository: Repository) -> None:
    repository.prod(("{replicas: 2, cpu: 8, gpu: 2}", "{replicas: 3, cpu: 8, gpu: 2}"))


def _priority_class(repository: Repository) -> None:
    repository.prod(("  bert:\n", "  bert:\n    priorityClassName: urgent\n"))


def _storage_class(repository: Repository) -> None:
    repository.prod(("storageClass: fast", "storageClass: slow"))


def _claim_grows(repository: Repository) -> None:
    repository.prod(("size: 10Gi", "size: 20Gi"))


def _rename(repository: Repository) -> None:
    repository.prod(("  bert:\n", "  bert-large:\n"))


def _removal(repository: Repository) -> None:
    text = repository.read(PROD_SPEC)
    start, end = text.index("  resnet:"), text.index("  shards:")
    repository.write(PROD_SPEC, text[:start] + text[end:])


def _another_environment(repository: Repository) -> None:
    text = repository.read(PROD_SPEC)
    repository.write("environments/test/environment.yaml", spec_with(text, {"cluster": "eu-2"}))


def _environment_removed(repository: Repository) -> None:
    (repository.top / PROD_SPEC).unlink()
    text = repository.git("show", f"main:{PROD_SPEC}")
    repository.write("environments/test/environment.yaml", spec_with(text, {"cluster": "eu-2"}))


def _variable_removed(repository: Repository) -> None:
    repository.prod(("    env: {LR: 0.1}\n", ""))


def _another_queue(repository: Repository) -> None:
    repository.prod(
        ("  vision: {capability", "  speech: {}\n  vision: {capability"),
        ("  resnet:\n", "  resnet:\n    queue: speech\n"),
    )


def _a_queue_moves_below_another(repository: Repository) -> None:
    repository.prod(("  vision: {capability", "  all: {}\n  vision: {parent: all, capability"))


def _fewer_replicas(repository: Repository) -> None:
    repository.prod(("shard: {replicas: 4,", "shard: {replicas: 2,"))


def _split_queue(repository: Repository) -> None:
    below = "".join(f"  {name}: {{parent: vision, capability: {{nvidia.com/gpu: 4}}}}\n" for name in ("faces", "texts"))
    repository.prod(("volumes:\n  logs", f"{below}volumes:\n  logs"), ("  queue: vision\n", "  queue: faces\n"))


def _moved_shares(repository: Repository) -> None:
    below = "".join(f"  {name}: {{parent: vision, deserved: {{nvidia.com/gpu: 4}}}}\n" for name in ("faces", "texts"))
    repository.prod(
        ("gpu: 8}}\n", f"gpu: 8}}, deserved: {{nvidia.com/gpu: 8}}}}\n{below}"),
        ("  queue: vision\n", "  queue: faces\n"),
    )
    repository.build("--restart-all", "--queues-at-once")
    repository.commit("two levels")
    repository.git("branch", "--quiet", "--force", "main")
    text = repository.read(PROD_SPEC).replace("gpu: 8}", "gpu: 6}").replace("gpu: 4}", "gpu: 3}")
    repository.write(PROD_SPEC, text)


def _revert(repository: Repository) -> None:
    _image_bump_in_one_job(repository)
    repository.keep()
    repository.prod(("    image: registry.example.com/tf:2.22\n", ""))


def _moved_folder(repository: Repository) -> None:
    shutil.move(repository.top / "environments/prod", repository.top / "environments/live")


def _many_things(repository: Repository) -> None:
    _bump_in_defaults(repository)
    _priority_class(repository)
    _storage_class(repository)
    _replicas_of_a_cluster(repository)
    _variable_removed(repository)


SCENARIOS: dict[str, Callable[[Repository], None]] = {
    "image": _image_bump_in_one_job,
    "defaults": _bump_in_defaults,
    "scale": _replicas_without_discovery,
    "replicas": _replicas_of_a_cluster,
    "priority": _priority_class,
    "storage-class": _storage_class,
    "claim-grows": _claim_grows,
    "scale-down": _fewer_replicas,
    "split-queue": _split_queue,
    "shares": _moved_shares,
    "revert": _revert,
    "moved": _moved_folder,
    "rename": _rename,
    "removal": _removal,
    "new": _another_environment,
    "gone": _environment_removed,
    "variable": _variable_removed,
    "queue": _another_queue,
    "parent": _a_queue_moves_below_another,
    "many": _many_things,
}


def _verdicts(repository: Repository) -> dict[str, str]:
    document = json.loads(repository.review("--format", "json").stdout)
    return {change["name"]: change["verdict"] for one in document["environments"] for change in one["changes"]}


def _causes(repository: Repository) -> dict[str, list[str]]:
    document = json.loads(repository.review("--format", "json").stdout)
    return {
        change["name"]: [
            f"{'.'.join(map(str, cause['route']))} {cause['file']}:{cause['line']}" for cause in change["causes"]
        ]
        for one in document["environments"]
        for change in one["changes"]
        if change["verdict"] == "new run"
    }


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_golden(repository: Repository, golden: Callable[[str, Path], None], name: str, form: str) -> None:
    SCENARIOS[name](repository)
    result = repository.review("--format", form)
    assert result.exit_code == 0, result.output
    text = result.stdout.replace(repository.git("rev-parse", "main").strip()[:10], "0123456789")
    if form == "json":
        Draft202012Validator(SCHEMA).validate(json.loads(result.stdout))
    else:
        golden(text, GOLDEN / f"{name}.{'md' if form == 'markdown' else 'txt'}")
        assert form == "markdown" or max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("image", {"bert": "new run"}),
        ("defaults", {"bert": "new run", "resnet": "new run", "shards": "new run"}),
        ("scale", {"shards": "in place"}),
        ("replicas", {"resnet": "new run"}),
        ("priority", {"bert": "in place"}),
        ("storage-class", {"logs": "refused"}),
        ("claim-grows", {"logs": "in place"}),
        ("rename", {"bert-large": "renamed"}),
        ("removal", {"resnet": "removed"}),
        ("variable", {"resnet": "new run"}),
        ("queue", {"resnet": "new run", "speech": "added"}),
        ("parent", {"all": "added", **dict.fromkeys(("vision", "bert", "logs", "resnet", "shards"), "in place")}),
    ],
)
def test_verdicts(repository: Repository, name: str, expected: dict[str, str]) -> None:
    SCENARIOS[name](repository)
    assert _verdicts(repository) == expected


def test_a_bump_in_defaults_is_one_cause_of_many_runs(repository: Repository) -> None:
    _bump_in_defaults(repository)
    assert set(map(tuple, _causes(repository).values())) == {("defaults.image environments/base.yaml:4",)}


@pytest.mark.parametrize(
    ("name", "job", "cause"),
    [
        ("image", "bert", f"jobs.bert.image {PROD_SPEC}:16"),
        ("replicas", "resnet", f"jobs.resnet.worker.replicas {PROD_SPEC}:21"),
        ("queue", "resnet", f"jobs.resnet.queue {PROD_SPEC}:20"),
    ],
)
def test_the_line_that_caused_a_run(repository: Repository, name: str, job: str, cause: str) -> None:
    SCENARIOS[name](repository)
    assert _causes(repository)[job] == [cause]


def _remove_in_base(repository: Repository) -> None:
    repository.base(("  image:", "  env: {A: 1, B: 2}\n  image:"))
    repository.build("--restart-all")
    repository.commit("variables")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.base(("env: {A: 1, B: 2}", "env: {B: 2}"))


def _remove_by_null(repository: Repository) -> None:
    repository.base(("  image:", "  env: {A: 1, B: 2}\n  image:"))
    repository.build("--restart-all")
    repository.commit("variables")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.prod(("defaults:\n", "defaults:\n  env: {A: null}\n"))


def _remove_of_a_volume(repository: Repository) -> None:
    repository.prod(("path: /logs}", "path: /logs, subPath: a}"))
    repository.build("--restart-all")
    repository.commit("subPath")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.prod((", subPath: a}", "}"))


def _unpinned(repository: Repository) -> None:
    repository.base(("tf:2.21", "tf:2.22"))
    repository.build("--pin-rest")
    repository.commit("pinned")
    repository.git("checkout", "--quiet", "-B", "main")
    assert run("unpin", "environments/prod", "bert").exit_code == 0


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (_remove_in_base, "defaults.env.A environments/base.yaml:4 removed"),
        (_remove_by_null, f"defaults.env.A {PROD_SPEC}:12 added"),
        (_remove_of_a_volume, f"volumes.logs.subPath {PROD_SPEC}:10 removed"),
        (_unpinned, f"jobs.bert.pin {PROD_SPEC}:15 removed"),
    ],
)
def test_what_is_no_longer_said_is_a_cause(
    repository: Repository, change: Callable[[Repository], None], cause: str
) -> None:
    change(repository)
    document = json.loads(repository.review("--format", "json").stdout)
    (bert,) = [one for one in document["environments"][0]["changes"] if one["name"] == "bert"]
    assert [
        f"{'.'.join(map(str, one['route']))} {one['file']}:{one['line']} {'removed' if one['removed'] else 'added'}"
        for one in bert["causes"]
    ] == [cause]


def test_what_no_line_of_the_spec_changed_is_not_blamed_on_one(repository: Repository) -> None:
    plugin = repository.top / "plugins" / "mine.py"
    repository.write("pyproject.toml", "[tool.tfgitops]\nplugins = ['plugins/mine.py']\n")
    repository.write("plugins/mine.py", "tfgitops_api = 1\n")
    assert run("lock").exit_code == 0
    repository.commit("plugin")
    repository.git("checkout", "--quiet", "-B", "main")
    plugin.write_text(
        "from tfgitops import hookimpl\ntfgitops_api = 1\n@hookimpl\ndef tfgitops_contribute(job):\n"
        "    for role in job.roles:\n        yield role.container({'stdin': True}, 'image')\n",
        encoding="utf-8",
    )
    repository.prod(("size: 10Gi", "size: 20Gi"))  # another line of the same file
    assert set(map(tuple, _causes(repository).values())) == {()}
    text = repository.review().stdout
    assert "another version of the compiler or of a plugin" in " ".join(text.split())
    assert "plugins/mine.py" in text


SCRATCH = """
from tfgitops import SchemaFragment, hookimpl

tfgitops_api = 1

@hookimpl
def tfgitops_schema():
    yield SchemaFragment("job", "scratch", {"type": "object"})

@hookimpl
def tfgitops_contribute(job):
    if block := job.get("scratch"):
        label = "-".join(str(block[key]) for key in ("disk", "folder"))
        for role in job.roles:
            yield role.pod({"metadata": {"labels": {"example.com/scratch": label}}}, "scratch")
"""


def test_of_the_values_that_a_field_was_made_of_the_one_that_changed_is_the_cause(repository: Repository) -> None:
    repository.write("pyproject.toml", '[tool.tfgitops]\nplugins = ["scratch.py"]\n')
    repository.write("scratch.py", SCRATCH)
    repository.prod(("  bert:\n", "  bert:\n    scratch: {disk: ssd, folder: a}\n"))
    repository.build("--restart-all")
    repository.commit("scratch")
    repository.git("branch", "--quiet", "--force", "main")
    repository.prod(("folder: a", "folder: b"))
    assert _causes(repository) == {"bert": [f"jobs.bert.scratch.folder {PROD_SPEC}:16"]}


def test_what_is_built_and_committed_is_told_alike(repository: Repository) -> None:
    _image_bump_in_one_job(repository)
    before = repository.review("--format", "json").stdout
    assert 'differences": []' not in before
    repository.build()
    repository.commit("bump")
    after = repository.review("--format", "json").stdout
    assert json.loads(after)["environments"][0]["changes"] == json.loads(before)["environments"][0]["changes"]
    assert json.loads(after)["environments"][0]["differences"] == []


def test_it_is_the_merge_base_that_is_compared_with(repository: Repository) -> None:
    _image_bump_in_one_job(repository)
    repository.build()
    repository.commit("bump")
    repository.git("checkout", "--quiet", "main")
    _priority_class(repository)
    repository.build()
    repository.commit("elsewhere")
    repository.git("checkout", "--quiet", "change")
    assert _verdicts(repository) == {"bert": "new run"}


def test_a_revert_returns_and_will_run_again(repository: Repository) -> None:
    first = repository.manifest("bert")
    _image_bump_in_one_job(repository)
    repository.build()
    repository.commit("bump")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.prod(("    image: registry.example.com/tf:2.22\n", ""))
    repository.build()
    assert repository.manifest("bert") == first
    document = json.loads(repository.review("--format", "json").stdout)
    returns = [risk for risk in document["risks"] if risk["code"] == "returns"]
    assert len(returns) == 1
    assert "it will run again" in returns[0]["message"]


def test_a_queue_below_its_gang_is_an_error_and_the_review_says_so(repository: Repository) -> None:
    repository.prod(("nvidia.com/gpu: 8", "nvidia.com/gpu: 2"))
    result = repository.review()
    assert result.exit_code == 1
    assert "QUEUE05" in result.stderr
    assert "does not compile" in result.stdout


def test_exit_code(repository: Repository) -> None:
    assert repository.review("--exit-code").exit_code == 0
    _priority_class(repository)
    assert repository.review().exit_code == 0
    assert repository.review("--exit-code").exit_code == 1


def test_nothing_is_written(repository: Repository) -> None:
    _many_things(repository)
    before = repository.git("status", "--porcelain", "--ignored")  # which writes to the index itself
    stamps = {path: path.stat().st_mtime_ns for path in repository.top.rglob("*")}
    repository.review()
    assert {path: path.stat().st_mtime_ns for path in repository.top.rglob("*")} == stamps
    assert repository.git("status", "--porcelain", "--ignored") == before


def test_parents_that_shrink_before_their_children_are_refused(repository: Repository) -> None:
    """Volcano is asked for the parent first, whose child is as it was; together they fit before and after."""
    tree = {"all": {"capability": {"cpu": 100}}, "vision": {"parent": "all", "capability": {"cpu": 90}}}
    repository.write(PROD_SPEC, spec_with(repository.read(PROD_SPEC), {"queues": tree}))
    repository.build("--restart-all")
    repository.commit("tree")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.prod(("cpu: 100", "cpu: 80"), ("cpu: 90", "cpu: 70"))
    assert _verdicts(repository)["all"] == "refused"
    repository.prod(("cpu: 80", "cpu: 200"), ("cpu: 70", "cpu: 150"))
    assert _verdicts(repository) == {"all": "in place", "vision": "in place"}


def _totals(repository: Repository, queue: str) -> dict[str, Any]:
    document = json.loads(repository.review("--format", "json").stdout)
    found = next(one for one in document["queues"] if one["name"] == queue)
    return {amount["resource"]: (amount["before"], amount["after"]) for amount in found["amounts"]}


def test_a_queue_has_the_capability_above_it_for_what_it_leaves_out(repository: Repository) -> None:
    tree = {
        "all": {"capability": {"cpu": 90, "nvidia.com/gpu": 16}},
        "vision": {"parent": "all", "capability": {"cpu": 0}},
    }
    repository.write(PROD_SPEC, spec_with(repository.read(PROD_SPEC), {"queues": tree}))
    document = json.loads(repository.review("--format", "json").stdout)
    (vision,) = (one for one in document["queues"] if one["name"] == "vision")
    after = {amount["resource"]: amount["capability"]["after"] for amount in vision["amounts"]}
    assert after == {"nvidia.com/gpu": "16", "cpu": "90"}


def test_totals_are_over_all_environments_of_a_cluster(repository: Repository) -> None:
    assert _totals(repository, "vision") == {"nvidia.com/gpu": ("6", "6"), "cpu": ("32", "32")}
    more = spec_with(repository.read(PROD_SPEC), {"queues.vision": {"external": True}, "namespace": "more"})
    repository.write("environments/more/environment.yaml", more)
    assert _totals(repository, "vision") == {"nvidia.com/gpu": ("6", "12"), "cpu": ("32", "64")}
    repository.build()
    repository.commit("more")
    repository.git("checkout", "--quiet", "-B", "main")
    document = json.loads(run("review", "environments/prod", "--against", "main", "--format", "json").stdout)
    assert [one["name"] for one in document["environments"]] == ["environments/prod"]
    (vision,) = document["queues"]
    assert vision["jobs"] == {"before": 6, "after": 6}  # those of the environment beside it are in the same queue


def test_the_page_shows_the_guard_and_a_review_as_they_are(repository: Repository) -> None:
    page = (Path(__file__).parents[2] / "docs" / "review.md").read_text(encoding="utf-8")
    guard, review = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    _bump_in_defaults(repository)
    assert guard in run("build").stderr
    assert review == (GOLDEN / "many.txt").read_text(encoding="utf-8")


def test_a_policy_of_a_role_is_told_from_the_jobs_own(repository: Repository) -> None:
    """A cluster of one pod has its policy at the task, a larger one at the job."""
    repository.prod(("worker: {replicas: 2, cpu: 8", "worker: {replicas: 1, cpu: 8"))
    text = repository.review().stdout
    assert "\n      policies[PodFailed] (gone)\n" in text
    assert "\n      worker: policies[PodFailed] (new)\n" in text


def test_a_scale_down_says_what_goes_on_and_what_it_takes(repository: Repository) -> None:
    policies = "policies: [{event: PodEvicted, action: RestartPod}]"
    repository.prod(("cpu: 2, minAvailable: 1}", f"cpu: 2, minAvailable: 1, {policies}}}"))
    repository.keep()
    _fewer_replicas(repository)
    text = " ".join(repository.review().stdout.split())
    assert "2 pods end, and the others keep running; Volcano treats 2 removed pods of shard as evicted, and" in text
