"""One spec, one set of plugins: the same bytes, wherever, whenever and in whatever order."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tfgitops import Plugins, compile_environment
from tfgitops.plugins.hookspecs import HOOKS
from tfgitops.spec.project import read_project
from tfgitops.spec.yamltext import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

PROGRAM = Path(sys.executable).parent / "tfgitops"
CASES = Path(__file__).parents[1] / "cases" / "ok"
SPECS = sorted(path.parent.relative_to(CASES) for path in CASES.rglob("environment.yaml"))

ANCHORED = "anchors-and-scalars/manifests/workloads/job-train.yaml"

Files = dict[str, bytes]


def manifests(top: Path) -> Files:
    """Return every manifest below a folder."""
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in sorted(top.rglob("*.yaml"))
        if "manifests" in path.parts
    }


def compiled(top: Path, plugins: Plugins, specs: Iterable[Path] = SPECS) -> Files:
    """Return every manifest that the specs below a folder compile to."""
    project = read_project(top)
    return {
        f"{where}/manifests/{file.path}": file.text.encode()
        for where in specs
        for file in compile_environment(top / where, plugins, project).files
    }


def bodies(files: Files) -> Files:
    """Return manifests without their first lines."""
    return {path: text.partition(b"\n")[2] for path, text in files.items()}


@pytest.fixture(scope="module")
def committed() -> Files:
    return manifests(CASES)


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """Copy all specs, without their manifests, to a root of its own."""
    (tmp_path / "pyproject.toml").write_text("[tool.tfgitops]\n")
    place = tmp_path / "environments"
    shutil.copytree(CASES, place, ignore=shutil.ignore_patterns("manifests"))
    assert manifests(place) == {}
    return place


SURROUNDINGS: dict[str, dict[str, str]] = {
    "hash seed 0": {"PYTHONHASHSEED": "0"},
    "hash seed 1": {"PYTHONHASHSEED": "1"},
    "hash seed 4711": {"PYTHONHASHSEED": "4711"},
    "the C locale, in ASCII": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "a Turkish locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "the first time zone": {"TZ": "Pacific/Kiritimati"},
    "the last time zone": {"TZ": "Etc/GMT+12"},
    "python -O": {"PYTHONOPTIMIZE": "1"},
}


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_bytes_do_not_depend_on_the_process(surroundings: str, specs: Path, committed: Files) -> None:
    environment = {**os.environ, **SURROUNDINGS[surroundings]}
    subprocess.run([PROGRAM, "build", "-q"], cwd=specs.parent, env=environment, check=True)
    assert manifests(specs) == committed


@pytest.mark.parametrize(
    ("folder", "path"), [("/", "{specs}"), ("{specs}", "."), ("{specs}/queues", ".."), ("{specs}/..", "environments/")]
)
def test_bytes_do_not_depend_on_the_working_directory(folder: str, path: str, specs: Path, committed: Files) -> None:
    where = folder.format(specs=specs)
    subprocess.run([PROGRAM, "build", "-q", path.format(specs=specs)], cwd=where, check=True)
    assert manifests(specs) == committed


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_bytes_and_modes_do_not_depend_on_the_umask(umask: int, specs: Path, committed: Files) -> None:
    subprocess.run([PROGRAM, "build", "-q"], cwd=specs.parent, umask=umask, check=True)
    assert manifests(specs) == committed
    assert {path.stat().st_mode & 0o777 for path in specs.rglob("manifests/**/*.yaml")} == {0o644}


def test_bytes_do_not_depend_on_what_was_compiled_before(plugins: Plugins, committed: Files) -> None:
    """Caches live as long as the plugins do; neither their order of filling nor their content may show."""
    for specs in (SPECS[::-1], SPECS):
        assert compiled(CASES, plugins, specs) == committed


def asked(plugins: Plugins) -> dict[str, list[str]]:
    """Return the names of the plugins that each hook asks, in the order in which it asks them."""
    return {hook: [plugin.name for plugin, _ in plugins._calls(hook)] for hook in HOOKS}


def test_bytes_do_not_depend_on_the_order_of_the_plugins(plugins: Plugins, committed: Files) -> None:
    names = plugins.plugins
    turned = [(*names[index:], *names[:index]) for index in range(len(names))]  # all orders of ten are millions
    for order in (*turned, *(order[::-1] for order in turned)):
        made = Plugins(order)
        assert made.plugins == plugins.plugins
        assert asked(made) == asked(plugins)
        assert compiled(CASES, made) == committed


def shuffled(value: Any, chance: random.Random) -> Any:
    """Return a value with the keys of all its maps in another order; the order of lists means something."""
    if type(value) is dict:
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if type(value) is list else value


@pytest.mark.parametrize("seed", range(6))
def test_bytes_do_not_depend_on_the_order_of_keys(seed: int, specs: Path, plugins: Plugins, committed: Files) -> None:
    chance = random.Random(seed)  # noqa: S311 - an order, not a secret
    for path in specs.rglob("*.yaml"):
        value = parse(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(shuffled(value, chance)), encoding="utf-8")  # JSON is YAML
    found = compiled(specs, plugins)
    assert bodies(found) == bodies(committed)
    # JSON has no anchors: what a job took from one is its own now, and the first line says so.
    assert {path for path in found if found[path] != committed[path]} == {ANCHORED}
