"""Slips of spelling, of form and of habit, as engineers make them, and what each is answered: a row for each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tfgitops.spec.schema.specschema import join
from tfgitops.spec.schema.unknownkeys import answer
from tfgitops.targets.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfgitops import Plugins
    from tfgitops.testing import Result

    Compile = Callable[..., Result]

_TOP = "it belongs to a job; for all jobs, `defaults: {"
_RAW = "a field of Kubernetes's pods: `pod: {spec: {"
_CONTAINER = "a field of Kubernetes's containers: `container: {"
_DECLARE = (
    "declare it at the top, as in `volumes: {data: {claim: NAME, path: /data}}`, and name it here: `volumes: [data]`"
)
_OWN = "the program's own parameters go into `command`, `args` or `env`"
_CRON = "not in v1alpha1: a job runs once, when it is applied, and again with another `rerun`"

IN_A_JOB = {
    # exact names of Kubernetes come before what is only spelled alike
    "dnsPolicy: Default": _RAW + "dnsPolicy: …}}`",
    "dnsPolcy: Default": _RAW + "dnsPolicy: …}}`",
    "initContainers: []": _RAW + "initContainers: …}}`",
    "nodeAffinity: {}": _RAW + "affinity: {nodeAffinity: …}}}`",
    "privileged: true": _CONTAINER + "securityContext: {privileged: …}}`",
    "imagePullPolicy: Always": _CONTAINER + "imagePullPolicy: …}`",
    "envFrom: []": "through `container: {envFrom: …}`",
    "volumeMounts: []": _DECLARE + "; others go through `container: {volumeMounts: …}`",
    "priority: 5": "name a PriorityClass by `priorityClassName`",
    "serviceAccountName: x": "the key is `serviceAccount`",
    "workingDir: /a": "the key is `workdir`",
    "pod: {spec: {image: x}}": _CONTAINER + "image: …}`",
    "container: {nodeSelector: {}}": _RAW + "nodeSelector: …}}`",
    # Kubernetes, Volcano
    "backoffLimit: 3": "`maxRetry`, which counts starts, not restarts, also of single pods",
    "retries: 3": "`maxRetry`, which counts starts, not restarts, also of single pods",
    "ttl: 3600": "to remove it, remove it from the spec",
    "timeout: 3600": "`policies: [{exitCode: 124, action: TerminateJob}]`",
    "activeDeadlineSeconds: 3": "the policy for PodFailed may run it again",
    "parallelism: 2": "`replicas` belongs to a role",
    "completions: 2": "`replicas` belongs to a role",
    "suspend: true": "not in v1alpha1: to hold a job back, leave it out",
    "schedule: '0 * * * *'": _CRON,
    "cron: x": _CRON,
    "minMember: 3": "the key is `minAvailable`",
    "networkTopology: {}": "not in v1alpha1",
    "partitionPolicy: {}": "not in v1alpha1",
    "topologyPolicy: none": "not in v1alpha1",
    "event: PodFailed": "an entry of `policies`",
    # Kubeflow
    "tfReplicaSpecs: {Worker: {replicas: 2}}": "write chief, ps, worker, evaluator directly in the job",
    "parameterServer: 2": "the role is `ps`",
    "parameter-servers: 2": "the role is `ps`",
    "master: 1": "the role that leads is `chief`",
    "launcher: 1": "write a further task: `tasks: {launcher: …}`",
    "Worker: 2": "did you mean 'worker'?",
    "elasticPolicy: {}": "not in v1alpha1: a gang has a fixed size",
    "successPolicy: AllWorkers": "see `policies`",
    "num_workers: 4": "write `worker: {replicas: 4}`",
    "restartPolicy: ExitCode": "write `policies: [{exitCode: N, action: RestartJob}]`",
    # Docker Compose, Helm
    "entrypoint: [python]": "the key is `command`",
    "environment: {A: b}": "the key is `env`",
    "enviroment: {}": "the key is `env`",
    "depends_on: [a]": "`dependsOn` belongs to a role",
    "ulimits: {}": "the nodes decide",
    "replicaCount: 3": "`replicas` belongs to a role",
    "shm_size: 2gb": "the key is `shm`",
    "sharedMemory: 2Gi": "the key is `shm`",
    "sidecars: []": "write an init container with `restartPolicy: Always`",
    "tag: latest": "write all of it into `image`",
    "queue: {name: vision}": "write it alone, without a key: vision",
    'volumes: ["data:/data"]': "write {name: data, path: /data}",
    # amounts
    "ram: 4Gi": "the key is `memory`",
    "cpus: 4": "the key is `cpu`",
    "gpus: 2": "the key is `gpu`",
    "tpus: 4": "write `gpu: {count: 4, resource: google.com/tpu}`",
    "gpu: {nvidia.com/gpu: 1}": "the key is `count`",
    "gpu: {model: A100}": "the key is `product`",
    "gpu: A100": "to choose the product, write {count: 1, product: …}",
    "gpu: true": "write a number, such as 1",
    "gpuMemory: 10": "`gpu: {vgpu: {memory: …}}`",
    "cpu: {min: 1}": "the key is `request`",
    "memory: {value: 16Gi}": "write it alone",
    "shm: {size: 2Gi}": "write it alone, without a key: 2Gi",
    "nodes: 3": "how many pods there are is said in each role",
    # what is of other objects, or of the program
    "storage: 10Gi": _DECLARE,
    "pvc: data": _DECLARE,
    "mount: /data": _DECLARE,
    "secrets: [a]": "`env: {NAME: {secret: hub, key: token}}`",
    "configMap: a": "`env: {NAME: {configMap: settings, key: mode}}`",
    "batch_size: 256": _OWN,
    "checkpointDir: /c": _OWN,
    "strategy: MultiWorkerMirroredStrategy": "write multi-worker",
    # nothing is known of it
    "queues: {v: {}}": "`queues` belongs to the environment: it stands at the top",
    "feeder: 2": "the roles are chief, ps, worker and evaluator; any other task goes under `tasks`; further keys",
    "feeder: {replicas: 2}": "the roles are chief, ps, worker and evaluator",
    "feeder: {rate: 2}": "known here: annotations, args",
    # numbers
    "port: 99999999999999999999": "write a number, 65535 at most",
    "rerun: 99999999999999999999": "write a number of 18 digits at most",
    'port: "2222"': "write 2222, a number without quotes",
    "port: 02222": "write 2222",
    "port: [2222]": "write it without a list: 2222",
    'port: "²"': "the port of the TensorFlow servers",
    # a list where a map belongs, and the other way round
    "env: [{name: A, value: b}]": "write `A: b` for `- {name: A, value: b}`",
    "env: [{name: A, valueFrom: {}}]": "write `A: {secret: NAME, key: KEY}`",
    "env: [A=b]": "write `A: b` for `- A=b`",
    "env: [A: b]": "leave out the '-' before `A:`",
    "env: A=b": "write `A: b`",
    "env: {A: [1, 2]}": "a text, a whole number, or {secret: NAME, key: KEY}",
    "env: {A: {valueFrom: {}}}": "write {secret: NAME, key: KEY}",
    "labels: [a=b]": "write `a: b` for `- a=b`",
    "labels: [team]": "write `team: …` for `- team`",
    "ports: [9090]": "each needs a name: `NAME: 9090`",
    'ports: ["80:8080"]': "each needs a name: `NAME: 8080`",
    "ports: 9090": "each needs a name: `NAME: 9090`",
    "ports: [{name: metrics, containerPort: 9090}]": "write `metrics: 9090`",
    "tasks: [{name: feeder, replicas: 1}]": "write `feeder:` for `- name: feeder`, and its other keys below it",
    "command: 5": "a list runs as it is; text runs in /bin/sh -c",
    "args: --a --b=c": "write a list: `[--a, --b=c]`",
    "volumes: {data: /data}": "write a list: `[data]`",
    "volumes: {data: {claim: x}}": "declare it at the top",
    "volumes: data": "write a list: `[data]`",
    "imagePullSecrets: [{name: hub}]": "write it alone, without a key: hub",
    "imagePullSecrets: {name: hub}": "write a list: `[hub]`",
    "tolerations: {key: gpu, operator: Exists}": "write a list: `- ` before `key:`",
    "policies: {PodFailed: RestartJob}": "such as [{event: PodFailed, action: RestartJob}]",
    "policies: [{on: PodFailed, action: RestartJob}]": "the key is `event`",
    # names of what there is not
    "from: nope": "the jobs are first, second",
    "from: secund": "did you mean 'second'?",
    "volumes: [nope]": "the volumes are corpus; or declare it at the top: `volumes: {nope: {claim: …}}`",
    "queue: nope": "the queues are default, research; or declare it under `queues`: `nope: {external: true}`",
}

IN_A_ROLE = {
    "dnsPolicy: Default": _RAW + "dnsPolicy: …}}`",
    "priority: 5": "by the job's `priorityClassName`",
    "sharedMemory: 2Gi": "the key is `shm`",
    "count: 2": "the key is `replicas`",
    "minReplicas: 1": "not in v1alpha1",
    "partitionPolicy: {}": "not in v1alpha1",
    "worker: 2": "roles stand side by side in the job",
    "labels: {a: b}": "those of its pods in `pod: {metadata: …}`",
    "dependsOn: ps": "write a list: `[ps]`",
    "dependsOn: {ps: running}": "write a list: `[ps]`",
    "dependsOn: [nope]": "the roles are worker",
    "ports: {metrics: {containerPort: 9090}}": "the key is `port`",
}

AT_THE_TOP = {
    "queue: vision": "`queue` belongs to the job",
    "queue: {vision: {}}": "did you mean 'queues'?",
    "image: tf": _TOP + "image: …}`",
    "worker: 2": _TOP + "worker: …}`",
    "dnsPolicy: Default": "in a job: " + _RAW,
    "schedule: x": _CRON,
    "Jobs: {}": "did you mean 'jobs'?",
    "services: {}": "the key is `jobs`",
    "pvcs: {}": "the key is `volumes`",
    "values: {}": "there are no templates: what all jobs share stands in `defaults`",
    "queues: [{name: vision, weight: 1}]": "write `vision:` for `- name: vision`, and its other keys below it",
    "queues: {vision: {parent: nope}}": "the queues are root; or declare it under `queues`",
    "queues: {vision: {cpu: 8}}": "write `capability: {cpu: …",
    "volumes: [{name: data, claim: x}]": "write `data:` for `- name: data`",
    "volumes: {data: {pvc: x}}": "the key is `claim`",
    "volumes: {data: {claim: x, access: RWX}}": "write ReadWriteMany",
    "volumes: {data: {claim: x, path: data}}": "write '/data'",
    "nodes: [{name: a, count: 1}]": "write `a:` for `- name: a`",
    "nodes: {a: {count: 1, accelerators: {gpu: 8}}}": "did you mean 'nvidia.com/gpu'?",
    "allow: {code: POLICY05}": "write a list: `- ` before `code:`",
}


@pytest.mark.parametrize("written", IN_A_JOB)
def test_a_slip_in_a_job_is_answered(written: str, compile_spec: Compile) -> None:
    others = "jobs: {first: {image: tf, worker: 1}, second: {image: tf, worker: 1}, third: {image: tf, chief: 1,\n"
    text = f"queues: {{research: {{}}}}\nvolumes: {{corpus: {{claim: x}}}}\n{others}  {written}\n  }}}}\n"
    assert IN_A_JOB[written] in _hint(compile_spec(text))


@pytest.mark.parametrize("written", IN_A_ROLE)
def test_a_slip_in_a_role_is_answered(written: str, compile_spec: Compile) -> None:
    assert IN_A_ROLE[written] in _hint(compile_spec(f"jobs: {{a: {{image: tf, worker: {{\n  {written}\n  }}}}}}\n"))


@pytest.mark.parametrize("written", AT_THE_TOP)
def test_a_slip_at_the_top_is_answered(written: str, compile_spec: Compile) -> None:
    assert AT_THE_TOP[written] in _hint(compile_spec(f"{written}\njobs: {{a: {{image: tf, worker: 1}}}}\n"))


def _hint(result: Result) -> str:
    (found,) = result.compiled.diagnostics
    return found.hint


TOO_FAR_LEFT = [
    ("jobs:\n  h:\n  image: tf\n  worker: 2\n", {"image": "h", "worker": "h"}),
    ("jobs:\n  h:\n  env: {A: b}\n  worker:\n    replicas: 2\n", {"env": "h", "worker": "h"}),
    ("jobs:\n  h:\n    image: tf\n  worker: 2\n", {"worker": "h"}),
    ("jobs:\nh:\n  image: tf\n", {"h": "jobs"}),
    ("jobs:\n  h:\n    worker:\n    replicas: 2\n", {"replicas": "worker"}),
    ("jobs:\n  h:\n    worker: 2\n    env:\n    A: b\n", {"A": "env"}),
    ("jobs:\n  h:\n    worker:\n      gpu:\n      count: 2\n", {"count": "gpu"}),
    ("jobs:\n  h:\n    worker: 2\n    ports:\n    metrics: 9090\n", {"metrics": "ports"}),
    ("defaults:\nimage: tf\njobs: {}\n", {"image": "defaults"}),
    ("queues:\n  vision:\n  weight: 2\njobs: {}\n", {"weight": "vision"}),
    ("volumes:\n  data:\n  claim: x\n  path: /data\njobs: {}\n", {"claim": "data", "path": "data"}),
]


@pytest.mark.parametrize(("text", "wanted"), TOO_FAR_LEFT)
def test_a_key_beside_its_block_is_to_be_indented(text: str, wanted: dict[str, str], compile_spec: Compile) -> None:
    found = compile_spec(text).compiled.diagnostics
    said = [(problem.code, problem.message, problem.hint) for problem in found]
    assert said == [
        ("TF201", f"'{key}' stands beside '{block}', not in it", f"indent it below '{block}'")
        for key, block in wanted.items()
    ]


def test_keys_of_a_job_without_its_name_are_told_so(compile_spec: Compile) -> None:
    found = compile_spec("jobs:\n  image: tf\n  worker: 2\n").compiled.diagnostics
    assert found[0].hint == "put one between: `jobs: {NAME: {image: …}}`"


@pytest.mark.parametrize(
    "text", ["jobs: {a: ~, worker: {image: tf, worker: 1}}\n", "jobs: {a: {image: tf, worker: ~}}\n"]
)
def test_what_is_removed_is_no_block_to_indent_below(text: str, compile_spec: Compile) -> None:
    assert "stands beside" not in compile_spec(text).text


WORDS = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8").splitlines()
"""Keys of Kubeflow, Kubernetes, Compose, Helm, Slurm, Ray and Volcano, a line each: where, what, and the answer."""


@pytest.mark.parametrize("line", WORDS)
def test_a_word_from_elsewhere_is_answered_without_a_hazard(line: str, plugins: Plugins) -> None:
    """A hint leads to no number that nobody wrote; after a change, read the answers before you write them here.

    The exit code of `timeout` is a fact, as the 2 of TensorFlow 2 is.
    """
    written, _, expected = line.partition(" -> ")
    place, _, text = written.partition(" ")
    key, value = next(iter(yaml.safe_load(text).items()))
    job = plugins.schema.environment["properties"]["jobs"]["additionalProperties"]
    schema = {"env": plugins.schema.environment, "job": job, "role": job["properties"]["worker"]}[place]
    hint = answer(key, value, schema)
    assert hint.startswith(expected) if expected in ("known here", "the roles are") else hint == expected
    numbers = re.findall(r"(?<![\w-])[0-9]+", re.sub("TensorFlow 2|exitCode: 124", "", hint))
    assert {*numbers} <= {*re.findall("[0-9]+", str(value))}


def _foreign() -> Iterator[tuple[str, str]]:
    """Yield every field of Kubernetes and Volcano that someone may write in a job, or in a role."""
    pod = schema_file("pod.schema.json")["$defs"]
    volcano = schema_file("volcano.schema.json")["$defs"]
    of_both = [*pod["PodSpec"]["properties"], *pod["Container"]["properties"], *pod["PodTemplateSpec"]["properties"]]
    yield from (("job", key) for key in [*of_both, *volcano["JobSpec"]["properties"]])
    yield from (("role", key) for key in [*of_both, *volcano["TaskSpec"]["properties"]])


@pytest.mark.parametrize(("site", "key"), sorted({*_foreign()}))
def test_every_field_of_kubernetes_and_volcano_has_its_place(site: str, key: str, plugins: Plugins) -> None:
    schema = getattr(join(plugins.fragments)[0], site)
    hint = "" if key in schema["properties"] else answer(key, 1, schema)
    assert not hint.startswith(("did you mean", "the roles are", "known here")), hint


@pytest.mark.parametrize("more", [{}, {"x-hints": {}}])
def test_schemas_of_plugins_may_be_of_any_form(more: dict[str, Any]) -> None:
    odd = {"jobs": True, "pod": True, "container": {"type": "object"}, "initContainers": {}, "imagePullPolicy": {}}
    assert (
        answer("nodeName", 1, {"properties": odd, **more})
        == "a field of Kubernetes's pods: `pod: {spec: {nodeName: …}}`"
    )
    assert answer("zzz", 1, {"properties": {**odd, "chief": True, "worker": True}, **more}).startswith("the roles are")


def _refused_anywhere() -> Iterator[str]:
    """Yield the fields of Kubernetes that an overlay may not have either."""
    rules = schema_file("pod.rules.schema.json")["$defs"]
    for kind in ("PodSpec", "Container"):
        fields = rules[kind]["properties"].items()
        yield from (name for name, rule in fields if rule.get("$ref") == "#/$defs/Corner" and name != "resources")
    yield from ("ephemeralContainers", "hostname", "schedulerName", "subdomain")


@pytest.mark.parametrize("key", sorted(_refused_anywhere()))
def test_nobody_is_sent_where_a_field_is_refused(key: str, plugins: Plugins) -> None:
    schema = join(plugins.fragments)[0]
    for site in (schema.job, schema.role):
        assert "`" not in answer(key, 1, site)
