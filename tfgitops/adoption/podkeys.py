"""Propose the keys of a role for the pod template of a task; what no key says stays as an overlay."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tfgitops.adoption.configfiles import config_paths
from tfgitops.adoption.containerkeys import is_compilers
from tfgitops.planning.template import RERUN_ANNOTATION
from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.kubernetes.resources import GPUS
from tfgitops.targets.tensorflow import TRAINING_CONTAINER
from tfgitops.targets.volcano.defaults import NOT_IN_PODS, SCHEDULER

if TYPE_CHECKING:
    from collections.abc import Collection

    from tfgitops.adoption.containerkeys import ContainerKeys
    from tfgitops.adoption.drafts import Draft
    from tfgitops.adoption.shelf import Shelf
    from tfgitops.adoption.taking import Taken
    from tfgitops.targets.routes import Route

    Json = dict[str, Any]

_MOUNTED = {"name", "mountPath", "subPath", "subPathExpr", "readOnly"}
_SHM_PATH = "/dev/shm"  # noqa: S108 - the pod's own
_PRODUCTS = {gpu.resource: gpu.product_label for gpu in GPUS if gpu.product_label}
_COPIED = (("nodeSelector", "nodeSelector"), ("tolerations", "tolerations"), ("serviceAccountName", "serviceAccount"))


class PodKeys:
    """Puts the keys of one role into a draft, at ``at``; ``base`` is the route of its task in the Job."""

    def __init__(
        self, taken: Taken, draft: Draft, at: Route, base: Route, shelf: Shelf, *, raw: Collection[str]
    ) -> None:  # fmt: skip
        self._taken = taken
        self._draft = draft
        self._at = at
        self._base: Route = (*base, "template")
        self._shelf = shelf
        self._raw = raw
        self._renamed: dict[str, str] = {}

    def put(self, template: Json, keys: ContainerKeys) -> None:
        """Put the keys of a template; ``keys`` does so for its training container."""
        pod = copy.deepcopy(template.get("spec") or {})
        self._metadata(template.get("metadata") or {})
        containers = pod.pop("containers", None) or [{}]
        first = next((i for i, one in enumerate(containers) if one.get("name") == TRAINING_CONTAINER), 0)
        training = containers.pop(first)
        self._sidecars(pod, containers)
        mounts = training.pop("volumeMounts", [])
        volumes = self._volumes(pod.pop("volumes", []), mounts)
        keys.put(training)
        if mounts:
            self._overlay(("container", "volumeMounts"), mounts, (*self._base, "spec", "containers", first))
        self._fields(pod)
        for name in ("volumes", "initContainers"):
            value = volumes if name == "volumes" else pod.pop(name, [])
            if value:
                self._overlay(("pod", "spec", name), self._with_names(value), (*self._base, "spec", name))
        for key, value in pod.items():
            self._overlay(("pod", "spec", key), value, (*self._base, "spec", key))

    def _overlay(self, route: Route, value: Any, origin: Route) -> None:
        self._draft.overlay(self._at, route, value, origin)

    def _metadata(self, metadata: Json) -> None:
        for key in ("labels", "annotations"):
            texts = dict(metadata.get(key) or {})
            if key == "labels":
                texts.pop(JOB_LABEL, None)
            elif str(number := texts.pop(RERUN_ANNOTATION, "")).isdigit():
                self._draft.put(("rerun",), int(number))
            self._overlay(("pod", "metadata", key), texts or None, (*self._base, "metadata", key))

    def _sidecars(self, pod: Json, others: list[Json]) -> None:
        """Make further containers native sidecars: as containers, they would keep the task from completing."""
        for container in others:
            text = f"the container '{container.get('name')}' is now a sidecar, which ends with the training"
            self._taken.say("changed", text, (*self._base, "spec", "containers"))
            pod.setdefault("initContainers", []).append({**container, "restartPolicy": "Always"})

    def _fields(self, pod: Json) -> None:
        at = (*self._base, "spec")
        pod.pop("serviceAccount", None)
        for field in NOT_IN_PODS:
            value = pod.pop(field, None)
            if value and value != SCHEDULER:
                self._taken.say("lost", f"{field} {value}: {NOT_IN_PODS[field]}", (*at, field))
        restart = pod.pop("restartPolicy", "")
        if restart == "Always":
            text = "restartPolicy Always is Never: with Always a task never completes"
            self._taken.say("changed", text, (*at, "restartPolicy"))
        elif restart:
            self._draft.put((*self._at, "restartPolicy"), restart, (*at, "restartPolicy"))
        self._product(pod)
        for field, key in _COPIED:
            if value := pod.pop(field, None):
                self._draft.put((*self._at, key), value, (*at, field))
        if secrets := pod.pop("imagePullSecrets", None):
            names = [str(secret.get("name", "")) for secret in secrets]
            self._draft.put((*self._at, "imagePullSecrets"), names, (*at, "imagePullSecrets"))

    def _product(self, pod: Json) -> None:
        """Put the product of the GPU into `gpu`, where the pod selects nodes by its label."""
        gpu = self._draft.get((*self._at, "gpu"))
        resource = gpu.get("resource", GPUS[0].resource) if isinstance(gpu, dict) and "count" in gpu else ""
        selector = pod.get("nodeSelector") or {}
        if (label := _PRODUCTS.get(resource, "")) in selector and label:
            gpu["product"] = selector.pop(label)

    def _volumes(self, volumes: list[Json], mounts: list[Any]) -> list[Json]:
        """Put the keys `volumes` and `shm`; return the volumes that are neither, and leave their mounts."""
        left: list[Json] = []
        configs: list[Any] = []
        uses: dict[int, Any] = {}
        for volume in volumes:
            name, claim = str(volume.get("name")), volume.get("persistentVolumeClaim")
            mounted = [mount for mount in mounts if mount and mount.get("name") == name]
            if "volumes" not in self._raw and claim and mounted and all(mount.keys() <= _MOUNTED for mount in mounted):
                for mount in mounted:
                    place = mounts.index(mount)
                    self._renamed[name], uses[place] = self._shelf.use(
                        name, str(claim.get("claimName")), _mount(mount, claim)
                    )
                    mounts[place] = None
            elif (
                "configMaps" not in self._raw
                and _config(volume) in self._shelf.files
                and (paths := config_paths(volume, mounted))
            ):
                configs += [self._shelf.config(_config(volume), path) for path in paths]
                mounts[:] = [None if mount in mounted else mount for mount in mounts]
            elif "shm" not in self._raw and (size := _shared_memory(volume, mounted)):
                self._draft.put((*self._at, "shm"), size, (*self._base, "spec", "volumes"))
                self._renamed[name] = "dev-shm"
                mounts[mounts.index(mounted[0])] = None
            else:
                left.append(volume)
        mounts[:] = [mount for mount in mounts if mount]
        if configs:
            self._draft.put((*self._at, "configMaps"), configs, (*self._base, "spec", "volumes"))
        if uses:
            in_order = [uses[place] for place in sorted(uses)]
            self._draft.put((*self._at, "volumes"), in_order, (*self._base, "spec", "volumes"))
        return left

    def _with_names(self, items: list[Json]) -> list[Json]:
        """Return containers with the new names of the volumes that they mount, without the compiler's variables."""
        for item in items:
            if "env" in item:
                item["env"] = [one for one in item["env"] if not is_compilers(self._taken, str(one.get("name")))]
                if not item["env"]:
                    del item["env"]
            for mount in item.get("volumeMounts", ()):
                mount["name"] = self._renamed.get(mount.get("name"), mount.get("name"))
        return items


def _config(volume: Json) -> str:
    return str((volume.get("configMap") or {}).get("name", ""))


def _mount(mount: Json, claim: Json) -> Json:
    found = {"path": mount.get("mountPath", "")}
    if path := mount.get("subPathExpr") or mount.get("subPath"):
        found["subPath"] = path
    if mount.get("readOnly") or claim.get("readOnly"):
        found["readOnly"] = True
    return found


def _shared_memory(volume: Json, mounted: list[Json]) -> str:
    directory = volume.get("emptyDir") or {}
    fits = directory.get("medium") == "Memory" and len(mounted) == 1 and mounted[0].keys() == {"name", "mountPath"}
    return str(directory.get("sizeLimit", "")) if fits and mounted[0]["mountPath"] == _SHM_PATH else ""
