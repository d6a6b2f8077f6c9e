"""Each kind of file that we read, as a function of its bytes that ends with or without diagnostics, never with a crash.

`tests/test_bytereaders.py` calls them with inputs that crashed one of them and with edited files, and
`tools/fuzz_coverage.py` with inputs that reach new branches.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from checkout import REPOSITORY

from tfgitops import Plugins, compile_environment, discover
from tfgitops.adoption.sourcefiles import read_sources
from tfgitops.compiler.versionlock import refuse_changed_plugins
from tfgitops.planning.pinned import RefusedError, committed_job, job_path
from tfgitops.spec.committed import read_header, with_header
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.project import LOCK, SPEC, Project, parse_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEPT = REPOSITORY / "tests" / "crashed"
"""A folder for each reader, with the inputs that crashed it."""

SEEDS = {
    "spec": "tests/cases/*/*/environment.yaml",
    "lock": "tfgitops.lock",
    "settings": "tests/plugins/external/*/tests/cases/*/*/pyproject.toml",
    "manifest": "environments/tutorial/manifests/workloads/job-*.yaml",
    "import": "tests/adoption/cases/*.yaml",
}
"""For each reader the files that fuzzers start from."""


def seeds(kind: str, most: int = 4096) -> list[bytes]:
    """Return what fuzzers of a reader start from: those that are not too long to be read thousands of times."""
    found = [path.read_bytes() for path in sorted(REPOSITORY.glob(SEEDS[kind]))]
    return [data for data in found if len(data) <= most]


@dataclass(frozen=True)
class Readers:
    """The readers, with a folder for the files that they read."""

    folder: Path
    plugins: Plugins = field(default_factory=lambda: discover(Project(root=REPOSITORY)))

    @cached_property
    def by_kind(self) -> dict[str, Callable[[bytes], object]]:
        """The function of each kind of file."""
        found = {
            "spec": self._spec,
            "lock": self._lock,
            "settings": lambda data: parse_project(self.folder, b"# tfgitops\n" + data),
            "manifest": self._manifest,
            "import": self._import,
        }
        assert found.keys() == SEEDS.keys()
        return found

    def read(self, kind: str, data: bytes) -> None:
        """Read some bytes; raise whatever is not a diagnostic."""
        with contextlib.suppress(CompileError, RefusedError):
            self.by_kind[kind](data)

    def _spec(self, data: bytes) -> None:
        (self.folder / SPEC).write_bytes(data)
        result = compile_environment(self.folder, self.plugins)
        assert result.ok or any(found.severity == "error" for found in result.diagnostics)
        for found in result.diagnostics:  # a message is shown, so it is text
            f"{found.message}{found.hint}".encode()

    def _lock(self, data: bytes) -> None:
        (self.folder / LOCK).write_bytes(data)
        refuse_changed_plugins(Project(root=self.folder, plugins=("plugins/cost.py",)))

    def _manifest(self, data: bytes) -> None:
        text = data.decode(errors="replace")
        read_header(text)
        body = text.partition("\n")[2].partition("\n")[2] if text.startswith("# Generated") else text
        made = with_header(body, "environment.yaml jobs.tf-dist-mnist", "00000000")
        committed_job("tf-dist-mnist", "default", {job_path("tf-dist-mnist"): made})

    def _import(self, data: bytes) -> None:
        (self.folder / "source.yaml").write_bytes(data)
        read_sources([str(self.folder / "source.yaml")])
