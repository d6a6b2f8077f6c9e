"""Answer `explain`: the objects, a job in short, or where fields come from, as text or as a part of a JSON document."""

from __future__ import annotations

import json
import posixpath
import textwrap
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.emit import emit
from tfgitops.plugins.plain import printable
from tfgitops.provenance.fields import written
from tfgitops.provenance.lookup import fields, route_of, select, title
from tfgitops.provenance.origins import Provenance
from tfgitops.provenance.summary import summarize
from tfgitops.report.as_json import place
from tfgitops.report.text import columns, padded, paint, table, wrapped
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.disk import shown
from tfgitops.spec.yamltext import compose
from tfgitops.targets.routes import value_at
from tfgitops.targets.secrets import masked_value
from tfgitops.targets.volcano.identity import DIGITS, MUTABLE_JOB, MUTABLE_TASK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugins
    from tfgitops.provenance.lookup import Field
    from tfgitops.provenance.origins import Origin
    from tfgitops.provenance.summary import Summary
    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.yamltext import Node
    from tfgitops.targets.routes import Route

_SAID_AT_MOST = 44
_INDENT = 10


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The form of the text: its colours, its width, whether longer lines are cut; a blame names files from a folder."""

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


def answer(compiled: Compiled, plugins: Plugins, wanted: str | None, field: str | None, paper: Paper | None) -> Any:
    """Return the text about an object and a field of it, or without ``paper`` a part of a JSON document.

    Without ``wanted`` it is the list of all objects, without ``field`` a job in short. Raises CompileError if there is
    no such object or field.
    """
    environment = compiled.environment
    assert environment is not None
    if wanted is None:
        rows = [
            (title(planned, environment), planned.manifest["metadata"]["name"], f"{MANIFESTS}/{planned.path}")
            for planned in compiled.objects
        ]
        if paper:
            return "".join(f"{line}\n" for line in table([[*map(printable, row)] for row in rows], paper.paint))
        return {"objects": [dict(zip(("object", "name", "manifest"), row, strict=True)) for row in rows]}
    provenance = Provenance(environment, plugins)
    planned = select(compiled, wanted)
    name, manifest = title(planned, environment), f"{shown(compiled.folder)}/{MANIFESTS}/{planned.path}"
    head = {"object": name, "manifest": manifest}
    job = environment.job_of(planned.manifest) if planned.own else None
    if job and field is None:
        told = summarize(planned, job, provenance)
        return _job_summary(told, manifest, paper) if paper else head | {"job": _job_json(told)}
    at = route_of(planned, environment, field or ".", provenance)
    found = fields(planned, at, provenance)
    if not paper:
        return {**head, "fields": [_field_json(one) for one in found]}
    if len(found) == 1 and found[0].at == at:
        return _chain(name, found[0], paper)
    heading = name if not at else f"{name}  {written(planned.manifest, at)}"
    return _blame(heading, planned.manifest, at, found, paper)


def _field_json(found: Field) -> dict[str, Any]:
    origins = [_origin_json(origin) for origin in found.origins]
    return {"field": found.name, "route": list(found.at), "value": found.shown, "origins": origins}


def _job_json(found: Summary) -> dict[str, Any]:
    roles = [
        {"name": part.name, "pods": part.pods, "requests": part.requests, "images": part.images, **place(part.span)}
        for part in found.parts
    ]
    return {
        "name": found.job,
        **place(found.span),
        "object": found.object,
        "namespace": found.namespace,
        "bases": [{"name": name, **place(span)} for name, span in found.bases],
        "strategy": {"name": found.strategy, "why": found.why},
        "queue": {"name": found.queue, "origin": _origin_json(found.queue_origin)},
        "pods": found.pods,
        "minAvailable": found.min_available,
        "end": found.end,
        "roles": roles,
        "total": found.total,
    }


def _origin_json(origin: Origin) -> dict[str, Any]:
    return {
        "layer": origin.layer, "through": origin.through, "won": origin.won, "route": list(origin.route),
        "value": origin.shown, **place(origin.span), "note": origin.note,
    }  # fmt: skip


def _chain(heading: str, field: Field, paper: Paper) -> str:
    """Return one field: its value, and all that gave one, the strongest first, the winner marked."""
    lines = [f"{paper.paint('bold', heading)}  {field.name}", ""]
    lines += [f"  {printable(line)}" for line in _value(field.shown).split("\n")]
    lines += ["", *_origins(field.origins, paper)]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Write a value as a person reads it: text as it is, all else as JSON has it."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_value(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _key_of(route: Route) -> str:
    """Write the keys of a spec: `worker.volumes[0]`."""
    text = ""
    for step in route:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _origins(origins: Sequence[Origin], paper: Paper) -> Iterator[str]:
    """Yield a line or two for each origin, and its remark, once for those alike."""
    rows = [(one.layer, _said(one), f"{printable(one.span.file)}:{one.span.line}:{one.span.column}") for one in origins]
    layers, said = (max(columns(row[index]) for row in rows) for index in (0, 1))
    fits = 2 + layers + 2 + said + 2 + max(columns(row[2]) for row in rows) <= paper.width
    lines = zip(origins, rows, strict=True)
    for _, group in groupby(lines, key=lambda line: (line[0].through, line[0].note, line[0].won)):
        members = list(group)
        for origin, (layer, text, where) in members:
            mark = paper.paint("help", ">") if origin.won else " "
            head = padded(layer, layers)
            head = paper.paint("bold", head) if origin.won else head
            if fits:
                yield f"{mark} {head}  {padded(text, said)}  {paper.paint('frame', where)}"
            else:
                yield f"{mark} {head}  {text}".rstrip()
                yield f"{' ' * (layers + 4)}{paper.paint('frame', where)}"
        last = members[-1][0]
        through = f"by {last.through}" if last.through and last.through != last.layer else ""
        if last.won and (remark := ": ".join(filter(None, (through, last.note)))):
            yield from wrapped(printable(remark), f"{' ' * (layers + 4)}= ", width=paper.width)


def _said(origin: Origin) -> str:
    """Return the route and the value of an origin on one short line."""
    same = origin.shown == origin.value  # else it has a secret, as its text has
    line = " ".join(((same and origin.text) or _value(origin.shown)).split())
    value = "null, which removes it" if origin.value is None else printable(line)
    text = f"{_key_of(origin.route)}: {value}" if origin.route else value
    return text if columns(text) <= _SAID_AT_MOST else text[: _SAID_AT_MOST - 1] + "…"


def _blame(heading: str, manifest: Any, at: Route, fields: Sequence[Field], paper: Paper) -> str:
    """Return a part of a manifest as it is written, and before each line where its value comes from."""
    value, base = value_at(manifest, at), at
    if at and (isinstance(at[-1], str) or not isinstance(value, dict)):
        value, base = {str(at[-1]): value}, at[:-1]
    text = emit(masked_value(value, str(at[-1]) if at else ""))
    tree = compose(text)
    assert tree is not None
    sources = {_line(tree, field.at[len(base) :]): _gutter(field, paper.folder) for field in fields}
    rows = [(*sources.get(number, ("", "")), line) for number, line in enumerate(text.removesuffix("\n").split("\n"))]
    places, layers = (max(columns(row[index]) for row in rows) for index in (0, 1))
    found = [paper.paint("bold", heading), ""]
    for where, layer, line in rows:
        left = f"{padded(where, places)}  {padded(layer, layers)}"
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


def _job_summary(summary: Summary, manifest: str, paper: Paper) -> str:
    """Return what `explain` says of a whole job; ``manifest`` is the path of its manifest."""
    gang = f"{summary.pods} pods, of which {summary.min_available} must be able to start for any to start"
    if summary.min_available == summary.pods:
        gang = f"{summary.pods} pods, which start together or not at all" if summary.pods > 1 else "1 pod"
    given = summary.strategy_span
    why = f"given  {_line_of(given)}" if given else f"since {summary.why}"
    rows = [
        ("job", f"{summary.job}  {_line_of(summary.span)}"),
        ("object", f"{summary.object}, in the namespace {summary.namespace}"),
        ("manifest", manifest),
        *(
            (name[:4], f"{name[5:]}  {_line_of(span)}") if name.startswith("from ") else (name, _line_of(span))
            for name, span in summary.bases
        ),
        ("strategy", f"{summary.strategy}, {why}"),
        ("queue", f"{summary.queue}  {summary.queue_origin.layer}, {_line_of(summary.queue_origin.span)}"),
        ("gang", gang),
        ("end", f"the job {summary.end}"),
    ]
    more = f"add a field's name, such as spec.tasks[{summary.parts[0].name}].replicas, or . for all"
    parts = [rows, _images(summary), _name(summary, paper.width - _INDENT), [("more", more)]]
    head, images, name, last = (
        [f"{paper.paint('bold', label.ljust(_INDENT))}{printable(text)}" for label, text in part] for part in parts
    )
    return "\n".join([*head, "", *_roles(summary, paper), "", *images, "", *name, "", *last]) + "\n"


def _line_of(span: Span) -> str:
    return f"{span.file}:{span.line}"


def _roles(summary: Summary, paper: Paper) -> Iterator[str]:
    """Yield a table of the roles: their pods, what each pod asks for, and what all of them do."""
    resources = list(summary.total)
    head = ("role", "pods", *resources)
    rows = [
        head,
        *((part.name, str(part.pods), *(part.requests.get(name, "") for name in resources)) for part in summary.parts),
        ("all", str(summary.pods), *summary.total.values()),
    ]
    first, *others = table(rows, right=range(1, len(head)))
    yield paper.paint("bold", first)
    yield from others


def _images(summary: Summary) -> Iterator[tuple[str, str]]:
    images: dict[str, list[str]] = {}
    for part in summary.parts:
        for image in part.images:
            images.setdefault(image, []).append(part.name)
    for image, roles in images.items():
        of = "" if len(roles) == len(summary.parts) else f"  ({', '.join(roles)})"
        yield "image", f"{image}{of}"


def _name(summary: Summary, width: int) -> Iterator[tuple[str, str]]:
    """Say which fields the digest in a job's name covers: when there is a new run, and when not."""
    tasks = " and ".join(f"`{name}`" for name in sorted(MUTABLE_TASK))
    jobs = " and ".join(f"`{name}`" for name in sorted(MUTABLE_JOB))
    text = (
        f"{summary.object} is the job's name and {DIGITS} digits of a digest. The digest covers `spec`, except "
        f"{jobs} of the Job, and {tasks} of each task. These fields change in place, and so do labels and annotations "
        "of the Job. Any other change makes a new run under a new name, and the old run is pruned."
    )
    if summary.counted:
        names = " and ".join(filter(None, (", ".join(summary.counted[:-1]), summary.counted[-1])))
        text += f" But TF_CONFIG names every host, so a change to `replicas` of {names} makes a new run, too."
    for index, line in enumerate(textwrap.wrap(text, width, break_on_hyphens=False)):
        yield "" if index else "name", line
