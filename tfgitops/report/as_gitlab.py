"""Diagnostics as GitLab's code quality report, which shows them in a merge request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tfgitops.report import as_sarif

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.report.checkout import Checkout
    from tfgitops.spec.diagnostics import Diagnostic

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(diagnostics: Iterable[Diagnostic], checkout: Checkout) -> str:
    """Return a report with the same places and fingerprints as in SARIF."""
    [run] = json.loads(as_sarif.render(diagnostics, checkout, {}))["runs"]
    return json.dumps([_entry(result) for result in run["results"]], indent=2) + "\n"


def _entry(result: dict[str, Any]) -> dict[str, Any]:
    place = result["locations"][0]["physicalLocation"]
    return {
        "check_name": result["ruleId"],
        "description": f"{result['ruleId']}: {result['message']['text']}",
        "fingerprint": result["partialFingerprints"][as_sarif.FINGERPRINT],
        "severity": _SEVERITIES[result["level"]],
        "location": {
            "path": unquote(place["artifactLocation"]["uri"]),
            "lines": {"begin": place["region"]["startLine"]},
        },
    }
