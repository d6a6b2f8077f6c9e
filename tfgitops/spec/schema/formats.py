"""The forms that texts of a spec must have, by the name that a schema's ``format`` gives them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.spec.schema.complaint import Complaint
from tfgitops.spec.schema.exceptionforms import allowed_code, day, reason
from tfgitops.spec.schema.imageforms import image, registry
from tfgitops.targets.kubernetes import names, quantity
from tfgitops.targets.kubernetes.duration import is_duration
from tfgitops.targets.kubernetes.requirements import is_extended
from tfgitops.targets.kubernetes.valueformats import is_config_key, is_port_name

if TYPE_CHECKING:
    from collections.abc import Callable

RESERVED_ENV = re.compile(r"TF_CONFIG|TASK_INDEX|TASK_TYPE|RUN|(?:PS|WORKER|CHIEF|EVALUATOR)_HOSTS|V[CK]_.*", re.ASCII)
"""Variables that the compiler or Volcano writes (docs/volcano.md 4)."""

JOB_NAME_MAX = 50
"""59 characters of an object's name (docs/volcano.md 3), less ``-`` and eight digits."""

_VENDORS = ("amd/", "intel/", "nvidia/")  # their domains are easily forgotten; others have none, as in rdma/hca
_DIGEST = re.compile(r"[0-9a-f]{8}\Z").match
_MODE_MAX = 0o777
_FILE_MODE = re.compile(r"0o?[0-7]{1,3}\Z")


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


def _name_complaint(kind: str, value: str, expected: str, most: int = names.LABEL_MAX) -> Complaint:
    if len(value) > most:
        return Complaint(f"{kind} has {len(value)} characters, {most} at most are allowed", expected)
    suggestion = names.suggest_label(value)
    hint = f"write '{suggestion}'" if suggestion and suggestion != value else ""
    return Complaint(f"'{value}' cannot be {kind}", expected, hint)


def _job_name_too_long(value: str) -> Complaint:
    message = f"the name of a job has {len(value)} characters, {JOB_NAME_MAX} at most are allowed"
    expected = "with a digest of nine characters and '-svc' behind it, it must fit the 63 of a label"
    return Complaint(message, expected, f"shorten it by {len(value) - JOB_NAME_MAX}", "TF503")


def _job_name(value: str) -> Complaint | None:
    if len(value) > JOB_NAME_MAX and names.is_dns_label(value[:JOB_NAME_MAX].rstrip("-")):
        return _job_name_too_long(value)
    if complaint := _label("the name of a job", value):
        return complaint
    if not names.is_dns1035(value):
        message = f"the job name '{value}' does not start with a letter"
        return Complaint(message, "a letter first: the job's Service has this name", f"write 'job-{value}'")
    return None


def _pin(value: str) -> Complaint | None:
    stem, _, digits = value.rpartition("-")
    if names.is_dns1035(stem) and _DIGEST(digits):
        return None
    expected = "the name of a committed Job: the job's own, '-', and eight hexadecimal digits"
    return Complaint(f"'{value}' cannot be the name of a Job of ours", expected, "`tfgitops pin ENV JOB` writes it")


def _subdomain(value: str) -> Complaint | None:
    if names.is_dns_subdomain(value):
        return None
    expected = f"at most {names.SUBDOMAIN_MAX} lower-case letters, digits, '-' and '.'"
    return _name_complaint("a name in Kubernetes", value, expected, names.SUBDOMAIN_MAX)


def _quantity(value: str | int) -> Complaint | None:
    hint = quantity.explain(value)
    if hint is None:
        return None
    if re.fullmatch(r"[0-9.]+mi", str(value)):
        hint = f"write {str(value)[:-1]} (thousandths) or {str(value)[:-2]}Mi (2^20)"
    return Complaint(f"'{value}' is not a quantity", "a Kubernetes quantity, such as 4, 500m or 16Gi", hint)


def _amount(value: str | int) -> Complaint | None:
    if complaint := _quantity(value):
        return complaint
    return Complaint(f"{value} is negative", "a quantity of 0 or more") if quantity.parse(value) < 0 else None


def _cpu_amount(value: str | int) -> Complaint | None:
    if complaint := _amount(value):
        return complaint
    if str(value).endswith("i"):
        number = str(value).rstrip("KMGTPEi")
        return Complaint(f"{value} is an amount of memory, not of CPU", "cores, such as 4 or 500m", f"write {number}")
    return None


def _positive(value: str | int) -> Complaint | None:
    if complaint := _quantity(value):
        return complaint
    return Complaint(f"{value} is not positive", "a quantity above 0") if quantity.parse(value) <= 0 else None


def reserved_variable(name: str) -> Complaint:
    """Say that a variable is not for the spec to set, and who sets it."""
    writer = "Volcano" if name.startswith(("VC_", "VK_")) else "the compiler"
    return Complaint(f"the variable {name} is reserved", hint=f"{writer} writes it; leave it out", code="TF205")


def _env_name(value: str) -> Complaint | None:
    if RESERVED_ENV.fullmatch(value):
        return reserved_variable(value)
    if names.is_env_name(value):
        return None
    return Complaint(f"'{value}' cannot be the name of a variable", "letters, digits, '_', '-' and '.', no digit first")


def _label_key(value: str) -> Complaint | None:
    if value.startswith("volcano.sh/"):
        return Complaint(f"the label '{value}' is reserved: Volcano writes it", hint="leave it out", code="TF205")
    return _annotation_key(value)


def _annotation_key(value: str) -> Complaint | None:
    if value.startswith("tfgitops/"):
        message = f"'{value}' is reserved: the compiler writes it"
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
    if is_port_name(value):
        return None
    return Complaint(
        f"'{value}' cannot be the name of a port",
        "at most 15 lower-case letters, digits and '-', with a letter",
    )


def _config_key(value: str) -> Complaint | None:
    if is_config_key(value):
        return None
    return Complaint(f"'{value}' cannot be a key of a Secret or ConfigMap", "letters, digits, '-', '_' and '.'")


def _path(value: str) -> Complaint | None:
    if value.startswith("/") and ":" not in value and ".." not in value.split("/"):
        return None
    hint = "" if ":" in value or ".." in value else f"write '/{value.lstrip('/.')}'"
    return Complaint(f"'{value}' is not an absolute path", "a path that starts with '/', without ':' and '..'", hint)


def _sub_path(value: str) -> Complaint | None:
    if value and not value.startswith("/") and ".." not in value.split("/"):
        return None
    return Complaint(f"'{value}' is not a path inside the volume", "a relative path, without '..'")


def _duration(value: str) -> Complaint | None:
    if is_duration(value) and value[0] not in "+-" and re.search("[1-9]", value):
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


def _extended_resource(value: str) -> Complaint | None:
    if is_extended(value) and not value.startswith(_VENDORS):
        return _resource_name(value)
    other = _resource_name(value)
    hint = other.hint if other else ""
    if value.startswith(_VENDORS):
        hint = f"write '{value.replace('/', '.com/', 1)}'"
    return Complaint(f"'{value}' is not the resource of a device", "domain/name, such as amd.com/gpu", hint)


def _file_mode(value: str | int) -> Complaint | None:
    if type(value) is int and value:
        octal = f"0{value} if it is octal" if re.fullmatch("[0-7]{1,3}", str(value)) else ""
        decimal = f"0{value:o} if it is decimal" if value <= _MODE_MAX else ""
        hint = " or ".join(filter(None, (octal, decimal)))
        message = f"the file mode {value} may be octal or decimal"
        return Complaint(message, "a leading 0", f"write {hint}" if hint else "")
    if type(value) is str and not _FILE_MODE.match(value):
        return Complaint(f"'{value}' is not a file mode", "0 and three octal digits, at most 0777", "as in 0644")
    return None


FORMATS: dict[str, Callable[[Any], Complaint | None]] = {
    "allowed-code": allowed_code,
    "amount": _amount,
    "annotation-key": _annotation_key,
    "config-key": _config_key,
    "cpu-amount": _cpu_amount,
    "day": day,
    "dns-label": lambda value: _label("a name in Kubernetes", value),
    "dns-subdomain": _subdomain,
    "duration": _duration,
    "env-name": _env_name,
    "extended-resource": _extended_resource,
    "file-mode": _file_mode,
    "image": image,
    "job-name": _job_name,
    "pin": _pin,
    "label-key": _label_key,
    "label-value": _label_value,
    "path": _path,
    "port-name": _port_name,
    "positive-amount": _positive,
    "queue-name": _queue_name,
    "reason": reason,
    "registry": registry,
    "resource-name": _resource_name,
    "sub-path": _sub_path,
    "task-name": lambda value: _label("the name of a task", value),
}
