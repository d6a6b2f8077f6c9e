"""Faults that a run suffers when a line appears in the log of a pod."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

What = Literal["kill", "term", "freeze", "evict", "abort"]

FORM = "POD~REGEX=ACTION:POD"
_FAULT = re.compile(r"(?P<seen>[^~]+)~(?P<line>.+)=(?P<what>kill|term|freeze|evict|abort):(?P<pod>[\w*-]+)")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault: a line in the log of the pod `seen` does `what` to the pod `pod`, or to all pods (`*`).

    kill, term and freeze send a signal to the container. evict deletes the pod, and abort ends the Job.
    """

    seen: str
    line: re.Pattern[str]
    what: What
    pod: str

    def due(self, pod: str, log: str) -> bool:
        """Tell whether the log of a pod holds the line."""
        return pod == self.seen and self.line.search(log) is not None

    def hits(self, pod: str) -> bool:
        """Tell whether the fault is for a pod."""
        return self.pod in ("*", pod)


def fault_of(text: str) -> Fault:
    """Parse a fault, such as `worker-1~step 50=kill:worker-1`."""
    found = _FAULT.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no fault: {FORM}, where ACTION is kill, term, freeze, evict or abort")
    line = re.compile(found["line"], re.MULTILINE)
    return Fault(seen=found["seen"], line=line, what=cast("What", found["what"]), pod=found["pod"])
