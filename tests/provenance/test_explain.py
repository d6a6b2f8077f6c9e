"""`tfgitops explain`: what it says of objects and fields, as people and programs read it, and where it cannot."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import commandline
import pytest
from builder import GONE, spec_with
from checkout import REPOSITORY
from typer.testing import CliRunner

from tfgitops.cli import app
from tfgitops.provenance.fields import FieldError, candidates, find, written
from tfgitops.report.explanation import Paper
from tfgitops.targets.routes import nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    Golden = Callable[[str, Path], None]

GOLDEN = Path(__file__).parent / "explained"
CONTAINER = "spec.tasks[worker].template.spec.containers[tensorflow]"

LAYERED_BASE = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
defaults:
  image: registry/base:1
  worker: {cpu: 1, memory: 4Gi}
  pod: {spec: {enableServiceLinks: false}}
"""
LAYERED = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
extends: ../base.yaml
gitops: flux
queues:
  vision: {capability: {nvidia.com/gpu: 16}}
volumes:
  runs: {size: 10Gi, access: ReadWriteMany, path: /runs}
defaults:
  queue: vision
  image: registry/defaults:2
  env: {BATCH: 8, DEBUG: "1"}
jobs:
  big:
    command: [python, train.py]
    image: registry/big:3
    env: {BATCH: 256}
    volumes: [runs]
    worker: {replicas: 4, image: registry/worker:4, gpu: 2}
  small:
    from: big
    env: {DEBUG: null}
    maxRetry: 9
    pod: {spec: {enableServiceLinks: null, terminationGracePeriodSeconds: 60}}
    worker: {replicas: 2, container: {image: registry/overlay:5, imagePullPolicy: Always}}
"""

TELLING = {
    "the-objects": [],
    "a-job": ["small"],
    "a-queue": ["queue/vision"],
    "from-over-from": ["small", "spec.tasks[worker].replicas"],
    "overlay-over-role-over-job-over-defaults-over-base": ["small", f"{CONTAINER}.image"],
    "variable-of-from-over-defaults": ["small", f"{CONTAINER}.env[BATCH].value"],
    "short-form-in-the-base-file": ["small", f"{CONTAINER}.resources.limits.cpu"],
    "plugin-and-its-key": ["small", f"{CONTAINER}.resources.limits[nvidia.com/gpu]"],
    "mount-of-a-volume": ["small", f"{CONTAINER}.volumeMounts[runs].mountPath"],
    "queue-through-its-plugin": ["small", "spec.queue"],
    "discovery-and-all-roles": ["small", f"{CONTAINER}.env[TF_CONFIG].value"],
    "strategy": ["small", "spec.policies[PodFailed].action"],
    "annotation-for-the-controller": ["pvc/runs", "metadata.annotations[kustomize.toolkit.fluxcd.io/prune]"],
    "name": ["small", "metadata.name"],
    "a-map-with-the-place-of-each-line": ["small", f"{CONTAINER}.resources"],
}


def run(*arguments: str | Path, **environment: str) -> Any:
    return commandline.run("explain", *arguments, **environment)


def put(path: str, text: str) -> None:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a root whose one environment has a key in every layer."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    put("pyproject.toml", "[tool.tfgitops]\n")
    put("environments/base.yaml", LAYERED_BASE)
    put("environments/prod/environment.yaml", LAYERED)
    return tmp_path


@pytest.mark.parametrize("name", TELLING)
def test_what_it_says_is_what_a_person_wants_to_read(name: str, golden: Golden) -> None:
    result = run("environments/prod", *TELLING[name])
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    golden(result.stdout, GOLDEN / f"{name}.txt")


def test_every_text_that_is_expected_is_asked_for() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(TELLING)


def test_what_a_null_removed_is_shown_below_the_default(root: Path) -> None:
    put(
        "environments/prod/environment.yaml",
        spec_with(LAYERED, {"jobs.small.maxRetry": GONE, "jobs.small.queue": None}),
    )
    lines = run("environments/prod", "small", "spec.queue").stdout.splitlines()
    assert lines[2] == "  default"
    found = [re.split(" {2,}", line) for line in lines[4:] if not line.startswith(" " * 4)]
    assert found == [["", "job", "queue: null, which removes it"], ["", "defaults", "queue: vision"],
                     ["> compiler default", "default"]]  # fmt: skip


# --- OBJECT ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["pvc/runs", "PVC/runs", "persistentvolumeclaim/runs", "persistentvolumeclaims/runs", "pvcs/RUNS", "runs",
     "pvc-runs.yaml", "workloads/pvc-runs.yaml"],
)  # fmt: skip
def test_an_object_goes_by_all_its_names(name: str) -> None:
    assert run("environments/prod", name, "kind").stdout.startswith("pvc/runs  kind")


@pytest.mark.parametrize("name", ["small", "job/small", "jobs/small", "vcjob/small", "job-small.yaml"])
def test_so_does_a_job(name: str) -> None:
    assert run("environments/prod", name, "kind").stdout.startswith("job/small  kind")


def test_a_job_goes_by_the_name_of_its_object_too() -> None:
    name = run("environments/prod", "small", "metadata.name").stdout.splitlines()[2].strip()
    assert re.fullmatch("small-[0-9a-f]{8}", name)
    for wanted in (name, f"job/{name}"):
        assert run("environments/prod", wanted, "kind").stdout.startswith("job/small  kind")


def test_a_job_comes_before_what_is_called_alike_and_the_kind_tells_others_apart() -> None:
    queue = {"queues.vision": GONE, "queues.data": {}, "defaults.queue": "data"}
    put("environments/prod/environment.yaml", spec_with(LAYERED, {**queue, "jobs.runs": {"from": "big"}}))
    assert run("environments/prod", "runs", "kind").stdout.startswith("job/runs")
    assert run("environments/prod", "pvc/runs", "kind").stdout.startswith("pvc/runs")
    twins = spec_with(LAYERED, {"queues.vision": GONE, "queues.runs": {}, "defaults.queue": "runs"})
    put("environments/prod/environment.yaml", twins)
    result = run("environments/prod", "runs")
    assert result.exit_code == 1
    assert "several objects are called 'runs'" in result.stderr
    assert "say which: queue/runs, pvc/runs" in result.stderr


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [("smal", "'small'"), ("queue/visoin", "'queue/vision'"), ("visoin", "'vision'"), ("xyz", "`explain` lists them")],
)
def test_an_object_that_is_not_there_is_told_with_what_may_be_meant(wanted: str, hint: str) -> None:
    result = run("environments/prod", wanted)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error[TF701]: there is no object '{wanted}'" in result.stderr
    assert hint in result.stderr


# --- FIELD -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("spec.queeu", "did you mean 'spec.queue'?"),
        ("spec.tasks[wroker]", "did you mean 'spec.tasks[worker]'?"),
        (f"{CONTAINER}.env[BACTH]", f"did you mean '{CONTAINER}.env[BATCH]'?"),
        ("spec.tasks[7]", "it has worker"),
        ("xyz", "it has apiVersion, kind, metadata, spec"),
        ("spec.tasks[", "such as spec.tasks[worker].replicas"),
        ("worker.gpu", f"the spec's `worker.gpu` gives {CONTAINER}.resources.requests[nvidia.com/gpu] and "),
        ("worker.memory", f"gives {CONTAINER}.resources.requests.memory and {CONTAINER}.resources.limits.memory"),
    ],
)
def test_a_field_that_is_not_there_is_told_with_what_may_be_meant(wanted: str, hint: str) -> None:
    result = run("environments/prod", "small", wanted)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[TF701]: job/small: " in result.stderr
    assert hint in result.stderr


MANIFEST = {
    "metadata": {"annotations": {"a.b/c": "1", "plain": "2", "odd]": "3"}},
    "spec": {
        "tasks": [{"name": "ps", "replicas": 1}, {"name": "worker", "replicas": 2, "args": ["-m", "x"]}],
        "ports": [{"containerPort": 80}, {"containerPort": 90}],
        "mounts": [{"name": "a", "mountPath": "/1"}, {"name": "a", "mountPath": "/2"}],
        "image": "top",
    },
}


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("spec.tasks[worker].replicas", ("spec", "tasks", 1, "replicas")),
        (".spec.tasks[1].replicas", ("spec", "tasks", 1, "replicas")),
        ("spec.tasks.1.args[0]", ("spec", "tasks", 1, "args", 0)),
        ("spec.ports[90]", ("spec", "ports", 1)),
        ("spec.ports[1]", ("spec", "ports", 1)),
        ("spec.mounts[/2].name", ("spec", "mounts", 1, "name")),
        ("spec.mounts[a]", ("spec", "mounts", 0)),
        ('metadata.annotations["a.b/c"]', ("metadata", "annotations", "a.b/c")),
        ("metadata.annotations['a.b/c']", ("metadata", "annotations", "a.b/c")),
        ("metadata.annotations[a.b/c]", ("metadata", "annotations", "a.b/c")),
        ("metadata.annotations.a.b/c", ("metadata", "annotations", "a.b/c")),
        ("worker.replicas", ("spec", "tasks", 1, "replicas")),
        ("image", ("spec", "image")),
        (".", ()),
        ("", ()),
    ],
)
def test_a_field_is_found_as_people_write_it(text: str, route: tuple[str | int, ...]) -> None:
    assert find(MANIFEST, text) == route


@pytest.mark.parametrize("text", ["replicas", "spec..image", "spec.image.x", "spec.ports[81]", "[", "spec.tasks[ps"])
def test_a_field_that_could_be_several_or_none_is_refused(text: str) -> None:
    with pytest.raises(FieldError):
        find(MANIFEST, text)


def test_each_field_is_found_as_it_is_shown() -> None:
    for at in nodes(MANIFEST):
        assert find(MANIFEST, written(MANIFEST, at)) == at


# --- ENV ---------------------------------------------------------------------------------------------------------


def test_the_environment_may_be_its_folder_its_file_or_a_folder_of_this_one_alone() -> None:
    texts = {
        run(env, "small").stdout
        for env in ("environments/prod", "environments/prod/", "environments/prod/environment.yaml", "environments")
    }
    assert len(texts) == 1


def test_a_folder_of_several_environments_is_refused_with_their_names() -> None:
    shutil.copytree("environments/prod", "environments/dev")
    result = run("environments", "small")
    assert result.exit_code == 1
    assert "environments holds 2 environments" in result.stderr
    assert "name one of them, such as environments/dev" in result.stderr


@pytest.mark.parametrize("env", ["environments/prdo", "prod", "environments/dev/../prodd"])
def test_an_environment_that_is_not_there_is_told_with_what_may_be_meant(env: str) -> None:
    result = run(env)
    assert result.exit_code == 1
    assert f"error[TF101]: {env} is not there" in result.stderr
    assert "did you mean 'environments/prod'?" in result.stderr or ".." in env


def test_a_spec_that_does_not_compile_is_told_as_ever() -> None:
    put(
        "environments/prod/environment.yaml",
        spec_with(LAYERED, {"jobs.small.maxRetry": GONE, "jobs.small.maxRetyr": 9}),
    )
    result = run("environments/prod", "small")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "unknown key 'maxRetyr'" in result.stderr
    assert "did you mean 'maxRetry'?" in result.stderr


def test_what_was_planned_is_explained_though_it_would_be_refused() -> None:
    refused = spec_with(LAYERED, {"jobs.small.pod.spec.runtimeClassName": "A_B"})
    put("environments/prod/environment.yaml", refused)
    result = run("environments/prod", "small", "spec.tasks[worker].template.spec.runtimeClassName")
    assert result.exit_code == 1
    assert "> overlay  pod.spec.runtimeClassName: A_B" in result.stdout
    assert "error[TF501]" in result.stderr


def test_a_job_that_could_not_be_planned_is_not_called_unknown() -> None:
    put("environments/prod/environment.yaml", spec_with(LAYERED, {"jobs.small.worker.dependsOn": ["worker"]}))
    result = run("environments/prod", "small")
    assert result.exit_code == 1
    assert "the job 'small' could not be planned" in result.stderr
    assert run("environments/prod", "big", "spec.queue").stdout.startswith("job/big  spec.queue")


# --- how it is shown ---------------------------------------------------------------------------------------------


def test_it_writes_nothing(root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    for arguments in TELLING.values():
        run("environments/prod", *arguments)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--no-color",), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_are_for_those_who_ask(arguments: Any, environment: dict[str, str], *, coloured: bool) -> None:
    for wanted in TELLING.values():
        result = run("environments/prod", *wanted, *arguments, **environment)
        assert ("\x1b[" in result.stdout) is coloured
        plain = run("environments/prod", *wanted).stdout
        assert re.sub(r"\x1b\[[0-9;]*m", "", result.stdout) == plain


def test_escape_sequences_of_a_spec_do_not_reach_the_terminal() -> None:
    put("environments/prod/environment.yaml", spec_with(LAYERED, {"defaults.env.DEBUG": "\x1b[31m\a"}))
    for field in (f"{CONTAINER}.env[DEBUG].value", f"{CONTAINER}.env", "."):
        result = run("environments/prod", "big", field)
        assert result.exit_code == 0
        assert "\x1b" not in result.output
        assert "\a" not in result.output


def test_a_terminal_gets_long_lines_cut_and_a_pipe_whole() -> None:
    whole = run("environments/prod", "small", f"{CONTAINER}.env").stdout
    assert max(map(len, whole.splitlines())) > 200
    paper = Paper(width=72, cut=True)
    assert paper.cut_to("x" * 100, 30) == "x" * 41 + "…"
    assert Paper(width=72).cut_to("x" * 100, 30) == "x" * 100


def test_json_of_a_field_has_the_chain() -> None:
    result = run("environments/prod", "small", "spec.tasks[worker].replicas", "--format", "json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert (told["version"], told["problems"], told["object"]) == (1, [], "job/small")
    [field] = told["fields"]
    assert (field["field"], field["value"]) == ("spec.tasks[worker].replicas", 2)
    assert field["route"] == ["spec", "tasks", 0, "replicas"]
    assert [(origin["layer"], origin["value"], origin["won"]) for origin in field["origins"]] == [
        ("role", 2, True), ("from big", 4, False), ("compiler default", 1, False)
    ]  # fmt: skip
    line = LAYERED.splitlines()[field["origins"][0]["line"] - 1]
    assert line[field["origins"][0]["column"] - 1] == "2"


def test_json_of_all_else() -> None:
    told = json.loads(run("environments/prod", "--format", "json").stdout)
    assert [row["object"] for row in told["objects"]] == ["queue/vision", "job/big", "job/small", "pvc/runs"]
    told = json.loads(run("environments/prod", "small", "--format", "json").stdout)
    job = told["job"]
    assert job["strategy"] == {"name": "multi-worker", "why": "2 replicas train together without a ps"}
    assert (job["pods"], job["minAvailable"]) == (2, 2)
    assert job["total"] == {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "4"}
    assert job["roles"] == [
        {
            "name": "worker", "pods": 2, "requests": {"cpu": "1", "memory": "4Gi", "nvidia.com/gpu": "2"},
            "images": ["registry/overlay:5"], "file": "environments/prod/environment.yaml", "line": 25, "column": 5,
        }
    ]  # fmt: skip
    assert [base["name"] for base in job["bases"]] == ["from big", "defaults", "defaults"]
    told = json.loads(run("environments/prod", "small", ".", "--format", "json").stdout)
    assert len(told["fields"]) > 40


HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
FOREVER = "runs until you remove it from the spec"


@pytest.mark.parametrize(
    ("job", "end"),
    [
        ("strategy: in-graph, worker: 2", FOREVER),
        ("strategy: in-graph, ps: 1, worker: 2", FOREVER),
        ("strategy: in-graph, worker: 2, evaluator: 1", FOREVER),
        ("strategy: in-graph, worker: 2, tasks: {a: 1, b: 1}", FOREVER),
        ("strategy: in-graph, worker: 2, tasks: {a: 1}, completes: all", FOREVER),
        ("strategy: in-graph, worker: 2, tasks: {a: 1}", "ends when all pods of a have completed"),
        ("strategy: in-graph, worker: 2, chief: 1", "ends when all pods of chief have completed"),
        ("strategy: in-graph, worker: 2, completes: worker", "ends when all pods of worker have completed"),
        ("tasks: {a: 1, b: 1}", "completes only when all pods of all its tasks have ended"),
        ("worker: 2, policies: [{event: TaskCompleted, action: RestartJob}]", "ends when all pods of worker"),
        (
            "tasks: {a: 1, b: 1}, policies: [{event: TaskCompleted, action: TerminateJob}]",
            "ends when all pods of a or b have completed",
        ),
    ],
)
def test_how_a_job_ends_is_said_as_in_the_docs(job: str, end: str) -> None:
    put("environments/x/environment.yaml", f"{HEAD}jobs: {{train: {{image: a, {job}}}}}\n")
    told = json.loads(run("environments/x", "train", "--format", "json").stdout)["job"]
    assert told["end"].startswith(end)
    assert FOREVER in (REPOSITORY / "docs/spec.md").read_text()
    assert f"the job {told['end']}\n" in run("environments/x", "train").stdout


def test_json_of_problems_is_json_too() -> None:
    told = json.loads(run("environments/prod", "smal", "--format", "json").stdout)
    assert told["problems"][0]["hint"] == "did you mean 'small'?"


# --- completion --------------------------------------------------------------------------------------------------


def offered(*words: str) -> list[str]:
    """Return what a shell offers for the last of some words."""
    environment = {
        "_TFGITOPS_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(["tfgitops", "explain", *words]),
        "COMP_CWORD": str(len(words) + 1),
    }  # fmt: skip
    result = CliRunner().invoke(app, [], env=environment, prog_name="tfgitops")
    assert result.stderr == ""
    return str(result.stdout).split()


def test_the_shell_offers_environments_objects_and_fields() -> None:
    assert offered("") == ["environments/prod"]
    assert offered("environments/p") == ["environments/prod"]
    assert offered("environments/prod", "") == ["big", "small", "queue/vision", "job/big", "job/small", "pvc/runs"]
    assert offered("environments/prod", "pvc") == ["pvc/runs"]
    assert offered("environments/prod", "small", "spec.que") == ["spec.queue"]
    assert "spec.tasks[worker]" in offered("environments/prod", "small", "spec.ta")


@pytest.mark.parametrize("words", [("nowhere/x", ""), ("environments/prod", "nothing", "spec"), ("nowhere/",)])
def test_the_shell_is_offered_nothing_where_there_is_nothing(words: tuple[str, ...]) -> None:
    assert offered(*words) == []


def test_the_shell_is_offered_nothing_of_a_spec_that_does_not_compile() -> None:
    put("environments/prod/environment.yaml", "{")
    assert offered("environments/prod", "s") == []


def test_a_field_goes_on_by_one_step_and_by_two_where_there_is_one_way() -> None:
    assert candidates(MANIFEST, "sp") == ["spec", *(f"spec.{key}" for key in ("image", "ports", "mounts", "tasks"))]
    assert candidates(MANIFEST, "spec.tasks[") == ["spec.tasks[ps]", "spec.tasks[worker]"]
    assert candidates(MANIFEST, "spec.nothing") == []


@pytest.mark.parametrize(
    ("begun", "offered"),
    [
        ("worker.env[", ["worker.env[BATCH]", "worker.env[LR]"]),
        ("worker.env[B", ["worker.env[BATCH]"]),
        ("worker.en", ["worker.env"]),
        ("worker.env[LR].", ["worker.env[LR].name", "worker.env[LR].value"]),
        ("nam", ["name"]),
        ("worker.nothing[", []),
        ("worker.env].[", []),
    ],
)
def test_a_field_without_the_names_on_the_way_goes_on_as_it_was_begun(begun: str, offered: list[str]) -> None:
    env = [{"name": "BATCH", "value": "1"}, {"name": "LR", "value": "2"}]
    tasks = [{"name": "ps"}, {"name": "worker", "template": {"spec": {"containers": [{"name": "tf", "env": env}]}}}]
    assert candidates({"spec": {"tasks": tasks}}, begun) == offered


def test_the_living_example_can_be_asked_from_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(REPOSITORY / "environments" / "prod", "resnet", "worker.image")
    assert result.exit_code == 0
    assert f"{REPOSITORY}/environments/base.yaml:" in result.stdout
