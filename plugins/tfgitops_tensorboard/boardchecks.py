"""The rules for TensorBoards: a declared volume that their pod can mount beside the jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops import Environment, View


def check_board(environment: Environment, name: str, board: View) -> Iterator[Problem]:
    """Report what is wrong with one TensorBoard."""
    volumes: Any = environment.get("volumes") or {}
    at, wanted = ("tensorboards", name), board["volume"]
    if wanted not in volumes:
        declare = f"declare it at the top: `volumes: {{{wanted}: {{claim: …, path: /logs}}}}`"
        hint = did_you_mean(wanted, volumes, among="the volumes are", otherwise=declare)
        message = f"the volume '{wanted}' is not declared"
        yield Problem(code="TENSORBOARD01", message=message, at=(*at, "volume"), found=wanted, hint=hint)
    if "$(" in board.get("logdir", ""):
        message = f"the TensorBoard '{name}' has no run, so '{board['logdir']}' is no folder"
        hint = "leave `$(…)` out: TensorBoard shows the runs in the folders below `logdir` beside each other"
        yield Problem(code="TENSORBOARD01", message=message, at=(*at, "logdir"), found=board["logdir"], hint=hint)
