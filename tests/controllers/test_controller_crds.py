"""The objects for Argo CD and Flux are valid by the controllers' own CRDs, where these are at hand.

CONTROLLER_CRDS names a folder with the CRDs as files: Application and AppProject of Argo CD (`manifests/crds`),
Kustomization and GitRepository of Flux (`config/crd/bases` of its controllers).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

FOLDER = os.environ.get("CONTROLLER_CRDS", "")
KINDS = {"argocd": ["AppProject", "Application"], "flux": ["GitRepository", "Kustomization"]}
SETTINGS = "repo: 'ssh://git@x.io:22/t.git', revision: refs/tags/v1, namespace: ci"


def closed(schema: Any) -> Any:
    """Return a structural schema that refuses unknown fields, as strict validation of a server does."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    if found.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    if "properties" in found and found.get("type") == "object":
        found.setdefault("additionalProperties", bool(found.get("x-kubernetes-preserve-unknown-fields")))
    return found


def schemas() -> dict[tuple[str, str], Any]:
    found = {}
    for path in Path(FOLDER).glob("*.yaml"):
        crd = yaml.safe_load(path.read_text(encoding="utf-8"))["spec"]
        for version in crd["versions"]:
            schema = closed(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {"type": "object"}
            found[f"{crd['group']}/{version['name']}", crd["names"]["kind"]] = schema
    return found


@pytest.mark.skipif(not FOLDER, reason="the CRDs of Argo CD and Flux are not at hand: see CONTROLLER_CRDS")
@pytest.mark.parametrize(
    ("controller", "further"),
    [("argocd", ""), ("argocd", ", server: 'https://x.io:6443'"), ("flux", ""), ("flux", ", secret: git")],
)
def test_the_objects_are_valid(compile_spec: Callable[..., Result], controller: str, further: str) -> None:
    known = schemas()
    spec = "queues: {a: {}, b: {parent: a}}\nkustomization: true\njobs: {train: {image: tf, queue: b, worker: 2}}\n"
    result = compile_spec(f"gitops: {controller}\nbootstrap: {{{SETTINGS}{further}}}\n{spec}")
    assert result.codes == []
    manifests = [yaml.safe_load(file.text) for file in result.compiled.bootstrap]
    judged = [one for one in manifests if one["kind"] != "ConfigMap"]
    assert sorted({one["kind"] for one in judged}) == KINDS[controller]
    for one in judged:
        jsonschema.Draft202012Validator(known[one["apiVersion"], one["kind"]]).validate(one)
