"""Which folders of claims a Job writes, as far as the texts of its containers say, and whether these name the run."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    Json = dict[str, Any]

_MARK = "\0"  # stands for the run's name in texts
_VARIABLE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)|(\w+))")
_PATH = re.compile(r"(?<![^=:,;\s\"'(\[])/(?:\$\(\w+\)|[^\s\"',;:)\]])*")
_DEPTH_MAX = 10  # variables that name variables


@dataclass(frozen=True, kw_only=True, order=True)
class Folder:
    """A folder that a Job may write, and that does not have the name of its run.

    ``path`` is relative to what is mounted: empty where no text names a folder in it. ``elsewhere`` is whether the
    command of the same container names the run, but for another place.
    """

    claim: str
    sub_path: str
    path: str
    mount: str
    elsewhere: bool = False

    @property
    def volume(self) -> tuple[str, str]:
        """What is mounted: a claim, or a folder of it."""
        return self.claim, self.sub_path

    def outermost(self, known: Container[str]) -> str:
        """Return the outermost of some paths that this folder is, or lies in."""
        steps = self.path.split("/")
        above = ("/".join(steps[:depth]) for depth in range(len(steps)))
        return next((path for path in above if path in known), self.path)


def written_folders(manifest: Mapping[str, Any]) -> list[Folder]:
    """Return the folders of claims that a Job may write, those left out that have the run's name."""
    found: dict[Folder, None] = {}
    for task in manifest["spec"].get("tasks") or ():
        pod = (task.get("template") or {}).get("spec") or {}
        claims = {
            volume["name"]: volume["persistentVolumeClaim"]
            for volume in pod.get("volumes") or ()
            if "persistentVolumeClaim" in volume
        }
        for container in pod.get("containers") or ():
            found.update(dict.fromkeys(_of_container(container, claims)))
    return list(found)


def _of_container(container: Json, claims: Mapping[str, Json]) -> Iterator[Folder]:
    said, texts = _texts(container)
    paths = [path for text in texts for path in _PATH.findall(text)]
    names_run = any(_MARK in text for text in said)
    everywhere = any(_MARK in _PATH.sub("", text) for text in texts)  # for whatever it writes, and wherever
    for mount in container.get("volumeMounts") or ():
        claim = claims.get(mount["name"])
        if claim is None or claim.get("readOnly") or mount.get("readOnly") or everywhere:
            continue
        inner = [path for path in (_below(mount["mountPath"], path) for path in paths) if path is not None]
        if any(_MARK in path for path in (*inner, _expanded(str(mount.get("subPathExpr", "")), {"RUN": _MARK}))):
            continue
        for path in inner or [""]:
            yield Folder(
                claim=claim["claimName"], sub_path=mount.get("subPath", "") or mount.get("subPathExpr", ""),
                path=path, mount=mount["mountPath"], elsewhere=names_run,
            )  # fmt: skip


def _texts(container: Json) -> tuple[list[str], list[str]]:
    """Return the command of a container, and all that it is told, its variables too; references are replaced."""
    entries = container.get("env") or ()
    values = {entry["name"]: str(entry["value"]) for entry in entries if entry.get("value") is not None}
    values["RUN"] = _MARK
    command = [*(container.get("command") or ()), *(container.get("args") or ())]
    said = [_expanded(text, values) for text in command]
    return said, [*said, *(_expanded(values[name], values) for name in values if name != "RUN")]


def _expanded(text: str, values: Mapping[str, str]) -> str:
    for _ in range(_DEPTH_MAX):
        again = _VARIABLE.sub(lambda match: values.get(match[1] or match[2] or match[3], match[0]), text)
        if again == text:
            break
        text = again
    return text


def _below(mount: str, path: str) -> str | None:
    """Return a path relative to a mount; None where it is not below it."""
    relative = posixpath.relpath(posixpath.normpath(path), posixpath.normpath(mount))
    if relative == ".." or relative.startswith("../"):
        return None
    return "" if relative == "." else relative


def overlap(one: str, other: str) -> bool:
    """Tell whether two folders are the same, or one lies in the other."""
    return not one or not other or f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
