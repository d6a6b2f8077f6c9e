"""Read the objects beside Jobs that a spec writes itself: queues, claims, the namespace and its quota."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.adoption.taking import meant, without_servers
from tfgitops.targets.gitops import kept_by
from tfgitops.targets.kubernetes.shape import shape_of
from tfgitops.targets.routes import reach

if TYPE_CHECKING:
    from tfgitops.adoption.shelf import Shelf
    from tfgitops.adoption.sourcefiles import SourceObject

    Json = dict[str, Any]

VOLCANO_QUEUES = "scheduling.volcano.sh"
_BUILT_IN = ("default", "root")
_AMOUNTS = {"capability": ("capability",), "deserved": ("deserved",), "guarantee": ("guarantee", "resource")}
_QUEUE_DEFAULTS = {"weight": 1, "parent": "root", "reclaimable": True, "priority": 0}
_CLAIM_SAYS = {"accessModes", "resources", "storageClassName", "volumeMode"}
"""Fields of a claim that a volume with a `size` says; one that says more is not the compiler's to write."""

SKIPPED = {
    "Service": "not needed for a Job: Volcano's plugin svc makes one; keep it if others use it",
    "ConfigMap": "keep it where it is; with -o, one that jobs only mount becomes files of the repository",
    "MPIJob": "write its replicas as `tasks`, and `completes` for the launcher",
    "PyTorchJob": "write its replicas as `tasks`, with `strategy: none`",
    "TrainJob": "write the pods of its runtime as `tasks`, or as roles of TensorFlow",
    "Environment": "this is a spec: copy it",
    "Secret": "the spec only refers to Secrets; keep it where it is",
    "NetworkPolicy": "`from` of a port opens it to others; keep the object if the job needs it",
    "PodMonitor": "`monitoring` writes one; keep the object until you use that",
    "Workflow": "an Argo Workflow may hold a Job as text: import that text",
    "WorkflowTemplate": "an Argo Workflow may hold a Job as text: import that text",
}
"""Why an object of a kind is not imported; of others, only that the spec has no key for the kind."""


class Beside:
    """The keys of an environment for the objects beside its Jobs."""

    def __init__(self, shelf: Shelf, controller: str, namespace: str) -> None:
        self.namespace: Json = {}
        self._name = namespace
        self.controller = controller
        self._shelf = shelf

    def take(self, source: SourceObject, say: Any) -> str:
        """Read one object; return its place in the spec, or nothing if the spec has none."""
        value, gone = without_servers(source.value)
        spec = found if isinstance(found := value.get("spec"), dict) else {}
        became = ""
        if (source.group, source.kind) == (VOLCANO_QUEUES, "Queue") and self._knows("queues"):
            became = self._queue(source, spec, say)
        elif source.kind == "PersistentVolumeClaim" and self._knows("volumes"):
            became = self._claim(source, spec, say)
        elif source.kind in ("Namespace", "ResourceQuota"):
            became = self._namespace(source, spec, say)
        if gone and became:
            say("dropped", f"the server's own: {', '.join(gone)}")
        return became

    def _knows(self, key: str) -> bool:
        """Tell whether a spec has a key at its top, which a plugin owns."""
        return key in self._shelf.known

    def _queue(self, source: SourceObject, spec: Json, say: Any) -> str:
        if source.name in _BUILT_IN:
            say("note", "Volcano makes this queue itself")
            return ""
        spec = meant(shape_of("volcano.schema.json", "QueueSpec"), spec, ("spec",), None)
        block: Json = _texts(source)
        for key, default in _QUEUE_DEFAULTS.items():
            if key in spec and spec[key] not in (None, default):
                block[key] = spec[key]
        for key, route in _AMOUNTS.items():
            if isinstance(amounts := reach(spec, route), dict) and amounts:
                block[key] = amounts
        for key in spec.keys() - {*_QUEUE_DEFAULTS, *_AMOUNTS, "dequeueStrategy"}:
            say("lost", f"{key}: the spec has no such key", ("spec", key))
        self._shelf.queues[source.name] = block
        if parent := block.get("parent"):
            self._shelf.use_queue(str(parent))
        return f"queues.{source.name}"

    def _claim(self, source: SourceObject, spec: Json, say: Any) -> str:
        size = reach(spec, ("resources", "requests", "storage"))
        modes = spec.get("accessModes")
        written = isinstance(size, str | int) and isinstance(modes, list) and len(modes) == 1
        if not written or spec.keys() - _CLAIM_SAYS or spec.get("volumeMode", "Filesystem") != "Filesystem":
            say(
                "note",
                "the claim stays where it is, and jobs name it: a volume with a `size` cannot say all of it",
            )
            return ""
        block: Json = {"size": size}
        if "storageClassName" in spec:
            block["storageClass"] = spec["storageClassName"]
        if isinstance(modes, list) and modes != ["ReadWriteOnce"]:
            block["access"] = modes[0]
        if self.controller and not kept_by(source.value):
            block["retain"] = False
        for key in _texts(source):
            say("lost", f"{key}: a volume has no {key}", ("metadata", key))
        self._shelf.add_claim(source.name, block)
        return f"volumes.{source.name}"

    def _namespace(self, source: SourceObject, spec: Json, say: Any) -> str:
        if source.kind == "Namespace" and source.name != self._name:
            say("note", f"an environment has one namespace, here {self._name}")
            return ""
        if source.kind == "Namespace":
            self.namespace |= {"create": True, **_texts(source)}
            self.namespace.get("labels", {}).pop("kubernetes.io/metadata.name", None)
            return "namespace"
        hard = spec.get("hard")
        if not isinstance(hard, dict) or spec.keys() != {"hard"}:
            return ""
        self.namespace["quota"] = hard
        return "namespace.quota"


def _texts(source: SourceObject) -> Json:
    """Return the labels and annotations of an object, without those that clients and controllers write."""
    value, _ = without_servers(source.value)
    found = {}
    for key in ("labels", "annotations"):
        texts = reach(value, ("metadata", key))
        items = texts.items() if isinstance(texts, dict) else ()
        kept = {name: str(text) for name, text in items if not _is_steering(name)}
        if kept:
            found[key] = kept
    return found


def _is_steering(name: str) -> bool:
    return name.startswith(("argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/"))
