"""Whatever compiles is what the admission model admits, still, legible, and the same at the second time.

The specs are those of `make conformance`, their seeds drawn by hypothesis, which remembers what failed: this much holds
also where there is no Go to ask Kubernetes's own code.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from crds import FILES
from fuzzed import fuzz
from generated import own_faults
from hypothesis import example, given, note
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML
from specs import nearly_sound, put_files

from tfgitops import Plugins, compile_environment
from tfgitops.spec.schema.editors import for_editors
from tfgitops.targets.routes import value_at
from tfgitops.targets.volcano.defaults import drift, noop, stored
from tfgitops.targets.volcano.job import judge_job
from tfgitops.targets.volcano.queue import judge_queue

if TYPE_CHECKING:
    from jsonschema import ValidationError

    from tfgitops import Compiled

ELSEWHERE = ("queue-missing", "queue-parent-missing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = tmp_path_factory.mktemp("environment")
    put_files(made)
    return made


@pytest.fixture(scope="module")
def editor(plugins: Plugins) -> Draft202012Validator:
    return Draft202012Validator(for_editors(plugins.fragments))


def compiled(folder: Any, plugins: Plugins, spec: Any) -> Compiled:
    (folder / "environment.yaml").write_text(json.dumps(spec), encoding="utf-8")
    return compile_environment(folder, plugins)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # of the fixtures, when hypothesis names a seed
@fuzz(200)
@example(seed=2423)  # a null in a list, which the server would drop
@example(seed=122287456)  # tolerations that an overlay replaces
@given(seed=st.integers(0, 1 << 32))
def test_what_compiles_is_admitted_still_and_legible(
    folder: Any, plugins: Plugins, editor: Draft202012Validator, seed: int
) -> None:
    spec = nearly_sound(Random(seed), plugins.schema)  # noqa: S311 - repeatable, not secret
    note(json.dumps(spec))
    result = compiled(folder, plugins, spec)
    assert [*own_faults(result)] == []
    assert result.ok or any(found.severity == "error" and found.span for found in result.diagnostics)
    manifests = [yaml.safe_load(file.text) for file in result.files]
    errors = editor.iter_errors(spec) if result.ok else ()
    assert [error.message for error in errors if not replaced(error, spec, manifests)] == []
    assert compiled(folder, Plugins(plugins.plugins[::-1]), spec).files == result.files
    for file, manifest in zip(result.files, manifests, strict=True):
        assert YAML(typ="safe", pure=True).load(file.text) == manifest
        if manifest["kind"] in FILES:
            check(manifest)


def replaced(error: ValidationError, spec: Any, manifests: Any) -> bool:
    """Tell whether an editor refuses a toleration that no manifest has: an overlay or a role has replaced it."""
    route = tuple(error.absolute_path)
    if "tolerations" not in route:
        return False
    written = {
        key: value for key, value in value_at(spec, route[: route.index("tolerations") + 2]).items() if value != ""
    }
    tasks = [task for manifest in manifests if manifest["kind"] == "Job" for task in manifest["spec"]["tasks"]]
    return not any(written in task["template"]["spec"].get("tolerations", ()) for task in tasks)


def check(manifest: Any) -> None:
    """See that the model admits a Job or Queue, but for what other objects decide, and that it stays as it stands."""
    admitted = judge_job(manifest, []) if manifest["kind"] == "Job" else judge_queue(manifest, [], "create")
    assert [fault for fault in admitted if fault.rule not in ELSEWHERE] == []
    assert [*stored(manifest).notes.pruned, *drift(manifest)] == []
    assert noop(manifest, manifest)
