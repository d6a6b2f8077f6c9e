"""Names are judged as apimachinery 0.36 judges them, at and just beyond each limit."""

import pytest

from tfgitops.targets.kubernetes import names

LONG = "a" * 63


@pytest.mark.parametrize(
    ("text", "label", "dns1035", "subdomain"),
    [
        ("a", True, True, True),
        ("tf-dist-mnist", True, True, True),
        ("0a", True, False, True),
        ("a.b", False, False, True),
        ("a-.b", False, False, False),
        ("a..b", False, False, False),
        ("-a", False, False, False),
        ("a-", False, False, False),
        ("A", False, False, False),
        ("a_b", False, False, False),
        ("a\n", False, False, False),
        ("é", False, False, False),
        ("\uff11", False, False, False),
        ("", False, False, False),
        (LONG, True, True, True),
        (LONG + "a", False, False, True),
        ("a" * 253, False, False, True),
        ("a" * 254, False, False, False),
    ],
)
def test_dns_names(text: str, label: bool, dns1035: bool, subdomain: bool) -> None:
    assert names.is_dns_label(text) is label
    assert names.is_dns1035(text) is dns1035
    assert names.is_dns_subdomain(text) is subdomain


@pytest.mark.parametrize("text", ["", "a", "A_b.c-9", LONG, "1"])
def test_legal_label_values(text: str) -> None:
    assert names.is_label_value(text)


@pytest.mark.parametrize("text", ["-a", "a-", "a b", "a/b", LONG + "a", "a\n", "ä", "."])
def test_illegal_label_values(text: str) -> None:
    assert not names.is_label_value(text)


@pytest.mark.parametrize("text", ["a", "nvidia.com/gpu", "a.b/C_d.e", f"{'a' * 253}/{LONG}", "volcano.sh/vgpu-number"])
def test_legal_qualified_names(text: str) -> None:
    assert names.is_qualified_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "a/",
        "/a",
        "a/b/c",
        "A.b/c",
        "a_b/c",
        "a/-b",
        LONG + "a",
        f"{'a' * 254}/b",
        f"a/{LONG}a",
        "a/b\n",
        "nvidia.com/gpü",
    ],
)
def test_illegal_qualified_names(text: str) -> None:
    assert not names.is_qualified_name(text)


@pytest.mark.parametrize(
    ("text", "volcano"),
    [
        ("TF_CONFIG", True),
        ("my.env-name", True),
        (".a", True),
        ("1A", False),
        ("A B", False),
        ("A:B", False),
        (".", False),
        ("..", False),
        ("..a", False),
        ("A=B", False),
        ("", False),
        ("A\n", False),
        ("Ä", False),
        ("A\x7f", False),
    ],
)
def test_env_names(text: str, volcano: bool) -> None:
    assert names.is_env_name(text) is volcano


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("srl_V1", "srl-v1"),
        ("  Größe 2 ", "groe-2"),
        ("résumé", "resume"),
        ("a__b", "a-b"),
        ("__", ""),
        ("a.b/c", "a-b-c"),
        ("x" * 62 + "_y", "x" * 62),
        ("tf-dist-mnist", "tf-dist-mnist"),
    ],
)
def test_a_suggestion_is_a_label(text: str, label: str) -> None:
    assert names.suggest_label(text) == label
    assert not label or names.is_dns_label(label)


@pytest.mark.parametrize(
    ("char", "description"),
    [
        ("“", "U+201C LEFT DOUBLE QUOTATION MARK"),
        ("\u200b", "U+200B ZERO WIDTH SPACE"),
        ("\x1b", "U+001B ESCAPE"),
        ("\x01", "U+0001"),
        ("\U0001f600", "U+1F600 GRINNING FACE"),
    ],
)
def test_a_character_is_named_by_its_code_point(char: str, description: str) -> None:
    assert names.describe(char) == description
