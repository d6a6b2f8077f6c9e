"""The importer's law: what we built comes back as a spec that builds its equal, and no source ends in a traceback."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from checkout import REPOSITORY
from fuzzed import fuzz
from hypothesis import given, note
from hypothesis import strategies as st
from specs import nearly_sound, put_files

from tfgitops import Plugins, compile_environment
from tfgitops.adoption.adopt import adopt
from tfgitops.adoption.likeness import compare
from tfgitops.adoption.sourcefiles import read_sources
from tfgitops.adoption.trials import Trials, jobs_of
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.model import JOB_LABEL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OK = REPOSITORY / "tests" / "cases" / "ok"
BUILT = sorted({path.parent.parent.parent for path in OK.rglob("manifests/workloads/job-*.yaml")})
WRITTEN = ("Namespace", "PersistentVolumeClaim", "Queue", "ResourceQuota")
"""Kinds beside Jobs that a spec gives back byte for byte."""


def unlike(files: Sequence[Path], plugins: Plugins) -> list[str]:
    """Import built manifests, compile the spec, and list what is not as it was built."""
    sources, problems = read_sources(map(str, files))
    assert problems == []
    adopted = adopt(sources, plugins)
    found = [f"{one.code} {one.message}" for one in adopted.diagnostics if one.severity == "error"]
    with Trials(plugins, "") as trials:
        compiled = trials.text(adopted.text)
    jobs = jobs_of(compiled)
    made = [planned.manifest for planned in compiled.objects]
    for source in sources:
        if source.kind == "Job":
            job = jobs.get(source.metadata["labels"][JOB_LABEL])
            found += map(str, compare(source.value, job)) if job else [f"no {source.title}"]
            if job and job["metadata"].get("annotations") != source.metadata.get("annotations"):
                found.append(f"annotations of {source.title}")
        elif source.kind in WRITTEN and source.value not in made:
            found.append(source.title)
    return found


@pytest.mark.parametrize("folder", BUILT, ids=lambda folder: str(folder.relative_to(OK)))
def test_a_built_case_comes_back(folder: Path, plugins: Plugins) -> None:
    files = [path for path in sorted(folder.rglob("manifests/*/*.yaml")) if path.name != "kustomization.yaml"]
    assert unlike(files, plugins) == []


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("environment")
    put_files(made)
    return made


@fuzz(60)
@given(seed=st.integers(0, 1 << 32))
def test_a_generated_spec_comes_back(place: Path, plugins: Plugins, seed: int) -> None:
    spec = nearly_sound(Random(seed), plugins.schema)  # noqa: S311 - repeatable, not secret
    (place / "environment.yaml").write_text(json.dumps(spec), encoding="utf-8")
    compiled = compile_environment(place, plugins)
    built = place / "built.yaml"
    texts = [file.text for file in compiled.files if not file.path.endswith("kustomization.yaml")]
    built.write_text("---\n".join(texts), encoding="utf-8")
    if any(planned.manifest["kind"] == "Job" for planned in compiled.objects) and compiled.ok:
        note(json.dumps(spec))
        assert unlike([built], plugins) == []


CASES = REPOSITORY / "tests" / "adoption" / "cases"
FOREIGN = [CASES / name for name in ("beside.yaml", "live.json", "tfjob-estimator.yaml", "shell-text.yaml")]


@pytest.mark.parametrize("path", FOREIGN, ids=lambda path: path.name)
def test_what_an_imported_spec_builds_comes_back(path: Path, plugins: Plugins, place: Path) -> None:
    (place / "environment.yaml").write_text(adopt(read_sources([str(path)])[0], plugins).text, encoding="utf-8")
    built = place / "built.yaml"
    built.write_text("---\n".join(file.text for file in compile_environment(place, plugins).files), encoding="utf-8")
    assert unlike([built], plugins) == []


Odd: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=8) | st.just("$(RUN)"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=3,
)


def routes(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(route for key, inner in items for route in routes(inner, (*at, key)))]


@fuzz(80)
@given(
    data=st.data(),
    path=st.sampled_from(FOREIGN),
)
def test_no_source_ends_in_a_traceback(data: Any, path: Path, plugins: Plugins, place: Path) -> None:
    documents = [*yaml.safe_load_all(path.read_text(encoding="utf-8"))]
    document = data.draw(st.sampled_from(documents))
    route = data.draw(st.sampled_from(routes(document)[1:]))
    holder = document
    for key in route[:-1]:
        holder = holder[key]
    holder[route[-1]] = data.draw(Odd)
    odd = place / "odd.yaml"
    odd.write_text("---\n".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    sources, problems = read_sources([str(odd)])
    if problems:
        return
    try:
        adopted = adopt(sources, plugins)
    except CompileError:  # such as jobs of two namespaces
        return
    assert adopted.text or adopted.diagnostics
