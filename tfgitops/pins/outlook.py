"""What the next build does with a job whose pin was taken away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfgitops.planning.pinned import RefusedError, committed_job
from tfgitops.spec.committed import texts
from tfgitops.spec.diagnostics import a_few
from tfgitops.targets.routes import reach
from tfgitops.targets.volcano.defaults import immutable_changes

if TYPE_CHECKING:
    from tfgitops.compiler.compiled import Compiled
    from tfgitops.pins.specedits import Pin
    from tfgitops.targets.routes import Route

_SHOWN = 3


def outlook(compiled: Compiled, pin: Pin) -> str:
    """Say what the next build does with a job that is no longer pinned, after a compile of the edited spec."""
    if not compiled.ok or compiled.environment is None:
        return f"{pin.job}: the spec is not valid without the pin; see `tfgitops validate`"
    environment = compiled.environment
    job = environment.by_name.get(pin.job)
    new = next((o.manifest for o in compiled.objects if job and o.own and environment.job_of(o.manifest) is job), None)
    try:
        old = committed_job(pin.job, environment.namespace, texts(compiled.folder), pin.name).manifest
    except RefusedError:
        old = None
    if new is None or old is None:
        return f"{pin.job}: the next build writes its manifest anew"
    name = new["metadata"]["name"]
    if name == pin.name:
        same = "changes nothing" if new == old else "updates it in place"
        return f"{pin.job}: still {name}; the next build {same}"
    old = json.loads(json.dumps(old).replace(pin.name, name))
    changes = [_field(old, route) for route in immutable_changes(old, new)]
    what = f"{pin.name} → {name}: {a_few(changes, _SHOWN)}"
    return f"{pin.job}: `build --restart {environment.name}/{pin.job}` makes a new run, {what}"


def _field(manifest: dict[str, Any], route: Route) -> str:
    """Write a route of a manifest as people name it: elements of lists by their names."""
    value: Any = manifest
    words = []
    for key in route:
        value = reach(value, (key,))
        named = isinstance(key, int) and isinstance(value, dict) and "name" in value
        words.append(str(value["name"] if named else key))
    return ".".join(words).removeprefix("spec.tasks.").replace(".template.spec.containers.tensorflow", "")
