"""Read ConfigMaps as files of the repository, which jobs mount by `configMaps`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.names import is_config_key, is_dns_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.adoption.sourcefiles import SourceObject

FOLDER = "config"
_BY_NAME = ("configMapRef", "configMapKeyRef")
_MOUNTED = {"name", "mountPath", "readOnly"}
_MODES = (None, 0o644)


def config_files(sources: Iterable[SourceObject], jobs: Iterable[SourceObject]) -> dict[str, dict[str, str]]:
    """Return the files of each ConfigMap that jobs only mount, by its name: the text of each by its path."""
    named = {name for job in jobs for name in _named(job.value)}
    found = {}
    for source in sources:
        data = source.value.get("data")
        items = data.items() if isinstance(data, dict) else ()
        plain = bool(items) and all(isinstance(text, str) and is_config_key(key) for key, text in items)
        mounted = is_dns_label(source.name) and source.name not in named
        if source.kind == "ConfigMap" and plain and mounted and not source.value.get("binaryData"):
            found[source.name] = {f"{FOLDER}/{source.name}/{key}": text for key, text in items}
    return found


def config_paths(volume: Mapping[str, Any], mounted: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the paths at which a volume of a ConfigMap is mounted as a whole; none if `configMaps` cannot say that."""
    reference = volume.get("configMap") or {}
    mounts = [*mounted]
    whole = reference.keys() <= {"name", "defaultMode"} and reference.get("defaultMode") in _MODES
    plain = whole and all(mount.keys() <= _MOUNTED for mount in mounts)
    return [str(mount.get("mountPath")) for mount in mounts] if plain else []


def _named(value: Any) -> Iterator[str]:
    """Yield the names of ConfigMaps that variables refer to."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _BY_NAME and isinstance(inner, dict):
                yield str(inner.get("name"))
            yield from _named(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _named(item)
