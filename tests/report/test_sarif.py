"""SARIF: what the standard and GitHub ask of a log holds, and every place in it is a place in a file."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import commandline
import pytest
from builder import cut, spec_with
from checkout import REPOSITORY
from jsonschema import Draft202012Validator

from tfgitops import __version__, compile_environment
from tfgitops.report import as_sarif
from tfgitops.report.checkout import Checkout
from tfgitops.targets.secrets import masked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops import Plugins
    from tfgitops.testing import Result

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
GOOD = HEAD + "jobs:\n  train: {image: 'tf:2.21', worker: 2}\n"
BAD = HEAD + "jobs:\n  train: {image: 'tf:2.21', wroker: 2}\n"
CASES = [path for path in sorted((REPOSITORY / "tests/cases/bad").iterdir()) if (path / "environment.yaml").exists()]


def closed(required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object that has some of these properties, and no other."""
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


def many(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


POSITIVE = {"type": "integer", "minimum": 1}
WORDS = {"type": "string", "minLength": 1}
MESSAGE = closed("text", text=WORDS)
SNIPPET = closed("text", text={"type": "string"})
ARTIFACT = closed("uri", uri={"type": "string", "pattern": r"^[A-Za-z0-9/._~%:!$&'()*+,;=@-]+$"}, uriBaseId=WORDS)
REGION = closed("startLine startColumn", startLine=POSITIVE, startColumn=POSITIVE, endColumn=POSITIVE, snippet=SNIPPET)
PLACE = closed(
    "artifactLocation region",
    artifactLocation=ARTIFACT,
    region=REGION,
    contextRegion=closed("startLine snippet", startLine=POSITIVE, snippet=SNIPPET),
)
RULE = closed(
    "id shortDescription fullDescription help defaultConfiguration",
    id=WORDS,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    helpUri={"type": "string", "pattern": "^https://"},
    defaultConfiguration=closed("level", level={"enum": ["error", "warning"]}),
)
RESULT = closed(
    "ruleId ruleIndex level message locations partialFingerprints",
    ruleId=WORDS,
    ruleIndex={"type": "integer", "minimum": 0},
    level={"enum": ["error", "warning"]},
    message=MESSAGE,
    locations=many(closed("physicalLocation", physicalLocation=PLACE), minItems=1, maxItems=1),
    relatedLocations=many(closed("id message physicalLocation", id=POSITIVE, message=MESSAGE, physicalLocation=PLACE)),
    partialFingerprints={"type": "object", "additionalProperties": WORDS, "minProperties": 1},
)
DRIVER = closed(
    "name semanticVersion rules",
    name={"const": "tfgitops"},
    semanticVersion={"const": __version__, "pattern": r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$"},
    informationUri={"type": "string", "pattern": "^https://"},
    rules=many(RULE, uniqueItems=True),
)
RUN = closed(
    "tool columnKind originalUriBaseIds results",
    tool=closed("driver", driver=DRIVER),
    columnKind={"const": "unicodeCodePoints"},
    originalUriBaseIds=closed("%SRCROOT%", **{"%SRCROOT%": closed("description", description=MESSAGE)}),
    results=many(RESULT),
)
LOG = closed(
    "$schema version runs",
    **{"$schema": {"pattern": r"^https://.*/sarif-schema-2\.1\.0\.json$"}, "version": {"const": "2.1.0"}},
    runs=many(RUN, minItems=1, maxItems=1),
)
"""What the standard (OASIS SARIF 2.1.0) and code scanning ask of the parts that we write; nothing else is written."""


def results(text: str) -> list[dict[str, Any]]:
    """Read a log as strictly as we know how, and return its results."""
    log = json.loads(text)
    assert [error.message for error in Draft202012Validator(LOG).iter_errors(log)] == []
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    found: list[dict[str, Any]] = run["results"]
    assert [rules[result["ruleIndex"]] for result in found] == [result["ruleId"] for result in found]
    assert rules == sorted({result["ruleId"] for result in found})
    prints = [str(result["partialFingerprints"]) for result in found]
    assert len(set(prints)) == len(prints)
    return found


def places(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry["physicalLocation"] for entry in (*result["locations"], *result.get("relatedLocations", ()))]


def put(path: Path | str, text: str) -> Path:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def run(*arguments: str | Path) -> Any:
    return commandline.run(*arguments, "--format", "sarif")


def only(outcome: Any) -> dict[str, Any]:
    (result,) = results(outcome.stdout)
    return result


def where(result: dict[str, Any]) -> str:
    uri: str = places(result)[0]["artifactLocation"]["uri"]
    return uri


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    put("pyproject.toml", "[tool.tfgitops]\n")
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_every_bad_case_is_a_good_log_and_its_snippets_are_what_the_files_say(case: Path, plugins: Plugins) -> None:
    compiled = compile_environment(case, plugins)
    log = as_sarif.render(compiled.diagnostics, Checkout.around(REPOSITORY), plugins.codes)
    found = results(log)
    assert len(found) == len(compiled.diagnostics)
    for diagnostic, result in zip(compiled.diagnostics, found, strict=True):
        told = result["message"]["text"]
        for part in (diagnostic.message, diagnostic.found, diagnostic.expected, diagnostic.hint):
            assert not part.isprintable() or masked(part).replace("](", "] (") in told
        assert len(result.get("relatedLocations", ())) == len(diagnostic.all_notes)
        for place in places(result):
            region = place["region"]
            if "snippet" in region:
                text = (REPOSITORY / unquote(place["artifactLocation"]["uri"])).read_text(encoding="utf-8")
                line = text.split("\n")[region["startLine"] - 1]
                line = masked(line)
                assert place["contextRegion"]["snippet"]["text"] == line.rstrip("\r")
                assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == region["snippet"]["text"]


def test_a_fault_of_the_manifest_is_on_the_line_of_the_spec(root: Path) -> None:
    job = "  train:\n    image: tf\n    worker: 1\n    pod:\n      spec:\n        volumes: [{name: Not_A_Name}]\n"
    put("environments/prod/environment.yaml", f"{HEAD}jobs:\n{job}")
    (result,) = [result for result in results(run("validate").stdout) if result["ruleId"] == "TF501"]
    place = places(result)[0]
    assert place["contextRegion"] == {"startLine": 10, "snippet": {"text": "        volumes: [{name: Not_A_Name}]"}}
    assert place["region"]["snippet"] == {"text": "Not_A_Name"}


def test_the_inherited_file_is_a_related_location(root: Path) -> None:
    put("environments/base.yaml", "queues: {vision: {capability: {nvidia.com/gpu: 2}}}\n")
    job = "{image: 'tf:2.21', queue: vision, worker: {replicas: 4, gpu: 1}}"
    put("environments/prod/environment.yaml", f"{HEAD}extends: ../base.yaml\njobs: {{train: {job}}}\n")
    result = only(run("validate"))
    assert result["ruleId"] == "QUEUE05"
    first, second = places(result)
    assert first["artifactLocation"] == {"uri": "environments/prod/environment.yaml", "uriBaseId": "%SRCROOT%"}
    assert second["artifactLocation"] == {"uri": "environments/base.yaml", "uriBaseId": "%SRCROOT%"}
    assert second["region"]["snippet"] == {"text": "2"}


def test_rules_have_the_words_of_the_compiler_and_of_the_plugins(root: Path) -> None:
    put("environments/a/environment.yaml", BAD)
    put("environments/b/environment.yaml", spec_with(GOOD, {"jobs.train.queue": "nowhere"}))
    log = json.loads(run("validate").stdout)
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert rules == {"QUEUE01": "a queue that is not known (plugin `queue`)", "TF201": "an unknown key"}


def test_a_code_that_a_plugin_does_not_list_is_its_own_description(root: Path) -> None:
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["mine.py"]\n')
    put(
        "mine.py",
        "from tfgitops import Problem, hookimpl\ntfgitops_api = 1\nCODES = ['not a table']\n"
        "@hookimpl\ndef tfgitops_check_environment(environment):\n"
        "    yield Problem(code='MINE01', message='no', at=('namespace',))\n",
    )
    put("environments/prod/environment.yaml", GOOD)
    outcome = run("validate")
    assert only(outcome)["ruleId"] == "MINE01"
    assert json.loads(outcome.stdout)["runs"][0]["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == "MINE01"


@pytest.mark.parametrize("here", [".", "environments", "environments/prod"])
def test_paths_start_at_the_checkout_wherever_the_command_runs(
    root: Path, here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "pyproject.toml").unlink(missing_ok=True)
    put("team a/größe/pyproject.toml", "[tool.tfgitops]\n")
    put("team a/größe/environments/prod/environment.yaml", BAD)
    project = root / "team a" / "größe"
    monkeypatch.chdir(project)
    expected = run("validate", "environments").stdout
    monkeypatch.chdir(project / here)
    outcome = run("validate", project / "environments")
    assert outcome.exit_code == 1
    assert where(only(outcome)) == "team%20a/gr%C3%B6%C3%9Fe/environments/prod/environment.yaml"
    assert outcome.stdout == expected


def test_without_git_paths_start_at_the_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".git").rmdir()
    put("environments/prod/environment.yaml", BAD)
    monkeypatch.chdir("environments/prod")
    assert where(only(run("validate", "."))) == "environments/prod/environment.yaml"


def test_a_file_outside_of_the_checkout_has_an_absolute_uri(root: Path, compile_spec: Callable[..., Result]) -> None:
    (root / "elsewhere" / ".git").mkdir(parents=True)
    diagnostics = compile_spec("jobs: {train: {image: x, wroker: 2}}").compiled.diagnostics
    (result,) = results(as_sarif.render(diagnostics, Checkout.around(root / "elsewhere"), {}))
    artifact = places(result)[0]["artifactLocation"]
    assert artifact == {"uri": (root / "environments/test/environment.yaml").as_uri()}


def test_columns_count_code_points(root: Path) -> None:
    put("environments/prod/environment.yaml", HEAD + 'jobs: {train: {image: "tf", command: ["😀é"], wroker: 2}}\n')
    region = places(only(run("validate")))[0]["region"]
    assert (region["startColumn"], region["endColumn"], region["snippet"]["text"]) == (46, 52, "wroker")


def test_a_fingerprint_stays_when_lines_move_and_differs_for_what_is_alike(root: Path) -> None:
    spec = put("environments/prod/environment.yaml", BAD)
    before = only(run("validate"))
    spec.write_text(cut(BAD, "jobs:", "# a comment\n\njobs:"), encoding="utf-8")
    after = only(run("validate"))
    assert places(before) != places(after)
    assert before["partialFingerprints"] == after["partialFingerprints"]
    twice = HEAD + "jobs:\n  a:\n    image: x\n    wroker: 2\n  b:\n    image: x\n    wroker: 2\n"
    spec.write_text(twice, encoding="utf-8")
    first, second = results(run("validate").stdout)
    assert first["message"] == second["message"]
    assert first["partialFingerprints"] != second["partialFingerprints"]


def test_nothing_in_a_message_is_a_link(root: Path) -> None:
    put("environments/prod/environment.yaml", HEAD + "jobs: {train: {image: '[look](https://example.com)'}}\n")
    text = only(run("validate"))["message"]["text"]
    assert "](" not in text
    assert "[look] (https://example.com)" in text


def test_control_characters_arrive_as_escapes(root: Path) -> None:
    put("environments/prod/environment.yaml", HEAD + 'jobs: {train: {image: "\\e[31m\\a"}}\n')
    outcome = run("validate")
    assert outcome.stdout.isascii()
    assert not any(char < " " for char in outcome.stdout.replace("\n", ""))
    assert "\\x1b[31m\\x07" in only(outcome)["message"]["text"]


def test_a_very_long_line_is_not_repeated(root: Path) -> None:
    put("environments/prod/environment.yaml", HEAD + f"jobs: {{train: {{image: 'tf', wroker: {'9' * 2000}}}}}\n")
    place = places(only(run("validate")))[0]
    assert "contextRegion" not in place
    assert "snippet" not in place["region"]


def test_warnings_alone_are_fine_and_strict_makes_them_errors(root: Path) -> None:
    put("environments/prod/environment.yaml", GOOD)
    put("tfgitops.lock", 'tfgitops = "0.0.0"\n')
    outcome = run("validate")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert {result["level"] for result in results(outcome.stdout)} == {"warning"}
    outcome = run("validate", "--strict")
    assert outcome.exit_code == 1
    assert {result["level"] for result in results(outcome.stdout)} == {"error"}


def test_where_nothing_is_wrong_the_log_is_empty(root: Path) -> None:
    put("environments/prod/environment.yaml", GOOD)
    outcome = run("build")
    assert (outcome.exit_code, results(outcome.stdout), outcome.stderr) == (0, [], "")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda path: path.unlink(), "TF611"),
        (
            lambda _: put("environments/prod/environment.yaml", spec_with(GOOD, {"jobs.train.image": "tf:2.22"})),
            "TF612",
        ),
        (lambda path: put(path, cut(path.read_text("utf-8"), "2.21", "2.22")), "TF613"),
        (lambda _: put("environments/prod/environment.yaml", HEAD + "jobs: {}\n"), "TF614"),
        (lambda path: put(path.with_name("mine.yaml"), "kind: Secret\n"), "TF615"),
    ],
    ids=["missing", "stale", "edited", "orphan", "foreign"],
)
def test_a_manifest_that_is_not_as_compiled_is_a_result_of_its_own_rule(
    root: Path, spoil: Callable[[Path], object], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("environments/prod/environment.yaml", GOOD)
    assert results(run("build").stdout) == []
    manifests = Path("environments/prod/manifests/workloads")
    spoil(manifests / "job-train.yaml")
    outcome = run("build", "--check")
    assert outcome.exit_code == 1
    result = only(outcome)
    assert (result["ruleId"], result["level"]) == (code, "error")
    assert where(result) == str(manifests / ("mine.yaml" if code == "TF615" else "job-train.yaml"))
    assert places(result)[0]["region"] == {"startLine": 1, "startColumn": 1}
    monkeypatch.chdir("environments/prod")
    assert run("build", "--check", ".").stdout == outcome.stdout


def test_each_manifest_that_is_not_as_compiled_is_a_result(root: Path) -> None:
    for environment in ("prod", "dev"):
        put(f"environments/{environment}/environment.yaml", GOOD + "  other: {image: 'tf:2.21', worker: 1}\n")
    assert [(result["ruleId"], where(result)) for result in results(run("build", "--check").stdout)] == [
        ("TF611", f"environments/{environment}/manifests/workloads/job-{job}.yaml")
        for environment in ("dev", "prod")
        for job in ("other", "train")
    ]


def test_what_a_build_did_is_no_problem(root: Path) -> None:
    put("environments/prod/environment.yaml", GOOD)
    put("environments/prod/manifests/workloads/mine.yaml", "kind: Secret\n")
    outcome = run("build")
    assert (outcome.exit_code, results(outcome.stdout)) == (0, [])


def test_a_problem_without_a_line_is_on_the_file_that_it_is_about(root: Path) -> None:
    put("environments/prod/environment.yaml", GOOD)
    assert where(only(run("build", "--locked"))) == "tfgitops.lock"
    in_the_way = put("environments/prod/manifests/workloads/job-train.yaml", "kind: Job\n")
    assert where(only(run("build"))) == str(in_the_way)


def test_a_problem_of_no_file_is_on_the_project_or_the_first_spec(root: Path) -> None:
    put("environments/prod/environment.yaml", GOOD)
    assert where(only(run("validate", "nowhere"))) == "pyproject.toml"
    Path("pyproject.toml").unlink()
    specs = [root / "environments/prod/environment.yaml"]
    assert Checkout.around(root, specs).fallback == specs[0]


def test_addresses_are_those_of_the_package(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("environments/prod/environment.yaml", BAD)
    packaged = Message()
    packaged["Project-URL"] = "Homepage, https://example.com/tfgitops"
    packaged["Project-URL"] = "Documentation, https://example.com/tfgitops/docs/"
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: packaged)
    driver = json.loads(run("validate").stdout)["runs"][0]["tool"]["driver"]
    assert driver["informationUri"] == "https://example.com/tfgitops"
    assert driver["rules"][0]["helpUri"] == "https://example.com/tfgitops/docs/diagnostics.md#tf201"


def test_the_compiler_as_a_folder_has_no_addresses(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("environments/prod/environment.yaml", BAD)

    def nothing(_: str) -> Message:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(importlib.metadata, "metadata", nothing)
    assert "informationUri" not in json.loads(run("validate").stdout)["runs"][0]["tool"]["driver"]


def test_every_rule_has_its_anchor_in_the_docs(plugins: Plugins) -> None:
    page = (REPOSITORY / "docs/diagnostics.md").read_text(encoding="utf-8")
    assert [code for code in plugins.codes if f'<a id="{code.lower()}"></a>' not in page] == []


def test_formats_cost_nothing_until_they_are_asked_for(root: Path) -> None:
    put("environments/prod/environment.yaml", BAD)
    script = (
        "import sys\nfrom typer.testing import CliRunner\nfrom tfgitops.cli import app\n"
        "CliRunner().invoke(app, ['validate', '--format', sys.argv[1]])\n"
        "print(*sorted(name for name in sys.modules if name.startswith('tfgitops.report.')))"
    )
    for form, own in [("text", ""), ("json", ".as_json"), ("github", ".as_github"), ("sarif", ".as_sarif")]:
        command = [sys.executable, "-c", script, form]
        loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        shared = ("buildreport", "checkout", "show", "text")
        known = {f"tfgitops.report{own}", *(f"tfgitops.report.{name}" for name in shared)}
        assert set(loaded) - known == set()
        assert not own or f"tfgitops.report{own}" in loaded
