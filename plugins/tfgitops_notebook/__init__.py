"""Notebooks: a Jupyter server for a user, with volumes, a queue, and the servers of an in-graph job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Environment, Object, Problem, SchemaFragment, hookimpl, read_schema, server_objects
from tfgitops_notebook.jupyter import PORT, network_policy, notebook_pod
from tfgitops_notebook.notebookchecks import check_notebook

if TYPE_CHECKING:
    from collections.abc import Iterator

tfgitops_api = 1

CODES = {
    "NOTEBOOK01": "a notebook whose token is not in a Secret",
    "NOTEBOOK02": "a job whose servers a notebook cannot drive",
    "NOTEBOOK03": "a volume that a notebook cannot mount",
    "NOTEBOOK04": "a queue of a notebook that is not known",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `notebooks` at the top."""
    yield SchemaFragment("environment", "notebooks", read_schema(__name__)["notebooks"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse notebooks that are open to everybody, or that could not start."""
    for name, notebook in (environment.get("notebooks") or {}).items():
        yield from check_notebook(environment, name, notebook)


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write a Deployment and a Service for each notebook, and a NetworkPolicy that lets it in to its job."""
    volumes: Any = environment.get("volumes") or {}
    jobs = {job.name: job for job in environment.jobs}
    for name, notebook in (environment.get("notebooks") or {}).items():
        at, job = ("notebooks", name), jobs.get(notebook.get("job", ""))
        # Volcano's controller makes a PodGroup in this queue for the pod.
        queue = {"scheduling.volcano.sh/queue-name": notebook["queue"]} if "queue" in notebook else {}
        yield from server_objects(
            "notebook", name, notebook, notebook_pod(notebook, volumes, job), at, port=PORT, annotations=queue,
            job=job.name if job else "",
        )  # fmt: skip
        if job and not job.is_open:
            yield Object(network_policy(name, job), (*at, "job"))
