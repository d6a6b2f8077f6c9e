"""Volcano's rules are broken in the same words as Kubernetes's: this is the way to them from here."""

from tfgitops.kubernetes.fault import Fault, Route, Rules, show

__all__ = ["Fault", "Route", "Rules", "show"]
