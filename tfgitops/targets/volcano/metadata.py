"""What the API server asks of the metadata of a Job or a Queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import names
from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.pod import ANNOTATIONS_MAX, annotations_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RULES = Rules.read("""
    meta-name-required: the object has no name | give it one
    meta-name-too-long: the name has {found} characters | use at most 253
    meta-name-dns-subdomain: {found} is not a legal name | use lower-case letters, digits, - and .
    namespace-missing:
        the object has no namespace, so it would land wherever the client happens to point | give the namespace
    meta-namespace-too-long: the namespace has {found} characters | use at most 63
    meta-namespace-dns-label: {found} is not a legal namespace | use lower-case letters, digits and -
    meta-labels-qualified-name:
        {found} is not a legal label key | a key is name or prefix/name, of letters, digits, - _ and .
    meta-labels-label-value:
        {found} is not a legal label value | a label's value has at most 63 letters, digits, - _ and .
    meta-annotations-qualified-name:
        {found} is not a legal annotation key | a key is name or prefix/name, of letters, digits, - _ and .
    meta-annotations-too-long: the annotations have {found} bytes, more than Kubernetes keeps | use at most 262144
    meta-finalizers-qualified-name:
        {found} is not a legal finalizer | a key is name or prefix/name, of letters, digits, - _ and .
    meta-owner-references:
        a manifest in Git cannot name its owner, whose uid the cluster makes | leave ownerReferences out
""")


def judge_metadata(metadata: Mapping[str, Any], *, namespaced: bool) -> Iterator[Fault]:
    """Judge name, namespace, labels, annotations, finalizers and owners."""
    yield from _judge_name(metadata.get("name", ""))
    if namespaced:
        yield from _judge_namespace(metadata.get("namespace", ""))
    yield from _judge_labels(metadata.get("labels", {}))
    yield from _judge_annotations(metadata.get("annotations", {}))
    for finalizer in metadata.get("finalizers", ()):
        if not names.is_qualified_name(finalizer):
            at = ("metadata", "finalizers")
            yield RULES.fault("meta-finalizers-qualified-name", at, found=show(finalizer))
    if metadata.get("ownerReferences"):
        yield RULES.fault("meta-owner-references", ("metadata", "ownerReferences"))


def _judge_name(name: str) -> Iterator[Fault]:
    at = ("metadata", "name")
    if not name:
        yield RULES.fault("meta-name-required", at)
    elif len(name) > names.SUBDOMAIN_MAX:
        yield RULES.fault("meta-name-too-long", at, found=len(name))
    elif not names.is_dns_subdomain(name):
        yield RULES.fault("meta-name-dns-subdomain", at, found=show(name))


def _judge_namespace(namespace: str) -> Iterator[Fault]:
    at = ("metadata", "namespace")
    if not namespace:
        yield RULES.fault("namespace-missing", at)
    elif len(namespace) > names.LABEL_MAX:
        yield RULES.fault("meta-namespace-too-long", at, found=len(namespace))
    elif not names.is_dns_label(namespace):
        yield RULES.fault("meta-namespace-dns-label", at, found=show(namespace))


def _judge_labels(labels: Mapping[str, str]) -> Iterator[Fault]:
    for key, value in labels.items():
        at = ("metadata", "labels", key)
        if not names.is_qualified_name(key):
            yield RULES.fault("meta-labels-qualified-name", at, found=show(key))
        elif not names.is_label_value(value):
            yield RULES.fault("meta-labels-label-value", at, found=show(value))


def _judge_annotations(annotations: Mapping[str, str]) -> Iterator[Fault]:
    for key in annotations:
        if not names.is_qualified_name(key.lower()):
            at = ("metadata", "annotations", key)
            yield RULES.fault("meta-annotations-qualified-name", at, found=show(key))
    size = annotations_size(annotations)
    if size > ANNOTATIONS_MAX:
        yield RULES.fault("meta-annotations-too-long", ("metadata", "annotations"), found=size)
