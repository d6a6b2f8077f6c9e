"""Asks Kubernetes's own code, the program in `crdoracle/`, what a cluster would say of our objects."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, Any]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BINARY = HERE / "crdoracle" / "crdoracle"
KINDS = ("Job", "Queue")


class NoJudgeError(Exception):
    """The judge cannot be asked, and the text says why."""


@dataclass(frozen=True, kw_only=True)
class Objection:
    """One thing that a cluster does with an object, and should not."""

    kind: str  # refused, pruned, drifted or rewritten
    message: str


def crds() -> Path:
    """Return the folder of Volcano's CRDs: VOLCANO_CRDS, relative to the repository."""
    return ROOT / os.environ.get("VOLCANO_CRDS", "../shared/oracle/crds")


class Judge:
    """The running judge: one request a line, one answer a line."""

    def __init__(self) -> None:
        if not BINARY.is_file():
            raise NoJudgeError("the judge is not built: run `make conformance`")
        if not any(crds().glob("*.yaml")):
            raise NoJudgeError(f"no CRDs of Volcano in {crds()}: name their folder by VOLCANO_CRDS")
        command = [str(BINARY), "--crds", str(crds()), "--no-defaulted", "serve"]
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
            NoJudgeError: the judge has ended.
        """
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise NoJudgeError("the judge ended without an answer")
        answer: Json = json.loads(line)
        return answer

    def objections(self, manifest: Json) -> Iterator[Objection]:
        """Create an object, then update it with itself, and yield all that is not as it should be."""
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

    def read(self, text: str) -> Any:
        """Return the value of a YAML text as `sigs.k8s.io/yaml` reads it.

        Raises:
            ValueError: it does not read it.
        """
        answer = self.ask({"op": "read", "yaml": text})
        if not answer["allowed"]:
            raise ValueError(answer["message"])
        return answer.get("value")
