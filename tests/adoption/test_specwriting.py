"""A written spec reads back as it was, whatever its texts hold, and keeps the comments of the source."""

from __future__ import annotations

from typing import Any

from fuzzed import fuzz
from hypothesis import given
from hypothesis import strategies as st

from tfgitops.adoption.comments import Comment
from tfgitops.adoption.specwriting import write_spec
from tfgitops.spec.yamltext import parse

TEXT = st.text(st.sampled_from("ab0 :#-{}[],\"'\n\\|>&*!%@`?=~é.$()"), max_size=12)
KEY = st.text(st.sampled_from("abcz-./0 :#'"), min_size=1, max_size=6)
VALUE: Any = st.recursive(
    TEXT | st.integers(-5, 99) | st.booleans() | st.sampled_from(["no", "1.10", "null", "0x1f", "1e3", "2026-01-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3),
    max_leaves=8,
)


@fuzz(300)
@given(env=st.dictionaries(KEY, VALUE, max_size=4), command=TEXT | st.lists(TEXT, max_size=3), roles=VALUE)
def test_a_spec_reads_back_as_it_was(env: Any, command: Any, roles: Any) -> None:
    job = {"command": command, "env": env, "tasks": {"a": roles}, "pod": {"spec": env}}
    spec = {"apiVersion": "tfgitops/v1alpha1", "kind": "Environment", "namespace": "ml", "jobs": {"train": job}}
    assert parse(write_spec(spec, {})) == spec


def test_comments_stand_at_their_keys() -> None:
    spec = {
        "apiVersion": "tfgitops/v1alpha1",
        "jobs": {"train": {"worker": {"replicas": 2, "cpu": 4}, "env": {"A": "1"}}},
    }
    comments = {
        ("jobs", "train"): Comment(("Two lines", "above")),
        ("jobs", "train", "worker", "cpu"): Comment((), "cores"),
    }
    assert write_spec(spec, comments) == (
        "apiVersion: tfgitops/v1alpha1\n"
        "jobs:\n"
        "  # Two lines\n"
        "  # above\n"
        "  train:\n"
        "    worker:\n"
        "      replicas: 2\n"
        "      cpu: 4  # cores\n"
        "    env: {A: '1'}\n"
    )
