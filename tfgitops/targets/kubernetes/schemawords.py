"""The words for each keyword and text format of JSON Schema that a value fails: for specs and manifests alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import names

if TYPE_CHECKING:
    from collections.abc import Callable

SENTENCES = {
    "const": "must be {}", "enum": "must be one of {}", "multipleOf": "must be a multiple of {}",
    "exclusiveMaximum": "must be less than {}", "exclusiveMinimum": "must be more than {}",
    "maximum": "must be at most {}", "minimum": "must be at least {}",
    "maxItems": "must have at most {} entries", "minItems": "must have at least {} entries",
    "maxLength": "must have at most {} characters", "minLength": "must have at least {} characters",
    "maxProperties": "must have at most {} keys", "minProperties": "must have at least {} keys",
    "not": "must be left out here", "pattern": "does not have the right form", "required": "is missing",
}  # fmt: skip
"""By keyword, what a value must be, with what the keyword wants."""


def says(keyword: str, wanted: Any, found: Any) -> str:
    """Return the rest of the sentence about a value that fails a keyword, behind the value's name."""
    if keyword == "format":
        return TEXT_FORMATS[wanted].sentence
    if keyword == "oneOf":
        return _choice([way["required"] for way in wanted], found)
    if keyword in ("minItems", "minLength", "minProperties") and not found:
        return "is empty"
    sentence = SENTENCES[keyword].format(listed(wanted))
    return sentence.replace("entries", "entry").removesuffix("s") if wanted == 1 else sentence


def listed(wanted: Any) -> str:
    """Write what a keyword wants; of several values, the empty ones stand for absent."""
    return ", ".join(map(str, filter(None, wanted))) if isinstance(wanted, list) else str(wanted)


def _choice(ways: list[list[str]], found: Any) -> str:
    given = [key for key in found if any(key in way for way in ways)]
    if len(given) > 1:
        return f"has {' and '.join(given)}, which do not go together"
    return f"has only {given[0]}" if given else f"needs one of {', '.join(map(' and '.join, ways))}"


@dataclass(frozen=True)
class TextFormat:
    """A format of text: its test, the noun for a text that has it, how this is written, and what to do about others."""

    fits: Callable[[str], object]
    noun: str
    written: str = ""
    remedy: str = ""  # empty where the nearest DNS label would do

    @property
    def sentence(self) -> str:
        """What a text must be."""
        return f"must be {self.noun}{': ' * bool(self.written)}{self.written}"

    def accepts(self, value: object) -> bool:
        """Tell whether a value has the format; an empty text stands for absent, and minLength asks for more."""
        return not isinstance(value, str) or not value or bool(self.fits(value))

    def hint(self, value: object) -> str:
        """Say what to write instead."""
        better = names.suggest_label(str(value))
        return self.remedy or (f"write {better}" if better and self.fits(better) else "choose another name")


_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,9}").fullmatch
_HEADER = re.compile(r"[-A-Za-z0-9]+").fullmatch
_SUBSCRIPT = re.compile(r"metadata\.(?P<map>labels|annotations)\['(?P<key>.+)'\]").fullmatch
_NAMES = frozenset({"metadata.name", "metadata.namespace", "metadata.uid"})
_VOLUME_FIELDS = _NAMES | {"metadata.labels", "metadata.annotations"}
_ENV_FIELDS = _NAMES | {
    "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"
}  # fmt: skip


def _is_relative_path(text: str) -> bool:
    return not text.startswith("/") and ".." not in text.split("/")


def _is_subscript(path: str) -> bool:
    """Tell whether a field path names one label or annotation, which has a legal key."""
    match = _SUBSCRIPT(path)
    return match is not None and names.is_qualified_name(match[2].lower() if match[1] == "annotations" else match[2])


def _field_path(fields: frozenset[str]) -> TextFormat:
    remedy = f"use one of {', '.join(sorted(fields))}, metadata.labels['KEY'], metadata.annotations['KEY']"
    return TextFormat(
        lambda text: text in fields or _is_subscript(text), "a field that the downward API knows", "", remedy
    )


def _is_int32(text: str) -> bool:
    return _WHOLE(text) is not None and -(1 << 31) <= int(text) < 1 << 31


_ENDS = "beginning and ending with a letter or digit"
_KEY = ("a qualified name", "name, or prefix.example.com/name", "use letters, digits, '-', '_' and '.'")
_BELOW = ("a relative path without ..", "", "write a path like a/b")
TEXT_FORMATS: dict[str, TextFormat] = {
    "absolute-path": TextFormat(lambda text: text.startswith("/"), "an absolute path", "", "begin it with /"),
    "annotation-name": TextFormat(lambda text: names.is_qualified_name(text.lower()), *_KEY),
    "backsteps": TextFormat(
        lambda text: ".." not in text.split("/"), "a path without ..", "", "write the path that is meant"
    ),
    "cidr": TextFormat(names.is_cidr, "a range of IP addresses", "", "write a range like 10.0.0.0/8"),
    "config-key": TextFormat(
        names.is_config_key, "a key of a Secret or ConfigMap",
        f"at most {names.SUBDOMAIN_MAX} letters, digits, '-', '_' and '.'", "choose another key",
    ),
    "dns-label": TextFormat(
        names.is_dns_label, "a DNS label", f"at most {names.LABEL_MAX} lower-case letters, digits and '-', {_ENDS}"
    ),
    "dns-subdomain": TextFormat(
        names.is_dns_subdomain, "a DNS name", f"at most {names.SUBDOMAIN_MAX} lower-case letters, digits, '-' and '.'"
    ),
    "driver-name": TextFormat(lambda text: names.is_dns_subdomain(text.lower()), "a DNS name"),
    "env-field-path": _field_path(_ENV_FIELDS),
    "env-name": TextFormat(
        names.is_env_name, "the name of a variable", "letters, digits, '_', '-' and '.', no digit first",
        "write a name like BATCH_SIZE",
    ),
    "header-name": TextFormat(_HEADER, "an HTTP header's name", "", "use letters, digits and hyphens"),
    "int32": TextFormat(
        _is_int32, "a whole number of 32 bits", "", "write digits only, without plus and leading zeros"
    ),
    "ip": TextFormat(names.is_ip, "an IP address", "", "write an address like 10.1.2.3"),
    "label-value": TextFormat(
        names.is_label_value, "the value of a label",
        f"at most {names.LABEL_MAX} letters, digits, '-', '_' and '.', {_ENDS}",
    ),
    "port-name": TextFormat(
        names.is_port_name, "the name of a port",
        f"at most {names.PORT_NAME_MAX} lower-case letters, digits and '-', with a letter",
    ),
    "projected-path": TextFormat(lambda text: _is_relative_path(text) and not text.startswith(".."), *_BELOW),
    "qualified-name": TextFormat(names.is_qualified_name, *_KEY),
    "relative-path": TextFormat(_is_relative_path, *_BELOW),
    "search-domain": TextFormat(
        lambda text: names.is_dns_subdomain(text.removesuffix(".")), "a DNS name", "",
        "write a domain like svc.cluster.local",
    ),
    "volume-field-path": _field_path(_VOLUME_FIELDS),
}  # fmt: skip
