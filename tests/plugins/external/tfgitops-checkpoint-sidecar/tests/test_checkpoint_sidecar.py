"""The cases of checkpoint-sidecar, and the contract on their specs."""

import tfgitops_checkpoint_sidecar
from tfgitops.testing import PluginTests


class TestCheckpointSidecar(PluginTests):
    plugin = tfgitops_checkpoint_sidecar
