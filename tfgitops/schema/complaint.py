"""What is wrong with the form of a text, in words for whoever wrote it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a text has not the form it should have."""

    message: str
    expected: str = ""
    hint: str = ""
    code: str = "TF203"
