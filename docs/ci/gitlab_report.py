"""Turn SARIF on standard input into GitLab's code quality report on standard output."""

import json
import sys
from typing import Any
from urllib.parse import unquote

SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def entry(result: dict[str, Any]) -> dict[str, Any]:
    """Return one entry of the report."""
    place = result["locations"][0]["physicalLocation"]
    return {
        "check_name": result["ruleId"],
        "description": f"{result['ruleId']}: {result['message']['text']}",
        "fingerprint": result["partialFingerprints"]["tfgitops/v1"],
        "severity": SEVERITIES[result["level"]],
        "location": {
            "path": unquote(place["artifactLocation"]["uri"]),
            "lines": {"begin": place["region"]["startLine"]},
        },
    }


def main() -> None:
    """Read SARIF, and write the report."""
    log = json.load(sys.stdin)
    json.dump([entry(result) for run in log["runs"] for result in run["results"]], sys.stdout, indent=2)


if __name__ == "__main__":
    main()
