"""The plugin's cases, a test each, and the contract."""

import tfgitops_rdma
from tfgitops.testing import PluginTests


class TestRdma(PluginTests):
    plugin = tfgitops_rdma
