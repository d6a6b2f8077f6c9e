"""What Kubernetes accepts as a name, and how to name a character that is none.

Patterns and lengths are those of k8s.io/apimachinery 0.36 (pkg/api/validate/content, pkg/util/validation).
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from posixpath import normpath
from typing import Final

LABEL_MAX: Final = 63
"""Characters in a DNS label (RFC 1123 and 1035), a label's value, the name part of a qualified name."""
SUBDOMAIN_MAX: Final = 253
"""Characters in a DNS subdomain, hence in the prefix of a qualified name."""

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?").fullmatch
_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?").fullmatch
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*").fullmatch
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]").fullmatch
_ENV = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*").fullmatch
_NOT_IN_LABEL = re.compile(r"[^a-z0-9]+")

# Unicode gives control characters no names; these are the aliases of those that get into files.
_CONTROLS: Final = {
    "\0": "NULL", "\a": "BELL", "\b": "BACKSPACE", "\t": "TAB", "\n": "LINE FEED", "\v": "VERTICAL TAB",
    "\f": "FORM FEED", "\r": "CARRIAGE RETURN", "\x1b": "ESCAPE", "\x7f": "DELETE", "\x85": "NEXT LINE",
}  # fmt: skip
PORT_NAME_MAX = 15
_CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}").fullmatch
_PORT_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*").fullmatch


def plain_path(path: str) -> str:
    """Return an absolute path in its one plain form, by which to compare it: ``/data`` for ``//data/.``."""
    return normpath(f"///{path}")  # of two slashes at the start, POSIX keeps both, of three one


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


def suggest_label(text: str) -> str:
    """Turn text into the nearest DNS label, as `srl_V1` into `srl-v1`; empty if nothing of it is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _NOT_IN_LABEL.sub("-", plain).strip("-")[:LABEL_MAX].rstrip("-")


def describe(char: str) -> str:
    """Name one character by its code point, as `U+201C LEFT DOUBLE QUOTATION MARK`."""
    name = unicodedata.name(char, "") or _CONTROLS.get(char, "")
    return f"U+{ord(char):04X} {name}".rstrip()


def is_config_key(text: str) -> bool:
    """Tell whether text may be a key of a ConfigMap or Secret."""
    return _CONFIG_KEY(text) is not None and text != "." and not text.startswith("..")


def is_port_name(text: str) -> bool:
    """Tell whether text may name a container's port: an IANA service name."""
    return len(text) <= PORT_NAME_MAX and _PORT_NAME(text) is not None


def is_cidr(text: str) -> bool:
    """Tell whether text is a range of IP addresses, such as 10.0.0.0/8."""
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def is_ip(text: str) -> bool:
    """Tell whether text is an IP address, without a zone, and not one of IPv4 in the clothes of IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text and getattr(address, "ipv4_mapped", None) is None
