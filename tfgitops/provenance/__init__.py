"""Where each field of a planned manifest comes from: the places of the spec that gave it, and what they overrode."""

from __future__ import annotations

from tfgitops.provenance.origins import Origin, Provenance

__all__ = ["Origin", "Provenance"]
