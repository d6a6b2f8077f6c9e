"""Files of the repository in pods: the script of a role, and configurations, as ConfigMaps named by their content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops import Environment, Job, Object, Patch, Problem, SchemaFragment, hookimpl, read_schema
from tfgitops_files.filerules import check_files
from tfgitops_files.mounted import config_map, config_parts, runs_by_itself, script_map, script_parts, script_path

if TYPE_CHECKING:
    from collections.abc import Iterator

tfgitops_api = 1

CODES = {
    "FILE01": "a script with no source, with two, or with a key that means nothing for its source",
    "FILE02": "a script from a URL without a digest, or with a URL or digest of another form",
    "FILE03": "a configMap that is not declared, or mounted at a path that is taken",
    "FILE04": "a file whose name is no key of a ConfigMap, or is there twice",
    "FILE05": "files that are too large together for a ConfigMap",
    "FILE06": "a script that no command runs",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `configMaps` at the top, and `script` and `configMaps` in jobs and roles."""
    schema = read_schema(__name__)
    yield SchemaFragment("environment", "configMaps", schema["configMaps"])
    yield SchemaFragment("role", "configMaps", schema["uses"])
    yield SchemaFragment("role", "script", schema["script"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse scripts without one verified source, and files that no ConfigMap can hold."""
    yield from check_files(environment.jobs, environment.get("configMaps") or {})


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Mount the script of each role, run it if no command is given, and mount its configMaps."""
    declared = job.environment.get("configMaps") or {}
    for role in job.roles:
        if script := role.get("script"):
            pod, container = script_parts(job.name, script, role.get("image"))
            yield role.pod(pod, "script")
            yield role.container(container, "script")
            if script_path(script).endswith(".py") and not runs_by_itself(role):
                yield role.container({"command": ["python", script_path(script)]}, "script")
        if uses := role.get("configMaps"):
            pod, container = config_parts(job.name, uses, declared)
            yield role.pod(pod, "configMaps")
            yield role.container(container, "configMaps")


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write the ConfigMaps of each job; a pinned job keeps its committed ones."""
    declared = environment.get("configMaps") or {}
    for job in environment.jobs:
        for role in () if job.pin else job.roles:
            script = role.get("script") or {}
            if "file" in script:
                yield Object(script_map(job.name, script["file"]), (*role.route, "script"))
            for name in dict.fromkeys(use["name"] for use in role.get("configMaps") or ()):
                if name in declared:
                    yield Object(config_map(job.name, name, declared[name]), (*role.route, "configMaps"))
