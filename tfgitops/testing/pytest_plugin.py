"""What pytest finds where tfgitops is installed: a switch, and two fixtures that import nothing until a test asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tfgitops.plugins.door import Plugins
    from tfgitops.testing import Bench


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the one switch."""
    parser.getgroup("tfgitops").addoption(
        "--tfgitops-refresh", action="store_true", dest="tfgitops_refresh",
        help="write what the cases of tfgitops plugins expect anew, instead of comparing with it",
    )  # fmt: skip


@pytest.fixture(scope="session")
def tfgitops_plugins() -> Plugins:
    """Return the plugins that `compile_spec` compiles with: all that are installed. Yours may return others."""
    from tfgitops.testing import find_plugins  # noqa: PLC0415 - for tests that ask

    return find_plugins()


@pytest.fixture
def compile_spec(tmp_path: Path, tfgitops_plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Return what compiles the text of a spec: see `tfgitops.testing.Bench`."""
    from tfgitops.testing import Bench  # noqa: PLC0415 - for tests that ask

    bench = Bench(tmp_path, tfgitops_plugins)
    bench.folder.mkdir(parents=True)
    monkeypatch.chdir(bench.folder)  # what is found is shown relative to here
    return bench
