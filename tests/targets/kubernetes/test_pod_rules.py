"""What is wrong with a pod template is said by rule, place, message and hint: a few examples of each family."""

from __future__ import annotations

from typing import Any

import pytest

from tfgitops.targets.kubernetes.pod import judge_template

ENV_FIELDS = (
    "use one of metadata.name, metadata.namespace, metadata.uid, spec.nodeName, spec.serviceAccountName, status.hostIP,"
    " status.hostIPs, status.podIP, status.podIPs, metadata.labels['KEY'], metadata.annotations['KEY']"
)
CONTAINER = {"name": "tensorflow", "image": "tf:2.21"}


def pod(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [CONTAINER], **fields}}


def container(**fields: Any) -> dict[str, Any]:
    return pod(containers=[{**CONTAINER, **fields}])


def preparing(**fields: Any) -> dict[str, Any]:
    return pod(initContainers=[{"name": "fetch", "image": "fetch:1", **fields}])


def volume(**source: Any) -> dict[str, Any]:
    return pod(volumes=[{"name": "data", **source}])


def test_a_plain_template_is_fine() -> None:
    assert judge_template(pod()) == []


@pytest.mark.parametrize(
    ("template", "rule", "message", "hint"),
    [
        # ranges, enums, patterns
        (
            container(ports=[{"containerPort": 70000}]),
            "k8s-container-ports-container-port-range",
            "containerPort must be at most 65535",
            "write a number between 1 and 65535",
        ),
        (
            container(imagePullPolicy="always"),
            "k8s-container-image-pull-policy-enum",
            "imagePullPolicy must be one of Always, IfNotPresent, Never",
            "use one of Always, IfNotPresent, Never",
        ),
        (
            container(name="Tensor_Flow"),
            "k8s-container-name-dns-label",
            (
                "name must be a DNS label: at most 63 lower-case letters, digits and '-',"
                " beginning and ending with a letter or digit"
            ),
            "write tensor-flow",
        ),
        (
            container(env=[{"name": "1X", "value": "a"}]),
            "k8s-container-env-name-env-name",
            "name must be the name of a variable: letters, digits, '_', '-' and '.', no digit first",
            "write a name like BATCH_SIZE",
        ),
        (
            container(env=[{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "metadata.label"}}}]),
            "k8s-env-field-ref-field-path-env-field-path",
            "fieldPath must be a field that the downward API knows",
            ENV_FIELDS,
        ),
        # one of several
        (
            container(livenessProbe={"periodSeconds": 5}),
            "k8s-handler-no-source",
            "livenessProbe needs one of exec, httpGet, tcpSocket, grpc",
            "add one of them",
        ),
        (
            container(env=[{"name": "X", "valueFrom": {}}]),
            "k8s-env-no-source",
            "valueFrom needs one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef",
            "add one of them",
        ),
        (
            volume(emptyDir={}, hostPath={"path": "/x"}),
            "k8s-volumes-two-sources",
            "volumes must have only one kind of content",
            "keep one kind",
        ),
        # one field asks for another
        (
            pod(tolerations=[{"operator": "Equal", "value": "x"}]),
            "k8s-tolerations-operator-empty-key",
            "a toleration without a key needs the operator Exists",
            "give the taint's key, or the operator Exists to tolerate all taints",
        ),
        (
            pod(securityContext={"seccompProfile": {"type": "Localhost"}}),
            "k8s-security-seccomp-profile-localhost-profile-required",
            "a profile of type Localhost needs localhostProfile",
            "add it",
        ),
        (
            pod(dnsPolicy="None"),
            "k8s-dns-config-required",
            "dnsPolicy None needs dnsConfig",
            "give it, with a nameserver",
        ),
        # kinds of container
        (
            container(restartPolicy="Always"),
            "k8s-container-restart-policy-not-init",
            "restartPolicy is for init containers only",
            "set the pod's restartPolicy",
        ),
        (
            preparing(readinessProbe={"exec": {"command": ["true"]}}),
            "k8s-probe-plain-init",
            "readinessProbe is not for an init container that only prepares",
            "leave it out, or make the container a sidecar by restartPolicy: Always",
        ),
        (
            preparing(name="tensorflow"),
            "k8s-container-name-duplicate",
            "two containers are called tensorflow",
            "rename one of them",
        ),
        # volumes
        (
            container(volumeMounts=[{"name": "data", "mountPath": "/data"}]),
            "k8s-container-volume-mounts-name-unknown-reference",
            "the pod has no volume data",
            "its volumes: none",
        ),
        (
            volume(cephfs={"monitors": ["m"]}),
            "pod-volume-retired",
            "tfgitops does not carry this type of volume: Kubernetes has retired it, or a driver (csi) took its place",
            "use a claim (persistentVolumeClaim) or csi",
        ),
        (
            volume(configMap={"name": "c", "defaultMode": 1000}),
            "k8s-volumes-config-map-default-mode-range",
            "a file mode must lie between 0 and 0777",
            "write an octal number like 0644",
        ),
        # resources
        (
            container(resources={"requests": {"nvidia.com/gpu": "1"}}),
            "k8s-container-resources-limit-missing",
            "nvidia.com/gpu cannot be shared out twice, so it needs a limit",
            "give limits nvidia.com/gpu: 1",
        ),
        (
            container(resources={"limits": {"gpu": "1"}}),
            "k8s-container-resources-resource-unknown",
            "'gpu' is no resource of a container",
            "use cpu, memory, ephemeral-storage, hugepages-SIZE or a device like nvidia.com/gpu",
        ),
        (
            container(resources={"requests": {"cpu": "4"}, "limits": {"cpu": "2"}}),
            "k8s-container-resources-request-over-limit",
            "the request for cpu (4) is above its limit (2)",
            "lower it, or raise the limit",
        ),
        (
            container(resources={"limits": {"memory": "16GB"}}),
            "decode-quantity-form",
            "'16GB' is not a quantity",
            "write 16G (10^9 bytes) or 16Gi (2^30)",
        ),
        # not carried
        (
            pod(os={"name": "windows"}),
            "pod-windows",
            "tfgitops does not carry what only Windows has, and no training job needs it",
            "write linux, or leave os out",
        ),
    ],
)
def test_a_broken_rule_explains_itself(template: dict[str, Any], rule: str, message: str, hint: str) -> None:
    faults = judge_template(template)
    assert [(fault.rule, fault.message, fault.hint) for fault in faults] == [(rule, message, hint)]


def test_rules_hold_in_every_container() -> None:
    template = pod(
        initContainers=[{"name": "a", "image": ""}, {"name": "b", "image": "x", "imagePullPolicy": "no"}],
        containers=[CONTAINER, {"name": "c", "image": "x", "imagePullPolicy": "no"}, {"name": "d"}],
    )
    assert {fault.at[1:] for fault in judge_template(template)} == {
        ("initContainers", 0, "image"),
        ("initContainers", 1, "imagePullPolicy"),
        ("containers", 1, "imagePullPolicy"),
        ("containers", 2, "image"),
    }


def test_a_wrong_type_hides_what_relates_fields_to_each_other() -> None:
    template = container(workingDir=1, restartPolicy="Always")
    assert [fault.rule for fault in judge_template(template)] == ["decode-wrong-type"]


def test_unknown_fields_are_dropped_by_the_server_and_so_no_fault_here() -> None:
    assert judge_template(container(imagePolicy="Always")) == []


@pytest.mark.parametrize("value", [None, True, 1, "x", [], {}, {"spec": None}, {"spec": {"containers": [None]}}])
def test_any_json_value_is_judged(value: object) -> None:
    assert judge_template(value)


class Text(str):
    """Text of a reader's own kind, as YAML readers make it to keep quotes."""

    __slots__ = ()


def test_text_of_any_kind_is_judged() -> None:
    (fault,) = judge_template(container(imagePullPolicy=Text("never")))
    assert fault.rule == "k8s-container-image-pull-policy-enum"


def test_values_too_long_to_be_remembered_are_judged_all_the_same() -> None:
    (fault,) = judge_template(pod(nodeSelector={"pool": "x" * 5000}))
    assert fault.rule == "k8s-node-selector-label-value"


_SELECTOR = {"labelSelector": {"matchLabels": {"app": "a"}}}


@pytest.mark.parametrize(
    "template",
    [
        pod(
            hostNetwork=True,
            initContainers=[{"name": "fetch", "image": "a", "ports": [{"containerPort": 80, "hostPort": 81}]}],
        ),
        pod(hostIPC=True, securityContext={"sysctls": [{"name": "kernel.shm_other", "value": "1"}]}),
        pod(
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "matchLabelKeys": ["b", "b"],
                    **_SELECTOR,
                }
            ]
        ),
        container(
            env=[
                {
                    "name": "A",
                    "valueFrom": {
                        "resourceFieldRef": {
                            "containerName": "tensorflow",
                            "resource": "limits.hugepages-",
                            "divisor": 1,
                        }
                    },
                }
            ]
        ),
        container(resources={"limits": {"cpu": (1 << 63) - 1}}),
    ],
    ids=["port of an init container", "sysctl of the node", "key twice in one list", "huge pages", "largest integer"],
)
def test_what_kubernetes_takes_is_taken(template: dict[str, Any]) -> None:
    assert judge_template(template) == []


@pytest.mark.parametrize("amount", [1 << 63, -(1 << 63) - 1, 1e19])
def test_an_amount_that_is_no_int64_must_be_text(amount: float) -> None:
    (fault,) = judge_template(container(resources={"limits": {"cpu": amount}}))
    assert fault.rule == "decode-int-range"


@pytest.mark.parametrize(
    "template",
    [
        {"metadata": {"annotations": {"a": "x" * (1 << 17), "b": "x" * (1 << 17)}}},
        pod(
            volumes=[
                {
                    "name": "a",
                    "ephemeral": {
                        "volumeClaimTemplate": {"spec": {}, "metadata": {"annotations": {"a": "x" * (1 << 18)}}}
                    },
                }
            ]
        ),
    ],
    ids=["of pods", "of a claim"],
)
def test_annotations_have_a_total(template: dict[str, Any]) -> None:
    assert "k8s-annotations-too-long" in {fault.rule for fault in judge_template({**pod(), **template})}


@pytest.mark.parametrize("annotation", ["kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost"])
def test_annotations_that_mean_something_are_not_empty(annotation: str) -> None:
    (fault,) = judge_template({**pod(), "metadata": {"annotations": {annotation: ""}}})
    assert fault.rule in ("k8s-annotations-mirror", "k8s-annotations-invalid")


@pytest.mark.parametrize(
    ("modes", "rules"),
    [
        (["ReadWriteOncePod", "ReadWriteOncePod"], []),
        (["ReadWriteOncePod", "ReadWriteOnce"], ["k8s-claim-template-spec-access-modes-forbidden"]),
    ],
)
def test_a_claim_of_one_pod_has_no_other_mode_beside_it(modes: list[str], rules: list[str]) -> None:
    spec = {"accessModes": modes, "resources": {"requests": {"storage": "1Gi"}}}
    template = pod(volumes=[{"name": "a", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}])
    assert [fault.rule for fault in judge_template(template)] == rules
