"""Secrets in texts: what is one, what is none, and that a text keeps its length without them."""

from __future__ import annotations

import string
import time
from typing import TYPE_CHECKING

import pytest
import yaml
from checkout import REPOSITORY
from hypothesis import given
from hypothesis import strategies as st

from tfgitops.targets.secrets import masked, masked_value, secrets_in, secrets_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = "Zq3vX8pLw0RtY6uB1nMk9sDf4GhJ2aQe7cVbN5xW" * 4
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
SHAPES = {
    "aws": "AKIA" + "Z7QXM2LBPWR5TJ6Y", "github": "ghp_" + LONG[:36], "github-fine": "github_pat_" + LONG[:82],
    "gitlab": "glpat-" + LONG[:20], "slack": "xoxb-" + LONG[:40], "google": "AIza" + LONG[:35],
    "hook": "https://hooks.slack.com/services/" + "T0AB/B0CD/" + LONG[:24], "azure": "AccountKey=" + LONG[:86] + "==",
    "huggingface": "hf_" + LONG[:34], "model": "sk-proj-" + LONG[:40], "docker": "dckr_pat_" + LONG[:27],
    "npm": "npm_" + LONG[:36], "pypi": "pypi-AgEI" + LONG[:60], "databricks": "dapi" + HEX[:32],
    "digitalocean": "dop_v1_" + HEX, "vault": "hvs." + LONG[:30], "stripe": "sk_live_" + LONG[:24],
    "sendgrid": f"SG.{LONG[:22]}.{LONG[:43]}", "telegram": f"123456789:AA{LONG[:33]}",
    "jwt": f"eyJ{LONG[:20]}.eyJ{LONG[:40]}.{LONG[:43]}", "bearer": f"Authorization: Bearer {LONG[:32]}",
    "key": f"-----BEGIN RSA PRIVATE KEY-----\n{LONG[:64]}\n-----END RSA PRIVATE KEY-----\n",
    "url": "postgres://ml:" + "s3-Gq9x" + "@db.example.com/runs",
}  # fmt: skip
"""Of each shape one that nobody ever had; written in parts, so that no scanner of repositories takes it for one."""

NAMED = {
    "DB_PASSWORD": "hunter2", "db-password": "kite-4471", "dbPassword": "letmein", "AWS_SECRET_ACCESS_KEY": LONG[:40],
    "WANDB_API_KEY": HEX[:40], "HF_TOKEN": LONG[:24], "KAGGLE_KEY": HEX[:32], "--api-key": LONG[:20],
    "example.com/api-token": LONG[:20], "SMTP_PASS": "a1b2c3d4",
}  # fmt: skip
IN_TEXTS = [
    f"export DB_PASSWORD={'s3-Gq9x'}; python train.py",
    f"train --token={LONG[:24]} --steps 5",
    "mysql --password s3-Gq9x",
    f'{{"api_key": "{LONG[:32]}"}}',
    f"wandb.login(key=api_key)\napi_key = '{HEX[:40]}'",
    "password: s3-Gq9x\n",
    f"curl -H 'Authorization: Bearer {LONG[:40]}' https://example.com",
]
HARMLESS = {
    "MAX_TOKENS": "4096",
    "PAD_TOKEN": "<|endoftext|>",
    "TOKENIZER": "google/t5-v1_1-small-tokenizer-2024",
    "TOKEN_FILE": "/var/run/secrets/token",
    "DB_PASSWORD": "$(PASSWORD)",
    "API_KEY": "${API_KEY}",
    "SECRET_NAME": "hub-credentials-2024a",
    "PASSWORD_FILE": "/run/secrets/db",
    "HF_TOKEN": "changeme",
    "secret": "registry-credentials-2024x",
    "KEY": "a" * 30,
    "image": f"registry.example.com/tf:2.21@sha256:{HEX}",
    "IMAGE_DIGEST": f"sha256:{HEX}",
    "command": "python train.py",
    "url": "https://storage.example.com/data.tar?version=3",
    "at": "https://user@example.com/x",
    "GIT_SHA": HEX[:40],
    "token": "none",
    "AUTH_TYPE": "kubernetes-service-account-v1",
    "TOKEN_URL": "https://sso.example.com/oauth2/token17",
    "NCCL_SOCKET_IFNAME": "eth0",
    "XLA_FLAGS": "--xla_gpu_cuda_data_dir=/usr/local/cuda",
    "password": "********",
    "script": "token = os.environ['TOKEN']\npassword = getpass.getpass()\ntokens = tokenizer(text)\n"
    "model.fit(x, key=jax.random.PRNGKey(0))\npad_token = tokenizer.eos_token\npassword=args.password\n",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "priorityClassName": "basic-authentication-tests-2024",
    "sidecar.istio.io/inject": "false",
    "ssh-key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG",
    "SEED": "8675309123456789",
    "checkpoint": "gs://bucket/run-20241127T101500/ckpt-000123",
    "proxy": "http://proxy.example.com:3128",
    "s3": "s3://AKIA/data",
    "name": "sk-learn-contrib-classifiers-and-regressors",
    "BASIC": "Basic training parameters",
}


@pytest.mark.parametrize("secret", SHAPES.values(), ids=SHAPES)
def test_each_shape_is_found_wherever_it_stands(secret: str) -> None:
    for text in (secret, f"a {secret} b", f"X={secret}\n", f'"{secret}"'):
        assert [found.certain for found in secrets_in(text)] == [True], text
        assert len(masked(text)) == len(text)
        assert secrets_in(masked(text)) == []


@pytest.mark.parametrize(("name", "value"), NAMED.items(), ids=NAMED)
def test_the_value_of_a_telling_name_is_found(name: str, value: str) -> None:
    assert len(secrets_in(value, name)) == 1
    assert masked(value, name) == "•" * len(value)
    assert [at for at, _ in secrets_of({"env": [{"name": name, "value": value}]})] == [("env", 0, "name")]
    assert value not in str(masked_value({"env": [{"name": name, "value": value}], name: value}))


@pytest.mark.parametrize("text", IN_TEXTS)
def test_an_assignment_in_a_text_is_found(text: str) -> None:
    assert len(secrets_in(text)) == 1
    assert len(masked(text)) == len(text)


def test_an_option_and_its_value_are_two_items() -> None:
    assert [at for at, _ in secrets_of({"command": ["mysql", "--password", "hunter2"]})] == [("command", 2)]


@pytest.mark.parametrize(("name", "value"), HARMLESS.items(), ids=HARMLESS)
def test_harmless_values_are_none(name: str, value: str) -> None:
    assert secrets_in(value, name) == []
    assert secrets_in(f"{name}: {value}") == []


def _pages() -> Iterator[Path]:
    for folder in ("environments", "docs", "plugins", "tests/cases/ok", "tests/trainings", "conformance/cases"):
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if (
                path.is_file()
                and path.suffix in (".yaml", ".md", ".py", ".sh", ".json")
                and path.stat().st_size < 1 << 18
            ):
                yield path


def test_the_examples_and_the_docs_hold_no_secret_but_the_examples_of_secrets() -> None:
    found = {path.relative_to(REPOSITORY).as_posix() for path in _pages() if secrets_in(path.read_text("utf-8"))}
    assert found == {"docs/diagnostics.md", "plugins/tfgitops_secrets/diagnostics.md"}
    specs = [path for path in _pages() if path.suffix == ".yaml"]
    values = {path: list(yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader)) for path in specs}
    assert [path for path, value in values.items() if [*secrets_of(value)]] == []
    assert len(specs) > 100


@given(
    st.text(alphabet=string.ascii_letters + string.digits + "=:/@.-_ \n'\"${}()", max_size=200), st.text(max_size=20)
)
def test_a_masked_text_has_its_length(text: str, name: str) -> None:
    assert len(masked(text, name)) == len(text)


HUGE = {
    "one word": "a" * 200_000,
    "names": "token=" * 30_000,
    "urls": "a://" * 50_000,
    "passwords": "http://" + "a:" * 50_000,
    "keys": "-----BEGIN PRIVATE KEY-----" * 8000,
    "tokens": ("eyJ" + "a" * 12 + ".") * 10_000,
    "heads of tokens": "-eyJ" * 50_000,
    "$(": "password=" + "$(" * 50_000,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_a_long_text_takes_no_time(text: str) -> None:
    start = time.process_time()
    secrets_in(text, "DB_PASSWORD")
    assert time.process_time() - start < 3
