"""Policy: what each rule asks of the manifests, at each level, and on which line of the spec it is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from checkout import REPOSITORY
from commandline import run

from tfgitops import Accelerator, Object, Plugins, Problem, compile_environment, discover, hookimpl, parse_image
from tfgitops.plugins.door import Plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from repository import Repository

    from tfgitops.testing import Result

    Compile = Callable[..., Result]

DIGEST = "@sha256:" + "0" * 64
REGISTRIES = "imageRegistries: {level: deny, allowed: [registry.example.com/ml, docker.io/library]}"
RULES = {
    "imageDigest: %s": ("POLICY01", "{image: a:1, worker: 1}", f"{{image: 'a{DIGEST}', worker: 1}}"),
    "imageRegistries: {level: %s, allowed: [ghcr.io]}": (
        "POLICY02", "{image: a:1, worker: 1}", "{image: 'ghcr.io/a', worker: 1}",
    ),
    "maxGpus: {level: %s, perJob: 4}": (
        "POLICY03", "{image: a:1, worker: {replicas: 5, gpu: 1}}", "{image: a:1, worker: {replicas: 2, gpu: 2}}",
    ),
    "requiredLabels: {level: %s, labels: [team]}": (
        "POLICY04", "{image: a:1, worker: 1}", "{image: a:1, worker: 1, labels: {team: x}}",
    ),
    "noLatest: %s": ("POLICY05", "{image: a, worker: 1}", "{image: a:1, worker: 1}"),
}  # fmt: skip


def spec(rules: str, job: str) -> str:
    return f"policy: {{{rules}}}\njobs: {{train: {job}}}\n"


def found(result: Result) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in result.compiled.diagnostics]


@pytest.mark.parametrize(("level", "severity"), [("audit", "note"), ("warn", "warning"), ("deny", "error")])
@pytest.mark.parametrize("rule", RULES)
def test_each_rule_at_each_level(compile_spec: Compile, rule: str, level: str, severity: str) -> None:
    code, bad, good = RULES[rule]
    result = compile_spec(spec(rule % level, bad))
    assert (found(result), result.ok) == ([(code, severity)], level != "deny")
    assert found(compile_spec(spec(rule % level, good))) == []
    assert found(compile_spec(f"jobs: {{train: {bad}}}\n")) == [], "a rule is off unless it is switched on"


def test_an_environment_switches_the_level_of_an_inherited_rule(compile_spec: Compile) -> None:
    base = {"../base.yaml": f"policy: {{{REGISTRIES}, noLatest: deny}}\n"}
    job = "jobs: {train: {image: ghcr.io/a, worker: 1}}\n"
    assert found(compile_spec("extends: ../base.yaml\n" + job, base)) == [("POLICY02", "error"), ("POLICY05", "error")]
    switched = "extends: ../base.yaml\npolicy: {imageRegistries: warn, noLatest: null}\n" + job
    assert found(compile_spec(switched, base)) == [("POLICY02", "warning")]


@pytest.mark.parametrize(
    ("image", "allowed"),
    [
        ("registry.example.com/ml/a", True),
        ("registry.example.com/ml/deep/a:1", True),
        ("registry.example.com/ml:1", True),
        ("REGISTRY.example.com/ml/a", True),
        ("registry.example.com/mlops/a", False),
        ("registry.example.com/a", False),
        ("registry.example.com:443/ml/a", False),
        ("registry.example.com.evil.org/ml/a", False),
        ("ubuntu", True),
        (f"ubuntu{DIGEST}", True),
        ("docker.io/ubuntu:24.04", True),
        ("index.docker.io/ubuntu", True),
        ("docker.io/library/ubuntu", True),
        ("tensorflow/tensorflow", False),
        ("docker.io/tensorflow/tensorflow", False),
        ("localhost/ml/a", False),
    ],
)
def test_registries_end_where_a_path_does(compile_spec: Compile, image: str, *, allowed: bool) -> None:
    result = compile_spec(spec(REGISTRIES, f"{{image: '{image}', worker: 1}}"))
    assert result.ok == allowed, result.text
    if not allowed:
        assert "an image of registry.example.com/ml or docker.io/library" in result.text


@pytest.mark.parametrize(
    ("image", "whole"),
    [
        ("ubuntu", "docker.io/library/ubuntu"),
        ("docker.io/ubuntu", "docker.io/library/ubuntu"),
        ("index.docker.io/a/b", "docker.io/a/b"),
        ("LOCALHOST:5000/a", "LOCALHOST:5000/a"),
    ],
)
def test_a_reference_has_one_registry_however_it_is_written(image: str, whole: str) -> None:
    parsed = parse_image(image)
    assert f"{parsed.registry}/{parsed.repository}" == whole


@pytest.mark.parametrize(
    ("registry", "hint"),
    [
        ("https://ghcr.io/a", "leave out the scheme: ghcr.io/a"),
        ("ghcr.io/", "write ghcr.io: what is below"),
        ("ghcr.io/*", "write ghcr.io: what is below"),
        ("ubuntu", "write docker.io/ubuntu"),
        ("ghcr.io/a:1", "as in registry.example.com/team"),
        (f"ghcr.io/a{DIGEST}", "as in registry.example.com/team"),
    ],
)
def test_a_registry_of_another_form_is_refused(compile_spec: Compile, registry: str, hint: str) -> None:
    rule = f"imageRegistries: {{level: warn, allowed: ['{registry}']}}"
    result = compile_spec(spec(rule, "{image: a, worker: 1}"))
    assert (result.codes, hint in result.text) == (["TF203"], True), result.text


@pytest.mark.parametrize(
    "job",
    [
        "image: %s, worker: 1",
        "image: a:1, worker: {image: %s}",
        "image: a:1, container: {image: %s}, worker: 1",
        "image: a:1, worker: {container: {image: %s}}",
        "image: a:1, worker: 1, pod: {spec: {initContainers: [{name: o, image: b:1}, {name: i, image: %s}]}}",
        "image: a:1, worker: {pod: {spec: {initContainers: [{name: s, restartPolicy: Always, image: %s}]}}}",
        "image: a:1, worker: {pod: {spec: {volumes: [{name: v, image: {reference: %s}}]}}}",
    ],
)
def test_every_image_of_a_pod_is_judged_and_told_on_its_line(compile_spec: Compile, job: str) -> None:
    text = spec("noLatest: deny", f"{{{job}}}" % "'x:latest'")
    result = compile_spec(text)
    (diagnostic,) = result.compiled.diagnostics
    assert diagnostic.code == "POLICY05"
    assert diagnostic.span is not None
    marked = diagnostic.span.excerpt[diagnostic.span.column - 1 :][: diagnostic.span.width]
    assert marked == "'x:latest'", result.text


def test_the_same_inherited_image_is_told_once_where_it_is_written(compile_spec: Compile) -> None:
    text = "policy: {noLatest: warn}\ndefaults: {image: a}\njobs: {one: {worker: 1}, two: {worker: 1, chief: 1}}\n"
    result = compile_spec(text)
    (diagnostic,) = result.compiled.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.span.excerpt == "defaults: {image: a}"
    assert ("the rule", 4) in [(note, span.line) for note, span in diagnostic.notes]


@pytest.mark.parametrize(
    ("job", "total"),
    [
        ("worker: {replicas: 3, gpu: 2}", 6),
        ("worker: {replicas: 3, gpu: {count: 2, resource: amd.com/gpu}}", 6),
        ("worker: {replicas: 5, gpu: {mig: 1g.5gb}}", 5),
        ("worker: {replicas: 5, gpu: {count: 1, resource: example.com/gpu}}", 5),
        ("worker: {replicas: 5, gpu: {count: 1, resource: nvidia.com/gpu.shared}}", 5),
        ("worker: {replicas: 5, gpu: {count: 1, resource: gpu.intel.com/i915}}", 5),
        ("worker: {replicas: 5, gpu: {vgpu: {number: 1, memory: 1000}}}", 5),
        ("chief: {gpu: 1}, worker: {replicas: 4, gpu: 1}", 5),
        ("worker: {replicas: 2}, tasks: {feeder: {replicas: 5, gpu: 1, dependsOn: [worker]}}", 5),
        ("worker: 1, container: {resources: {limits: {nvidia.com/gpu: 5}}}", 5),
        (("worker: 1, gpu: 1, pod: {spec: {initContainers: [{name: i, image: b, resources: "
         "{limits: {nvidia.com/gpu: 5}}}]}}"), 5),
    ],
)  # fmt: skip
def test_gpus_are_those_of_all_pods_and_of_every_kind(compile_spec: Compile, job: str, total: int) -> None:
    def judged(most: int) -> Result:
        return compile_spec(spec(f"maxGpus: {{level: deny, perJob: {most}}}", f"{{image: a:1, {job}}}"))

    assert judged(total).ok, judged(total).text
    result = judged(total - 1)
    assert result.codes == ["POLICY03"]
    assert f"asks for {total} GPUs, and a job may have {total - 1}" in result.text


def test_what_is_an_accelerator_is_said_by_plugins(compile_spec: Compile) -> None:
    class Gaudi:
        tfgitops_api = 1

        @hookimpl
        def tfgitops_accelerators(self) -> Iterator[Accelerator]:
            yield Accelerator("habana.ai/*", "Gaudis", devices=8)

    plugins = Plugins((*discover().plugins, Plugin("gaudi", Gaudi(), "1", "here")))
    job = "{image: a:1, worker: 1, container: {resources: {limits: {habana.ai/gaudi: 1, example.com/fpga: 9}}}}"
    rule = spec("maxGpus: {level: deny, perJob: 4}", job)
    assert compile_spec(rule).ok
    assert "asks for 8 GPUs" in compile_spec(rule, plugins=plugins).text


def test_a_plugin_that_fails_to_say_what_is_an_accelerator_is_named(compile_spec: Compile) -> None:
    class Broken:
        tfgitops_api = 1

        @hookimpl
        def tfgitops_accelerators(self) -> Iterator[Accelerator]:
            raise RuntimeError("no driver")

    result = compile_spec("jobs: {train: {image: a, worker: 1}}\n", plugins=Plugins((Plugin("b", Broken(), "1", "x"),)))
    assert (result.codes, "no driver" in result.text) == (["TF901"], True)


def test_images_of_other_objects_are_told_at_the_rule(compile_spec: Compile) -> None:
    class Board:
        tfgitops_api = 1

        @hookimpl
        def tfgitops_objects(self) -> Iterator[Object]:
            pod = {"containers": [{"name": "web", "image": "board"}]}
            manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "board"}}
            template = {"metadata": {"labels": {"app": "board"}}, "spec": pod}
            spec = {"selector": {"matchLabels": {"app": "board"}}, "template": template}
            yield Object({**manifest, "spec": spec}, ("jobs",))

    plugins = Plugins((*discover().plugins, Plugin("board", Board(), "1", "here")))
    result = compile_spec(spec("noLatest: warn", "{image: a:1, worker: 1}"), plugins=plugins)
    assert result.codes == ["POLICY05"]
    assert "in Deployment 'board'" in result.text
    assert "environment.yaml:4:" in result.text


def test_a_pinned_job_is_judged_by_what_was_committed(repository: Repository) -> None:
    repository.base(("tf:2.21", "tf:latest"))
    repository.build("--restart-all")
    name = next(
        line.split()[-1] for line in repository.manifest("bert").splitlines() if line.startswith("  name: bert")
    )
    repository.base(("tf:latest", "tf:2.21"))
    repository.prod(("  bert:\n", f"  bert:\n    pin: {name}\n"), ("cluster: eu-1\n", "policy: {noLatest: deny}\n"))
    result = run("validate")
    assert result.stderr.count("error[POLICY05]") == 1
    assert f"    pin: {name}" in result.stderr


# --- notes ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def audited(repository: Repository) -> Repository:
    repository.prod(("cluster: eu-1\n", "cluster: eu-1\npolicy: {imageDigest: audit}\n"))
    repository.commit("audit")
    return repository


def test_what_is_audited_is_shown_to_those_who_ask(audited: Repository) -> None:
    assert run("validate", "--strict").stderr == ""
    shown = run("validate", "--strict", "-v")
    assert (shown.exit_code, "note[POLICY01]" in shown.stderr, "1 note" in shown.stderr) == (0, True, True)
    assert run("build", "--check").stderr == ""
    assert "note[POLICY01]" in run("build", "--check", "-v").stderr


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_programs_are_told_of_what_is_audited_as_people_are(audited: Repository, form: str) -> None:
    assert "POLICY01" not in run("validate", "--format", form).stdout
    shown = run("validate", "--format", form, "-v").stdout
    assert {"json": '"severity": "note"', "sarif": '"level": "note"', "github": "::notice file="}[form] in shown


def test_a_review_tells_of_what_is_audited_when_asked(audited: Repository) -> None:
    def problems(*arguments: str) -> list[Any]:
        listed: list[Any] = json.loads(audited.review("--format", "json", *arguments).stdout)["problems"]
        return [one["severity"] for one in listed if one["code"] == "POLICY01"]

    assert (problems(), problems("-v")) == ([], ["note"])
    assert "POLICY01" not in audited.review().output
    assert "note[POLICY01]" in audited.review("-v").output


def test_another_severity_of_a_plugin_is_refused(compile_spec: Compile) -> None:
    class Loud:
        tfgitops_api = 1

        @hookimpl
        def tfgitops_check_environment(self) -> Iterator[Problem]:
            yield Problem(code="L1", message="m", at=(), severity="fatal")  # type: ignore[arg-type]

    plugins = Plugins((Plugin("loud", Loud(), "1", "here"),))
    assert "error, warning or note" in compile_spec("jobs: {train: {image: a, worker: 1}}\n", plugins=plugins).text


def test_the_examples_of_the_page_are_specs(compile_spec: Compile) -> None:
    page = (REPOSITORY / "docs" / "spec.md").read_text(encoding="utf-8")
    rules, exception = (re.findall(rf"^## {title}$.*?```yaml\n(.*?)```", page, re.DOTALL | re.MULTILINE)[0]
                        for title in ("Policy", "Exceptions"))  # fmt: skip
    jobs = "jobs: {resnet: {image: registry.example.com/ml/train, worker: {replicas: 65, gpu: 1}}}\n"
    result = compile_spec(rules + exception + jobs)
    assert sorted(set(result.codes)) == ["POLICY01", "POLICY03", "POLICY04", "POLICY06", "TF803"], result.text
    assert [one.by.code for one in result.compiled.allowed] == ["POLICY05"]


def test_the_living_example_has_a_policy(plugins: Plugins) -> None:
    compiled = compile_environment(REPOSITORY / "environments" / "prod", plugins)
    assert {(one.code, one.severity) for one in compiled.diagnostics} == {("POLICY04", "note")}
    assert Path(compiled.diagnostics[0].notes[0][1].file).name == "base.yaml"
