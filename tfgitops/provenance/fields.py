"""A field of a manifest as a person writes it, `spec.tasks[worker].replicas`, and the same as a route."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.merge import RULES
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.routes import nodes, steps, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.targets.kubernetes.merge import Rule
    from tfgitops.targets.routes import Route

_PLAIN = re.compile(r"[A-Za-z0-9_$-]+").fullmatch
_TOKEN = re.compile(
    r"""\[\s*(?: "(?P<double>[^"]*)" | '(?P<single>[^']*)' | (?P<bare>[^\]"']+?) )\s*\] | \.?(?P<plain>[^.\[\]]+)""",
    re.VERBOSE,
)


def _identities(rule: Rule) -> Iterator[str]:
    """Yield the keys by which Kubernetes knows the elements of lists, the first of each list."""
    yield from rule.keys[:1]
    for inner in rule.fields.values():
        yield from _identities(inner)


_NAMES = tuple(dict.fromkeys(["name", *(key for rule in RULES.values() for key in _identities(rule)), "key", "event"]))
"""Keys by which an element of a list may be chosen; the first that tells all its elements apart names them.

Lists of tolerations and of policies are one value to Kubernetes and Volcano, but people name their elements, too.
"""
_SHOWN_AT_MOST = 12


class FieldError(Exception):
    """A field that a manifest has not, or that is not written as one; ``hint`` is what may have been meant."""

    def __init__(self, message: str, found: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.found = found
        self.hint = hint


def written(manifest: Any, at: Route) -> str:
    """Write the route of a field as a person would: elements of lists by their names where these differ."""
    text, value = "", manifest
    for step in at:
        label = _label(value, step) if isinstance(value, list) and isinstance(step, int) else str(step)
        if isinstance(value, list) or not _PLAIN(label):
            quote = '"' if "]" in label or "'" in label else "'" if '"' in label else ""
            text += f"[{quote}{label}{quote}]"
        else:
            text += f".{label}" if text else label
        value = value[step]
    return text


def find(manifest: Any, text: str) -> Route:
    """Return the route of a field that is written as `spec.tasks[worker].replicas`, or with indices, `spec.tasks[0]`.

    A key with dots stands in brackets, with or without quotes. A lone dot is the whole manifest. Names on the way may
    be left out where one field alone is meant: `worker.image`. Raises FieldError if it is not written so, or there is
    no such field.
    """
    waiting = tokens(text)
    route: Route = ()
    value = manifest
    while waiting:
        step, used = _step(value, waiting)
        if step is None:
            near = [] if route else _nearest(manifest, tokens(text))
            if len(near) == 1:
                return near[0]
            raise _missing(manifest, route, value, waiting[0], text)
        route, value, waiting = (*route, step), value[step], waiting[used:]
    return route


def candidates(manifest: Any, begun: str) -> list[str]:
    """Return how a field that somebody has begun to write may go on: the next step, or two where there is one way.

    One of which names were left out goes on as it was begun.
    """
    texts = [(len(at), written(manifest, at)) for at in nodes(manifest)]
    fitting = [(depth, text) for depth, text in texts if text.startswith(begun)]
    if not fitting:
        return _short_ones(manifest, begun)
    depth = min(depth for depth, _ in fitting)
    first = [text for level, text in fitting if level == depth]
    return first if len(first) != 1 else [text for level, text in fitting if level <= depth + 1]


def _short_ones(manifest: Any, begun: str) -> list[str]:
    """Return how a field without all the names on the way to it may go on, such as `worker.env[`."""
    head, bracket, name = begun.rpartition("[") if begun.rfind("[") > begun.rfind("]") else begun.rpartition(".")
    try:
        names = tokens(head)
    except FieldError:
        return []
    found: dict[Route, list[str]] = {}
    for at in nodes(manifest):
        *above, label = _labels(manifest, at)
        inside = isinstance(value_at(manifest, at[:-1]), list)
        if inside is (bracket == "[") and label.startswith(name) and not _left(above, names):
            suffix = written(manifest, at).removeprefix(written(manifest, at[:-1]))
            found.setdefault(at[:-1], []).append((head + suffix).removeprefix("."))
    try:
        return found[find(manifest, head)]
    except (FieldError, KeyError):
        least = min(map(len, found), default=0)
        return sorted({text for holder, texts in found.items() if len(holder) == least for text in texts})


def tokens(text: str) -> list[str]:
    """Take a written field apart; raise FieldError if a bracket is not closed, or a name is missing."""
    rest = text.removeprefix(".")
    found: list[str] = []
    while rest:
        match = _TOKEN.match(rest)
        if match is None or (not found and rest.startswith(".")):
            hint = "such as spec.tasks[worker].replicas"
            raise FieldError(f"'{text}' cannot be read as a field from '{rest}' on", text, hint)
        found.append(next(part for part in match.groups() if part is not None))
        rest = rest[match.end() :]
    return found


def _step(value: Any, tokens: list[str]) -> tuple[str | int | None, int]:
    """Find what the first token names in a map or a list, and how many tokens its name is made of."""
    if isinstance(value, dict):
        for used in range(1, len(tokens) + 1):
            name = ".".join(tokens[:used])
            if name in value:
                return name, used
    elif isinstance(value, list):
        token = tokens[0]
        for index in range(len(value)):
            if token == _label(value, index):
                return index, 1
        if token.isdigit() and int(token) < len(value):
            return int(token), 1
        for index, element in enumerate(value):
            if isinstance(element, dict) and token in [str(element[name]) for name in _NAMES if name in element]:
                return index, 1
    return None, 0


def _label(elements: list[Any], index: int) -> str:
    """Name an element of a list: by the first key whose values differ, else by its index."""
    if all(isinstance(element, dict) for element in elements):
        for name in _NAMES:
            labels = [str(element.get(name, "")) for element in elements]
            if all(labels) and len(set(labels)) == len(labels):
                return labels[index]
    return str(index)


def _missing(manifest: Any, route: Route, value: Any, token: str, text: str) -> FieldError:
    known = [_label(value, step) if isinstance(step, int) else str(step) for step, _ in steps(value)]
    where = written(manifest, route) or "the manifest"
    message = f"{where} has no '{token}'"
    if not known:
        return FieldError(f"{where} holds nothing further, and so no '{token}'", text)
    meant = [*_meant(manifest, route, known, token), *(written(manifest, at) for at in _nearest(manifest, [token]))]
    more = ", …" if len(known) > _SHOWN_AT_MOST else ""
    hint = f"did you mean '{meant[0]}'?" if meant else f"it has {', '.join(known[:_SHOWN_AT_MOST])}{more}"
    return FieldError(message, text, hint)


def _meant(manifest: Any, route: Route, known: list[str], token: str) -> list[str]:
    """Write the field that may have been meant by a token that is not known."""
    near = did_you_mean(token, known)
    fields = [(*route, step) for step, _ in steps(value_at(manifest, route))]
    return [written(manifest, at) for at, label in zip(fields, known, strict=True) if near and f"'{label}'" in near]


def _nearest(manifest: Any, tokens: list[str]) -> list[Route]:
    """Return the fields that a part of their names may stand for, as `worker.image`: those nearest to the top."""
    fitting = [at for at in nodes(manifest) if _goes_through(manifest, at, tokens)]
    least = min(map(len, fitting), default=0)
    return [at for at in fitting if len(at) == least]


def _goes_through(manifest: Any, at: Route, tokens: list[str]) -> bool:
    """Tell whether a route ends with the last of some names, and goes through the others in their order."""
    labels = _labels(manifest, at)
    return labels[-1] == tokens[-1] and not _left(labels, tokens)


def _labels(manifest: Any, at: Route) -> list[str]:
    """Return the names of all steps of a route."""
    value, labels = manifest, []
    for step in at:
        labels.append(_label(value, step) if isinstance(value, list) and isinstance(step, int) else str(step))
        value = value[step]
    return labels


def _left(labels: list[str], names: list[str]) -> list[str]:
    """Return what is left of some names when those are taken off, in their order, that a route goes through."""
    waiting = list(names)
    for label in labels:
        if waiting and label == waiting[0]:
            waiting.pop(0)
    return waiting
