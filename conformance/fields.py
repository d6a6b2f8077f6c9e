"""Draws values for the keys of a spec and of Kubernetes's pods: mostly legal, now and then slightly illegal.

The shapes come from the schemas. What a text may be does not: the tables here are by hand, so that they share no
mistake with the model that is to be judged. The draws are Python's own random numbers: hypothesis repeats small values
and cuts large ones short, and seldom comes to what lies deep in a pod.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from random import Random

Json = dict[str, Any]
Pool = tuple[Any, ...]

_NAMES: Pool = ("data", "cache", "a", "a-1")
_ODD_NAMES: Pool = ("", "Data", "a.b", "a_b", "-a", "a-", "1", "x" * 63, "x" * 64, "x" * 253, "x" * 254, "a..b", "é")
_TEXTS: Pool = ("text", "a b", "yes", "0x1f", "a\nb\n")
_PATHS: Pool = ("/mnt", "/mnt/a", "/var/run/x")
_ODD_PATHS: Pool = (
    "",
    "/",
    "a",
    "../a",
    "a/../b",
    "/a/../b",
    "/a:b",
    "a//b",
    "..a",
    "a/..",
    "/mnt/",
    ".",
    "..",
    "x" * 5000,
)
_SIGNED: Pool = (1, 2, 30)
_ODD_SIGNED: Pool = (0, -1, 100, 101, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 599, 600, 2**32)
_QUANTITIES: Pool = ("500m", "2", "1Gi", 4, "1500Mi")
_ODD_QUANTITIES: Pool = (
    "0", "-1", "1.5", "1m", "0.0001", "1e3", "1E3", "1E", "1e", "+1", ".5", "1.", "1Zi", "1 Gi", "", "100Ei", "1u",
    "9223372036854775808", "9223372036854775807", "1e-30", "0.5Gi", "01", "2Ki", "1.5k", "--1", 0, -1,
)  # fmt: skip
_PORTS: Pool = (8080, "http", 1, 65535)
_ODD_PORTS: Pool = (0, 65536, -1, "8080", "", "HTTP", "a--b", "-a", "a-", "1a", "x" * 15, "x" * 16, "a.b")
_KEYS: Pool = ("app", "example.com/team", "a.b_c-d")
_ODD_KEYS: Pool = (
    "",
    "a b",
    "a/b/c",
    "/a",
    "a/",
    "A/b",
    "-a/b",
    "x" * 63,
    "x" * 64,
    "x" * 253 + "/a",
    "x" * 254 + "/a",
    "é",
    "a.",
)
_VALUES: Pool = ("a", "A.b_c", "1")
_ODD_VALUES: Pool = ("", "-", "a b", "x" * 63, "x" * 64, "é", "a/b", ".a")
_RESOURCES: Pool = ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi")
_ODD_RESOURCES: Pool = (
    "gpu", "example.com/", "storage", "requests.cpu", "kubernetes.io/x", "Example.com/gpu", "hugepages-3", "pods",
    "hugepages-", "hugepages-2Mi ", "requests.nvidia.com/gpu", "attachable-volumes-x", "a.b/c d", "x" * 63 + ".io/a",
    "hugepages-1.5Mi", "example.com/" + "x" * 63, "example.com/" + "x" * 55, "a/b",
)  # fmt: skip
_ODD_VARIABLES: Pool = ("", "1A", "a b", "A=B", "é", ".", "..", "..a", "TF_CONFIG", "VC_TASK_INDEX", "a:b", "x" * 300)
_FIELDS: Pool = ("metadata.name", "metadata.labels['app']", "status.podIP", "spec.nodeName", "metadata.uid")
_ODD_FIELDS: Pool = (
    "metadata.labels", "metadata.annotations", "metadata.annotations['a']", "metadata.labels['a b']", "status.podIPs",
    "metadata.labels['']", "metadata.labels[app]", "spec.hostname", "status.hostIPs", "spec.serviceAccountName", "name",
    "metadata.annotations['A/b']", "metadata.generateName", "metadata.labels['a']['b']", 'metadata.labels["a"]',
)  # fmt: skip

# By key, or by type and key: what is usual, and what is odd.
_POOLS: dict[str, tuple[Pool, Pool]] = {
    "action": (("Exit",), ("",)),
    "accessModes": (("ReadWriteOnce", "ReadWriteMany"), ("ReadWriteOncePod", "", "Any")),
    "add": (("NET_ADMIN", "SYS_PTRACE"), ("CAP_SYS_ADMIN", "SYS_ADMIN", "", "ALL")),
    "apiVersion": (("v1",), ("", "v2", "apps/v1")),
    "conditionType": (_KEYS, _ODD_KEYS),
    "claimName": (_NAMES, _ODD_NAMES),
    "ContainerPort.name": (("http", "grpc"), _ODD_PORTS[3:]),
    "containerName": (("tensorflow", "init"), ("", "other", "Bad")),
    "containerPort": ((8080, 9090), (0, 65536, 2222, -1, 65535, 1)),
    "devicePath": (("/dev/xda",), _ODD_PATHS),
    "divisor": (("1", "1m", "1Mi"), ("0", "2", "1k", "1e3", "1000m", "", "1Zi", 1, 0)),
    "dnsPolicy": (("ClusterFirst", "Default", "ClusterFirstWithHostNet"), ("None", "", "Cluster")),
    "driver": (("csi.example.com", "driver"), _ODD_NAMES),
    "effect": (("NoSchedule", "NoExecute", "PreferNoSchedule"), ("", "Never")),
    "expirationSeconds": ((3600, 600), (599, 0, 2**32, 2**32 + 1)),
    "EnvVar.name": (("A", "MY_VAR", "a.b-c"), _ODD_VARIABLES),
    "fieldPath": (_FIELDS, _ODD_FIELDS),
    "fsGroupChangePolicy": (("OnRootMismatch", "Always"), ("", "Never")),
    "HTTPHeader.name": (("X-A", "Host"), ("", "X A", "X:A", "é", "X_A")),
    "host": (("localhost", "10.0.0.1"), ("", "http://a", "a b", "A")),
    "hostIP": (("10.0.0.1",), ("", "10.0.0.256", "::1", "localhost", "010.0.0.1")),
    "hostPort": ((8080, 9090), (0, 65536, -1)),
    "hostnames": (("a", "a.example.com"), _ODD_NAMES),
    "image": (("busybox:1.36", "registry.example.com/a/b:1"), ("", " busybox", "busybox ", "Busy Box", "a" * 300)),
    "imagePullPolicy": (("Always", "IfNotPresent", "Never"), ("", "always")),
    "initContainers.name": (("init", "logs"), ("tensorflow", *_ODD_NAMES)),
    "initContainers.restartPolicy": (("Always",), ("Never", "OnFailure", "")),
    "containers.restartPolicy": (("Never",), ("Always", "OnFailure", "")),
    "containers.name": (("tensorflow",), ("other", "", "Tensorflow")),
    "ip": (("10.0.0.1", "fd00::1"), ("", "10.0.0", "010.0.0.1", "::ffff:10.0.0.1", "a", "fd00::1%eth0", "10.0.0.1/8")),
    "key": (_KEYS, _ODD_KEYS),
    "KeyToPath.key": (("a", "a.txt"), ("", "..", "a/b", "é", "x" * 254)),
    "ConfigMapKeySelector.key": (("a", "a.txt"), ("", "..", ".", "..a", "a/b", "é", "x" * 253, "x" * 254)),
    "SecretKeySelector.key": (("a", "a.txt"), ("", "..", ".", "..a", "a/b", "é", "x" * 253, "x" * 254)),
    "localhostProfile": (("profile.json",), _ODD_PATHS),
    "matchLabelKeys": (("app", "team"), _ODD_KEYS),
    "mismatchLabelKeys": (("app", "team"), _ODD_KEYS),
    "maxSkew": ((1, 2), (0, -1)),
    "medium": (("Memory", ""), ("HugePages", "HugePages-2Mi", "HugePages-", "HugePages-3", "disk", "memory")),
    "mode": (("0644", "0400"), ("0777", "0o1000", "01000", 420, "-1", "")),
    "mountPath": (_PATHS, _ODD_PATHS),
    "mountPropagation": (("None", "HostToContainer"), ("Bidirectional", "", "none")),
    "nameservers": (("10.0.0.1",), ("", "a", "::1", "010.0.0.1")),
    "namespaces": (("ml", "default"), _ODD_NAMES),
    "nodeAffinityPolicy": (("Honor", "Ignore"), ("", "Never")),
    "nodeTaintsPolicy": (("Honor", "Ignore"), ("", "Never")),
    "operator": (("In", "Exists", "NotIn", "DoesNotExist"), ("Gt", "Lt", "", "Equal", "in")),
    "Toleration.operator": (("Exists", "Equal"), ("", "Lt", "Gt", "In")),
    "Toleration.value": (("a", ""), _ODD_VALUES),
    "PodOS.name": (("linux",), ("windows", "", "Linux")),
    "path": (("a", "a/b", "health"), _ODD_PATHS),
    "NFSVolumeSource.path": (_PATHS, _ODD_PATHS),
    "HostPathVolumeSource.path": (_PATHS, _ODD_PATHS),
    "HostPathVolumeSource.type": (("", "Directory", "DirectoryOrCreate"), ("File", "directory", "Any")),
    "HTTPGetAction.path": (("/", "/healthz"), ("", "healthz", "/a b")),
    "port": (_PORTS, _ODD_PORTS),
    "GRPCAction.port": ((8080, 9090), (0, 65536)),
    "preemptionPolicy": (("Never", "PreemptLowerPriority"), ("", "Any")),
    "prefix": (("A_", "MY"), ("", "1", "a b", "a=b", "é", "A.B-")),
    "procMount": (("Default",), ("Unmasked", "", "Any")),
    "protocol": (("TCP", "UDP"), ("SCTP", "", "tcp", "HTTP")),
    "pullPolicy": (("Always", "IfNotPresent"), ("", "always")),
    "recursiveReadOnly": (("Disabled",), ("Enabled", "IfPossible", "", "Any")),
    "resource": (
        ("limits.cpu", "requests.memory"),
        ("limits.nvidia.com/gpu", "cpu", "", "limits.hugepages-2Mi", "limits.ephemeral-storage"),
    ),
    "scheme": (("HTTP", "HTTPS"), ("", "http", "TCP")),
    "searches": (("a.example.com", "svc"), (*_ODD_NAMES, "a.", ".", "a_b.c", "x" * 64 + ".a")),
    "seLinuxChangePolicy": (("MountOption", "Recursive"), ("", "Any")),
    "server": (("10.0.0.1", "nfs.example.com"), ("",)),
    "subPath": (("a", "a/b"), _ODD_PATHS),
    "subPathExpr": (("$(A)", "a/$(TASK_INDEX)"), _ODD_PATHS),
    "successThreshold": ((1,), _ODD_SIGNED),
    "supplementalGroupsPolicy": (("Merge", "Strict"), ("", "Any")),
    "Sysctl.name": (
        ("net.ipv4.ip_unprivileged_port_start", "kernel.shm_rmid_forced"),
        ("", "A.b", "kernel.msgmax", "a..b", "net/ipv4", "x" * 254),
    ),
    "terminationMessagePolicy": (("File", "FallbackToLogsOnError"), ("", "file")),
    "topologyKey": (("kubernetes.io/hostname", "zone"), _ODD_KEYS),
    "type": (("RuntimeDefault", "Unconfined"), ("Localhost", "", "Any")),
    "SELinuxOptions.type": (("spc_t",), ("",)),
    "values": (("a", "1"), _ODD_VALUES),
    "volumeMode": (("Filesystem",), ("Block", "", "Any")),
    "weight": ((1, 50, 100), (0, 101, -1)),
    "whenUnsatisfiable": (("DoNotSchedule", "ScheduleAnyway"), ("", "Never")),
    "stopSignal": (("SIGTERM",), ("", "TERM")),
    "restartPolicy": (("Never", "OnFailure"), ("Always", "")),
    "ContainerResizePolicy.resourceName": (("cpu", "memory"), ("gpu",)),
    "ContainerResizePolicy.restartPolicy": (("NotRequired", "RestartContainer"), ("",)),
    "reference": (("busybox:1.36",), ("", " ")),
    "workingDir": (_PATHS, _ODD_PATHS),
    "command": (("sh", "-c", "true"), ("",)),
    "args": (("--a", "$(A)"), ("", "é")),
    "hostname": (("a",), _ODD_NAMES),
}  # fmt: skip

# Types of which exactly one key is to be given, beside these.
_ONE_OF: dict[str, tuple[str, ...]] = {
    "EnvVarSource": ("configMapKeyRef", "fieldRef", "resourceFieldRef", "secretKeyRef"),
    "EnvFromSource": ("configMapRef", "secretRef"),
    "EnvVar": ("value", "valueFrom"),
    "LifecycleHandler": ("exec", "httpGet", "sleep", "tcpSocket"),
    "PodResourceClaim": ("resourceClaimName", "resourceClaimTemplateName"),
    "DownwardAPIVolumeFile": ("fieldRef", "resourceFieldRef"),
    "Probe": ("exec", "httpGet", "grpc", "tcpSocket"),
    "Volume": (
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "hostPath", "image", "nfs",
        "persistentVolumeClaim", "projected", "secret",
    ),
    "VolumeProjection": ("configMap", "downwardAPI", "secret", "serviceAccountToken"),
}  # fmt: skip
# What a type asks for beyond its `x-required`.
_ALSO: dict[str, tuple[str, ...]] = {
    "ConfigMapEnvSource": ("name",),
    "ConfigMapKeySelector": ("name", "key"),
    "ConfigMapProjection": ("name",),
    "ConfigMapVolumeSource": ("name",),
    "EphemeralVolumeSource": ("volumeClaimTemplate",),
    "ExecAction": ("command",),
    "LocalObjectReference": ("name",),
    "PersistentVolumeClaimSpec": ("accessModes", "resources"),
    "ResourceFieldSelector": ("containerName",),
    "SecretEnvSource": ("name",),
    "SecretKeySelector": ("name", "key"),
    "SecretProjection": ("name",),
    "SecretVolumeSource": ("secretName",),
    "Toleration": ("key", "operator"),
    "LabelSelectorRequirement": ("values",),
    "NodeSelectorRequirement": ("values",),
    "VolumeResourceRequirements": ("requests",),
}

# Keys that are refused whatever they hold: seldom worth a try.
_REFUSED = {
    "clusterTrustBundle", "dataSource", "dataSourceRef", "ephemeralContainers", "fileKeyRef", "hostname",
    "hostnameOverride", "overhead", "podCertificate", "resizePolicy", "restartPolicyRules", "schedulerName",
    "schedulingGroup", "stopSignal", "subdomain", "windowsOptions",
}  # fmt: skip

# The formats of the spec's own keys.
_FORMATS: dict[str, tuple[Pool, Pool]] = {
    "amount": (_QUANTITIES, _ODD_QUANTITIES),
    "annotation-key": (_KEYS, _ODD_KEYS),
    "config-key": (("a", "a.txt"), ("", "..", "a/b", "é", "x" * 254)),
    "cpu-amount": ((1, "500m", "2"), _ODD_QUANTITIES),
    "dns-label": (_NAMES, _ODD_NAMES),
    "dns-subdomain": ((*_NAMES, "a.b"), _ODD_NAMES),
    "duration": (
        ("10m", "90s", "1h30m"),
        ("0s", "-1s", "1d", "1.5h", "", "10", "1ns", "1h1h", ".5s", "+1s", "1us", "9999999h"),
    ),
    "env-name": (
        ("A", "MY_VAR", "a.b"),
        _ODD_VARIABLES,
    ),
    "extended-resource": (("amd.com/gpu", "example.com/tpu"), _ODD_RESOURCES),
    "image": (("tf:2.21", "registry.example.com/a:1"), ("", " tf", "TF:1", "tf:", "tf@sha256:00", "a/../b")),
    "job-name": (("train", "other"), ("", "Train", "a.b", "x" * 40, "x" * 50, "x" * 63)),
    "label-key": (_KEYS, _ODD_KEYS),
    "label-value": (_VALUES, _ODD_VALUES),
    "path": (_PATHS, _ODD_PATHS),
    "port-name": (("http", "grpc"), _ODD_PORTS[3:]),
    "positive-amount": (("1Gi", "10Gi", "500Mi"), _ODD_QUANTITIES),
    "queue-name": (("vision", "default"), (*_ODD_NAMES, "root", "text")),
    "resource-name": (_RESOURCES, _ODD_RESOURCES),
    "sub-path": (("a", "a/$(RUN)"), _ODD_PATHS),
    "task-name": (("data-feeder", "extra"), ("ps", *_ODD_NAMES)),
}
_SPEC_POOLS: dict[str, tuple[Pool, Pool]] = {
    "uses.name": (("data", "logs"), ("other",)),
    "parent": (("research", "root"), ("default", "vision", "")),
    "queue": (("vision", "default"), ("text", "root", "")),
    "dependsOn": (("ps",), ("worker", "chief", "other")),
    "from": (("other",), ("train", "nothing")),
    "plugins": (
        ("--disable-network-policy=true", "--publish-not-ready-addresses=true"),
        ("--x", "", "a b", "--port=1"),
    ),
    "mig": (("1g.5gb", "3g.20gb"), ("8g.5gb", "1g.5gb+me")),
    "field": (_FIELDS, _ODD_FIELDS),
    "exitCode": ((1, 137), (0, 255, 256, -1)),
    "replicas": ((1, 2, 3), (0, 100, 10001)),
    "count": ((1, 2), (0, 8, 1025)),
    "product": (("NVIDIA-A100-SXM4-80GB",), _ODD_VALUES),
    "timeout": (("10m", "90s"), ("0s", "-1s", "1d", "10", "1h1h", ".5s", "2562048h")),
    "command": (("python", "-m", "train"), ("", "$(A)", "$$", "é")),
    "name": (_NAMES, _ODD_NAMES),
}


class Draw:
    """Draws from the tables what is usual, but for a few places, counted as they come, where something is odd."""

    def __init__(self, random: Random, odd: Collection[int] = ()) -> None:
        self.random = random
        self.places = 0  # where something could have been odd, so far
        self._odd = odd

    def chance(self, percent: int) -> bool:
        """Draw whether something is to be, in so many of 100 cases."""
        return self.random.randrange(100) < percent

    def pick(self, usual: Sequence[Any], odd: Sequence[Any]) -> Any:
        """Draw a usual value, or now and then an odd one, or any short text in place of a text."""
        if not self.slips():
            return self.random.choice(usual)
        if type(odd[0]) is str and self.chance(40):
            return "".join(self.random.choices("aZ09-._/:$()@= é", k=self.random.randint(1, 6)))
        return self.random.choice(odd)

    def some(self, keys: Iterable[str], most: int = 2) -> dict[str, None]:
        """Draw none to so many of some keys."""
        keys = sorted(keys)
        return dict.fromkeys(self.random.sample(keys, min(self.random.randint(0, most), len(keys))))

    def slips(self) -> bool:
        """Say whether something is to be odd here."""
        self.places += 1
        return self.places in self._odd


@cache
def _definition(name: str) -> Json:
    definition: Json = schema_file("pod.schema.json")["$defs"][name]
    return definition


@cache
def _weight(name: str) -> int:
    """Count the types below a type, as the weight of a key that has it."""
    below, rest = {name}, [name]
    while rest:
        found = {
            ref for schema in _definition(rest.pop()).get("properties", {}).values() if (ref := _reference(schema))
        }
        rest += found - below
        below |= found
    return len(below)


def _reference(schema: Json) -> str:
    inner = schema.get("items", schema)
    return str(inner.get("$ref", "")).rpartition("/")[2]


def pod_keys(draw: Draw, name: str) -> list[str]:
    """Draw one to three keys of a large type; those that hold more come more often."""
    properties = _definition(name)["properties"]
    keys = sorted(properties.keys() - (set() if draw.slips() else _REFUSED))
    weights = [2 + _weight(ref) if (ref := _reference(properties[key])) else 2 for key in keys]
    return list(dict.fromkeys(draw.random.choices(keys, weights, k=draw.random.randint(1, 3))))


def pod_value(draw: Draw, name: str, holder: str = "", only: Sequence[str] = ()) -> Any:
    """Draw a value of one of Kubernetes's types by the name of its schema, from the keys `only` if there are some.

    `holder` is the key that it stands under.
    """
    scalars = {
        "Quantity": (_QUANTITIES, _ODD_QUANTITIES),
        "FileMode": _POOLS["mode"],
        "IntOrString": (_PORTS, _ODD_PORTS),
    }
    if name in scalars:
        return draw.pick(*scalars[name])
    if name == "ResourceRequirements" and not draw.slips():
        return _requirements(draw)
    schema = _definition(name)
    keys = dict.fromkeys(only) or _keys(draw, name, schema)
    fields = {key: _pod_field(draw, schema["properties"][key], name, key, holder) for key in keys}
    if name in _MENDERS and not draw.slips():
        _MENDERS[name](fields)
    return fields


def _keys(draw: Draw, name: str, schema: Json) -> dict[str, None]:
    names = schema["properties"].keys() - (set() if draw.slips() else _REFUSED)
    keys = dict.fromkeys([*schema.get("x-required", ()), *_ALSO.get(name, ())])
    if name in _ONE_OF and not draw.slips():
        names = {"name"} if name == "Volume" else names - {*_ONE_OF[name]}
        keys[draw.random.choice(_ONE_OF[name])] = None
    for key in list(keys):
        if draw.chance(20) and draw.slips():
            del keys[key]
    return keys | draw.some(names)


def _requirements(draw: Draw) -> Json:
    """Draw resources of which a request is not above its limit."""
    limits = {draw.pick(_RESOURCES, _ODD_RESOURCES): draw.pick(("2", 4), _ODD_QUANTITIES) for _ in range(2)}
    if any(name.startswith("hugepages") for name in limits):
        limits["memory"] = "4"
    return draw.random.choice([{"limits": limits}, {"requests": limits, "limits": limits}])


def _mend_operator(fields: Json) -> None:
    if fields.get("operator") in ("Exists", "DoesNotExist"):
        fields.pop("values", None)
    elif fields.get("operator") in ("Gt", "Lt"):
        fields["values"] = ["1"]


def _mend_node_field(fields: Json) -> None:
    if "matchFields" in fields:
        fields["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": ["a"]}]


def _mend_constraint(fields: Json) -> None:
    if "minDomains" in fields:
        fields["whenUnsatisfiable"] = "DoNotSchedule"
    if "matchLabelKeys" in fields:
        fields.setdefault("labelSelector", {"matchLabels": {"a": "b"}})


def _mend_toleration(fields: Json) -> None:
    if fields.get("operator") == "Exists":
        fields.pop("value", None)
    if "tolerationSeconds" in fields:
        fields["effect"] = "NoExecute"


def _mend_profile(fields: Json) -> None:
    if fields.get("type") != "Localhost":
        fields.pop("localhostProfile", None)
    elif "localhostProfile" not in fields:
        fields["localhostProfile"] = "a.json"


def _mend_mount(fields: Json) -> None:
    if fields.get("recursiveReadOnly") in ("Enabled", "IfPossible"):
        fields["readOnly"] = True
        fields.pop("mountPropagation", None)
    if "subPathExpr" in fields:
        fields.pop("subPath", None)


def _mend_resource(fields: Json) -> None:
    cpu = str(fields.get("resource")).endswith("cpu")
    if "divisor" in fields:
        fields["divisor"] = "1m" if cpu else "1Mi"


# What makes fields of one type fit each other.
_MENDERS: dict[str, Callable[[Json], None]] = {
    "AppArmorProfile": _mend_profile,
    "LabelSelectorRequirement": _mend_operator,
    "NodeSelectorRequirement": _mend_operator,
    "NodeSelectorTerm": _mend_node_field,
    "PodAffinityTerm": _mend_constraint,
    "ResourceFieldSelector": _mend_resource,
    "SeccompProfile": _mend_profile,
    "Toleration": _mend_toleration,
    "TopologySpreadConstraint": _mend_constraint,
    "VolumeMount": _mend_mount,
}


def _pod_field(draw: Draw, schema: Json, owner: str, key: str, holder: str) -> Any:
    if draw.chance(10) and draw.slips():
        return draw.random.choice([None, None, "", "a", 0, True, [], {}, [""], [None]])
    if "$ref" in schema:
        return pod_value(draw, schema["$ref"].rpartition("/")[2], key)
    if "items" in schema:
        count = draw.random.choice([1, 1, 1, 2])
        return [_pod_field(draw, schema["items"], owner, key, holder) for _ in range(count)]
    if isinstance(schema.get("additionalProperties"), dict):
        return _pod_map(draw, schema["additionalProperties"], owner)
    return _pod_scalar(draw, schema, owner, key, holder)


def _pod_scalar(draw: Draw, schema: Json, owner: str, key: str, holder: str) -> Any:
    pool = next((_POOLS[name] for name in (f"{owner}.{key}", f"{holder}.{key}", key) if name in _POOLS), None)
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if kind == "boolean":
        return draw.random.choice([False, True])
    if pool is None and kind == "integer":
        pool = _SIGNED, _ODD_SIGNED
    if pool is None and key.lower().endswith("name"):
        pool = _NAMES, _ODD_NAMES
    return draw.pick(*(pool or (_TEXTS, ("", " ", "é", "a/b", "x" * 300))))


def _pod_map(draw: Draw, values: Json, owner: str) -> Json:
    if "$ref" in values:
        usual = ("storage",) if owner == "VolumeResourceRequirements" else _RESOURCES
        names, amounts = (usual, _ODD_RESOURCES), (_QUANTITIES, _ODD_QUANTITIES)
    else:
        names, amounts = (_KEYS, _ODD_KEYS), (_VALUES, _ODD_VALUES)
    return {draw.pick(*names): draw.pick(*amounts) for _ in range(draw.random.randint(1, 2))}


def spec_value(draw: Draw, schema: Mapping[str, Any], key: str) -> Any:
    """Draw a value for one key of the spec by its schema, with the references of the schema resolved."""
    if key in _KUBERNETES:
        return _KUBERNETES[key](draw)
    if "enum" in schema or "const" in schema:
        return draw.random.choice(schema.get("enum") or [schema["const"]])
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else draw.random.choice(kinds)
    if kind == "object":
        return _spec_map(draw, schema, key)
    if kind == "array":
        count = draw.random.randint(schema.get("minItems", 0), 2)
        return [spec_value(draw, schema["items"], key) for _ in range(count)]
    return _spec_scalar(draw, schema, key, kind)


def _spec_map(draw: Draw, schema: Mapping[str, Any], key: str) -> Json:
    if properties := schema.get("properties"):
        chosen = dict.fromkeys(schema.get("required", ())) | draw.some(properties, most=3)
        if key == "policies" and "exitCode" not in chosen:
            chosen["event"] = None
        under = "uses." if key == "volumes" and "size" not in properties else ""
        return {name: spec_value(draw, properties[name], under + name) for name in chosen}
    form = schema.get("propertyNames", {}).get("format", "")
    names = _FORMATS.get(form, (("svc", "env", "ssh"), ("tensorflow", "pytorch", "")))
    values, count = schema["additionalProperties"], draw.random.randint(1, 2)
    return {draw.pick(*names): spec_value(draw, values, key) for _ in range(count)}


def _spec_scalar(draw: Draw, schema: Mapping[str, Any], key: str, kind: str) -> Any:
    if kind == "boolean":
        return draw.random.choice([False, True])
    pool = _SPEC_POOLS.get(key) or _FORMATS.get(schema.get("format", ""))
    if pool is None and kind == "integer":
        pool = _SIGNED, (*_ODD_SIGNED, schema.get("minimum", 0), schema.get("maximum", 0))
    return draw.pick(*(pool or (_TEXTS, ("", " ", "é", "x" * 300))))


def _variables(draw: Draw) -> Json:
    kind = draw.random.choice(["text", "number", "secret", "configMap", "field"])
    value: Any = {kind: draw.pick(_NAMES, _ODD_NAMES), "key": draw.pick(*_FORMATS["config-key"])}
    if kind == "text":
        value = draw.random.choice(["a", "$(TASK_INDEX)", "$$(A)", "yes", "1e3", "", "é\n"])
    elif kind == "number":
        value = draw.random.choice([0, 7, -1])
    elif kind == "field":
        value = {"field": draw.pick(_FIELDS, _ODD_FIELDS)}
    return {draw.pick(*_FORMATS["env-name"]): value}


_KUBERNETES: dict[str, Callable[[Draw], Any]] = {
    "container": lambda draw: pod_value(draw, "Container", "container", pod_keys(draw, "Container")),
    "env": _variables,
    "pod": lambda draw: {"spec": pod_value(draw, "PodSpec", "pod", pod_keys(draw, "PodSpec"))},
    "tolerations": lambda draw: [pod_value(draw, "Toleration")],
}
