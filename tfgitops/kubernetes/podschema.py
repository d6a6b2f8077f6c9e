"""The JSON Schema of pod templates and containers, as `tools/pod_schema.py` took it from Kubernetes."""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast


@cache
def pod_schema() -> dict[str, Any]:
    """Read the schema, whose `$defs/PodTemplateSpec` and `$defs/Container` check an object or a part of one.

    An installed package holds the file itself; in a checkout it stands in `schemas/`, beside the package.
    """
    package = files("tfgitops")
    file = package / "schemas" / "pod.schema.json"
    if not file.is_file():
        file = Path(str(package)).parent / "schemas" / "pod.schema.json"
    return cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))
