"""What Git answers to the questions of a review; what it cannot answer is the error TF606."""

from __future__ import annotations

import io
import os
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.git import run_git

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

no_base = partial(CompileError.of, "TF606")


@lru_cache(maxsize=8)
def content_of(top: Path, blob: str) -> bytes:
    """Return the content of one object: of a file that many environments extend, it is asked again and again."""
    return contents_of(top, [blob])[0]


def contents_of(top: Path, ids: Sequence[str]) -> list[bytes]:
    """Return the content of many objects, read by one process."""
    if not ids:
        return []
    result = ran(top, "cat-file", "--batch", data="".join(f"{one}\n" for one in ids).encode())
    found, output = [], io.BytesIO(result.stdout)
    for one in ids:
        words = output.readline().split()
        if len(words) != 3 or words[1] != b"blob":  # noqa: PLR2004 - id, type and size
            message = f"Git has not got the object {one[:12]} of a commit that is to be read"
            raise no_base(message, "in a partial clone, fetch it: git fetch --refetch --filter=blob:limit=1g origin")
        found.append(output.read(int(words[2])))
        output.read(1)  # the line end behind it
    return found


def succeeds(top: Path, *arguments: str) -> bool:
    """Tell whether Git answers."""
    return ran(top, *arguments).returncode == 0


def git_said(top: Path, *arguments: str) -> str:
    """Return the output of a command of Git, which must succeed."""
    result = ran(top, *arguments)
    if result.returncode:
        said = result.stderr.decode(errors="replace").strip().splitlines()
        raise no_base(f"git {arguments[0]} failed: {said[0] if said else result.returncode}", "")
    return os.fsdecode(result.stdout)


def ran(top: Path, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Return the answer of Git, whatever it is."""
    try:
        return run_git(top, *arguments, data=data)
    except FileNotFoundError as error:
        raise no_base("there is no git, with which review reads what was committed", "install it") from error
    except OSError as error:
        raise not_run(error) from error


def not_run(error: OSError) -> CompileError:
    """Say why Git could not be asked."""
    hint = "see which git it is that PATH leads to" if isinstance(error, PermissionError) else ""
    return no_base(f"git cannot be run: {error.strerror}", hint)
