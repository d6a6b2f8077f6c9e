"""A folder in which the texts of specs are compiled, with chosen plugins and settings."""

from __future__ import annotations

import textwrap
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.spec.project import SPEC, Project, find_root, read_project
from tfgitops.spec.yamltext import parse
from tfgitops.testing.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tfgitops.plugins.door import Plugins

    Settings = Mapping[str, Mapping[str, Any]]

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
"""What is put before a spec that has no ``apiVersion``."""


class Bench:
    """Compiles texts in ``root/environments/test``; ``read`` makes values of a manifest's text."""

    def __init__(self, root: Path, plugins: Plugins, read: Callable[[str], Any] = parse) -> None:
        self.folder = root / "environments" / "test"
        self._root = root
        self._plugins = plugins
        self._read = read

    def __call__(
        self,
        text: str,
        files: Mapping[str, str] | None = None,
        *,
        head: bool = True,
        plugins: Plugins | None = None,
        settings: Settings | None = None,
    ) -> Result:
        """Compile the text of an environment, with `HEAD` put before it unless it has a head.

        Args:
            text: the text of ``environment.yaml``, which may be indented as a whole.
            files: the texts of further files, by their path relative to the environment's folder.
            head: whether a head is put before a text without one.
            plugins: others than those of the bench.
            settings: what pyproject.toml would have in ``[tool.tfgitops.settings]``, by the plugin's name.
        """
        _write(self.folder, text, files or {}, head=head)
        chosen = plugins or self._plugins
        project = Project(root=self._root, settings=plain(settings))
        return Result(compile_environment(self.folder, chosen, project), chosen, self._read)


@contextmanager
def opened(spec: Path | str, settings: Settings) -> Iterator[tuple[Path, Project]]:
    """Give the folder of a spec, which is one or the text of one, and its project with some settings."""
    with TemporaryDirectory() as place:
        folder = spec if isinstance(spec, Path) else Path(place, "environments", "test")
        if not isinstance(spec, Path):
            _write(folder, spec, {}, head=True)
        project = read_project(find_root(folder.resolve()))
        yield folder.resolve(), replace(project, settings={**plain(settings), **project.settings})


def plain(settings: Settings | None) -> dict[str, dict[str, Any]]:
    """Return settings as they are read from a file."""
    return {name: dict(values) for name, values in (settings or {}).items()}


def _write(folder: Path, text: str, files: Mapping[str, str], *, head: bool) -> None:
    text = textwrap.dedent(text)
    whole = HEAD + text if head and "apiVersion:" not in text else text
    for path, content in {SPEC: whole, **files}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(content), encoding="utf-8")
