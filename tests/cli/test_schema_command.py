"""`tfgitops schema`: the schemas for editors."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from builder import GONE, spec_with
from commandline import run
from jsonschema import Draft202012Validator
from workspace import HEAD, QUEUES, TRAIN


def test_schema_accepts_a_spec_and_knows_its_keys() -> None:
    result = run("schema")
    assert (result.exit_code, result.stderr) == (0, "")
    schema = json.loads(result.stdout)
    Draft202012Validator.check_schema(schema)
    judge = Draft202012Validator(schema)
    assert judge.is_valid(yaml.safe_load(HEAD + QUEUES + TRAIN))
    mistaken = spec_with(HEAD + TRAIN, {"jobs.train.image": GONE, "jobs.train.imgae": "tf"})
    assert not judge.is_valid(yaml.safe_load(mistaken))


def test_schema_of_a_job_file_accepts_a_job() -> None:
    schema = json.loads(run("schema", "job").stdout)
    judge = Draft202012Validator(schema)
    assert judge.is_valid({"image": "tf", "worker": {"replicas": 2, "gpu": 1}, "queue": "vision"})
    assert not judge.is_valid({"image": "tf", "wroker": 2})


def test_schema_is_written_to_a_file() -> None:
    result = run("schema", "-o", "environment.schema.json")
    assert (result.exit_code, result.output) == (0, "")
    assert Path("environment.schema.json").read_text(encoding="utf-8") == run("schema").stdout
    assert run("schema", "-o", "nowhere/environment.schema.json").exit_code == 1


def test_schema_knows_nothing_of_a_plugin_that_is_left_out() -> None:
    assert '"queues"' in run("schema").stdout
    assert '"queues"' not in run("schema", "--no-plugin", "queue").stdout
