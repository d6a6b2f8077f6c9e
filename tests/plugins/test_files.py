"""Files of the repository in pods: the exact text, what is refused, pins, and the program that fetches a script."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from commandline import run
from ruamel.yaml import YAML

import tfgitops_files
from tfgitops.targets.kubernetes.objectkinds import references
from tfgitops.testing import check_plugin
from tfgitops_files.fetching import FETCH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from repository import Repository

    from tfgitops.testing import Bench, Result

TRAIN = 'jobs: {train: {image: "tf:2.21", script: train.py, worker: 2}}'
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
URL = f'{{url: "https://example.com/train.py", sha256: {DIGEST}}}'
PROD = "environments/prod"

EXACT = {
    "empty": "",
    "no-line-end": "print(1)",
    "many-line-ends": "print(1)\n\n\n",
    "crlf": "print(1)\r\nprint(2)\r\n",
    "carriage-return": "a\rb\n",
    "tabs": "if True:\n\tprint(1)\t\n",
    "trailing-blanks": "a  \nb \n  \n",
    "leading-blanks": "  a\nb\n",
    "blank-lines-first": "\n\n  a\n",
    "nel-and-separators": "a\u0085b\u2028c\u2029d\n",
    "byte-order-mark": "\ufeffprint(1)\n",
    "markers": "---\na: 1\n...\n%YAML 1.1\n# comment\n",
    "beyond-the-plane": "print('\U0001f600 é')\n",
    "control": "\x07\x1b[0m\n",
    "flux": "echo ${HOME} $$ $(RUN) {{ x }}\n",
    "boolean": "yes",
}


def _data(result: Result) -> dict[str, str]:
    [found] = [one.manifest for one in result.compiled.objects if one.manifest["kind"] == "ConfigMap"]
    data: dict[str, str] = found["data"]
    return data


@pytest.mark.parametrize("text", EXACT.values(), ids=EXACT)
def test_a_script_is_exact_for_every_reader(compile_spec: Bench, text: str) -> None:
    (compile_spec.folder / "train.py").write_bytes(text.encode())
    result = compile_spec(TRAIN)
    assert result.ok, result.text
    assert _data(result) == {"train.py": text}
    [file] = [file.text for file in result.compiled.files if "configmap-" in file.path]
    for read in (yaml.safe_load, yaml.CSafeLoader, YAML(typ="safe", pure=True).load):
        value = yaml.load(file, read) if isinstance(read, type) else read(file)  # noqa: S506 - a safe loader
        assert value["data"] == {"train.py": text}


def test_a_run_follows_the_content_and_not_where_it_is_built(
    compile_spec: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compile_spec(TRAIN, {"train.py": "print(1)\n"})
    monkeypatch.chdir("/")
    (compile_spec.folder / "train.py").chmod(0o700)
    assert compile_spec(TRAIN, {"train.py": "print(1)\n"}).compiled.files == first.compiled.files
    other = compile_spec(TRAIN, {"train.py": "print(2)\n"})
    assert other.job("train").name != first.job("train").name
    assert [name for kind, name in references(_job(other)) if kind == "ConfigMap"] != [
        name for kind, name in references(_job(first)) if kind == "ConfigMap"
    ]


def _job(result: Result) -> Any:
    return next(one.manifest for one in result.compiled.objects if one.manifest["kind"] == "Job")


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_umask_changes_no_byte(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "environments/prod"
    folder.mkdir(parents=True)
    head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
    (folder / "environment.yaml").write_text(head + TRAIN)
    (folder / "train.py").write_text("print(1)\n")
    program = [sys.executable, "-m", "tfgitops", "build", "-q", "prod"]
    subprocess.run(program, cwd=folder.parent, umask=umask, check=True)
    made = sorted(path.name for path in (folder / "manifests/workloads").iterdir())
    assert made == ["configmap-train-train-py-d474d272.yaml", "job-train.yaml"]


def test_roles_and_jobs_have_scripts_of_their_own(compile_spec: Bench) -> None:
    result = compile_spec(
        """
        defaults: {image: "tf:2.21"}
        jobs:
          one: {script: train.py, chief: {}, worker: {}, evaluator: {script: other/train.py}}
          two: {script: copy/train.py, worker: 1}
        """,
        {"train.py": "print(1)\n", "other/train.py": "print(2)\n", "copy/train.py": "print(1)\n"},
    )
    assert result.ok, result.text
    maps = [one.manifest for one in result.compiled.objects if one.manifest["kind"] == "ConfigMap"]
    held = sorted((one["metadata"]["name"][:3], one["data"]["train.py"]) for one in maps)
    assert held == [("one", "print(1)\n"), ("one", "print(2)\n"), ("two", "print(1)\n")]
    assert all(one["immutable"] for one in maps)
    assert result.container("evaluator", "one").env["SCRIPT"] == "/script/train.py"


def test_two_environments_of_one_namespace_can_mount_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nextends: ../base.yaml\nnamespace: ml\ncluster: eu-1\n"
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments/base.yaml").write_text(
        "defaults: {image: 'tf:2.21', script: train.py, configMaps: [settings]}\n"
        "configMaps: {settings: {files: [train.py]}}\n"
    )
    (tmp_path / "environments/train.py").write_text("print(1)\n")
    for name in ("ada", "bob"):
        (tmp_path / "environments" / name).mkdir()
        text = f"{head}jobs: {{{name}: {{worker: 1}}}}\n"
        (tmp_path / "environments" / name / "environment.yaml").write_text(text)
    built = run("build", "environments")
    assert built.exit_code == 0, built.output


def test_a_path_is_relative_to_the_file_in_which_it_is_written(compile_spec: Bench) -> None:
    result = compile_spec(
        "extends: ../../base/base.yaml\njobs: {train: {worker: 1}}",
        {
            "../../base/base.yaml": "defaults: {image: 'tf:2.21', script: train.py}",
            "../../base/train.py": "print('base')\n",
            "train.py": "print('own')\n",
            "jobs/other.yaml": "{script: ../train.py, worker: 1}",
        },
    )
    assert result.ok, result.text
    texts = [one.manifest["data"]["train.py"] for one in result.compiled.objects if "data" in one.manifest]
    assert sorted(texts) == ["print('base')\n", "print('own')\n"]


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"print(1)\0", "TF102", "NUL"),
        ("print(1)\n".encode("utf-16"), "TF102", "UTF-16"),
        (b"print('\xe9')\n", "TF102", "0xe9"),
        (b"#" * ((1 << 20) + 1), "TF106", "1 MiB"),
    ],
)
def test_a_file_that_is_no_text_or_too_large(compile_spec: Bench, content: bytes, code: str, words: str) -> None:
    (compile_spec.folder / "train.py").write_bytes(content)
    result = compile_spec(TRAIN)
    assert result.codes == [code]
    assert words in result.text


def test_one_mebibyte_fits_and_two_files_count_together(compile_spec: Bench) -> None:
    spec = "configMaps: {data: {files: [a, b]}}\njobs: {train: {image: tf, configMaps: [data], worker: 1}}"
    half = "#" * (1 << 19)
    assert compile_spec(spec, {"a": half, "b": half}).codes == ["TF502"]  # large for a client-side apply
    assert compile_spec(spec, {"a": half, "b": f"{half}#"}).codes == ["FILE05"]


def test_a_link_may_stay_in_the_repository_and_may_not_leave_it(compile_spec: Bench, tmp_path: Path) -> None:
    (compile_spec.folder / "program.py").write_text("print(1)\n")
    link = compile_spec.folder / "train.py"
    link.symlink_to("program.py")
    assert _data(compile_spec(TRAIN)) == {"train.py": "print(1)\n"}
    outside = tmp_path.parent / f"{tmp_path.name}-outside.py"
    outside.write_text("print(2)\n")
    link.unlink()
    link.symlink_to(outside)
    assert compile_spec(TRAIN).codes == ["TF108"]
    link.unlink()
    link.symlink_to("nowhere.py")
    assert compile_spec(TRAIN).codes == ["TF101"]


def test_a_file_that_cannot_be_read_is_an_error_of_a_base_file_too(compile_spec: Bench) -> None:
    spec = "extends: ../base.yaml\njobs: {train: {image: tf, script: train.py, worker: 1}}"
    result = compile_spec(spec, {"../base.yaml": "defaults: {script: lost.py}", "train.py": ""})
    assert result.codes == ["TF101"]
    assert "base.yaml" in result.text


@pytest.mark.parametrize(
    ("keys", "command", "args"),
    [
        ("args: [--lr=1]", ["python", "/script/train.py"], ["--lr=1"]),
        ("command: [python, -u, $(SCRIPT)]", ["python", "-u", "$(SCRIPT)"], None),
        ("args: [$(SCRIPT)]", None, ["$(SCRIPT)"]),
        ("container: {command: [run]}", ["run"], None),
    ],
)
def test_python_runs_the_script_unless_something_else_does(
    compile_spec: Bench, keys: str, command: Any, args: Any
) -> None:
    spec = f"jobs:\n  train:\n    image: tf\n    script: train.py\n    {keys}\n    worker: 1\n"
    result = compile_spec(spec, {"train.py": ""})
    assert result.codes == []
    container = _job(result)["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
    assert (container.get("command"), container.get("args")) == (command, args)


def test_a_url_is_fetched_by_an_init_container_in_an_image_of_choice(compile_spec: Bench) -> None:
    spec = f"jobs: {{train: {{image: 'tf:2.21', script: {URL}, worker: 1}}}}"
    result = compile_spec(spec)
    assert result.codes == []
    assert not [one for one in result.compiled.objects if one.manifest["kind"] == "ConfigMap"]
    [fetching] = _job(result)["spec"]["tasks"][0]["template"]["spec"]["initContainers"]
    assert fetching["image"] == "tf:2.21"
    assert fetching["command"][-3:] == ["https://example.com/train.py", DIGEST, "/script/train.py"]
    other = compile_spec(spec.replace("{url:", "{image: 'python:3.13', url:"))
    assert _job(other)["spec"]["tasks"][0]["template"]["spec"]["initContainers"][0]["image"] == "python:3.13"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "web"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()


def test_the_fetching_program_writes_what_has_the_digest_and_nothing_else(
    served: tuple[str, Path], tmp_path: Path
) -> None:
    address, folder = served
    (folder / "train.py").write_bytes(b"print(1)\r\n")
    target = tmp_path / "train.py"
    digest = hashlib.sha256(b"print(1)\r\n").hexdigest()

    def fetch(url: str, wanted: str) -> subprocess.CompletedProcess[str]:
        program = FETCH.replace("(1, 5, 25, 0)", "(0, 0)")
        command = [sys.executable, "-c", program, url, wanted, str(target)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={})

    refused = fetch(f"{address}/train.py", DIGEST)
    assert refused.returncode == 1
    assert f"has the sha256 {digest}, and the spec has {DIGEST}" in refused.stderr
    assert "cannot be fetched" in fetch(f"{address}/lost.py", digest).stderr
    assert not target.exists()
    assert fetch(f"{address}/train.py", digest).returncode == 0
    assert target.read_bytes() == b"print(1)\r\n"
    assert target.stat().st_mode & 0o777 == 0o555


def test_the_plugin_keeps_the_contract(compile_spec: Bench) -> None:
    compile_spec("", {"train.py": "print(1)\n", "a.yaml": "a: 1\n"})
    folder = compile_spec.folder
    (folder / "environment.yaml").write_text(f"""\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
configMaps: {{settings: {{files: [a.yaml]}}}}
jobs:
  train: {{image: "tf:2.21", script: train.py, configMaps: [settings], worker: 2}}
  other: {{image: "tf:2.21", script: {URL}, worker: 2}}
""")
    bad = "jobs: {train: {image: tf, script: {url: 'https://example.com/a.py'}, worker: 1}}"
    check_plugin(tfgitops_files, [folder, bad])


def _scripted(repository: Repository) -> None:
    repository.write(f"{PROD}/bert.py", "import os\nprint('one')\n")
    repository.write(f"{PROD}/a.yaml", "a: 1\n")
    repository.prod(
        ("queues:", "configMaps:\n  settings: {files: [a.yaml]}\nqueues:"),
        ("  bert:\n    command: [python, train.py, --out=/logs/$(RUN)]", "  bert:\n    script: bert.py"),
        ("    env: {LR: 0.1}", "    configMaps: [settings]"),
    )
    repository.keep()


def _maps(repository: Repository) -> list[str]:
    return sorted(path.name for path in (repository.top / PROD / "manifests/workloads").glob("configmap-*"))


def test_a_changed_script_is_a_new_run_with_the_file_as_its_cause(repository: Repository) -> None:
    _scripted(repository)
    [settings, script] = sorted(_maps(repository), key=lambda name: "bert" in name)
    repository.write(f"{PROD}/bert.py", "import os\nprint('two')\n")
    check = run("build", "--check")
    assert check.exit_code == 1
    assert "job-bert.yaml" in check.output
    assert "job-resnet.yaml" not in check.output
    asked = run("build")
    assert "error[TF604]: `bert.py` would restart a training" in asked.output
    assert f"{PROD}/bert.py:2:1" in asked.output
    repository.build("--restart", "bert")
    assert script not in _maps(repository)
    assert settings in _maps(repository)
    review = repository.review().output
    assert f"bert.py  {PROD}/bert.py:2\n" in review
    assert "1 training restarts, 2 keep running" in review


def test_a_changed_configuration_is_a_new_run_with_the_file_as_its_cause(repository: Repository) -> None:
    _scripted(repository)
    repository.write(f"{PROD}/a.yaml", "a: 2\n")
    assert f"`a.yaml` would restart a training of {PROD} that nobody changed: resnet" in run("build").output
    repository.build("--restart-all")
    assert f"a.yaml  {PROD}/a.yaml:1\n" in repository.review().output


def test_a_script_of_a_moved_environment_is_compared_with_what_it_was(repository: Repository) -> None:
    _scripted(repository)
    repository.git("mv", PROD, "environments/live")
    repository.write("environments/live/bert.py", "import os\nprint('two')\n")
    repository.build("--restart-all")
    assert "bert.py  environments/live/bert.py:2\n" in repository.review().output


def test_another_script_is_the_line_that_names_it(repository: Repository) -> None:
    _scripted(repository)
    repository.write(f"{PROD}/other.py", "print('other')\n")
    repository.prod(("script: bert.py", "script: other.py"))
    repository.build()
    review = repository.review().output
    assert "jobs.bert.script" in review
    assert "other.py  " not in review


def test_a_pinned_job_keeps_its_script(repository: Repository) -> None:
    _scripted(repository)
    before = _maps(repository)
    repository.write(f"{PROD}/bert.py", "print('two')\n")
    repository.build("--pin-rest")
    assert _maps(repository) == before
    repository.commit("pinned")
    assert "pinned: bert" in repository.review().output or "bert" in repository.read(f"{PROD}/environment.yaml")
    assert run("unpin", PROD, "bert").exit_code == 0
    repository.build("--restart", "bert")
    assert _maps(repository) != before
    assert len(_maps(repository)) == 2


def test_explain_names_the_file(repository: Repository) -> None:
    _scripted(repository)
    told = run("explain", PROD, "bert", "worker.volumes[script].configMap.name").output
    assert f"script: bert.py  {PROD}/bert.py:1:1" in told
    assert f"script: bert.py  {PROD}/environment.yaml:" in told


def test_configmaps_of_many_jobs_have_a_limit_together(compile_spec: Bench) -> None:
    (compile_spec.folder / "t.py").write_text("#" * 1_000_000)
    jobs = "".join(f"  j{n}: {{image: tf, worker: 1, command: [a], configMaps: [m]}}\n" for n in range(9000))
    found = compile_spec(f"configMaps: {{m: {{files: [t.py]}}}}\njobs:\n{jobs}").compiled.diagnostics
    assert [one.code for one in found] == ["FILE05"]
    assert "larger than 128 MiB" in found[0].message
