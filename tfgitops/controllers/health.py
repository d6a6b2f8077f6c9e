"""The health of Volcano's objects by their phase: one table, of which Argo CD's Lua and Flux's CEL are made.

The phases are those of Volcano's API (`batch/v1alpha1/job.go`, `scheduling/v1beta1/types.go`); docs/volcano.md 7 says
why a phase has its health.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    Verdict = Literal["Healthy", "Progressing", "Degraded", "Suspended"]


@dataclass(frozen=True, kw_only=True)
class Health:
    """The health of one kind: where its phase stands in the status, and the verdict of each phase.

    An object without a phase is Progressing: Volcano has not seen it. ``otherwise`` is the verdict of phases that a
    later Volcano may add.
    """

    api_version: str
    kind: str
    phase: tuple[str, ...]
    verdicts: Mapping[str, Verdict]
    otherwise: Verdict

    @property
    def lua(self) -> str:
        """Argo CD's health check: a Lua script that reads ``obj`` and returns ``status`` and ``message``."""
        said = ", ".join(f'{phase} = "{word}"' for phase, word in self.verdicts.items() if word != self.otherwise)
        steps = "".join(f"phase = type(phase) == 'table' and phase.{key} or nil\n" for key in ("status", *self.phase))
        return (
            f"local health = {{{said}}}\nlocal phase = obj\n{steps}"
            'if phase == nil or phase == "" then\n'
            '  return {status = "Progressing", message = "Volcano has not seen it yet"}\nend\n'
            f'return {{status = health[phase] or "{self.otherwise}", message = phase}}\n'
        )

    @property
    def cel(self) -> dict[str, str]:
        """Flux's health check: the texts of ``current`` and ``failed``.

        Flux's wait ends with Current or Failed. A training runs for days, so each phase that is not Degraded is
        Current. Without a phase, both expressions are false, and Flux waits.
        """
        fields = ["status", *self.phase]
        paths = [".".join(fields[:depth]) for depth in range(2, len(fields) + 1)]
        known = " && ".join([*(f"has({path})" for path in paths), f"{paths[-1]} != ''"])
        degraded = [f"'{phase}'" for phase, verdict in self.verdicts.items() if verdict == "Degraded"]
        if not degraded:
            return {"current": known}
        listed = f"{paths[-1]} in [{', '.join(degraded)}]"
        return {"current": f"{known} && !({listed})", "failed": f"{known} && {listed}"}

    @property
    def expressions(self) -> dict[str, str]:
        """One element of ``healthCheckExprs`` of a Kustomization."""
        return {"apiVersion": self.api_version, "kind": self.kind, **self.cel}


JOB = Health(
    api_version="batch.volcano.sh/v1alpha1", kind="Job", phase=("state", "phase"), otherwise="Progressing",
    verdicts={
        "Pending": "Progressing", "Running": "Progressing", "Restarting": "Progressing", "Completing": "Progressing",
        "Completed": "Healthy", "Aborting": "Progressing", "Aborted": "Suspended", "Terminating": "Progressing",
        "Terminated": "Degraded", "Failed": "Degraded",
    },
)  # fmt: skip
QUEUE = Health(
    api_version="scheduling.volcano.sh/v1beta1", kind="Queue", phase=("state",), otherwise="Healthy",
    verdicts={"Open": "Healthy", "Closing": "Healthy", "Closed": "Healthy", "Unknown": "Healthy"},
)  # fmt: skip
"""A Closing queue that is Progressing would hold up all waves behind it."""
PODGROUP = Health(
    api_version="scheduling.volcano.sh/v1beta1", kind="PodGroup", phase=("phase",), otherwise="Progressing",
    verdicts={
        "Pending": "Progressing", "Inqueue": "Progressing", "Running": "Healthy", "Unknown": "Degraded",
        "Completed": "Healthy",
    },
)  # fmt: skip
"""Volcano makes it for each Job. Unknown is a gang of which some pods run, and others find no room."""

KINDS = (JOB, QUEUE, PODGROUP)
