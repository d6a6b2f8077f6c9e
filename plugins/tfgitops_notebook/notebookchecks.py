"""The rules for notebooks: a token in a Secret, a job with servers, volumes and a queue that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Note, Problem, did_you_mean
from tfgitops_notebook.jupyter import TOKEN, mounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops import Environment, Route, View

_SECRET = "token: {secret: NAME, key: token}"  # noqa: S105 - what to write


def check_notebook(environment: Environment, name: str, notebook: View) -> Iterator[Problem]:
    """Report what is wrong with one notebook."""
    at: Route = ("notebooks", name)
    yield from _check_token(name, notebook, at)
    if "job" in notebook:
        yield from _check_job(environment, name, notebook["job"], (*at, "job"))
    yield from _check_volumes(environment, name, notebook, (*at, "volumes"))
    if (queue := notebook.get("queue")) and queue != "default":
        yield from _check_queue(environment.get("queues") or {}, name, queue, (*at, "queue"))


def _check_token(name: str, notebook: View, at: Route) -> Iterator[Problem]:
    if not (notebook.get("token") or {}).get("secret"):
        message = f"the notebook '{name}' has no Secret with its token, so everybody who reaches it could run programs"
        create = "kubectl create secret generic NAME --from-literal=token=$(openssl rand -hex 32)"
        hint = f"create a Secret in the namespace (`{create}`), and write `{_SECRET}`"
        yield Problem(code="NOTEBOOK01", message=message, at=at, on_key=True, hint=hint)
    for variable in (TOKEN, "JUPYTER_TOKEN_FILE"):
        if variable in (notebook.get("env") or {}):
            message = f"'{variable}' in `env` would take the place of the token from the Secret"
            hint = f"remove it: the token comes from `{_SECRET}` alone, and never stands in Git"
            yield Problem(code="NOTEBOOK01", message=message, at=(*at, "env", variable), on_key=True, hint=hint)


def _check_job(environment: Environment, name: str, wanted: str, at: Route) -> Iterator[Problem]:
    jobs = {job.name: job for job in environment.jobs}
    if wanted not in jobs:
        servers = [job.name for job in environment.jobs if job.strategy == "in-graph"]
        hint = did_you_mean(wanted, servers, among="the in-graph jobs are" if servers else "")
        message = f"there is no job '{wanted}' for the notebook '{name}'"
        otherwise = "declare it under `jobs`, with `strategy: in-graph`"
        yield Problem(code="NOTEBOOK02", message=message, at=at, found=wanted, hint=hint or otherwise)
    elif (job := jobs[wanted]).strategy != "in-graph":
        yield Problem(
            code="NOTEBOOK02", at=at, found=job.strategy, expected="in-graph",
            message=f"the job '{wanted}' is {job.strategy}: its own pods drive it, and a notebook cannot",
            hint="write `strategy: in-graph` in the job, or leave `job` out of the notebook",
            notes=(Note(message="the job", at=job.route),),
        )  # fmt: skip


def _check_volumes(environment: Environment, name: str, notebook: View, at: Route) -> Iterator[Problem]:
    volumes: Any = environment.get("volumes") or {}
    for index, use in enumerate(notebook.get("volumes") or ()):
        if use["name"] not in volumes:
            declare = f"declare it at the top: `volumes: {{{use['name']}: {{claim: …}}}}`"
            hint = did_you_mean(use["name"], volumes, among="the volumes are", otherwise=declare)
            message = f"the volume '{use['name']}' is not declared"
            yield Problem(code="NOTEBOOK03", message=message, at=(*at, index, "name"), found=use["name"], hint=hint)
    for mount in mounts(notebook, volumes):
        place = (*at, mount.position)
        if not mount.path:
            message = f"the volume '{mount.volume}' has no path"
            yield Problem(code="NOTEBOOK03", message=message, at=place, hint="add `path` to the volume")
        if "$(" in mount.sub_path and "job" not in notebook:
            message = f"the notebook '{name}' has no run, so `subPath: {mount.sub_path}` is no folder"
            hint = "leave `subPath` out to see the folders of all runs"
            yield Problem(code="NOTEBOOK03", message=message, at=(*place, "subPath"), found=mount.sub_path, hint=hint)
        if volumes[mount.volume].get("access") == "ReadOnlyMany" and not mount.read_only:
            message = f"'{mount.volume}' is ReadOnlyMany, and the notebook '{name}' mounts it for writing"
            yield Problem(code="NOTEBOOK03", message=message, at=place, hint="add `readOnly: true`")


def _check_queue(queues: Any, name: str, queue: str, at: Route) -> Iterator[Problem]:
    below = next((other for other, one in queues.items() if one.get("parent") == queue), "")
    if queue not in queues:
        declare = (
            f"declare it: `queues: {{{queue}: {{external: true}}}}` if it exists, `queues: {{{queue}: {{}}}}` if not"
        )
        hint = did_you_mean(queue, [*queues, "default"], among="the queues are" if queues else "", otherwise=declare)
        message = f"the queue '{queue}' of the notebook '{name}' is not known, so its pod would wait forever"
        yield Problem(code="NOTEBOOK04", message=message, at=at, found=queue, hint=hint)
    elif below:
        message = f"the queue '{queue}' of the notebook '{name}' has queues below it, so its pod would wait forever"
        hint = f"choose one below it, such as '{below}'"
        yield Problem(code="NOTEBOOK04", message=message, at=at, found=queue, hint=hint)
