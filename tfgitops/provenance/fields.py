"""The name of a field as a person writes it, `spec.tasks[worker].replicas`, and the route that it stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.merge import RULES
from tfgitops.targets.nearest import nearest
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
    """Yield the key that identifies the elements of each list to Kubernetes; of several keys, the first."""
    yield from rule.keys[:1]
    for inner in rule.fields.values():
        yield from _identities(inner)


_NAMES = tuple(dict.fromkeys(["name", *(key for rule in RULES.values() for key in _identities(rule)), "key", "event"]))
"""The keys that may name an element of a list; the first whose values all differ does.

Kubernetes and Volcano treat a list of tolerations or policies as one value, but people name its elements too.
"""
_SHOWN_AT_MOST = 12
_NEAR = 0.6


class FieldError(Exception):
    """A name that stands for no field of a manifest; ``hint`` says what may have been meant."""

    def __init__(self, message: str, found: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.found = found
        self.hint = hint


def written(manifest: Any, at: Route) -> str:
    """Return the name of the field at a route."""
    return "".join(text for _, text in _labels(manifest, at)).removeprefix(".")


def _labels(manifest: Any, at: Route) -> list[tuple[str, str]]:
    """Return the label of each step of a route, bare and as it is written in the name of a field."""
    value, found = manifest, []
    for step in at:
        is_list = isinstance(value, list)
        label = _label(value, int(step)) if is_list else str(step)
        quote = '"' if "]" in label or "'" in label else "'" if '"' in label else ""
        found.append((label, f"[{quote}{label}{quote}]" if is_list or not _PLAIN(label) else f".{label}"))
        value = value[step]
    return found


def find(manifest: Any, text: str) -> Route:
    """Return the route of the field with a name such as `spec.tasks[worker].replicas` or `spec.tasks[0].replicas`.

    A key with dots stands in brackets, with or without quotes. A lone dot is the whole manifest. Steps may be left out
    where one field alone fits: `worker.image`. Raises FieldError if the name is malformed, or no field has it.
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
    """Return the names of fields that complete a beginning: one more step, or two if only one step fits.

    If steps are left out at the beginning, the completions leave them out too.
    """
    texts = [(len(at), written(manifest, at)) for at in nodes(manifest)]
    fitting = [(depth, text) for depth, text in texts if text.startswith(begun)]
    if not fitting:
        return _short_ones(manifest, begun)
    depth = min(depth for depth, _ in fitting)
    first = [text for level, text in fitting if level == depth]
    return first if len(first) != 1 else [text for level, text in fitting if level <= depth + 1]


def _short_ones(manifest: Any, begun: str) -> list[str]:
    """Return the completions of a name with steps left out, such as `worker.env[`."""
    head, bracket, name = begun.rpartition("[") if begun.rfind("[") > begun.rfind("]") else begun.rpartition(".")
    try:
        names = tokens(head)
    except FieldError:
        return []
    found: dict[Route, list[str]] = {}
    for at in nodes(manifest):
        *above, (label, text) = _labels(manifest, at)
        inside = isinstance(value_at(manifest, at[:-1]), list)
        if inside is (bracket == "[") and label.startswith(name) and _go_through(above, names):
            found.setdefault(at[:-1], []).append((head + text).removeprefix("."))
    try:
        return found[find(manifest, head)]
    except (FieldError, KeyError):
        least = min(map(len, found), default=0)
        return sorted({text for holder, texts in found.items() if len(holder) == least for text in texts})


def tokens(text: str) -> list[str]:
    """Return the parts of the name of a field; raise FieldError if a bracket is not closed or a part is empty."""
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
    """Return the step that the first tokens name in a map or a list, and their number: a key may have dots."""
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
    """Return the label of a list element: the value of the first key that differs in all elements, else the index."""
    if all(isinstance(element, dict) for element in elements):
        for name in _NAMES:
            labels = [str(element.get(name, "")) for element in elements]
            if all(labels) and len(set(labels)) == len(labels):
                return labels[index]
    return str(index)


def _missing(manifest: Any, route: Route, value: Any, token: str, text: str) -> FieldError:
    where = written(manifest, route) or "the manifest"
    fields = [(*route, step) for step, _ in steps(value)]
    known = {_labels(manifest, at)[-1][0]: written(manifest, at) for at in fields}
    if not known:
        return FieldError(f"{where} holds nothing further, and so no '{token}'", text)
    near = nearest(token, known, cutoff=_NEAR)
    meant = [*([known[near]] if near else ()), *(written(manifest, at) for at in _nearest(manifest, [token]))]
    more = ", …" if len(known) > _SHOWN_AT_MOST else ""
    hint = f"did you mean '{meant[0]}'?" if meant else f"it has {', '.join([*known][:_SHOWN_AT_MOST])}{more}"
    return FieldError(f"{where} has no '{token}'", text, hint)


def _nearest(manifest: Any, tokens: list[str]) -> list[Route]:
    """Return the fields, nearest to the top, that end with the last token and go through the others."""
    labels = {at: _labels(manifest, at) for at in nodes(manifest)}
    fitting = [at for at, found in labels.items() if found[-1][0] == tokens[-1] and _go_through(found, tokens)]
    least = min(map(len, fitting), default=0)
    return [at for at in fitting if len(at) == least]


def _go_through(labels: list[tuple[str, str]], names: list[str]) -> bool:
    """Tell whether labels contain all names in their order."""
    rest = iter([label for label, _ in labels])
    return all(name in rest for name in names)
