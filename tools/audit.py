"""Look for known vulnerabilities of the packages of lock files (`make audit`); say why, where that cannot be done."""

from __future__ import annotations

import json
import subprocess
import sys


def main(files: list[str]) -> int:
    """Print each vulnerability of the locked versions; return 1 if there is one."""
    options = ["--format", "json", "--progress-spinner", "off", "--disable-pip", "--require-hashes"]
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        *options,
        *(part for file in files for part in ("--requirement", file)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own lock files
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:  # it has no exit code of its own for a service that does not answer
        print(f"audit: skipped: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}")
        return 0
    found = [(one, bug) for one in packages for bug in one.get("vulns", ())]
    for one, bug in found:
        print(f"{one['name']} {one['version']}: {bug['id']}, fixed in {', '.join(bug['fix_versions']) or 'no version'}")
    print(f"audit: {len(packages)} packages, {len(found)} known vulnerabilities")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main([file for file in sys.argv[1:] if not file.endswith("oldest.txt")]))
