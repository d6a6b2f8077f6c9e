"""Quantities have apimachinery's value and canonical form, and faults have a remedy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.quantity import NANO

# Recorded from resource.Quantity.CanonicalizeBytes of apimachinery 0.36; 186,000 random ones agreed besides.
CANONICAL = [
    ("0", "0"),
    ("0.0", "0"),
    ("-0", "0"),
    ("000", "0"),
    ("0Gi", "0"),
    ("0e9", "0"),
    ("1", "1"),
    ("01", "1"),
    ("+1", "1"),
    ("-1", "-1"),
    ("10", "10"),
    ("100", "100"),
    ("1000", "1k"),
    ("1024", "1024"),
    ("1500", "1500"),
    ("1000000", "1M"),
    ("2000000000", "2G"),
    ("0.5", "500m"),
    (".5", "500m"),
    ("5.", "5"),
    ("0.25", "250m"),
    ("1.5", "1500m"),
    ("1.50", "1500m"),
    ("1.500", "1500m"),
    ("-0.5", "-500m"),
    ("1m", "1m"),
    ("10m", "10m"),
    ("100m", "100m"),
    ("500m", "500m"),
    ("1000m", "1"),
    ("1500m", "1500m"),
    ("1000000m", "1k"),
    ("3500m", "3500m"),
    ("-1500m", "-1500m"),
    ("1u", "1u"),
    ("1000u", "1m"),
    ("1n", "1n"),
    ("1000n", "1u"),
    ("1000000000n", "1"),
    ("0.1m", "100u"),
    ("0.1u", "100n"),
    ("0.1n", "1n"),
    ("0.0000000001", "1n"),
    ("-0.1n", "-1n"),
    ("1.0000000001", "1000000001n"),
    ("0.9n", "1n"),
    ("1.1n", "2n"),
    ("1k", "1k"),
    ("1000k", "1M"),
    ("1.5k", "1500"),
    ("0.001k", "1"),
    ("1M", "1M"),
    ("100M", "100M"),
    ("1000M", "1G"),
    ("1.5M", "1500k"),
    ("128974848", "128974848"),
    ("129e6", "129e6"),
    ("129M", "129M"),
    ("128974848000m", "128974848"),
    ("123Mi", "123Mi"),
    ("1G", "1G"),
    ("0.5G", "500M"),
    ("1T", "1T"),
    ("1P", "1P"),
    ("1E", "1E"),
    ("999E", "999E"),
    ("999.9E", "999900P"),
    ("0.1E", "100P"),
    ("9.3E", "9300P"),
    ("1Ki", "1Ki"),
    ("0.5Ki", "512"),
    ("0.1Ki", "102400m"),
    ("0.0001Ki", "102400u"),
    ("1.1Ki", "1126400m"),
    ("1023Ki", "1023Ki"),
    ("1024Ki", "1Mi"),
    ("1025Ki", "1025Ki"),
    ("1500.5Ki", "1536512"),
    ("1Mi", "1Mi"),
    ("1024Mi", "1Gi"),
    ("1536Mi", "1536Mi"),
    ("2048Mi", "2Gi"),
    ("1.5Gi", "1536Mi"),
    ("0.5Gi", "512Mi"),
    ("0.1Gi", "107374182400m"),
    ("1Gi", "1Gi"),
    ("1024Gi", "1Ti"),
    ("16Gi", "16Gi"),
    ("1.25Ti", "1280Gi"),
    ("1Ti", "1Ti"),
    ("1Pi", "1Pi"),
    ("1Ei", "1Ei"),
    ("7Ei", "7Ei"),
    ("7.9999Ei", "9223256744704315123302400u"),
    ("8Ei", "9223372036854775807"),
    ("9Ei", "9223372036854775807"),
    ("100Ei", "9223372036854775807"),
    ("-1.5Gi", "-1536Mi"),
    ("-100Ei", "-9223372036854775807"),
    ("-512Ki", "-512Ki"),
    ("-0.5Ki", "-512"),
    ("0.0000000001Ki", "103n"),
    ("1.0000000001Ki", "1024000000103n"),
    ("1e0", "1"),
    ("1e1", "10"),
    ("1e2", "100"),
    ("1e3", "1e3"),
    ("1E3", "1e3"),
    ("1e+3", "1e3"),
    ("1e-3", "1e-3"),
    ("10e2", "1e3"),
    ("1000e0", "1e3"),
    ("1.5e3", "1500"),
    ("0.5e0", "500e-3"),
    ("12e5", "1200e3"),
    ("1e9", "1e9"),
    ("1e18", "1e18"),
    ("1e20", "100e18"),
    ("1e-9", "1e-9"),
    ("1e-10", "1e-9"),
    ("1e-100", "1e-9"),
    ("-1e3", "-1e3"),
    ("0.001e3", "1"),
    ("1e03", "1e3"),
    ("9223372036854775807", "9223372036854775807"),
    ("9223372036854775808", "9223372036854775808"),
    ("9223372036854775807m", "9223372036854775807m"),
    ("18446744073709551616", "18446744073709551616"),
    ("99999999999999999999", "99999999999999999999"),
    ("1234567890.123456789", "1234567890123456789n"),
    ("1234567890.1234567891", "1234567890123456790n"),
]

NUMBERS = st.from_regex(r"-?[0-9]{1,12}(\.[0-9]{0,6})?", fullmatch=True)
SUFFIXES = st.sampled_from(["", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-4"])


@pytest.mark.parametrize(("text", "canonical"), CANONICAL)
def test_canonical_form_is_that_of_kubernetes(text: str, canonical: str) -> None:
    assert quantity.canonical(text) == canonical
    assert quantity.explain(text) is None


@settings(deadline=None)
@given(NUMBERS, SUFFIXES)
def test_the_canonical_form_is_stable_and_has_the_same_value(number: str, suffix: str) -> None:
    text = number + suffix
    if quantity.explain(text) is None:
        canonical = quantity.canonical(text)
        assert quantity.canonical(canonical) == canonical
        assert quantity.parse(canonical) == quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("1", NANO),
        (4, 4 * NANO),
        ("500m", NANO // 2),
        ("0.5", NANO // 2),
        ("1Ki", 1024 * NANO),
        ("1k", 1000 * NANO),
        ("1e3", 1000 * NANO),
        ("0.1n", 1),
        ("-0.1n", -1),
        ("100Ei", (2**63 - 1) * NANO),
    ],
)
def test_values_are_exact_nanos(text: str | int, nanos: int) -> None:
    assert quantity.parse(text) == nanos


def test_integers_are_quantities() -> None:
    assert quantity.canonical(1000) == "1k"
    assert quantity.explain(0) is None


@pytest.mark.parametrize(
    ("resource", "amount"),
    [("cpu", "1024"), ("memory", "1Ki"), ("ephemeral-storage", "1Ki"), ("hugepages-2Mi", "1Ki"), ("a.com/gpu", "1024")],
)
def test_bytes_are_written_in_binary(resource: str, amount: str) -> None:
    assert quantity.write(1024 * NANO, style=quantity.style_of(resource)) == amount


def test_sums_are_written_in_the_style_asked_for() -> None:
    total = quantity.parse("16Gi") + quantity.parse("512Mi")
    assert quantity.write(total, style="i") == "16896Mi"
    assert quantity.write(quantity.parse("1500m") * 2) == "3"
    assert quantity.write(quantity.parse("2e9"), style="e") == "2e9"
    assert quantity.write(0, style="i") == "0"
    assert quantity.write(10**21 * NANO) == "1000E"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("100MB", "write 100M (10^6 bytes) or 100Mi (2^20)"),
        ("4mb", "write 4M (10^6 bytes) or 4Mi (2^20)"),
        ("6GiB", "write 6Gi"),
        ("6gib", "write 6Gi"),
        ("4 Gi", "write 4Gi"),
        (" 4Gi\n", "write 4Gi"),
        ("1g", "write 1G (10^9) or 1Gi (2^30)"),
        ("512K", "write 512k (10^3) or 512Ki (2^10)"),
        ("500mi", "write 500Mi"),
        ("5KI", "write 5Ki"),
        ("1_000", "write 1000"),
        ("1,000", "write 1000"),
        ("1,5", "write 1.5"),
        ("1e3Mi", "write 1000Mi"),
        ("100mcpu", "write 100m"),
        ("2 cores", "write 2"),
        ("2B", "write 2"),
        ("4\u00a0Gi", "write 4Gi instead of U+00A0 NO-BREAK SPACE"),
        ("4Gi\u200b", "write 4Gi instead of U+200B ZERO WIDTH SPACE"),
        ("\uff14Gi", "write 4Gi instead of U+FF14 FULLWIDTH DIGIT FOUR"),
        ("\u2212 5", "remove U+2212 MINUS SIGN"),
        ("", "write a number, such as 500m, 2 or 4Gi"),
        (" ", "write a number, such as 500m, 2 or 4Gi"),
        ("1000E", "write less: Kubernetes counts up to 2^63-1"),
        ("9e99", "write less: Kubernetes counts up to 2^63-1"),
        ("-1e3Mi", "write -1000Mi"),
        ("1" * 65, "write a shorter number, of at most 64 characters"),
    ],
)
def test_a_fault_has_a_remedy(text: str, hint: str) -> None:
    assert quantity.explain(text) == hint
    with pytest.raises(ValueError, match=r"write|remove"):
        quantity.canonical(text)


@pytest.mark.parametrize(
    "text", ["abc", "Gi", "k", ".", "-", "1.2.3", "NaN", "0x10", "1e1234", "1m5", "5hours", "1e-3Gi", "9e99Mi", "64gig"]
)
def test_what_nobody_can_guess_gets_the_grammar(text: str) -> None:
    assert str(quantity.explain(text)).startswith("write a number, then nothing or one of m k M G")


@settings(deadline=None)
@given(st.text(max_size=70))
def test_any_text_is_legal_or_explained(text: str) -> None:
    hint = quantity.explain(text)
    if hint is None:
        assert quantity.explain(quantity.canonical(text)) is None
    else:
        assert hint.startswith(("write ", "remove "))


@pytest.mark.parametrize(
    ("resource", "amount", "shown"),
    [
        ("nvidia.com/gpu", "2k", "2000"), ("pods", "1M", "1000000"), ("cpu", "2000", "2000"), ("cpu", "1500m", "1500m"),
        ("memory", "2048Gi", "2Ti"), ("memory", "0", "0"), ("cpu", "0", "0"),
    ],
)  # fmt: skip
def test_people_are_shown_whole_numbers_without_suffix(resource: str, amount: str, shown: str) -> None:
    assert quantity.show(quantity.parse(amount), resource) == shown


@pytest.mark.parametrize(
    ("size", "meant"),
    [
        ("512m", "512Mi"),  # as Docker writes it
        ("1.5m", "1.5Mi"),
        (16, "16Gi"),
        ("0.5", "0.5Gi"),
        (512, "512Gi or 512Mi"),
        (4096, "4096Mi"),  # as Slurm writes it
        (4_000_000, ""),
        (0, ""),
        ("100Ki", ""),
        ("100k", ""),
        ("1e3", ""),
    ],
)
def test_a_size_of_hardly_any_bytes_was_meant_in_another_unit(size: str | int, meant: str) -> None:
    assert quantity.meant(size) == meant
