"""The known word that is nearest to one that nobody knows, as a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LISTED_AT_MOST = 10

SURE = 0.8
"""How near two words are of which one is a typing mistake for the other."""


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6, among: str = "", otherwise: str = "") -> str:
    """Return a hint that names the nearest known word, if one is as near as ``cutoff``, from 0 to 1.

    If none is, ``among`` introduces all known words, as in ``the jobs are``, and ``otherwise`` says what else to do.
    """
    near = nearest(word, known := list(known), cutoff=cutoff)
    if near:
        return f"did you mean '{near}'?"
    names = sorted({*known})
    shown = [*names[:_LISTED_AT_MOST], *(["…"] if len(names) > _LISTED_AT_MOST else ())]
    all_of_them = f"{among} {', '.join(shown)}" if among and names else ""
    return "; or ".join(filter(None, (all_of_them, otherwise)))


def nearest(word: str, known: Iterable[str], *, cutoff: float) -> str:
    """Return the known word that is nearest to another one, or nothing; case does not count, nor do turned letters."""
    import difflib  # noqa: PLC0415 - a tenth of the start, for those who made a mistake alone

    by_case = {name.lower(): name for name in known}
    letters = sorted(word.lower())
    near = [name for name in by_case if name == word.lower()]
    near = near or [name for name in by_case if sorted(name) == letters]  # turned letters: else as far as two mistakes
    near = near or difflib.get_close_matches(word.lower(), by_case, n=1, cutoff=cutoff)
    return by_case[near[0]] if near else ""
