"""Whatever is taken out of a spec, it is what is blamed for the runs that follow, and nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from tfgitops.spec.yamltext import parse
from tfgitops.targets.routes import nodes, value_at

if TYPE_CHECKING:
    from repository import Repository

FILES = ("environments/base.yaml", "environments/prod/environment.yaml")


def _without(value: Any, route: tuple[str | int, ...]) -> str:
    copy = deepcopy(value)
    del value_at(copy, route[:-1])[route[-1]]
    return json.dumps(copy, indent=1)


def _is_of(cause: dict[str, Any], file: str, route: tuple[str | int, ...]) -> bool:
    """Tell whether a cause is what was taken out, or a part of it, or what that is a part of."""
    at = tuple(cause["route"])
    return cause["file"] == file and route[: len(at)] == at[: len(route)]


def test_what_is_taken_out_is_the_cause(full: Repository) -> None:
    values = {file: parse(full.read(file)) for file in FILES}
    for file, value in values.items():
        full.write(file, json.dumps(value, indent=1))
    full.keep()
    told = 0
    for file, value in values.items():
        for route in [one for one in nodes(value) if one[0] in ("jobs", "defaults", "volumes") and one[1:]]:
            full.write(file, _without(value, route))
            result = full.review("--format", "json")
            assert result.exception is None or isinstance(result.exception, SystemExit), (file, route)
            runs = [run for one in json.loads(result.stdout)["environments"] for run in one["changes"]]
            for run in (one for one in runs if one["verdict"] == "new run"):
                assert run["causes"], (file, route, run["name"])
                assert all(_is_of(cause, file, route) for cause in run["causes"]), (file, route, run["causes"])
                told += 1
        full.write(file, json.dumps(value, indent=1))
    assert told > len(FILES) * 20
