"""The forms of what an entry of `allow` says."""

from __future__ import annotations

import re

from tfgitops.spec.diagnostics import CODES, WARNED
from tfgitops.spec.schema.complaint import Complaint

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII).match


def allowed_code(value: str) -> Complaint | None:
    """Return why an entry of `allow` cannot have a code, or None: what is always an error of ours is no judgement."""
    if value not in CODES or value in WARNED:
        return None
    hint = "mend what it is about: only warnings, and errors of rules that people made, can be allowed"
    return Complaint(f"{value} cannot be allowed: {CODES[value]}", hint=hint, code="TF802")


def day(value: str) -> Complaint | None:
    """Return what is wrong with a day, or None."""
    from datetime import date  # noqa: PLC0415 - for the few specs that have a day

    try:
        if _DAY(value) and date.fromisoformat(value):
            return None
    except ValueError:
        pass
    return Complaint(f"'{value}' is not a day of the calendar", "YYYY-MM-DD, such as 2026-12-31")


def reason(value: str) -> Complaint | None:
    """Return what is wrong with a reason, or None."""
    return None if value.strip() else Complaint("the reason is empty", hint="say why, for those who come after you")
