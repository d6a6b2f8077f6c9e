"""A committed manifest is read beside the one that follows it as it is read by itself, whatever was done to it."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from checkout import REPOSITORY

from tfgitops.review import rereading
from tfgitops.review.rereading import manifest_in
from tfgitops.spec.yamltext import parse

if TYPE_CHECKING:
    from pathlib import Path

COMMITTED = sorted((REPOSITORY / "environments").rglob("manifests/workloads/job-*.yaml"))
SCALARS = ("2", "3", "true", "'true'", "null", '"a: b"', "tf:9", "''", "[]", "{}", "{a: 1, b: 2}", "|", "*a", "- x")
ABOVE = ("# a\rkind: Queue", "# a\x85kind: Queue", "# a\u2028kind: Queue", "kind: Queue", "%YAML 1.1", "", "<<<<<<< a")


def edited(text: str, seeded: random.Random) -> str:
    """Change one to three lines: a scalar, a key, the order, the header, or whether a line is there."""
    lines = text.split("\n")
    for _ in range(seeded.randint(1, 3)):
        at = seeded.randrange(2, len(lines) - 1)
        key, colon, value = lines[at].partition(": ")
        match seeded.choice(("scalar", "scalar", "scalar", "more", "key", "gone", "twice", "turned", "above")):
            case "scalar" if colon:
                lines[at] = f"{key}: {seeded.choice(SCALARS)}"
            case "more":
                lines[at] += seeded.choice(("x", " # x", "\t", "\r", "\x85", ": y"))
            case "key" if colon:
                lines[at] = f"{key}s: {value}"
            case "gone":
                del lines[at]
            case "twice":
                lines.insert(at, lines[at])
            case "turned":
                lines[at], lines[at - 1] = lines[at - 1], lines[at]
            case "above":
                lines[seeded.randrange(2)] = seeded.choice(ABOVE)
    return "\n".join(lines)


def exact(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: f"{path.parts[-4]}-{path.stem}")
def test_what_follows_a_manifest_does_not_change_what_it_says(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    later = parse(text)
    for seed in range(60):
        earlier = edited(text, random.Random(seed))  # noqa: S311 - no secret
        assert exact(manifest_in(earlier, later)) == exact(manifest_in(earlier)), f"seed {seed}"


def test_after_a_new_image_no_manifest_is_parsed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def noting(text: str) -> Any:
        parsed.append(text)
        return parse(text)

    text = max((path.read_text(encoding="utf-8") for path in COMMITTED), key=len)
    later = parse(text)
    monkeypatch.setattr(rereading, "parse", noting)
    earlier = text.replace("image: ", "image: older.example/")
    assert manifest_in(earlier, later) == parse(earlier) != later
    assert parsed
    assert not any("\n" in one for one in parsed)
