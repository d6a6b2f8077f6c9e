"""The forms of texts in a spec: what is taken, what is refused, and how the refusal helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfgitops.spec.schema.formats import FORMATS, complain

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

GOOD = [
    ("allowed-code", "TF502"),
    ("allowed-code", "COST01"),
    ("amount", "0"),
    ("amount", "1.5Gi"),
    ("annotation-key", "volcano.sh/vgpu-mode"),
    ("config-key", "train.py"),
    ("cpu-amount", "500m"),
    ("day", "2028-02-29"),
    ("dns-label", "ml-prod"),
    ("dns-subdomain", "my.priority"),
    ("duration", "1h30m"),
    ("duration", "0.5h"),
    ("env-name", "BATCH_SIZE"),
    ("extended-resource", "amd.com/gpu"),
    ("extended-resource", "rdma/hca_shared_devices_a"),
    ("file-mode", 0),
    ("file-mode", "0400"),
    ("file-mode", "0o777"),
    ("git-revision", "release/1.10"),
    ("git-revision", "refs/tags/v1"),
    ("git-url", "https://git.example.com:8443/ml/trainings.git"),
    ("git-url", "ssh://git@git.example.com/~ml/trainings"),
    ("image", "tensorflow/tensorflow:2.21.0-gpu"),
    ("image", "registry.example.com:5000/a/b__c@sha256:" + "0" * 64),
    ("job-name", "a" * 50),
    ("label-key", "example.com/team"),
    ("label-value", ""),
    ("label-value", 7),
    ("path", "/data"),
    ("pin", "resnet-50-0123abcd"),
    ("port-name", "metrics"),
    ("positive-amount", "10Gi"),
    ("queue-name", "team.a"),
    ("reason", "the vendor has no digest"),
    ("registry", "registry.example.com:5000"),
    ("registry", "localhost/team"),
    ("quota-name", "requests.nvidia.com/gpu"),
    ("peer", "namespace"),
    ("selector-key", "tfgitops/job"),
    ("server-url", "https://10.0.0.1:6443"),
    ("resource-name", "nvidia.com/mig-1g.5gb"),
    ("resource-name", "hugepages-2Mi"),
    ("sub-path", "runs/$(RUN)"),
    ("task-name", "feeder"),
]
BAD = [
    ("allowed-code", "TF501", "cannot be allowed"),
    ("amount", "-1", "negative"),
    ("amount", "100MB", "100M"),
    ("amount", "500mi", "500m (thousandths) or 500Mi"),
    ("annotation-key", "tfgitops/rerun", "reserved"),
    ("config-key", "..", "key of a Secret"),
    ("cpu-amount", "8Gi", "write 8"),
    ("day", "2026-02-29", "YYYY-MM-DD"),
    ("day", "2026-02-28\n", "YYYY-MM-DD"),
    ("dns-label", "srl_V1", "srl-v1"),
    ("dns-subdomain", "A", "lower-case"),
    ("duration", "10 minutes", "10m"),
    ("duration", "-1h", "10m"),
    ("duration", "0s", "10m"),
    ("env-name", "TF_CONFIG", "the compiler writes it"),
    ("env-name", "VC_WORKER_HOSTS", "Volcano writes it"),
    ("env-name", "1A", "variable"),
    ("extended-resource", "cpu", "domain/name"),
    ("extended-resource", "amd/gpu", "amd.com/gpu"),
    ("extended-resource", "gpu", "amd.com/gpu"),
    ("extended-resource", "nvidia/mig-1g.5gb", "nvidia.com/mig-1g.5gb"),
    ("file-mode", 420, "0644 if it is decimal"),
    ("file-mode", 644, "0644 if it is octal"),
    ("file-mode", "01777", "0777"),
    ("file-mode", "rw", "octal"),
    ("git-revision", "", "such as main"),
    ("git-revision", "a..b", "such as main"),
    ("git-revision", "-main", "such as main"),
    ("git-revision", "a b", "such as main"),
    ("git-url", "", "https://HOST/PATH"),
    ("git-url", "trainings", "https://HOST/PATH"),
    ("git-url", "git@example.com:ml/t.git", "write ssh://git@example.com/ml/t.git"),
    ("git-url", "https://me:secret@example.com/t", "in a Secret"),
    ("git-url", "https://token@example.com/t", "in a Secret"),
    ("git-url", "ssh://git:secret@example.com/t", "in a Secret"),
    ("git-url", "file:///srv/git/t", "https://HOST/PATH"),
    ("git-url", "https://example.com/t?ref=main", "https://HOST/PATH"),
    ("pin", "resnet", "tfgitops pin"),
    ("pin", "resnet-0123ABCD", "tfgitops pin"),
    ("pin", "0123abcd", "tfgitops pin"),
    ("image", "https://docker.io/a/b:1", "docker.io/a/b:1"),
    ("image", "Team/App:1", "team/app:1"),
    ("image", "a b", "image reference"),
    ("image", "${IMAGE}", "expand the template before"),
    ("image", "registry/a:$TAG", "expand the template before"),
    ("image", "{{ image }}", "expand the template before"),
    ("image", "registry/a:<tag>", "expand the template before"),
    ("image", "a" * 2000, "it has 2000 characters; 1024 at most"),
    ("job-name", "a" * 51, "shorten it by 1"),
    ("job-name", "2024-bert", "job-2024-bert"),
    ("job-name", "Bert", "bert"),
    ("label-key", "volcano.sh/queue", "Volcano writes it"),
    ("label-key", "a b", "prefix"),
    ("label-value", "a b", "letters, digits"),
    ("path", "data", "starts with '/'"),
    ("path", "/a/../b", ".."),
    ("port-name", "tensorflow", "reserved"),
    ("port-name", "Metrics_1", "lower-case"),
    ("positive-amount", "0", "positive"),
    ("queue-name", "q" * 64, "63"),
    ("reason", " \t", "say why"),
    ("registry", "team", "docker.io/team"),
    ("quota-name", "nvidia.com/gpu", "requests.nvidia.com/gpu"),
    ("peer", "everybody", "{namespace: NAME"),
    ("selector-key", "a b", "prefix"),
    ("resource-name", "mem", "memory"),
    ("resource-name", "gpu", "nvidia.com/gpu"),
    ("server-url", "10.0.0.1", "https://HOST"),
    ("sub-path", "/a", "relative"),
    ("task-name", "Worker_A", "worker-a"),
]


@pytest.mark.parametrize(("form", "value"), GOOD)
def test_what_kubernetes_takes_is_taken(form: str, value: str | int) -> None:
    assert complain(form, value) is None


@pytest.mark.parametrize(("form", "value", "word"), BAD)
def test_what_it_refuses_is_refused_with_help(form: str, value: str | int, word: str) -> None:
    complaint = complain(form, value)
    assert complaint is not None
    assert word in f"{complaint.message} {complaint.expected} {complaint.hint}"


def test_every_form_is_tried_both_ways() -> None:
    assert {form for form, _ in GOOD} == set(FORMATS) == {form for form, _, _ in BAD}


def test_a_form_that_is_not_ours_is_an_annotation() -> None:
    assert complain("uuid", "x") is None


@pytest.mark.parametrize(
    ("spec", "code", "hint"),
    [
        ("jobs: {train: {image: tf, worker: {memory: 512m}}}", "TF502", "did you mean 512Mi?"),
        ("jobs: {train: {image: tf, worker: {memory: 16}}}", "TF502", "did you mean 16Gi?"),
        ("jobs: {train: {image: tf, worker: {memory: 100k}}}", "TF502", "with its unit, as in 500m cores or 10Gi"),
        ("jobs: {train: {image: tf, worker: 1, shm: 512m}}", "TF502", "did you mean 512Mi?"),
        ("jobs: {train: {image: tf, worker: {cpu: 500u}}}", "TF502", "as in 500m cores"),
        ("volumes: {log: {size: 100Ki, path: /log}}\njobs: {}", "TF502", "with its unit"),
        ("volumes: {log: {size: 10, path: /log}}\njobs: {}", "TF502", "did you mean 10Gi?"),
    ],
)
def test_a_size_in_the_wrong_unit_is_a_warning_that_names_the_right_one(
    compile_spec: Callable[[str], Result], spec: str, code: str, hint: str
) -> None:
    result = compile_spec(spec)
    assert (result.ok, result.codes) == (True, [code])
    assert hint in result.text


@pytest.mark.parametrize(
    "overlay",
    [
        "container: {image: '..x'}",
        "worker: {container: {image: '..x'}}",
        "pod: {spec: {initContainers: [{name: a, image: '..x'}]}}",
        "pod: {spec: {volumes: [{name: a, image: {reference: '..x'}}]}}",
    ],
)
def test_an_image_that_no_node_can_pull_is_refused_in_an_overlay_too(
    compile_spec: Callable[[str], Result], overlay: str
) -> None:
    result = compile_spec(f"jobs: {{train: {{image: tf, {overlay}, tasks: {{extra: 1}}}}}}")
    assert result.codes == ["TF203"]
    assert "'..x' is not an image reference" in result.text


@pytest.mark.parametrize("form", ["image", "registry"])
def test_a_refusal_is_short_however_long_the_value_is(form: str) -> None:
    complaint = complain(form, "A" * 200_000)
    assert complaint
    assert len(complaint.message + complaint.expected + complaint.hint) < 300
