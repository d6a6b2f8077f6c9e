"""Asks a real TensorFlow whether it accepts the cluster of every pod in the committed manifests.

    .venv-tensorflow/bin/python conformance/tensorflow_clusters.py [FOLDER…]

`trainings.py` asks it, too. `make conformance-tensorflow` makes the environment with TensorFlow.
A folder holds environments; `environments` by default. Exit status 1 where TensorFlow refuses a cluster, or reads
another place in it than the pod has.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTED = ("chief", "worker", "evaluator")
"""The tasks for which MultiWorkerMirroredStrategy counts the workers: an evaluator without a cluster is a KeyError."""


def pods(folder: Path) -> Iterator[tuple[str, str, int, str]]:
    """Yield (pod, task, index, TF_CONFIG) for each pod with a cluster in the Jobs below a folder."""
    for path in sorted(folder.rglob("manifests/workloads/job-*.yaml")):
        job = yaml.safe_load(path.read_text(encoding="utf-8"))
        for task in job["spec"]["tasks"]:
            env: list[Any] = task["template"]["spec"]["containers"][0].get("env", [])
            config = next((entry["value"] for entry in env if entry["name"] == "TF_CONFIG"), "")
            for index in range(task["replicas"] if config else 0):
                name = f"{job['metadata']['name']}-{task['name']}-{index}"
                yield name, task["name"], index, config.replace("$(TASK_INDEX)", str(index))


def refusal(task: str, index: int, config: str) -> str:
    """Return why TensorFlow rejects one pod's configuration, or nothing."""
    from tensorflow.python.distribute import multi_worker_util  # noqa: PLC0415 - slow, and only here
    from tensorflow.python.distribute.cluster_resolver import TFConfigClusterResolver  # noqa: PLC0415

    os.environ["TF_CONFIG"] = config
    try:
        resolver = TFConfigClusterResolver()
        cluster = resolver.cluster_spec()
        multi_worker_util._validate_cluster_spec(cluster, task, index)  # noqa: SLF001 - what its strategies call
        if task in COUNTED:
            multi_worker_util.worker_count(cluster, task)
    except (KeyError, ValueError) as error:
        return repr(error)
    found = (resolver.task_type, resolver.task_id)
    if found != (task, index):
        return f"it reads the place {found}"
    named = json.loads(config)["cluster"]
    return "" if cluster.as_dict() == named else "it reads another cluster"


def main(folders: list[str]) -> int:
    """Ask about each pod, and print the result."""
    asked = refused = 0
    for folder in folders or ["environments"]:
        for name, task, index, config in pods(Path(folder)):
            asked += 1
            if reason := refusal(task, index, config):
                refused += 1
                print(f"{name}: {reason}")
    print(f"{asked} pods asked about, {refused} refused")
    return int(bool(refused) or not asked)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
