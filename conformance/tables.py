"""Tables of usual and odd texts and numbers for specs and pods, by key or by type.

They are written by hand, so that they share no mistake with the model that is to be judged.
"""

from __future__ import annotations

from typing import Any

Pool = tuple[Any, ...]

NAMES: Pool = ("data", "cache", "a", "a-1")
ODD_NAMES: Pool = ("", "Data", "a.b", "a_b", "-a", "a-", "1", "x" * 63, "x" * 64, "x" * 253, "x" * 254, "a..b", "é")
TEXTS: Pool = ("text", "a b", "yes", "0x1f", "a\nb\n")
PATHS: Pool = ("/mnt", "/mnt/a", "/var/run/x")
ODD_PATHS: Pool = (
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
SIGNED: Pool = (1, 2, 30)
ODD_SIGNED: Pool = (0, -1, 100, 101, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 599, 600, 2**32)
QUANTITIES: Pool = ("500m", "2", "1Gi", 4, "1500Mi")
ODD_QUANTITIES: Pool = (
    "0", "-1", "1.5", "1m", "0.0001", "1e3", "1E3", "1E", "1e", "+1", ".5", "1.", "1Zi", "1 Gi", "", "100Ei", "1u",
    "9223372036854775808", "9223372036854775807", "1e-30", "0.5Gi", "01", "2Ki", "1.5k", "--1", 0, -1, 1 << 63,
)  # fmt: skip
PORTS: Pool = (8080, "http", 1, 65535)
ODD_PORTS: Pool = (0, 65536, -1, "8080", "", "HTTP", "a--b", "-a", "a-", "1a", "x" * 15, "x" * 16, "a.b")
KEYS: Pool = ("app", "example.com/team", "a.b_c-d")
ODD_KEYS: Pool = (
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
VALUES: Pool = ("a", "A.b_c", "1")
ODD_VALUES: Pool = ("", "-", "a b", "x" * 63, "x" * 64, "é", "a/b", ".a")
RESOURCES: Pool = ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi")
ODD_RESOURCES: Pool = (
    "gpu", "example.com/", "storage", "requests.cpu", "kubernetes.io/x", "Example.com/gpu", "hugepages-3", "pods",
    "hugepages-", "hugepages-2Mi ", "requests.nvidia.com/gpu", "attachable-volumes-x", "a.b/c d", "x" * 63 + ".io/a",
    "hugepages-1.5Mi", "example.com/" + "x" * 63, "example.com/" + "x" * 55, "a/b",
)  # fmt: skip
ODD_VARIABLES: Pool = ("", "1A", "a b", "A=B", "é", ".", "..", "..a", "TF_CONFIG", "VC_TASK_INDEX", "a:b", "x" * 300)
FIELDS: Pool = ("metadata.name", "metadata.labels['app']", "status.podIP", "spec.nodeName", "metadata.uid")
ODD_FIELDS: Pool = (
    "metadata.labels", "metadata.annotations", "metadata.annotations['a']", "metadata.labels['a b']", "status.podIPs",
    "metadata.labels['']", "metadata.labels[app]", "spec.hostname", "status.hostIPs", "spec.serviceAccountName", "name",
    "metadata.annotations['A/b']", "metadata.generateName", "metadata.labels['a']['b']", 'metadata.labels["a"]',
)  # fmt: skip

# Usual and odd values, by key or by type and key.
POOLS: dict[str, tuple[Pool, Pool]] = {
    "action": (("Exit",), ("",)),
    "accessModes": (("ReadWriteOnce", "ReadWriteMany"), ("ReadWriteOncePod", "", "Any")),
    "add": (("NET_ADMIN", "SYS_PTRACE"), ("CAP_SYS_ADMIN", "SYS_ADMIN", "", "ALL")),
    "apiVersion": (("v1",), ("", "v2", "apps/v1")),
    "conditionType": (KEYS, ODD_KEYS),
    "claimName": (NAMES, ODD_NAMES),
    "ContainerPort.name": (("http", "grpc"), ODD_PORTS[3:]),
    "containerName": (("tensorflow", "init"), ("", "other", "Bad")),
    "containerPort": ((8080, 9090), (0, 65536, 2222, -1, 65535, 1)),
    "devicePath": (("/dev/xda",), ODD_PATHS),
    "divisor": (("1", "1m", "1Mi"), ("0", "2", "1k", "1e3", "1000m", "", "1Zi", 1, 0)),
    "dnsPolicy": (("ClusterFirst", "Default", "ClusterFirstWithHostNet"), ("None", "", "Cluster")),
    "driver": (("csi.example.com", "driver"), ODD_NAMES),
    "effect": (("NoSchedule", "NoExecute", "PreferNoSchedule"), ("", "Never")),
    "expirationSeconds": ((3600, 600), (599, 0, 2**32, 2**32 + 1)),
    "EnvVar.name": (("A", "MY_VAR", "a.b-c"), ODD_VARIABLES),
    "fieldPath": (FIELDS, ODD_FIELDS),
    "fsGroupChangePolicy": (("OnRootMismatch", "Always"), ("", "Never")),
    "HTTPHeader.name": (("X-A", "Host"), ("", "X A", "X:A", "é", "X_A")),
    "host": (("localhost", "10.0.0.1"), ("", "http://a", "a b", "A")),
    "hostIP": (("10.0.0.1",), ("", "10.0.0.256", "::1", "localhost", "010.0.0.1")),
    "hostPort": ((8080, 9090), (0, 65536, -1)),
    "hostnames": (("a", "a.example.com"), ODD_NAMES),
    "image": (("busybox:1.36", "registry.example.com/a/b:1"), ("", " busybox", "busybox ", "Busy Box", "a" * 300)),
    "imagePullPolicy": (("Always", "IfNotPresent", "Never"), ("", "always")),
    "initContainers.name": (("init", "logs"), ("tensorflow", *ODD_NAMES)),
    "initContainers.restartPolicy": (("Always",), ("Never", "OnFailure", "")),
    "containers.restartPolicy": (("Never",), ("Always", "OnFailure", "")),
    "containers.name": (("tensorflow",), ("other", "", "Tensorflow")),
    "ip": (("10.0.0.1", "fd00::1"), ("", "10.0.0", "010.0.0.1", "::ffff:10.0.0.1", "a", "fd00::1%eth0", "10.0.0.1/8")),
    "key": (KEYS, ODD_KEYS),
    "KeyToPath.key": (("a", "a.txt"), ("", "..", "a/b", "é", "x" * 254)),
    "ConfigMapKeySelector.key": (("a", "a.txt"), ("", "..", ".", "..a", "a/b", "é", "x" * 253, "x" * 254)),
    "SecretKeySelector.key": (("a", "a.txt"), ("", "..", ".", "..a", "a/b", "é", "x" * 253, "x" * 254)),
    "localhostProfile": (("profile.json",), ODD_PATHS),
    "matchLabelKeys": (("app", "team"), ODD_KEYS),
    "mismatchLabelKeys": (("app", "team"), ODD_KEYS),
    "maxSkew": ((1, 2), (0, -1)),
    "medium": (("Memory", ""), ("HugePages", "HugePages-2Mi", "HugePages-", "HugePages-3", "disk", "memory")),
    "mode": (("0644", "0400"), ("0777", "0o1000", "01000", 420, "-1", "")),
    "mountPath": (PATHS, ODD_PATHS),
    "mountPropagation": (("None", "HostToContainer"), ("Bidirectional", "", "none")),
    "nameservers": (("10.0.0.1",), ("", "a", "::1", "010.0.0.1")),
    "namespaces": (("ml", "default"), ODD_NAMES),
    "nodeAffinityPolicy": (("Honor", "Ignore"), ("", "Never")),
    "nodeTaintsPolicy": (("Honor", "Ignore"), ("", "Never")),
    "operator": (("In", "Exists", "NotIn", "DoesNotExist"), ("Gt", "Lt", "", "Equal", "in")),
    "Toleration.operator": (("Exists", "Equal"), ("", "Lt", "Gt", "In")),
    "Toleration.value": (("a", ""), ODD_VALUES),
    "PodOS.name": (("linux",), ("windows", "", "Linux")),
    "path": (("a", "a/b", "health"), ODD_PATHS),
    "NFSVolumeSource.path": (PATHS, ODD_PATHS),
    "HostPathVolumeSource.path": (PATHS, ODD_PATHS),
    "HostPathVolumeSource.type": (("", "Directory", "DirectoryOrCreate"), ("File", "directory", "Any")),
    "HTTPGetAction.path": (("/", "/healthz"), ("", "healthz", "/a b")),
    "port": (PORTS, ODD_PORTS),
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
    "searches": (("a.example.com", "svc"), (*ODD_NAMES, "a.", ".", "a_b.c", "x" * 64 + ".a")),
    "seLinuxChangePolicy": (("MountOption", "Recursive"), ("", "Any")),
    "server": (("10.0.0.1", "nfs.example.com"), ("",)),
    "subPath": (("a", "a/b"), ODD_PATHS),
    "subPathExpr": (("$(A)", "a/$(TASK_INDEX)"), ODD_PATHS),
    "successThreshold": ((1,), ODD_SIGNED),
    "supplementalGroupsPolicy": (("Merge", "Strict"), ("", "Any")),
    "Sysctl.name": (
        ("net.ipv4.ip_unprivileged_port_start", "kernel.shm_rmid_forced"),
        ("", "A.b", "kernel.msgmax", "a..b", "net/ipv4", "x" * 254),
    ),
    "terminationMessagePolicy": (("File", "FallbackToLogsOnError"), ("", "file")),
    "topologyKey": (("kubernetes.io/hostname", "zone"), ODD_KEYS),
    "type": (("RuntimeDefault", "Unconfined"), ("Localhost", "", "Any")),
    "SELinuxOptions.type": (("spc_t",), ("",)),
    "values": (("a", "1"), ODD_VALUES),
    "volumeMode": (("Filesystem",), ("Block", "", "Any")),
    "weight": ((1, 50, 100), (0, 101, -1)),
    "whenUnsatisfiable": (("DoNotSchedule", "ScheduleAnyway"), ("", "Never")),
    "stopSignal": (("SIGTERM",), ("", "TERM")),
    "restartPolicy": (("Never", "OnFailure"), ("Always", "")),
    "ContainerResizePolicy.resourceName": (("cpu", "memory"), ("gpu",)),
    "ContainerResizePolicy.restartPolicy": (("NotRequired", "RestartContainer"), ("",)),
    "reference": (("busybox:1.36",), ("", " ")),
    "workingDir": (PATHS, ODD_PATHS),
    "command": (("sh", "-c", "true"), ("",)),
    "args": (("--a", "$(A)"), ("", "é")),
    "hostname": (("a",), ODD_NAMES),
}  # fmt: skip

# Types that need exactly one key beside these.
ONE_OF: dict[str, tuple[str, ...]] = {
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
# Keys that a type needs beyond its `x-required`.
ALSO: dict[str, tuple[str, ...]] = {
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

# Keys that are rejected with any value: seldom worth a try.
REFUSED = {
    "clusterTrustBundle", "dataSource", "dataSourceRef", "ephemeralContainers", "fileKeyRef", "hostname",
    "hostnameOverride", "overhead", "podCertificate", "resizePolicy", "restartPolicyRules", "schedulerName",
    "schedulingGroup", "stopSignal", "subdomain", "windowsOptions",
}  # fmt: skip

# The formats of the spec's own keys.
FORMATS: dict[str, tuple[Pool, Pool]] = {
    "amount": (QUANTITIES, ODD_QUANTITIES),
    "annotation-key": (KEYS, ODD_KEYS),
    "config-key": (("a", "a.txt"), ("", "..", "a/b", "é", "x" * 254)),
    "cpu-amount": ((1, "500m", "2"), ODD_QUANTITIES),
    "dns-label": (NAMES, ODD_NAMES),
    "dns-subdomain": ((*NAMES, "a.b"), ODD_NAMES),
    "duration": (
        ("10m", "90s", "1h30m"),
        ("0s", "-1s", "1d", "1.5h", "", "10", "1ns", "1h1h", ".5s", "+1s", "1us", "9999999h"),
    ),
    "env-name": (("A", "MY_VAR", "a.b"), ODD_VARIABLES),
    "extended-resource": (("amd.com/gpu", "example.com/tpu"), ODD_RESOURCES),
    "image": (("tf:2.21", "registry.example.com/a:1"), ("", " tf", "TF:1", "tf:", "tf@sha256:00", "a/../b")),
    "registry": (("docker.io", "registry.example.com:5000/a"), ("", "tf", "a.b/c:1", "https://a.b", "a.b/C")),
    "job-name": (("train", "other"), ("", "Train", "a.b", "x" * 40, "x" * 50, "x" * 63)),
    "label-key": (KEYS, ODD_KEYS),
    "label-value": (VALUES, ODD_VALUES),
    "path": (PATHS, ODD_PATHS),
    "port-name": (("http", "grpc"), ODD_PORTS[3:]),
    "positive-amount": (("1Gi", "10Gi", "500Mi"), ODD_QUANTITIES),
    "queue-name": (("vision", "default"), (*ODD_NAMES, "root", "text")),
    "quota-name": (("requests.ephemeral-storage", "secrets", "count/jobs.batch"), ODD_RESOURCES),
    "resource-name": (RESOURCES, ODD_RESOURCES),
    "peer": (("namespace",), ("jobs", "")),
    "selector-key": (KEYS, ODD_KEYS),
    "sub-path": (("a", "a/$(RUN)"), ODD_PATHS),
    "task-name": (("data-feeder", "extra"), ("ps", *ODD_NAMES)),
}
SPEC_POOLS: dict[str, tuple[Pool, Pool]] = {
    "uses.name": (("data", "logs"), ("other",)),
    "volume": (("data", "logs"), ("other",)),
    "configMaps.name": (("settings",), ("other",)),
    "file.path": (("train.py", "other.py"), ("nothing.py", "", "..", "/etc/hostname", "a\0b")),
    "url": (
        ("https://example.com/train.py", "http://host:80/a.sh?raw=1"),
        ("", "ftp://a/b.py", "https://u:p@a/b", "https://a/"),
    ),
    "sha256": (("a" * 64, "0" * 63 + "f"), ("A" * 64, "sha256:" + "a" * 64, "")),
    "parent": (("research", "root"), ("default", "vision", "")),
    "queue": (("vision", "default"), ("text", "root", "")),
    "completes": (("all", "all", "worker"), ("nobody",)),
    "dependsOn": (("ps",), ("worker", "chief", "other")),
    "from": (("other",), ("train", "nothing")),
    "plugins": (
        ("--disable-network-policy=true", "--publish-not-ready-addresses=true"),
        ("--x", "", "a b", "--port=1"),
    ),
    "mig": (("1g.5gb", "3g.20gb"), ("8g.5gb", "1g.5gb+me")),
    "field": (FIELDS, ODD_FIELDS),
    "exitCode": ((1, 137), (0, 255, 256, -1)),
    "replicas": ((1, 2, 3), (0, 100, 10001)),
    "count": ((1, 2), (0, 8, 1025)),
    "product": (("NVIDIA-A100-SXM4-80GB",), ODD_VALUES),
    "timeout": (("10m", "90s"), ("0s", "-1s", "1d", "10", "1h1h", ".5s", "2562048h")),
    "command": (("python", "-m", "train"), ("", "$(A)", "$$", "é")),
    "name": (NAMES, ODD_NAMES),
}
