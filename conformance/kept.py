"""Keeps specs that went wrong once, each in its own file with the verdict in a comment at its top."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

CASES = Path(__file__).resolve().parent / "cases"


def cases() -> list[Path]:
    """List the files of all kept cases."""
    return sorted(CASES.glob("*.yaml"))


def keep(spec: dict[str, Any], messages: Iterable[str]) -> Path:
    """Write a spec to a file named by its digest, and return the file; JSON is YAML that every reader reads alike."""
    text = json.dumps(spec, indent=2) + "\n"
    path = CASES / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.yaml"
    said = "".join(f"# {line}\n" for message in messages for line in message.splitlines())
    CASES.mkdir(exist_ok=True)
    path.write_text(said + text, encoding="utf-8")
    return path
