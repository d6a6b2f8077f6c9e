"""What a plugin may answer: the one door through which answers come, checked, and as plain values of our own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.faults import refusal
from tfgitops.plugins.hookspecs import Accelerator, Object, SchemaFragment
from tfgitops.plugins.plain import AnswerError, brief, check_route, expect, is_route, place_of, plain_map
from tfgitops.spec.diagnostics import Note, Problem, Words
from tfgitops.spec.model import JOB_LABEL, Patch
from tfgitops.spec.schema.formats import RESERVED_ENV
from tfgitops.spec.schema.specschema import resolves
from tfgitops.targets.kubernetes import names
from tfgitops.targets.kubernetes.furtherobjects import shape_faults
from tfgitops.targets.kubernetes.objectkinds import file_name
from tfgitops.targets.kubernetes.shape import Notes, settle, shape_of
from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import MISSING, reach, steps
from tfgitops.targets.tensorflow import TRAINING_CONTAINER
from tfgitops.targets.volcano.defaults import NOT_IN_PODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfgitops.plugins.door import Plugin
    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Route

_OF_THE_COMPILER = re.compile(r"TF[0-9]").match
_FOLDER = re.compile(r"workloads|cluster(?:-(?:[2-9]|[1-9][0-9]{1,2}))?").fullmatch
_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}").fullmatch
_API_VERSION = re.compile(r"(?:[a-z0-9][a-z0-9.-]{0,252}/)?v[a-z0-9]{1,62}").fullmatch
_RBAC_KINDS = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
_RBAC_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,251}[A-Za-z0-9])?").fullmatch
_FILE_NAME_MAX = 255

_ANSWERS_MAX = 100_000
_REFUSED_MAX = 20


ANYTHING: dict[str, Any] = {}
"""The schema of a key whose own one is broken: it may have any value."""


def accept(plugin: Plugin, hook: str, results: Iterable[Any], at: Route, problems: list[Problem]) -> list[Any]:
    """Return the answers that a hook allows, in plain values that the plugin does not share.

    ``problems`` takes each of the others, of very many the first ones; whatever the plugin raises is let through.
    Patches may share values, which are not to be changed. The schemas and patches of bundled plugins are not judged at
    every start: mypy knows their types.
    """
    wanted, check = _ANSWERS[hook]
    if plugin.bundled and wanted in (Patch, SchemaFragment):
        return [*chain.from_iterable(results)]
    taken: list[Any] = []
    told = len(problems)
    for result in results:
        if not is_iterable_of_answers(result):
            error = AnswerError("", result, f"{wanted.__name__}, yielded or in a list")
            problems.append(refusal(plugin, f"returned {_a(result)} from {hook}", error, at))
            continue
        for number, answer in enumerate(result):
            what = f"yielded {_a(answer)} from {hook}"
            if number == _ANSWERS_MAX:
                error = AnswerError(f"and {_ANSWERS_MAX:,} answers before it, and does not end")
                problems.append(refusal(plugin, what, error, at))
                break
            try:
                expect(isinstance(answer, wanted), "", answer, wanted.__name__)
                taken.append(check(answer))
            except AnswerError as error:
                taken += _known_key(answer)
                if len(problems) < told + _REFUSED_MAX:
                    route = getattr(answer, "because", getattr(answer, "at", ()))
                    problems.append(refusal(plugin, what, error, (is_route(route) and route) or at))
    return taken


def is_iterable_of_answers(result: Any) -> bool:
    """Tell whether a hook may have returned something: what answers are in, and not one alone, or a text."""
    return hasattr(type(result), "__iter__") and not isinstance(result, (str, bytes, Mapping, *_KINDS))


def _known_key(answer: Any) -> list[SchemaFragment]:
    """Return the key that a refused fragment claims, if it says so much."""
    known = isinstance(answer, SchemaFragment) and all(type(it) is str and it for it in (answer.site, answer.key))
    return [SchemaFragment(answer.site, answer.key, ANYTHING)] if known else []


def _a(answer: Any) -> str:
    name = type(answer).__name__
    return f"{'an' if name[:1] in 'AEIOaeio' else 'a'} {name}"


def _object(answer: Object) -> Object:
    manifest = plain_map(answer.manifest, "manifest")
    check_route(answer.because, "because")
    expected = "workloads, cluster, or cluster-2 and so on"
    expect(type(answer.folder) is str and _FOLDER(answer.folder), "folder", answer.folder, expected)
    expect(type(answer.keep) is bool, "keep", answer.keep, "True or False")
    expect(type(answer.job) is str, "job", answer.job, "the name of a job")
    version, kind, metadata = (manifest.get(key) for key in ("apiVersion", "kind", "metadata"))
    expect(type(version) is str and _API_VERSION(version), "manifest.apiVersion", version, "such as v1 or apps/v1")
    expect(type(kind) is str and _KIND(kind), "manifest.kind", kind, "such as ConfigMap")
    expect(type(metadata) is dict, "manifest.metadata", metadata, "a map with a name")
    _check_metadata(kind, metadata)
    faults, unknown = shape_faults(manifest)
    _refuse_shape("manifest", faults, unknown, "Kubernetes")
    return Object(manifest, answer.because, answer.folder, answer.keep, answer.job)


def _check_metadata(kind: Any, metadata: Any) -> None:
    name, namespace = metadata.get("name"), metadata.get("namespace", "default")
    legal = _RBAC_NAME if kind in _RBAC_KINDS else names.is_dns_subdomain
    expected = "lower-case letters, digits, '-' and '.', as Kubernetes has it"
    expect(type(name) is str and legal(name), "manifest.metadata.name", name, expected)
    expect(len(file_name(kind, str(name))) <= _FILE_NAME_MAX, "manifest.metadata.name", name, "a shorter name")
    right = type(namespace) is str and names.is_dns_label(namespace)
    expect(right, "manifest.metadata.namespace", namespace, "a DNS label")
    for key in ("labels", "annotations"):
        texts = metadata.get(key, {})
        right = type(texts) is dict and all(type(value) is str for value in texts.values())
        expect(right, f"manifest.metadata.{key}", texts, "a map of texts")
        taken = next((name for name in texts if name.startswith("tfgitops/")), None)
        expect(taken is None, f"manifest.metadata.{key}", taken, "a prefix of your own: tfgitops/ is the compiler's")


def _problem(answer: Problem) -> Problem:
    _expect_texts(answer, "code", "message")
    expect(not _OF_THE_COMPILER(answer.code), "code", answer.code, "a code of the plugin's own: TF is the compiler's")
    expect(answer.severity in ("error", "warning", "note"), "severity", answer.severity, "error, warning or note")
    expect(type(answer.allowable) is bool, "allowable", answer.allowable, "True or False")
    _expect_texts(answer, "found", "expected", "hint", least=0)
    check_route(answer.at, "at")
    if answer.words is not None:
        expect(isinstance(answer.words, Words), "words", answer.words, "Words, or None")
        expect(type(answer.words.line) is int, "words.line", answer.words.line, "a whole number")
        _expect_texts(answer.words, "text")
    expect(type(answer.notes) is tuple, "notes", answer.notes, "a tuple of Notes")
    for note in answer.notes:
        expect(isinstance(note, Note), "notes", note, "a Note with a message")
        _expect_texts(note, "message")
        check_route(note.at, "notes.at")
    return answer


def _accelerator(answer: Accelerator) -> Accelerator:
    _expect_texts(answer, "resource", "title")
    expect(type(answer.devices) is int and answer.devices > 0, "devices", answer.devices, "a whole number from 1")
    return answer


def _fragment(answer: SchemaFragment) -> SchemaFragment:
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 - for plugins of others alone

    _expect_texts(answer, "site", "key")
    schema = plain_map(answer.schema, "schema", further=(float, type(None)))
    try:
        Draft202012Validator.check_schema(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    except SchemaError as error:
        place = place_of(("schema", *error.absolute_path))
        raise AnswerError(f"`{place}` of the key '{answer.key}' is no JSON Schema: {error.message}") from error
    _check_keywords(schema, ("schema",))
    return SchemaFragment(answer.site, answer.key, schema)


def _expect_texts(answer: Any, *names: str, least: int = 1) -> None:
    for name in names:
        value = getattr(answer, name)
        expect(type(value) is str and len(value) >= least, name, value, "text")


def _check_keywords(schema: Any, at: Route) -> None:
    """Check what JSON Schema leaves open, and what it does not know."""
    for step, inner in steps(schema):
        _check_keywords(inner, (*at, step))
    if type(schema) is not dict:
        return
    if "$ref" in schema:
        expected = "core.schema.json#/$defs/… or pod.schema.json#/$defs/…"
        expect(resolves(schema["$ref"]), place_of((*at, "$ref")), schema["$ref"], expected)
    if "x-shorthand" in schema:
        keys, known = schema["x-shorthand"], schema.get("properties")
        right = type(keys) is list and keys and type(known) is dict and all(type(k) is str and k in known for k in keys)
        expect(right, place_of((*at, "x-shorthand")), keys, "a list of names of its properties")
    if "x-formerly" in schema:
        names = schema["x-formerly"]
        right = type(names) is list and all(type(name) is str for name in names)
        expect(right, place_of((*at, "x-formerly")), names, "a list of former names of the key")
    if "x-hints" in schema:
        hints = schema["x-hints"]
        right = type(hints) is dict and all(type(hint) is str for hint in hints.values())
        expect(right, place_of((*at, "x-hints")), hints, "a map of texts")


_SHAPES = {
    "job": ("volcano.schema.json", "Job"),
    "pod": ("pod.schema.json", "PodTemplateSpec"),
    "container": ("pod.schema.json", "Container"),
}
_WRITTEN_BY_CORE: dict[str, dict[Route, str]] = {
    "job": {
        ("apiVersion",): "it is a Volcano Job",
        ("kind",): "it is a Volcano Job",
        ("status",): "it is the controller's to write",
        ("metadata", "name"): "the job's name and a digest make it",
        ("metadata", "namespace"): "it is the environment's",
        ("metadata", "finalizers"): "of a Job's metadata a plugin adds labels and annotations",
        ("metadata", "ownerReferences"): "of a Job's metadata a plugin adds labels and annotations",
        ("metadata", "labels", JOB_LABEL): "it is the job's name",
        ("spec", "tasks"): "they are the roles; patch them with role.pod(…) and role.container(…)",
        ("spec", "minAvailable"): "the roles decide it",
        ("spec", "policies"): "the strategy and the spec's `policies` decide them",
        ("spec", "schedulerName"): "it is always volcano",
    },
    "pod": {
        ("metadata", "labels", JOB_LABEL): "it is the job's name",
        ("metadata", "annotations", "tfgitops/rerun"): "it is the spec's `rerun`",
        **{("spec", field): reason for field, reason in NOT_IN_PODS.items()},
    },
    "container": {},
}
"""What a patch cannot say: it would have no effect, or break discovery or identity."""


def plain_patch(answer: Patch) -> Patch:
    """Return a patch in plain values; its value may be shared with equal patches, and is not to be changed.

    Raises AnswerError if it is none, or says what no plugin may say.
    """
    target, because = answer.target, answer.because
    kind, *roles = target if type(target) is tuple and target and type(target[0]) is str else ("",)
    right = not roles if kind == "job" else kind in ("pod", "container") and [*map(type, roles)] == [str]
    expect(right, "target", target, "('job',), ('pod', ROLE) or ('container', ROLE)")
    check_route(because, "because")
    return Patch(target, _partial(plain_map(answer.value, "value"), kind), because)


@by_content(1 << 14)
def _partial(value: dict[str, Any], kind: str) -> dict[str, Any]:
    for route, reason in _WRITTEN_BY_CORE[kind].items():
        if reach(value, route) is not MISSING:
            raise AnswerError(f"`{place_of(('value', *route))}` cannot be patched: {reason}")
    _check_containers(kind, value)
    notes = Notes()
    settle(shape_of(*_SHAPES[kind]), value, (), notes)
    faults = [fault for fault in notes.faults if fault.rule != "crd-required"]  # a patch is a part
    _refuse_shape("value", faults, notes.pruned, "Kubernetes or Volcano")
    return value


def _refuse_shape(what: str, faults: Iterable[Fault], unknown: Iterable[Route], who: str) -> None:
    for fault in faults:
        raise AnswerError(f"`{place_of((what, *fault.at))}`: {fault.message}", fault.found, fault.expected)
    for route in unknown:
        raise AnswerError(f"`{place_of((what, *route))}` is no field that {who} knows")


def _check_containers(kind: str, value: Mapping[str, Any]) -> None:
    """Refuse what would rename the training container, stand beside it forever, or speak in discovery's place."""
    if kind == "container":
        if value.get("name", TRAINING_CONTAINER) != TRAINING_CONTAINER:
            raise AnswerError("`value.name` cannot be patched", value["name"], TRAINING_CONTAINER)
        for name in _names(value.get("env")):
            if type(name) is str and RESERVED_ENV.fullmatch(name):
                raise AnswerError(f"the variable {name} is reserved: the compiler writes it")
    spec = value.get("spec") if kind == "pod" else None
    if type(spec) is not dict:
        return
    for name in _names(spec.get("containers")):
        if name == TRAINING_CONTAINER:
            raise AnswerError("`value.spec.containers` holds the training container: patch it with role.container(…)")
        message = f"it adds the sidecar '{brief(name)}', which never ends, and so its task never completes"
        raise AnswerError(message, expected="an init container with restartPolicy: Always, a native sidecar")


def _names(elements: Any) -> Iterator[Any]:
    if type(elements) is list:
        yield from (element.get("name", "") for element in elements if type(element) is dict)


_KINDS = (SchemaFragment, Problem, Patch, Object, Accelerator)
_ANSWERS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "tfgitops_schema": (SchemaFragment, _fragment),
    "tfgitops_check_environment": (Problem, _problem),
    "tfgitops_contribute": (Patch, plain_patch),
    "tfgitops_objects": (Object, _object),
    "tfgitops_accelerators": (Accelerator, _accelerator),
    "tfgitops_check_manifests": (Problem, _problem),
}
