"""Durations are read and written as Go reads and writes them."""

import pytest

from tfgitops.targets.kubernetes.duration import canonical, is_duration, seconds


@pytest.mark.parametrize("text", ["0", "90s", "1.5h", ".5s", "-10m", "+1h2m3s", "5us", "5\u00b5s", "1h0m0s"])
def test_this_is_a_duration(text: str) -> None:
    assert is_duration(text)


@pytest.mark.parametrize("text", ["", "10", "1d", "1 h", "2h0m0", "1H", "s", "--1s", "1s "])
def test_this_is_none(text: str) -> None:
    assert not is_duration(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("0", "0s"),
        ("90s", "1m30s"),
        ("10m", "10m0s"),
        ("2h", "2h0m0s"),
        ("1.5h", "1h30m0s"),
        ("0.5s", "500ms"),
        ("1500ms", "1.5s"),
        ("1500us", "1.5ms"),
        ("3ns", "3ns"),
        ("-90s", "-1m30s"),
        ("1h0m0.25s", "1h0m0.25s"),
        ("-0s", "0s"),
    ],
)
def test_go_writes_it_so(text: str, written: str) -> None:
    assert canonical(text) == written


@pytest.mark.parametrize(
    ("text", "whole"),
    [("0", 0), ("90s", 90), ("1h30m", 5400), ("1500ms", 2), ("1ns", 1), (".5h", 1800), ("-1500ms", -1), ("-90s", -90)],
)
def test_it_is_so_many_whole_seconds_rounded_up(text: str, whole: int) -> None:
    assert seconds(text) == whole


@pytest.mark.parametrize("text", ["", "90", "1d"])
def test_what_is_no_duration_has_no_seconds(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)
