"""The ConfigMaps of files, and the parts of a pod that mount a script or configurations."""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import basename
from typing import TYPE_CHECKING, Any

from tfgitops import named_by_content
from tfgitops_files.fetching import FETCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfgitops import Role

SCRIPT_FOLDER = "/script"
CONFIG_FOLDER = "/config"
VARIABLE = "SCRIPT"
_VOLUME = "script"
_READ_AND_RUN = 0o555
_LITTLE = {"cpu": "100m", "memory": "128Mi"}
"""Less than any training takes, so that the pod needs no more for the download. A quota may want amounts."""


def script_path(script: Mapping[str, Any]) -> str:
    """Return the path of a script in its container."""
    return f"{SCRIPT_FOLDER}/{script_name(script)}"


def script_name(script: Mapping[str, Any]) -> str:
    """Return the name of the file of a script."""
    if "file" in script:
        return basename(str(script["file"]["path"]))
    return basename(re.split("[?#]", str(script.get("url", "")))[0])


def runs_by_itself(role: Role) -> bool:
    """Tell whether a role says itself what runs: by a command, or by arguments that name its script."""
    said = [role.get("command"), (role.get("container") or {}).get("command")]
    arguments = map(str, role.get("args") or ())
    return any(said) or any(f"$({VARIABLE})" in one or f"{SCRIPT_FOLDER}/" in one for one in arguments)


def script_map(job: str, file: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ConfigMap of a script of a job."""
    name = basename(file["path"])
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-") or "script"
    return _named(f"{job}-{words}", ((name, file.get("text", "")),))


def config_map(job: str, name: str, block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ConfigMap of a block of `configMaps` for a job.

    Each job has its own: environments of one namespace can mount the same files, and no object may have two owners.
    """
    files = block.get("files", ())
    return _named(f"{job}-{name}", tuple((basename(file["path"]), file.get("text", "")) for file in files))


@lru_cache(maxsize=1024)
def _named(name: str, files: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    """Return an immutable ConfigMap with some files, named by its content; not to be changed."""
    kind = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return named_by_content({**kind, "immutable": True, "data": dict(files)})


def script_parts(job: str, script: Mapping[str, Any], image: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parts of a pod template and a container that mount a script and name its path in a variable."""
    container = {
        "env": [{"name": VARIABLE, "value": script_path(script)}],
        "volumeMounts": [{"name": _VOLUME, "mountPath": SCRIPT_FOLDER, "readOnly": True}],
    }
    if "file" in script:
        source = {"configMap": _reference(script_map(job, script["file"]), defaultMode=_READ_AND_RUN)}
        return {"spec": {"volumes": [{"name": _VOLUME, **source}]}}, container
    fetching = {
        "name": _VOLUME,
        "image": script.get("image", image or ""),
        "command": ["python3", "-c", FETCH, script.get("url", ""), script.get("sha256", ""), script_path(script)],
        "resources": {"requests": _LITTLE, "limits": _LITTLE},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": _VOLUME, "mountPath": SCRIPT_FOLDER}],
    }
    return {"spec": {"initContainers": [fetching], "volumes": [{"name": _VOLUME, "emptyDir": {}}]}}, container


def config_path(use: Mapping[str, Any], declared: Mapping[str, Any]) -> str:
    """Return the path at which a role mounts a configMap."""
    name = use["name"]
    return str(use.get("path") or declared.get(name, {}).get("path") or f"{CONFIG_FOLDER}/{name}")


def config_parts(
    job: str, uses: Iterable[Mapping[str, Any]], declared: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parts of a pod template and a container that mount configMaps; undeclared ones are left out."""
    known = [use for use in uses if use["name"] in declared]
    names = dict.fromkeys(use["name"] for use in known)
    volumes = [
        {"name": f"config-{name}", "configMap": _reference(config_map(job, name, declared[name]))} for name in names
    ]
    mounts = [
        {"name": f"config-{use['name']}", "mountPath": config_path(use, declared), "readOnly": True} for use in known
    ]
    return {"spec": {"volumes": volumes}}, {"volumeMounts": mounts}


def _reference(manifest: Mapping[str, Any], **more: int) -> dict[str, Any]:
    return {"name": manifest["metadata"]["name"], **more}
