"""TensorFlow's own names: roles of a cluster, the port of its servers, the container that trains."""

CLUSTER_ROLES = ("chief", "ps", "worker")
"""The roles in TensorFlow's ``cluster``; the evaluator is outside of it (docs/volcano.md 9)."""

ROLE_NAMES = (*CLUSTER_ROLES, "evaluator")

SERVER_PORT = "tensorflow"
"""The name of the port on which a pod of TensorFlow's cluster is reached by the others; nothing else has it."""

TRAINING_CONTAINER = "tensorflow"
