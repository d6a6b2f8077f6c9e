"""A spec of an older version compiles to the same bytes, or the changelog says which trainings restart.

Each folder here is a released version, with specs and the manifests that it compiled them to. Nobody edits the folder
of a released version. If a manifest has to change, its path goes to `announced.yaml` of that folder, with the first
cell of its row under *Changed outputs*. `--refresh` writes the manifests of a version that is not released.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from checkout import REPOSITORY

from tfgitops import Plugins, __version__, compile_environment
from tfgitops.compiler.write import apply, compare, compare_bootstrap
from tfgitops.spec.committed import BOOTSTRAP, MANIFESTS
from tfgitops.spec.project import Project, find_environments
from tfgitops.spec.schema.specschema import joined_source

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
VERSIONS = sorted(path.name for path in HERE.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", path.name))
_HEADING = re.compile(r"^## (\d+\.\d+\.\d+)( \(unreleased\))?.*\n((?:(?!^## ).*\n)*)", re.MULTILINE)


def sections(changelog: str) -> dict[str, tuple[bool, str]]:
    """Return for each version of a changelog, the newest first, whether it is released, and its text."""
    return {version: (not unreleased, text) for version, unreleased, text in _HEADING.findall(changelog)}


def rows(version: str, changelog: str) -> dict[str, str]:
    """Return the tables of all versions after one: the last cell of each row by the first cell."""
    newer = "".join(text for other, (_, text) in sections(changelog).items() if _key(other) > _key(version))
    cells = [line.strip("| ").split(" | ") for line in newer.splitlines() if line.startswith("| ")]
    return {row[0]: row[-1] for row in cells}


def _key(version: str) -> list[int]:
    return [*map(int, version.split("."))]


def unannounced(folder: Path, plugins: Plugins, changelog: str = CHANGELOG) -> Iterator[str]:
    """Yield each manifest of a version that changed and is not announced, or is announced and did not change."""
    known, changed = rows(folder.name, changelog), set()
    listed = folder / "announced.yaml"
    announced = yaml.safe_load(listed.read_text(encoding="utf-8")) if listed.exists() else {}
    for environment in find_environments(folder):
        compiled = compile_environment(environment, plugins, Project(root=folder))
        assert compiled.ok, compiled.diagnostics
        places = {MANIFESTS: compare(environment, compiled.files)}
        places[BOOTSTRAP] = compare_bootstrap(environment, compiled.bootstrap)
        for place, difference in ((place, one) for place, found in places.items() for one in found):
            path = (environment / place / difference.path).relative_to(folder).as_posix()
            changed.add(path)
            if announced.get(path) not in known:
                yield f"{path} is {difference.state}, and no row of the changelog announces it"
    yield from (f"{path} is announced, and did not change" for path in announced.keys() - changed)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_spec_of_a_version_compiles_as_it_did_or_the_changelog_tells(
    version: str, plugins: Plugins, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("tfgitops_refresh") and not sections(CHANGELOG)[version][0]:
        for environment in find_environments(HERE / version):
            compiled = compile_environment(environment, plugins, Project(root=HERE / version))
            apply(environment, compiled.files, compare(environment, compiled.files), [])
            differences = compare_bootstrap(environment, compiled.bootstrap)
            apply(environment, compiled.bootstrap, differences, [], BOOTSTRAP)
    assert [*unannounced(HERE / version, plugins)] == []


def test_each_released_version_has_a_tree_and_so_has_this_one() -> None:
    known = sections(CHANGELOG)
    assert {version for version, (released, _) in known.items() if released} | {__version__} == {*VERSIONS}


def test_the_specs_of_this_version_have_every_key(plugins: Plugins) -> None:
    """But `allow`, whose last day passes."""
    files = [path for path in (HERE / __version__).rglob("*.yaml") if not {MANIFESTS, BOOTSTRAP} & {*path.parts}]
    specs = "".join(path.read_text(encoding="utf-8") for path in files)
    definitions = joined_source(plugins.fragments)["$defs"]
    keys = {key for holder in ("environment", "job", "role") for key in definitions[holder]["properties"]}
    assert {key for key in keys if not re.search(rf"\b{key}:", specs)} == {"allow"}


@pytest.fixture
def released(tmp_path: Path, plugins: Plugins) -> Path:
    """Make the tree of a version 0.1.0 whose manifest is not what this version writes."""
    folder = tmp_path / "0.1.0" / "environments" / "prod"
    folder.mkdir(parents=True)
    head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
    (folder / "environment.yaml").write_text(f"{head}jobs: {{train: {{image: 'tf:1', worker: 1}}}}\n")
    compiled = compile_environment(folder, plugins)
    apply(folder, compiled.files, compare(folder, compiled.files), [])
    manifest = folder / "manifests/workloads/job-train.yaml"
    manifest.write_text(manifest.read_text().replace("maxRetry: 100", "maxRetry: 3"))
    return tmp_path / "0.1.0"


@pytest.mark.parametrize(
    ("changelog", "told"),
    [
        ("## 0.2.0 (unreleased)\n\n| `maxRetry` | 3 | 100 | all |\n\n## 0.1.0\n", 0),
        ("## 0.2.0 (unreleased)\n\n## 0.1.0\n\n| `maxRetry` | 3 | 100 | all |\n", 1),
    ],
)
def test_a_changed_manifest_needs_a_row_of_a_later_version(
    released: Path, plugins: Plugins, changelog: str, told: int
) -> None:
    path = "environments/prod/manifests/workloads/job-train.yaml"
    assert len([*unannounced(released, plugins, changelog)]) == 1
    (released / "announced.yaml").write_text(yaml.safe_dump({path: "`maxRetry`"}))
    assert len([*unannounced(released, plugins, changelog)]) == told


def test_an_announced_manifest_that_did_not_change_is_told(released: Path, plugins: Plugins) -> None:
    announced: dict[str, Any] = {"environments/prod/manifests/workloads/job-other.yaml": "`maxRetry`"}
    (released / "announced.yaml").write_text(yaml.safe_dump(announced))
    assert "environments/prod/manifests/workloads/job-other.yaml is announced, and did not change" in [
        *unannounced(released, plugins, "")
    ]
