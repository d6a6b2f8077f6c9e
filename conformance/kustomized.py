"""Compares the objects that kustomize builds from a folder with the objects in its files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml
from readers import apart

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    from oracle import Judge

    Json = dict[str, Any]

KUSTOMIZATION = "kustomization.yaml"


def differences(files: Mapping[str, str], judge: Judge, counts: Counter[str]) -> Iterator[str]:
    """Yield a line for each object that kustomize does not build as the files of one folder, by name, hold it.

    A folder without a kustomization.yaml gets one that lists all its files, as `kustomize edit add resource` makes it.
    """
    names = sorted(files.keys() - {KUSTOMIZATION})
    held = [found for name in names for found in yaml.load_all(files[name], yaml.CSafeLoader)]
    counts["folders"] += 1
    counts["kustomized"] += len(held)
    try:
        built = judge.kustomize({KUSTOMIZATION: json.dumps({"resources": names}), **files})
    except ValueError as error:
        yield f"kustomize: {error}"
        return
    ours, theirs = _by_identity(held), _by_identity(built)
    for identity in sorted(ours.keys() | theirs.keys()):
        had, made = ours.get(identity, "nothing"), theirs.get(identity, "nothing")
        if had != made:
            yield f"kustomize makes of {identity} {apart(made, had, 'where the files hold')}"


def _by_identity(objects: list[Json]) -> dict[str, str]:
    """Return objects in one form, by their identity: kustomize rejects a second object of one identity."""
    return {
        f"{found['kind']} {found['metadata'].get('namespace', '-')}/{found['metadata']['name']}": json.dumps(
            found, sort_keys=True
        )
        for found in objects
    }


def by_folder(files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Group files by their folders."""
    folders: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, {})[name] = text
    return folders
