"""A reader of our pages, who does in an empty folder what a page says."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tfgitops.cli import app

if TYPE_CHECKING:
    from collections.abc import Mapping

BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "You" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "you@example.com" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "2026-11-28T12:00:00Z" for who in ("AUTHOR", "COMMITTER")},
}  # fmt: skip
"""With these, a commit has the same hash on every machine."""


class Reader:
    """Follows a page: runs its commands, writes its files, applies its changes.

    | block | the reader |
    |---|---|
    | `console` | runs each line that begins with `$ `, and replaces the lines below it by what the command prints |
    | `diff` | applies the change |
    | `yaml`, `toml` with a path in a comment on the first line | writes the file |
    | `python` | looks for the text in the files of the folder |
    | `sh`, `text`, `json` | does nothing: these are for other machines |
    """

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._place = place
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(place)
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables of a machine with the command installed and Git set up."""
        return {**_GIT, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def follow(self, text: str) -> str:
        """Follow all blocks, and return the text with the commands' real output."""
        return BLOCK.sub(self._block, text)

    def _block(self, match: re.Match[str]) -> str:
        kind, body = match[1], match[2]
        if kind == "console":
            body = "".join(self._command(line) for line in body.splitlines() if line.startswith("$ "))
        elif kind == "diff":
            command = ("git", "apply", "--recount", "--verbose", "-")
            done = subprocess.run(command, input=body, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        elif kind in {"yaml", "toml"}:
            path = Path(body.split("\n", 1)[0].removeprefix("# "))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif kind == "python":
            assert any(body in path.read_text() for path in Path().rglob("*.py")), f"no file has\n{body}"
        else:
            assert kind in {"sh", "text", "json"}, kind
        return f"```{kind}\n{body}```"

    def _command(self, line: str) -> str:
        command = line.removeprefix("$ ")
        program, *arguments = shlex.split(command)
        if program == "cd":
            self._monkeypatch.chdir(arguments[0])
            said = ""
        elif program == "pip":
            self._install()
            said = ""
        elif program == "tfgitops" and "|" not in arguments:
            said = self._tfgitops(arguments)
        else:
            done = subprocess.run(
                ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            assert done.returncode == 0, done.stdout
            said = done.stdout
        return f"{line}\n{said}"

    @staticmethod
    def _tfgitops(arguments: list[str]) -> str:
        said = io.StringIO()  # one stream, in the order in which a terminal shows it
        with redirect_stdout(said), redirect_stderr(said), pytest.raises(SystemExit) as ended:
            app(arguments, prog_name="tfgitops")
        assert ended.value.code in (0, 1), said.getvalue()
        return said.getvalue()

    def _install(self) -> None:
        """Put on the path what an editable install of this folder puts there."""
        project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
        site = self._place / "site" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        site.mkdir(parents=True)
        (site / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
        points = "\n".join(f"{name} = {target}" for name, target in project["entry-points"]["tfgitops"].items())
        (site / "entry_points.txt").write_text(f"[tfgitops]\n{points}\n")
        for place in (site.parent, Path.cwd()):
            self._monkeypatch.syspath_prepend(str(place))
