"""Diagnostics as one SARIF 2.1.0 log, for GitHub code scanning and whoever else reads what analysers find."""

from __future__ import annotations

import json
import os
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tfgitops import __version__
from tfgitops.plugins.plain import dumped, printable
from tfgitops.report.text import explained

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.report.checkout import Checkout
    from tfgitops.spec.diagnostics import Diagnostic, Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "tfgitops/v1"
_BASE = "%SRCROOT%"
_LINE_MAX = 1000
"""A longer source line is not repeated: the log would grow by it for every problem on it."""


def render(diagnostics: Iterable[Diagnostic], checkout: Checkout, codes: Mapping[str, str]) -> str:
    """Return a log of one run, whose places are relative to the checkout.

    ``codes`` has the title of each code; a code without a title is described by its own name.
    """
    found = list(diagnostics)
    rules = sorted({diagnostic.code for diagnostic in found})
    run = {
        "tool": {"driver": _driver(rules, codes)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The root of the repository."}}},
        "results": list(_results(found, rules, checkout)),
    }
    return dumped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ascii_only=True)


def _driver(rules: Iterable[str], codes: Mapping[str, str]) -> dict[str, Any]:
    home, pages = _addresses()
    described = [_rule(code, codes.get(code, code), pages) for code in rules]
    address = {"informationUri": home} if home else {}
    return {"name": "tfgitops", "semanticVersion": __version__, **address, "rules": described}


def _rule(code: str, meaning: str, pages: str) -> dict[str, Any]:
    page = f"diagnostics.md#{code.lower()}"
    return {
        "id": code,
        "shortDescription": {"text": meaning},
        "fullDescription": {"text": meaning},
        "help": {"text": f"{code}: {meaning}. See docs/{page} of tfgitops."},
        "defaultConfiguration": {"level": "error"},  # a result says what it is: a rule may have both
        **({"helpUri": f"{pages.rstrip('/')}/{page}"} if pages else {}),
    }


def _addresses() -> tuple[str, str]:
    """Return the home page and the documentation that the package names; empty where it names none."""
    from importlib.metadata import PackageNotFoundError, metadata  # noqa: PLC0415 - for this format alone

    try:
        lines = metadata("tfgitops").get_all("Project-URL") or []
    except PackageNotFoundError:
        lines = []
    listed = {label.strip(): address.strip() for label, _, address in (line.partition(",") for line in lines)}
    return listed.get("Homepage", ""), listed.get("Documentation", "")


def _results(found: Iterable[Diagnostic], rules: list[str], checkout: Checkout) -> Iterator[dict[str, Any]]:
    alike: Counter[tuple[str, ...]] = Counter()
    for diagnostic in found:
        file = diagnostic.span.file if diagnostic.span else diagnostic.file or str(checkout.fallback)
        line = diagnostic.span.excerpt.strip() if diagnostic.span else ""  # stays when other lines come and go
        same = (diagnostic.code, _artifact(file, checkout)["uri"], diagnostic.message, line)
        alike[same] += 1
        known = [*same, str(alike[same])]
        result = {
            "ruleId": diagnostic.code,
            "ruleIndex": rules.index(diagnostic.code),
            "level": diagnostic.severity,
            "message": _message(explained(diagnostic)),
            "locations": [{"physicalLocation": _place(file, diagnostic.span, checkout)}],
            "partialFingerprints": {FINGERPRINT: sha256(json.dumps(known).encode()).hexdigest()[:32]},
        }
        if diagnostic.all_notes:
            result["relatedLocations"] = [
                {"id": number, "message": _message(printable(note)), "physicalLocation": _place(at.file, at, checkout)}
                for number, (note, at) in enumerate(diagnostic.all_notes, start=1)
            ]
        yield result


def _message(text: str) -> dict[str, str]:
    """Make a message in which nothing of a spec is a link: ``[text](target)`` would be one."""
    return {"text": text.replace("](", "] (")}


def _place(file: str, span: Span | None, checkout: Checkout) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(file, checkout)}
    if span is None:
        place["region"] = {"startLine": 1, "startColumn": 1}  # code scanning asks for a line of every result
        return place
    first, line = span.column, span.excerpt
    last = max(first, min(first + max(1, span.width), len(line) + 1))  # exclusive, and at most behind the line
    place["region"] = {"startLine": span.line, "startColumn": first, "endColumn": last}
    if line.strip() and len(line) <= _LINE_MAX:
        place["region"]["snippet"] = {"text": line[first - 1 : last - 1]}
        place["contextRegion"] = {"startLine": span.line, "snippet": {"text": line}}
    return place


def _artifact(file: str, checkout: Checkout) -> dict[str, str]:
    path = checkout.path(file)
    if path is None:
        return {"uri": Path(file).absolute().as_uri()}
    return {"uri": quote(os.fsencode(path), safe="/"), "uriBaseId": _BASE}  # byte by byte, also names that are no text
