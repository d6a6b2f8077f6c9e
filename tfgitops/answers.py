"""What a plugin may answer: the one place where answers are checked, and turned into plain values of our own."""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, SchemaError

from tfgitops.diagnostics import Note, Problem
from tfgitops.formats import RESERVED_ENV
from tfgitops.hookspecs import Accelerator, Object, Patch, SchemaFragment
from tfgitops.kubernetes import names
from tfgitops.kubernetes.catalog import shape_of
from tfgitops.kubernetes.kinds import file_name
from tfgitops.kubernetes.shape import Notes, settle
from tfgitops.schema import resolves
from tfgitops.tensorflow.discovery import TRAINING_CONTAINER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.diagnostics import Route

_JSON = "maps with keys of text, lists, text, whole numbers, true or false"
_DEEPEST = 64
_ROUTE = "a route of the spec: a tuple of keys and indices, such as (*role.route, 'gpu')"
_ROUTE_KEYS = {str, int}
_INTEGER_MIN, _INTEGER_MAX = -(1 << 63), (1 << 64) - 1
_SHAPES = {
    "job": ("volcano.schema.json", "Job"),
    "pod": ("pod.schema.json", "PodTemplateSpec"),
    "container": ("pod.schema.json", "Container"),
}
_WRITTEN_BY_CORE = {
    "job": {
        ("apiVersion",): "it is a Volcano Job",
        ("kind",): "it is a Volcano Job",
        ("status",): "it is the controller's to write",
        ("metadata", "name"): "the job's name and a digest make it",
        ("metadata", "namespace"): "it is the environment's",
        ("metadata", "labels", "tfgitops/job"): "it is the job's name",
        ("spec", "tasks"): "they are the roles; patch them with role.pod(…) and role.container(…)",
        ("spec", "minAvailable"): "the roles decide it",
        ("spec", "policies"): "the strategy and the spec's `policies` decide them",
        ("spec", "schedulerName"): "it is always volcano",
    },
    "pod": {
        ("metadata", "labels", "tfgitops/job"): "it is the job's name",
        ("metadata", "annotations", "tfgitops/rerun"): "it is the spec's `rerun`",
        ("spec", "hostname"): "Volcano names the pods, and TF_CONFIG names them by it",
        ("spec", "subdomain"): "the job's Service has this name, and TF_CONFIG names it",
        ("spec", "schedulerName"): "it is always volcano",
        ("spec", "ephemeralContainers"): "they are added to running pods, never written in a template",
    },
    "container": {},
}
"""What a patch cannot say: it would have no effect, or break discovery or identity."""

_FOLDER = re.compile(r"workloads|cluster(?:-(?:[2-9]|[1-9][0-9]{1,2}))?").fullmatch
_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}").fullmatch
_API_VERSION = re.compile(r"(?:[a-z0-9][a-z0-9.-]{0,252}/)?v[a-z0-9]{1,62}").fullmatch
_RBAC_KINDS = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
_RBAC_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,251}[A-Za-z0-9])?").fullmatch
_FILE_NAME_MAX = 255


class AnswerError(Exception):
    """An answer that its hook does not allow: what is wrong with it, what was found, and what is expected."""

    def __init__(self, message: str, found: Any = "", expected: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.found = _show(found)
        self.expected = expected


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """An answer that its hook does not allow: its type, what is wrong with it, and the route that it names, if any."""

    kind: str
    message: str
    found: str
    expected: str
    at: Route


def accept(
    hook: str,
    results: Iterable[Iterable[Any]],
    refused: list[Refused],
    *,
    trusted: bool = False,
) -> list[Any]:
    """Return the answers that a hook allows, as the compiler may use them: plain, and not shared with the plugin.

    Patches may share values, which are not to be changed.

    Args:
        hook: the name of the hook.
        results: what a plugin answered, each an iterable of answers. Whatever it raises on the way is let through.
        refused: takes what the hook does not allow.
        trusted: whether the plugin is one of ours: its schemas need not be judged at every start, nor its thousands of
            patches, since what is wrong with them is a bug of ours.
    """
    wanted, check = _ANSWERS[hook]
    if trusted and wanted in (Patch, SchemaFragment):
        check = _as_it_is
    taken = []
    for result in results:
        for answer in result:
            try:
                if not isinstance(answer, wanted):
                    raise AnswerError("", answer, wanted.__name__)
                taken.append(check(answer))
            except AnswerError as error:
                refused.append(_refused(answer, error))
    return taken


def _refused(answer: Any, error: AnswerError) -> Refused:
    route: Any = getattr(answer, "because", getattr(answer, "at", None))
    return Refused(
        kind=type(answer).__name__, message=error.message, found=error.found, expected=error.expected,
        at=route if _is_route(route) else (),
    )  # fmt: skip


# --- patches: a thousand jobs have thousands, and a few dozen different ones --------------------------------------


def _patch(answer: Patch) -> Patch:
    target, because = answer.target, answer.because
    value: Any = answer.value
    kind = target[0] if type(target) is tuple and target else ""
    if kind == "job":
        right = len(target) == 1
    else:
        right = kind in ("pod", "container") and len(target) == 2 and type(target[1]) is str  # noqa: PLR2004 - a kind, and a role
    _expect(right, "target", target, "('job',), ('pod', ROLE) or ('container', ROLE)")
    _check_route(because, "because")
    try:
        packed = marshal.dumps(value, 2)
    except ValueError:  # other mappings than dicts, and what is no JSON at all
        packed = marshal.dumps(_plain_map(value, "value"), 2)
    return Patch(target, _partial(kind, packed), because)


@lru_cache(maxsize=1 << 14)
def _partial(kind: str, packed: bytes) -> dict[str, Any]:
    value = _plain_map(marshal.loads(packed), "value")  # noqa: S302 - packed by the caller, a line ago
    for route, reason in _WRITTEN_BY_CORE[kind].items():
        if _holds(value, route):
            raise AnswerError(f"{_place(('value', *route))} cannot be patched: {reason}")
    _check_containers(kind, value)
    notes = Notes()
    settle(shape_of(*_SHAPES[kind]), value, (), notes)
    for fault in notes.faults:
        if fault.rule != "crd-required":  # a patch is a part
            raise AnswerError(f"{_place(('value', *fault.at))}: {fault.message}", fault.found, fault.expected)
    for pruned in notes.pruned:
        raise AnswerError(f"{_place(('value', *pruned))} is no field that Kubernetes or Volcano knows")
    return value


def _check_containers(kind: str, value: Mapping[str, Any]) -> None:
    """Refuse what would rename the training container, stand beside it for ever, or speak in discovery's place."""
    if kind == "container":
        if value.get("name", TRAINING_CONTAINER) != TRAINING_CONTAINER:
            raise AnswerError("value.name cannot be patched", value["name"], TRAINING_CONTAINER)
        for name in _names(value.get("env")):
            if type(name) is str and RESERVED_ENV.fullmatch(name):
                raise AnswerError(f"the variable {name} is reserved: the compiler writes it")
    spec = value.get("spec") if kind == "pod" else None
    if type(spec) is not dict:
        return
    for name in _names(spec.get("containers")):
        if name == TRAINING_CONTAINER:
            raise AnswerError("value.spec.containers holds the training container: patch it with role.container(…)")
        message = f"it adds the sidecar {_show(name)}, which never ends, and so its task never completes"
        raise AnswerError(message, expected="an init container with restartPolicy: Always, a native sidecar")


def _names(elements: Any) -> Iterator[Any]:
    if type(elements) is list:
        yield from (element.get("name", "") for element in elements if type(element) is dict)


def _holds(value: Any, route: Route) -> bool:
    for key in route:
        if type(value) is not dict or key not in value:
            return False
        value = value[key]
    return True


# --- objects ------------------------------------------------------------------------------------------------------


def _object(answer: Object) -> Object:
    manifest = _plain_map(answer.manifest, "manifest")
    _check_route(answer.because, "because")
    expected = "workloads, cluster, or cluster-2 and so on"
    _expect(type(answer.folder) is str and _FOLDER(answer.folder), "folder", answer.folder, expected)
    _expect(type(answer.keep) is bool, "keep", answer.keep, "True or False")
    version, kind, metadata = manifest.get("apiVersion"), manifest.get("kind"), manifest.get("metadata")
    _expect(type(version) is str and _API_VERSION(version), "manifest.apiVersion", version, "such as v1 or apps/v1")
    _expect(type(kind) is str and _KIND(kind), "manifest.kind", kind, "such as ConfigMap")
    assert isinstance(kind, str)
    _expect(type(metadata) is dict, "manifest.metadata", metadata, "a map with a name")
    assert isinstance(metadata, dict)
    _check_metadata(kind, metadata)
    return Object(manifest, answer.because, answer.folder, answer.keep)


def _check_metadata(kind: str, metadata: Mapping[str, Any]) -> None:
    name, namespace = metadata.get("name"), metadata.get("namespace", "default")
    legal = _RBAC_NAME if kind in _RBAC_KINDS else names.is_dns_subdomain
    expected = "lower-case letters, digits, '-' and '.', as Kubernetes has it"
    _expect(type(name) is str and legal(name), "manifest.metadata.name", name, expected)
    _expect(len(file_name(kind, str(name))) <= _FILE_NAME_MAX, "manifest.metadata.name", name, "a shorter name")
    right = type(namespace) is str and names.is_dns_label(namespace)
    _expect(right, "manifest.metadata.namespace", namespace, "a DNS label")
    for key in ("labels", "annotations"):
        texts = metadata.get(key, {})
        right = type(texts) is dict and all(type(value) is str for value in texts.values())
        _expect(right, f"manifest.metadata.{key}", texts, "a map of texts")


# --- problems, accelerators and schemas ---------------------------------------------------------------------------


def _problem(answer: Problem) -> Problem:
    _expect(type(answer.code) is str and answer.code, "code", answer.code, "a code of the plugin's own, such as COST01")
    _expect(type(answer.message) is str and answer.message, "message", answer.message, "text")
    _expect(answer.severity in ("error", "warning"), "severity", answer.severity, "error or warning")
    for name in ("found", "expected", "hint"):
        _expect(type(getattr(answer, name)) is str, name, getattr(answer, name), "text")
    _check_route(answer.at, "at")
    _expect(type(answer.notes) is tuple, "notes", answer.notes, "a tuple of Notes")
    for note in answer.notes:
        _expect(isinstance(note, Note) and type(note.message) is str, "notes", note, "a Note with a message")
        _check_route(note.at, "notes.at")
    return answer


def _accelerator(answer: Accelerator) -> Accelerator:
    for name in ("resource", "title"):
        _expect(type(getattr(answer, name)) is str and getattr(answer, name), name, getattr(answer, name), "text")
    _expect(type(answer.devices) is int and answer.devices > 0, "devices", answer.devices, "a whole number from 1")
    return answer


def _fragment(answer: SchemaFragment) -> SchemaFragment:
    for name in ("site", "key"):
        _expect(type(getattr(answer, name)) is str and getattr(answer, name), name, getattr(answer, name), "text")
    schema = _plain_map(answer.schema, "schema", further=(float, type(None)))
    try:
        Draft202012Validator.check_schema(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    except SchemaError as error:
        place = _place(("schema", *error.absolute_path))
        raise AnswerError(f"{place} of the key '{answer.key}' is no JSON Schema: {error.message}") from error
    _check_keywords(schema, ("schema",))
    return SchemaFragment(answer.site, answer.key, schema)


def _check_keywords(schema: Any, at: Route) -> None:
    """Check what JSON Schema leaves open, and what it does not know."""
    if type(schema) is list:
        for index, item in enumerate(schema):
            _check_keywords(item, (*at, index))
    if type(schema) is not dict:
        return
    if "$ref" in schema:
        expected = "core.schema.json#/$defs/… or pod.schema.json#/$defs/…"
        _expect(resolves(schema["$ref"]), _place((*at, "$ref")), schema["$ref"], expected)
    if "x-shorthand" in schema:
        keys, known = schema["x-shorthand"], schema.get("properties")
        right = type(keys) is list and keys and type(known) is dict and all(type(k) is str and k in known for k in keys)
        _expect(right, _place((*at, "x-shorthand")), keys, "a list of names of its properties")
    if "x-hints" in schema:
        hints = schema["x-hints"]
        right = type(hints) is dict and all(type(hint) is str for hint in hints.values())
        _expect(right, _place((*at, "x-hints")), hints, "a map of texts")
    for key, inner in schema.items():
        _check_keywords(inner, (*at, key))


# --- values -------------------------------------------------------------------------------------------------------


def _plain_map(value: Any, name: str, further: tuple[type, ...] = ()) -> dict[str, Any]:
    _expect(isinstance(value, Mapping), name, value, "a map")
    plain: dict[str, Any] = _plain(value, (name,), further)
    return plain


def _plain(value: Any, at: Route, further: tuple[type, ...]) -> Any:
    """Copy a JSON value into dicts, lists and Python's own scalars, and refuse what is none."""
    _expect(len(at) < _DEEPEST, _place(at[:4]), "", f"at most {_DEEPEST} levels")
    if isinstance(value, Mapping):
        for key in value:
            _expect(isinstance(key, str), f"a key of {_place(at)}", key, "text")
        return {_text(key, at): _plain(inner, (*at, key), further) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, (*at, index), further) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value, at)
    if type(value) is bool or isinstance(value, further):
        return value
    if isinstance(value, int) and _INTEGER_MIN <= value <= _INTEGER_MAX:
        return int(value)
    hint = "; leave the key out where there is nothing to say" if value is None else ""
    raise AnswerError(f"{_place(at)} is no JSON that a manifest can hold", value, _JSON + hint)


def _text(value: str, at: Route) -> str:
    text = str.__str__(value)  # of an enumeration, its value
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AnswerError(f"{_place(at)} is no Unicode text", value, "text") from error
    return text


def _is_route(value: Any) -> bool:
    return type(value) is tuple and _ROUTE_KEYS.issuperset(map(type, value))


def _check_route(value: Any, name: str) -> None:
    _expect(_is_route(value), name, value, _ROUTE)


def _as_it_is(answer: Any) -> Any:
    return answer


def _expect(right: object, name: str, found: Any, expected: str) -> None:
    if not right:
        raise AnswerError(f"its {name} is wrong", found, expected)


def _place(at: Route) -> str:
    return ".".join(str(key) for key in at)


def _show(value: Any) -> str:
    """Write any value as a message quotes it: short, and the same in every run."""
    if isinstance(value, str):
        return value[:80]
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a plugin's object may do anything
        text = f"a {type(value).__name__}"
    return re.sub(r" at 0x[0-9a-f]+", "", text)[:80]


_ANSWERS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "tfgitops_schema": (SchemaFragment, _fragment),
    "tfgitops_check_environment": (Problem, _problem),
    "tfgitops_contribute": (Patch, _patch),
    "tfgitops_objects": (Object, _object),
    "tfgitops_accelerators": (Accelerator, _accelerator),
    "tfgitops_check_manifests": (Problem, _problem),
}
