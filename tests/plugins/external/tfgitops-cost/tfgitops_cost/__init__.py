"""Cost: who answers for a training and who pays for it, as labels, and as a policy where it must be said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Patch, Problem, SchemaFragment, hookimpl, read_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops import Environment, Job, Route

tfgitops_api = 1

CODES = {
    "COST01": "a job without an owner, where one is required",
    "COST02": "a job without a cost centre, where one is required",
}

KEYS = {"owner": ("owner", "COST01", "NAME"), "costCentre": ("cost-centre", "COST02", "CODE")}
"""For each key the name of its label, the code where it is missing, and what stands for its value in a hint."""


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own both keys, at the top and in jobs, and the settings."""
    schema = read_schema(__name__)
    for key in KEYS:
        yield SchemaFragment("environment", key, schema[key])
        yield SchemaFragment("job", key, schema[key])
    for key, setting in schema["settings"].items():
        yield SchemaFragment("settings", key, setting)


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Require both keys of each job, where the settings say so."""
    if environment.name not in _settings(environment).get("requiredIn", ()):
        return
    for job in environment.jobs:
        for key, (_, code, value) in KEYS.items():
            if _said(job, key) is None:
                yield Problem(
                    code=code,
                    message=f"the job '{job.name}' has no `{key}`, which '{environment.name}' requires",
                    at=job.route,
                    on_key=True,
                    hint=f"add `{key}: {value}` to the job, or at the top for all jobs of the environment",
                )


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Label the Job and its pods with both: what counts a cluster's costs sums up pods by their labels."""
    prefix = _settings(job.environment).get("labelPrefix", "example.com")
    for key, (name, _, _) in KEYS.items():
        if (said := _said(job, key)) is None:
            continue
        value, because = said
        label = {"metadata": {"labels": {f"{prefix}/{name}": value}}}
        yield Patch(("job",), label, because)
        for role in job.roles:
            yield Patch(("pod", role.name), label, because)


def _said(job: Job, key: str) -> tuple[str, Route] | None:
    """Return a key's value and its route: the job's, else the one at the top."""
    if value := job.get(key):
        return value, (*job.route, key)
    if value := job.environment.get(key):
        return value, (key,)
    return None


def _settings(environment: Environment) -> Mapping[str, Any]:
    return environment.settings.get("cost", {})
