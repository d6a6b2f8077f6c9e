"""Test a plugin on its cases, and the contract on their specs: with pytest, or for `tfgitops plugins test`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import CompileError, counted
from tfgitops.spec.disk import kind_of, resolved, shown
from tfgitops.spec.project import find_environments, find_root, read_project
from tfgitops.testing.cases import KINDS, Case, CaseFailedError, find_cases, specs_of
from tfgitops.testing.contract import breaches, check_plugin
from tfgitops.testing.finding import find_plugins, load_file, load_package, names_plugins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pytest

    from tfgitops.plugins.door import Plugin
    from tfgitops.testing.bench import Settings

_PLACES = (".", "cases", "tests/cases", "plugins/cases")


class PluginTests:
    """All cases of a folder, a test each, and the contract, tried on their specs.

    ``plugin`` is what `find_plugins` takes: a module, an object, or the path of a local plugin's file. ``cases`` is the
    folder of its cases, relative to the test's file, ``settings`` what pyproject.toml would give the plugins.
    ``pytest --tfgitops-refresh`` writes anew what the cases expect.
    """

    # No ClassVar: mypy would have each subclass repeat it.
    plugin: Any
    cases: str = "cases"
    settings: Mapping[str, Mapping[str, Any]] = {}

    @classmethod
    def found(cls) -> list[Case]:
        """Return the cases; raise `CompileError` where there is none."""
        return find_cases(Path(inspect.getfile(cls)).parent / cls.cases)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a test of each case."""
        if "tfgitops_case" in metafunc.fixturenames:
            cases = self.found()
            metafunc.parametrize("tfgitops_case", cases, ids=[case.name for case in cases])

    def test_case(self, tfgitops_case: Case, pytestconfig: pytest.Config) -> None:
        """Compile one case, and compare."""
        refresh = pytestconfig.getoption("tfgitops_refresh")
        tfgitops_case.run(find_plugins(self.plugin), refresh=refresh, settings=self.settings)

    def test_contract(self) -> None:
        """Check that the plugin keeps the contract, whatever the cases ask of it."""
        check_plugin(self.plugin, specs_of(self.found()), settings=self.settings)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one trial; ``fault`` is empty where it passed."""

    name: str
    fault: str = ""


def run(path: Path, *, refresh: bool = False) -> Iterator[Outcome]:
    """Try each case, and then each plugin's contract, in a package's folder, a repository, or for one local file.

    ``refresh`` writes anew what the cases expect. Where there are no cases, the contract is checked on the repository's
    environments.

    Raises:
        CompileError: there is no plugin, or nothing to try it on.
    """
    plugins, cases, specs, settings = _find(resolved(path))
    together = find_plugins(*plugins)
    for case in cases:
        fault = ""
        try:
            case.run(together, refresh=refresh, settings=settings)
        except CaseFailedError as error:
            fault = str(error)
        yield Outcome(name=f"case {case.name}", fault=fault)
    for plugin in plugins:
        name = f"contract of '{plugin.name}' on {counted(len(specs), 'spec')}"
        if plugin.name in together.late:
            yield Outcome(name=name, fault="not tried: it did not come to an end before")
        else:
            yield Outcome(name=name, fault="\n".join(map(str, breaches(plugin, specs, settings=settings))))


def _find(path: Path) -> tuple[list[Plugin], list[Case], list[Path], Settings]:
    """Find what to try: plugins, their cases, the specs for the contract, and the repository's settings."""
    if kind_of(path) == "nothing":
        hint = "name a package's folder, a repository or a local plugin's file"
        raise CompileError.of("TF101", f"{path} is not there", hint)
    folder = path if path.is_dir() else path.parent
    root, settings = folder, {}
    if names_plugins(folder / "pyproject.toml"):
        plugins = load_package(folder)
    else:
        root = find_root(folder / "environments" / "any")
        project = read_project(root)
        listed = [name for name in project.plugins if path.is_dir() or resolved(root / name) == path]
        plugins, settings = [load_file(resolved(root / name), name) for name in listed], project.settings
    if not plugins:
        hint = "`tfgitops plugins new NAME` makes one, as a package or, with --local, as a file of a repository"
        raise CompileError.of("TF101", f"there is no plugin in {shown(path)}", hint)
    places = (top / place for top in (folder, root) for place in _PLACES)
    cases = next((find_cases(place) for place in places if any((place / kind).is_dir() for kind in KINDS)), [])
    if cases:
        return plugins, cases, specs_of(cases), settings
    if not (root / "environments").is_dir():
        names = ", ".join(f"'{plugin.name}'" for plugin in plugins)
        hint = "put a spec into plugins/cases/ok/NAME/environment.yaml, and run it with --refresh"
        message = f"there are no cases, and no environments, to try the plugin {names} on"
        raise CompileError.of("TF101", message, hint)
    return plugins, [], find_environments(root / "environments"), settings
