"""`tfgitops plugins`: a new plugin works at once, as a package and as a file; nothing that exists is overwritten."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builder import cut
from checkout import REPOSITORY
from commandline import run

from tfgitops.spec.diagnostics import CompileError
from tfgitops.testing import find_plugins
from tfgitops.testing.scaffold.create import forms_of, with_local_plugin

SPEC = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
PACKAGE = {
    "README.md",
    "pyproject.toml",
    "tests/cases/bad/not-declared/environment.yaml",
    "tests/cases/bad/not-declared/expected.txt",
    "tests/cases/ok/declared/environment.yaml",
    "tests/cases/ok/declared/manifests/workloads/configmap-cost-centre-vision.yaml",
    "tests/cases/ok/declared/manifests/workloads/job-train.yaml",
    "tests/test_cost_centre.py",
    "tfgitops_cost_centre/__init__.py",
    "tfgitops_cost_centre/schema.json",
}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def package(root: Path) -> Path:
    assert run("plugins", "new", "cost-centre").exit_code == 0
    return root / "tfgitops-cost-centre"


# --- new ---------------------------------------------------------------------------------------------------------


def test_a_new_package_has_all_it_needs_and_its_tests_pass(package: Path) -> None:
    files = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    assert files == PACKAGE
    result = run("plugins", "test", package)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("ok    contract of 'cost-centre' on 2 specs\n\n3 passed\n")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert "3 passed" in subprocess.run(command, cwd=package, capture_output=True, text=True, check=False).stdout


def test_a_new_local_plugin_is_named_in_pyproject_and_keeps_the_contract(root: Path) -> None:
    result = run("plugins", "new", "cost-centre", "--local")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (root / "pyproject.toml").read_text() == '[tool.tfgitops]\nplugins = ["plugins/cost-centre.py"]\n'
    for path in (".", "plugins/cost-centre.py"):
        assert run("plugins", "test", path).stdout.endswith("contract of 'cost-centre' on 2 specs\n\n3 passed\n")
    assert run("plugins", "new", "team", "--local").exit_code == 0
    assert run("plugins", "test").stdout.endswith("6 passed\n")
    jobs = "jobs: {train: {image: tf, worker: 1, costCentre: a}}\n"
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(SPEC + jobs)
    assert "error[COSTCENTRE01]: the costCentre 'a' is not declared" in run("build").stderr
    assert '"costCentre"' in run("schema").stdout


def test_without_cases_the_contract_is_tried_on_the_specs_below_environments(root: Path) -> None:
    assert run("plugins", "new", "team", "--local").exit_code == 0
    shutil.rmtree(root / "plugins/cases")
    assert "there are no cases, and no environments" in run("plugins", "test").stderr
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(f"{SPEC}teams: {{a: b}}\njobs: {{}}\n")
    assert "ok    contract of 'team' on 1 spec\n" in run("plugins", "test").stdout


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("class", "classes"), ("box", "boxes"), ("branch", "branches"), ("key", "keys"),
        ("registry", "registries"), ("news", "declaredNews"), ("cost-status", "declaredCostStatus"), ("team", "teams"),
    ],
)  # fmt: skip
def test_what_is_declared_is_called_by_a_plural_that_is_one(name: str, keys: str) -> None:
    assert forms_of(name, find_plugins())["keys"] == keys


def test_a_name_that_is_taken_is_told_with_how_it_becomes_free(root: Path) -> None:
    assert run("plugins", "new", "team", "--local").exit_code == 0
    said = run("plugins", "new", "team").stderr
    assert "= help: choose another name, or take plugins/team.py out of [tool.tfgitops] plugins" in said


@pytest.mark.parametrize("local", [False, True], ids=["package", "local"])
def test_what_is_written_is_formatted_and_typed(local: bool, root: Path) -> None:
    assert run("plugins", "new", "cost", *["--local"] * local).exit_code == 0
    place = "plugins" if local else "tfgitops-cost"
    for command in (
        ("ruff", "check", "--isolated", "--select", "ALL", "--ignore", "D1,D2,D4,CPY,INP,COM,I", place),
        ("ruff", "format", "--isolated", "--check", place),
        ("mypy", "--strict", "--cache-dir", root / "cache", "plugins/cost.py" if local else f"{place}/tfgitops_cost"),
    ):
        program = Path(sys.executable).parent / command[0]
        done = subprocess.run((program, *command[1:]), cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Cost", "'Cost' cannot be the name of a plugin"),
        ("cost_centre", "'cost_centre' cannot be the name of a plugin"),
        ("-x", "No such option"),
        ("9lives", "'9lives' cannot be the name of a plugin"),
        ("a--b", "'a--b' cannot be the name of a plugin"),
        ("x" * 41, "cannot be the name of a plugin"),
        ("../x", "'../x' cannot be the name of a plugin"),
        ("gpu", "there is a plugin 'gpu' already: tfgitops_gpu"),
        ("tf", "'tf' is the name of tfgitops itself"),
        ("port", "the key 'port', which would be that of the plugin 'port', is owned already"),
        ("job", "the key 'jobs', which would be that of the plugin 'job', is owned already"),
    ],
)
def test_a_name_that_no_plugin_can_have_is_refused(name: str, said: str, root: Path) -> None:
    result = run("plugins", "new", name)
    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert [*root.iterdir()] == []


def test_nothing_that_exists_is_overwritten(package: Path, root: Path) -> None:
    (package / "README.md").write_text("mine")
    result = run("plugins", "new", "cost-centre")
    assert result.exit_code == 1
    assert "error[TF601]: tfgitops-cost-centre is there already, and not empty" in result.stderr
    assert (package / "README.md").read_text() == "mine"
    (root / "plugins").mkdir()
    (root / "plugins/team.py").write_text("mine")
    assert "plugins/team.py is there already" in run("plugins", "new", "team", "--local").stderr
    assert (root / "plugins/team.py").read_text() == "mine"
    assert not (root / "pyproject.toml").exists()


def test_a_local_plugin_stays_inside_of_the_root(root: Path) -> None:
    (root / ".git").mkdir()
    result = run("plugins", "new", "team", "--local", "-o", "..")
    assert "team.py is outside of the root" in result.stderr
    assert run("plugins", "new", "team", "--local", "-o", "tools").exit_code == 0
    assert 'plugins = ["tools/team.py"]' in (root / "pyproject.toml").read_text()


def test_a_package_that_cannot_be_written_is_told(root: Path) -> None:
    (root / "tfgitops-team").write_text("a file")
    result = run("plugins", "new", "team")
    assert (result.exit_code, "Traceback" in result.stderr) == (1, False)
    assert "error[TF602]: tfgitops-team" in result.stderr


# --- the entry in pyproject.toml ---------------------------------------------------------------------------------

EDITED = {
    "none": ("", '[tool.tfgitops]\nplugins = ["p.py"]\n'),
    "others": ("[project]\nname = 'x'\n", "[project]\nname = 'x'\n\n[tool.tfgitops]\nplugins = [\"p.py\"]\n"),
    "no line end": ("[a]\nb = 1", '[a]\nb = 1\n\n[tool.tfgitops]\nplugins = ["p.py"]\n'),
    "empty table": ("[tool.tfgitops]  # ours\n\n[a]\n", '[tool.tfgitops]  # ours\nplugins = ["p.py"]\n\n[a]\n'),
    "header alone": ("[ tool . tfgitops ]", '[ tool . tfgitops ]\nplugins = ["p.py"]\n'),
    "settings": (
        "[tool.tfgitops.settings.a]\nb = 1\n",
        '[tool.tfgitops.settings.a]\nb = 1\n\n[tool.tfgitops]\nplugins = ["p.py"]\n',
    ),
    "empty list": ("[tool.tfgitops]\nplugins = []\n", '[tool.tfgitops]\nplugins = ["p.py"]\n'),
    "one line": ("[tool.tfgitops]\nplugins = ['a.py'] # x\n", "[tool.tfgitops]\nplugins = ['a.py', \"p.py\"] # x\n"),
    "a comma behind": ("[tool.tfgitops]\nplugins = ['a.py',]\n", "[tool.tfgitops]\nplugins = ['a.py', \"p.py\",]\n"),
    "lines": (
        "[tool.tfgitops]\nplugins = [\n  'a.py', # one, [two]\n  'b.py'  # b\n]\nx.y = 1\n",
        "[tool.tfgitops]\nplugins = [\n  'a.py', # one, [two]\n  'b.py',  # b\n  \"p.py\"\n]\nx.y = 1\n",
    ),
    "lines with commas": (
        "[tool.tfgitops]\nplugins = [\n\t'a.py',\n]\n",
        "[tool.tfgitops]\nplugins = [\n\t'a.py',\n\t\"p.py\",\n]\n",
    ),
    "CRLF": ("[a]\r\nb = 1\r\n", '[a]\r\nb = 1\r\n\r\n[tool.tfgitops]\r\nplugins = ["p.py"]\r\n'),
    "there already": ("[tool.tfgitops]\nplugins = ['p.py']\n", "[tool.tfgitops]\nplugins = ['p.py']\n"),
    "plugins of others": (
        "[tool.x]\nplugins = ['a']\n[tool.tfgitops]\n[tool.y]\nplugins = ['b']\n",
        "[tool.x]\nplugins = ['a']\n[tool.tfgitops]\nplugins = [\"p.py\"]\n[tool.y]\nplugins = ['b']\n",
    ),
}


@pytest.mark.parametrize("what", EDITED)
def test_the_entry_is_put_in_and_nothing_else_changes(what: str) -> None:
    old, new = EDITED[what]
    assert with_local_plugin(old, "p.py", "pyproject.toml") == new


@pytest.mark.parametrize(
    "text",
    [
        "[tool]\ntfgitops = {plugins = ['a.py']}\n",
        "tool.tfgitops.plugins = ['a.py']\n",
        "[tool]\ntfgitops.plugins = ['a.py']\n",
        "[tool.tfgitops]\n'plugins' = ['a.py']\n",
        "x = '''\n[tool.tfgitops]\n'''\ntool.tfgitops.settings.a.b = 1\n",
        "[a]\r\nb = 1\n",
    ],
    ids=["inline", "dotted at the top", "dotted", "quoted", "in a text", "mixed line ends"],
)
def test_a_text_that_cannot_be_edited_is_left_alone(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        with_local_plugin(text, "p.py", "pyproject.toml")
    [told] = caught.value.diagnostics
    assert (told.code, told.hint) == ("TF602", 'add "p.py" to [tool.tfgitops] plugins')


def test_a_text_that_is_no_toml_is_left_alone(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.tfgitops]\nplugins = [\n")
    result = run("plugins", "new", "team", "--local")
    assert (result.exit_code, "not TOML" in result.stderr) == (1, True)
    assert not (root / "plugins").exists()


# --- list --------------------------------------------------------------------------------------------------------


def test_plugins_are_listed_with_all_they_have_and_where_they_come_from(root: Path) -> None:
    run("plugins", "new", "team", "--local")
    (root / "plain.py").write_text("tfgitops_api = 1\n")
    (root / "pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["plugins/team.py", "plain.py"]\n')
    result = run("plugins", "list")
    assert (result.exit_code, result.stderr) == (0, "")
    blocks = {block.split()[0]: block for block in result.stdout.split("\n\n")}
    assert blocks["team"] == (
        "team local\n"
        "  from      plugins/team.py\n"
        "  contract  version 1\n"
        "  hooks     schema, check_environment, contribute, objects\n"
        "  keys      teams (environment), team (job)\n"
        "  codes     TEAM01"
    )
    assert blocks["plain"] == "plain local\n  from      plain.py\n  contract  version 1\n\n".rstrip("\n")
    assert "from      tfgitops_gpu of tfgitops 0." in blocks["gpu"]
    assert "keys      gpu (role)\n" in blocks["gpu"]


def test_the_list_as_json_says_the_same() -> None:
    found = json.loads(run("plugins", "list", "--format", "json").stdout)
    assert found["version"] == 1
    gpu = next(one for one in found["plugins"] if one["name"] == "gpu")
    assert (gpu["contract"], gpu["module"]) == (1, "tfgitops_gpu")
    assert Path(gpu["file"]) == REPOSITORY / "plugins/tfgitops_gpu/__init__.py"
    assert gpu["hooks"][0] == "tfgitops_schema"
    assert gpu["keys"][0]["site"] == "role"
    assert gpu["codes"]["GPU01"]
    names = [plugin["name"] for plugin in json.loads(run("plugins", "list", "--format", "json").stdout)["plugins"]]
    assert names == sorted(names)


# --- test --------------------------------------------------------------------------------------------------------


def test_what_fails_is_shown_and_refreshed_when_asked(package: Path) -> None:
    hooks = package / "tfgitops_cost_centre/__init__.py"
    hooks.write_text(cut(hooks.read_text(), "example.com/cost-centre", "example.com/centre"))
    result = run("plugins", "test", package)
    assert result.exit_code == 1
    assert "FAIL  case ok/declared\n" in result.stdout
    assert "      +    example.com/centre: vision\n" in result.stdout
    assert result.stdout.endswith("1 of 3 failed\n")
    assert run("plugins", "test", package, "--refresh").exit_code == 0
    assert run("plugins", "test", package).exit_code == 0


def test_a_broken_contract_is_named_with_its_rule(package: Path) -> None:
    hooks = package / "tfgitops_cost_centre/__init__.py"
    hooks.write_text(cut(hooks.read_text(), 'yield job.patch(label, "costCentre")', 'yield job.patch(label, "x")'))
    result = run("plugins", "test", package)
    assert result.exit_code == 1
    assert "      because: tfgitops_contribute yields a patch of ('job',) because of ('jobs', 'train'" in result.stdout
    assert "          the contract: each patch and each object names the key that asked for it" in result.stdout


def test_where_there_is_no_plugin_it_says_so(root: Path) -> None:
    assert "there is no plugin in" in run("plugins", "test").stderr
    assert "nowhere is not there" in run("plugins", "test", "nowhere").stderr


def test_a_package_that_cannot_be_imported_is_told(package: Path) -> None:
    (package / "tfgitops_cost_centre/__init__.py").write_text("import nosuch\n")
    result = run("plugins", "test", package)
    assert (result.exit_code, "Traceback" in result.stderr) == (1, False)
    assert (
        "(tfgitops_cost_centre) cannot be imported: ModuleNotFoundError(\"No module named 'nosuch'\") (__init__.py:"
        in result.stderr
    )
