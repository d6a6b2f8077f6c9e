"""The limits of what is read, planned and shown: nobody's spec takes all memory, or the whole day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container

FILE: Final = 16 * 2**20
DEPTH: Final = 100
ENTRIES: Final = 10_000
SCALAR: Final = 2**20
EXPANDED: Final = 16 * 2**20
TEXT_FILE: Final = 2**20
TEXTS: Final = 64 * 2**20
WRITTEN: Final = 128 * 2**20
CHAIN: Final = 50
SPECS: Final = 64 * 2**20
JOBS: Final = 10_000
INHERITED: Final = 64 * 2**20
PODS: Final = 1_000_000
FAULTS: Final = 100
UNKNOWN: Final = 100
SHAPE: Final = 1_000
TRACED: Final = 500
SHOWN: Final = 1_000

EACH: Final = 64
"""The bytes that each value counts, beside its text, in the sizes below: about as many as it takes."""


class Bound(NamedTuple):
    """One limit: the thing that is counted, how many of it there may be at most, and the unit."""

    of: str
    most: int
    unit: str

    @property
    def number(self) -> str:
        """The limit as the documentation writes it."""
        unit = self.unit.removeprefix("MiB")
        number = f"{self.most >> 20} MiB" if unit != self.unit else f"{self.most:,}"
        return f"{number} {unit}".rstrip()


_SIZE = f"MiB, where each value counts {EACH} bytes and its text"
BOUNDS: Final = (
    Bound("a spec, a file that it extends, or a manifest", FILE, "MiB"),
    Bound("folders below `environments/`, `jobs/` or `manifests/`", DEPTH, "levels"),
    Bound("the nesting of a file", DEPTH, "levels"),
    Bound("one map or list", ENTRIES, "entries"),
    Bound("one text", SCALAR, "characters"),
    Bound("a file, its aliases expanded", EXPANDED, _SIZE),
    Bound("a file that `script` or `configMaps` names", TEXT_FILE, "MiB"),
    Bound("all such files of an environment", TEXTS, "MiB"),
    Bound("a chain of `extends`", CHAIN, "files"),
    Bound("a chain of `from`", CHAIN, "jobs"),
    Bound("all files of an environment, their aliases expanded", SPECS, _SIZE),
    Bound("the jobs of an environment", JOBS, "jobs"),
    Bound("all that the jobs of an environment inherit", INHERITED, _SIZE),
    Bound("all such files, each counted for every job that has it", WRITTEN, "MiB"),
    Bound("the pods of an environment", PODS, "pods"),
    Bound("faults that are shown of a file that is not YAML", FAULTS, "faults"),
    Bound("unknown keys that are shown of one map", UNKNOWN, "keys"),
    Bound("wrong values that are looked at in one file", SHAPE, "values"),
    Bound("a job whose faults are shown at the lines of its values, and not at its name", TRACED, "values"),
    Bound("problems that one command shows", SHOWN, "problems"),
)
"""All limits, in the order in which a compile meets them; docs/reliability.md is made of them."""


def expanded(value: Any, files: Container[int] = ()) -> int:
    """Return the size of a value: the lengths of its texts and keys, and some bytes for each value.

    ``files`` are the `id` of the texts of files, each of which is in memory once, and in one object.
    """
    kind = type(value)
    if kind is dict:
        return EACH + sum(len(key) + expanded(inner, files) for key, inner in value.items())
    if kind is list:
        return EACH + sum(expanded(inner, files) for inner in value)
    return EACH + len(value) if kind is str and id(value) not in files else EACH
