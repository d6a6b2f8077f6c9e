"""Kubernetes's quantities (`500m`, `1.5Gi`, `1e3`): their value, canonical form, and what is wrong with one.

The rules are those of k8s.io/apimachinery 0.36, pkg/api/resource: amounts below a nano round away from zero,
binary ones are capped at 2^63-1, and the kind of suffix is kept: `1e3`, `1k` and `1000` are not one text.
"""

import itertools
import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal

from tfgitops.targets.kubernetes.names import describe

Style = Literal["", "i", "e"]

NANO: Final = 10**9
"""Nanos in one unit: what `parse` counts in."""

_CAP: Final = (2**63 - 1) * NANO
# Kubernetes has no suffix for 10^21, and writes 1000E as "1"; above 2^63 its schedulers overflow anyway.
_TOO_MUCH: Final = 10**21 * NANO
_LENGTH_MAX: Final = 64
_SUGGESTED_MAX: Final = 10**9

_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX: Final = ["", *_BINARY]

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_QUANTITY = re.compile(rf"({_NUMBER})(?:([KMGTPE]i)|[eE]([+-]?[0-9]{{1,3}})|([numkMGTPE]?))").fullmatch
_MEANT = re.compile(rf"({_NUMBER})((?:[kmgtpe]i?)?)(|b|bytes?|v?cpus?|cores?)", re.IGNORECASE).fullmatch
_SMALL_SIZE = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(m?)").fullmatch
_IN_GI, _IN_MI, _IN_MI_MAX = 1024, 64, 2**20
_EXPONENT_AND_SUFFIX = re.compile(rf"({_NUMBER}[eE][+-]?[0-9]{{1,2}})([KMGTPE]i|[numkMGTPE])").fullmatch
_LEGAL_CHAR = re.compile(r"[0-9A-Za-z.+-]").fullmatch


@lru_cache(maxsize=4096)
def parse(quantity: str | int) -> int:
    """Return the exact value in nanos of its unit; raise ValueError, as `explain` says it, if it is no quantity."""
    return _parse(str(quantity))[0]


@lru_cache(maxsize=4096)
def canonical(quantity: str | int) -> str:
    """Write a quantity as Kubernetes does: `0.5` as `500m`, `1024Mi` as `1Gi`; `parse` says what it raises."""
    nanos, style = _parse(str(quantity))
    return write(nanos, style=style)


def write(nanos: int, *, style: Style = "") -> str:
    """Write nanos as a canonical quantity, by style `""` as `500m` and `2G`, by `"i"` as `2Gi`, by `"e"` as `2e9`."""
    if nanos == 0:
        return "0"
    whole, rest = divmod(abs(nanos), NANO)
    sign = "-" if nanos < 0 else ""
    # Small or broken amounts have no exact binary form, and become decimal.
    if style == "i" and whole >= 1024 and not rest:  # noqa: PLR2004 - the base of these suffixes
        power = next(power for power in itertools.count() if whole % 1024 ** (power + 1))
        return f"{sign}{whole // 1024**power}{_BINARY_SUFFIX[power]}"
    return sign + _write_decimal(abs(nanos), exponential=style == "e")


def show(nanos: int, resource: str) -> str:
    """Write an amount of a resource for people: `2000` devices, pods or cores, which a manifest has as `2k`."""
    style, (whole, rest) = style_of(resource), divmod(nanos, NANO)
    return write(nanos, style=style) if style or rest else str(whole)


def style_of(resource: str) -> Style:
    """Give the style in which people write amounts of a resource: binary for what is counted in bytes."""
    return "i" if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-") else ""


def meant(quantity: str | int) -> str:
    """Return what a size of hardly any bytes was probably meant to be: `512Mi` for Docker's `512m`; empty if unclear.

    A plain number is bytes to Kubernetes, gigabytes to whoever writes 16, and megabytes to whoever writes 4096.
    """
    match = _SMALL_SIZE(str(quantity))
    if not match or not (number := float(match[1])):
        return ""
    if match[2]:
        return f"{match[1]}Mi"
    units = [unit for unit, fits in (("Gi", number < _IN_GI), ("Mi", _IN_MI <= number <= _IN_MI_MAX)) if fits]
    return " or ".join(match[1] + unit for unit in units)


def explain(quantity: str | int) -> str | None:
    """Say what to write instead of something that is no quantity; None if it is one."""
    text = str(quantity)
    if _QUANTITY(text) and len(text) <= _LENGTH_MAX:
        return None if abs(_value(text)[0]) < _TOO_MUCH else "write less: Kubernetes counts up to 2^63-1"
    if not text.strip():
        return "write a number, such as 500m, 2 or 4Gi"
    if len(text) > _LENGTH_MAX:
        return f"write a shorter number, of at most {_LENGTH_MAX} characters"
    odd = next((char for char in text if not _LEGAL_CHAR(char)), "")
    better = _suggest(text)
    if odd and not odd.isascii():
        return f"write {better} instead of {describe(odd)}" if better else f"remove {describe(odd)}"
    if better:
        return f"write {better}"
    return "write a number, then nothing or one of m k M G T P E Ki Mi Gi Ti Pi Ei, as in 500m or 4Gi"


def _parse(text: str) -> tuple[int, Style]:
    if problem := explain(text):
        raise ValueError(problem)
    return _value(text)


def _value(text: str) -> tuple[int, Style]:
    """Give nanos and style of what has the form of a quantity."""
    match = _QUANTITY(text)
    assert match is not None
    number, binary, exponent, decimal = match.groups()
    whole, _, fraction = number.lstrip("+-").partition(".")
    nanos = int(whole + fraction or "0")
    power = 9 - len(fraction)
    style: Style = ""
    if binary:
        nanos <<= _BINARY[binary]
        style = "i"
    elif exponent:
        power += int(exponent)
        style = "e"
    else:
        power += _DECIMAL[decimal]
    nanos = nanos * 10**power if power >= 0 else -(-nanos // 10**-power)
    if style == "i":
        nanos = min(nanos, _CAP)
    return (-nanos if number.startswith("-") else nanos), style


def _write_decimal(nanos: int, *, exponential: bool) -> str:
    exponent = -9
    while nanos % 1000 == 0 and (exponential or exponent < _DECIMAL["E"]):
        nanos //= 1000
        exponent += 3
    if exponential:
        return f"{nanos}e{exponent}" if exponent else str(nanos)
    return f"{nanos}{_DECIMAL_SUFFIX[exponent]}"


def _suggest(text: str) -> str:
    """Guess the legal quantity, or the choice of two, that was meant; empty if there is no telling."""
    plain = "".join(map(_plain, unicodedata.normalize("NFKC", text)))
    plain = re.sub(r",(?=[0-9]{3}(?![0-9]))", "", plain).replace(",", ".")
    if _QUANTITY(plain):
        return plain
    if match := _EXPONENT_AND_SUFFIX(plain):
        units, rest = divmod(_value(match[1])[0], NANO)
        return "" if rest or units > _SUGGESTED_MAX else f"{units}{match[2]}"
    if match := _MEANT(plain):
        number, suffix, unit = match.groups()
        return _suggest_suffix(number, suffix, unit=unit)
    return ""


def _plain(char: str) -> str:
    """Drop what separates digits or cannot be seen; turn the digits of other scripts into ours."""
    if char in "_'\"" or char.isspace() or unicodedata.category(char) == "Cf":
        return ""
    return char if char.isascii() else str(unicodedata.decimal(char, char))


def _suggest_suffix(number: str, suffix: str, *, unit: str) -> str:
    in_bytes = unit[:1] in {"b", "B"}
    if not suffix or (suffix == "m" and not in_bytes):
        return number + suffix
    letter = "k" if suffix in "kK" else suffix[0].upper()
    binary = f"{letter.upper()}i"
    if binary not in _BINARY:
        return ""
    if suffix[1:]:
        return number + binary
    of = " bytes" if in_bytes else ""
    return f"{number}{letter} (10^{_DECIMAL[letter]}{of}) or {number}{binary} (2^{_BINARY[binary]})"
