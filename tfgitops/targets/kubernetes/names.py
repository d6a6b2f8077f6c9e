"""What Kubernetes accepts as a name, and how to name a character that is none.

Patterns and lengths are those of k8s.io/apimachinery 0.36 (pkg/api/validate/content, pkg/util/validation).
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LABEL_MAX: Final = 63
"""Characters in a DNS label (RFC 1123 and 1035), a label's value, the name part of a qualified name."""
SUBDOMAIN_MAX: Final = 253
"""Characters in a DNS subdomain, hence in the prefix of a qualified name."""

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?").fullmatch
_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?").fullmatch
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*").fullmatch
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]").fullmatch
_ENV = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*").fullmatch
_RELAXED_ENV = re.compile(r"[ -<>-~]+").fullmatch
_NOT_IN_LABEL = re.compile(r"[^a-z0-9]+")

# Unicode gives control characters no names; these are the aliases of those that get into files.
_CONTROLS: Final = {
    "\0": "NULL", "\a": "BELL", "\b": "BACKSPACE", "\t": "TAB", "\n": "LINE FEED", "\v": "VERTICAL TAB",
    "\f": "FORM FEED", "\r": "CARRIAGE RETURN", "\x1b": "ESCAPE", "\x7f": "DELETE", "\x85": "NEXT LINE",
}  # fmt: skip
PORT_NAME_MAX = 15
_CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}").fullmatch
_PORT_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*").fullmatch
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,9}").fullmatch
_HEADER = re.compile(r"[-A-Za-z0-9]+").fullmatch
_SUBSCRIPT = re.compile(r"metadata\.(?P<map>labels|annotations)\['(?P<key>.+)'\]").fullmatch
_NAMES = frozenset({"metadata.name", "metadata.namespace", "metadata.uid"})
_VOLUME_FIELDS = _NAMES | {"metadata.labels", "metadata.annotations"}
_ENV_FIELDS = _NAMES | {
    "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"
}  # fmt: skip


def is_dns_label(text: str) -> bool:
    """Tell whether text is an RFC 1123 label: what tasks, containers, namespaces and volumes are called."""
    return len(text) <= LABEL_MAX and _DNS_LABEL(text) is not None


def is_dns1035(text: str) -> bool:
    """Tell whether text is an RFC 1035 label, which starts with a letter: a Service's name before 1.36."""
    return len(text) <= LABEL_MAX and _DNS_1035(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Tell whether text is a DNS subdomain, as names of most objects are; its labels may be as long as the whole."""
    return len(text) <= SUBDOMAIN_MAX and _DNS_SUBDOMAIN(text) is not None


def is_label_value(text: str) -> bool:
    """Tell whether text may be the value of a label; the empty text may."""
    return not text or (len(text) <= LABEL_MAX and _QUALIFIED(text) is not None)


def is_qualified_name(text: str) -> bool:
    """Tell whether text may be the key of a label, an annotation or a resource: `name` or `prefix/name`."""
    prefix, slash, name = text.rpartition("/")
    return (not slash or is_dns_subdomain(prefix)) and len(name) <= LABEL_MAX and _QUALIFIED(name) is not None


def is_env_name(text: str) -> bool:
    """Tell whether Volcano's webhook admits text as a variable's name; Kubernetes 1.36 would admit more."""
    return _ENV(text) is not None and text != "." and not text.startswith("..")


def is_relaxed_env_name(text: str) -> bool:
    """Tell whether Kubernetes 1.36 itself accepts text as such a name: printable ASCII other than `=`."""
    return _RELAXED_ENV(text) is not None


def suggest_label(text: str) -> str:
    """Turn text into the nearest DNS label, as `srl_V1` into `srl-v1`; empty if nothing of it is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _NOT_IN_LABEL.sub("-", plain).strip("-")[:LABEL_MAX].rstrip("-")


def describe(char: str) -> str:
    """Name one character by its code point, as `U+201C LEFT DOUBLE QUOTATION MARK`."""
    name = unicodedata.name(char, "") or _CONTROLS.get(char, "")
    return f"U+{ord(char):04X} {name}".rstrip()


@dataclass(frozen=True, kw_only=True)
class TextFormat:
    """One form of text: a test, the sentence that says what the test wants, and what to do about a text that fails."""

    accepts: Callable[[object], bool]
    sentence: str
    remedy: str = ""  # empty where the nearest DNS label would do

    def hint(self, value: object) -> str:
        """Say what to write instead."""
        better = suggest_label(str(value))
        return self.remedy or (f"write {better}" if better and self.accepts(better) else "choose another name")


def _text(test: Callable[[str], bool], sentence: str, remedy: str = "") -> TextFormat:
    """Make a form; empty text passes, since it stands for absent and minLength asks for more where more is due."""
    return TextFormat(
        accepts=lambda value: not isinstance(value, str) or not value or test(value), sentence=sentence, remedy=remedy
    )


def is_config_key(text: str) -> bool:
    """Tell whether text may be a key of a ConfigMap or Secret."""
    return _CONFIG_KEY(text) is not None and text != "." and not text.startswith("..")


def is_port_name(text: str) -> bool:
    """Tell whether text may name a container's port: an IANA service name."""
    return len(text) <= PORT_NAME_MAX and _PORT_NAME(text) is not None


def _is_relative_path(text: str) -> bool:
    return not text.startswith("/") and ".." not in text.split("/")


def is_ip(text: str) -> bool:
    """Tell whether text is an IP address, without a zone, and not one of IPv4 in the clothes of IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text and getattr(address, "ipv4_mapped", None) is None


def _is_subscript(path: str) -> bool:
    """Tell whether a field path names one label or annotation, which has a legal key."""
    match = _SUBSCRIPT(path)
    return match is not None and is_qualified_name(match[2].lower() if match[1] == "annotations" else match[2])


def _field_path(fields: frozenset[str]) -> TextFormat:
    return _text(
        lambda text: text in fields or _is_subscript(text),
        "must be a field that the downward API knows",
        f"use one of {', '.join(sorted(fields))}, metadata.labels['KEY'], metadata.annotations['KEY']",
    )


def _is_int32(text: str) -> bool:
    return _WHOLE(text) is not None and -(1 << 31) <= int(text) < 1 << 31


_KEY = ("must be a key of the form name or prefix/name", "use letters, digits, - _ and .")
_BELOW = ("must be a relative path without ..", "write a path like a/b")
FORMATS: dict[str, TextFormat] = {
    "dns-label": _text(is_dns_label, "must be a DNS label: at most 63 lower-case letters, digits and hyphens"),
    "dns-subdomain": _text(is_dns_subdomain, "must be a DNS name: lower-case letters, digits, hyphens and dots"),
    "driver-name": _text(lambda text: is_dns_subdomain(text.lower()), "must be a DNS name"),
    "search-domain": _text(
        lambda text: is_dns_subdomain(text.removesuffix(".")),
        "must be a DNS name",
        "write a domain like svc.cluster.local",
    ),
    "label-value": _text(is_label_value, "must be a label's value: at most 63 letters, digits, - _ and ."),
    "qualified-name": _text(is_qualified_name, *_KEY),
    "annotation-name": _text(lambda text: is_qualified_name(text.lower()), *_KEY),
    "env-name": _text(
        is_env_name,
        "must be a variable's name: letters, digits, _ - and ., no digit first",
        "write a name like BATCH_SIZE",
    ),
    "config-key": _text(
        is_config_key, "must be a key of a ConfigMap or Secret", "use at most 253 letters, digits, - _ and ."
    ),
    "port-name": _text(is_port_name, "must be a port's name: at most 15 lower-case letters, digits and hyphens"),
    "header-name": _text(
        lambda text: _HEADER(text) is not None, "must be an HTTP header's name", "use letters, digits and hyphens"
    ),
    "relative-path": _text(_is_relative_path, *_BELOW),
    "projected-path": _text(lambda text: _is_relative_path(text) and not text.startswith(".."), *_BELOW),
    "backsteps": _text(
        lambda text: ".." not in text.split("/"), "must be a path without ..", "write the path that is meant"
    ),
    "absolute-path": _text(lambda text: text.startswith("/"), "must be an absolute path", "begin it with /"),
    "int32": _text(_is_int32, "must be a whole number of 32 bits", "write digits only, without plus and leading zeros"),
    "ip": _text(is_ip, "must be an IP address", "write an address like 10.1.2.3"),
    "env-field-path": _field_path(_ENV_FIELDS),
    "volume-field-path": _field_path(_VOLUME_FIELDS),
}
