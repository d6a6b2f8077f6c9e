"""The rules for TensorBoards: a declared volume that their pod can mount beside the jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Note, Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops import Environment, Route, View


def check_board(environment: Environment, name: str, board: View) -> Iterator[Problem]:
    """Report what is wrong with one TensorBoard."""
    volumes: Any = environment.get("volumes") or {}
    at, wanted, asked = ("tensorboards", name), board["volume"], board.get("service") or {}
    if wanted not in volumes:
        declare = f"declare it at the top: `volumes: {{{wanted}: {{claim: …, path: /logs}}}}`"
        hint = did_you_mean(wanted, volumes, among="the volumes are", otherwise=declare)
        message = f"the volume '{wanted}' is not declared"
        yield Problem(code="TENSORBOARD01", message=message, at=(*at, "volume"), found=wanted, hint=hint)
    else:
        yield from _check_claim(environment, name, wanted, volumes)
    if "$(" in board.get("logdir", ""):
        message = f"the TensorBoard '{name}' has no run, so '{board['logdir']}' is no folder"
        hint = "leave `$(…)` out: TensorBoard shows the runs in the folders below `logdir` beside each other"
        yield Problem(code="TENSORBOARD01", message=message, at=(*at, "logdir"), found=board["logdir"], hint=hint)
    if "nodePort" in asked and asked.get("type") != "NodePort":
        message = "only a Service of type NodePort has a port of the nodes"
        hint = "add `type: NodePort`, or leave `nodePort` out"
        yield Problem(code="TENSORBOARD03", message=message, at=(*at, "service", "nodePort"), hint=hint)


def _check_claim(environment: Environment, name: str, wanted: str, volumes: Any) -> Iterator[Problem]:
    """Report a claim for one pod, or for one node, that somebody else mounts, too."""
    volume = volumes[wanted]
    access = volume.get("access", "ReadWriteOnce" if "size" in volume else "")
    if access not in ("ReadWriteOnce", "ReadWriteOncePod"):
        return
    claim = volume.get("claim", wanted)
    for user, volume_name, there in _users(environment, name):
        if volumes.get(volume_name, {}).get("claim", volume_name) == claim:
            one_pod = access.endswith("Pod")
            what = "one pod at a time can mount it" if one_pod else "pods of one node at a time can mount it"
            yield Problem(
                code="TENSORBOARD02", severity="error" if one_pod else "warning", at=("tensorboards", name, "volume"),
                message=f"the claim '{claim}' is {access}: {what}, and {user} mounts it, too, so one of them may wait "
                        "forever",
                found=access, expected="ReadWriteMany",
                hint=f"write `access: ReadWriteMany` in the volume '{wanted}', with a storage class that offers it",
                notes=(Note(message="mounted here too", at=there),),
            )  # fmt: skip
            return


def _users(environment: Environment, name: str) -> Iterator[tuple[str, str, Route]]:
    """Yield who else mounts a volume: the roles of all jobs, and the TensorBoards before this one."""
    for job in environment.jobs:
        for role in job.roles:
            for index, use in enumerate(role.get("volumes") or ()):
                yield f"the job '{job.name}'", use["name"], (*role.route, "volumes", index)
    for other, board in (environment.get("tensorboards") or {}).items():
        if other < name:
            yield f"the TensorBoard '{other}'", board["volume"], ("tensorboards", other, "volume")
