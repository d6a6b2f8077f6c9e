"""What gives each field of a planned pod template its value, the strongest first, as `planning.template` lays them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.planning.template import RERUN_ANNOTATION, overlay_source
from tfgitops.planning.tfconfig import hosts_port, hosts_variable, references
from tfgitops.provenance.sources import COMPILER, DEFAULT, DISCOVERY, OVERLAY, Source, given, held, key
from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.kubernetes.merge import RULES
from tfgitops.targets.routes import MISSING, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.provenance.jobpatches import JobPatches
    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.kubernetes.merge import SchemaName
    from tfgitops.targets.routes import Route

_TRAINING: Route = ("spec", "containers", 0)
_PARTS: dict[str, tuple[Route, SchemaName]] = {"pod": ((), "PodTemplateSpec"), "container": (_TRAINING, "Container")}
_CONTAINER_KEYS = {"image": "image", "command": "command", "args": "args"}
_REFERENCES = {"secretKeyRef": "secret", "configMapKeyRef": "configMap", "fieldRef": "field"}


class TemplateSources:
    """The sources of one role's pod template."""

    def __init__(self, job: Job, role: Role, template: Mapping[str, Any], patches: JobPatches) -> None:
        self._job = job
        self._role = role
        self._template = template
        self._patches = patches

    def of(self, at: Route) -> Iterator[Source]:
        """Yield the sources of one field, by its route in the template, the strongest first."""
        if variable := self._discovered(at):
            yield variable
            return
        yield from self._overlays(at)
        yield from self._keys(at)
        yield from self._plugins(at)
        yield from self._core(at)

    def _plugins(self, at: Route) -> Iterator[Source]:
        """Yield what plugins say."""
        for name, patch in self._patches.all:
            if patch.target[1:] != (self._role.name,):
                continue
            base, schema = _PARTS[patch.target[0]]
            if at[: len(base)] != base:
                continue
            found = held(patch.value, RULES[schema], self._whole(base), at[len(base) :], united=True)
            if found is not None:
                yield self._patches.source(name, patch, found)

    def _whole(self, base: Route) -> Any:
        return value_at(self._template, base)

    def _overlays(self, at: Route) -> Iterator[Source]:
        """Yield what overlays say: a role's are laid over its job's, and each one's of the pod over the container's."""
        for holder in (self._role, self._job):
            for kind, (base, schema) in _PARTS.items():
                written = overlay_source(holder, kind)
                if written and at[: len(base)] == base:
                    found = held(written, RULES[schema], self._whole(base), at[len(base) :], united=False)
                    if found is not None:
                        yield Source(routes=((*holder.route, kind, *found),), layer=OVERLAY)

    def _keys(self, at: Route) -> Iterator[Source]:
        """Yield what keys of the spec say."""
        if at[:3] == _TRAINING:
            yield from self._container_keys(at[3:])
        elif at[:1] == ("spec",):
            yield from self._pod_keys(at[1:])
        elif at == ("metadata", "annotations", RERUN_ANNOTATION):
            yield key(*self._job.route, "rerun")

    def _container_keys(self, at: Route) -> Iterator[Source]:
        field, inner = at[0], at[1:]
        role = self._role
        if named := _CONTAINER_KEYS.get(str(field)):
            yield key(*role.route, named, *inner)
        elif field == "workingDir":
            yield key(*self._job.route, "workdir")
        elif field == "env" and inner:
            yield key(*role.route, "env", *self._variable(self._whole(_TRAINING)["env"][inner[0]]["name"], inner[1:]))
        elif field == "resources" and len(inner) == 2 and inner[1] in ("cpu", "memory"):  # noqa: PLR2004 - bound, name
            yield key(*role.route, inner[1], str(inner[0]).removesuffix("s"))
        elif field == "ports" and inner:
            port = self._whole(_TRAINING)["ports"][inner[0]]
            for name, written in (role.data.get("ports") or {}).items():
                if written["port"] == port["containerPort"] and inner[1:] != ("protocol",):
                    end = ("port",) if inner[1:] == ("containerPort",) else ()
                    yield key(*role.route, "ports", name, *end)

    def _variable(self, name: str, inner: Route) -> Route:
        """Return the route within `env` of a variable, or of that part of its reference that a field holds."""
        value = (self._role.data.get("env") or {}).get(name)
        if isinstance(value, dict) and inner[:1] == ("valueFrom",) and len(inner) == 3:  # noqa: PLR2004 - a reference
            part = _REFERENCES.get(str(inner[1]), "") if inner[2] in ("name", "fieldPath") else str(inner[2])
            return (name, part) if part in value else (name,)
        return (name,)

    def _pod_keys(self, at: Route) -> Iterator[Source]:
        field, inner = at[0], at[1:]
        job, role = self._job, self._role
        if field == "restartPolicy":
            yield key(*role.route, "restartPolicy")
        elif field == "serviceAccountName":
            yield key(*job.route, "serviceAccount")
        elif field == "nodeSelector":
            yield key(*role.route, "nodeSelector", *inner)
        elif field in ("imagePullSecrets", "tolerations") and inner:
            element = self._template["spec"][field][inner[0]]
            holder: Job | Role = role if field == "tolerations" else job
            wanted = element if field == "tolerations" else element.get("name")
            written = holder.data.get(str(field)) or []
            if wanted in written:
                rest = inner[1:] if field == "tolerations" else ()
                yield key(*holder.route, str(field), written.index(wanted), *rest)

    def _core(self, at: Route) -> Iterator[Source]:
        """Yield what the compiler writes of itself, below all others."""
        role, value = self._role, value_at(self._template, at)
        if at == ("metadata", "labels", JOB_LABEL):
            yield given(COMPILER, value, self._job.route, note="the job's name")
        elif at == ("spec", "restartPolicy"):
            yield given(DEFAULT, "Never", role.route, note="with Always a task would never complete")
        elif at == ("spec", "dnsPolicy"):
            yield self._follows(value, ("spec", "hostNetwork"), "what hostNetwork needs")
        elif at == (*_TRAINING, "name"):
            yield given(DEFAULT, value, role.route, note="the training container")
        elif at[-1] == "protocol" or at[-2:] == ("grpc", "service"):
            sibling = "containerPort" if at[-1] == "protocol" else "port"
            yield self._follows(value, (*at[:-1], sibling), "what Kubernetes would add")
        elif self._is_cluster_port(at):
            if "port" in self._job.data:
                yield key(*self._job.route, "port")
            yield given(DEFAULT, value, role.route, note="the port of the TensorFlow servers")

    def _is_cluster_port(self, at: Route) -> bool:
        if at[:4] != (*_TRAINING, "ports") or len(at) < 5 or not self._role.in_cluster:  # noqa: PLR2004 - which port
            return False
        return bool(self._whole(_TRAINING)["ports"][at[4]]["containerPort"] == self._job.port)

    def _follows(self, value: Any, at: Route, note: str) -> Source:
        """Return a default that another field brings with it: it is where that one is."""
        first = next(self.of(at), None)
        return given(DEFAULT, value, *(first.routes if first else (self._role.route,)), note=note)

    def _discovered(self, at: Route) -> Source | None:
        """Return the source of a variable that discovery writes, if a field is one's."""
        if at[:1] != ("spec",) or at[3:4] != ("env",) or len(at) < 5:  # noqa: PLR2004 - and which variable
            return None
        job, role = self._job, self._role
        container = value_at(self._template, at[:3])
        entry = container["env"][at[4]]
        name, value = entry["name"], value_at(entry, at[5:])
        hosts = {hosts_variable(other.name): other for other in job.roles}
        if name == "TF_CONFIG":
            return self._tf_config()
        if name not in ("RUN", "TASK_TYPE", "TASK_INDEX") and name not in hosts:
            return None
        place = references(container).get(name)
        training = at[:3] == _TRAINING and place is not None and place.route != ("env", "TF_CONFIG")
        because = (*role.route, *place.route) if training and place else role.route
        note = f"`{place.field}` refers to $({name})" if training and place else "TF_CONFIG refers to it"
        if name in hosts:
            replicas: dict[Route, Any] = {(*hosts[name].route, "replicas"): hosts[name].replicas}
            parts = {**replicas, because: MISSING, **self._port_of(hosts[name])}
            return Source(routes=tuple(parts), parts=tuple(parts.values()), value=value, layer=DISCOVERY, note=note)
        return given(DISCOVERY, value, because, note=note)

    def _tf_config(self) -> Source:
        job = self._job
        parts: dict[Route, Any] = {(*role.route, "replicas"): role.replicas for role in job.roles if role.in_cluster}
        if not self._role.in_cluster:
            parts[*self._role.route, "replicas"] = self._role.replicas
        parts |= self._port()
        note = "the hosts of all roles, and which of them this is"
        return Source(routes=tuple(parts), parts=tuple(parts.values()), layer=DISCOVERY, note=note)

    def _port_of(self, role: Role) -> dict[Route, Any]:
        ports, number = hosts_port(self._job, role)
        if list(ports.values()) == [number]:
            return {(*role.route, "ports", *ports, "port"): number}
        return self._port()

    def _port(self) -> dict[Route, Any]:
        job = self._job
        return {(*job.route, "port"): job.port} if "port" in job.data else {}
