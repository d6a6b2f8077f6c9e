"""What plugins are tested with, ours and yours: specs compiled from text, folders of cases, and the contract's checker.

`plugins/README.md` shows it at work. A whole test file:

    import tfgitops_cost
    from tfgitops.testing import PluginTests

    class TestCost(PluginTests):
        plugin = tfgitops_cost
"""

from tfgitops.testing.bench import HEAD, Bench
from tfgitops.testing.cases import Case, CaseFailedError, find_cases
from tfgitops.testing.contract import RULES, Breach, ContractError, breaches, check_plugin
from tfgitops.testing.finding import find_plugins
from tfgitops.testing.result import Container, JobManifest, Manifest, Pod, Result, Task
from tfgitops.testing.trials import PluginTests

__all__ = [
    "HEAD",
    "RULES",
    "Bench",
    "Breach",
    "Case",
    "CaseFailedError",
    "Container",
    "ContractError",
    "JobManifest",
    "Manifest",
    "PluginTests",
    "Pod",
    "Result",
    "Task",
    "breaches",
    "check_plugin",
    "find_cases",
    "find_plugins",
]
