"""The supply chain: each package that CI and the image install is locked, with hashes, to a version that we allow."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING

import pytest
from checkout import REPOSITORY
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCKS = REPOSITORY / "requirements"
_PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = _PROJECT["dependency-groups"]
DIRECT = [Requirement(text) for text in _PROJECT["project"]["dependencies"]]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
FILES = ("build", "dev", "fuzz", "package", "release")


@cache
def locked(name: str) -> list[tuple[Requirement, int]]:
    """Return each entry of a lock file with the number of its hashes."""
    text = re.sub(r"^#.*\n", "", (LOCKS / f"{name}.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = re.split(r"\n(?=\S)", text.strip())
    return [(Requirement(entry.split(" \\\n")[0]), entry.count("--hash=sha256:")) for entry in entries]


def group(name: str) -> Iterator[Requirement]:
    """Yield the requirements of a group, and of the groups in it."""
    for entry in GROUPS[name]:
        if isinstance(entry, str):
            yield Requirement(entry)
        else:
            yield from group(entry["include-group"])


def wanted(name: str) -> list[Requirement]:
    """Return what pyproject.toml wants in a lock file."""
    return [*(DIRECT if name in {"package", "dev"} else ()), *(group(name) if name in GROUPS else ())]


def for_python(name: str, python: str) -> dict[str, str]:
    """Return the versions that pip takes from a lock file, on Linux."""
    place = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": "linux"}
    fits = [one for one, _ in locked(name) if one.marker is None or one.marker.evaluate(place)]
    versions = {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in fits}
    assert len(versions) == len(fits), "two versions of a package"
    return versions


def test_there_is_a_test_for_each_lock_file() -> None:
    assert {path.stem for path in LOCKS.iterdir()} == {*FILES, "oldest"}


@pytest.mark.parametrize("name", FILES)
def test_each_entry_has_one_version_and_its_hashes_and_no_index_is_named(name: str) -> None:
    for requirement, hashes in locked(name):
        assert str(requirement.specifier).startswith("=="), requirement
        assert hashes, requirement
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    assert not re.search(r"://|--(?!hash=)", text)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", FILES)
def test_the_lock_has_what_pyproject_wants(name: str, python: str) -> None:
    """Run `make locks` after a change of dependencies."""
    versions = for_python(name, python)
    for one in wanted(name):
        if one.marker is None or one.marker.evaluate({"python_version": python}):
            assert one.specifier.contains(versions[canonicalize_name(one.name)]), one


@pytest.mark.parametrize("name", [name for name in FILES if name != "dev"])
def test_the_files_agree_on_versions(name: str) -> None:
    """The tests run with the versions of the image; `make locks` resolves dev.txt first, and the others to fit it."""
    dev = for_python("dev", "3.12")
    assert {one: version for one, version in for_python(name, "3.12").items() if dev.get(one, version) != version} == {}


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    lines = (LOCKS / "oldest.txt").read_text(encoding="utf-8").splitlines()
    lowest = {
        f"{one.name}=={bound.version}" for one in DIRECT for bound in one.specifier if bound.operator in {">=", "=="}
    }
    assert {line for line in lines if not line.startswith("#")} == lowest
    assert len(lowest) == len(DIRECT)


@pytest.mark.parametrize("name", ["Makefile", "Dockerfile"])
def test_whatever_is_installed_is_checked_by_its_hash(name: str) -> None:
    """The tools of `make oldest` and of TensorFlow's environment are not what CI or the image relies on."""
    text = (REPOSITORY / name).read_text(encoding="utf-8").replace("\\\n", " ")
    text = text.replace("$(LOCKED)", "pip install --require-hashes").replace("$(MYSELF)", "pip install --no-deps")
    calls = re.findall(r"(?:pip install|pip --python \S+ \$\(INSTALL\)|\$\(PIP\)) [^\n&]*", text.split("LOCKED  =")[-1])
    unchecked = [call for call in calls if "--require-hashes" not in call and "--no-deps" not in call]
    assert calls
    assert [
        call for call in unchecked if "oldest.txt" not in call and "tensorflow" not in call and ">=25.1" not in call
    ] == []
