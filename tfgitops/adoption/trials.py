"""Compile proposed specs with the real compiler, in a folder of their own."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.spec.model import JOB_LABEL
from tfgitops.spec.project import SPEC, Project

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfgitops.adoption.drafts import Draft
    from tfgitops.adoption.shelf import Shelf
    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugins

    Json = dict[str, Any]

HEAD: Json = {"apiVersion": "tfgitops/v1alpha1", "kind": "Environment"}


class TrialJob(NamedTuple):
    """What a proposed job compiles to: the Job, or None, and all that the compiler says."""

    compiled: Compiled
    job: Json | None


class Trials:
    """Compiles environments that stand in no repository; use it as a context."""

    def __init__(self, plugins: Plugins, namespace: str, files: Iterable[Mapping[str, str]] = ()) -> None:
        self._plugins = plugins
        self._namespace = namespace
        self._folder = TemporaryDirectory()
        for path, text in (pair for some in files for pair in some.items()):
            place = Path(self._folder.name, "environment", path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    @property
    def known_keys(self) -> set[str]:
        """The keys that a role may have."""
        return {*self._plugins.schema.role["properties"]}

    def text(self, text: str) -> Compiled:
        """Compile the text of a spec."""
        folder = Path(self._folder.name).resolve() / "environment"
        folder.mkdir(exist_ok=True)
        (folder / SPEC).write_text(text, encoding="utf-8")
        return compile_environment(folder, self._plugins, Project(root=folder))

    def job(self, name: str, draft: Draft, shelf: Shelf) -> TrialJob:
        """Compile one job by itself, with what it shares with others."""
        spec = {**HEAD, "namespace": self._namespace, **shelf.blocks}
        compiled = self.text(json.dumps({**spec, "jobs": {name: draft.data}}))
        return TrialJob(compiled, jobs_of(compiled).get(name))


def jobs_of(compiled: Compiled) -> dict[str, Json]:
    """Return the compiled Jobs, by the names of their jobs."""
    jobs = [planned.manifest for planned in compiled.objects if planned.manifest["kind"] == "Job"]
    return {job["metadata"]["labels"][JOB_LABEL]: job for job in jobs}
