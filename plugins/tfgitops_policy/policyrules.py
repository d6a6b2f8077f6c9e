"""What each rule of a policy asks of the planned manifests, and how a breach of it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tfgitops import Note, Problem, claimed_devices, parse_image, pod_images, pod_requests, quantity, unnamed_resources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops import Accelerator, Environment, Job, PodImage, Role, Route

    Manifest = Mapping[str, Any]

_SEVERITIES: dict[str, Literal["error", "warning", "note"]] = {"audit": "note", "warn": "warning", "deny": "error"}


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule that is switched on: its key in the policy, the code of a breach, and what the policy says of it."""

    key: str
    code: str
    block: Mapping[str, Any]

    def breach(self, message: str, at: Route, hint: str, *, found: str = "", expected: str = "") -> Problem:
        """Say that the rule is broken at a place of the spec."""
        note = Note(message="the rule", at=("policy", self.key))
        return Problem(
            code=self.code, message=message, at=at, severity=_SEVERITIES[self.block["level"]], found=found,
            expected=expected, hint=hint, notes=(note,), allowable=True, on_key=at[-2:-1] == ("labels",),
        )  # fmt: skip


def check_policy(
    environment: Environment, policy: Manifest, manifests: Sequence[Manifest], accelerators: Sequence[Accelerator]
) -> Iterator[Problem]:
    """Report each breach of the rules that a policy switches on."""
    on = {key: _Rule(key, code, policy[key]) for key, code in _RULES.items() if key in policy}
    for manifest in manifests:
        job = environment.job_of(manifest)
        if on.keys() & _OF_IMAGES:
            yield from _check_images(on, job, manifest)
        if job and "maxGpus" in on:
            yield from _check_gpus(on["maxGpus"], job, manifest, accelerators)
        if job and "requiredLabels" in on:
            yield from _check_labels(on["requiredLabels"], job, manifest)
        if job and "requiredResources" in on:
            yield from _check_resources(on["requiredResources"], job, manifest)


def _check_images(on: Mapping[str, _Rule], job: Job | None, manifest: Manifest) -> Iterator[Problem]:
    for found in pod_images(manifest):
        for rule, message, expected, hint in _breached(on, found.image):
            if job:
                at = _image_at(job, job.roles[int(found.at[2])], found)
            else:
                at = ("policy", rule.key)
                message += f", in {manifest['kind']} '{manifest['metadata']['name']}'"  # noqa: PLW2901 - said of it
            yield rule.breach(message, at, hint, found=found.image, expected=expected)


def _breached(on: Mapping[str, _Rule], image: str) -> Iterator[tuple[_Rule, str, str, str]]:
    """Yield each rule that an image breaks, with a message, what is expected, and a hint."""
    parsed = parse_image(image)
    if (rule := on.get("imageDigest")) and not parsed.digest:
        hint = "name it by its digest, as in IMAGE@sha256:…, to know what runs"
        yield rule, f"the image {image} has no digest", "", hint
    if (rule := on.get("imageRegistries")) and not any(map(parsed.is_below, rule.block["allowed"])):
        message = f"the image {image} comes from {parsed.registry}/{parsed.repository}"
        hint = "copy it to a registry that is allowed, and name it there"
        yield rule, message, f"an image of {' or '.join(rule.block['allowed'])}", hint
    if (rule := on.get("noLatest")) and not parsed.digest and parsed.tag in ("", "latest"):
        message = f"the image {image} is `latest`{'' if parsed.tag else ', since it has no tag'}"
        yield rule, message, "", "name a version, or the digest: `latest` may be another image for each pod"


def _image_at(job: Job, role: Role, found: PodImage) -> Route:
    """Return where the spec names an image: a key of the role, or an overlay of it or of the job."""
    pod = ("pod", "spec")
    if found.part == "container":
        return job.written(role, ("container", "image"), (*pod, "containers", found.name, "image"), ("image",))
    if found.part == "volume":
        return job.written(role, (*pod, "volumes", found.name, "image", "reference"), ())
    return job.written(role, (*pod, "initContainers", found.name, "image"), ())


def _check_gpus(rule: _Rule, job: Job, manifest: Manifest, accelerators: Sequence[Accelerator]) -> Iterator[Problem]:
    most = rule.block["perJob"]
    asked: list[tuple[int, Role, str]] = []
    for role, task in zip(job.roles, manifest["spec"]["tasks"], strict=True):
        pod, own = task["template"]["spec"], (role.get("gpu") or {}).get("resource")
        for resource, nanos in pod_requests(pod).items():
            device = next((one for one in accelerators if one.is_of(resource)), None)
            if device or resource == own:
                devices = device.devices if device else 1
                asked.append((nanos // quantity.NANO * devices * task["replicas"], role, resource))
        asked.append((claimed_devices(pod, task["replicas"]), role, "resourceClaims"))
    total = sum(number for number, _, _ in asked)
    if total > most:
        _, role, resource = max(asked, key=lambda one: one[0])
        shares = ", ".join(f"{number} {name} of '{who.name}'" for number, who, name in asked if number)
        message = f"'{job.name}' asks for {total} GPUs, and a job may have {most}"
        hint = "fewer replicas, or fewer GPUs of each"
        yield rule.breach(message, _gpus_at(job, role, resource), hint, found=shares, expected=f"at most {most}")


def _gpus_at(job: Job, role: Role, resource: str) -> Route:
    overlays = [("container", "resources", bound, resource) for bound in ("limits", "requests")]
    return job.written(role, *overlays, ("pod", "spec", resource), ("gpu", "count"), ("gpu",), _INIT, ())


def _check_labels(rule: _Rule, job: Job, manifest: Manifest) -> Iterator[Problem]:
    labels = manifest["metadata"].get("labels") or {}
    for name in rule.block["labels"]:
        if name not in labels:
            message = f"the job '{job.name}' has no label '{name}'"
            hint = f"add `labels: {{{name}: …}}`: labels of a job change in place"
            yield rule.breach(message, (*job.route, "labels", name), hint)


def _check_resources(rule: _Rule, job: Job, manifest: Manifest) -> Iterator[Problem]:
    for role, task in zip(job.roles, manifest["spec"]["tasks"], strict=True):
        pod = task["template"]["spec"]
        for container in (*(pod.get("initContainers") or ()), *pod["containers"]):
            if missing := unnamed_resources(container, rule.block["resources"]):
                message = f"the container '{container['name']}' of '{role.name}' has no {', '.join(missing)}"
                hint = (
                    "give the role `cpu` and `memory`, with a limit beside the request: `cpu: {request: 4, limit: 8}`"
                )
                yield rule.breach(
                    message, job.written(role, ("container", "resources"), ("cpu",), ("memory",), ()), hint
                )


_RULES = {
    "imageDigest": "POLICY01", "imageRegistries": "POLICY02", "maxGpus": "POLICY03", "requiredLabels": "POLICY04",
    "noLatest": "POLICY05", "requiredResources": "POLICY06",
}  # fmt: skip
_INIT = ("pod", "spec", "initContainers")
_OF_IMAGES = {"imageDigest", "imageRegistries", "noLatest"}
