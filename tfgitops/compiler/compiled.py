"""The result of one compile: the files, the objects in them, and the diagnostics."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.compiler.emit import emit
from tfgitops.planning.plan import level
from tfgitops.spec.committed import with_header
from tfgitops.spec.diagnostics import as_errors, has_errors
from tfgitops.targets.gitops import KUSTOMIZATION, kustomization

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from tfgitops.admission.allowances import Allowances, Allowed
    from tfgitops.planning.plan import Planned
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.disk import Answer
    from tfgitops.spec.model import Environment
    from tfgitops.targets.routes import Route


@dataclass(frozen=True, kw_only=True)
class File:
    """One generated file: its path relative to ``manifests/`` or ``bootstrap/``, and its text."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """The result of one environment: all diagnostics, and without errors its files.

    If only the manifests have errors, ``environment`` and ``objects`` are set all the same. ``bootstrap`` are the files
    beside the manifests, for the controller. ``allowances`` are the exceptions, for what is found later. With files,
    ``answers`` are those of the disk.
    """

    folder: Path
    diagnostics: tuple[Diagnostic, ...]
    allowances: Allowances | None = field(default=None, repr=False)
    environment: Environment | None = None
    objects: tuple[Planned, ...] = field(default=(), repr=False)
    files: tuple[File, ...] = field(default=(), repr=False)
    bootstrap: tuple[File, ...] = field(default=(), repr=False)
    answers: AbstractSet[Answer] = field(default=frozenset(), repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the files may be written."""
        return not has_errors(self.diagnostics)

    @property
    def allowed(self) -> tuple[Allowed, ...]:
        """The diagnostics that an exception suppresses."""
        return self.allowances.allowed if self.allowances else ()

    def as_strict(self) -> Compiled:
        """Return the result with its warnings as errors."""
        return replace(self, diagnostics=tuple(as_errors(self.diagnostics)))


def files(environment: Environment, objects: Iterable[Planned]) -> Iterator[File]:
    """Yield a file for each object, in the order of applying, and the kustomizations if the spec asks for them."""
    source = _sources(environment)
    for planned in objects:
        text = planned.text or with_header(emit(planned.manifest), source(planned.because), planned.own)
        yield File(path=planned.path, text=text)
    if environment.data.get("kustomization"):
        for folder, group in groupby(objects, key=lambda planned: planned.folder):
            body = emit(kustomization([planned.file for planned in group]))
            yield File(path=f"{folder}/{KUSTOMIZATION}", text=with_header(body, source(("kustomization",))))


def bootstrap_files(environment: Environment, objects: Sequence[Planned], root: Path) -> Iterator[File]:
    """Yield a file for each object by which a controller applies the environment, if the spec asks for them."""
    from tfgitops.controllers.bootstrapfiles import KEY, bootstrap_objects  # noqa: PLC0415 - few specs ask for them

    for path, manifest in bootstrap_objects(environment, objects, root):
        yield File(path=path, text=with_header(emit(manifest), _sources(environment)((KEY,))))


def _sources(environment: Environment) -> Callable[[Route], str]:
    """Return what names the source of a header: a file, relative to the environment, and a route in it."""
    names = {
        document.path: Path(os.path.relpath(document.path, environment.folder)).as_posix()
        for document in environment.places.documents
    }

    def source(route: Route) -> str:
        document, written = environment.places.find(route)
        return " ".join(filter(None, (names[document.path], ".".join(map(str, written[len(document.prefix) :])))))

    return source


def documents(results: Iterable[Compiled]) -> str:
    """Return the manifests of all environments as one stream of YAML documents, in the order of applying."""
    found = [file for compiled in results if compiled.ok for file in compiled.files]
    found = [file for file in found if not file.path.endswith(f"/{KUSTOMIZATION}")]
    return "---\n".join(file.text for file in sorted(found, key=lambda file: level(file.path.partition("/")[0])))
