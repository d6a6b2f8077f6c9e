"""The plugin's cases, a test each, the contract, and what a change of a key costs."""

from __future__ import annotations

import tfgitops_cost
from tfgitops.testing import PluginTests


class TestCost(PluginTests):
    plugin = tfgitops_cost
