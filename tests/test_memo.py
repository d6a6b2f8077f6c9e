"""What a function returned for a value of JSON is remembered by what the value says."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from tfgitops.targets.memo import by_content


def test_a_function_is_called_once_for_equal_values_and_anew_for_long_and_strange_ones() -> None:
    calls: list[Any] = []

    @by_content(10, 40)
    def size(value: Any, name: str) -> tuple[str, int]:
        calls.append(value)
        return name, len(value)

    first: dict[str, Any] = {"a": [1]}
    assert size(first, "x") == size({"a": [1]}, "x") == ("x", 1)
    assert size({"a": [True]}, "x") == ("x", 1)  # True is not 1
    assert size(first, "y") == ("y", 1)
    assert calls == [{"a": [1]}, {"a": [True]}, {"a": [1]}]
    assert calls[0] is not first  # who calls may change it afterwards
    for value in ("long" * 20, MappingProxyType(first)):
        size(value, "x")
        size(value, "x")
        assert calls[-2:] == [value, value]
