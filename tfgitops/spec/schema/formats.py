"""The forms that texts of a spec must have, by the name that a schema's ``format`` gives them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import WARNED, Problem, compiler_codes, quoted
from tfgitops.targets.kubernetes import names, quantity
from tfgitops.targets.kubernetes.duration import is_duration
from tfgitops.targets.kubernetes.quotanames import name_fault
from tfgitops.targets.kubernetes.resources import GPUS, is_extended
from tfgitops.targets.kubernetes.schemawords import TEXT_FORMATS
from tfgitops.targets.volcano.jobmetadata import OWN, nearly_own

if TYPE_CHECKING:
    from collections.abc import Callable

RESERVED_ENV = re.compile(r"TF_CONFIG|TASK_INDEX|TASK_TYPE|RUN|(?:PS|WORKER|CHIEF|EVALUATOR)_HOSTS|V[CK]_.*", re.ASCII)
"""Variables that the compiler or Volcano writes (docs/volcano.md 4)."""

JOB_NAME_MAX = 50
"""59 characters of an object's name (docs/volcano.md 3), less ``-`` and eight digits."""

_DOMAINS = (gpu.resource.partition("/")[0] for gpu in GPUS)
_VENDORS = {domain.split(".")[-2]: domain for domain in _DOMAINS if domain.endswith(".com")}
"""The domain of a vendor by its name, for those who forgot `.com`; others have no domain, as in rdma/hca."""

_DIGEST = re.compile(r"[0-9a-f]{8}\Z").match
_MODE_MAX = 0o777
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII).match
_FILE_MODE = re.compile(r"0o?[0-7]{1,3}\Z")
_IMAGE = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?\Z"
)
_IMAGE_MAX = 1024
_GIT_URL = re.compile(
    r"(?P<scheme>https?|ssh)://(?:(?P<user>[^@/\s]*)@)?[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?(?:/[\w.~%+-]+)+/?\Z",
    re.ASCII,
).match
_SCP_URL = re.compile(r"([\w.-]+@[\w.-]+):([\w./~-]+)\Z", re.ASCII).match
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@#=-]*\Z", re.ASCII).match
_SERVER = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?(?:/[\w./-]*)?\Z", re.ASCII).match
_PLACEHOLDER = re.compile(r"\{\{|\$[({A-Za-z_]|<[^>]+>|%[({]")


@lru_cache(1 << 14, typed=True)
def complain(form: str, value: Any) -> Problem | None:
    """Return what is wrong with a value of a named form, without its place, or None: other forms are annotations."""
    check = FORMATS.get(form)
    return check(value) if check else None


def _wrong(message: str, expected: str = "", hint: str = "", code: str = "TF203") -> Problem:
    return Problem(code=code, message=message, at=(), expected=expected, hint=hint)


def _unless(fits: Callable[[Any], object], what: str, expected: str, hint: str = "") -> Callable[[Any], Problem | None]:
    """Make the check of a form of which one test tells everything; ``what`` is the rest of the sentence about it."""
    return lambda value: None if fits(value) else _wrong(f"'{value}' {what}", expected, hint)


def _text(form: str, noun: str = "") -> Callable[[Any], Problem | None]:
    """Make the check of a form that manifests have, too; ``noun`` is the spec's own, where it can be more exact."""
    known = TEXT_FORMATS[form]
    return _unless(lambda value: known.fits(str(value)), f"cannot be {noun or known.noun}", known.written)


_variable, _port = _text("env-name"), _text("port-name")
_qualified = _text("qualified-name", "a key of labels or annotations")


def _label(kind: str) -> Callable[[str], Problem | None]:
    expected = TEXT_FORMATS["dns-label"].written
    return lambda value: None if names.is_dns_label(value) else _name_complaint(kind, value, expected)


def _name_complaint(kind: str, value: str, expected: str, most: int = names.LABEL_MAX) -> Problem:
    if len(value) > most:
        return _wrong(f"{kind} has {len(value)} characters, {most} at most are allowed", expected)
    suggestion = names.suggest_label(value)
    return _wrong(
        f"'{value}' cannot be {kind}", expected, f"write '{suggestion}'" if suggestion not in ("", value) else ""
    )


def _job_name(value: str) -> Problem | None:
    if len(value) > JOB_NAME_MAX and names.is_dns_label(value[:JOB_NAME_MAX].rstrip("-")):
        message = f"the name of a job has {len(value)} characters, {JOB_NAME_MAX} at most are allowed"
        expected = "with a digest of nine characters and '-svc' behind it, it must fit the 63 of a label"
        return _wrong(message, expected, f"shorten it by {len(value) - JOB_NAME_MAX}", "TF503")
    if (complaint := _label("the name of a job")(value)) or names.is_dns1035(value):
        return complaint
    message = f"the job name '{value}' does not start with a letter"
    return _wrong(message, "a letter first: the job's Service has this name", f"write 'job-{value}'")


def _subdomain(value: str) -> Problem | None:
    if names.is_dns_subdomain(value):
        return None
    return _name_complaint("a name in Kubernetes", value, TEXT_FORMATS["dns-subdomain"].written, names.SUBDOMAIN_MAX)


def _quantity(value: str | int) -> Problem | None:
    hint = quantity.explain(value)
    if hint is not None and re.fullmatch(r"[0-9.]+mi", text := str(value)):
        hint = f"write {text[:-1]} (thousandths) or {text[:-2]}Mi (2^20)"
    expected = "a Kubernetes quantity, such as 4, 500m or 16Gi"
    return None if hint is None else _wrong(f"'{value}' is not a quantity", expected, hint)


def _number(fits: Callable[[Any], bool], what: str, expected: str) -> Callable[[str | int], Problem | None]:

    def check(value: str | int) -> Problem | None:
        return _quantity(value) or (None if fits(quantity.parse(value)) else _wrong(f"{value} is {what}", expected))

    return check


_amount = _number(lambda number: number >= 0, "negative", "a quantity of 0 or more")


def _cpu_amount(value: str | int) -> Problem | None:
    if (complaint := _amount(value)) or not str(value).endswith("i"):
        return complaint
    number = str(value).rstrip("KMGTPEi")
    return _wrong(f"{value} is an amount of memory, not of CPU", "cores, such as 4 or 500m", f"write {number}")


def reserved_variable(name: str) -> Problem:
    """Say that a variable is not for the spec to set, and who sets it."""
    writer = "Volcano" if name.startswith(("VC_", "VK_")) else "the compiler"
    return _wrong(f"the variable {name} is reserved", hint=f"{writer} writes it; leave it out", code="TF205")


def _env_name(value: str) -> Problem | None:
    return reserved_variable(value) if RESERVED_ENV.fullmatch(value) else _variable(value)


def _label_key(value: str) -> Problem | None:
    if value.startswith("volcano.sh/") and "labels" not in OWN.get(value, {"in": ()})["in"]:
        hint = f"did you mean '{near}'?" if (near := nearly_own(value)) else "leave it out"
        return _wrong(f"the label '{value}' is reserved: Volcano writes it", hint=hint, code="TF205")
    return _annotation_key(value)


def _annotation_key(value: str) -> Problem | None:
    if value.startswith("tfgitops/"):
        message = f"'{value}' is reserved: the compiler writes it"
        return _wrong(message, hint="choose a prefix of your own", code="TF205")
    return _qualified(value)


def _port_name(value: str) -> Problem | None:
    if value == "tensorflow":
        return _wrong("the port name 'tensorflow' is reserved for the servers", code="TF205")
    return _port(value)


def _path(value: str) -> Problem | None:
    if value.startswith("/") and ":" not in value and ".." not in value.split("/"):
        return None
    hint = "" if ":" in value or ".." in value else f"write '/{value.lstrip('/.')}'"
    return _wrong(f"'{value}' is not an absolute path", "a path that starts with '/', without ':' and '..'", hint)


def _queue_name(value: str) -> Problem | None:
    if len(value) <= names.LABEL_MAX:
        return _subdomain(value)
    return _wrong(f"a queue's name has {len(value)} characters, and as a label of pods it may have {names.LABEL_MAX}")


def _resource_name(value: str) -> Problem | None:
    if value in ("cpu", "memory", "ephemeral-storage", "pods") or re.match("hugepages-[^/]*$", value):
        return None
    if "/" in value:
        message, expected = f"'{value}' is not the name of a resource", "domain/name, such as nvidia.com/gpu"
        return None if names.is_qualified_name(value) else _wrong(message, expected)
    known = {"mem": "memory", "gpu": "nvidia.com/gpu", "gpus": "nvidia.com/gpu", "storage": "ephemeral-storage"}
    hint = f"did you mean '{known[value]}'?" if value in known else "all others have a domain, such as nvidia.com/gpu"
    expected = "cpu, memory, ephemeral-storage, pods, hugepages-*"
    return _wrong(f"'{value}' is no resource that Kubernetes knows", expected, hint)


def _quota_name(value: str) -> Problem | None:
    fault = name_fault(value)
    return _wrong(fault.message, hint=fault.hint) if fault else None


def _extended_resource(value: str) -> Problem | None:
    vendor, slash, name = value.partition("/")
    short = _VENDORS.get(vendor, "") if slash else ""
    other = None if short else _resource_name(value)
    if is_extended(value) and not short:
        return other
    hint = f"write '{short}/{name}'" if short else other.hint if other else ""
    return _wrong(f"'{value}' is not the resource of a device", "domain/name, such as amd.com/gpu", hint)


def _file_mode(value: str | int) -> Problem | None:
    if type(value) is int and value:
        octal = f"0{value} if it is octal" if re.fullmatch("[0-7]{1,3}", str(value)) else ""
        decimal = f"0{value:o} if it is decimal" if value <= _MODE_MAX else ""
        hint = f"write {' or '.join(filter(None, (octal, decimal)))}" if octal or decimal else ""
        return _wrong(f"the file mode {value} may be octal or decimal", "a leading 0", hint)
    if type(value) is not str or _FILE_MODE.match(value):
        return None
    return _wrong(f"'{value}' is not a file mode", "0 and three octal digits, at most 0777", "as in 0644")


def _image(value: str) -> Problem | None:
    if _IMAGE.match(value) and len(value) <= _IMAGE_MAX:
        return None
    bare = value.partition("://")[2]
    hint = "as in registry.example.com/team/image:tag"
    if len(value) > _IMAGE_MAX:
        hint = f"it has {len(value)} characters; {_IMAGE_MAX} at most are allowed"
    elif _PLACEHOLDER.search(value):
        hint = "a template is not expanded here: write the value itself, or expand the template before"
    elif bare and _IMAGE.match(bare):
        hint = f"leave out the scheme: {bare}"
    elif _IMAGE.match(value.lower()):
        hint = f"a repository is in lower case: {value.lower()}"
    return _wrong(f"{quoted(value)} is not an image reference", "[registry/]repository[:tag][@digest]", hint)


def _registry(value: str) -> Problem | None:
    host, _, path = value.partition("/")
    whole = f"{value}/{'' if path else 'x/'}x"
    if _IMAGE.match(whole) and "@" not in value and (host == "localhost" or "." in host or ":" in host):
        return None
    hint = "as in registry.example.com/team; Docker Hub's own is docker.io/library"
    if "://" in value:
        hint = f"leave out the scheme: {value.partition('://')[2].rstrip('/')}"
    elif value.endswith(("/", "/*")):
        hint = f"write {value.rstrip('/*')}: what is below it is meant, too"
    elif _IMAGE.match(f"docker.io/{value}/x"):
        hint = f"write docker.io/{value}, if it is of Docker Hub"
    return _wrong(f"{quoted(value)} is not a registry, or a part of one", "host[:port][/path], without tag", hint)


def _allowed_code(value: str) -> Problem | None:
    """Refuse to allow a code that is always an error of ours, and so no judgement."""
    if value not in compiler_codes() or value in WARNED:
        return None
    hint = "mend what it is about: only warnings, and errors of rules that people made, can be allowed"
    return _wrong(f"{value} cannot be allowed: {compiler_codes()[value]}", hint=hint, code="TF802")


def _is_day(value: str) -> bool:
    from datetime import date  # noqa: PLC0415 - for the few specs that have a day

    try:
        return bool(_DAY(value) and date.fromisoformat(value))
    except ValueError:
        return False


def _is_pin(value: str) -> bool:
    stem, _, digits = value.rpartition("-")
    return names.is_dns1035(stem) and _DIGEST(digits) is not None


def _git_url(value: str) -> Problem | None:
    """Refuse what Argo CD or Flux cannot fetch, and secrets; the message does not repeat them."""
    expected, short = "https://HOST/PATH or ssh://git@HOST/PATH", _SCP_URL(value)
    if short and "://" not in value:
        return _wrong(f"'{value}' has no scheme, which Flux needs", expected, f"write ssh://{short[1]}/{short[2]}")
    found = _GIT_URL(value)
    if not found:
        return _wrong(f"'{value.rpartition('@')[2]}' is not the URL of a Git repository", expected)
    if ":" in (found["user"] or "") or (found["user"] and found["scheme"] != "ssh"):
        hint = "leave it out, and give it to the controller in a Secret"
        return _wrong("the URL holds a password or a token, which everyone can read in Git", expected, hint)
    return None


FORMATS: dict[str, Callable[[Any], Problem | None]] = {
    "allowed-code": _allowed_code, "amount": _amount, "annotation-key": _annotation_key, "cpu-amount": _cpu_amount,
    "dns-label": _label("a name in Kubernetes"), "dns-subdomain": _subdomain, "env-name": _env_name,
    "extended-resource": _extended_resource, "file-mode": _file_mode, "image": _image, "job-name": _job_name,
    "label-key": _label_key, "path": _path, "port-name": _port_name, "queue-name": _queue_name, "registry": _registry,
    "resource-name": _resource_name, "task-name": _label("the name of a task"), "config-key": _text("config-key"),
    "quota-name": _quota_name, "selector-key": _qualified,
    "peer": _unless(
        lambda value: value == "namespace", "says of no pods that they may reach the port",
        "`namespace`, {namespace: NAME, pods: {LABEL: VALUE}}, or a list of these",
    ),
    "day": _unless(_is_day, "is not a day of the calendar", "YYYY-MM-DD, such as 2026-12-31"),
    "git-revision": _unless(
        lambda value: _REVISION(value) and ".." not in value and not value.endswith((".lock", "/", ".")),
        "is not a revision of Git", "a branch, refs/tags/TAG or a commit, such as main",
    ),
    "git-url": _git_url,
    "server-url": _unless(_SERVER, "is not the address of a cluster", "https://HOST[:PORT]"),
    "duration": _unless(
        lambda value: is_duration(value) and value[0] not in "+-" and re.search("[1-9]", value),
        "is not a duration", "a number and a unit: s, m or h", "as in 30s, 10m or 1h30m",
    ),
    "pin": _unless(
        _is_pin, "cannot be the name of a Job of ours",
        "the name of a committed Job: the job's own, '-', and eight hexadecimal digits",
        "`tfgitops pin ENV JOB` writes it",
    ),
    "label-value": _text("label-value"),
    "positive-amount": _number(lambda number: number > 0, "not positive", "a quantity above 0"),
    "reason": lambda value: (
        None if value.strip() else _wrong("the reason is empty", hint="say why, for those who come after you")
    ),
    "sub-path": _unless(
        lambda value: value and not value.startswith("/") and ".." not in value.split("/"),
        "is not a path inside the volume", "a relative path, without '..'",
    ),
}  # fmt: skip
