"""Asks Git: one call of the program, which takes no lock, asks nobody, and fetches nothing."""

from __future__ import annotations

import os
import subprocess
from hashlib import sha1, sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
_SETTINGS = {
    "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1",
}  # fmt: skip
_PLAIN = (
    "core.quotePath=false", "log.showSignature=false", "log.follow=false", "log.showRoot=true", "diff.relative=false",
    "color.ui=false", "safe.bareRepository=explicit",
)  # fmt: skip
"""Settings of which a user's own would change what Git prints, or which repository it reads: one can be committed."""

_REDIRECTING = frozenset({
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
    "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_NOGLOB_PATHSPECS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_WORK_TREE",
})  # fmt: skip


def run_git(folder: Path, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run Git in a folder, and return the result, whatever its exit status; raise OSError if Git cannot be run.

    Git looks at the folder's own repository, even if a hook of another one has set Git's variables, and takes paths
    literally. No setting of the user changes the output.
    """
    environment = {key: value for key, value in os.environ.items() if key not in _REDIRECTING} | _SETTINGS
    command = ["git", *(word for setting in _PLAIN for word in ("-c", setting)), *arguments]
    return subprocess.run(command, cwd=folder, input=data, capture_output=True, check=False, env=environment)  # noqa: S603


def newest_commit_day(folder: Path) -> str:
    """Return the committer's day of HEAD in a folder's repository, as YYYY-MM-DD in UTC, or nothing without one."""
    from datetime import UTC, datetime  # noqa: PLC0415 - for environments with exceptions alone

    try:
        result = run_git(folder, "log", "-1", "--format=%ct", "HEAD", "--")
        if result.returncode or not result.stdout.strip().isdigit():
            return ""
        return datetime.fromtimestamp(int(result.stdout), UTC).date().isoformat()
    except (OSError, ValueError, OverflowError):  # no Git, or a year that no calendar has
        return ""


def object_id(content: bytes, length: int) -> str:
    """Return the id that Git gives a file; its length tells SHA-1 from SHA-256 repositories."""
    data = b"blob %d\0" % len(content) + content
    found = sha1(data, usedforsecurity=False).hexdigest()
    return found if length == len(found) else sha256(data).hexdigest()
