"""What a job says of itself, as a digest: who changes it has asked for a new run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.routes import MISSING, replaced
from tfgitops.targets.tensorflow import ROLE_NAMES
from tfgitops.targets.volcano.identity import MUTABLE_JOB, MUTABLE_METADATA, MUTABLE_TASK, short_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.spec.document import Document

NO_NEW_RUN = frozenset({*MUTABLE_METADATA, *MUTABLE_JOB, "pin"})
"""Keys of a job whose changes never make a new run: fields of these names change in place, and a pin keeps the run."""

_ROLE_NO_NEW_RUN = frozenset(MUTABLE_TASK) - {"replicas"}
"""The same for a role; the number of its replicas changes the addresses of a TensorFlow cluster."""


def own_digest(document: Document | None, job: str) -> str:
    """Return the digest of what a file of the environment's own says of a job, but for what never makes a new run.

    Nor does a change to what jobs share by an anchor outside of them: of that, only the alias is the job's own.
    """
    if document is None:
        return short_digest({})
    block = document.value if document.prefix else document.value["jobs"][job]
    taken = dict(document.borrowed(("jobs", job))) if document.has_aliases and not document.prefix else {}
    for at in taken:
        block = replaced(block, at, MISSING if at and isinstance(at[-1], str) else None)  # other indices stay
    block = _restarting(block or {})
    if named := sorted((str(at), name) for at, name in taken.items() if name):
        block["*"] = named
    return short_digest(block)


def _restarting(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's block without what never makes a new run, in the job or in its roles."""
    kept = {key: value for key, value in block.items() if key not in NO_NEW_RUN}
    for key in kept.keys() & ROLE_NAMES:
        kept[key] = _role(kept[key])
    if type(tasks := kept.get("tasks")) is dict:
        kept["tasks"] = {name: _role(task) for name, task in tasks.items()}
    return kept


def _role(block: Any) -> Any:
    if type(block) is not dict:
        return block
    return {key: value for key, value in block.items() if key not in _ROLE_NO_NEW_RUN}
