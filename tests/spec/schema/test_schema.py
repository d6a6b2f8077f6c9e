"""The schemas for editors: fresh, legal, and kind to every spec that compiles."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from checkout import REPOSITORY
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from tfgitops.spec.schema.editors import for_editors

if TYPE_CHECKING:
    from pathlib import Path

    from tfgitops import Plugins

SPECS = sorted(path for path in (REPOSITORY / "environments").rglob("*.yaml") if "manifests" not in path.parts)


def _read(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("which", ["environment", "job"])
def test_the_committed_schema_is_fresh(which: str, plugins: Plugins) -> None:
    made = for_editors(plugins.fragments, job=which == "job")
    Draft202012Validator.check_schema(made)
    committed = (REPOSITORY / "schemas" / f"{which}.schema.json").read_text(encoding="utf-8")
    assert json.loads(committed) == made, "run `make schemas`"


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_an_editor_finds_nothing_wrong_with_a_good_spec(path: Path, plugins: Plugins) -> None:
    validator = Draft202012Validator(for_editors(plugins.fragments))
    assert [error.message for error in validator.iter_errors(_read(path))] == []


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"jobs": {"a": {"wroker": 2}}}, "$.jobs.a"),
        ({"jobs": {"a": {"worker": {"gpu": {"cuont": 1}}}}}, "$.jobs.a.worker.gpu"),
        ({"jobs": {"a": {"pod": {"spec": {"nodeNam": "x"}}}}}, "$.jobs.a.pod.spec"),
        (
            {"jobs": {"a": {"container": {"ports": [{"containerPort": 70000}]}}}},
            "$.jobs.a.container.ports[0].containerPort",
        ),
        ({"jobs": {"a": {"container": {"imagePullPolicy": "always"}}}}, "$.jobs.a.container.imagePullPolicy"),
        (
            {"jobs": {"a": {"pod": {"spec": {"hostAliases": [{"hostnames": ["A_b"]}]}}}}},
            "$.jobs.a.pod.spec.hostAliases[0].hostnames[0]",
        ),
        ({"jobs": {"a": {"pod": {"spec": {"volumes": [{"name": "A_b"}]}}}}}, "$.jobs.a.pod.spec.volumes[0].name"),
        ({"queues": {"a": {"wieght": 1}}}, "$.queues.a"),
        ({"gitops": "argo"}, "$.gitops"),
    ],
)
def test_an_editor_finds_typing_mistakes(spec: Any, place: str, plugins: Plugins) -> None:
    validator = Draft202012Validator(for_editors(plugins.fragments))
    assert [error.json_path for error in validator.iter_errors(spec)] == [place]


@pytest.mark.parametrize(
    "spec",
    [
        {"jobs": {"a": {"worker": 2, "env": {"A": None, "B": 1.5}}}},
        {"namespace": "a", "defaults": {"image": None}},
        {"jobs": {"a": {"image": 1.10, "from": None, "worker": None}}},
    ],
)
def test_one_file_may_leave_out_remove_and_shorten(spec: Any, plugins: Plugins) -> None:
    validator = Draft202012Validator(for_editors(plugins.fragments))
    assert [error.message for error in validator.iter_errors(spec)] == []
