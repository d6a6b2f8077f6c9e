"""References to images: which text is one, and the parts that it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_REFERENCE = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?\Z"
)
_REFERENCE_MAX = 1024
_HUB = "docker.io"


def is_image(text: str) -> bool:
    """Tell whether text is a reference that a container runtime can read."""
    return len(text) <= _REFERENCE_MAX and _REFERENCE.match(text) is not None


@dataclass(frozen=True, slots=True)
class Image:
    """A reference by its parts, as a container runtime reads it: what is left out of a registry is Docker Hub's."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def by(self) -> Literal["digest", "tag", "none"]:
        """What names the content: a digest is always the same, a tag may move, and none means ``latest``."""
        return "digest" if self.digest else "tag" if self.tag else "none"


def parse_image(text: str) -> Image:
    """Take a reference apart; text that is none ends up in the repository."""
    name, _, digest = text.partition("@")
    path, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:  # a colon before a slash is that of a port
        path, tag = name, ""
    host, slash, rest = path.partition("/")
    if slash and (host == "localhost" or "." in host or ":" in host or host != host.lower()):
        return Image(host, rest, tag, digest)
    return Image(_HUB, path if slash else f"library/{path}", tag, digest)
