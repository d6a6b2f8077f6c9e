"""Every field of every manifest comes from a place that exists; and what is changed there changes the field."""

from __future__ import annotations

import re
import shutil
from contextlib import chdir
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from checkout import REPOSITORY

from tfgitops import Plugins, compile_environment, discover
from tfgitops.provenance.fields import find, written
from tfgitops.provenance.origins import Origin, Provenance
from tfgitops.report.text import render
from tfgitops.spec.project import find_environments, read_project
from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import leaves, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfgitops.planning.plan import Planned
    from tfgitops.testing import Result

ROOTS = [REPOSITORY / "environments", *sorted((REPOSITORY / "tests" / "cases" / "ok").iterdir())]
FOLDERS = [folder for root in ROOTS for folder in find_environments(root)]
LAYERS = re.compile(
    r"overlay|role|job|from [a-z0-9-]+|defaults|environment|base file|plugin [a-z]+ [0-9.]+"
    r"|strategy|discovery|gitops|pin|compiler|compiler default|settings"
)

Leaf = tuple[str, str]
"""A manifest, and one of its fields by the names of elements: a role that comes or goes moves others."""

Explained = tuple[Leaf, Any, tuple[Origin, ...]]
"""A field, its value, and where that comes from."""


def _explained(folder: Path, plugins: Plugins) -> Iterator[Explained]:
    for planned, at, value, origins in _fields(folder, plugins):
        yield (planned.path, written(planned.manifest, at)), value, origins


@pytest.fixture(scope="module")
def committed(plugins: Plugins) -> Callable[[Path], list[Explained]]:
    """Return what explains the fields of a committed environment, once for all tests; files are named from its root."""

    @cache
    def explain(folder: Path) -> list[Explained]:
        with chdir(REPOSITORY):
            return list(_explained(folder, plugins))

    return explain


def _fields(folder: Path, plugins: Plugins) -> Iterator[tuple[Planned, Any, Any, tuple[Origin, ...]]]:
    compiled = compile_environment(folder, plugins)
    assert compiled.ok
    assert compiled.environment is not None
    provenance = Provenance(compiled.environment, plugins)
    for planned in compiled.objects:
        for at, value in leaves(planned.manifest):
            yield planned, at, value, provenance.origins(planned, at)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: "/".join(folder.parts[-2:]))
def test_every_field_comes_from_a_place_that_exists(folder: Path, committed: Callable[[Path], list[Explained]]) -> None:
    seen = 0
    for where, value, origins in committed(folder):
        assert any(origin.won for origin in origins), where
        for origin in origins:
            assert LAYERS.fullmatch(origin.layer), (where, origin.layer)
            line = (REPOSITORY / origin.span.file).read_text(encoding="utf-8").split("\n")[origin.span.line - 1]
            assert origin.span.excerpt == (line if origin.span.file.endswith(".yaml") else ""), where  # specs are shown
            assert len(line) >= origin.span.column - 1 + origin.span.width, where
            assert not origin.text or origin.text in line or "by default" in origin.text or origin.spec, where
        if origins[0].layer in ("compiler default", "compiler", "gitops") and not origins[0].route:
            assert origins[0].value == value, where  # what is given of itself is the value
        seen += 1
    assert seen > 10


# --- what is changed at the winner's place changes the field; at a loser's it does not ---------------------------


def _copied(folder: Path, place: Path) -> Path:
    """Copy an environment, with all that it may extend, to a root of its own."""
    root = next(root for root in ROOTS if folder.is_relative_to(root))
    shutil.copytree(root, place / "root")
    (place / "pyproject.toml").write_text("[tool.tfgitops]\n")
    return place / "root" / folder.relative_to(root)


def _others(text: str) -> Iterator[str]:
    """Yield what may stand in the place of a scalar: of its kind, so that it may still be valid."""
    bare = text.strip("'\"")
    if re.fullmatch(r"[0-9]+", bare):
        yield text.replace(bare, str(int(bare) + 1))
        yield text.replace(bare, str(int(bare) - 1))
    elif bare in ("true", "false"):
        yield {"true": "false", "false": "true"}[bare]
    elif quantity := re.fullmatch(r"([0-9]+)([A-Za-z]+)", bare):
        yield text.replace(bare, f"{int(quantity[1]) + 1}{quantity[2]}")
    else:
        yield from (text.replace(bare, other) for other in (f"{bare}x", f"{bare}-3", f"3{bare}", f"{bare[:-1]}"))
        yield from (choice for choice in ("Always", "Never", "OnFailure", "Memory", "none", "flux") if choice != bare)
        yield from (choice for choice in ("RestartJob", "AbortJob", "ReadWriteOnce", "TaskFailed") if choice != bare)


def _is_scalar(origin: Origin) -> bool:
    text = origin.span.excerpt[origin.span.column - 1 :][: origin.span.width]
    return origin.text == text and text[:1] not in ("{", "[", "|", ">", "*", "&") and bool(origin.route)


def _speaks_of(origin: Origin, value: Any) -> bool:
    """Tell whether another value there must give the field another one: else the field is there because of it.

    Another text would still refer to a variable of discovery, and another size of shared memory still needs its mount.
    """
    if origin.layer == "discovery":
        return "$" not in origin.text
    return origin.layer in ("compiler", "gitops") or not origin.won or str(origin.value) in str(value)


def _planned(folder: Path, plugins: Plugins) -> dict[str, dict[str, Any]]:
    return {planned.path: _named(planned.manifest) for planned in compile_environment(folder, plugins).objects}


@by_content(256)
def _named(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a manifest by their names. Most manifests are the same before and after a change."""
    return {written(manifest, at): value for at, value in leaves(manifest)}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: "/".join(folder.parts[-2:]))
def test_a_change_of_the_winner_and_of_nothing_else_changes_the_field(
    folder: Path, committed: Callable[[Path], list[Explained]], plugins: Plugins, tmp_path: Path
) -> None:
    copy = _copied(folder, tmp_path)
    root = next(root for root in ROOTS if folder.is_relative_to(root)).relative_to(REPOSITORY)
    with chdir(tmp_path):
        tried, places = _change_each(copy, plugins, _claims(committed(folder), root, tmp_path / "root"))
    assert tried >= 0.5 * places


@dataclass
class Claim:
    """What is claimed of one scalar of a spec: the fields that it gives, and those that must change with it."""

    text: str
    given: set[Leaf] = field(default_factory=set)
    must: set[Leaf] = field(default_factory=set)
    names: bool = False
    """Whether it is the name of an element in an overlay, which then is another element."""


Claims = dict[tuple[Path, int, int], Claim]


def _claims(fields: Iterable[Explained], root: Path, copy: Path) -> Claims:
    """Return all claims by their places, with the files of a root named in its copy."""
    claims: Claims = {}
    for leaf, value, origins in fields:
        for origin in filter(_is_scalar, origins):
            file = copy / Path(origin.span.file).relative_to(root)
            place = (file, origin.span.line, origin.span.column)
            claim = claims.setdefault(place, Claim(origin.text))
            claim.names = origin.layer == "overlay" and origin.route[-1] == "name"
            if origin.won:
                claim.given.add(leaf)
                if _speaks_of(origin, value) and not leaf[1].endswith("name"):
                    claim.must.add(leaf)
    return claims


def _change_each(copy: Path, plugins: Plugins, claims: Claims) -> tuple[int, int]:
    """Change each scalar that gives, or would have given, a field its value; count those that could be, and all."""
    before = _planned(copy, plugins)
    tried = 0
    wrong: list[Any] = []
    for (path, line, column), claim in claims.items():
        whole = path.read_text(encoding="utf-8")
        for instead in _others(claim.text):
            changed = whole.split("\n")
            old = changed[line - 1]
            changed[line - 1] = old[: column - 1] + instead + old[column - 1 + len(claim.text) :]
            path.write_text("\n".join(changed), encoding="utf-8")
            after = _planned(copy, plugins)
            if after.keys() >= before.keys():
                tried += 1
                found = _contradictions(before, after, claim)
                wrong += [(f"{path}:{line}:{column}", claim.text, instead, *one) for one in found]
                break
        path.write_text(whole, encoding="utf-8")
    assert not wrong, "\n".join(map(str, wrong))
    return tried, len(claims)


_RUN = re.compile(r"-[0-9a-f]{8}\b")


def _contradictions(before: Any, after: Any, claim: Claim) -> Iterator[tuple[str, str, str]]:
    """Yield the fields that did not change and should have, and those that changed and name another place."""
    for path in before:
        for at, value in before[path].items():
            same = before[path] is after[path] or _nameless(before[path], at) == _nameless(after[path], at)
            if same and (path, at) in claim.must:
                yield "did not change", path, at
            excused = claim.names or (before[path]["kind"] != "Job" and _RUN.search(str(value)))  # it names that job
            if not same and at in after[path] and (path, at) not in claim.given and not excused:
                yield f"changed from {value}", path, at


def _nameless(fields: Any, at: str) -> str:
    """Write the value of a field without the digests in the names of runs, which change with everything."""
    return "" if at == "metadata.name" else _RUN.sub("-<digest>", str(fields.get(at)))


TRICKY_BASE = """
apiVersion: tfgitops/v1alpha1
kind: Environment
x-common: &common {memory: 3Gi, nodeSelector: {zone: a}}
namespace: {name: ml, create: true, labels: {owner: base}, annotations: {note: base}}
queues:
  top: {capability: {cpu: 900}, deserved: {cpu: 600}}
  low: {parent: top, weight: 3, deserved: {cpu: 100}}
  side: {}
volumes:
  data: {claim: datasets, path: /data, readOnly: true}
  runs: {size: 10Gi, access: ReadWriteMany, path: /runs, storageClass: slow}
defaults:
  <<: *common
  queue: low
  image: base
  args: [--base]
  worker: {cpu: {request: 1, limit: 2}, gpu: {count: 1, product: T4}, tolerations: [{key: base, operator: Exists}]}
  container: {env: [{name: FROM, value: base}], imagePullPolicy: Always, securityContext: {runAsUser: 1000}}
  pod:
    spec: {terminationGracePeriodSeconds: 7, tolerations: [{key: over, operator: Exists}]}
    metadata: {labels: {team: base}}
"""
TRICKY = """
apiVersion: tfgitops/v1alpha1
kind: Environment
extends: ../base.yaml
gitops: argocd
kustomization: true
namespace: {labels: {owner: here}}
queues: {low: {weight: 4, reclaimable: false}}
volumes: {runs: {storageClass: fast}}
defaults: {env: {A: 1, B: {secret: s, key: k}, C: {configMap: c, key: x}}, labels: {tier: gold}}
jobs:
  first:
    command: [python, train.py]
    image: job
    maxRetry: 5
    port: 3333
    priorityClassName: high
    serviceAccount: robot
    imagePullSecrets: [one, two]
    annotations: {note: first}
    plugins: {svc: [--disable-network-policy=true], ssh: []}
    policies: [{event: PodPending, action: AbortJob, timeout: 10m}]
    env: {A: 2, B: plain, D: {field: metadata.name}}
    volumes: [{name: data, path: /elsewhere}, {name: runs, subPath: $(RUN)}]
    chief: {env: {A: null}, cpu: 3, container: {image: overlay-chief}}
    ps: {replicas: 2, image: role, volumes: [runs], shm: 2Gi}
    worker: {replicas: 3, args: [--worker, --more], ports: {metrics: 9090, probe: {port: 8080}}, maxRetry: 8}
    pod:
      spec:
        containers: [{name: tensorflow, image: overlay-job, livenessProbe: {grpc: {port: 5000}}}]
        initContainers: [{name: fetch, image: fetcher, args: [$(PS_HOSTS)], env: [{name: X, value: y}]}]
        hostNetwork: true
        affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
          {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}}}
  second:
    from: first
    rerun: 3
    queue: side
    env: {C: null, A: 3}
    chief: {container: {securityContext: {runAsUser: null}, env: [{name: FROM, value: chief}]}}
    worker: {replicas: 1, minAvailable: 1, policies: [], args: null, dependsOn: [ps]}
    container: {env: [{name: FROM, value: job}, {name: B, value: over}]}
    pod: {spec: {terminationGracePeriodSeconds: null}}
    tasks: {feeder: {command: feed --to=$(WORKER_HOSTS), args: null, cpu: 1, memory: 1Gi}}
"""


def test_the_same_holds_where_every_layer_says_and_removes_something(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.tfgitops]\n")
    folder = tmp_path / "environments" / "test"
    folder.mkdir(parents=True)
    (tmp_path / "environments" / "base.yaml").write_text(TRICKY_BASE)
    (folder / "environment.yaml").write_text(TRICKY)
    compiled = compile_environment(folder, plugins)
    assert compiled.ok, render(compiled.diagnostics)
    tried, places = _change_each(folder, plugins, _claims(_explained(folder, plugins), Path(), Path()))
    assert tried >= 0.75 * places, (tried, places)
    assert places > 90


# --- plugins of others -------------------------------------------------------------------------------------------

PLUGIN = """
from tfgitops import Object, Patch, SchemaFragment, hookimpl

tfgitops_api = 1
TEAM = {"type": "object", "properties": {"label": {"type": "string"}}}

@hookimpl
def tfgitops_schema():
    yield SchemaFragment("environment", "teams", {"type": "object", "additionalProperties": TEAM})
    yield SchemaFragment("job", "team", {"type": "string"})

@hookimpl
def tfgitops_contribute(job):
    yield job.patch({"metadata": {"labels": {"always": "there"}}})
    team = job.get("team")
    if team:
        label = job.environment.get("teams")[team]["label"]  # of an unknown team, it fails
        for role in job.roles:
            yield Patch(("pod", role.name), {"metadata": {"labels": {"team": label}}}, (*job.route, "team"))
            yield role.container({"workingDir": "/" + team})

@hookimpl
def tfgitops_objects(environment):
    for job in environment.jobs:
        yield Object({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": job.name}}, job.route)
    for name, team in (environment.get("teams") or {}).items():
        data = {"label": team["label"].upper(), "size": str(len(team))}
        yield Object({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data},
                     ("teams", name))
"""
TEAMS = """
teams: {vision: {label: eyes}, other: {label: x}}
jobs:
  train: {image: a, worker: 1, team: vision}
"""


@pytest.fixture
def explained(compile_spec: Callable[..., Result], tmp_path: Path) -> Callable[[str, str], list[tuple[Any, ...]]]:
    """Tell of a field, by its manifest and its name, who gave it."""
    (tmp_path / "teams.py").write_text(PLUGIN)
    (tmp_path / "pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["teams.py"]\n')
    plugins = discover(read_project(tmp_path))
    result = compile_spec(TEAMS, plugins=plugins)
    assert result.ok, result.text
    assert result.compiled.environment is not None
    provenance = Provenance(result.compiled.environment, plugins)

    def tell(path: str, field: str) -> list[tuple[Any, ...]]:
        [planned] = [planned for planned in result.compiled.objects if planned.path == path]
        origins = provenance.origins(planned, find(planned.manifest, field))
        return [(origin.layer, ".".join(map(str, origin.route)), origin.value) for origin in origins if origin.won]

    return tell


def test_what_a_plugin_adds_unasked_is_its_own(explained: Callable[[str, str], Any]) -> None:
    job = "workloads/job-train.yaml"
    assert explained(job, "metadata.labels[always]") == [("plugin teams local", "", "there")]
    assert explained("workloads/configmap-train.yaml", "kind") == [("plugin teams local", "", "ConfigMap")]


def test_a_changed_value_on_which_a_plugin_fails_is_not_said_to_make_all_of_a_patch(
    compile_spec: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "teams.py").write_text(
        """
from tfgitops import SchemaFragment, hookimpl

tfgitops_api = 1

@hookimpl
def tfgitops_schema():
    yield SchemaFragment("job", "team", {"type": "object"})

@hookimpl
def tfgitops_contribute(job):
    team = job.get("team")
    if team:
        level = {"high": "1", "low": "2"}[team["level"]]  # its checks refuse all others
        labels = {"level": level, "team": team["name"]}
        yield job.patch({"metadata": {"labels": labels}}, "team")
"""
    )
    (tmp_path / "pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["teams.py"]\n')
    plugins = discover(read_project(tmp_path))
    result = compile_spec("jobs: {train: {image: a, worker: 1, team: {level: low, name: vision}}}", plugins=plugins)
    assert result.compiled.environment is not None
    provenance = Provenance(result.compiled.environment, plugins)
    planned = next(planned for planned in result.compiled.objects if planned.path == "workloads/job-train.yaml")
    origins = provenance.origins(planned, find(planned.manifest, "metadata.labels[team]"))
    assert [origin.route for origin in origins if origin.won] == [("team", "name")]


def test_a_key_that_only_jobs_have_is_followed_though_the_plugin_names_it_of_a_role(
    compile_spec: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "teams.py").write_text(
        """
from tfgitops import SchemaFragment, hookimpl

tfgitops_api = 1

@hookimpl
def tfgitops_schema():
    yield SchemaFragment("job", "team", {"type": "object"})

@hookimpl
def tfgitops_contribute(job):
    if team := job.get("team"):
        yield job.roles[0].pod({"metadata": {"labels": {"team": team["name"]}}}, "team")
"""
    )
    (tmp_path / "pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["teams.py"]\n')
    plugins = discover(read_project(tmp_path))
    result = compile_spec("jobs: {train: {image: a, worker: 1, team: {name: vision}}}", plugins=plugins)
    assert result.compiled.environment is not None
    provenance = Provenance(result.compiled.environment, plugins)
    planned = next(planned for planned in result.compiled.objects if planned.path == "workloads/job-train.yaml")
    field = find(planned.manifest, "spec.tasks[worker].template.metadata.labels[team]")
    assert [origin.route for origin in provenance.origins(planned, field) if origin.won] == [("team", "name")]


def test_an_object_because_of_a_key_of_a_job_follows_the_values_below_it(
    compile_spec: Callable[..., Result], tmp_path: Path
) -> None:
    """Its name may follow them, too: it is known again by its kind, and by what asked for it."""
    (tmp_path / "teams.py").write_text(
        """
from tfgitops import Object, SchemaFragment, hookimpl, named_by_content

tfgitops_api = 1

@hookimpl
def tfgitops_schema():
    yield SchemaFragment("role", "team", {"type": "object"})

@hookimpl
def tfgitops_objects(environment):
    for job in environment.jobs:
        for role in job.roles:
            if team := role.get("team"):
                manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "team"}, "data": team}
                yield Object(named_by_content(manifest), (*role.route, "team"))
"""
    )
    (tmp_path / "pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["teams.py"]\n')
    plugins = discover(read_project(tmp_path))
    result = compile_spec("jobs: {train: {image: a, worker: 1, team: {name: vision, head: ana}}}", plugins=plugins)
    assert result.compiled.environment is not None
    provenance = Provenance(result.compiled.environment, plugins)
    [planned] = [planned for planned in result.compiled.objects if planned.manifest["kind"] == "ConfigMap"]
    for key in ("name", "head"):
        origins = provenance.origins(planned, ("data", key))
        assert [origin.route for origin in origins if origin.won] == [("team", key)]


def test_what_a_plugin_looks_up_is_found_though_no_other_value_may_stand_there(
    explained: Callable[[str, str], Any],
) -> None:
    at = "spec.tasks[worker].template.metadata.labels[team]"
    assert explained("workloads/job-train.yaml", at) == [
        ("environment", "teams.vision.label", "eyes"), ("job", "team", "vision")
    ]  # fmt: skip


def test_an_object_of_a_plugin_follows_its_block_whatever_the_fields_are_called(
    explained: Callable[[str, str], Any],
) -> None:
    path = "workloads/configmap-vision.yaml"
    assert explained(path, "data.label") == [("environment", "teams.vision.label", "eyes")]
    assert explained(path, "data.size") == [("plugin teams local", "", "1")]
    assert explained(path, "metadata.name") == [("plugin teams local", "", "vision")]
    assert explained(path, "metadata.namespace") == [("environment", "namespace", "ml")]


NEEDS = """
from tfgitops import SchemaFragment, hookimpl

tfgitops_api = 1

@hookimpl
def tfgitops_schema():
    yield SchemaFragment("role", "{key}", {{"type": "string"}})

@hookimpl
def tfgitops_contribute(job):
    for role in job.roles:
        needed = {{"matchExpressions": [{{"key": "{key}", "operator": "In", "values": [role.get("{key}")]}}]}}
        affinity = {{"requiredDuringSchedulingIgnoredDuringExecution": {{"nodeSelectorTerms": [needed]}}}}
        yield role.pod({{"spec": {{"affinity": {{"nodeAffinity": affinity}}}}}}, "{key}")
"""


def test_a_requirement_that_was_joined_with_anothers_leads_to_its_own_plugin(
    compile_spec: Callable[..., Result], tmp_path: Path
) -> None:
    for key in ("disk", "zone"):
        (tmp_path / f"{key}s.py").write_text(NEEDS.format(key=key))
    (tmp_path / "pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["disks.py", "zones.py"]\n')
    plugins = discover(read_project(tmp_path))
    compiled = compile_spec("jobs:\n  train: {image: a, worker: {disk: ssd, zone: b}}\n", plugins=plugins).compiled
    assert compiled.environment is not None
    provenance = Provenance(compiled.environment, plugins)
    [job] = compiled.objects
    at = find(job.manifest, "worker.nodeSelectorTerms[0].matchExpressions")
    found = {}
    for inner, value in leaves(value_at(job.manifest, at)):
        origin = provenance.winners(job, (*at, *inner))[0]
        found[str(value)] = (origin.through, origin.route, origin.value)
    assert found["ssd"] == found["disk"] == ("plugin disks local", ("worker", "disk"), "ssd")
    assert found["b"] == found["zone"] == ("plugin zones local", ("worker", "zone"), "b")
