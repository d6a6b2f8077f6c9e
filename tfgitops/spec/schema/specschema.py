"""The shape of a spec: the core's JSON Schema and the plugins' fragments, joined, and what is derived from them.

The schema is written once, as a spec stands after merging. From it come the validators of one file and of the merged
spec, the table by which short forms are widened, and the schema for editors.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.spec.places import NOT_FROM
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.memo import by_content
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.plugins.hookspecs import SchemaFragment
    from tfgitops.targets.routes import Route

SETTINGS = "settings"
"""The site of a key that is no key of the spec, but a setting of the plugin: see `tfgitops.plugins.settingsfile`."""

_FORMER = "x-formerly"
_HOLDERS = ("environment", "job", "role", "defaults")


class Widener(NamedTuple):
    """How short forms below one place of the spec are widened; built once from the schema."""

    shorthand: tuple[str, ...]
    properties: Mapping[str, Widener]
    others: Widener | None
    items: Widener | None

    def widen(self, value: Any) -> Any:
        """Return a value with its short forms written out; what is not short is shared, not copied."""
        if type(value) is list:
            return [self.items.widen(item) for item in value] if self.items else value
        if type(value) is not dict:
            if value is None or not self.shorthand:
                return value
            return {
                key: self.properties[key].widen(value) if key in self.properties else value for key in self.shorthand
            }
        widened = value
        for key, inner in value.items():
            plan = self.properties.get(key, self.others)
            wide = inner if plan is None or inner is None else plan.widen(inner)
            if wide is not inner:
                if widened is value:
                    widened = dict(value)
                widened[key] = wide
        return widened

    def marked(self, value: Any, at: Route) -> Iterator[Route]:
        """Yield the route of each map below a place that the plan marks: in a plan of another keyword, by that."""
        if type(value) is list and self.items:
            for index, item in enumerate(value):
                yield from self.items.marked(item, (*at, index))
        elif type(value) is dict:
            if self.shorthand:
                yield at
            for key in value if self.others else self.properties.keys() & value.keys():
                if plan := self.properties.get(key, self.others):
                    yield from plan.marked(value[key], (*at, key))


class SpecSchema(NamedTuple):
    """The joined schema, its references resolved into one graph, and the widener made from it."""

    environment: Mapping[str, Any]
    job: Mapping[str, Any]
    role: Mapping[str, Any]
    widener: Widener
    job_widener: Widener
    files: Widener
    """The places of files of the repository, whose texts the compiler reads: see `tfgitops.spec.textfiles`."""
    job_files: Widener
    former: Widener
    """The keys that have former names: see `tfgitops.spec.formerkeys`."""
    job_former: Widener
    settings: Mapping[str, Mapping[str, Any]]
    """For each plugin that says what its settings may be, by what it is called in messages."""


class Clash(NamedTuple):
    """A fragment that has no place: its key is ``owned``, by a plugin or by the core, or there is no such site."""

    fragment: SchemaFragment
    message: str
    hint: str
    owner: str = ""
    owned: bool = True


def join(
    fragments: Iterable[SchemaFragment], *, more: bool = False, without: Iterable[str] = ()
) -> tuple[SpecSchema, list[Clash]]:
    """Join the core's schema and the plugins' fragments, the first of two with one key, and name the others.

    With ``more`` there are plugins whose keys are unknown: any key is then allowed wherever a plugin's may stand.
    ``without`` are the names of plugins that were left out, of which an unknown key may be one.
    """
    fragments = list(fragments)
    core, clashes = _join(fragments, more=more)
    if names := sorted(without):
        for holder in _HOLDERS:
            core["$defs"][holder]["x-left-out"] = _left_out(names)
    settings: dict[str, dict[str, Any]] = {}
    for fragment in fragments:
        if fragment.site == SETTINGS:
            own = settings.setdefault(fragment.owner, {})
            if fragment.key in own:
                clashes.append(_owned(fragment, fragment.owner))
            else:
                own[fragment.key] = dict(fragment.schema)
    return _resolved({"core": core, "settings": settings}), clashes


@by_content(16)
def _resolved(joined: dict[str, Any]) -> SpecSchema:
    """Resolve the references of the joined schema; one process may find the same plugins again and again."""
    core = joined["core"]
    resolve = _References({"core.schema.json": core, "pod.schema.json": schema_file("pod.schema.json")})
    environment = resolve(core["$defs"]["environment"], "core.schema.json")
    job = environment["properties"]["jobs"]["additionalProperties"]
    nothing = Widener((), {}, None, None)
    keywords = ("x-shorthand", "x-file", _FORMER)
    short, files, former, job_short, job_files, job_former = (
        _widener(one, key, {}) or nothing for one in (environment, job) for key in keywords
    )
    settings = {
        owner: {
            "type": "object", "additionalProperties": False,
            "properties": {key: resolve(one, "core.schema.json") for key, one in own.items()},
        }
        for owner, own in joined["settings"].items()
    }  # fmt: skip
    return SpecSchema(
        environment=environment, job=job, role=job["properties"]["worker"], widener=short, job_widener=job_short,
        files=files, job_files=job_files, former=former, job_former=job_former, settings=settings,
    )  # fmt: skip


def joined_source(fragments: Iterable[SchemaFragment]) -> dict[str, Any]:
    """Return the core's schema with the fragments in their places, references unresolved; see `join`."""
    return _join(fragments, more=False)[0]


def _join(fragments: Iterable[SchemaFragment], *, more: bool) -> tuple[dict[str, Any], list[Clash]]:
    core = copy.deepcopy(schema_file("core.schema.json"))
    definitions = core["$defs"]
    common = definitions.pop("shared")
    shared = common["properties"]
    of_spec = [fragment for fragment in fragments if fragment.site != SETTINGS]
    blocks, clashes = _put(of_spec, shared, definitions)
    _answer_the_misplaced(definitions, of_spec)
    for holder in ("job", "role"):
        definitions[holder]["properties"] = {**shared, **definitions[holder]["properties"]}
        definitions[holder]["x-hints"] = {**common["x-hints"], **definitions[holder]["x-hints"]}
    job, defaults = definitions["job"], definitions["defaults"]
    defaults["properties"] = {key: one for key, one in job["properties"].items() if key not in NOT_FROM}
    defaults["x-hints"] = {**job["x-hints"], **defaults["x-hints"]}
    for block in (*(definitions[holder] for holder in _HOLDERS), *blocks) if more else ():
        block["x-more"] = True
    return core, clashes


def _left_out(names: list[str]) -> str:
    listed, which = ", ".join(f"'{name}'" for name in names), "one of them" if len(names) > 1 else "it"
    plugins = f"the plugins {listed} are" if len(names) > 1 else f"the plugin {listed} is"
    return f"{plugins} left out (--no-plugin), and this may be a key of {which}"


def _put(
    fragments: Iterable[SchemaFragment], shared: dict[str, Any], definitions: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[Clash]]:
    """Put fragments into their sites, and return what was put there, and what has no place."""
    environment, job, role = (definitions[name]["properties"] for name in ("environment", "job", "role"))
    # A role's keys may stand in a job too, so of both there is one owner. The first of each row takes the key.
    sites = {"environment": (environment,), "job": (job, shared), "role": (shared, job, role)}
    blocks: dict[str, dict[str, Any]] = {}
    owners: dict[tuple[int, str], str] = {}
    clashes = []
    for fragment in sorted(fragments, key=lambda fragment: fragment.site not in sites):  # blocks before what is in them
        key, places = fragment.key, sites.get(fragment.site)
        if places is None and fragment.site not in blocks:
            message = f"there is no '{fragment.site}' to put the key '{key}' of {fragment.owner} into"
            near = did_you_mean(fragment.site, [*sites, *blocks])
            hint = near or "the sites are environment, job, role and settings"
            clashes.append(Clash(fragment, message, hint, owned=False))
            continue
        places = places or (blocks[fragment.site].setdefault("properties", {}),)
        if taken := [place for place in places if key in place]:
            clashes.append(_owned(fragment, owners.get((id(taken[0]), key), "")))
            continue
        places[0][key] = blocks[key] = copy.deepcopy(dict(fragment.schema))
        owners[id(places[0]), key] = fragment.owner
    return list(blocks.values()), clashes


_BELONGS = {
    "environment": (("job", "role"), "`{key}` belongs to the environment: it stands at the top"),
    "job": (("environment", "role"), "`{key}` belongs to the job"),
    "role": (("environment",), "`{key}` belongs to a job or a role; for all jobs, `defaults: {{{key}: …}}`"),
}
"""For each site, those where its keys may not stand, and the answer to keys that stand there."""


def _answer_the_misplaced(definitions: Mapping[str, Any], fragments: Iterable[SchemaFragment]) -> None:
    own = {(fragment.site, fragment.key) for fragment in fragments}
    for site, key in sorted(own):
        others, hint = _BELONGS.get(site, ((), ""))
        for other in others:
            if (other, key) not in own:
                definitions[other].setdefault("x-elsewhere", {})[key] = hint.format(key=key)


def resolves(reference: Any) -> bool:
    """Tell whether a fragment may refer to something by this ``$ref``."""
    document, marker, name = reference.partition("#/$defs/") if type(reference) is str else ("", "", "")
    if document == "pod.schema.json":
        return name in schema_file("pod.schema.json")["$defs"]
    return bool(marker) and document in ("", "core.schema.json") and name in joined_source(())["$defs"]


def _owned(fragment: SchemaFragment, owner: str) -> Clash:
    by = owner or "the core"
    message = f"the key '{fragment.key}' of {fragment.owner} for the {fragment.site} is owned already, by {by}"
    hint = "a role's keys may stand in a job too; give it another name, or leave one plugin out"
    return Clash(fragment, message, hint, owner)


class _References:
    """Replaces every ``$ref`` by what it refers to, each target once, so that validators never look anything up."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
        self._documents = documents
        self._targets: dict[tuple[str, str], dict[str, Any]] = {}

    def __call__(self, schema: Any, document: str) -> Any:
        if type(schema) is list:
            return [self(item, document) for item in schema]
        if type(schema) is not dict:
            return schema
        own = {key: self(value, document) for key, value in schema.items() if key not in ("$ref", "$defs")}
        if "$ref" not in schema:
            return own
        target = self._target(schema["$ref"], document)
        return _both(target, own) if own else target

    def _target(self, reference: str, document: str) -> dict[str, Any]:
        name, _, pointer = reference.partition("#/$defs/")
        key = (name or document, pointer)
        if key not in self._targets:
            target: dict[str, Any] = {}
            self._targets[key] = target  # before it is filled, so that a schema may refer to itself
            target.update(self(self._documents[key[0]]["$defs"][pointer], key[0]))
        return self._targets[key]


def _both(target: dict[str, Any], siblings: dict[str, Any]) -> dict[str, Any]:
    """Join a schema and what stands beside the reference to it; where both name types, both must hold."""
    joined = {**target, **siblings}
    if "type" in target and "type" in siblings:
        these, those = ([kind] if type(kind) is str else kind for kind in (target["type"], siblings["type"]))
        joined["type"] = [kind for kind in these if kind in those]
    return joined


def _widener(schema: Any, keyword: str, known: dict[int, Widener | None]) -> Widener | None:
    """Build the widener of a schema, or None where nothing below it has the keyword; each is ``known`` by its id."""
    if type(schema) is not dict or id(schema) in known:
        return known.get(id(schema))
    known[id(schema)] = None  # where a schema holds itself
    shapes = schema.get("properties", {})
    plans = {key: _widener(value, keyword, known) for key, value in shapes.items() if key not in ("pod", "container")}
    properties = {key: plan for key, plan in plans.items() if plan}
    if keyword == _FORMER:  # a former name that another key has now is that key
        properties = {
            key: plan._replace(shorthand=tuple(name for name in plan.shorthand if name not in shapes))
            for key, plan in properties.items()
        }
    others = _widener(schema.get("additionalProperties"), keyword, known)
    items = _widener(schema.get("items"), keyword, known)
    shorthand = tuple(schema.get(keyword, ()))
    if shorthand or properties or others or items:
        known[id(schema)] = Widener(shorthand, properties, others, items)
    return known[id(schema)]
