"""Pinned jobs: their committed manifests stay byte for byte, are judged all the same, and keep what they need."""

from __future__ import annotations

import json
import random
import re
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from builder import GONE, cut, spec_with
from checkout import REPOSITORY
from commandline import run

from tfgitops import Object, Plugins, Problem, discover, hookimpl
from tfgitops.compiler.emit import emit
from tfgitops.planning.pinned import RefusedError, committed_job
from tfgitops.plugins.door import Plugin
from tfgitops.spec.committed import with_header
from tfgitops.targets.volcano.identity import digest_of
from tfgitops.testing import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tfgitops import Environment
    from tfgitops.testing import Result

SPEC = """\
queues: {vision: {parent: research, capability: {cpu: 8}}, research: {}}
volumes: {data: {size: 1Gi, access: ReadWriteMany, path: /data}}
defaults: {image: 'tf:2.21', queue: vision}
jobs:
  train:
    env: {RATE: 0.1, OUT: /data/$(RUN)}
    volumes: [data]
    worker: {replicas: 2, cpu: 2}
  other: {worker: {replicas: 1, cpu: 1}}
"""
JOB = "workloads/job-train.yaml"
CLAIM = "workloads/pvc-data.yaml"
VISION = "cluster-2/queue-vision.yaml"
RESEARCH = "cluster/queue-research.yaml"
GPUS = """\
jobs:
  train:
    image: tf
    worker: {replicas: 2, gpu: 1}
    tasks: {more: {replicas: 3, minAvailable: 1}}
  other: {image: tf, worker: 1}
"""
COMMITTED = sorted(
    path for place in ("environments", "tests/cases/ok") for path in (REPOSITORY / place).rglob("workloads/job-*.yaml")
)
MOVED_ON = spec_with(SPEC, {"defaults.image": "tf:2.22", "jobs.train.env.RATE": 0.2})
WITHOUT_DATA = spec_with(SPEC, {"volumes": GONE, "jobs.train.volumes": GONE})
WITHOUT_VISION = spec_with(SPEC, {"queues.vision": GONE, "defaults.queue": GONE})


def commit(result: Result) -> dict[str, str]:
    """Write what was compiled to where it is committed."""
    assert result.ok, result.text
    for path, text in result.files.items():
        target = result.compiled.folder / "manifests" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return result.files


def name_of(text: str) -> str:
    return str(yaml.safe_load(text)["metadata"]["name"])


def pinned(spec: str, text: str, job: str = "train") -> str:
    """Return a spec in which a job is pinned to the Job of a manifest."""
    return re.sub(rf"^  {job}:\n", f"  {job}:\n    pin: {name_of(text)}\n", spec, flags=re.MULTILINE)


def retrained(block: str) -> str:
    """Return the spec with other keys in the block of `train`."""
    return spec_with(SPEC, {f"jobs.train.{key}": value for key, value in yaml.safe_load(block).items()})


def headed(text: str) -> str:
    """Give the body of a manifest a header that vouches for it, as whoever forges one would."""
    first, _, rest = text.split("\n", 2)
    return f"{first}\n# sha256:{sha256(rest.encode()).hexdigest()}\n{rest}"


def renamed(text: str) -> str:
    """Give a changed manifest the name that it hashes to, and its header."""
    manifest = yaml.safe_load(text)
    old = manifest["metadata"]["name"]
    return headed(cut(text, old, f"{old.rpartition('-')[0]}-{digest_of(manifest)}"))


@pytest.fixture
def committed(compile_spec: Callable[..., Result]) -> dict[str, str]:
    return commit(compile_spec(SPEC))


# --- kept as it is ----------------------------------------------------------------------------------------------


def test_a_pinned_job_stays_as_it_was_committed(compile_spec: Callable[..., Result], committed: dict[str, str]) -> None:
    result = compile_spec(pinned(MOVED_ON, committed[JOB]))
    assert result.ok, result.text
    assert result.codes == []
    assert result.files[JOB] == committed[JOB]
    assert result.files["workloads/job-other.yaml"] != committed["workloads/job-other.yaml"]
    assert result.files.keys() == committed.keys()
    [planned] = [planned for planned in result.compiled.objects if planned.path == JOB]
    assert (planned.because, planned.text) == (("jobs", "train"), committed[JOB])


def test_without_the_pin_it_is_compiled_anew(compile_spec: Callable[..., Result], committed: dict[str, str]) -> None:
    assert name_of(compile_spec(MOVED_ON).files[JOB]) != name_of(committed[JOB])


def test_a_pin_alone_changes_no_byte_of_anything(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    assert compile_spec(pinned(SPEC, committed[JOB])).files == committed


def test_crlf_in_the_working_tree_is_no_change(compile_spec: Callable[..., Result], committed: dict[str, str]) -> None:
    result = compile_spec(pinned(MOVED_ON, committed[JOB]))
    path = result.compiled.folder / "manifests" / JOB
    path.write_bytes(committed[JOB].replace("\n", "\r\n").encode())
    result = compile_spec(pinned(MOVED_ON, committed[JOB]))
    assert result.files[JOB] == committed[JOB]
    assert f"stale  manifests/{JOB}" not in run("build", ".", "--check").stdout


@pytest.mark.parametrize(
    "block",
    [
        "image: ~",
        "queue: vanished",
        "volumes: [vanished]",
        "env: {RATE: $(PS_HOSTS)}",
        "worker: {replicas: 200, cpu: 2}",
        "command: 'a ${B} $(C'\nargs: [x]",
    ],
)
def test_what_is_wrong_with_a_block_that_is_not_in_force_is_not_said(
    block: str, compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    spec = retrained(block)
    assert not compile_spec(spec).ok
    result = compile_spec(pinned(spec, committed[JOB]))
    assert result.ok, result.text
    assert result.files[JOB] == committed[JOB]


@pytest.mark.parametrize(
    "roles",
    ["chief: {}\n    worker: 3", "worker: 1\n    ps: 1", "tasks: {feeder: {}}", "worker: {gpu: 2}\n    evaluator: {}"],
)
def test_a_block_may_have_other_roles_by_now(
    roles: str, compile_spec: Callable[..., Result], policies: Plugins
) -> None:
    """Plugins get the roles that the manifest has, so that they find each task's role beside it."""
    files = commit(compile_spec(GPUS, plugins=policies))
    start, stop = GPUS.index("worker:"), GPUS.index("  other:")
    spec = pinned(f"{GPUS[:start]}{roles}\n{GPUS[stop:]}", files[JOB])
    result = compile_spec(spec, plugins=policies)
    assert result.ok, result.text
    assert result.files[JOB] == files[JOB]
    assert result.compiled.environment is not None
    job = result.compiled.environment.by_name["train"]
    assert [(role.name, role.kind, role.replicas, role.min_available) for role in job.roles] == [
        ("worker", "worker", 2, 2), ("more", "task", 3, 1),
    ]  # fmt: skip
    assert job.environment is result.compiled.environment
    assert result.compiled.environment.by_name["other"].environment is result.compiled.environment


@pytest.mark.parametrize("change", ["imge: x", "env: 5", "from: nobody", "strategy: parameter-server"])
def test_a_block_must_still_be_a_job(
    change: str, compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    assert not compile_spec(pinned(retrained(change), committed[JOB])).ok


def test_a_job_that_is_taken_out_goes_with_its_pin(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    spec = pinned(SPEC, committed[JOB])
    start, stop = spec.index("  train:"), spec.index("  other:")
    assert compile_spec(spec[:start] + spec[stop:]).files.keys() == committed.keys() - {JOB}


def test_from_does_not_carry_a_pin(compile_spec: Callable[..., Result], committed: dict[str, str]) -> None:
    result = compile_spec(pinned(SPEC, committed[JOB]) + "  copy: {from: train, env: {RATE: 3}}\n")
    assert result.ok, result.text
    assert result.env("worker", "copy")["RATE"] == "3"
    assert result.files[JOB] == committed[JOB]


@pytest.mark.parametrize("key", ["pin: train-0123abcd", "rerun: 7"])
def test_extends_carries_neither_pin_nor_rerun(key: str, compile_spec: Callable[..., Result]) -> None:
    """pin-1: the environment that it extends has a run of its own."""
    other = spec_with(SPEC, {"jobs.train." + key.split(":", maxsplit=1)[0]: key.split()[1]})
    plain = compile_spec("extends: ../other/environment.yaml\n" + SPEC, {"../other/environment.yaml": SPEC})
    result = compile_spec("extends: ../other/environment.yaml\n" + SPEC, {"../other/environment.yaml": other})
    assert result.ok, result.text
    assert result.files == plain.files
    copied = compile_spec(
        "extends: ../other/environment.yaml\n" + spec_with(SPEC, {"jobs.copy.from": "train"}),
        {"../other/environment.yaml": other},
    )
    assert copied.ok, copied.text


@pytest.mark.parametrize("key", ["pin: train-0123abcd", "rerun: 7"])
def test_a_file_that_is_no_environment_has_nothing_to_pin_or_rerun(
    key: str, compile_spec: Callable[..., Result]
) -> None:
    base = f"{HEAD}jobs:\n  train:\n    {key}\n"
    result = compile_spec("extends: ../base.yaml\n" + MOVED_ON, {"../base.yaml": base})
    assert f"error[TF201]: no environment gets `{key.split(':', maxsplit=1)[0]}` from this file" in result.text
    assert "base.yaml:6:5" in result.text
    assert "write it below `jobs.train` of that environment" in result.text
    nothing = f"{HEAD}jobs: {{train: {{{key.split(':', maxsplit=1)[0]}: ~}}}}\n"
    assert compile_spec("extends: ../base.yaml\n" + MOVED_ON, {"../base.yaml": nothing}).ok


def test_a_file_of_jobs_may_pin_its_job_and_a_job_may_move_into_one(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    start, stop = SPEC.index("  train:"), SPEC.index("  other:")
    block = f"pin: {name_of(committed[JOB])}\nworker: 1\n"
    result = compile_spec(SPEC[:start] + SPEC[stop:], {"jobs/train.yaml": block})
    assert result.ok, result.text
    assert result.files[JOB] == committed[JOB]


def test_the_digest_of_a_block_does_not_know_of_the_pin(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    plain, frozen = compile_spec(SPEC).compiled, compile_spec(pinned(SPEC, committed[JOB])).compiled
    assert plain.environment is not None
    assert frozen.environment is not None
    assert plain.environment.by_name["train"].own == frozen.environment.by_name["train"].own


@pytest.mark.parametrize("gitops", ["argocd", "flux"])
def test_controllers_are_told_nothing_new(gitops: str, compile_spec: Callable[..., Result]) -> None:
    files = commit(compile_spec(SPEC))
    result = compile_spec(f"gitops: {gitops}\n" + pinned(SPEC, files[JOB]))
    assert result.files[JOB] == files[JOB]
    assert result.files[CLAIM] != files[CLAIM]


# --- what it needs ----------------------------------------------------------------------------------------------


def test_what_a_pinned_job_needs_is_kept_though_the_spec_has_dropped_it(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    spec = "defaults: {image: 'tf:2.21'}\njobs:\n  train:\n    worker: 1\n  other: {worker: 1}\n"
    assert sorted(compile_spec(spec).files) == ["workloads/job-other.yaml", JOB]
    result = compile_spec("kustomization: true\n" + pinned(spec, committed[JOB]))
    assert result.ok, result.text
    for path in (JOB, CLAIM, VISION, RESEARCH):
        assert result.files[path] == committed[path]
    assert result.manifest("workloads/kustomization.yaml")["resources"] == [
        "job-other.yaml", "job-train.yaml", "pvc-data.yaml",
    ]  # fmt: skip
    assert result.manifest("cluster-2/kustomization.yaml")["resources"] == ["queue-vision.yaml"]


def test_what_is_still_made_counts_as_it_is_made(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    result = compile_spec(pinned(spec_with(SPEC, {"volumes.data.size": "2Gi"}), committed[JOB]))
    assert result.manifest(CLAIM)["spec"]["resources"]["requests"]["storage"] == "2Gi"


def test_a_queue_that_has_moved_to_another_level_is_not_there_twice(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    result = compile_spec(pinned(spec_with(SPEC, {"queues.vision.parent": GONE}), committed[JOB]))
    assert result.ok, result.text
    assert VISION not in result.files
    assert "cluster/queue-vision.yaml" in result.files


def test_what_was_never_of_the_spec_is_left_to_the_cluster(compile_spec: Callable[..., Result]) -> None:
    spec = spec_with(SPEC, {"volumes.data": {"claim": "shared", "path": "/data"}})
    files = commit(compile_spec(spec))
    unmounted = spec_with(spec, {"jobs.train.volumes": GONE})
    assert compile_spec(pinned(unmounted, files[JOB])).files.keys() == files.keys()


def test_an_edited_file_that_a_pinned_job_needs_is_refused(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    spec = pinned(WITHOUT_DATA, committed[JOB])
    folder = compile_spec(spec).compiled.folder
    (folder / "manifests" / CLAIM).write_text(cut(committed[CLAIM], "1Gi", "9Gi"), encoding="utf-8")
    result = compile_spec(spec)
    assert result.codes == ["TF306"]
    assert "pvc-data.yaml was edited" in result.text
    assert "    pin: train-" in result.text


def test_a_kept_queue_is_judged_beside_the_others(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    """The queue above it has less now than it guarantees."""
    amounts = {"guarantee": {"cpu": 4}, "deserved": {"cpu": 4}}
    spec = spec_with(SPEC, {"queues.vision": {"parent": "research", **amounts}, "queues.research": amounts})
    files = commit(compile_spec(spec))
    less = spec_with(WITHOUT_VISION, {"queues.research": {"deserved": {"cpu": 2}}})
    result = compile_spec(pinned(less, files[JOB]))
    assert not result.ok
    shown = [d.span.excerpt.strip() for d in result.compiled.diagnostics if d.span]
    assert f"pin: {name_of(files[JOB])}" in shown


def test_a_pinned_gang_must_fit_the_queue_that_is_kept_for_it(compile_spec: Callable[..., Result]) -> None:
    spec = spec_with(SPEC, {"queues.vision.parent": GONE})
    files = commit(compile_spec(spec))
    folder = compile_spec(spec).compiled.folder
    small = headed(cut(files["cluster/queue-vision.yaml"], "'8'", "'3'"))
    assert small != files["cluster/queue-vision.yaml"]
    (folder / "manifests/cluster/queue-vision.yaml").write_text(small, encoding="utf-8")
    result = compile_spec(pinned(WITHOUT_VISION, files[JOB]))
    assert result.codes == ["QUEUE05"]
    assert "    pin: train-" in result.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: cut(text, "  weight: 1\n", "  weight: heavy\n"), "Volcano would refuse manifests/cluster-2/"),
        (lambda text: text[: text.index("spec:\n")], "queue-vision.yaml: it has no spec"),
        (lambda text: cut(text, "name: vision", "name: audio"), "does not hold the object that its name promises"),
    ],
    ids=["of a wrong kind", "without spec", "of another name"],
)
def test_a_forged_queue_that_a_pinned_job_needs_is_refused(
    change: Callable[[str], str], message: str, compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    spec = pinned(WITHOUT_VISION, committed[JOB])
    folder = compile_spec(spec).compiled.folder
    assert compile_spec(spec).files[VISION] == committed[VISION]
    (folder / "manifests" / VISION).write_text(headed(change(committed[VISION])), encoding="utf-8")
    result = compile_spec(spec)
    assert result.codes == ["TF306"]
    assert message in result.text


@pytest.mark.parametrize("change", ["another namespace", "no header"])
def test_what_is_not_what_a_pinned_job_refers_to_is_not_kept(
    change: str, compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    spec = pinned(WITHOUT_DATA, committed[JOB])
    folder = compile_spec(spec).compiled.folder
    text = committed[CLAIM].split("\n", 2)[2]
    if change == "another namespace":
        text = headed(cut(committed[CLAIM], "namespace: ml\n", "namespace: lab\n"))
    (folder / "manifests" / CLAIM).write_text(text, encoding="utf-8")
    result = compile_spec(spec)
    assert result.ok, result.text
    assert CLAIM not in result.files


def test_two_environments_cannot_both_have_what_is_kept(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    spec = pinned(WITHOUT_DATA, committed[JOB])
    folder = compile_spec(spec).compiled.folder
    other = folder.parent / "second"
    other.mkdir()
    volume = "volumes: {data: {size: 1Gi, path: /data}}\n"
    (other / "environment.yaml").write_text(f"{HEAD}cluster: test\n{volume}jobs: {{}}\n", encoding="utf-8")
    outcome = run("build", "..")
    assert outcome.exit_code == 1
    assert "PersistentVolumeClaim 'data' is written by" in outcome.stderr


class Policies:
    """A plugin that lets others reach a job, and looks at each role beside its task."""

    tfgitops_api = 1

    @hookimpl
    def tfgitops_check_manifests(
        self, environment: Environment, manifests: tuple[Mapping[str, Any], ...]
    ) -> Iterator[Problem]:
        for manifest in manifests:
            if job := environment.job_of(manifest):
                for role, task in zip(job.roles, manifest["spec"]["tasks"], strict=True):
                    if (role.name, role.replicas, role.min_available) != (
                        task["name"], task["replicas"], task["minAvailable"],
                    ):  # fmt: skip
                        yield Problem(code="ROLES", message=f"{role} is not {task['name']}", at=role.route)

    @hookimpl
    def tfgitops_objects(self, environment: Environment) -> Iterator[Object]:
        for job in environment.jobs:
            if port := job.get("labels"):
                spec = {
                    "podSelector": {"matchLabels": {"tfgitops/job": job.name}},
                    "ingress": [{"ports": [dict(port)]}],
                }
                policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": job.name}}
                yield Object({**policy, "spec": spec}, (*job.route, "labels"))


@pytest.fixture
def policies(plugins: Plugins) -> Plugins:
    return Plugins((*discover().plugins, Plugin("policies", Policies(), "1", "here")))


@pytest.mark.parametrize("now", [{}, {"jobs.train.labels": {"port": "new"}}], ids=["dropped", "changed"])
def test_what_selects_the_pods_of_a_pinned_job_stays_as_it_was(
    now: dict[str, Any], compile_spec: Callable[..., Result], policies: Plugins
) -> None:
    labelled = spec_with(SPEC, {"jobs.train.labels": {"port": "old"}})
    files = commit(compile_spec(labelled, plugins=policies))
    path = "workloads/networkpolicy-train.yaml"
    spec = spec_with(SPEC, now)
    assert compile_spec(spec, plugins=policies).files.get(path) != files[path]
    result = compile_spec(pinned(spec, files[JOB]), plugins=policies)
    assert result.ok, result.text
    assert result.files[path] == files[path]


class Shared:
    """Writes one ServiceAccount, however many jobs name it, labelled as they are."""

    @hookimpl
    def tfgitops_objects(self, environment: Environment) -> Iterator[Object]:
        for job in environment.jobs:
            if labels := job.get("labels"):
                metadata = {"name": "trainer", "labels": labels}
                account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
                yield Object(account, (*job.route, "labels"))


def test_what_a_job_that_is_not_pinned_asks_for_too_is_as_it_asks(compile_spec: Callable[..., Result]) -> None:
    plugins = Plugins((*discover().plugins, Plugin("shared", Shared(), "1", "here")))
    labelled = spec_with(SPEC, {"jobs.train.labels": {"team": "old"}})
    files = commit(compile_spec(labelled, plugins=plugins))
    labels = {"team": "new"}
    zebra = {"image": "tf", "worker": 1, "labels": labels}
    spec = spec_with(SPEC, {"jobs.train.labels": labels, "jobs.zebra": zebra})
    result = compile_spec(pinned(spec, files[JOB]), plugins=plugins)
    assert result.ok, result.text
    assert result.object("ServiceAccount", "trainer").labels["team"] == "new"


# --- what is refused --------------------------------------------------------------------------------------------


def test_one_changed_byte_is_refused(compile_spec: Callable[..., Result], committed: dict[str, str]) -> None:
    """Of the first line, what only Git knows is left out: the file of the job, and the digest of its block."""
    text = committed[JOB]
    first = text.split("\n", 1)[0]
    free = {*range(first.index("environment.yaml"), first.index(" jobs.")), *range(len(first) - 8, len(first))}
    assert committed_job("train", "ml", {JOB: text})
    for index in {*range(len(text))} - free:
        for changed in (chr(ord(text[index]) ^ 1), ""):
            with pytest.raises(RefusedError):
                committed_job("train", "ml", {JOB: text[:index] + changed + text[index + 1 :]})
    for changed in (text + "\n", text + " ", text + "#", text[:-1]):
        with pytest.raises(RefusedError):
            committed_job("train", "ml", {JOB: changed})


def test_a_changed_byte_is_shown_at_the_pin_and_writes_nothing(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    spec = pinned(SPEC, committed[JOB])
    folder = compile_spec(spec).compiled.folder
    (folder / "manifests" / JOB).write_text(cut(committed[JOB], "cpu: '2'", "cpu: '3'"), encoding="utf-8")
    for arguments in (["build", "."], ["build", ".", "--check"], ["validate", "."]):
        outcome = run(*arguments)
        assert outcome.exit_code == 1
        assert "TF306" in outcome.stderr
        assert "was edited" in outcome.stderr
        assert "pin: train-" in outcome.stderr
    assert "cpu: '3'" in (folder / "manifests" / JOB).read_text(encoding="utf-8")


FORGED = {
    "no header": (lambda text: text.split("\n", 2)[2], "has no header"),
    "no own digest": (lambda text: re.sub(r" own \w+\n", "\n", text, count=1), "lost its digest"),
    "another job": (lambda text: cut(text, "jobs.train;", "jobs.other;"), "names environment.yaml jobs.other"),
    "another namespace": (lambda text: headed(cut(text, "namespace: ml\n", "namespace: lab\n")), "namespace 'lab'"),
    "another label": (
        lambda text: headed(cut(text, "    tfgitops/job: train\n", "    tfgitops/job: x\n", 1)), "has not the label",
    ),
    "another spec": (lambda text: headed(cut(text, "cpu: '2'", "cpu: '3'")), "does not hash to its own name"),
    "another kind": (lambda text: headed(cut(text, "kind: Job\n", "kind: Queue\n")), "promises"),
    "another version": (lambda text: headed(cut(text, "v1alpha1", "v1")), "is no Volcano Job"),
    "no YAML": (lambda text: headed(text + "}{\n"), "cannot be read"),
    "no object": (lambda text: headed("\n".join([*text.split("\n")[:2], "- a", ""])), "promises"),
    "a value of a wrong type": (
        lambda text: headed(cut(text, "  maxRetry: 3", "  maxRetry: x", 1)), "Volcano would refuse",
    ),
    "labels of a wrong kind": (
        lambda text: headed(cut(text, "  labels:\n    tfgitops/job: train\n", "  labels: [a]\n", 1)), "would refuse",
    ),
    "a namespace of a wrong kind": (
        lambda text: headed(cut(text, "namespace: ml\n", "namespace: 5\n")), "would refuse",
    ),
    "a name of a wrong kind": (lambda text: headed(re.sub("  name: train-.*", "  name: 5", text, count=1)), "promises"),
    "tasks without anything": (
        lambda text: headed(text[: text.index("  tasks:\n")] + "  tasks:\n  - {}\n"), "a task its containers",
    ),
    "no tasks": (lambda text: headed(text[: text.index("  tasks:\n")]), "lacks its queue, or a task"),
    "tasks of a wrong kind": (lambda text: headed(text[: text.index("  tasks:\n")] + "  tasks: 5\n"), "would refuse"),
    "a task without pods": (
        lambda text: headed(text[: text.index("  tasks:\n")] + "  tasks:\n  - name: worker\n"), "a task its containers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGED)
def test_what_is_no_committed_manifest_of_the_job_is_refused(
    forgery: str, compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    forge, message = FORGED[forgery]
    spec = pinned(SPEC, committed[JOB])
    folder = compile_spec(spec).compiled.folder
    (folder / "manifests" / JOB).write_text(forge(committed[JOB]), encoding="utf-8")
    result = compile_spec(spec)
    assert result.codes == ["TF306"]
    assert message in result.text
    assert "    pin: train-" in result.text
    assert " = help: " in result.text


@pytest.mark.parametrize("way", ["link", "folder", "not there", "a link above"])
def test_what_is_no_file_is_not_committed(
    way: str, compile_spec: Callable[..., Result], committed: dict[str, str], tmp_path: Path
) -> None:
    spec = pinned(SPEC, committed[JOB])
    manifests = compile_spec(spec).compiled.folder / "manifests"
    elsewhere = tmp_path / "elsewhere"
    if way == "a link above":
        manifests.rename(elsewhere)
        manifests.symlink_to(elsewhere)
    else:
        (manifests / JOB).rename(elsewhere)
    if way == "link":
        (manifests / JOB).symlink_to(elsewhere)
    elif way == "folder":
        (manifests / JOB).mkdir()
    result = compile_spec(spec)
    assert result.codes == ["TF306"]
    assert "has no committed manifest" in result.text


def test_another_name_is_answered_with_the_one_that_is_committed(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    result = compile_spec(spec_with(SPEC, {"jobs.train.pin": "train-00000000"}))
    assert result.codes == ["TF306"]
    assert f"write `pin: {name_of(committed[JOB])}`" in result.text


def test_a_pinned_job_keeps_its_name(compile_spec: Callable[..., Result], committed: dict[str, str]) -> None:
    trainer = {"worker": 1, "pin": name_of(committed[JOB])}
    result = compile_spec(spec_with(SPEC, {"jobs.train": GONE, "jobs.trainer": trainer}))
    assert result.codes == ["TF306"]
    assert "is a Job of 'train': a pinned job keeps its name" in result.text


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("jobs: {a: {image: tf, worker: 1, pin: a}}", "'a' cannot be the name of a Job of ours"),
        ("jobs: {a: {image: tf, worker: 1, pin: a-0123ABCD}}", "cannot be the name"),
        ("jobs: {a: {image: tf, worker: 1, pin: 5}}", "'a.pin' must be text"),
        ("defaults: {pin: a-01234567}\njobs: {a: {image: tf, worker: 1}}", "only a job has `pin`"),
        ("jobs: {a: {image: tf, worker: {pin: a-01234567}}}", "`pin` belongs to the job"),
    ],
)
def test_a_pin_that_is_none(spec: str, message: str, compile_spec: Callable[..., Result]) -> None:
    result = compile_spec(spec)
    assert not result.ok
    assert message in result.text


def test_a_manifest_that_the_cluster_would_refuse_is_refused_though_pinned(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    """It was written by a compiler that knew less: it hashes to its name, and its digest is right."""
    forged = renamed(cut(committed[JOB], "restartPolicy: Never", "restartPolicy: Sometimes"))
    spec = pinned(SPEC, forged)
    folder = compile_spec(spec).compiled.folder
    (folder / "manifests" / JOB).write_text(forged, encoding="utf-8")
    result = compile_spec(spec)
    assert "TF501" in result.codes or "TF306" in result.codes
    assert "    pin: train-" in result.text


def test_a_fault_in_a_task_of_a_pinned_job_is_told_at_the_pin(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    line = "        restartPolicy: Never\n"
    forged = renamed(cut(committed[JOB], line, f"        priority: 10\n{line}"))
    spec = pinned(SPEC, forged)
    folder = compile_spec(spec).compiled.folder
    (folder / "manifests" / JOB).write_text(forged, encoding="utf-8")
    result = compile_spec(spec)
    assert result.codes == ["TF502"]
    assert "    pin: train-" in result.text


def test_a_manifest_without_what_we_always_write_is_judged(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    forged = renamed(re.sub(r"  plugins:\n(    .*\n)+", "", committed[JOB]))
    assert forged.count("plugins:") == 0
    spec = pinned(SPEC, forged)
    folder = compile_spec(spec).compiled.folder
    (folder / "manifests" / JOB).write_text(forged, encoding="utf-8")
    assert compile_spec(spec).files[JOB] == forged


def test_a_manifest_that_would_drift_is_refused_though_pinned(
    compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    forged = renamed(cut(committed[JOB], "  schedulerName: volcano\n", ""))
    spec = pinned(SPEC, forged)
    folder = compile_spec(spec).compiled.folder
    (folder / "manifests" / JOB).write_text(forged, encoding="utf-8")
    result = compile_spec(spec)
    assert set(result.codes) == {"TF502"}
    assert "    pin: train-" in result.text


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: f"{path.parents[2].name}-{path.stem}")
def test_every_committed_job_of_ours_can_be_pinned(path: Path) -> None:
    """What the emitter writes is read as it was planned, so that it hashes to its name."""
    text = path.read_text(encoding="utf-8")
    job, name = path.stem.removeprefix("job-"), name_of(text)
    found = committed_job(job, yaml.safe_load(text)["metadata"]["namespace"], {f"workloads/{path.name}": text}, name)
    assert found.reference == ("Job", name)
    assert found.manifest == yaml.safe_load(text)


def test_a_pinned_task_of_another_framework_is_no_role_of_tensorflow(compile_spec: Callable[..., Result]) -> None:
    spec = "jobs:\n  train:\n    image: a\n    strategy: none\n    tasks: {worker: 1}\n  tf: {image: a, worker: 1}\n"
    files = commit(compile_spec(spec))
    pins = {f"jobs.{job}.pin": name_of(files[f"workloads/job-{job}.yaml"]) for job in ("train", "tf")}
    environment = compile_spec(spec_with(spec, pins)).compiled.environment
    assert environment is not None
    assert {job.name: [role.kind for role in job.roles] for job in environment.jobs} == {
        "train": ["task"], "tf": ["worker"],
    }  # fmt: skip


VALUES = [None, True, 5, -1, "x", "", [], {}, [1], {"a": 1}, "1Gi", [{}], [None], {"name": "x"}, 2**40]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*at, key)
        yield from places(value[key], (*at, key))


def put_at(manifest: Any, at: tuple[Any, ...], value: Any) -> None:
    for key in at[:-1]:
        manifest = manifest[key]
    if value is None:
        del manifest[at[-1]]
    else:
        manifest[at[-1]] = value


@pytest.mark.parametrize("seed", range(4))
def test_a_forged_job_of_any_shape_is_judged_and_breaks_nothing(
    seed: int, compile_spec: Callable[..., Result], committed: dict[str, str]
) -> None:
    """It has a name that it hashes to and a header that vouches for it, and in one place anything at all."""
    chance = random.Random(seed)  # noqa: S311 - mistakes, not secrets
    folder = compile_spec(SPEC).compiled.folder
    for _ in range(40):
        manifest = yaml.safe_load(committed[JOB])
        at = chance.choice([at for at in places(manifest) if at not in (("metadata",), ("metadata", "name"))])
        put_at(manifest, at, chance.choice(VALUES))
        name = "train-01234567"
        if isinstance(manifest.get("spec"), dict) and isinstance(manifest["spec"].get("tasks"), list):
            with suppress(AttributeError):
                name = f"train-{digest_of(manifest)}"
        body = emit(json.loads(cut(json.dumps(manifest), manifest["metadata"]["name"], name)))
        (folder / "manifests" / JOB).write_text(with_header(body, "environment.yaml jobs.train", "01234567"))
        result = compile_spec(spec_with(SPEC, {"jobs.train.pin": name}))
        assert {code[:3] for code in result.codes} <= {"TF3", "TF5"}, (at, result.text)
        assert result.ok or f"    pin: {name}" in result.text


# --- build ------------------------------------------------------------------------------------------------------


def test_build_says_what_it_keeps(compile_spec: Callable[..., Result], committed: dict[str, str]) -> None:
    spec = pinned(WITHOUT_DATA, committed[JOB])
    compile_spec(spec)
    for arguments in (["build", "."], ["build", ".", "--check"]):
        outcome = run(*arguments)
        assert outcome.exit_code == 0, outcome.output
        assert "test: 2 jobs (1 pinned), 5 manifests (1 kept for pinned jobs): " in outcome.stdout
    lines = run("build", ".", "-v").stdout.splitlines()
    assert f"pinned  manifests/{JOB}" in lines
    assert f"kept  manifests/{CLAIM}  for the pinned job 'train'" in lines
    stream = run("build", ".", "--stdout").stdout
    assert committed[JOB] in stream
    assert committed[CLAIM] in stream


def test_without_pins_no_manifest_is_read(
    compile_spec: Callable[..., Result], committed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> dict[str, str]:
        raise AssertionError(folder)

    monkeypatch.setattr("tfgitops.spec.load.texts", refuse)
    assert compile_spec(MOVED_ON).ok


def test_the_header_of_a_forged_file_is_what_with_header_writes(committed: dict[str, str]) -> None:
    """The forgeries above are no better than what the compiler itself would write."""
    text = committed[JOB]
    body = text.split("\n", 2)[2]
    assert headed(text) == text == with_header(body, "environment.yaml jobs.train", text.split("\n")[0][-8:])
