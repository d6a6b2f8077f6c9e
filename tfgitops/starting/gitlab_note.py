"""Post standard input as a note of the merge request; replace the note of an earlier pipeline.

GitLab's CI calls it: `python -P -m tfgitops.starting.gitlab_note < review.md`.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any
from urllib.request import Request, urlopen

MARK = "<!-- tfgitops-review -->"
LENGTH_MAX = 900_000  # GitLab takes a million characters


def call(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """Call GitLab's API as the user whose token is in TFGITOPS_TOKEN."""
    headers = {"PRIVATE-TOKEN": os.environ["TFGITOPS_TOKEN"], "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = Request(os.environ["CI_API_V4_URL"] + path, data=data, headers=headers, method=method)
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)


def earlier(notes: str) -> int | None:
    """Return the id of the note that an earlier pipeline posted; ignore notes of other users."""
    me = call("GET", "/user")["id"]
    page = 1
    while found := call("GET", f"{notes}?per_page=100&page={page}"):
        for note in found:
            if note["author"]["id"] == me and note["body"].startswith(MARK):
                return int(note["id"])
        page += 1
    return None


def main() -> None:
    """Create the note, or replace its text."""
    body = {"body": f"{MARK}\n{sys.stdin.read()[:LENGTH_MAX]}"}
    notes = f"/projects/{os.environ['CI_PROJECT_ID']}/merge_requests/{os.environ['CI_MERGE_REQUEST_IID']}/notes"
    known = earlier(notes)
    if known is None:
        call("POST", notes, body)
    else:
        call("PUT", f"{notes}/{known}", body)


if __name__ == "__main__":
    main()
