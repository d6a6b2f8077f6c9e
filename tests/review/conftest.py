"""A repository whose jobs have something of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from repository import Repository

SPEC = "environments/prod/environment.yaml"
DEFAULTS = """\
  serviceAccount: training
  workdir: /w
  maxRetry: 5
  port: 3333
  restartPolicy: OnFailure
  imagePullSecrets: [registry]
"""
VOLUMES = "volumes:\n  data: {claim: data, path: /data, readOnly: true}\n"
RESNET = """\
  resnet:
    command: [python, train.py, --out=/logs/$(RUN)]
    volumes: [logs, data]
    plugins: {svc: [--disable-network-policy=true]}
    strategy: in-graph
    chief: {}
    worker: {replicas: 2, cpu: 8, gpu: {count: 2, product: A100}, shm: 1Gi}
    evaluator: {cpu: 1}
    ps: 1
  small:
    from: resnet
    worker: {replicas: 1}
"""


@pytest.fixture
def full(repository: Repository) -> Repository:
    """A repository whose jobs have something of everything, built and committed."""
    repository.write("environments/base.yaml", repository.read("environments/base.yaml") + DEFAULTS + VOLUMES)
    text = repository.read(SPEC)
    start, end = text.index("  resnet:"), text.index("  shards:")
    repository.write(SPEC, text[:start] + RESNET + text[end:])
    repository.keep()
    return repository
