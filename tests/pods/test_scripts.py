"""Pods whose script is a file of the repository or of a web server. Without root or `unshare` they are skipped."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pods import isolation

if TYPE_CHECKING:
    from tfgitops.testing import Bench, Result

ROOT = Path(__file__).parents[2]
PROGRAM = """\
#!/usr/bin/env python3
import os, sys

print("RESULT", os.access(sys.argv[0], os.W_OK), open("/etc/settings/model.json").read().strip())
"""


def played(result: Result, folder: Path, *options: str, code: int = 0) -> str:
    """Write the manifests of an environment, play its job, and return all that is printed."""
    if why := isolation.obstacle():
        pytest.skip(why)
    assert result.codes == []
    for path, text in result.files.items():
        (folder / Path(path).name).write_text(text, encoding="utf-8")
    [job] = folder.glob("job-*.yaml")
    words = [sys.executable, "-m", "conformance.pods", str(job), *options, "--timeout=60", "--tail=99"]
    words += ["--path", f"{sys.base_prefix}/bin", "--show", sys.base_prefix]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout


def test_a_script_of_the_repository(compile_spec: Bench, tmp_path: Path) -> None:
    spec = """
        configMaps: {settings: {files: [model.json], path: /etc/settings}}
        jobs: {lab: {image: a, script: train.py, command: [$(SCRIPT)], configMaps: [settings], worker: 2}}
    """
    result = compile_spec(spec, {"train.py": PROGRAM, "model.json": '{"layers": 3}\n'})
    assert played(result, tmp_path).count('RESULT False {"layers": 3}') == 2


def test_a_script_of_a_web_server(compile_spec: Bench, tmp_path: Path) -> None:
    program = f"{PROGRAM.splitlines()[0]}\nprint('RESULT', __file__)\n"
    web = tmp_path / "web"
    web.mkdir()
    (web / "train.py").write_text(program, encoding="utf-8")
    digest = hashlib.sha256(program.encode()).hexdigest()
    spec = """
        jobs:
          lab:
            image: a
            script: {url: 'http://scripts.example.com/train.py', sha256: DIGEST}
            command: [$(SCRIPT)]
            maxRetry: 1
            worker: 2
    """
    serve = f"--serve=scripts.example.com={web}"
    good = played(compile_spec(spec.replace("DIGEST", digest)), tmp_path, serve)
    assert good.count("RESULT /script/train.py") == 2
    bad = played(compile_spec(spec.replace("DIGEST", "0" * 64)), tmp_path, serve, code=1)
    assert f"/train.py has the sha256 {digest}, and the spec has 000" in bad
    assert "RESULT" not in bad
