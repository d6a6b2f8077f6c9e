"""References to images, taken apart as a container runtime does; which text is one `schema.formats` says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_HUB = "docker.io"
_HUB_BEFORE = "index.docker.io"


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

    def is_below(self, place: str) -> bool:
        """Tell whether the image is of a registry, or below a path of one: ``registry.example.com/team``."""
        host, slash, path = place.partition("/")
        same = self.registry.lower() == _canonical(host).lower()
        return same and f"{self.repository}/".startswith(f"{path}/" if slash else "")


def parse_image(text: str) -> Image:
    """Take a reference apart; text that is none ends up in the repository."""
    name, _, digest = text.partition("@")
    path, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:  # a colon before a slash is that of a port
        path, tag = name, ""
    host, slash, rest = path.partition("/")
    if not (slash and (host == "localhost" or "." in host or ":" in host or host != host.lower())):
        host, rest = _HUB, path
    registry = _canonical(host)
    return Image(registry, f"library/{rest}" if registry == _HUB and "/" not in rest else rest, tag, digest)


def _canonical(host: str) -> str:
    """Return the one name of a registry: Docker Hub has an older one."""
    return _HUB if host == _HUB_BEFORE else host
