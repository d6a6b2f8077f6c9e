"""TensorBoard: a server for the logs of the jobs, which only reads their volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops import Environment, Object, Problem, SchemaFragment, hookimpl, read_schema, server_objects
from tfgitops_tensorboard.board import DEFAULTS, PORT, board_pod
from tfgitops_tensorboard.boardchecks import check_board

if TYPE_CHECKING:
    from collections.abc import Iterator

tfgitops_api = 1

CODES = {
    "TENSORBOARD01": "a volume or a folder that a TensorBoard cannot show",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `tensorboards` at the top."""
    yield SchemaFragment("environment", "tensorboards", read_schema(__name__)["tensorboards"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Report the TensorBoards that could not start, or would show nothing."""
    for name, board in (environment.get("tensorboards") or {}).items():
        yield from check_board(environment, name, board)


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write a Deployment and a Service for each TensorBoard."""
    volumes = environment.get("volumes") or {}
    for name, board in (environment.get("tensorboards") or {}).items():
        volume = volumes.get(board["volume"], {})  # without it, the check has reported an error
        full, pod = {**DEFAULTS, **board}, board_pod(board, volume)
        yield from server_objects("tensorboard", name, full, pod, ("tensorboards", name), port=PORT)
