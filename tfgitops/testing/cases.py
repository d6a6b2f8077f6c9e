"""The cases of a plugin: folders of specs with what is expected, tried with pytest or by `tfgitops plugins test`."""

from __future__ import annotations

import difflib
import inspect
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.session import Session, compile_all
from tfgitops.compiler.write import apply, compare
from tfgitops.report.text import render, totals
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError, counted, has_errors, ordered
from tfgitops.spec.disk import kind_of, resolved, shown
from tfgitops.spec.project import find_environments, find_root, read_project
from tfgitops.testing.bench import find_plugins, load_file, load_package, names_plugins, plain
from tfgitops.testing.contract import breaches, check_plugin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pytest

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugin, Plugins
    from tfgitops.testing.bench import Settings

EXPECTED = "expected.txt"
KINDS = ("ok", "bad")


class CaseFailedError(AssertionError):
    """A case that does not say, or make, what it should; with the difference, line by line."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case: a folder below ``ok/`` or ``bad/`` with an environment, or several.

    In ``ok/`` the specs compile to the manifests that lie beside them, in ``manifests/`` as committed. In ``bad/`` they
    do not compile. In both ``expected.txt`` is all that is said of them, and is not there where that is nothing. A case
    is a root of its own, with the ``[tool.tfgitops.settings]`` of its own pyproject.toml where it has one.
    """

    folder: Path
    good: bool

    @property
    def name(self) -> str:
        """Its kind and its folder, such as ``ok/first``."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def environments(self) -> list[Path]:
        """The folders of its environments."""
        return find_environments(self.folder)

    def run(self, plugins: Plugins, *, refresh: bool = False, settings: Settings | None = None) -> None:
        """Compile the case, and compare the result with the files of the case.

        Args:
            plugins: what it is compiled with.
            refresh: write the manifests and ``expected.txt`` anew instead, unless a plugin is at fault.
            settings: those of the plugins, where the case has no pyproject.toml.

        Raises CaseFailedError if the result is another one.
        """
        __tracebackhide__ = True  # pytest shows what is different, not where this noticed
        results = self._compile(plugins, settings)
        found = list(ordered(diagnostic for compiled in results for diagnostic in compiled.diagnostics))
        said = f"{render(found)}\n{totals(found)}\n" if found else ""
        if self.good and has_errors(found):
            raise CaseFailedError(f"{self.name} does not compile\n\n{said}")
        if not self.good and not has_errors(found):
            raise CaseFailedError(f"{self.name} should not compile, and does\n\n{said}".rstrip())
        if refresh and (fault := next((one for one in found if one.code.startswith("TF9")), None)):
            raise CaseFailedError(f"{self.name} is not written: it would keep a fault of a plugin\n\n{render([fault])}")
        differences = [*self._said(said, refresh=refresh)]
        for compiled in results if self.good else ():
            differences += self._made(compiled, refresh=refresh)
        if differences:
            raise CaseFailedError("\n".join([f"{self.name} is not as it was", *differences]))

    def _compile(self, plugins: Plugins, settings: Settings | None) -> list[Compiled]:
        project = read_project(self.folder)
        if not (self.folder / "pyproject.toml").exists():
            project = replace(project, settings=plain(settings))
        with chdir(self.folder):  # what is said names files relative to the case
            try:
                folders = self.environments
            except CompileError as error:
                raise CaseFailedError(f"{self.name} holds no environment: {error}") from error
            return compile_all(Session(project=project, plugins=plugins, folders=folders, abandoned=()))

    def _said(self, said: str, *, refresh: bool) -> Iterator[str]:
        path = self.folder / EXPECTED
        if refresh and said:
            path.write_text(said, encoding="utf-8", newline="\n")
        elif refresh:
            path.unlink(missing_ok=True)
        yield from self._difference(path, said)

    def _made(self, compiled: Compiled, *, refresh: bool) -> Iterator[str]:
        try:
            differences = compare(compiled.folder, compiled.files)
            if refresh:
                apply(compiled.folder, compiled.files, differences, [])
                differences = compare(compiled.folder, compiled.files)
        except CompileError as error:
            yield str(error)
            return
        texts = {file.path: file.text for file in compiled.files}
        for path in (difference.path for difference in differences):
            yield from self._difference(compiled.folder / MANIFESTS / path, texts.get(path, ""))

    def _difference(self, path: Path, new: str) -> Iterator[str]:
        name, old = path.relative_to(self.folder).as_posix(), path.read_text(encoding="utf-8") if path.exists() else ""
        heads = f"{name} (expected)", f"{name} (found)"
        yield from difflib.unified_diff(old.splitlines(), new.splitlines(), *heads, lineterm="")


def find_cases(folder: Path) -> list[Case]:
    """Return the cases of a folder with ``ok/``, ``bad/`` or both, sorted; raise CompileError if there is none."""
    found = [
        Case(folder=place.resolve(), good=kind == "ok")
        for kind in KINDS
        if (folder / kind).is_dir()
        for place in sorted((folder / kind).iterdir())
        if place.is_dir() and not place.name.startswith(".")
    ]
    if not found:
        hint = "a case is a folder in ok/ or bad/ with an environment.yaml"
        raise CompileError.of("TF101", f"there are no cases in {folder}", hint)
    return found


def specs_of(cases: Sequence[Case]) -> list[Path]:
    """Return the folders of the environments of some cases."""
    return [environment for case in cases for environment in case.environments]


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


def run(path: Path, *, refresh: bool = False) -> Iterator[tuple[str, str]]:
    """Try each case, and then each plugin's contract, in a package's folder, a repository, or for one local file.

    Yields the name of each trial, and what is wrong, which is empty for a trial that passed. ``refresh`` writes anew
    what the cases expect. Where there are no cases, the contract is checked on the repository's
    environments. Raises CompileError if there is no plugin, or nothing to try it on.
    """
    plugins, cases, specs, settings = _find(resolved(path))
    together = find_plugins(*plugins)
    for case in cases:
        fault = ""
        try:
            case.run(together, refresh=refresh, settings=settings)
        except CaseFailedError as error:
            fault = str(error)
        yield f"case {case.name}", fault
    for plugin in plugins:
        name = f"contract of '{plugin.name}' on {counted(len(specs), 'spec')}"
        if plugin.name in together.late:
            yield name, "not tried: it did not come to an end before"
        else:
            yield name, "\n".join(map(str, breaches(plugin, specs, settings=settings)))


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
