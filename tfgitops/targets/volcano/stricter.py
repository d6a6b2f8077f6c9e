"""Where we refuse what the cluster would take, and why: the whole list, by rule.

A reason is that the object drifts (the stored one would differ from the manifest), that it fails or does nothing
later, or that no training job needs it and checking it would not pay.
"""

ADMITTED: dict[str, str] = {
    # It drifts.
    "status-given": "drifts: the server drops status",
    "namespace-missing": "drifts: the client fills in the namespace that it points at",
    "crd-queue-required": "drifts: the webhook fills in the queue default",
    # It fails, or does nothing, later.
    "pod-name-of-last-replica": "hangs: the webhook checks another pod's name, and Volcano cannot make the last pod",
    "job-name-dots": "hangs: the Service of the svc plugin cannot be made",
    "job-name-digit": "hangs before Kubernetes 1.36: the Service of the svc plugin cannot be made",
    "policy-action-ignored": "does nothing: beside an exit code the webhook takes any action",
    "partition-overflow": "fails later: the webhook multiplies in 32 bits, and a number that overflows may seem to fit",
    "pod-class-decides": "hangs: no webhook checks it, and Kubernetes's admission plugin Priority refuses the pods",
    "pod-projected-path-hidden": "fails later: one of the two files hides the other",
    # Of objects beside Jobs.
    "quota-counts-nothing": "does nothing: a quota counts devices by the name that begins with `requests.`",
    "quota-whole-number": "does nothing: devices are whole, so a part of one is none",
    "service-name-digit": "fails before Kubernetes 1.36: the name of a Service begins with a letter",
    "service-node-port-range": "fails later, unless the cluster has another range of ports",
}
"""Rules of which the cluster has none."""

_PARTLY = {
    # It drifts.
    "null-in-list": "drifts: the webhook turns an empty argument of a plugin into an empty text",
    "crd-required": "drifts: admitted only if the webhook rewrites all tasks and fills it in",
    "crd-task-topology-policy-enum": "drifts: an empty policy is admitted only if the webhook rewrites all tasks",
    "crd-q-weight-range": "drifts: the webhook turns a weight of 0 into 1",
    "resource-divisor": "drifts if the webhook rewrites it: tfgitops takes only canonical forms of a divisor",
    "queue-hierarchy-prefix": "drifts: the webhook puts paths below root, but only in a new queue",
    "k8s-volumes-empty-dir-size-limit-forbidden": "drifts: the server stores -0 as 0",
    "decode-quantity-form": "drifts: the server stores the amount in another form, or a smaller amount",
    # It fails, or does nothing, later.
    "k8s-pod-meta-finalizers-qualified-name": "fails later: no pod can be made with such a finalizer",
    "job-too-large": "hangs: the webhook adds replicas up in 32 bits, so such sums are refused or slip through",
    "pod-affinity-label-key-selected": "fails later: Kubernetes adds the pod's own value to such a selector",
    "k8s-node-affinity-expr-values-label-value": "does nothing: no node can have such a label",
    "resource-beyond-counting": "hangs: no node has so many devices, and some such amounts are refused",
    "k8s-env-from-config-map-ref-name-dns-subdomain": "hangs: no ConfigMap can have such a name",
    "k8s-env-from-secret-ref-name-dns-subdomain": "hangs: no Secret can have such a name",
    "k8s-security-seccomp-profile-localhost-profile-required": "fails later: an empty path is the folder of profiles",
    "k8s-container-ports-host-port-duplicate": "hangs: Kubernetes adds the port to the pod, and then refuses the pod",
    # Not for a manifest in Git.
    "meta-owner-references": "fails later: only the cluster knows an owner's uid, so the object is garbage to it",
    "queue-root-protected": "the root queue is Volcano's own, and an update of its amounts is refused",
    # No training job needs it.
    "pod-windows": "no training job needs it",
    "pod-annotation-retired": "no training job needs it: securityContext and tolerations took its place",
    "pod-corner": "no training job needs it: new, for Windows, or for resizing, which Volcano never does",
    "k8s-service-account-dns-subdomain": "no training job needs it: the newer serviceAccountName wins",
    "pod-volume-retired": "no training job needs it: gone from Kubernetes, or a claim or CSI driver does the same",
}
"""Rules that the cluster has too, and asks less by: most of what breaks ours, it refuses."""

STRICTER: dict[str, str] = {**ADMITTED, **_PARTLY}
"""Every rule that refuses something that the cluster takes."""

NOT_CARRIED = frozenset(rule for rule, why in STRICTER.items() if why.startswith("no training job needs it"))
"""Rules about what the cluster takes, and tfgitops does not carry."""
