"""The health checks run in real interpreters of Lua and CEL, over the statuses of every phase of Volcano."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cel
import pytest
from lupa import lua51

from tfgitops.controllers.health import JOB, KINDS, PODGROUP, QUEUE

if TYPE_CHECKING:
    from tfgitops.controllers.health import Health

PHASES = {
    "Job": (
        "Pending", "Aborting", "Aborted", "Running", "Restarting", "Completing", "Completed", "Terminating",
        "Terminated", "Failed",
    ),
    "Queue": ("Open", "Closed", "Closing", "Unknown"),
    "PodGroup": ("Pending", "Running", "Unknown", "Inqueue", "Completed"),
}  # fmt: skip
"""The constants of Volcano's API, in its order: `batch/v1alpha1/job.go` and `scheduling/v1beta1/types.go`."""

RECORDED: dict[str, Any] = {
    "Job": {
        "minAvailable": 2, "running": 2, "version": 1, "runningDuration": "1m3s",
        "taskStatusCount": {"worker": {"phase": {"Running": 2}}}, "controlledResources": {"plugin-svc": "svc"},
        "state": {"lastTransitionTime": "2026-11-28T12:00:00Z", "message": "", "reason": ""},
        "conditions": [{"lastTransitionTime": "2026-11-28T12:00:00Z", "status": "Running"}],
    },
    "Queue": {"allocated": {"cpu": "0", "memory": "0"}, "reservation": {}},
    "PodGroup": {
        "running": 2,
        "conditions": [{"type": "Scheduled", "status": "True", "reason": "tasks in gang are ready to be scheduled"}],
    },
}  # fmt: skip
"""The status of an object of a live Volcano, without its phase."""

ABSENT = object()


def with_phase(kind: Health, phase: Any) -> dict[str, Any]:
    """Return an object of a live cluster in some phase."""
    status = {key: dict(value) if isinstance(value, dict) else value for key, value in RECORDED[kind.kind].items()}
    *above, last = kind.phase
    place = status
    for key in above:
        place = place[key]
    if phase is not ABSENT:
        place[last] = phase
    metadata = {"name": "one", "generation": 1}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": {}, "status": status}


def by_lua(kind: Health, manifest: dict[str, Any]) -> tuple[str, str]:
    """Return what Argo CD makes of an object: it runs the script with `obj`, and reads a table."""
    runtime = lua51.LuaRuntime()
    for library in ("io", "os", "string", "math", "debug"):  # Argo CD opens no such library
        runtime.globals()[library] = None
    runtime.globals().obj = runtime.table_from(manifest, recursive=True)
    answer = runtime.execute(kind.lua)
    return answer.status, answer.message


def by_cel(kind: Health, manifest: dict[str, Any]) -> str:
    """Return what Flux makes of an object: `failed` first, then `current`; an error is no answer."""
    for status, expression in (("Failed", kind.cel.get("failed")), ("Current", kind.cel["current"])):
        try:
            if expression and cel.evaluate(expression, manifest):
                return status
        except RuntimeError:
            return "Unknown"
    return "InProgress"


CASES = [(kind, phase) for kind in KINDS for phase in PHASES[kind.kind]]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_the_table_has_each_phase_of_volcano_and_no_other(kind: Health) -> None:
    assert sorted(kind.verdicts) == sorted(PHASES[kind.kind])


@pytest.mark.parametrize(("kind", "phase"), CASES, ids=lambda value: getattr(value, "kind", value))
def test_lua_says_what_the_table_says(kind: Health, phase: str) -> None:
    assert by_lua(kind, with_phase(kind, phase)) == (kind.verdicts[phase], phase)


@pytest.mark.parametrize(("kind", "phase"), CASES, ids=lambda value: getattr(value, "kind", value))
def test_cel_says_the_same_as_lua(kind: Health, phase: str) -> None:
    manifest = with_phase(kind, phase)
    assert by_cel(kind, manifest) == ("Failed" if by_lua(kind, manifest)[0] == "Degraded" else "Current")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_phase_of_a_later_volcano_is_no_failure(kind: Health) -> None:
    manifest = with_phase(kind, "Dreaming")
    assert by_lua(kind, manifest) == (kind.otherwise, "Dreaming")
    assert by_cel(kind, manifest) == "Current"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("status", ["no phase", "empty phase", "empty status", "no status"])
def test_an_object_that_volcano_has_not_seen_is_waited_for(kind: Health, status: str) -> None:
    manifest = with_phase(kind, "" if status == "empty phase" else ABSENT)
    if status == "empty status":
        manifest["status"] = {}
    elif status == "no status":
        del manifest["status"]
    assert by_lua(kind, manifest)[0] == "Progressing"
    assert by_cel(kind, manifest) == ("Unknown" if status == "no status" else "InProgress")


def test_the_verdicts_that_were_tried_on_live_objects() -> None:
    assert {phase for phase, verdict in JOB.verdicts.items() if verdict == "Degraded"} == {"Failed", "Terminated"}
    assert JOB.verdicts["Aborted"] == "Suspended"
    assert JOB.verdicts["Completed"] == "Healthy"
    assert set(QUEUE.verdicts.values()) == {"Healthy"}  # a Closing one would hold up all later waves
    assert PODGROUP.verdicts["Unknown"] == "Degraded"
