"""Who says a key of the merged spec: the layers agree with what was resolved, whatever the files say and remove."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from fuzzed import fuzz
from hypothesis import given
from hypothesis import strategies as st

from tfgitops import Plugins, compile_environment
from tfgitops.provenance.sources import Writing, writings
from tfgitops.targets.routes import MISSING, leaves, reach

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfgitops.spec.places import Places
    from tfgitops.testing import Result

HEAD = {"apiVersion": "tfgitops/v1alpha1", "kind": "Environment"}


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


def _block(**further: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Generate some keys of a job or a role: scalars, lists, maps, variables, overlays, and what removes them."""
    texts = st.sampled_from(["one", "two", "three"])
    security = st.fixed_dictionaries({}, optional={"runAsUser": _maybe(st.integers(1, 3)), "fsGroup": st.just(7)})
    spec = st.fixed_dictionaries(
        {}, optional={"activeDeadlineSeconds": _maybe(st.integers(1, 3)), "securityContext": _maybe(security)}
    )
    variable = _maybe(st.one_of(texts, st.just({"secret": "s", "key": "k"})))
    return st.fixed_dictionaries(
        {},
        optional={
            "image": _maybe(texts),
            "args": _maybe(st.lists(texts, max_size=2)),
            "env": _maybe(st.dictionaries(st.sampled_from(["A", "B"]), variable, max_size=2)),
            "nodeSelector": _maybe(st.dictionaries(st.sampled_from(["a", "b"]), _maybe(texts), max_size=2)),
            "cpu": _maybe(st.one_of(st.integers(1, 4), st.fixed_dictionaries({"request": st.integers(1, 2)}))),
            "maxRetry": _maybe(st.integers(1, 5)),
            "pod": _maybe(st.fixed_dictionaries({"spec": spec})),
            **further,
        },
    )


ROLE = _block()
JOB = _block(worker=ROLE, labels=_maybe(st.dictionaries(st.sampled_from(["x", "y"]), st.just("z"), max_size=2)))
KEYS = ("image", "args", "env", "nodeSelector", "cpu", "maxRetry", "pod")


def _agrees(places: Places, holder: Any, blocks: list[Any]) -> None:
    """Compare each leaf that is resolved, and each that is written anywhere, with what its layers say."""
    keys = KEYS if len(holder.route) > 2 else (*KEYS, "labels")
    routes = {at for block in (*blocks, holder.data) for at in _leaves(block) if at and at[0] in keys}
    for at in sorted(routes, key=str):
        said = writings(places, (*holder.route, *at))
        won = [one for one in said if one.won]
        assert len(won) <= 1
        found = won[0].value if won and won[0].value is not None else MISSING
        wanted = reach(holder.data, at)
        if wanted is MISSING and won and won[0].at[-len(at) :] != at:
            continue  # a list or a variable that has not this part
        if isinstance(wanted, dict) or isinstance(found, dict):
            continue  # it is made of several parts, each of whose leaves is compared
        assert found == wanted or (wanted is None and found is MISSING), (at, said)


def _leaves(block: Any) -> list[tuple[Any, ...]]:
    return [at for at, _ in leaves(block)]


@fuzz(150)
@given(parts=st.fixed_dictionaries({"base": JOB, "defaults": JOB, "below": JOB, "own": JOB, "child": JOB}))
def test_the_winner_says_what_was_resolved(
    parts: dict[str, Any], plugins: Plugins, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("layers") / "environments" / "test"
    folder.mkdir(parents=True)
    must = {"tasks": {"t": 1}}
    base = {**HEAD, "defaults": parts["base"], "jobs": {"a": {**parts["below"], **must}}}
    spec = {**HEAD, "namespace": "ml", "extends": "base.yaml", "defaults": parts["defaults"]}
    spec["jobs"] = {"a": parts["own"], "b": {"from": "a", **parts["child"]}}
    (folder / "base.yaml").write_text(json.dumps(base))
    (folder / "environment.yaml").write_text(json.dumps(spec))
    environment = compile_environment(folder, plugins).environment
    if environment is None:
        return
    blocks = [*parts.values(), *(part["worker"] for part in parts.values() if part.get("worker"))]
    for job in environment.jobs:
        for holder in (job, *job.roles):
            _agrees(environment.places, holder, blocks)


def _said(result: Result, *route: str | int) -> list[tuple[str, Any, bool]]:
    assert result.compiled.environment is not None
    found: tuple[Writing, ...] = writings(result.compiled.environment.places, route)
    return [(one.layer, one.value, one.won) for one in found]


def test_the_order_is_role_then_job_and_within_each_job_from_and_defaults_file_by_file(
    compile_spec: Callable[..., Result],
) -> None:
    base = (
        "apiVersion: tfgitops/v1alpha1\nkind: Environment\n"
        "defaults: {image: i8, worker: {image: i4}}\njobs: {b: {image: i6}}\n"
    )
    spec = """
    extends: ../base.yaml
    defaults: {image: i7, worker: {image: i3}}
    jobs:
      a: {image: i5b, worker: {image: i2}}
      b: {from: a, image: i5, worker: {image: i1}}
    """
    result = compile_spec(spec, {"../base.yaml": base})
    assert _said(result, "jobs", "b", "worker", "image") == [
        ("role", "i1", True), ("from a", "i2", False), ("defaults", "i3", False), ("defaults", "i4", False),
        ("job", "i5", False), ("job", "i6", False), ("from a", "i5b", False),
        ("defaults", "i7", False), ("defaults", "i8", False),
    ]  # fmt: skip


def test_a_null_wins_and_removes(compile_spec: Callable[..., Result]) -> None:
    result = compile_spec("defaults: {maxRetry: 7}\njobs: {a: {image: a, worker: 1, maxRetry: null}}\n")
    assert _said(result, "jobs", "a", "maxRetry") == [("job", None, True), ("defaults", 7, False)]


@pytest.mark.parametrize("key", ["maxRetry", "policies"])
def test_a_role_has_not_what_is_the_jobs_own(compile_spec: Callable[..., Result], key: str) -> None:
    value = {"maxRetry": "5", "policies": "[{event: PodFailed, action: AbortJob}]"}[key]
    result = compile_spec(f"jobs: {{a: {{image: a, worker: 1, {key}: {value}}}}}\n")
    assert _said(result, "jobs", "a", "worker", key) == []
    assert len(_said(result, "jobs", "a", key)) == 1
    assert result.compiled.environment is not None
    nearest = result.compiled.environment.places.span(("jobs", "a", "worker", key))
    assert nearest.excerpt[nearest.column - 1 :].startswith(("worker", "1"))


def test_from_carries_no_rerun(compile_spec: Callable[..., Result]) -> None:
    result = compile_spec("jobs: {a: {image: a, worker: 1, rerun: 2}, b: {from: a}}\n")
    assert _said(result, "jobs", "b", "rerun") == []
    assert _said(result, "jobs", "a", "rerun") == [("job", 2, True)]


def test_a_variable_is_one_value(compile_spec: Callable[..., Result]) -> None:
    spec = """
    defaults: {env: {A: {secret: s, key: k}}}
    jobs:
      a: {image: a, worker: 1, env: {A: {configMap: c, key: other}}}
    """
    said = _said(compile_spec(spec), "jobs", "a", "env", "A", "key")
    assert said == [("job", "other", True), ("defaults", {"secret": "s", "key": "k"}, False)]


def test_the_files_of_an_environment_are_told_from_those_it_extends(
    compile_spec: Callable[..., Result], tmp_path: Path
) -> None:
    base = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nvolumes: {runs: {size: 1Gi, path: /runs}}\n"
    spec = "extends: ../base.yaml\nvolumes: {runs: {size: 2Gi}}\njobs: {a: {image: a, worker: 1}}\n"
    result = compile_spec(spec, {"../base.yaml": base})
    assert _said(result, "volumes", "runs", "size") == [("environment", "2Gi", True), ("base file", "1Gi", False)]
    assert _said(result, "volumes", "runs", "path") == [("base file", "/runs", True)]
