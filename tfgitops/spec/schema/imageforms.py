"""The forms of images and of their registries."""

from __future__ import annotations

import re

from tfgitops.spec.diagnostics import Problem, quoted

_IMAGE = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?\Z"
)
_IMAGE_MAX = 1024
_PLACEHOLDER = re.compile(r"\{\{|\$[({A-Za-z_]|<[^>]+>|%[({]")


def image(value: str) -> Problem | None:
    """Return what is wrong with a reference to an image, or None."""
    if _IMAGE.match(value) and len(value) <= _IMAGE_MAX:
        return None
    bare = value.partition("://")[2]
    hint = "as in registry.example.com/team/image:tag"
    if len(value) > _IMAGE_MAX:
        hint = f"it has {len(value)} characters; {_IMAGE_MAX} at most are allowed"
    elif _PLACEHOLDER.search(value):
        hint = "a template is not expanded here: write the value itself, or expand the template before"
    elif bare and _IMAGE.match(bare):
        hint = f"leave out the scheme: {bare}"
    elif _IMAGE.match(value.lower()):
        hint = f"a repository is in lower case: {value.lower()}"
    message, expected = f"{quoted(value)} is not an image reference", "[registry/]repository[:tag][@digest]"
    return Problem(code="TF203", message=message, at=(), expected=expected, hint=hint)


def registry(value: str) -> Problem | None:
    """Return what is wrong with the name of a registry, or of a part of one, or None."""
    host, _, path = value.partition("/")
    whole = f"{value}/{'' if path else 'x/'}x"
    if _IMAGE.match(whole) and "@" not in value and (host == "localhost" or "." in host or ":" in host):
        return None
    hint = "as in registry.example.com/team; Docker Hub's own is docker.io/library"
    if "://" in value:
        hint = f"leave out the scheme: {value.partition('://')[2].rstrip('/')}"
    elif value.endswith(("/", "/*")):
        hint = f"write {value.rstrip('/*')}: what is below it is meant, too"
    elif _IMAGE.match(f"docker.io/{value}/x"):
        hint = f"write docker.io/{value}, if it is of Docker Hub"
    message, expected = f"{quoted(value)} is not a registry, or a part of one", "host[:port][/path], without tag"
    return Problem(code="TF203", message=message, at=(), expected=expected, hint=hint)
