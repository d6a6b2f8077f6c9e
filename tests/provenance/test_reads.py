"""Whatever a hook reads is found as what its fields follow: keys anywhere in the spec, attributes, and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builder import spec_with
from commandline import run
from plugged import Plugged, contribute, hook

from tfgitops.provenance.lookup import fields, route_of, select
from tfgitops.provenance.origins import Provenance

if TYPE_CHECKING:
    from pathlib import Path

    from repository import Repository

KEY = '{"description": "x"}'
SCHEMA = hook("tfgitops_schema", "", f'for site in ("environment", "job"): yield SchemaFragment(site, "mlflow", {KEY})')
SPEC = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
cluster: eu-1
queues: {vision: {weight: 2}}
mlflow: {uri: http://mlflow, on: true, tags: {site: berlin, owner: me}, hosts: [a, b]}
jobs:
  train:
    image: registry.example.com/tf:2.21
    queue: vision
    mlflow: {experiment: first}
    ps: 3
    worker: 2
"""
SETTINGS = '[tool.tfgitops.settings.mlflow]\nregion = "eu"\nlimits = {cpus = 4}\n'
TOP = "job.environment.get('mlflow')"
READ = {
    "a copy with another strategy": (
        "__import__('dataclasses').replace(job, strategy='none').get('mlflow')['experiment']",
        ["jobs.train.mlflow.experiment"],
    ),
    "a scalar of the plugin's one block": (f"{TOP}['uri']", ["mlflow.uri"]),
    "a switch": (f"'on' if {TOP}.get('on') else 'off'", ["mlflow.on"]),
    "a map": (f"','.join(f'{{k}}={{v}}' for k, v in {TOP}['tags'].items())", ["mlflow.tags.site", "mlflow.tags.owner"]),
    "the keys of a map": (f"','.join({TOP}['tags'])", ["mlflow.tags.site", "mlflow.tags.owner"]),
    "a list": (f"','.join({TOP}['hosts'])", ["mlflow.hosts.0", "mlflow.hosts.1"]),
    "all of a block": ("repr(job.environment.data['mlflow']['tags'])", ["mlflow.tags.site", "mlflow.tags.owner"]),
    "another plugin's block": (
        "str((job.environment.get('queues').get(job.get('queue')) or {}).get('weight'))",
        ["jobs.train.queue", "queues.vision.weight"],
    ),
    "its own key in the job": ("job.get('mlflow')['experiment']", ["jobs.train.mlflow.experiment"]),
    "a key of the core": ("job.get('image')", ["jobs.train.image"]),
    "a key of another role": ("str(job.roles[0].replicas)", ["jobs.train.ps"]),
    "the cluster": ("job.environment.cluster", ["cluster"]),
    "the namespace": ("job.environment.namespace", ["namespace"]),
    "a setting": ("job.environment.settings['mlflow']['region']", ["tool.tfgitops.settings.mlflow.region"]),
    "a setting in a table": (
        "str(job.environment.settings['mlflow']['limits']['cpus'])",
        ["tool.tfgitops.settings.mlflow.limits.cpus"],
    ),
}


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plugged:
    monkeypatch.chdir(tmp_path)
    plugged = Plugged(tmp_path)
    plugged.spec(SPEC)
    plugged.settings(SETTINGS)
    return plugged


def winners(plugged: Plugged, wanted: str, field: str) -> list[tuple[str, str]]:
    """Return the whole routes, and the lines, of what gave a field its value."""
    compiled, plugins = plugged.compile(), plugged.discover()
    assert compiled.environment is not None
    provenance = Provenance(compiled.environment, plugins)
    planned = select(compiled, wanted)
    [found] = fields(planned, route_of(planned, compiled.environment, field, provenance), provenance)
    return [(".".join(map(str, one.at)), one.span.excerpt) for one in found.winners]


BECAUSE = ('(*job.route, "mlflow")', '("mlflow",)', "job.route")


@pytest.mark.parametrize("because", BECAUSE)
@pytest.mark.parametrize("what", READ)
def test_a_field_of_a_job_follows_what_its_hook_reads(what: str, because: str, plugged: Plugged) -> None:
    value, expected = READ[what]
    patch = f'Patch(("container", "worker"), {{"env": [{{"name": "A", "value": {value}}}]}}, {because})'
    plugged.plugin("mlflow", SCHEMA + contribute(f"yield {patch}"))
    found = winners(plugged, "train", "worker.env[A].value")
    assert sorted(route for route, _ in found) == sorted(expected)
    for route, line in found:
        key = next(step for step in reversed(route.split(".")) if not step.isdigit() and step != "name")
        assert key in line


@pytest.mark.parametrize("what", READ)
def test_a_field_of_an_object_follows_what_its_hook_reads(what: str, plugged: Plugged) -> None:
    value, expected = READ[what]
    data = f'"metadata": {{"name": "mlflow"}}, "data": {{"a": {value}}}'
    manifest = f'{{"apiVersion": "v1", "kind": "ConfigMap", {data}}}'
    because = ("mlflow",) if not any(route.startswith("jobs.") for route in expected) else ("jobs", "train", "mlflow")
    body = f"for job in environment.jobs: yield Object({manifest}, {because!r})"
    plugged.plugin("mlflow", SCHEMA + hook("tfgitops_objects", "environment", body))
    assert sorted(route for route, _ in winners(plugged, "cm/mlflow", "data.a")) == sorted(expected)


def test_a_field_follows_the_key_that_asked_for_it_too_where_its_hook_cannot_do_without(plugged: Plugged) -> None:
    env = f"{{'env': [{{'name': 'A', 'value': {TOP}['uri']}}, {{'name': 'B', 'value': mine['experiment']}}]}}"
    lines = (
        "if mine := job.get('mlflow'):",
        "    for role in job.roles:",
        f"        yield role.container({env}, 'mlflow')",
    )
    plugged.plugin("mlflow", SCHEMA + contribute("\n".join(lines)))
    assert [route for route, _ in winners(plugged, "train", "worker.env[A].value")] == [
        "mlflow.uri",
        "jobs.train.mlflow",
    ]
    assert [route for route, _ in winners(plugged, "train", "worker.env[B].value")] == ["jobs.train.mlflow.experiment"]


def test_of_two_patches_of_one_cause_each_follows_its_own(plugged: Plugged) -> None:
    env = "role.container({{'env': [{{'name': '{}', 'value': {}['tags']['{}']}}]}}, 'mlflow')"
    lines = [f"yield {env.format(name, TOP, key)}" for name, key in (("A", "site"), ("B", "owner"))]
    plugged.plugin("mlflow", SCHEMA + contribute("for role in job.roles:\n    " + "\n    ".join(lines)))
    for name, key in (("A", "site"), ("B", "owner")):
        assert [route for route, _ in winners(plugged, "train", f"worker.env[{name}].value")] == [f"mlflow.tags.{key}"]


def test_what_follows_very_much_follows_the_block_that_holds_it(plugged: Plugged) -> None:
    plugged.spec(spec_with(SPEC, {f"mlflow.tags.t{number}": "v" for number in range(500)}))
    value = f"str(sum(len(v) for v in {TOP}['tags'].values()))"
    labels = f'{{"metadata": {{"labels": {{"a": {value}}}}}}}'
    plugged.plugin("mlflow", SCHEMA + contribute(f'yield job.patch({labels}, "mlflow")'))
    assert [route for route, _ in winners(plugged, "train", "metadata.labels.a")] == ["mlflow.tags"]


# --- and so the guard and the review name the line ---------------------------------------------------------------

PLUGIN = (
    SCHEMA
    + """
def config(environment):
    tags = ",".join(f"{k}={v}" for k, v in (environment.get("mlflow").get("tags") or {}).items())
    data = {"tags": tags, "region": environment.settings.get("mlflow", {}).get("region", "")}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mlflow"}, "data": data}


@hookimpl
def tfgitops_contribute(job):
    from tfgitops import named_by_content

    if job.get("mlflow"):
        name = named_by_content(config(job.environment))["metadata"]["name"]
        for role in job.roles:
            yield role.container({"envFrom": [{"configMapRef": {"name": name}}]}, "mlflow")
"""
)
CHANGES = {
    "another value": ("environments/prod/environment.yaml", ("berlin", "paris"), "mlflow.tags.site"),
    "one more": ("environments/prod/environment.yaml", ("owner: me", "owner: me, new: one"), "mlflow.tags.new"),
    "one less": ("environments/prod/environment.yaml", (", owner: me", ""), "mlflow.tags.owner (removed)"),
    "a setting": ("pyproject.toml", ('"eu"', '"us"'), "tool.tfgitops.settings.mlflow.region"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_guard_and_the_review_name_the_line_that_a_plugin_read(what: str, repository: Repository) -> None:
    file, change, cause = CHANGES[what]
    plugged = Plugged(repository.top)
    plugged.spec(SPEC)
    plugged.settings(SETTINGS)
    plugged.plugin("mlflow", PLUGIN)
    repository.build()
    repository.commit("mlflow")
    repository.edit(file, change)
    said = run("build").stderr
    assert f"`{cause}` would restart a training" in said
    assert f"--> {file}:" in said
    review = run("review", "--against", "HEAD").stdout
    assert cause.removesuffix(" (removed)") in review
    assert "another version" not in review
