"""The forms that texts of a spec must have, by the name that a schema's ``format`` gives them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes import names, quantity

if TYPE_CHECKING:
    from collections.abc import Callable

RESERVED_ENV = re.compile(r"TF_CONFIG|TASK_INDEX|TASK_TYPE|RUN|(?:PS|WORKER|CHIEF|EVALUATOR)_HOSTS|V[CK]_.*", re.ASCII)
"""Variables that the compiler or Volcano writes (volcano.md 4)."""

ROLE_NAMES = ("chief", "ps", "worker", "evaluator")

_IMAGE = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?\Z"
)
_IMAGE_MAX = 1024
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+\Z")
_CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}\Z")
_PORT_NAME = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*\Z")


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a text has not the form it should have."""

    message: str
    expected: str = ""
    hint: str = ""
    code: str = "TF203"


def complain(form: str, value: Any) -> Complaint | None:
    """Return what is wrong with a value of a named form, or None; forms that are not ours are annotations."""
    check = FORMATS.get(form)
    return check(value) if check else None


def _label(kind: str, value: str) -> Complaint | None:
    if names.is_dns_label(value):
        return None
    expected = (
        f"at most {names.LABEL_MAX} lower-case letters, digits and '-', beginning and ending with a letter or digit"
    )
    return _name_complaint(kind, value, expected)


def _name_complaint(kind: str, value: str, expected: str) -> Complaint:
    if len(value) > names.LABEL_MAX:
        return Complaint(f"{kind} has {len(value)} characters, {names.LABEL_MAX} at most are allowed", expected)
    suggestion = names.suggest_label(value)
    hint = f"write '{suggestion}'" if suggestion and suggestion != value else ""
    return Complaint(f"'{value}' cannot be {kind}", expected, hint)


def _job_name(value: str) -> Complaint | None:
    if complaint := _label("the name of a job", value):
        return complaint
    if not names.is_dns1035(value):
        message = f"the job name '{value}' does not start with a letter"
        return Complaint(message, "a letter first: the job's Service has this name", f"write 'job-{value}'")
    return None


def _task_name(value: str) -> Complaint | None:
    if value in ROLE_NAMES:
        message = f"'{value}' is a role of TensorFlow's cluster, not a further task"
        return Complaint(message, hint=f"write `{value}` directly in the job")
    return _label("the name of a task", value)


def _subdomain(value: str) -> Complaint | None:
    if names.is_dns_subdomain(value):
        return None
    return _name_complaint("a name", value, "lower-case letters, digits, '-' and '.'")


def _quantity(value: str | int) -> Complaint | None:
    hint = quantity.explain(value)
    if hint is None:
        return None
    return Complaint(f"'{value}' is not a quantity", "a Kubernetes quantity, such as 4, 500m or 16Gi", hint)


def _amount(value: str | int) -> Complaint | None:
    if complaint := _quantity(value):
        return complaint
    return Complaint(f"{value} is less than nothing", "a positive quantity") if quantity.parse(value) < 0 else None


def _positive(value: str | int) -> Complaint | None:
    if complaint := _quantity(value):
        return complaint
    return Complaint(f"{value} is not more than nothing", "a positive quantity") if quantity.parse(value) <= 0 else None


def _image(value: str) -> Complaint | None:
    if _IMAGE.match(value) and len(value) <= _IMAGE_MAX:
        return None
    hint = (
        "the repository is in lower case"
        if _IMAGE.match(value.lower())
        else "as in registry.example.com/team/image:tag"
    )
    return Complaint(f"'{value}' is not an image reference", "[registry/]repository[:tag][@digest]", hint)


def _env_name(value: str) -> Complaint | None:
    if RESERVED_ENV.fullmatch(value):
        hint = "the compiler writes it; leave it out"
        return Complaint(f"the variable {value} is reserved", hint=hint, code="TF205")
    if names.is_env_name(value):
        return None
    return Complaint(f"'{value}' cannot be the name of a variable", "letters, digits, '_', '-' and '.', no digit first")


def _label_key(value: str) -> Complaint | None:
    if value.startswith(("volcano.sh/", "tfgitops/")):
        message = f"'{value}' is reserved: {'Volcano' if value[0] == 'v' else 'the compiler'} writes it"
        return Complaint(message, hint="choose a prefix of your own", code="TF205")
    if names.is_qualified_name(value):
        return None
    return Complaint(f"'{value}' cannot be a key of labels or annotations", "name, or prefix.example.com/name")


def _label_value(value: str | int) -> Complaint | None:
    if names.is_label_value(str(value)):
        return None
    expected = (
        f"at most {names.LABEL_MAX} letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
    )
    return Complaint(f"'{value}' cannot be the value of a label", expected)


def _port_name(value: str) -> Complaint | None:
    if value == "tensorflow":
        return Complaint("the port name 'tensorflow' is reserved for the servers", code="TF205")
    if _PORT_NAME.match(value):
        return None
    return Complaint(
        f"'{value}' cannot be the name of a port",
        "at most 15 lower-case letters, digits and '-', with a letter",
    )


def _config_key(value: str) -> Complaint | None:
    if _CONFIG_KEY.match(value) and value not in (".", "..") and not value.startswith(".."):
        return None
    return Complaint(f"'{value}' cannot be a key of a Secret or ConfigMap", "letters, digits, '-', '_' and '.'")


def _path(value: str) -> Complaint | None:
    if value.startswith("/") and ":" not in value and ".." not in value.split("/"):
        return None
    return Complaint(f"'{value}' is not an absolute path", "a path that starts with '/', without ':' and '..'")


def _sub_path(value: str) -> Complaint | None:
    if value and not value.startswith("/") and ".." not in value.split("/"):
        return None
    return Complaint(f"'{value}' is not a path inside the volume", "a relative path, without '..'")


def _duration(value: str) -> Complaint | None:
    if _DURATION.match(value):
        return None
    return Complaint(f"'{value}' is not a duration", "a number and a unit: s, m or h", "as in 30s, 10m or 1h30m")


def _queue_name(value: str) -> Complaint | None:
    if len(value) > names.LABEL_MAX:
        message = f"a queue's name has {len(value)} characters, and as a label of pods it may have {names.LABEL_MAX}"
        return Complaint(message)
    return _subdomain(value)


def _resource_name(value: str) -> Complaint | None:
    if "/" in value:
        if names.is_qualified_name(value):
            return None
        return Complaint(f"'{value}' is not the name of a resource", "domain/name, such as nvidia.com/gpu")
    if value in ("cpu", "memory", "ephemeral-storage", "pods") or value.startswith("hugepages-"):
        return None
    known = {
        "mem": "memory",
        "gpu": "nvidia.com/gpu",
        "gpus": "nvidia.com/gpu",
        "storage": "ephemeral-storage",
    }
    hint = f"did you mean '{known[value]}'?" if value in known else "all others have a domain, such as nvidia.com/gpu"
    return Complaint(
        f"'{value}' is no resource that Kubernetes knows",
        "cpu, memory, ephemeral-storage, pods, hugepages-*",
        hint,
    )


FORMATS: dict[str, Callable[[Any], Complaint | None]] = {
    "amount": _amount,
    "config-key": _config_key,
    "dns-label": lambda value: _label("a name", value),
    "dns-subdomain": _subdomain,
    "duration": _duration,
    "env-name": _env_name,
    "image": _image,
    "job-name": _job_name,
    "label-key": _label_key,
    "label-value": _label_value,
    "path": _path,
    "port-name": _port_name,
    "positive-amount": _positive,
    "queue-name": _queue_name,
    "resource-name": _resource_name,
    "sub-path": _sub_path,
    "task-name": _task_name,
}
