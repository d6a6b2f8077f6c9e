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
_NAMES = {
    "name": ("meta-name-required", names.SUBDOMAIN_MAX, names.is_dns_subdomain, "dns-subdomain"),
    "namespace": ("namespace-missing", names.LABEL_MAX, names.is_dns_label, "dns-label"),
}


def judge_metadata(metadata: Mapping[str, Any], *, namespaced: bool) -> Iterator[Fault]:
    """Judge name, namespace, labels, annotations, finalizers and owners."""
    for field in ("name", "namespace") if namespaced else ("name",):
        yield from _judge_name(field, metadata.get(field, ""))
    yield from _judge_labels(metadata.get("labels", {}))
    yield from _judge_annotations(metadata.get("annotations", {}))
    for finalizer in metadata.get("finalizers", ()):
        if not names.is_qualified_name(finalizer):
            at = ("metadata", "finalizers")
            yield RULES.fault("meta-finalizers-qualified-name", at, found=show(finalizer))
    if metadata.get("ownerReferences"):
        yield RULES.fault("meta-owner-references", ("metadata", "ownerReferences"))


def _judge_name(field: str, name: str) -> Iterator[Fault]:
    missing, most, is_legal, form = _NAMES[field]
    if not name:
        yield RULES.fault(missing, ("metadata", field))
    elif len(name) > most:
        yield RULES.fault(f"meta-{field}-too-long", ("metadata", field), found=len(name))
    elif not is_legal(name):
        yield RULES.fault(f"meta-{field}-{form}", ("metadata", field), found=show(name))


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
