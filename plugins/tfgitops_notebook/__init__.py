"""Notebooks: a Jupyter server for a user, with volumes, a queue, and the servers of an in-graph job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Environment, Object, Problem, SchemaFragment, hookimpl, read_schema
from tfgitops_notebook.jupyter import deployment, labels_of, network_policy, service
from tfgitops_notebook.notebookchecks import check_notebook, is_open

if TYPE_CHECKING:
    from collections.abc import Iterator

tfgitops_api = 1

CODES = {
    "NOTEBOOK01": "a notebook whose token is not in a Secret",
    "NOTEBOOK02": "a port of the nodes for a Service without one",
    "NOTEBOOK03": "a job whose servers a notebook cannot drive",
    "NOTEBOOK04": "a volume that a notebook cannot mount",
    "NOTEBOOK05": "a claim for one node that a notebook shares",
    "NOTEBOOK06": "a queue of a notebook that is not known",
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
        at, metadata = ("notebooks", name), {"name": f"notebook-{name}", "labels": labels_of(name)}
        job = jobs.get(notebook.get("job", ""))
        wanted = deployment(metadata, notebook, volumes, job)
        yield Object(wanted, at, job=job.name if job else "")
        asked = notebook.get("service") or {}
        yield Object(service(metadata, asked), (*at, "service", "nodePort") if "nodePort" in asked else at)
        if job and not is_open(job):
            yield Object(network_policy(metadata, job), (*at, "job"))
