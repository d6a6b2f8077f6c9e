"""A folder in which the texts of specs are compiled, with chosen plugins and settings."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.spec.project import SPEC, Project
from tfgitops.spec.yamltext import parse
from tfgitops.testing.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tfgitops.plugins.door import Plugins

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
        settings: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Result:
        """Compile the text of an environment, with `HEAD` put before it unless it has a head.

        Args:
            text: the text of ``environment.yaml``, which may be indented as a whole.
            files: the texts of further files, by their path relative to the environment's folder.
            head: whether a head is put before a text without one.
            plugins: others than those of the bench.
            settings: what pyproject.toml would have in ``[tool.tfgitops.settings]``, by the plugin's name.
        """
        text = textwrap.dedent(text)
        whole = text if not head or "apiVersion:" in text else HEAD + text
        for path, content in {SPEC: whole, **(files or {})}.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(textwrap.dedent(content), encoding="utf-8")
        chosen = plugins or self._plugins
        given = {name: dict(values) for name, values in (settings or {}).items()}
        project = Project(root=self._root, settings=given)
        return Result(compile_environment(self.folder, chosen, project), chosen, self._read)
