"""A Job's name says all that cannot change in place, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfgitops.targets.volcano.identity import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

BASE = "image: a, command: [x], worker: 2, tasks: {feed: 2}"


def _name(compile_spec: Callable[[str], Result], job: str) -> str:
    return str(compile_spec(f"jobs: {{train: {{{job}}}}}").job()["metadata"]["name"])


def test_the_digest_can_be_checked_from_the_manifest_alone(compile_spec: Callable[[str], Result]) -> None:
    manifest = compile_spec(f"jobs: {{train: {{{BASE}, args: [$(RUN)]}}}}").job()
    assert manifest["metadata"]["name"] == f"train-{digest_of(manifest)}"


@pytest.mark.parametrize(
    "job",
    [
        f"{BASE}, priorityClassName: high",
        f"{BASE}, labels: {{a: b}}",
        f"{BASE}, annotations: {{a: b}}",
        "image: a, command: [x], worker: 2, tasks: {feed: 3}",
    ],
)
def test_what_changes_in_place_keeps_the_name(compile_spec: Callable[[str], Result], job: str) -> None:
    assert _name(compile_spec, job) == _name(compile_spec, BASE)


@pytest.mark.parametrize(
    "job",
    [
        "image: b, command: [x], worker: 2, tasks: {feed: 2}",
        "image: a, command: [x], worker: 3, tasks: {feed: 2}",
        f"{BASE}, rerun: 2",
        f"{BASE}, env: {{A: 1}}",
        f"{BASE}, maxRetry: 4",
        f"{BASE}, pod: {{metadata: {{labels: {{a: b}}}}}}",
        f"{BASE}, policies: []",
        f"{BASE}, port: 3333",
        f"{BASE}, container: {{imagePullPolicy: Always}}",
    ],
)
def test_what_cannot_change_in_place_makes_a_new_name(compile_spec: Callable[[str], Result], job: str) -> None:
    assert _name(compile_spec, job) != _name(compile_spec, BASE)


def test_the_order_of_keys_makes_no_new_run(compile_spec: Callable[[str], Result]) -> None:
    one = "image: a, env: {A: 1, B: 2}, ports: {x: 80, y: 81}, tasks: {f: 1, g: 1}, worker: 1"
    other = "worker: 1, tasks: {g: 1, f: 1}, ports: {y: 81, x: 80}, env: {B: 2, A: 1}, image: a"
    assert _name(compile_spec, one) == _name(compile_spec, other)


def test_rerun_stands_in_the_manifest(compile_spec: Callable[[str], Result]) -> None:
    template = compile_spec(f"jobs: {{train: {{{BASE}, rerun: 2}}}}").task("worker")["template"]
    assert template["metadata"]["annotations"] == {"tfgitops/rerun": "2"}
