"""Find the paths of volumes that a container names and does not mount: it would write into its own file system."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from tfgitops import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops import Environment, Role, Route

    Manifest = Mapping[str, Any]
    Pair = tuple[str, str]
    Text = tuple[str, Route]

_NEED_THEIR_OWN = ("chief", "evaluator")
"""Roles that read or write checkpoints in any case; another may leave that to those which mount the volume."""


def check_paths(environment: Environment, manifests: Sequence[Manifest]) -> Iterator[Problem]:
    """Yield a warning for each text that names the path of a declared volume, in a role that does not mount it."""
    volumes = environment.get("volumes") or {}
    paths = {path: name for name in volumes if (path := str(volumes[name].get("path", "")).rstrip("/"))}
    jobs = [
        (job, [_trained(task["template"]["spec"]["containers"][0]) for task in manifest["spec"]["tasks"]])
        for manifest in manifests
        if paths and (job := environment.job_of(manifest))
    ]
    common = Counter(pair for _, trainings in jobs for pair in {pair for _, env in trainings for pair in env})
    for job, trainings in jobs:
        used = {use["name"] for role in job.roles for use in role.get("volumes") or ()}
        for role, (training, env) in zip(job.roles, () if job.pin else trainings, strict=False):
            spared = () if role.kind in _NEED_THEIR_OWN else used
            wanted = {path: name for path, name in paths.items() if name not in spared}
            yield from _check_role(role, training, wanted, [*_texts(training, env, common)])


def _check_role(role: Role, container: Manifest, paths: Mapping[str, str], texts: list[Text]) -> Iterator[Problem]:
    mounted = tuple(str(mount["mountPath"]).rstrip("/") + "/" for mount in container.get("volumeMounts", ()))
    for text, at in texts:
        for path in paths if "/" in text else ():
            found = re.search(rf"(?<![\w.$)}}/-]){re.escape(path)}(?![\w.-])[^\s\"',;:]*", text)
            if found and not f"{found[0]}/".startswith(mounted):
                message = f"'{role.name}' does not mount '{paths[path]}', so {found[0]} is in its own file system"
                hint = f"add `{paths[path]}` to its `volumes`, or choose a path outside of {path}"
                yield Problem(code="STORE01", message=message, at=(*role.route, *at), severity="warning", hint=hint)


def _texts(container: Manifest, env: list[Pair], common: Mapping[Pair, int]) -> Iterator[Text]:
    """Yield the texts that a container surely uses: not a variable that several jobs have and no argument names."""
    words = [(str(word), (field,)) for field in ("command", "args") for word in container.get(field, ())]
    said = " ".join(word for word, _ in words)
    yield from words
    for name, value in env:
        if common[name, value] == 1 or re.search(rf"\$[({{]?{re.escape(name)}\b", said):
            yield value, ("env", name)


def _trained(container: Manifest) -> tuple[Manifest, list[Pair]]:
    """Return a container with those of its variables that may hold a path."""
    pairs = ((entry["name"], str(entry.get("value", ""))) for entry in container.get("env", ()))
    return container, [(name, value) for name, value in pairs if "/" in value]
