"""The tests that every plugin has: a class to take them from, with pytest."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.testing.cases import Case, find_cases, specs_of
from tfgitops.testing.contract import check_plugin
from tfgitops.testing.finding import find_plugins

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest


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
        """Return the cases.

        Raises:
            CompileError: there is none.
        """
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
