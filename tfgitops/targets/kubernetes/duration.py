"""Go's durations (`90s`, `1h30m`): whether text is one, how Go itself writes it, and how many seconds it is."""

from __future__ import annotations

import re
from decimal import Decimal

_PART = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|[\u00b5\u03bc]s|ms|s|m|h)"
_DURATION = re.compile(rf"[+-]?(?:0|(?:{_PART})+)").fullmatch
_PARTS = re.compile(r"([0-9.]+)([a-z\u00b5\u03bc]+)").findall
_NANOS = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9}
_NANOS["h"] = 60 * _NANOS["m"]


def is_duration(text: str) -> bool:
    """Tell whether Go reads text as a duration."""
    return _DURATION(text) is not None


def canonical(text: str) -> str:
    """Write a duration as Go does: `90s` as `1m30s`, `10m` as `10m0s`, `0.5s` as `500ms`."""
    nanos = _nanos(text)
    sign = "-" if text.startswith("-") and nanos else ""
    if nanos < _NANOS["s"]:
        unit = next((unit for unit in ("ms", "\u00b5s", "ns") if nanos >= _NANOS[unit]), "s")
        return f"{sign}{_plain(nanos, unit)}{unit}"
    hours, rest = divmod(nanos, _NANOS["h"])
    minutes, rest = divmod(rest, _NANOS["m"])
    seconds = f"{_plain(rest, 's')}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def seconds(text: str) -> int:
    """Return a duration in whole seconds, rounded up as for Kubernetes's fields; raise ValueError for other text."""
    if not is_duration(text):
        raise ValueError(f"'{text}' is not a duration")
    nanos = -_nanos(text) if text.startswith("-") else _nanos(text)
    return -(-nanos // _NANOS["s"])


def _nanos(text: str) -> int:
    """Return a duration in nanoseconds, without its sign."""
    return int(sum(Decimal(number) * _NANOS[unit] for number, unit in _PARTS(text)))


def _plain(nanos: int, unit: str) -> str:
    """Write an amount in a unit, without zeros at the end."""
    whole, rest = divmod(nanos, _NANOS[unit])
    digits = len(str(_NANOS[unit])) - 1
    return f"{whole}.{rest:0{digits}}".rstrip("0").rstrip(".") if digits else str(whole)
