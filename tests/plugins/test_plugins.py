"""Plugins: found, asked, joined whatever their order, and never able to break more than themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from builder import GONE, cut, spec_with
from checkout import BUNDLED
from commandline import run
from plugged import FOLDER, HEAD, MANIFESTS, SPEC, Plugged, build, contribute, hook, pod_patch, requirement

from tfgitops import File, Plugins, compile_environment
from tfgitops.compiler.write import apply, compare
from tfgitops.report.text import render
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.project import Project


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plugged:
    monkeypatch.chdir(tmp_path)
    return Plugged(tmp_path)


# --- what a plugin can do ----------------------------------------------------------------------------------------

COST = """\
@hookimpl
def tfgitops_schema():
    yield SchemaFragment("job", "costCentre", {"type": "string", "description": "who pays"})


@hookimpl
def tfgitops_check_environment(environment):
    known = environment.settings["cost"]["centres"]
    for job in environment.jobs:
        if job.get("costCentre") not in known:
            yield Problem(
                code="COST01", message="an unknown cost centre", at=(*job.route, "costCentre"),
                expected=", ".join(known),
            )


@hookimpl
def tfgitops_contribute(job):
    yield job.patch({"metadata": {"labels": {"cost": job.get("costCentre")}}}, "costCentre")


@hookimpl
def tfgitops_objects(environment):
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cost"}, "data": {"by": "cost"}}
    yield Object(manifest, ("jobs",))
"""


@pytest.fixture
def cost(repository: Plugged) -> Plugged:
    repository.plugin("cost", COST)
    repository.settings("[tool.tfgitops.settings.cost]\ncentres = ['c1', 'c2']")
    return repository


def test_a_local_plugin_owns_keys_checks_patches_and_adds_objects(cost: Plugged) -> None:
    cost.spec(SPEC + "    costCentre: c1\n")
    assert cost.job()["metadata"]["labels"] == {"cost": "c1", "team": "vision", "tfgitops/job": "train"}
    objects = {file.path: yaml.safe_load(file.text) for file in cost.compile().files}
    assert objects["workloads/configmap-cost.yaml"]["metadata"] == {"name": "cost", "namespace": "ml"}


def test_a_problem_of_a_plugin_stands_on_the_line_that_it_names(cost: Plugged) -> None:
    cost.spec(SPEC + "    costCentre: c3\n")
    [found] = cost.compile().diagnostics
    assert found.code == "COST01"
    assert found.span is not None
    assert (found.span.line, found.span.column) == (9, 17)
    assert found.expected == "c1, c2"


def test_a_key_of_a_plugin_is_judged_by_its_schema_and_suggested(cost: Plugged) -> None:
    cost.spec(SPEC + "    costCenter: 7\n")
    [found] = cost.compile().diagnostics
    assert (found.code, found.hint) == ("TF201", "did you mean 'costCentre'?")
    cost.spec(SPEC + "    costCentre: 7\n")
    [found] = cost.compile().diagnostics
    assert (found.code, found.expected) == ("TF202", "text")


def test_editors_see_the_keys_of_local_plugins(cost: Plugged) -> None:
    assert '"costCentre"' in run("schema").stdout


def test_a_plugin_that_is_left_out_owns_nothing(cost: Plugged) -> None:
    assert build("--no-plugin", "cost").exit_code == 0
    cost.spec(SPEC + "    costCentre: c1\n")
    result = build("--no-plugin", "cost")
    assert result.exit_code == 1
    assert "unknown key 'costCentre'" in result.stderr


def test_leaving_out_what_is_not_there_is_told(repository: Plugged) -> None:
    result = build("--no-plugin", "ques")
    assert result.exit_code == 1
    assert "there is no plugin 'ques' to leave out" in result.stderr
    assert "did you mean 'queue'?" in result.stderr


def test_a_plugin_that_cannot_even_be_imported_can_be_left_out(repository: Plugged) -> None:
    repository.plugin("broken", head="import nosuch\n")
    assert build("--no-plugin", "broken").exit_code == 0


def test_the_lock_names_a_local_plugin_by_what_is_in_it(cost: Plugged) -> None:
    cost.spec(SPEC + "    costCentre: c1\n")
    assert run("lock").exit_code == 0
    assert 'cost = "sha256:' in Path("tfgitops.lock").read_text(encoding="utf-8")
    assert build("--locked").exit_code == 0
    with Path("cost.py").open("a") as file:
        file.write("# a remark\n")
    result = build("--locked")
    assert result.exit_code == 1
    assert "plugin 'cost' is sha256:" in result.stderr


def test_a_hook_may_take_fewer_arguments(repository: Plugged) -> None:
    repository.plugin("few", hook("tfgitops_check_manifests", "manifests", "assert manifests; return []"))
    assert repository.compile().diagnostics == ()


def test_a_hook_may_have_arguments_of_its_own_with_defaults(repository: Plugged) -> None:
    repository.plugin("more", hook("tfgitops_check_manifests", "manifests, least=1", "assert len(manifests) >= least"))
    assert repository.compile().diagnostics == ()


def test_a_hook_may_answer_with_nothing(repository: Plugged) -> None:
    repository.plugin("idle", contribute("return None"))
    assert repository.compile().diagnostics == ()


# --- patches of several plugins ----------------------------------------------------------------------------------


def test_patches_merge_by_the_keys_of_lists(repository: Plugged) -> None:
    repository.plugin("one", pod_patch('{"tolerations": [{"key": "a", "operator": "Exists"}]}'))
    repository.plugin("two", pod_patch('{"tolerations": [{"key": "b", "operator": "Exists"}]}'))
    assert [entry["key"] for entry in repository.pod()["tolerations"]] == ["a", "b"]


def test_equal_values_merge(repository: Plugged) -> None:
    for name in ("one", "two"):
        repository.plugin(name, pod_patch('{"nodeSelector": {"zone": "a"}}'))
    assert repository.pod()["nodeSelector"] == {"zone": "a"}


def test_node_affinities_combine_with_and(repository: Plugged) -> None:
    repository.plugin("one", requirement("a"))
    repository.plugin("two", requirement("b"))
    required = repository.pod()["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    [term] = required["nodeSelectorTerms"]
    assert [entry["key"] for entry in term["matchExpressions"]] == ["a", "b"]


def test_capabilities_unite(repository: Plugged) -> None:
    for name in ("SYS_NICE", "IPC_LOCK"):
        patch = f'{{"securityContext": {{"capabilities": {{"add": ["{name}"]}}}}}}'
        repository.plugin(name.lower(), contribute(f'for role in job.roles: yield role.container({patch}, "image")'))
    [container] = repository.pod()["containers"]
    assert container["securityContext"]["capabilities"] == {"add": ["IPC_LOCK", "SYS_NICE"]}


def test_arguments_of_svc_unite(repository: Plugged) -> None:
    flag = "--disable-network-policy=true"
    for name in ("one", "two"):
        repository.plugin(name, contribute(f'yield job.patch({{"spec": {{"plugins": {{"svc": ["{flag}"]}}}}}})'))
    assert repository.job()["spec"]["plugins"]["svc"] == [flag, "--publish-not-ready-addresses=true"]


def test_the_spec_and_its_overlays_win_over_a_plugin(repository: Plugged) -> None:
    repository.plugin("zone", pod_patch('{"nodeSelector": {"zone": "a", "disk": "ssd"}, "activeDeadlineSeconds": 1}'))
    repository.spec(SPEC + "    nodeSelector: {zone: b}\n    pod: {spec: {activeDeadlineSeconds: 2}}\n")
    assert repository.pod()["nodeSelector"] == {"disk": "ssd", "zone": "b"}
    assert repository.pod()["activeDeadlineSeconds"] == 2


def test_plugins_that_disagree_are_both_named_with_both_lines(repository: Plugged) -> None:
    value = '{"spec": {"nodeSelector": {"zone": "%s"}}}'
    repository.plugin("alpha", contribute(f"yield job.roles[0].pod({value % 'a'})"))
    repository.plugin("beta", contribute(f'yield Patch(("pod", "worker"), {value % "b"}, (*job.route, "labels"))'))
    [found] = repository.compile().diagnostics
    assert (found.code, found.severity) == ("TF401", "error")
    assert found.message == "plugins 'alpha' and 'beta' want different values for worker.spec.nodeSelector.zone"
    assert found.span is not None
    assert (found.span.line, found.found, found.expected) == (7, "b", "a")
    [(message, place)] = found.notes
    assert "'alpha'" in message
    assert place.line == 8
    assert build().exit_code == 1
    assert not MANIFESTS.exists()


def test_no_order_of_plugins_changes_a_byte(repository: Plugged) -> None:
    repository.plugin("one", requirement("a") + hook("tfgitops_schema", "", 'yield SchemaFragment("job", "one", {})'))
    repository.plugin("two", requirement("b") + hook("tfgitops_schema", "", 'yield SchemaFragment("job", "two", {})'))
    repository.plugin("three", pod_patch('{"tolerations": [{"key": "a", "operator": "Exists"}]}'))
    plugins = repository.discover().plugins
    turned = [(*plugins[index:], *plugins[:index]) for index in range(len(plugins))]
    orders = (*turned, *(order[::-1] for order in turned))
    assert len({tuple(file.text for file in repository.compile(Plugins(order)).files) for order in orders}) == 1


@pytest.mark.parametrize("order", [("alpha", "beta"), ("beta", "alpha")])
def test_the_order_in_pyproject_does_not_matter(order: tuple[str, str], repository: Plugged) -> None:
    bodies = {"alpha": requirement("a"), "beta": requirement("b")}
    for name in order:
        repository.plugin(name, bodies[name])
    names = [plugin.name for plugin in repository.discover().plugins]
    assert names == sorted({*BUNDLED, "alpha", "beta"})
    term = repository.pod()["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert [entry["key"] for entry in term["nodeSelectorTerms"][0]["matchExpressions"]] == ["a", "b"]


# --- plugins that fail -------------------------------------------------------------------------------------------

HOOKS = {
    "tfgitops_check_environment": "environment",
    "tfgitops_contribute": "job",
    "tfgitops_objects": "environment",
    "tfgitops_check_manifests": "environment, manifests",
}


@pytest.mark.parametrize("failure", ["raise ValueError('boom')", "yield from []\nraise ValueError('boom')"])
@pytest.mark.parametrize("name", HOOKS)
def test_a_plugin_that_raises_is_named_with_its_hook_and_line(name: str, failure: str, repository: Plugged) -> None:
    repository.plugin("broken", hook(name, HOOKS[name], failure))
    line = Path("broken.py").read_text(encoding="utf-8").splitlines().index("    raise ValueError('boom')") + 1
    result = build()
    assert result.exit_code == 1
    assert f"error[TF901]: plugin 'broken' local failed in {name}: ValueError('boom') (broken.py:{line})" in (
        result.stderr
    )
    assert "Traceback" not in result.stderr
    assert not MANIFESTS.exists()


def test_the_other_plugins_go_on_when_one_raises(repository: Plugged) -> None:
    worker = {"replicas": 2, "volumes": ["nowhere"]}
    repository.spec(spec_with(SPEC, {"jobs.train.worker": worker, "jobs.train.queue": "nowhere"}))
    repository.plugin("broken", hook("tfgitops_check_environment", "environment", "raise ValueError('boom')"))
    assert {found.code for found in repository.compile().diagnostics} == {"TF901", "QUEUE01", "STORE01"}


@pytest.mark.parametrize("where", ["at import", "in a hook"])
def test_a_plugin_cannot_end_the_program_quietly(where: str, repository: Plugged) -> None:
    body = contribute("raise SystemExit(0)") if where == "in a hook" else "raise SystemExit(0)\n"
    repository.plugin("broken", body)
    result = build()
    assert result.exit_code == 1
    assert "broken" in result.stderr


RUBBISH = {
    "text": ("yield 'nonsense'", "yielded a str"),
    "a problem in place of a patch": ("yield Problem(code='X', message='x', at=())", "yielded a Problem"),
    "text in place of a list": ("return 'nonsense'", "returned a str"),
    "one patch in place of a list": ("return job.patch({})", "returned a Patch"),
    "a map": ("return {'a': 1}", "returned a dict"),
    "a number": ("return 3", "returned an int"),
    "a role that is not there": ("yield Patch(('pod', 'chief'), {}, job.route)", "('pod', 'chief')"),
    "a target that is no tuple": ("yield Patch(['job'], {}, job.route)", "['job']"),
    "a value that is no map": ("yield Patch(('job',), 3, job.route)", "broken"),
    "a number for a map": ("yield Patch(('job',), {'spec': 3}, job.route)", "spec"),
    "a set": ("yield job.roles[0].pod({'spec': {'nodeSelector': {'a': {1}}}})", "broken"),
    "an object": ("yield job.roles[0].pod({'spec': {'nodeSelector': {'a': object()}}})", "broken"),
    "a number for a key": ("yield job.roles[0].pod({'metadata': {'labels': {1: 'a'}}})", "broken"),
    "no reason": ("yield Patch(('pod', 'worker'), {'spec': {'nonsense': 1}}, None)", "broken"),
    "a target of numbers": ("yield Patch(('pod', 1), {}, job.route)", "`target` is wrong"),
    "a list in place of a route": ("yield Patch(('job',), {}, ['jobs'])", "`because` is wrong"),
    "a float": ("yield job.patch({'metadata': {'labels': {'a': 1.5}}})", "`value.metadata.labels.a`"),
    "null": ("yield job.patch({'metadata': {'labels': {'a': None}}})", "leave the key out"),
    "bytes": ("yield job.patch({'metadata': {'labels': {'a': b'x'}}})", "`value.metadata.labels.a`"),
    "half a character": ("yield job.patch({'metadata': {'labels': {'a': chr(0xd800)}}})", "no Unicode text"),
    "a number beyond all": ("yield job.roles[0].pod({'spec': {'priority': 10**5000}})", "`value.spec.priority`"),
    "a map in itself": ("a = {}; a['spec'] = a; yield job.patch(a)", "at most 64 levels"),
    "a map for a list": ("yield job.roles[0].pod({'spec': {'tolerations': {'a': 'b'}}})", "`value.spec.tolerations`"),
    "text for a map in a list": ("yield job.roles[0].pod({'spec': {'volumes': ['x']}})", "`value.spec.volumes.0`"),
    "a field of the pod that is none": ("yield job.roles[0].pod({'spec': {'nodeSelectr': {}}})", "nodeSelectr` is no"),
    "a field of the container that is none": ("yield job.roles[0].container({'imag': 'x'})", "`value.imag` is no"),
    "a field of the Job that is none": ("yield job.patch({'spec': {'queu': 'x'}})", "`value.spec.queu` is no"),
    "a sidecar": ("yield job.roles[0].pod({'spec': {'containers': [{'name': 'logs'}]}})", "the sidecar 'logs'"),
    "the training container": (
        "yield job.roles[0].pod({'spec': {'containers': [{'name': 'tensorflow'}]}})", "role.container(…)",
    ),
    "another name for it": ("yield job.roles[0].container({'name': 'main'})", "`value.name` cannot be patched"),
    "discovery": ("yield job.roles[0].container({'env': [{'name': 'TF_CONFIG', 'value': '{}'}]})", "TF_CONFIG is"),
    "the host's name": ("yield job.roles[0].pod({'spec': {'hostname': 'x'}})", "`value.spec.hostname` cannot be"),
    "a node": ("yield job.roles[0].pod({'spec': {'nodeName': 'x'}})", "go past the scheduler"),
    "what cannot be shown": (
        "class Shy:\n    def __repr__(self):\n        raise ValueError\nyield Shy()", "yielded a Shy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", RUBBISH)
def test_rubbish_from_a_plugin_is_its_fault_and_no_crash(what: str, repository: Plugged) -> None:
    body, said = RUBBISH[what]
    repository.plugin("broken", contribute(body))
    result = build()
    assert result.exit_code == 1, result.stderr
    assert said in result.stderr
    assert "plugin 'broken'" in result.stderr
    assert "Traceback" not in result.stderr
    assert not MANIFESTS.exists()


def test_any_mapping_and_any_sequence_will_do_and_is_copied(repository: Plugged) -> None:
    body = """
    from types import MappingProxyType
    value = {}
    for key in ("a", "b"):
        value["metadata"] = {"annotations": {key: key}}
        yield job.patch(value)  # what is changed after it was yielded is not what was yielded
    yield job.patch({"metadata": {"labels": job.get("labels")}})
    yield job.roles[0].container(MappingProxyType({"args": ("--fast",), "env": [{"name": "A", "value": "1"}]}))
    """
    repository.plugin("free", contribute(body))
    metadata = repository.job()["metadata"]
    assert metadata["annotations"] == {"a": "a", "b": "b"}
    assert metadata["labels"]["team"] == "vision"
    assert repository.pod()["containers"][0]["args"] == ["--fast"]


ODD = {
    "a Decimal": ("from decimal import Decimal\nlabel = Decimal(1)", "Decimal('1')"),
    "a number of another library": ("from array import array\nlabel = array('i', [1])", "array('i', [1])"),
    "a path": ("from pathlib import PurePosixPath\nlabel = PurePosixPath('a')", "PurePosixPath('a')"),
    "a date": ("from datetime import date\nlabel = date(2026, 1, 1)", "datetime.date(2026, 1, 1)"),
    "a member of an enumeration": ("from enum import Enum\nlabel = Enum('E', 'A').A", "<E.A: 1>"),
    "a generator": ("label = (one for one in 'a')", "<generator object"),
}


@pytest.mark.parametrize("what", ODD)
def test_a_value_of_an_odd_type_is_refused_and_shown(what: str, repository: Plugged) -> None:
    body, found = ODD[what]
    repository.plugin("odd", contribute(f"{body}\nyield job.patch({{'metadata': {{'labels': {{'a': label}}}}}})"))
    [told] = repository.compile().diagnostics
    assert told.code == "TF902"
    assert "`value.metadata.labels.a` is no JSON that a manifest can hold" in told.message
    assert told.found.startswith(found)


def test_enumerations_of_texts_and_numbers_are_taken_for_these(repository: Plugged) -> None:
    body = """
    from enum import IntEnum, StrEnum
    text, number = StrEnum("S", {"A": "a"}).A, IntEnum("I", {"A": 7}).A
    yield job.patch({"metadata": {"labels": {text: text}}})
    yield job.roles[0].pod({"spec": {"terminationGracePeriodSeconds": number}})
    """
    repository.plugin("odd", contribute(body))
    assert repository.job()["metadata"]["labels"]["a"] == "a"
    assert repository.pod()["terminationGracePeriodSeconds"] == 7


@pytest.mark.parametrize(
    ("problem", "found"),
    [
        ("code=Code.A, message='m', at=()", "<Code.A: 'X1'>"),
        ("code='X1', message=Code.A, at=()", "<Code.A: 'X1'>"),
        ("code='X1', message='m', at=['jobs']", "['jobs']"),
        ("code='X1', message='m', at=('jobs', Code.A)", "('jobs', <Code.A: 'X1'>)"),
        ("code='X1', message='m', at=(), notes=[]", "[]"),
        ("code='X1', message='m', at=(), words=(0, 'a')", "(0, 'a')"),
    ],
)
def test_a_problem_with_a_value_of_an_odd_type_is_refused_and_shown(
    problem: str, found: str, repository: Plugged
) -> None:
    body = f"from enum import Enum\nclass Code(str, Enum):\n    A = 'X1'\nyield Problem({problem})"
    repository.plugin("odd", hook("tfgitops_check_environment", "environment", body))
    [told] = repository.compile().diagnostics
    assert (told.code, told.found) == ("TF902", found)


def test_what_a_plugin_said_wrongly_is_told_beside_its_crash(repository: Plugged) -> None:
    repository.plugin("broken", contribute("yield 3\nraise ValueError('boom')"))
    assert {found.code for found in repository.compile().diagnostics} == {"TF901", "TF902"}


def test_a_native_sidecar_of_a_plugin_is_written(repository: Plugged) -> None:
    repository.plugin("logs", pod_patch("{'initContainers': [{'name': 'l', 'image': 'l', 'restartPolicy': 'Always'}]}"))
    assert [container["name"] for container in repository.pod()["initContainers"]] == ["l"]


PROBLEMS = {
    "no code": "code=None, message='m', at=()",
    "no message": "code='X1', message=None, at=()",
    "no route": "code='X1', message='m', at=None",
    "a route of a truth": "code='X1', message='m', at=(True,)",
    "a severity that is none": "code='X1', message='m', at=(), severity='fatal'",
    "a number for what was found": "code='X1', message='m', at=(), found=7",
    "text for words": "code='X1', message='m', at=(), words='w'",
    "text for notes": "code='X1', message='m', at=(), notes=('n',)",
}


@pytest.mark.parametrize("name", ["tfgitops_check_environment", "tfgitops_check_manifests"])
@pytest.mark.parametrize("what", PROBLEMS)
def test_a_rubbish_problem_is_the_plugins_fault_and_no_crash(what: str, name: str, repository: Plugged) -> None:
    repository.plugin("broken", hook(name, HOOKS[name], f"yield Problem({PROBLEMS[what]})"))
    [found] = repository.compile().diagnostics
    assert found.code == "TF902"
    assert f"plugin 'broken' local yielded a Problem from {name}" in found.message


OBJECTS = {
    "nothing": "{}",
    "a list": "[]",
    "no metadata": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': None}",
    "no name": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {}}",
    "a set": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}, 'data': {'a': {1}}}",
    "a float": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}, 'data': {'a': 1.5}}",
    "a path for a name": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': '../../../../x'}}",
    "a number for a name": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 7}}",
    "capitals in a name": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'X'}}",
    "dots for a name of a role": "{'apiVersion': 'v1', 'kind': 'Role', 'metadata': {'name': 'a..b'}}",
    "a name too long for a file": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x' * 253}}",
    "a path for a kind": "{'apiVersion': 'v1', 'kind': '../X', 'metadata': {'name': 'x'}}",
    "no version": "{'apiVersion': 'x', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}}",
    "a path for a namespace": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x', 'namespace': '..'}}",
    "a list of labels": "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x', 'labels': ['a']}}",
    "a number for an annotation":
        "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x', 'annotations': {'a': 1}}}",
    "the label of a job":
        "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x', 'labels': {'tfgitops/job': 'train'}}}",
}  # fmt: skip


@pytest.mark.parametrize("what", OBJECTS)
def test_a_rubbish_object_is_the_plugins_fault_and_no_crash(what: str, repository: Plugged) -> None:
    repository.plugin("broken", hook("tfgitops_objects", "environment", f"yield Object({OBJECTS[what]}, ())"))
    before = {path for path in repository.root.rglob("*") if "__pycache__" not in path.parts}
    result = build()
    assert result.exit_code == 1, result.output
    assert "error[TF902]: plugin 'broken' local yielded an Object from tfgitops_objects" in result.stderr
    assert "Traceback" not in result.stderr
    after = {path for path in repository.root.rglob("*") if "__pycache__" not in path.parts}
    assert after == before


FOLDERS = [
    "../../..", "workloads/../../..", "..", "", "/etc", "workload", "cluster-x", "Cluster", "cluster-1", "cluster-02",
    "cluster-9999", "workloads\n", None, 2,
]  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_object_leaves_the_manifests(folder: object, repository: Plugged) -> None:
    manifest = "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}}"
    body = f"yield Object({manifest}, (), folder={folder!r})"
    repository.plugin("broken", hook("tfgitops_objects", "environment", body))
    result = build()
    assert result.exit_code == 1, result.output
    assert list(repository.root.rglob("configmap-x.yaml")) == []


KINDS = [("v1", "ConfigMap"), ("batch/v1", "Job"), ("batch.volcano.sh/v1alpha1", "Job")]


@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_an_object_because_of_a_job_is_not_taken_for_the_job(version: str, kind: str, repository: Plugged) -> None:
    body = f"""
        for job in environment.jobs:
            yield Object({{"apiVersion": "{version}", "kind": "{kind}", "metadata": {{"name": "x"}}}}, job.route)
    """
    repository.plugin("further", hook("tfgitops_objects", "environment", body))
    compiled = repository.compile()
    assert compiled.ok, render(compiled.diagnostics)
    assert f"workloads/{kind.lower()}-x.yaml" in [file.path for file in compiled.files]


SHARED = """
    for job in environment.jobs:
        data = {"team": job.get("labels")["team"]}
        yield Object({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "team"}, "data": data}, job.route)
"""
SECOND = "  second: {image: tf, labels: {team: %s}, worker: 1}\n"


def test_equal_objects_of_several_jobs_and_plugins_are_written_once(repository: Plugged) -> None:
    repository.plugin("one", hook("tfgitops_objects", "environment", SHARED))
    repository.plugin("other", hook("tfgitops_objects", "environment", SHARED))
    repository.spec(SPEC + SECOND % "vision")
    compiled = repository.compile()
    assert compiled.ok, render(compiled.diagnostics)
    [written] = [planned for planned in compiled.objects if planned.manifest["kind"] == "ConfigMap"]
    assert written.because == ("jobs", "second")


def test_objects_of_one_name_that_are_not_equal_are_refused(repository: Plugged) -> None:
    repository.plugin("one", hook("tfgitops_objects", "environment", SHARED))
    repository.spec(SPEC + SECOND % "text")
    assert [diagnostic.code for diagnostic in repository.compile().diagnostics] == ["TF404"]


def test_a_variable_that_a_sidecar_has_not_is_said_of_the_sidecar(repository: Plugged) -> None:
    """The role has `args`, too, and they are not at fault."""
    sidecar = {"name": "sync", "image": "a", "restartPolicy": "Always", "args": ["$(RNU)", "$(RUN)"]}
    body = f"yield job.roles[0].pod({{'spec': {{'initContainers': [{sidecar!r}]}}}})"
    repository.plugin("sync", contribute(body))
    repository.spec(cut(SPEC, "worker: 2", "worker: {replicas: 2, args: [a]}"))
    [found] = repository.compile().diagnostics
    assert found.message == "in the container 'sync', $(RNU) has no value here, and stays as it is written"
    assert found.span is not None
    assert found.span.excerpt == "    worker: {replicas: 2, args: [a]}"
    assert found.span.column == 5


def test_an_object_of_rbac_may_have_a_name_with_colons(repository: Plugged) -> None:
    manifest = "{'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRole', 'metadata': {'name': 'a:B_c'}}"
    repository.plugin("roles", hook("tfgitops_objects", "environment", f"yield Object({manifest}, (), 'cluster-3')"))
    assert next(file.path for file in repository.compile().files) == "cluster-3/clusterrole-a:B_c.yaml"


@pytest.mark.parametrize(
    "path", ["../x.yaml", "a/../../x.yaml", "/x/y.yaml", "x.yaml", "a/b/c.yaml", "a/.x.yaml", "a/x"]
)
def test_nothing_is_written_that_is_no_file_of_a_folder(path: str, tmp_path: Path) -> None:
    """Whatever went wrong before: the last stage looks for itself."""
    files = [File(path=path, text="x")]
    for write in (lambda: compare(tmp_path, files), lambda: apply(tmp_path, files, [], [])):
        with pytest.raises(CompileError) as caught:
            write()
        assert [found.code for found in caught.value.diagnostics] == ["TF602"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "body",
    [
        "job.data['image'] = 'evil'",
        "job.data['labels']['team'] = 'evil'",
        "job.environment.settings['evil']['evil'] = 1",
        "job.environment.jobs[0].roles[0].data['image'] = 'evil'",
        "job.environment.places.documents[0].value['jobs'] = {}",
        "job.roles[0].data['image'] = 'evil'",
        "job.get('labels')['team'] = 'evil'",
        "job.environment.data['namespace'] = {'name': 'evil'}",
        "job.environment.settings['evil'] = {'evil': 1}",
        "job.name = 'evil'",
        "job.roles[0].replicas = 9",
    ],
)
def test_what_a_plugin_sees_is_read_only(body: str, repository: Plugged) -> None:
    repository.settings("[tool.tfgitops.settings.evil]\nevil = 0")
    repository.plugin("evil", contribute(f"{body}\nreturn []"))
    assert [found.code for found in repository.compile().diagnostics] == ["TF901"]


def test_manifests_that_a_plugin_checks_are_read_only(repository: Plugged) -> None:
    body = "manifests[0]['metadata']['name'] = 'evil'\nreturn []"
    repository.plugin("evil", hook("tfgitops_check_manifests", "manifests", body))
    assert [found.code for found in repository.compile().diagnostics] == ["TF901"]


OWNED = [
    "{'metadata': {'name': 'mine'}}",
    "{'metadata': {'namespace': 'mine'}}",
    "{'metadata': {'finalizers': []}}",
    "{'metadata': {'labels': {'tfgitops/job': 'mine'}}}",
    "{'kind': 'Mine'}",
    "{'apiVersion': 'mine/v1'}",
    "{'spec': {'tasks': []}}",
    "{'spec': {'minAvailable': 1}}",
    "{'spec': {'policies': []}}",
    "{'spec': {'schedulerName': 'mine'}}",
]


@pytest.mark.parametrize("field", OWNED)
def test_what_the_core_owns_of_a_job_is_not_quietly_kept_from_a_plugin(field: str, repository: Plugged) -> None:
    """A patch that has no effect would be looked for for hours."""
    repository.plugin("mine", contribute(f"yield job.patch({field})"))
    compiled = repository.compile()
    assert not compiled.ok
    assert "mine" in render(compiled.diagnostics)


# --- plugins that cannot be used ---------------------------------------------------------------------------------


def refusal(repository: Plugged) -> str:
    """Return what `build` says of a plugin that cannot be used: beside what it says of the spec."""
    repository.spec(spec_with(SPEC, {"jobs.train.image": GONE, "jobs.train.imag": "tf"}))
    result = build()
    assert result.exit_code == 1, result.output
    assert "error[TF902]" in result.stderr or "error[TF901]" in result.stderr
    assert "unknown key 'imag'" in result.stderr
    assert "Traceback" not in result.stderr
    assert not MANIFESTS.exists()
    assert render(repository.discover().faults) in result.stderr
    return str(result.stderr)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("", "declares no `tfgitops_api`"),
        ("tfgitops_api = 2\n", "declares tfgitops_api = 2"),
        ("import nosuch\n", "ModuleNotFoundError"),
        ("def (\n", "SyntaxError"),
        ("raise ValueError('boom')\n", "ValueError('boom')"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named(head: str, said: str, repository: Plugged) -> None:
    repository.plugin("broken", head=head)
    stderr = refusal(repository)
    assert "broken" in stderr
    assert said in stderr


def test_a_local_plugin_outside_of_the_root_is_refused(repository: Plugged) -> None:
    (repository.root.parent / "outside.py").write_text(HEAD)
    Path("pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["../outside.py", "nowhere.py"]\n')
    assert "plugin 'outside' local (../outside.py) is not a file inside the root" in refusal(repository)


def test_two_plugins_of_one_name_are_refused(repository: Plugged) -> None:
    repository.plugin("queue")
    stderr = refusal(repository)
    assert "two plugins are called 'queue'" in stderr
    assert "queue.py" in stderr
    assert "tfgitops_queue" in stderr


SCHEMAS = {
    "of another plugin": ('SchemaFragment("job", "queue", {})', "'queue'"),
    "of the core, in a role": ('SchemaFragment("role", "image", {})', "'image'"),
    "of the core, in a job": ('SchemaFragment("job", "image", {})', "'image'"),
    "of another plugin, in a job in place of a role": ('SchemaFragment("job", "gpu", {})', "'gpu'"),
    "of nobody's block": ('SchemaFragment("nowhere", "x", {})', "'nowhere'"),
    "with a type that is none": ('SchemaFragment("job", "x", {"type": "nonsense"})', "nonsense"),
    "with a number for a schema": ('SchemaFragment("job", "x", 3)', "broken"),
    "of its own, twice": (
        'SchemaFragment("role", "x", {}); yield SchemaFragment("job", "x", {})',
        "by plugin 'broken'",
    ),
    "without a name": ('SchemaFragment("job", "", {})', "`key` is wrong"),
    "with a pattern that is none": ('SchemaFragment("job", "x", {"type": "string", "pattern": "("})', "pattern"),
    "with a short form for nothing": ('SchemaFragment("job", "x", {"x-shorthand": ["y"]})', "x-shorthand"),
    "with hints that are none": ('SchemaFragment("job", "x", {"x-hints": 3})', "x-hints"),
    "with a set": ('SchemaFragment("job", "x", {"enum": {1}})', "`schema.enum`"),
    "with a reference to another file": ('SchemaFragment("job", "x", {"$ref": "other.json#/$defs/a"})', "other.json"),
    "with a reference to nowhere": ('SchemaFragment("job", "x", {"$ref": "#/$defs/nowhere"})', "nowhere"),
}


@pytest.mark.parametrize("what", SCHEMAS)
def test_a_key_has_one_owner_and_a_schema(what: str, repository: Plugged) -> None:
    fragment, said = SCHEMAS[what]
    repository.plugin("broken", hook("tfgitops_schema", "", f"yield {fragment}"))
    stderr = refusal(repository)
    assert said in stderr
    assert "plugin 'broken' local" in stderr, "the plugin at fault is named"
    assert "broken.py" in stderr
    assert "Traceback" not in run("schema").stderr


def test_a_key_may_refer_to_what_the_core_and_kubernetes_define(repository: Plugged) -> None:
    for name, reference in {"a": "core.schema.json#/$defs/labels", "b": "pod.schema.json#/$defs/Toleration"}.items():
        fragment = f'yield SchemaFragment("role", "{name}", {{"$ref": "{reference}"}})'
        repository.plugin(name, hook("tfgitops_schema", "", fragment))
    repository.spec(SPEC + "    a: {x: 'y'}\n    b: {oprator: Exists}\n")
    [found] = repository.compile().diagnostics
    assert found.hint == "did you mean 'operator'?"


def test_a_key_may_stand_in_the_block_of_another_plugin(repository: Plugged) -> None:
    repository.plugin("inner", hook("tfgitops_schema", "", 'yield SchemaFragment("gpu", "tier", {"enum": ["gold"]})'))
    repository.spec(spec_with(SPEC, {"jobs.train.worker": {"gpu": {"count": 1, "tier": "lead"}}}))
    [found] = repository.compile().diagnostics
    assert (found.code, found.expected) == ("TF203", "gold")


def test_a_schema_that_raises_is_told(repository: Plugged) -> None:
    repository.plugin("broken", hook("tfgitops_schema", "", "raise ValueError('boom')"))
    assert "plugin 'broken' local failed in tfgitops_schema: ValueError('boom')" in refusal(repository)


@pytest.mark.parametrize(
    "body",
    [
        hook("tfgitops_contribute", "job, nonsense", "return []"),
        hook("tfgitops_contributes", "job", "return []"),
        "@hookimpl(specname='tfgitops_contributes')\ndef contribute(job):\n    return []\n",
        "@hookimpl\ndef contribute(job):\n    return []\n",
        "def tfgitops_contribute(job):\n    return []\n",
        "def tfgitops_help(job):\n    return []\n",
    ],
)
def test_a_hook_that_does_not_exist_in_this_form_is_told(body: str, repository: Plugged) -> None:
    """A slip of the pen would else be a plugin that does nothing."""
    repository.plugin("broken", body)
    assert "broken" in refusal(repository)


# --- pyproject.toml ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("plugins = 'cost.py'", "must be a list of files"),
        ("plugins = [1]", "must be a list of files"),
        ("plugin = []", "unknown key 'plugin'"),
        ("settings = []", "must hold a table for each plugin"),
        ("settings = {cost = 1}", "must hold a table for each plugin"),
        ("plugins = [", "not TOML"),
    ],
)
def test_wrong_settings_of_the_root_are_told(table: str, said: str, repository: Plugged) -> None:
    Path("pyproject.toml").write_text(f"[tool.tfgitops]\n{table}\n")
    result = build()
    assert result.exit_code == 1, result.output
    assert "pyproject.toml" in result.stderr
    assert said in result.stderr
    assert not MANIFESTS.exists()


def test_settings_of_a_plugin_that_is_not_there_are_refused(repository: Plugged) -> None:
    repository.settings("[tool.tfgitops.settings.qeue]\nrequired = true")
    with pytest.raises(CompileError) as caught:
        repository.compile()
    [found] = caught.value.diagnostics
    assert "settings.qeue" in found.message
    assert found.hint == "did you mean 'queue'?"


SETTINGS = """
@hookimpl
def tfgitops_schema():
    yield SchemaFragment("settings", "limit", {"type": "integer", "minimum": 1, "description": "how many there may be"})
    yield SchemaFragment("settings", "payer", {"$ref": "core.schema.json#/$defs/labels"})
    yield SchemaFragment("settings", "names", {"type": "array", "items": {"type": "string"}, "description": "some"})
    yield SchemaFragment("settings", "by", {
        "type": "object", "additionalProperties": {"type": "integer", "description": "one"}, "description": "each",
    })
"""


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ('limit = "3"', "TF202", ['4 | limit = "3"', "write 3, a number without quotes"]),
        ("limit = 0", "TF203", ["'limit' must be at least 1", "4 | limit = 0\n  |         ^"]),
        ("lmit = 3", "TF201", ["unknown key 'lmit'", "4 | lmit = 3\n  | ^^^^", "did you mean 'limit'?"]),
        ("limit = 2026-01-01", "TF202", ["must be an integer", "4 | limit = 2026-01-01"]),
        ('names = [\n  "a",\n  7,\n]', "TF202", ["'names[1]' must be text", "6 |   7,\n  |   ^"]),
        ('# limit\nother = "limit"\nlimit = 0', "TF203", ["6 | limit = 0"]),
        ("payer = {a = 'b c'}", "TF203", ["4 | payer = {a = 'b c'}", "cannot be the value of a label"]),
        ("by.x = false", "TF202", ["4 | by.x = false", "must be an integer"]),
        ("[tool.tfgitops.settings.one.by]\nx = false", "TF202", ["5 | x = false"]),
        ("by = {x = 1979-05-27}", "TF202", ["4 | by = {x = 1979-05-27}\n  |           ^^^^^^^^^^"]),
    ],
)
def test_settings_that_a_plugin_describes_are_judged_at_their_lines(
    settings: str, code: str, said: list[str], repository: Plugged
) -> None:
    repository.plugin("one", SETTINGS)
    repository.settings(f"[tool.tfgitops.settings.one]\n{settings}")
    compiled = repository.compile()
    text = render(compiled.diagnostics)
    assert code in [diagnostic.code for diagnostic in compiled.diagnostics], text
    assert "settings of 'one': " in text
    for part in said:
        assert part in text


def test_right_settings_and_those_of_a_plugin_that_describes_none_pass(repository: Plugged) -> None:
    repository.plugin("one", SETTINGS)
    repository.plugin("two")
    repository.settings("[tool.tfgitops.settings]\none = {limit = 3, names = ['a']}\ntwo = {anything = 1.5}")
    assert repository.compile().ok


def test_wrong_settings_that_no_file_says_are_told_without_a_line(repository: Plugged) -> None:
    repository.plugin("one", SETTINGS)
    plugins = repository.discover()
    Path("pyproject.toml").unlink()
    project = Project(root=Path.cwd(), settings={"one": {"limit": 0}})
    [found] = compile_environment(FOLDER.resolve(), plugins, project).diagnostics
    assert found.span is None
    assert found.file == "pyproject.toml"
    assert found.message == "pyproject.toml: settings of 'one': 'limit' must be at least 1"


def test_a_setting_is_described_once(repository: Plugged) -> None:
    repository.plugin("one", SETTINGS + SETTINGS.splitlines()[3] + "\n")
    assert "is owned already" in refusal(repository)


def test_wrong_settings_are_said_once_for_all_environments(repository: Plugged) -> None:
    repository.plugin("one", SETTINGS)
    repository.settings("[tool.tfgitops.settings]\none = {limit = 0}")
    other = Path("environments/lab")
    other.mkdir()
    (other / "environment.yaml").write_text(SPEC)
    result = run("validate")
    assert result.exit_code == 1
    assert result.stderr.count("must be at least") == 1, result.stderr


def test_a_setting_is_no_key_of_the_spec(repository: Plugged) -> None:
    repository.plugin("one", SETTINGS)
    repository.spec(spec_with(SPEC, {"limit": 1}))
    assert [diagnostic.code for diagnostic in repository.compile().diagnostics] == ["TF201"]


KEYWORDS = [
    ('{"type": "array", "maxItems": 2}', "[a, b, c]", "'train.x' must have at most 2 entries"),
    ('{"type": "array", "minItems": 2}', "[a]", "'train.x' must have at least 2 entries"),
    ('{"type": "array", "minItems": 2}', "[]", "'train.x' is empty"),
    ('{"type": "string", "maxLength": 2}', "abc", "'train.x' must have at most 2 characters"),
    ('{"type": "integer", "exclusiveMaximum": 2}', "2", "'train.x' must be less than 2"),
    ('{"type": "integer", "multipleOf": 2}', "3", "'train.x' must be a multiple of 2"),
    ('{"type": "object", "minProperties": 1}', "{}", "'train.x' is empty"),
    ('{"type": "array", "maxItems": 1}', "[a, b]", "'train.x' must have at most 1 entry"),
    ('{"type": "string", "maxLength": 1}', "ab", "'train.x' must have at most 1 character"),
    ('{"type": "object", "dependentRequired": {"a": ["b"]}}', "{a: 1}", "'train.x' has 'a' and no 'b'"),
    ('{"anyOf": [{"type": "string"}, {"type": "integer"}]}', "[]", "a list is not allowed for 'train.x'"),
    ('{"not": {"const": "y"}}', "y", "'y' is not allowed for 'train.x'"),
    ('{"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}}', "{a: 1}", "'train.x' has no 'b'"),
]


@pytest.mark.parametrize(("schema", "value", "said"), KEYWORDS)
def test_every_keyword_of_json_schema_is_told_in_our_words(
    schema: str, value: str, said: str, repository: Plugged
) -> None:
    schema = cut(schema, "{", '{"description": "what it is", ', 1)
    repository.plugin("one", hook("tfgitops_schema", "", f'yield SchemaFragment("job", "x", {schema})'))
    repository.spec(f"{SPEC}    x: {value}\n")
    found = repository.compile().diagnostics
    assert [diagnostic.message for diagnostic in found] == [said]


@pytest.mark.parametrize(
    "schema",
    ['"dependentRequired": {"a": ["b"]}', '"minProperties": 2', '"not": {"required": ["c"]}', '"required": ["b"]'],
)
def test_what_one_block_lacks_may_stand_in_another(schema: str, repository: Plugged) -> None:
    fragment = f'SchemaFragment("job", "x", {{"type": "object", "description": "what it is", {schema}}})'
    repository.plugin("one", hook("tfgitops_schema", "", f"yield {fragment}"))
    repository.spec(f"{SPEC}    x: {{a: 2, b: 1}}\n  other: {{from: train, x: {{a: 1}}}}\n")
    found = repository.compile().diagnostics
    assert not found, render(found)


MISPLACED = """
@hookimpl
def tfgitops_schema():
    yield SchemaFragment("environment", "regions", {"type": "object", "description": "where"})
    yield SchemaFragment("job", "payer", {"type": "string", "description": "who"})
    yield SchemaFragment("role", "fabric", {"type": "string", "description": "by what"})
"""


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"jobs.train.regions": {}}, "`regions` belongs to the environment: it stands at the top"),
        ({"jobs.train.worker": {"regions": {}}}, "`regions` belongs to the environment: it stands at the top"),
        ({"jobs.train.worker": {"payer": "a"}}, "`payer` belongs to the job"),
        ({"payer": "a"}, "`payer` belongs to the job"),
        ({"fabric": "a"}, "`fabric` belongs to a job or a role; for all jobs, `defaults: {fabric: …}`"),
        ({"jobs.train.worker": {"fabrik": "a"}}, "did you mean 'fabric'?"),
    ],
)
def test_a_key_of_a_plugin_in_the_wrong_place_is_told_where_it_belongs(
    changes: dict[str, object], hint: str, repository: Plugged
) -> None:
    repository.plugin("one", MISPLACED)
    repository.spec(spec_with(SPEC, changes))
    found = repository.compile().diagnostics
    assert [(diagnostic.code, diagnostic.hint) for diagnostic in found] == [("TF201", hint)]
