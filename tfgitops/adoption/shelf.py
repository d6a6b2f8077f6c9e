"""What the jobs of an environment share: its volumes and configMaps, and the queues that they wait in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection


class Shelf:
    """The blocks `volumes`, `configMaps` and `queues` of an environment, as jobs ask for them.

    ``known`` are the keys at the top of a spec, some of which plugins own. ``files`` are those of the ConfigMaps in the
    source, by name and path; ``configs`` are the blocks that jobs use.
    """

    def __init__(self, files: dict[str, dict[str, str]], known: Collection[str]) -> None:
        self.known = known
        self.files = files
        self.configs: dict[str, dict[str, Any]] = {}
        self.volumes: dict[str, dict[str, Any]] = {}
        self.queues: dict[str, dict[str, Any]] = {}
        self.claims: set[str] = set()

    def add_claim(self, name: str, block: dict[str, Any]) -> None:
        """Declare a claim of the source, which the spec makes."""
        self.volumes[name] = block
        self.claims.add(name)

    def use_queue(self, name: str) -> None:
        """Declare a queue that is not in the source: it exists."""
        self.queues.setdefault(name, {"external": True})

    def use(self, volume: str, claim: str, mount: dict[str, Any]) -> tuple[str, Any]:
        """Return the name of the volume for a claim, and what a role writes to mount it.

        The first mount of a volume is how the volume says it is mounted, except for a folder: a list cannot remove one.
        """
        name = claim if claim in self.claims else self._name(volume, claim)
        block = self.volumes.setdefault(name, {"claim": claim})
        if "path" not in block:
            block.update({key: value for key, value in mount.items() if key != "subPath"})
        use = {key: value for key, value in mount.items() if block.get(key) != value}
        if block.get("readOnly") and not mount.get("readOnly"):
            use["readOnly"] = False
        return name, {"name": name, **use} if use else name

    def config(self, name: str, path: str) -> Any:
        """Return what a role writes to mount a ConfigMap."""
        block = self.configs.setdefault(name, {"files": [*self.files[name]], "path": path})
        return name if block["path"] == path else {"name": name, "path": path}

    @property
    def blocks(self) -> dict[str, dict[str, Any]]:
        """The keys at the top of a spec that are in use."""
        found = {"queues": self.queues, "configMaps": self.configs, "volumes": self.volumes}
        return {key: dict(block) for key, block in found.items() if block and key in self.known}

    def _name(self, volume: str, claim: str) -> str:
        for name in (volume, claim, *(f"{volume}-{number}" for number in range(2, 1000))):
            if self.volumes.get(name, {}).get("claim", claim) == claim and name not in self.claims:
                return name
        return claim
