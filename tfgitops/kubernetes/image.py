"""References to images, taken apart as a container runtime does; which text is one says `formats.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_HUB = "docker.io"


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
