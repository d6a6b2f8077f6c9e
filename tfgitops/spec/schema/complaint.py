"""What is wrong with the form of a text, in words for whoever wrote it."""

from __future__ import annotations

from dataclasses import dataclass

_SHOWN_AT_MOST = 60


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a text has not the form it should have."""

    message: str
    expected: str = ""
    hint: str = ""
    code: str = "TF203"


def quoted(text: str) -> str:
    """Write a text as a message quotes it: short, however long it is."""
    return f"'{text if len(text) <= _SHOWN_AT_MOST else text[:_SHOWN_AT_MOST] + '…'}'"
