"""What `make conformance` does beside asking its judge: kept cases, smallest specs, and its messages."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import generated
import judge
import kept
import kustomized
import oracle
import pytest
import sweep
import yaml
from smallest import smallest

from tfgitops.planning import template
from tfgitops.targets.volcano.defaults import DRIFT_RULES, drift, stored
from tfgitops.targets.volcano.job import judge_job
from tfgitops.targets.volcano.queue import judge_queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tfgitops import Plugins
    from tfgitops.testing import Result

    Compile = Callable[..., Result]
    Json = dict[str, Any]


class Stern:
    """A judge that refuses each Job with a restartPolicy of OnFailure, and has kustomize lose each claim."""

    def objections(self, manifest: Json) -> Iterator[oracle.Objection]:
        if "'restartPolicy': 'OnFailure'" in str(manifest):
            yield oracle.Objection(kind="refused", message="create: spec.tasks[1].x: Forbidden: no; spec.y: Forbidden")

    def read(self, text: str) -> Any:
        return yaml.safe_load(text)

    def kustomize(self, files: dict[str, str]) -> list[Json]:
        names = yaml.safe_load(files["kustomization.yaml"])["resources"]
        objects = [yaml.safe_load(files[name]) for name in names]
        return [found for found in objects if found["kind"] != "PersistentVolumeClaim"]


@pytest.fixture
def search(tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> generated.Search:
    monkeypatch.setattr(kept, "CASES", tmp_path / "cases")
    return generated.Search(Stern(), plugins, tmp_path, Counter())


SPEC: Json = {
    "apiVersion": "tfgitops/v1alpha1", "kind": "Environment", "namespace": "ml",
    "jobs": {
        "train": {
            "image": "tf", "worker": 2, "ps": 1, "pod": {"spec": {"restartPolicy": "OnFailure", "hostIPC": True}},
        },
        "other": {"image": "tf", "worker": 1},
    },
}  # fmt: skip


def test_there_are_kept_cases() -> None:
    assert kept.cases()


@pytest.mark.parametrize("case", kept.cases(), ids=lambda case: case.stem)
def test_a_kept_case_is_refused_or_compiles_to_what_the_model_admits(compile_spec: Compile, case: Path) -> None:
    text = case.read_text(encoding="utf-8")
    assert text.startswith("# "), "what was said of it"
    first, second = compile_spec(text), compile_spec(text)
    assert (first.files, first.text) == (second.files, second.text)
    assert [*generated.own_faults(first.compiled)] == []
    assert first.ok or first.codes
    for manifest in map(yaml.safe_load, first.files.values() if first.ok else ()):
        if manifest["kind"] in oracle.KINDS:
            admitted = judge_job(manifest, []) if manifest["kind"] == "Job" else judge_queue(manifest, [], "create")
            assert (admitted, stored(manifest).notes.pruned, [*drift(manifest)]) == ([], [], [])


@pytest.mark.parametrize(
    ("value", "holds", "least"),
    [
        ({"a": [1, {"b": "x" * 300}], "c": 2}, lambda value: "x" in str(value), {"a": [{"b": "x" * 9}]}),
        ({"a": {"b": {"c": 1}}, "d": 1}, lambda value: "a" in value, {"a": {}}),
        ([1, 2, 3, 4], lambda value: {2, 4} <= set(value), [2, 4]),
        ("x" * 253, lambda value: len(value) > 62, "x" * 63),
    ],
)
def test_the_smallest_value_has_nothing_that_it_does_not_need(
    value: Any, holds: Callable[[Any], bool], least: Any
) -> None:
    assert smallest(value, holds) == least


def test_what_is_refused_is_kept_as_a_smallest_spec_and_replayed(
    search: generated.Search, capsys: pytest.CaptureFixture[str]
) -> None:
    search.look(SPEC)
    search.look(SPEC)
    search.keep()
    assert len(search.found) == 2
    [case] = kept.cases()
    text = case.read_text(encoding="utf-8")
    assert text.startswith("# refused: create: spec.tasks[1].x: Forbidden: no\n# refused: spec.y: Forbidden\n{")
    assert yaml.safe_load(text) == {
        **{key: SPEC[key] for key in ("apiVersion", "kind", "namespace")},
        "jobs": {"train": {"image": "tf", "worker": 2, "pod": {"spec": {"restartPolicy": "OnFailure"}}}},
    }
    search.replay(case)
    shown = capsys.readouterr().out
    assert f"kept as {case}" in shown
    assert f"{case}: refused: create: spec.tasks[1].x: Forbidden: no\n" in shown


def test_a_default_that_the_compiler_does_not_write_is_a_disagreement(
    search: generated.Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert all(generated.DRIFTS in message for message, _ in DRIFT_RULES.values())
    monkeypatch.setattr(template, "_write_defaults", lambda _: None)
    container = {"ports": [{"containerPort": 1}]}
    search.look({**SPEC, "jobs": {"train": {"image": "tf", "worker": 1, "container": container}}})
    at = "spec.tasks.0.template.spec.containers.0.ports.1.protocol"
    assert [message for message, _ in search.found.values()] == [
        f"drifted: {at} is left out, and the server would store 'TCP'"
    ]


def test_the_sweep_comes_to_every_field_and_to_the_odd_values() -> None:
    jobs = [json.dumps(spec["jobs"]["train"]) for spec in sweep.swept()]
    for place in (
        '"dnsPolicy": "Cluster"', '"weight": 101', '"divisor": "1k"', '"scheme": "TCP"', '"fieldPath": "spec.hostname"',
        '"grpc": {"port": 65536}', '"defaultMode": "01000"', '"accessModes": ["Any"]', '"tolerationSeconds": -1',
    ):  # fmt: skip
        assert any(place in job for job in jobs), place


def test_what_a_kept_case_still_shows_is_not_found_again(search: generated.Search) -> None:
    search.replay(kept.keep(SPEC, ["refused"]))
    search.look(SPEC)
    assert search.found == {}


def test_a_crash_of_the_compiler_is_a_disagreement(search: generated.Search, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(generated, "compile_environment", crash)
    search.look(SPEC)
    [(message, _)] = search.found.values()
    assert message.startswith("crash: KeyError in test_conformance.py, crash: ")


def test_an_object_that_kustomize_loses_is_named() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"namespace": "ml", "name": "logs"}}
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "vision"}}
    files, counts = {"pvc-logs.yaml": json.dumps(claim), "queue-vision.yaml": json.dumps(queue)}, Counter[str]()
    [line] = kustomized.differences(files, Stern(), counts)
    assert line.startswith("kustomize makes of PersistentVolumeClaim ml/logs …nothing… where the files hold …{")
    listed = {**files, "kustomization.yaml": json.dumps({"resources": ["pvc-logs.yaml"]})}
    assert len([*kustomized.differences(listed, Stern(), counts)]) == 2
    assert counts == {"folders": 2, "kustomized": 4}


def test_the_summary_has_zeroes_and_only_then_it_passes() -> None:
    looked_at = ("objects", "files", "folders", "kustomized", "updates", "kept", "swept", "specs", "compiled")
    counts = Counter(dict.fromkeys(looked_at, 1))
    assert judge.summary(counts, 1.2) == (
        "conformance: 1 objects judged: 0 refused, 0 pruned, 0 drifted, 0 rewritten; "
        "1 files read by 3 readers: 0 differ; 1 folders (1 objects) built by kustomize: 0 differ; "
        "1 updates in place judged: 0 refused; "
        "1 kept, 1 swept and 1 generated specs, 1 compiled: 0 disagreements; 1 s"
    )
    assert judge.passed(counts)
    assert not any(judge.passed(counts + Counter({wrong: 1})) for wrong in judge.WRONG)
    assert not any(judge.passed(counts - Counter({what: 1})) for what in counts if what != "specs")


@pytest.mark.parametrize(
    ("go", "said"),
    [
        ("", "the judge is built with Go 1.26 or later, and there is no go"),
        ("go: go.mod requires go >= 1.26.0 (running go 1.22.1; GOTOOLCHAIN=local)", "cannot be had: go: go.mod"),
        ("go: x\ngo: dial tcp: lookup proxy: no such host", "cannot be had: go: dial tcp"),
    ],
)
def test_where_the_judge_cannot_be_had_it_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], go: str, said: str
) -> None:
    give_crds(tmp_path, monkeypatch)
    fake_go(tmp_path, monkeypatch, go)
    assert judge.main([]) == 2
    assert said in capsys.readouterr().err
    assert judge.main(["--or-skip"]) == 0
    assert capsys.readouterr().out.startswith("conformance: skipped: ")


def test_modules_that_are_not_the_right_ones_are_no_reason_to_skip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give_crds(tmp_path, monkeypatch)
    fake_go(tmp_path, monkeypatch, "verifying sigs.k8s.io/yaml@v1.6.0: checksum mismatch")
    assert judge.main(["--or-skip"]) == 2
    assert "checksum mismatch" in capsys.readouterr().err


def test_without_crds_it_says_so_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOLCANO_CRDS", str(tmp_path))
    assert judge.main(["--or-skip"]) == 0
    assert "skipped: no batch.volcano.sh_jobs.yaml and no scheduling" in capsys.readouterr().out


def give_crds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOLCANO_CRDS", str(tmp_path))
    for file in oracle.crds.FILES.values():
        (tmp_path / file).write_text("")


def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    """Put a `go` that fails with a message on the PATH, or none."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if message:
        (folder / "go").write_text(f"#!/bin/sh\ncat >&2 <<'EOF'\n{message}\nEOF\nexit 1\n")
        (folder / "go").chmod(0o755)
        (folder / "cat").symlink_to("/bin/cat")
    monkeypatch.setenv("PATH", str(folder))
