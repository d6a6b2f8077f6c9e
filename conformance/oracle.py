"""Asks the program in `crdoracle/`, which is Kubernetes's own code, for a cluster's verdict on our objects."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import crds
import webhooks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = dict[str, Any]

SOURCE = crds.ROOT / "conformance" / "crdoracle"
KINDS = (*crds.FILES, "ConfigMap", "Deployment", "NetworkPolicy", "PersistentVolumeClaim", "ResourceQuota", "Service")
"""The kinds that the judge knows: by CRDs, and as Kubernetes's own."""


class NoJudgeError(Exception):
    """Raised if the judge cannot be asked on this machine; the text says why."""


class BrokenJudgeError(Exception):
    """Raised if the judge itself is at fault; the text says how."""


@dataclass(frozen=True, kw_only=True)
class Objection:
    """One thing that a cluster does with an object but should not."""

    kind: str  # one of: refused, pruned, drifted, rewritten
    message: str


def build() -> None:
    """Build the judge: minutes the first time, a second later.

    Raises:
        NoJudgeError: there is no Go, it is too old, or the Go modules cannot be had.
        BrokenJudgeError: a module is not the one that go.sum names, or Go does not compile the program.
    """
    go = shutil.which("go")
    if go is None:
        raise NoJudgeError("the judge is built with Go 1.26 or later, and there is no go")
    fault = _fails(go, "build", "-buildvcs=false", "-p", "2", "-ldflags=-s", "-o", "crdoracle", ".")
    lack = fault and _fails(go, "mod", "download")
    if lack and "checksum mismatch" not in lack:
        raise NoJudgeError(f"the Go modules of the judge cannot be had: {lack.splitlines()[-1]}")
    if fault:
        raise BrokenJudgeError(fault)


def _fails(*command: str) -> str:
    """Run a command of Go; return its output if it fails."""
    ran = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, encoding="utf-8", check=False)  # noqa: S603 - Go
    return ran.stderr.strip() or f"go ended with {ran.returncode}" if ran.returncode else ""


class Judge:
    """The running judge: one request a line, one answer a line."""

    def __init__(self) -> None:
        if lack := crds.missing(crds.folder()):
            raise NoJudgeError(lack)
        build()
        command = [str(SOURCE / "crdoracle"), "--crds", str(crds.folder()), "--no-defaulted", "serve"]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, request: Json) -> Json:
        """Return the answer to one request.

        Raises:
            BrokenJudgeError: the judge has ended.
        """
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise BrokenJudgeError("the judge ended without an answer")
        answer: Json = json.loads(line)
        return answer

    def objections(self, manifest: Json) -> Iterator[Objection]:
        """Create an object, update it with itself, and yield every disagreement.

        Where Kubernetes has nothing against it, our model of Volcano's webhooks is asked.
        """
        found = [*self._objections(manifest)]
        yield from found or (Objection(kind=kind, message=said) for kind, said in webhooks.objections(manifest))

    def _objections(self, manifest: Json) -> Iterator[Objection]:
        created = self.ask({"op": "create", "object": manifest})
        updated = self.ask({"op": "update", "via": "apply", "object": manifest, "old": manifest})
        for answer in (created, updated):
            if not answer["allowed"]:
                yield Objection(kind="refused", message=f"{answer['op']}: {answer['message']}")
        for path in created["pruned"]:
            yield Objection(kind="pruned", message=path)
        for path in [*created["drift"], *created.get("later", ())]:
            yield Objection(kind="drifted", message=path)
        if created["allowed"] and not updated.get("noop"):
            yield Objection(kind="rewritten", message="an update with the same object changes it")

    def refusal(self, old: Json, new: Json) -> str:
        """Return why another manifest cannot be applied over an existing object, or nothing if it can."""
        answer = self.ask({"op": "update", "via": "apply", "object": new, "old": old})
        return "" if answer["allowed"] else str(answer["message"])

    def read(self, text: str) -> Any:
        """Return the value of a YAML text as `sigs.k8s.io/yaml` reads it.

        Raises:
            ValueError: it does not read it.
        """
        return self._value({"op": "read", "yaml": text})

    def kustomize(self, files: Mapping[str, str]) -> list[Json]:
        """Return the objects that `kustomize build` makes from a folder, given as files by name.

        Raises:
            ValueError: it does not build it.
        """
        found: list[Json] = self._value({"op": "kustomize", "files": files})
        return found

    def _value(self, request: Json) -> Any:
        answer = self.ask(request)
        if not answer["allowed"]:
            raise ValueError(answer["message"])
        return answer.get("value")
