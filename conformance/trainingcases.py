"""The trainings that `trainings.py` plays, and what must come of each."""

from __future__ import annotations

from dataclasses import dataclass, field

TRAININGS = "tests/trainings/environment.yaml"
VIVO = "environments/vivo/environment.yaml"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One job of an environment, and the marks of a training that went well."""

    job: str
    environment: str = TRAININGS
    faults: tuple[str, ...] = ()
    grace: float = 3
    """Seconds between SIGTERM and SIGKILL: few, because servers of TensorFlow ignore SIGTERM."""
    phase: str = "Completed"
    retries: int = 0
    losses: tuple[str, ...] = ()
    """The pods whose RESULT has a loss below LOSS."""
    says: tuple[tuple[str, str], ...] = ()
    """Pods, and patterns that their logs hold, in this order; a pod that came again has one log."""
    events: tuple[str, ...] = ()
    """Patterns of what the controller and the kubelet do, in this order."""
    codes: dict[str, int] = field(default_factory=dict)
    """Exit codes of pods."""
    once: tuple[str, ...] = ()
    """Pods that went on all the time."""


LOSS = 0.01
FORMS = (
    "list", "text", "cd", "lines", "lines-exec", "bash", "bash-lines", "variable", "redirect", "substitution",
)  # fmt: skip
"""The forms of a command in which SIGTERM reaches the program."""

CASES = (
    Case(
        job="between-graph",
        losses=("worker-0", "worker-1"),
        says=(("worker-0", r"checkpoint /runs/between-graph-\w+/model-\d+"),),
    ),
    Case(
        job="imagenet",
        environment=VIVO,
        losses=("worker-0", "worker-1", "worker-2"),
        says=(
            ("worker-0", r"'ps': 2, 'worker': 3[\s\S]*checkpoint /log/imagenet-\w+/model"),
            ("worker-1", "data in /data: True"),
        ),
    ),
    Case(
        job="lab",
        environment=VIVO,
        faults=("worker-1~serves at grpc=abort:*",),
        phase="Aborted",
        says=(("worker-1", "worker-1 serves at grpc://"),),
    ),
    Case(
        job="parameter-server", losses=("chief-0", "evaluator-0"), says=(("evaluator-0", "RESULT evaluator: step 200"),)
    ),
    Case(
        job="parameter-server-losses",
        faults=(
            "chief-0~step 100 =kill:worker-1",
            "chief-0~step 200 =kill:ps-0",
            "chief-0~step 300 =kill:chief-0",
        ),
        retries=3,
        losses=("chief-0",),
        events=(
            "PodFailed of worker-1: RestartPod",
            "PodFailed of ps-0: RestartJob",
            "PodFailed of chief-0: RestartJob",
        ),
        says=(
            ("chief-0", r"step 150 [\s\S]*step 200 [\s\S]*restored step (150|200)"),
            ("chief-0", r"step 300 [\s\S]*restored step (250|300)[\s\S]*RESULT chief: step 400"),
        ),
    ),
    Case(
        job="multi-worker",
        faults=("worker-1~step 50 =kill:worker-1",),
        retries=1,
        losses=("worker-0", "worker-1", "worker-2"),
        events=("PodFailed of worker-1: RestartJob",),
        says=tuple((f"worker-{index}", r"restored step (40|50)[\s\S]*step 100 ") for index in range(3)),
    ),
    Case(
        job="evaluator",
        faults=("evaluator-0~evaluator: step=evict:evaluator-0",),
        grace=30,
        losses=("worker-0", "worker-1"),
        events=(
            "evaluator-0 exits with 1; the kubelet restarts its container in 0 s",
            "evaluator-0 exits with 1; the kubelet restarts its container in 10 s",
            "evaluator-0 exits with 0",
            "PodEvicted of evaluator-0: ResumeJob",
            "evaluator-0 starts",
        ),
        says=(("evaluator-0", r"crash 1[\s\S]*crash 2[\s\S]*evaluator: step \d+ loss"),),
        once=("worker-0", "worker-1"),
    ),
    Case(
        job="evaluator-decides",
        losses=("worker-0", "worker-1", "evaluator-0"),
        events=("TaskCompleted of evaluator-0: CompleteJob",),
        says=(("evaluator-0", "RESULT evaluator: step 100 "),),
    ),
    Case(
        job="mirrored",
        losses=("worker-0",),
        says=(("worker-0", r"RESULT 2 replicas, files \[.model.keras.\]"),),
    ),
    Case(job="in-graph", losses=("chief-0",), says=(("chief-0", "100 steps over 2 workers"),)),
    Case(
        job="data-service",
        losses=("worker-0", "worker-1"),
        says=(("feeder-0", "feeder at 10.77.*-dispatcher-0.*:5050"),),
    ),
    Case(
        job="sigterm",
        faults=("list-0~all pods are ready=abort:*",),
        phase="Aborted",
        codes={**{f"{form}-0": 0 for form in FORMS}, "pipe-0": 137},
    ),
)
