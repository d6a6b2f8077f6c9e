"""What people get wrong with Volcano and TensorFlow, one table: each case, our form of its input, and what we say.

Where `note` says so, the design asks for another outcome than the case, and the design wins. `later` names the
command that will meet the case in its original form; what can be written wrong in a spec is asserted here already.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from field_cases import checks

from tfgitops import compile_environment
from tfgitops.report.text import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops import Plugins
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.testing import Result

    Compile = Callable[..., Result]

IDS = (Path(__file__).parent / "field_cases" / "ids.txt").read_text(encoding="utf-8").split()
HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
HEAD_LINES = HEAD.count("\n")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One input of a case.

    Errors and warnings are told exactly, each code as often as it is reported. ``names`` are words of the
    diagnostics themselves (``a|b``: either), ``shows`` words of the rendered text; ``at`` gives lines of ``spec`` and
    the text under their carets. Without errors the spec compiles, and ``check`` holds; with ``after``, a second spec,
    it is given both.
    """

    id: str
    spec: str
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    check: Callable[..., None] | None = None
    after: str = ""
    note: str = ""
    later: Literal["", "import", "bootstrap", "review"] = ""


def train(keys: str, top: str = "") -> str:
    """Return a spec of one job on two lines, and what stands above it."""
    return f"{top}jobs:\n  train: {{image: tf, {keys}}}\n"


NFS = """\
volumes:
  data: {claim: nfs, path: /data, subPath: data}
  logs: {claim: nfs, path: /logs, subPath: logs}
"""
B69, B51 = "b" * 69, "b" * 51

CASES = [
    # TF_CONFIG
    Case(id="tf-01", spec=train("ps: 1, worker: 2"), check=checks.cluster_of_one_ps_and_two_workers),
    Case(id="tf-03", spec=train("worker: 2"), check=checks.hosts_are_texts),
    Case(id="tf-04", spec=train("chief: 1, ps: 1, worker: 1, evaluator: 1"), check=checks.evaluator_is_outside),
    Case(
        id="tf-06",
        spec=train("strategy: parameter-server, ps: 1, worker: 2"),
        errors=("TF302",),
        names=("chief", "strategy"),
        at=("2 parameter-server",),
    ),
    Case(id="tf-06", spec=train("worker: 2"), check=checks.worker_zero_leads),
    Case(
        id="tf-06",
        spec=train("ps: 1, worker: 2"),
        check=checks.ps_without_chief,
        note="no warning: without `strategy` this is between-graph, the tutorials' own form (design 2)",
    ),
    Case(
        id="tf-07",
        spec=train("chief: 2, ps: 1, worker: 2"),
        errors=("TF302",),
        names=("chief", "at most 1"),
    ),
    Case(id="tf-07", spec=train("worker: 2, evaluator: 2"), errors=("TF302",), names=("evaluator", "at most 1")),
    Case(
        id="tf-07",
        spec=train("strategy: parameter-server, chief: 1, worker: 2"),
        errors=("TF302",),
        names=("ps",),
    ),
    Case(id="tf-07", spec=train("chief: 1, ps: 1"), errors=("TF302",), names=("worker",)),
    Case(
        id="tf-09",
        spec=train("master: 1, ps: 1, worker: 3"),
        errors=("TF201",),
        names=("master", "chief"),
        at=("2 master",),
        note="no alias: `master` is refused",
    ),
    Case(
        id="tf-10",
        spec=train("trainer: 2"),
        errors=("TF201",),
        names=("trainer", "chief|worker|ps|evaluator", "tasks"),
        at=("2 trainer",),
        later="import",
    ),
    Case(
        id="tf-10",
        spec=train("tasks: {trainer: 2}"),
        check=checks.task_outside_tensorflow,
        note="said to be a further task, it is outside TensorFlow: strategy none, svc, and no TF_CONFIG (design 2)",
    ),
    Case(
        id="tf-12",
        spec=train(
            "worker: 2, env: {TF_CONFIG: x, VC_WORKER_HOSTS: x, VC_WORKER_NUM: 2, VC_TASK_INDEX: 1, VK_TASK_INDEX: 1}"
        ),
        errors=("TF205",) * 5,
        names=("TF_CONFIG", "VC_WORKER_HOSTS", "VC_WORKER_NUM", "VC_TASK_INDEX", "VK_TASK_INDEX", "reserved"),
        at=("2 TF_CONFIG",),
    ),
    Case(
        id="tf-12",
        spec=train("worker: 2, container: {env: [{name: TF_CONFIG, value: x}]}"),
        errors=("TF205",),
        names=("TF_CONFIG", "reserved"),
        at=("2 TF_CONFIG",),
    ),
    Case(
        id="tf-12",
        spec=train("worker: 2, plugins: {tensorflow: []}"),
        errors=("TF502",),
        names=("tensorflow", "TF_CONFIG"),
        at=("2 tensorflow",),
    ),
    Case(id="tf-12", spec=train("worker: 1"), check=checks.single_pod_has_its_own),
    # names
    Case(
        id="nm-01",
        spec="""\
            jobs:
              recsys-two-tower-nightly-retrain-eu-west-1:
                image: tf
                worker: 2
                tasks:
                  parameter-server-shard: 1
            """,
        errors=("TF503",),
        names=(
            "63",
            "name",
            "76",
            "13",
            "recsys-two-tower-nightly-retrain-eu-west-1-xxxxxxxx-parameter-server-shard-0",
        ),
        at=("6 parameter-server-shard",),
        note="the nine characters of the digest count (design 3.3)",
    ),
    Case(id="nm-01", spec=f"jobs:\n  {'a' * 45}: {{image: tf, worker: 10}}\n"),
    Case(
        id="nm-01",
        spec=f"jobs:\n  {'a' * 45}: {{image: tf, worker: 11}}\n",
        errors=("TF503",),
        names=("63", "64", "worker-10"),
    ),
    Case(
        id="nm-03",
        spec=f"jobs:\n  {B69}: {{image: tf, worker: 1}}\n",
        errors=("TF503",),
        names=("63",),
        at=(f"2 {B69}",),
    ),
    Case(
        id="nm-03",
        spec=f"jobs:\n  {B51}: {{image: tf, worker: 1}}\n",
        errors=("TF503",),
        names=("50", "-svc", "63"),
        at=(f"2 {B51}",),
        note="stricter: with -svc and the digest a job's own name may have 50 characters",
    ),
    Case(
        id="nm-05",
        spec="jobs:\n  srl_V1: {image: tf, tasks: {Worker_A: 1}}\n",
        errors=("TF203", "TF203"),
        names=("srl_V1", "srl-v1", "Worker_A", "worker-a"),
        at=("2 srl_V1", "2 Worker_A"),
    ),
    Case(
        id="nm-06",
        spec="jobs:\n  2024-bert-large: {image: tf, ps: 1, worker: 1}\n",
        errors=("TF203",),
        names=("2024-bert-large", "letter"),
        at=("2 2024-bert-large",),
    ),
    Case(
        id="nm-08",
        spec="jobs:\n  train:\n    image: tf\n    worker: 2\n    worker: 2\n",
        errors=("TF104",),
        names=("worker", "line 7", "line 8"),
        at=("5 worker",),
        later="import",
    ),
    Case(
        id="nm-08",
        spec=train("worker: 2, tasks: {worker: 2}"),
        errors=("TF203",),
        names=("worker", "role"),
        at=("2 worker",),
    ),
    Case(
        id="nm-08",
        spec=train("tasks: {feed-a: 1, feed_a: 1}"),
        errors=("TF203",),
        names=("feed_a", "feed-a"),
        note="no two names become one task: a name that is not one already is refused",
    ),
    # minAvailable
    Case(
        id="ma-01",
        spec=train("minAvailable: 5, ps: 2, worker: 2"),
        errors=("TF303",),
        names=("minAvailable", "4"),
        at=("2 5",),
    ),
    Case(
        id="ma-01",
        spec=train("minAvailable: 0, ps: 2, worker: 2"),
        errors=("TF203",),
        names=("0",),
    ),
    Case(
        id="ma-01",
        spec=train("ps: 2, worker: {replicas: 2, minAvailable: 3}"),
        errors=("TF303",),
        names=("minAvailable", "worker", "2"),
        at=("2 3",),
    ),
    Case(
        id="ma-03",
        spec=train(
            "minAvailable: 1, tasks: {store: {replicas: 1, minAvailable: 1}, feed: {replicas: 4, minAvailable: 2}}"
        ),
        errors=("TF303",),
        names=("minAvailable", "1", "3"),
        at=("2 1",),
    ),
    Case(
        id="ma-03",
        spec=train("minAvailable: 1, ps: {replicas: 1, minAvailable: 1}, worker: {replicas: 4, minAvailable: 2}"),
        errors=("TF303", "TF303"),
        names=("minAvailable", "TF_CONFIG"),
        at=("2 1", "2 2"),
        note="stricter: TensorFlow's cluster always starts as a whole, so the worker's own is refused too (design 3.6)",
    ),
    Case(id="ma-03", spec=train("minAvailable: 1, ps: 1, worker: 4"), errors=("TF303",), names=("minAvailable", "5")),
    Case(id="ma-03", spec=train("ps: 1, worker: 4"), check=checks.gang_is_whole),
    # queues
    Case(
        id="q-01",
        spec=train("queue: research-gpu, worker: 1"),
        errors=("QUEUE01",),
        names=("research-gpu", "external"),
        at=("2 research-gpu",),
    ),
    Case(
        id="q-01",
        spec=train("queue: research-gpu, worker: 1", "queues: {research-gpus: {external: true}}\n"),
        errors=("QUEUE01",),
        names=("did you mean 'research-gpus'",),
    ),
    Case(id="q-01", spec=train("worker: 1"), check=checks.queue_is_written_out),
    Case(
        id="q-02",
        spec=train("queue: team-a, worker: 1", "queues: {team-a: {}}\n"),
        check=checks.queue_comes_first,
        note="two folders, applied one after the other (design 4); Flux: one Kustomization for each",
        later="bootstrap",
    ),
    Case(
        id="q-02",
        spec=train("queue: team-a, worker: 1", "gitops: argocd\nqueues: {team-a: {}}\n"),
        check=checks.queue_has_the_earlier_wave,
    ),
    Case(
        id="q-04",
        spec=train(
            "queue: small, worker: {replicas: 3, cpu: 2, memory: 4Gi, gpu: 2}",
            'queues:\n  small: {capability: {cpu: "8", memory: 20Gi, nvidia.com/gpu: "4"}}\n',
        ),
        errors=("QUEUE05",),
        names=("nvidia.com/gpu", "6", "4"),
        at=("4 small",),
    ),
    Case(
        id="q-06",
        spec='queues:\n  test: {capability: {cpu: "20", mem: 400Gi}}\njobs: {}\n',
        errors=("TF203",),
        names=("mem", "did you mean 'memory'"),
        at=("2 mem",),
    ),
    Case(id="q-07", spec="queues: {ml: {weight: 1}}\njobs: {}\n", check=checks.queue_is_complete, later="import"),
    Case(
        id="q-07",
        spec="queues: {ml: {weight: 0}}\njobs: {}\n",
        errors=("TF203",),
        names=("0", "minimum of 1"),
    ),
    Case(
        id="q-08",
        spec="""\
            queues:
              offline: {parent: root, capability: {cpu: "100", memory: 2000Gi}}
              offline-a: {parent: offline, capability: {cpu: "500", memory: 1000Gi}}
            jobs: {}
            """,
        errors=("TF501",),
        names=("offline", "cpu", "500", "100"),
        shows=("offline-a",),
        at=('3 "500"',),
    ),
    Case(
        id="q-08",
        spec="""\
            queues:
              offline: {deserved: {cpu: 4}}
              a: {parent: offline, deserved: {cpu: 3}}
              b: {parent: offline, deserved: {cpu: 3}}
            jobs: {}
            """,
        errors=("TF501",),
        names=("deserved", "cpu", "6", "4", "offline"),
    ),
    Case(
        id="q-08",
        spec="""\
            queues:
              a: {deserved: {cpu: 4}, guarantee: {cpu: 5}}
              b: {deserved: {cpu: 5}, capability: {cpu: 4}}
            jobs: {}
            """,
        errors=("TF501", "TF501"),
        names=("guarantee", "deserved", "capability"),
        at=("3 5",),
    ),
    Case(
        id="q-08",
        spec="queues:\n  offline: {parent: root, capability: {cpu: 1000000}}\njobs: {}\n",
        check=checks.queue_below_root_is_written,
        note="no warning: what the cluster holds is not known here",
    ),
    # GPUs
    *(
        Case(
            id="gpu-01",
            spec=train(f"worker: {{gpu: {written}}}"),
            errors=("TF202",),
            names=("nvidia.com/gpu", "integer", "vgpu"),
            at=(f"2 {amount}",),
        )
        for written, amount in (
            ("{count: 0.4}", "0.4"),
            ("0.5", "0.5"),
            ("'0.5'", "'0.5'"),
            ("500m", "500m"),
            ("1.0", "1.0"),
        )
    ),
    Case(
        id="gpu-01",
        spec=train("worker: {gpu: '1'}"),
        errors=("TF202",),
        names=("integer", "quote"),
        at=("2 '1'",),
        note="refused: what is quoted is text, and a number is wanted here (design 2, Scalars)",
    ),
    Case(id="gpu-01", spec=train("worker: {gpu: 1}"), check=checks.one_gpu),
    Case(
        id="gpu-01",
        spec=train("worker: {container: {resources: {limits: {nvidia.com/gpu: 0.5}}}}"),
        errors=("TF501",),
        names=("nvidia.com/gpu", "whole"),
        at=("2 0.5",),
    ),
    Case(id="gpu-03", spec=train("worker: {cpu: 4, gpu: 1}"), check=checks.gpu_is_in_both),
    Case(
        id="gpu-03",
        spec=train("worker: {container: {resources: {requests: {nvidia.com/gpu: 1}}}}"),
        errors=("TF501",),
        names=("nvidia.com/gpu", "limit"),
        at=("2 1",),
        note="an overlay is written as it is, so a request without its limit is refused",
    ),
    Case(
        id="gpu-04",
        spec=train(
            "worker: {container: {resources: {limits: "
            "{volcano.sh/vgpu-cores: 2, volcano.sh/gpu-memory: 1024, volcano.sh/vgpu-number: 1}}}}"
        ),
        errors=("GPU03", "GPU04"),
        names=("volcano.sh/gpu-memory", "volcano.sh/vgpu-memory", "deprecated"),
    ),
    Case(
        id="gpu-04",
        spec=train("worker: {gpu: 1, container: {resources: {limits: {amd.com/gpu: 1}}}}"),
        errors=("GPU03",),
        names=("nvidia.com/gpu", "amd.com/gpu"),
    ),
    Case(
        id="gpu-06",
        spec=train("worker: {gpu: {vgpu: {number: 1, memory: 16Gi}}}"),
        errors=("GPU02",),
        names=("MiB", "16384"),
        at=("2 16Gi",),
    ),
    Case(
        id="gpu-06",
        spec=train("worker: {gpu: {vgpu: {memory: 16384, cores: 50}}}"),
        check=checks.plain_mebibytes,
        note="number is 1 unless it is given",
    ),
    Case(
        id="gpu-06",
        spec=train("worker: {gpu: {vgpu: {cores: 101}}}"),
        errors=("TF203",),
        names=("101", "100"),
        at=("2 101",),
    ),
    Case(id="gpu-07", spec=train("worker: {replicas: 2, gpu: {mig: 1g.5gb, count: 1}}"), check=checks.slice_of_a_gpu),
    Case(
        id="gpu-07",
        spec=train("worker: {replicas: 2, gpu: {mig: 1g5gb}}"),
        errors=("TF203",),
        names=("1g5gb", "1g.5gb"),
        at=("2 1g5gb",),
    ),
    Case(
        id="gpu-07",
        spec=train(
            "worker: {gpu: {vgpu: {memory: 4096}}}, pod: {metadata: {annotations: {volcano.sh/vgpu-mode: mig}}}"
        ),
        check=checks.dynamic_slice,
        note="the mode is an annotation of the pod; of volcano.sh/* only labels are reserved (design 2)",
    ),
    Case(
        id="gpu-09",
        spec=train(
            "worker: {replicas: 2, gpu: {resource: amd.com/gpu, count: 8}, cpu: {request: 1, limit: 32}, memory: 120Gi}"
        ),
        check=checks.eight_amd_gpus,
    ),
    # volumes
    Case(
        id="vol-01",
        spec="""\
            volumes:
              in: {path: /myinput}
              out: {path: /myoutput, claim: existing, size: 1Gi}
            jobs:
              train: {image: tf, worker: 1, volumes: [in, out]}
            """,
        errors=("STORE02", "STORE02"),
        names=("'in'", "'out'", "claim", "size"),
        shows=("/myinput", "/myoutput"),
        at=("2 in", "3 1Gi"),
        note="a volume has a name here, and is told by it instead of by its index",
    ),
    Case(
        id="vol-02",
        spec=train("worker: {volumes: [out, does-not-exist]}", "volumes: {out: {path: /out, size: 1Gi}}\n"),
        errors=("STORE01",),
        names=("does-not-exist", "declare"),
        at=("3 does-not-exist",),
    ),
    Case(
        id="vol-02",
        spec=train("worker: {volumes: [out]}", "volumes: {out: {path: /out, size: 1Gi}}\n"),
        check=checks.claim_is_an_object,
    ),
    Case(id="vol-04", spec=train("worker: 2, volumes: [data, logs]", NFS), check=checks.one_volume_two_mounts),
    Case(
        id="vol-06",
        spec=train("shm: 2GiB, worker: {memory: 1Gi}"),
        errors=("TF203",),
        names=("2GiB", "2Gi"),
        at=("2 2GiB",),
    ),
    Case(
        id="vol-06",
        spec=train("shm: 2Gi, worker: {memory: 1Gi}"),
        errors=("STORE05",),
        names=("2Gi", "1Gi", "memory"),
        at=("2 2Gi",),
    ),
    Case(id="vol-06", spec=train("shm: 2Gi, worker: {memory: 4Gi}"), check=checks.shared_memory_is_bounded),
    # policies
    Case(
        id="pol-01",
        spec=train(
            "worker: 2, policies: [{event: PodFailed, action: RestartJob}, {event: PodFailed, action: AbortJob}]"
        ),
        errors=("TF501",),
        warnings=("TF502",),
        names=("PodFailed",),
        at=("2 PodFailed",),
    ),
    Case(
        id="pol-01",
        spec=train(
            "worker: 2, policies: [{event: Unknown, action: RestartJob}, {events: [Unknown], action: RestartJob}]"
        ),
        errors=("TF501",),
        names=("Unknown",),
    ),
    Case(
        id="pol-01",
        spec=train("worker: 2, policies: [{exitCode: 3, action: RestartJob}, {exitCode: 3, action: AbortJob}]"),
        errors=("TF501",),
        names=("exit code 3",),
    ),
    Case(
        id="pol-02",
        spec="""\
            jobs:
              train:
                image: tf
                worker: 2
                policies:
                - {event: PodFailed, exitCode: 137, action: RestartJob}
                - {exitCode: 0, action: CompleteJob}
                - {action: RestartJob}
            """,
        errors=("TF501",) * 3,
        names=("exit code 0", "event", "exitCode"),
        at=(
            "6 {event: PodFailed, exitCode: 137, action: RestartJob}",
            "7 0",
            "8 {action: RestartJob}",
        ),
    ),
    Case(
        id="pol-02",
        spec=train("worker: 2, policies: [{exitCode: 137, action: RestartPods}]"),
        errors=("TF203",),
        names=("RestartPods", "did you mean 'RestartPod'"),
    ),
    Case(
        id="pol-04",
        spec=train("ps: {policies: [{events: PodFailed, action: RestartPod}]}, worker: 1"),
        errors=("TF202",),
        names=("events", "list"),
        at=("2 PodFailed",),
    ),
    Case(
        id="pol-05",
        spec=train("worker: 2, policies: [{event: PodPending, action: RestartTask}]"),
        errors=("TF502",),
        warnings=("TF502",),
        names=("PodPending", "timeout"),
    ),
    Case(
        id="pol-05",
        spec=train("worker: 2, policies: [{event: PodPending, action: RestartJob, timeout: 10}]"),
        errors=("TF202",),
        names=("timeout", "10"),
    ),
    Case(
        id="pol-05",
        spec=train("worker: 2, policies: [{event: PodPending, action: RestartJob, timeout: 10 minutes}]"),
        errors=("TF203",),
        names=("10 minutes", "10m"),
    ),
    Case(
        id="pol-05",
        spec=train("worker: 2, policies: [{event: PodPending, action: RestartTask, timeout: 10m}]"),
        warnings=("TF502",),
        names=("RestartTask", "RestartJob"),
    ),
    Case(
        id="pol-05",
        spec=train("worker: 2, policies: [{event: PodPending, action: RestartJob, timeout: 10m}]"),
        check=checks.policy_waits,
    ),
    Case(
        id="pol-07",
        spec=train("chief: 1, ps: 1, worker: 2, tasks: {feed: 1}"),
        check=checks.pods_are_not_restarted,
        later="import",
    ),
    Case(
        id="pol-07",
        spec=train("worker: 1, restartPolicy: OnFailure"),
        check=checks.pods_may_restart_on_failure,
    ),
    Case(
        id="pol-07",
        spec=train("worker: 1, restartPolicy: Always"),
        errors=("TF203",),
        names=("Always", "never complete"),
        at=("2 Always",),
    ),
    Case(
        id="pol-07",
        spec=train("worker: 1, pod: {spec: {restartPolicy: Always}}"),
        errors=("TF502",),
        names=("Always", "never complete"),
        at=("2 Always",),
    ),
    Case(
        id="pol-07",
        spec=train("worker: 1, pod: {spec: {restartPolicy: ~}}"),
        errors=("TF502",),
        names=("restartPolicy",),
        note="an overlay's null would leave it out, and so mean Always",
    ),
    Case(id="pol-09", spec=train("chief: 1, ps: 2, worker: 4, evaluator: 1"), check=checks.chief_decides),
    Case(id="pol-09", spec=train("ps: 2, worker: 4"), check=checks.worker_decides),
    Case(
        id="pol-09",
        spec=train("chief: 1, ps: 2, evaluator: 1, worker: 4, policies: [{event: TaskCompleted, action: CompleteJob}]"),
        warnings=("TF502",),
        names=("TaskCompleted", "any"),
        at=("2 TaskCompleted",),
        note="an override that is written is kept (design 2), and warned of: here any role that ends, ends all",
    ),
    Case(
        id="pol-10",
        spec=train(
            "worker: 2, policies: [{event: PodEvicted, action: RestartJob}, {event: PodFailed, action: TerminatedJob}]"
        ),
        errors=("TF203",),
        names=("TerminatedJob", "did you mean 'TerminateJob'", "AbortJob", "ResumeJob"),
        at=("2 TerminatedJob",),
    ),
    Case(
        id="pol-10",
        spec=train(
            "worker: 2, policies: [{event: PodEvicted, action: RestartJob}, {event: PodFailed, action: TerminateJob}]"
        ),
        warnings=("TF502",),
        names=("evicted", "TerminateJob"),
    ),
    # dependsOn
    Case(
        id="dep-01",
        spec=train(
            "minAvailable: 3, tasks: {store: {replicas: 4, minAvailable: 2}, "
            "feed: {replicas: 2, minAvailable: 1, dependsOn: [store]}}"
        ),
        errors=("TF303",),
        names=("dependsOn", "minAvailable", "3", "2"),
        at=("2 3",),
    ),
    Case(
        id="dep-01",
        spec=train(
            "minAvailable: 3, ps: {replicas: 4, minAvailable: 2}, "
            "worker: {replicas: 2, minAvailable: 1, dependsOn: [ps]}"
        ),
        errors=("TF303",) * 3,
        names=("dependsOn", "minAvailable", "TF_CONFIG"),
        note="stricter: of TensorFlow's cluster no role may start in part (design 3.6)",
    ),
    Case(
        id="dep-01",
        spec=train("tasks: {feed: {dependsOn: [store]}, store: 2}"),
        check=checks.dependents_do_not_count,
        note="the default is the sum over the roles that do not wait",
    ),
    # Volcano's job plugins
    Case(
        id="plg-01",
        spec=train("ps: {container: {readinessProbe: {tcpSocket: {port: 2222}}}}, worker: 2"),
        check=checks.names_resolve_before_ready,
    ),
    Case(
        id="plg-03",
        spec="""\
            jobs:
              train:
                image: tf
                worker: 2
                plugins:
                  svc:
                  - JARVIS_PORTS=6006
                  - publishNotReadyAddresses
                  - --publish-not-ready-addresses
                  - "true"
                  - --disable-network-policy=true
            """,
        errors=("TF502",) * 4,
        names=("JARVIS_PORTS=6006", "publishNotReadyAddresses", "--inject-hosts-env="),
        at=(
            "7 JARVIS_PORTS=6006",
            "8 publishNotReadyAddresses",
            "9 --publish-not-ready-addresses",
            '10 "true"',
        ),
    ),
    Case(
        id="plg-03",
        spec=train("worker: 2, plugins: {env: [--x=y], svc: [--publishNotReadyAddresses=true]}"),
        errors=("TF502", "TF502"),
        names=("--x=y", "--publishNotReadyAddresses=true"),
    ),
    Case(
        id="plg-04",
        spec=train("ps: 1, worker: 2"),
        after=train("ps: 1, worker: 4"),
        check=checks.new_object,
        note="not refused: another size of the cluster is another object (design 3.3); there is no elastic mode",
        later="review",
    ),
    Case(
        id="plg-04",
        spec=train("worker: 1, tasks: {feed: 2}"),
        after=train("worker: 1, tasks: {feed: 4}"),
        check=checks.same_object,
        note="a task outside the cluster may change its size in place",
    ),
    Case(
        id="plg-04",
        spec=train("worker: 3000"),
        errors=("TF303",),
        names=("TF_CONFIG", "131,071"),
        at=("2 3000",),
        note="too wide for one variable of a process: refused, rather than left out",
    ),
    # GitOps
    Case(
        id="git-01",
        spec="jobs:\n  train: {image: 'tf:1', worker: 2}\n",
        after="jobs:\n  train: {image: 'tf:2', worker: 2}\n",
        check=checks.new_object,
        note="no modes that force or replace: the name by digest is the way (docs/volcano.md 7)",
        later="review",
    ),
    Case(
        id="git-01",
        spec=train("env: {A: 1, B: 2}, worker: {replicas: 2, cpu: 1}"),
        after=train("worker: {cpu: 1, replicas: 2}, env: {B: 2, A: 1}"),
        check=checks.same_bytes,
    ),
    Case(
        id="git-01",
        spec=train("worker: 2, priorityClassName: low"),
        after=train("worker: 2, priorityClassName: high"),
        check=checks.same_object,
    ),
    Case(
        id="git-01",
        spec=train("worker: 2"),
        after=train("worker: 2, tasks: {feed: 1}"),
        check=checks.new_object,
    ),
    Case(
        id="git-02",
        spec=train("chief: 1, worker: 2, pod: {spec: {hostNetwork: true}}"),
        check=checks.every_default_is_written,
    ),
    Case(
        id="git-04",
        spec=train("worker: 1, ttlSecondsAfterFinished: 600"),
        errors=("TF201",),
        names=("ttlSecondsAfterFinished", "again"),
        at=("2 ttlSecondsAfterFinished",),
    ),
    Case(
        id="git-06",
        spec=train(
            "queue: a, volumes: [logs], worker: 1",
            "gitops: argocd\nqueues: {a: {}}\nvolumes: {logs: {size: 1Gi, path: /log}}\n",
        ),
        check=checks.waves_follow_no_health,
        note="the health checks themselves are files of the controller, not manifests",
        later="bootstrap",
    ),
    Case(
        id="git-07",
        spec=train('worker: 1, command: [sh, -c, "python train.py --hosts=${VC_WORKER_HOSTS}"]', "gitops: flux\n"),
        check=checks.braces_are_kept,
    ),
    Case(
        id="git-07",
        spec=train('worker: 1, command: [sh, -c, "python train.py --hosts=$(WORKER_HOSTS)"]', "gitops: flux\n"),
        check=checks.nothing_to_substitute,
    ),
    Case(
        id="git-09",
        spec=train(
            "worker: 2, policies: [{event: PodEvicted, action: TerminateJob}]",
            "gitops: {controller: argocd, update: replace}\n",
        ),
        errors=("TF203",),
        names=("gitops", "argocd, flux, none"),
        note="refused, not warned of: there is no mode that deletes and recreates under one name",
    ),
    Case(
        id="git-09",
        spec=train("worker: 2, policies: [{event: PodEvicted, action: TerminateJob}]", "gitops: argocd\n"),
        check=checks.job_ends_on_eviction,
        note="no warning: a recreated job has another name, so late events of old pods do not reach it",
    ),
    # fields
    Case(
        id="fld-01",
        spec=train("chief: {priorityClass: high-pri}, worker: {replicas: 9, priorityClass: normal-pri}"),
        errors=("TF201", "TF201"),
        names=("priorityClass", "priorityClassName", "job"),
        at=("2 priorityClass",),
    ),
    Case(
        id="fld-01",
        spec=train("priorityClass: high-pri, worker: 9"),
        errors=("TF201",),
        names=("priorityClassName",),
    ),
    Case(
        id="fld-01",
        spec=train("priorityClassName: High_Pri, worker: 9"),
        errors=("TF203",),
        names=("High_Pri", "high-pri"),
    ),
    Case(
        id="fld-03",
        spec=train("worker: {container: {restartPolicy: Never}}"),
        errors=("TF501",),
        names=("restartPolicy", "pod"),
        at=("2 Never",),
    ),
    Case(
        id="fld-04",
        spec=train(
            "runPolicy: {backoffLimit: 1, cleanPodPolicy: Running, schedulingPolicy: {minAvailable: 1, queue: q}},"
            " tasks: {launcher: {resources: {cpu: 500mi, memory: 200Mi}}}"
        ),
        errors=("TF201", "TF201"),
        names=(
            "runPolicy",
            "backoffLimit",
            "maxRetry",
            "runs",
            "minAvailable",
            "queue",
            "cleanPodPolicy",
            "policies",
            "cpu",
        ),
        at=("2 runPolicy", "2 resources"),
    ),
    Case(
        id="fld-04",
        spec=train("tasks: {launcher: {cpu: 500mi}}"),
        errors=("TF203",),
        names=("500mi", "write 500m ("),
        at=("2 500mi",),
    ),
    Case(
        id="fld-06",
        spec=train(
            "nodeSelector: {gpu: true, pool-id: 7}, tolerations: [{key: gpu, operator: Exists, value: true}], worker: 1"
        ),
        errors=("TF202", "TF202"),
        names=("gpu", "true", "quote", "tolerations[0].value"),
        at=("2 true",),
    ),
    Case(id="fld-06", spec=train("nodeSelector: {pool-id: 7}, worker: 1"), check=checks.numbers_become_text),
    Case(
        id="fld-06",
        spec=train('tolerations: [{key: gpu, operator: Exists, value: "true"}], worker: 1'),
        errors=("TF501",),
        names=("Exists", "value"),
    ),
    Case(
        id="fld-06",
        spec=train("tolerations: [{key: gpu, operator: Exists, effect: NoSchedul}], worker: 1"),
        errors=("TF501",),
        names=("effect", "NoSchedule, PreferNoSchedule, NoExecute"),
        at=("2 NoSchedul",),
    ),
    # YAML
    Case(
        id="yml-01",
        spec=train("labels: {country: no, debug: off, answer: y}, env: {REGION: no}, worker: 1"),
        check=checks.words_stay_words,
        note="not refused: what is written is what is meant (design 2, Scalars)",
    ),
    Case(
        id="yml-01",
        spec=train("labels: {debug: false}, worker: 1"),
        errors=("TF202",),
        names=("labels.debug", "false", "quote"),
        at=("2 false",),
    ),
    Case(
        id="yml-03",
        spec=train(
            'labels: {git-sha: "25921e05", run: "1e3", axis: "y", mode: "0o14"}, '
            'env: {CI_COMMIT_SHORT_SHA: "25921e05"}, worker: 1'
        ),
        check=checks.awkward_texts_are_quoted,
    ),
    Case(
        id="yml-03",
        spec=train(
            "labels: {git-sha: 25921e05, run: 1e3, axis: y, mode: 0o14}, "
            "env: {CI_COMMIT_SHORT_SHA: 25921e05}, worker: 1"
        ),
        check=checks.awkward_texts_are_quoted,
    ),
    Case(
        id="yml-04",
        spec="jobs:\n  train:\n    image: tf\n    queue: team-a\n    worker: 2\n    queue: team-b\n",
        errors=("TF104",),
        names=("queue", "line 7", "line 9"),
        at=("6 queue",),
    ),
    Case(
        id="yml-04",
        spec="x-a: &a {worker: 1}\nx-b: &b {image: tf}\njobs:\n  train:\n    <<: *a\n    <<: *b\n",
        errors=("TF104",),
        names=("<<", "line 8", "line 9"),
        at=("6 <<",),
    ),
    Case(
        id="yml-06",
        spec="jobs:\n\ttrain:\n\t\timage: tf\n",
        errors=("TF103",),
        names=("tab",),
        at=("2 \t",),
    ),
    Case(
        id="yml-06",
        spec="jobs:\n  train:\n    minAvailable:6\n    image: tf\n",
        errors=("TF103",),
        names=("no blank after", "minAvailable"),
        at=("3 :",),
    ),
    Case(
        id="yml-08",
        spec=HEAD + train("worker: 1"),
        after="\ufeff" + HEAD + train("worker: 1"),
        check=checks.bom_changes_nothing,
    ),
    Case(
        id="yml-10",
        spec=train("queue: \u201cteam-a\u201d, worker: 1"),
        errors=("TF109",),
        names=("U+201C", "queue"),
        at=("2 \u201cteam-a\u201d",),
    ),
    Case(
        id="yml-10",
        spec="jobs:\n  train:\n    image: tf\n    worker: 1\n    queue: team-a\u00a0\n",
        errors=("TF203",),
        warnings=("TF109",),
        names=("U+00A0", "queue"),
        at=("5 team-a\u00a0",),
    ),
    Case(
        id="yml-10",
        spec=train("annotations: {note: Größe 训练 😀}, env: {CITY: Zürich}, worker: 1"),
        check=checks.other_scripts_are_kept,
    ),
    Case(
        id="yml-11",
        spec=train("env: {EPOCHS: 10, LR: 0.001, DEBUG: false, TAG: 1.10}, worker: 1"),
        errors=("TF202",),
        names=("DEBUG", "false", "quote"),
        at=("2 false",),
        note="only the boolean is refused: 0.001 and 1.10 are text, exactly as written (design 2, Scalars)",
    ),
    Case(
        id="yml-11",
        spec=train('env: {EPOCHS: 10, LR: 0.001, DEBUG: "false", TAG: 1.10}, worker: 1'),
        check=checks.env_is_text,
    ),
    # quantities
    Case(
        id="qty-01",
        spec=train("worker: {memory: 100MB}"),
        errors=("TF203",),
        names=("100MB", "100M ", "100Mi"),
        at=("2 100MB",),
    ),
    Case(
        id="qty-01",
        spec=train("chief: {memory: 1e3Mi}, worker: {memory: 4 Gi}, ps: {memory: 1_000}"),
        errors=("TF203",) * 3,
        names=("4Gi", "1000", "1000Mi"),
        at=("2 4 Gi", "2 1_000", "2 1e3Mi"),
    ),
    Case(
        id="qty-03",
        spec=train("worker: {memory: 1g}, ps: {memory: 512K}"),
        errors=("TF203", "TF203"),
        names=("1g", "1G", "1Gi", "512K", "512k", "512Ki"),
        at=("2 1g", "2 512K"),
    ),
    Case(id="qty-03", spec=train("worker: {memory: 1.5Gi}"), check=checks.canonical_memory),
]


def test_every_case_is_in_the_table() -> None:
    assert list(dict.fromkeys(case.id for case in CASES)) == IDS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case_is_judged_as_the_table_says(case: Case, compile_spec: Compile) -> None:
    result = compile_spec(case.spec)
    found = result.compiled.diagnostics
    assert codes(found, "error") == sorted(case.errors), result.text
    assert codes(found, "warning") == sorted(case.warnings), result.text
    said = "\n".join(words(diagnostic) for diagnostic in found)
    for name in case.names:
        assert any(choice in said for choice in name.split("|")), f"{name!r} is not in:\n{said}"
    for word in case.shows:
        assert word in result.text
    shift = 0 if "apiVersion:" in case.spec else HEAD_LINES
    marks = {mark(diagnostic, shift) for diagnostic in found}
    assert set(case.at) <= marks, result.text


@pytest.mark.parametrize("case", [case for case in CASES if case.check], ids=lambda case: case.id)
def test_manifest_holds_what_the_case_asks(case: Case, compile_spec: Compile) -> None:
    assert case.check
    results = [compile_spec(spec) for spec in (case.spec, case.after) if spec]
    assert all(result.ok for result in results), results[-1].text
    case.check(*results)


def test_utf_16_is_refused(tmp_path: Path, plugins: Plugins) -> None:
    """The other half of yml-08."""
    folder = tmp_path / "environments" / "test"
    folder.mkdir(parents=True)
    (folder / "environment.yaml").write_bytes((HEAD + train("worker: 1")).encode("utf-16"))
    compiled = compile_environment(folder, plugins)
    assert codes(compiled.diagnostics, "error") == ["TF102"]
    assert "UTF-16" in render(compiled.diagnostics)


def codes(found: tuple[Diagnostic, ...], severity: str) -> list[str]:
    """Return the codes of one severity, sorted."""
    return sorted(diagnostic.code for diagnostic in found if diagnostic.severity == severity)


def words(diagnostic: Diagnostic) -> str:
    """Return what a diagnostic says itself, without the line that it shows."""
    notes = (message for message, _ in diagnostic.notes)
    return "\n".join((diagnostic.message, diagnostic.found, diagnostic.expected, diagnostic.hint, *notes))


def mark(diagnostic: Diagnostic, shift: int) -> str:
    """Return the line of the case's spec that a diagnostic points at, and the text under its carets."""
    span = diagnostic.span
    assert span
    start = span.column - 1
    return f"{span.line - shift} {span.excerpt[start : start + span.width]}"
