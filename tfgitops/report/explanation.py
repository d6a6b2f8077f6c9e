"""What `explain` tells, for people: a list of objects, a field with all that it overrode, or the blame of many."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.emit import emit
from tfgitops.plugins.plain import printable
from tfgitops.report.text import columns, padded, paint, table, wrapped
from tfgitops.spec.yamltext import compose
from tfgitops.targets.routes import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.provenance.lookup import Field
    from tfgitops.provenance.origins import Origin
    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.yamltext import Node
    from tfgitops.targets.routes import Route

_SAID_AT_MOST = 44


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What is written on: whether it takes colours, where lines should end, and whether longer ones are cut.

    A blame names files from ``folder`` on.
    """

    folder: str = "."
    colour: bool = False
    width: int = 80
    cut: bool = False

    def paint(self, style: str, text: str) -> str:
        """Return a text in a style, where there are colours."""
        return paint(style, text, colour=self.colour)

    def cut_to(self, text: str, used: int) -> str:
        """Cut a text that would not fit behind what is on its line already."""
        room = max(20, self.width - used)
        return text if not self.cut or columns(text) <= room else text[: room - 1] + "…"


def listing(rows: Sequence[tuple[str, str, str]], paper: Paper) -> str:
    """Return the objects of an environment, one on a line: how it is called, its object's name, and its manifest."""
    return "".join(f"{line}\n" for line in table(rows, paper.paint))


def chain(title: str, field: Field, paper: Paper) -> str:
    """Return one field: its value, and all that gave one, the strongest first, the winner marked."""
    lines = [f"{paper.paint('bold', title)}  {field.name}", ""]
    lines += [f"  {printable(line)}" for line in shown(field.value).split("\n")]
    lines += ["", *_origins(field.origins, paper)]
    return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """Write a value as a person reads it: text as it is, all else as JSON has it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)


def key_of(route: Route) -> str:
    """Write the keys of a spec: `worker.volumes[0]`."""
    text = ""
    for step in route:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _origins(origins: Sequence[Origin], paper: Paper) -> Iterator[str]:
    """Yield a line or two for each origin, and what is to be said of it, once for those alike."""
    rows = [(origin.layer, _said(origin), _place(origin.span)) for origin in origins]
    layers, said = (max(columns(row[index]) for row in rows) for index in (0, 1))
    fits = 2 + layers + 2 + said + 2 + max(columns(row[2]) for row in rows) <= paper.width
    lines = zip(origins, rows, strict=True)
    for _, group in groupby(lines, key=lambda line: (line[0].through, line[0].note, line[0].won)):
        members = list(group)
        for origin, (layer, text, place) in members:
            mark = paper.paint("help", ">") if origin.won else " "
            head = padded(layer, layers)
            head = paper.paint("bold", head) if origin.won else head
            if fits:
                yield f"{mark} {head}  {padded(text, said)}  {paper.paint('frame', place)}"
            else:
                yield f"{mark} {head}  {text}".rstrip()
                yield f"{' ' * (layers + 4)}{paper.paint('frame', place)}"
        if members[-1][0].won and (remark := _remark(members[-1][0])):
            yield from wrapped(printable(remark), f"{' ' * (layers + 4)}= ", width=paper.width)


def _said(origin: Origin) -> str:
    """Say what is written at an origin, on one short line."""
    value = printable(" ".join((origin.text or shown(origin.value)).split()))
    if origin.value is None:
        value = "null, which removes it"
    text = f"{key_of(origin.route)}: {value}" if origin.route else value
    return text if columns(text) <= _SAID_AT_MOST else text[: _SAID_AT_MOST - 1] + "…"


def _remark(origin: Origin) -> str:
    through = f"by {origin.through}" if origin.through and origin.through != origin.layer else ""
    return ": ".join(filter(None, (through, origin.note)))


def _place(span: Span) -> str:
    return f"{printable(span.file)}:{span.line}:{span.column}"


def blame(title: str, manifest: Any, at: Route, fields: Sequence[Field], paper: Paper) -> str:
    """Return a part of a manifest as it is written, and before each line where its value comes from."""
    value, base = value_at(manifest, at), at
    if at and (isinstance(at[-1], str) or not isinstance(value, dict)):
        value, base = {str(at[-1]): value}, at[:-1]
    text = emit(value)
    tree = compose(text)
    assert tree is not None
    sources = {_line(tree, field.at[len(base) :]): _gutter(field, paper.folder) for field in fields}
    lines = text.removesuffix("\n").split("\n")
    rows = [(*sources.get(number, ("", "")), line) for number, line in enumerate(lines)]
    places, layers = (max(columns(row[index]) for row in rows) for index in (0, 1))
    found = [paper.paint("bold", title), ""]
    for place, layer, line in rows:
        left = f"{padded(place, places)}  {padded(layer, layers)}"
        found.append(f"{paper.paint('frame', left)}  {paper.cut_to(printable(line), columns(left) + 2)}".rstrip())
    return "\n".join(found) + "\n"


def _line(tree: Node, route: Route) -> int:
    """Find the line of a field in a text that holds it; a list's key was written as a name."""
    line = tree.line
    for step in route:
        pair = tree.child(str(step) if tree.entries else step)
        assert pair is not None
        line, tree = pair[0].line, pair[1]
    return line


def _gutter(field: Field, folder: str) -> tuple[str, str]:
    first, *others = field.winners
    place = f"{posixpath.relpath(first.span.file, folder)}:{first.span.line}"
    return printable(place) + (f" +{len(others)}" if others else ""), _short(first)


def _short(origin: Origin) -> str:
    """Name a layer in few words: `default`, `plugin gpu`."""
    if origin.layer == origin.through:
        return " ".join(origin.layer.split()[:2])
    return printable(origin.layer.removeprefix("compiler "))
