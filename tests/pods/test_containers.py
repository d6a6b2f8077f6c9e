"""What a container of `conformance/pods/` gets: its variables, its command, its mounts, and faults by its log."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pods import __main__ as runner
from pods import isolation
from pods.containers import Folders, Machine, script, unplayable
from pods.expansion import expand
from pods.faults import fault_of
from pods.job import Job, job_of, read_job
from pods.kubelet import pause_before
from pods.variables import Place, variables

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("--index=$(INDEX)", "--index=1"),
        ("$$(INDEX)", "$(INDEX)"),
        ("$$$(INDEX)", "$1"),
        ("$INDEX ${INDEX} $", "$INDEX ${INDEX} $"),
        ("$(NOBODY) $(INDEX", "$(NOBODY) $(INDEX"),
        ("a$$b", "a$b"),
    ],
)
def test_expansion(text: str, expanded: str) -> None:
    assert expand(text, {"INDEX": "1"}) == expanded


def job(container: Json, **pod: Any) -> Job:
    spec = {"containers": [{"name": "c", "command": ["true"]} | container]} | pod
    task = {"name": "big-worker", "replicas": 2, "template": {"metadata": {"labels": {"team": "ml"}}, "spec": spec}}
    manifest = {
        "metadata": {"name": "train-1", "namespace": "ml"},
        "spec": {"plugins": {"svc": [], "env": []}, "tasks": [task]},
    }
    return job_of(manifest, {"settings": {"lr": "0.1", "t.py": "print()"}})


def place(of: Job) -> Place:
    return Place(job=of, task=of.tasks[0], index=1, address="10.77.1.7")


def test_variables_come_from_the_manifest_and_from_volcano() -> None:
    def field(path: str) -> Json:
        return {"valueFrom": {"fieldRef": {"fieldPath": path}}}

    env = [
        {"name": "INDEX"} | field("metadata.labels['volcano.sh/task-index']"),
        {"name": "RUN"} | field("metadata.labels['volcano.sh/job-name']"),
        {"name": "TEAM"} | field("metadata.labels['team']"),
        {"name": "POD"} | field("metadata.name"),
        {"name": "IP"} | field("status.podIP"),
        {"name": "OUT", "value": "/runs/$(RUN)/$(LATER)/$(VC_TASK_INDEX)"},
        {"name": "LATER", "value": "no"},
        {"name": "EMPTY"},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "LR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "lr"}}},
    ]
    of = job({"env": env, "envFrom": [{"configMapRef": {"name": "settings"}, "prefix": "X_"}]})
    assert variables(place(of), of.tasks[0].pod["containers"][0]) == {
        "X_lr": "0.1",
        "X_t.py": "print()",
        "INDEX": "1",
        "RUN": "train-1",
        "TEAM": "ml",
        "POD": "train-1-big-worker-1",
        "IP": "10.77.1.7",
        "OUT": "/runs/train-1/$(LATER)/$(VC_TASK_INDEX)",
        "LATER": "no",
        "EMPTY": "",
        "PASSWORD": "dummy",
        "LR": "0.1",
        "VK_TASK_INDEX": "1",
        "VC_TASK_INDEX": "1",
        "VC_BIG_WORKER_HOSTS": "train-1-big-worker-0.train-1,train-1-big-worker-1.train-1",
        "VC_BIG_WORKER_NUM": "2",
    }


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    for name in ("work", "claims", "volcano"):
        (tmp_path / name).mkdir()
    (tmp_path / "hosts").touch()
    paths = {name: tmp_path / name for name in ("work", "claims", "hosts", "volcano", "log")}
    return Folders(**paths)


def test_the_script_mounts_and_runs_init_containers_before_it_becomes_the_command(folders: Folders) -> None:
    volumes = [
        {"name": "runs", "persistentVolumeClaim": {"claimName": "runs"}},
        {"name": "scratch", "emptyDir": {}},
        {"name": "code", "configMap": {"name": "settings", "items": [{"key": "t.py", "path": "t.py"}]}},
    ]
    mounts = [
        {"name": "runs", "mountPath": "/runs", "subPathExpr": "$(VC_TASK_INDEX)"},
        {"name": "scratch", "mountPath": "/scratch"},
        {"name": "code", "mountPath": "/code", "readOnly": True},
        {"name": "code", "mountPath": "/opt/one.py", "subPath": "t.py"},
    ]
    first = {"name": "first", "command": ["sh", "-c", "echo 'made it'"]}
    main = {
        "command": ["python", "t.py"],
        "args": ["--index=$(VC_TASK_INDEX)"],
        "volumeMounts": mounts,
        "workingDir": "/code",
    }
    of = job(main, volumes=volumes, initContainers=[first])
    text = script(place(of), folders, Machine(path=("/venv/bin",), env={"A": "1"}, shown=((folders.claims, "/shown"),)))
    lines = text.splitlines()
    assert lines[:2] == ["set -e", "hostname train-1-big-worker-1"]
    assert lines[-1].startswith(f"touch {folders.work}/initialized; exec chroot ")
    assert lines[-1].endswith(f" python t.py --index=1 >>{folders.log} 2>&1")
    assert "--chdir=/code PATH=/venv/bin:/usr/local/sbin:" in lines[-1]
    assert sum(line.startswith("chroot ") and "made it" in line for line in lines) == 1
    for source, target, after in (
        (folders.claims / "runs/1", "/runs", ""),
        (folders.work / "volume-scratch", "/scratch", ""),
        (folders.work / "volume-code", "/code", "; mount -o remount,ro,bind"),
        (folders.work / "volume-code/t.py", "/opt/one.py", "; mount -o remount,ro,bind"),
        (folders.claims, "/shown", "; mount -o remount,ro,bind"),
        (folders.volcano, "/etc/volcano", "; mount -o remount,ro,bind"),
    ):
        assert f"mount --bind {source} {folders.work}/root-1/root{target}{after}" in text
        assert source.exists()
    assert subprocess.run([shutil.which("sh") or "sh", "-n"], input=text, text=True, check=False).returncode == 0


def variable(source: Json) -> Json:
    return {"initContainers": [{"name": "first", "env": [{"name": "V", "valueFrom": source}]}]}


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        ({"containers": [{}, {}]}, "more than one container"),
        ({"initContainers": [{"restartPolicy": "Always"}]}, "a native sidecar"),
        ({"volumes": [{"name": "n", "nfs": {}}]}, "volume n"),
        ({"volumes": [{"name": "n", "configMap": {"name": "no"}}]}, "no file beside the manifest has the ConfigMap no"),
        (
            {"volumes": [{"name": "n", "configMap": {"name": "settings", "items": [{"key": "no", "path": "x"}]}}]},
            "the ConfigMap settings has no key no",
        ),
        (
            {"initContainers": [{"envFrom": [{"configMapRef": {"name": "no"}}]}]},
            "no file beside the manifest has the ConfigMap no",
        ),
        (variable({"configMapKeyRef": {"name": "settings", "key": "no"}}), "the ConfigMap settings has no key no"),
        (variable({"resourceFieldRef": {"resource": "limits.cpu"}}), "variable V from resourceFieldRef"),
        (variable({"fieldRef": {"fieldPath": "metadata.uid"}}), "variable V from metadata.uid"),
    ],
)
def test_a_job_that_cannot_be_played_says_why(pod: Json, reason: str) -> None:
    assert unplayable(job({}, **pod)) == [f"task big-worker: {reason}"]


def test_what_is_optional_may_be_missing(folders: Folders) -> None:
    missing = {"name": "no", "optional": True}
    env = [{"name": "V", "valueFrom": {"configMapKeyRef": {"key": "k", **missing}}}]
    container = {"env": env, "envFrom": [{"configMapRef": missing}], "volumeMounts": [{"name": "n", "mountPath": "/n"}]}
    of = job(container, volumes=[{"name": "n", "configMap": missing}])
    assert not unplayable(of)
    assert "V" not in variables(place(of), of.tasks[0].pod["containers"][0])
    assert "/root/n" in script(place(of), folders, Machine())


def test_files_of_a_config_map_have_their_modes(folders: Folders) -> None:
    items = [{"key": "lr", "path": "deep/lr"}, {"key": "t.py", "path": "t.py", "mode": 0o400}]
    source = {"name": "settings", "defaultMode": 0o555, "items": items}
    mounts = {"volumeMounts": [{"name": "code", "mountPath": "/code"}]}
    script(place(job(mounts, volumes=[{"name": "code", "configMap": source}])), folders, Machine())
    modes = {path: (folders.work / "volume-code" / path).stat().st_mode & 0o777 for path in ("deep/lr", "t.py")}
    assert modes == {"deep/lr": 0o555, "t.py": 0o400}


def test_init_containers_run_once(folders: Folders) -> None:
    of = job({}, initContainers=[{"name": "first", "command": ["made-it"]}])
    assert "made-it" in script(place(of), folders, Machine())
    (folders.work / "initialized").touch()
    assert "made-it" not in script(place(of), folders, Machine())


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("environments/*/manifests/workloads/job-*.yaml")), ids=lambda path: path.name
)
def test_every_committed_job_can_be_played(path: Path, folders: Folders) -> None:
    found = read_job(path)
    assert not unplayable(found)
    for task in found.tasks:
        of = Place(job=found, task=task, index=0, address="10.77.1.7")
        assert "exec chroot" in script(of, folders, Machine())


def test_a_container_that_fails_again_waits_longer() -> None:
    assert [pause_before(restarts) for restarts in (0, 1, 2, 3, 9)] == [0, 10, 20, 40, 300]


def test_a_fault() -> None:
    fault = fault_of("worker-1~^step 5.$=kill:ps-0")
    assert fault.due("worker-1", "step 1\nstep 50\n")
    assert not fault.due("worker-1", "step 5\n")
    assert not fault.due("worker-0", "step 50\n")
    assert [fault.hits(pod) for pod in ("ps-0", "ps-1")] == [True, False]
    assert fault_of("a~b=freeze:*").hits("ps-1")
    with pytest.raises(ValueError, match="is no fault: POD~REGEX=ACTION:POD"):
        fault_of("worker-1=kill")


def test_without_root_a_run_is_skipped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    path = str(ROOT / "environments/vivo/manifests/workloads/job-imagenet.yaml")
    assert runner.main([path, "--or-skip"]) == 0
    assert capsys.readouterr().out == "pods: skipped: namespaces, networks and roots for pods need the user root\n"
    assert runner.main([path]) == 2
    assert capsys.readouterr().err.startswith("pods: namespaces")


def test_without_its_tools_a_run_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert isolation.obstacle() == "there is no unshare and no setpriv and no ip and no chroot"


def test_a_file_without_a_job(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(isolation, "obstacle", lambda: "")
    (tmp_path / "x.yaml").write_text("kind: Queue\n", encoding="utf-8")
    assert runner.main([str(tmp_path / "x.yaml")]) == 2
    assert capsys.readouterr().err.endswith("x.yaml: no Job\n")
