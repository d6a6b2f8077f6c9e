"""Compares our shapes of a Job and a Queue with Volcano's own CRDs, field by field.

    python conformance/crds.py [DIR]

DIR holds the CRD files; without it they are looked for where `folder` says. Exit status 1 where a field, type, default,
required field or list key differs. So what a new Volcano changes is seen, without a cluster.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tfgitops.targets.kubernetes.shape import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.targets.kubernetes.shape import Shape

    Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
FILES = {"Job": "batch.volcano.sh_jobs.yaml", "Queue": "scheduling.volcano.sh_queues.yaml"}
# Fields that only Kubernetes reads, and fields that we never write.
APART = {"metadata", "status"}
# Volumes that are always rejected, so their defaults do not matter.
RETIRED = {"azureDisk", "iscsi", "rbd", "scaleIO"}


def folder() -> Path:
    """Return the folder of Volcano's CRDs, VOLCANO_CRDS, seen from the root of the repository."""
    return (ROOT / (os.environ.get("VOLCANO_CRDS") or "../shared/oracle/crds")).resolve()


def missing(place: Path) -> str:
    """Return which CRDs a folder lacks and what to do, or nothing if all are there."""
    absent = [file for file in FILES.values() if not (place / file).is_file()]
    return (
        f"no {' and no '.join(absent)} in {place}: name the folder of Volcano's CRDs by VOLCANO_CRDS" if absent else ""
    )


def differences(crd: Json, shape: Shape, at: tuple[str, ...]) -> Iterator[str]:
    """Name what differs between one place of a CRD and our shape of it, and below."""
    theirs, ours = _facts(crd), _of(shape)
    if at[-1] in RETIRED:
        theirs["defaults"] = ours["defaults"]
    yield from (
        f"{'.'.join(at)}: {fact} is {theirs[fact]}, ours {ours[fact]}" for fact in ours if theirs[fact] != ours[fact]
    )
    apart = APART if len(at) == 1 else set()
    properties, fields = crd.get("properties", {}), shape.fields or {}
    yield from (f"{'.'.join(at)}.{key}: only one has it" for key in (properties.keys() ^ fields.keys()) - apart)
    for key in (properties.keys() & fields.keys()) - apart:
        yield from differences(properties[key], fields[key], (*at, key))
    inner = crd.get("items", crd.get("additionalProperties"))
    if isinstance(inner, dict) and shape.every:
        yield from differences(inner, shape.every, (*at, "*"))


def _facts(crd: Json) -> Json:
    kind = crd.get("type")
    if crd.get("x-kubernetes-int-or-string"):
        kind = "quantity" if "pattern" in crd else "int-or-string"
    keys = tuple(crd.get("x-kubernetes-list-map-keys", ()))
    return {
        "kind": kind,
        "bits": 31 if crd.get("format") == "int32" else 63,
        "required": sorted(crd.get("required", ())),
        "keys": ("",) if crd.get("x-kubernetes-list-type") == "set" else keys,
        "defaults": {key: field["default"] for key, field in crd.get("properties", {}).items() if "default" in field},
    }


def _of(shape: Shape) -> Json:
    facts = {"kind": shape.kind, "required": sorted(shape.required), "keys": shape.keys, "defaults": shape.defaults}
    return {**facts, "bits": shape.bits} if shape.kind == "integer" else facts


def compare(place: Path) -> list[str]:
    """List all differences between the CRDs of a folder and our shapes."""
    found: list[str] = []
    for kind, file in FILES.items():
        crd = yaml.load((place / file).read_text(encoding="utf-8"), yaml.CSafeLoader)
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        found += differences(schema, shape_of("volcano.schema.json", kind), (kind,))
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the differences; return 1 if there are any, 2 if there is nothing to compare with."""
    place = Path(arguments[0]) if arguments else folder()
    if lack := missing(place):
        sys.stderr.write(f"crds: {lack}\n")
        return 2
    found = compare(place)
    sys.stdout.write("".join(f"{line}\n" for line in found) + f"{len(found)} differences\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
