"""One compiled environment to look into: its objects by kind, job, role and container, and what was found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfgitops.report.text import render
from tfgitops.spec.yamltext import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Diagnostic


class Container(dict[str, Any]):
    """A container as a map, and what tests ask of one."""

    @property
    def env(self) -> dict[str, Any]:
        """The variables by name: the text of each, or what it is read from."""
        return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in self.get("env", ())}

    @property
    def requests(self) -> dict[str, Any]:
        """What it requests, by resource."""
        return dict(self.get("resources", {}).get("requests", {}))

    @property
    def limits(self) -> dict[str, Any]:
        """What it may use, by resource."""
        return dict(self.get("resources", {}).get("limits", {}))

    @property
    def mounts(self) -> dict[str, dict[str, Any]]:
        """Its mounts, by path."""
        return {mount["mountPath"]: mount for mount in self.get("volumeMounts", ())}


class _Described(dict[str, Any]):
    """A map, and the metadata of what it describes."""

    def __init__(self, value: dict[str, Any], metadata: dict[str, Any]) -> None:
        super().__init__(value)
        self.metadata = metadata

    @property
    def labels(self) -> dict[str, str]:
        """The labels."""
        return dict(self.metadata.get("labels", {}))

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations."""
        return dict(self.metadata.get("annotations", {}))


class Pod(_Described):
    """The spec of a pod template as a map; ``metadata`` is what stands beside it."""

    def __init__(self, template: dict[str, Any]) -> None:
        super().__init__(template["spec"], template.get("metadata", {}))

    @property
    def container(self) -> Container:
        """The training container, which comes first."""
        return Container(self["containers"][0])

    @property
    def sidecars(self) -> dict[str, Container]:
        """The init containers, native sidecars among them, by name."""
        return {entry["name"]: Container(entry) for entry in self.get("initContainers", ())}

    @property
    def volumes(self) -> dict[str, dict[str, Any]]:
        """The volumes, by name."""
        return {volume["name"]: volume for volume in self.get("volumes", ())}


class Task(dict[str, Any]):
    """A task of a Volcano Job as a map."""

    @property
    def pod(self) -> Pod:
        """The pod template of the task."""
        return Pod(self["template"])


class Manifest(_Described):
    """An object as a map, and what tests ask of one."""

    def __init__(self, manifest: dict[str, Any]) -> None:
        super().__init__(manifest, manifest.get("metadata", {}))  # a Kustomization has none

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.metadata["name"])

    @property
    def tasks(self) -> dict[str, Task]:
        """The tasks of a Volcano Job, by role."""
        return {task["name"]: Task(task) for task in self["spec"]["tasks"]}


class Result:
    """One compiled environment, by job, role and container.

    ``ok`` says whether it may be written, ``codes`` and ``text`` what was found, as codes and as the terminal shows it,
    ``files`` the text of each file by its path below ``manifests/``. ``read`` makes values of a manifest's text.

    What looks into a job fails with all that was found where the spec does not compile. Where the environment has one
    job, it need not be named.
    """

    def __init__(self, compiled: Compiled, plugins: Plugins | None = None, read: Callable[[str], Any] = parse) -> None:
        self.compiled = compiled
        self.ok = compiled.ok
        self.diagnostics: tuple[Diagnostic, ...] = compiled.diagnostics
        self.text = render(compiled.diagnostics)
        self.codes = [diagnostic.code for diagnostic in compiled.diagnostics]
        self.files = {file.path: file.text for file in compiled.files}
        self._plugins = plugins
        self._read = read

    def found(self, code: str) -> Diagnostic:
        """Return the one diagnostic of a code."""
        found = [diagnostic for diagnostic in self.diagnostics if diagnostic.code == code]
        if len(found) != 1:
            raise AssertionError(f"{code} was found {len(found)} times, not once:\n{self.text or 'nothing was found'}")
        return found[0]

    def line(self, code: str) -> int:
        """Return the line on which the one diagnostic of a code stands."""
        span = self.found(code).span
        if span is None:
            raise AssertionError(f"{code} stands on no line:\n{self.text}")
        return span.line

    def manifest(self, path: str) -> Manifest:
        """Read one file, such as ``cluster/queue-vision.yaml``."""
        assert self.ok, self.text
        if path not in self.files:
            raise AssertionError(f"there is no {path}: there are {', '.join(self.files) or 'no files'}")
        return Manifest(self._read(self.files[path]))

    def object(self, kind: str, name: str) -> Manifest:
        """Return an object by its kind and name."""
        for manifest in self.objects(kind):
            if manifest.name == name:
                return manifest
        known = ", ".join(manifest.name for manifest in self.objects(kind)) or "there is none of this kind"
        raise AssertionError(f"there is no {kind} '{name}': {known}\n{self.text}")

    def objects(self, kind: str) -> list[Manifest]:
        """Return all objects of a kind, in the order in which they are applied."""
        everything = [Manifest(self._read(text)) for text in self.files.values()]
        return [manifest for manifest in everything if manifest["kind"] == kind]

    def job(self, name: str = "") -> Manifest:
        """Return the Volcano Job of a job."""
        return self.manifest(f"workloads/job-{name or self._only_job()}.yaml")

    def task(self, role: str, job: str = "") -> Task:
        """Return the task of a role."""
        tasks = self.job(job).tasks
        if role not in tasks:
            raise AssertionError(f"there is no role '{role}': the job has {', '.join(tasks)}")
        return tasks[role]

    def pod(self, role: str, job: str = "") -> Pod:
        """Return the spec of a role's pods."""
        return self.task(role, job).pod

    def container(self, role: str, job: str = "") -> Container:
        """Return the training container of a role."""
        return self.pod(role, job).container

    def env(self, role: str, job: str = "") -> dict[str, Any]:
        """Return the variables of a role's training container, by name."""
        return self.container(role, job).env

    def tf_config(self, role: str, index: int = 0, job: str = "") -> dict[str, Any]:
        """Return the TF_CONFIG that a replica of a role gets."""
        return dict(json.loads(self.env(role, job)["TF_CONFIG"].replace("$(TASK_INDEX)", str(index))))

    def explain(self, wanted: str, field: str) -> str:
        """Return what `tfgitops explain` says of a field: `explain("train", "metadata.labels[team]")`."""
        from tfgitops.report.explanation import Paper, answer  # noqa: PLC0415 - for those who ask

        assert self._plugins is not None
        return str(answer(self.compiled, self._plugins, wanted, field, Paper()))

    def _only_job(self) -> str:
        assert self.ok, self.text
        assert self.compiled.environment is not None
        names = sorted(self.compiled.environment.by_name)
        if len(names) != 1:
            raise AssertionError(f"say which job is meant: {', '.join(names)}")
        return names[0]
