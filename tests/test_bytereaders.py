"""Whatever bytes stand in a file that we read: there is no crash, and no input that once was one comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from bytereaders import KEPT, SEEDS, Readers, seeds
from fuzzed import fuzz
from hypothesis import given, note
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tfgitops import Plugins

ODD = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc2\xb2", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\r", b"\t", b"'", b'"', b"*a",
    b"&a ", b"<<: *a\n", b"!!python/object:os.system ", b"{", b"}", b"[", b"]", b"- ", b"? ", b": ", b"|\n", b">-\n",
    b"---\n", b"%YAML 9.9\n", b"null", b"~", b"-1", b"0x10", b"1e999", b"9" * 5000, b".inf", b"2026-13-45", b"a\\0b",
    b'"a\\u0000b"', b"$(X)", b"`", b"=", b"[[x]]\n", b"../" * 9, b"#", b"\n" * 9, b"extends: .\n", b"from: train\n",
]  # fmt: skip
"""What breaks readers: half of a character, YAML's and TOML's own signs, numbers and names that are none."""


@pytest.fixture(scope="module")
def readers(plugins: Plugins, tmp_path_factory: pytest.TempPathFactory) -> Readers:
    return Readers(tmp_path_factory.mktemp("read"), plugins)


@st.composite
def edited(draw: Any, kind: str) -> bytes:
    """Return a file with some pieces cut out, put elsewhere or repeated, and odd ones put in."""
    data: bytes = draw(st.sampled_from(seeds(kind)))
    for _ in range(draw(st.integers(1, 5))):
        at, end = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        piece = draw(st.sampled_from(ODD) | st.binary(max_size=4) | st.just(data[at : at + 80]) | st.just(b""))
        data = data[:at] + piece + data[draw(st.sampled_from([at, min(at + 3, end), end])) :]
    return data


@pytest.mark.parametrize("kind", SEEDS)
@fuzz(60)
@given(data=st.data())
def test_no_edit_of_a_file_crashes_its_reader(readers: Readers, kind: str, data: st.DataObject) -> None:
    text = data.draw(edited(kind))
    note(repr(text))
    readers.read(kind, text)


@pytest.mark.parametrize("kind", SEEDS)
def test_fuzzers_start_from_files_and_no_input_that_crashed_a_reader_does_so_again(readers: Readers, kind: str) -> None:
    assert seeds(kind)
    for path in sorted((KEPT / kind).glob("*")):
        readers.read(kind, path.read_bytes())
