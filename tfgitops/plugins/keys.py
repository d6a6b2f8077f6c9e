"""The keys that the plugins own, joined into one schema, and which plugins are at fault there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tfgitops.plugins.answers import ANYTHING
from tfgitops.plugins.faults import keys_unknown, unusable
from tfgitops.spec.diagnostics import Diagnostic
from tfgitops.spec.schema.specschema import SpecSchema, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.plugins.door import Plugin
    from tfgitops.plugins.hookspecs import SchemaFragment
    from tfgitops.spec.diagnostics import Problem


class Keys(NamedTuple):
    """The joined schema and the fragments in it, what is wrong with others, and who is at fault, by name."""

    schema: SpecSchema
    fragments: tuple[SchemaFragment, ...]
    faults: tuple[Diagnostic, ...]
    out: frozenset[str]


class Claims(NamedTuple):
    """What one plugin answered when it was asked for its keys, and what is wrong with that."""

    plugin: Plugin
    fragments: Sequence[SchemaFragment]
    problems: Sequence[Problem]

    @property
    def whole(self) -> bool:
        """Whether all its keys are known: it has not failed on the way, and what was refused has a name."""
        return len(self.problems) == sum(fragment.schema is ANYTHING for fragment in self.fragments)


def join_keys(claims: Iterable[Claims], *, more: bool, without: frozenset[str] = frozenset()) -> Keys:
    """Join the keys of some plugins: ours first, then in the order of their names, so that the same one is at fault.

    Of two other plugins that want one key, nobody can tell whose its values in the spec are: any will do. ``more`` is
    whether there are other plugins, of whose keys nothing is known; ``without`` names plugins that were left out.
    """
    claims = sorted(claims, key=lambda one: (not one.plugin.bundled, one.plugin.name))
    more = more or not all(one.whole for one in claims)
    found = [replace(fragment, owner=str(one.plugin)) for one in claims for fragment in one.fragments]
    names = {str(one.plugin): one.plugin.name for one in claims if not one.plugin.bundled}
    schema, clashes = join(found, more=more, without=without)
    contested = {clash.fragment.key for clash in clashes if clash.owner in names}
    if contested:
        found = [replace(one, schema=ANYTHING) if one.owner in names and one.key in contested else one for one in found]
        schema, clashes = join(found, more=more, without=without)
    lost = {id(clash.fragment) for clash in clashes}
    parties = {owner for clash in clashes for owner in (clash.fragment.owner, clash.owner)}
    return Keys(
        schema=schema,
        fragments=tuple(fragment for fragment in found if id(fragment) not in lost),
        faults=(
            *_failures(claims),  # where some keys are unknown, so may be the block that a key wants to stand in
            *(unusable(clash.message, clash.hint) for clash in clashes if clash.owned or not more),
        ),
        out=frozenset({one.plugin.name for one in claims if one.problems} | {names[it] for it in parties & {*names}}),
    )


def _failures(claims: Iterable[Claims]) -> Iterator[Diagnostic]:
    """Say what is wrong with plugins before there is a spec to say it of."""
    for one in claims:
        for problem in one.problems:
            hint = problem.hint if one.whole else f"{problem.hint}; {keys_unknown(one.plugin.name)}"
            found, expected = problem.found, problem.expected
            yield Diagnostic(code=problem.code, message=problem.message, found=found, expected=expected, hint=hint)
