"""What plugins are tested with, ours and yours: specs compiled from text, folders of cases, and the contract's checker.

`plugins/README.md` shows it at work. A whole test file:

    import tfgitops_cost
    from tfgitops.testing import PluginTests

    class TestCost(PluginTests):
        plugin = tfgitops_cost
"""

from typing import TYPE_CHECKING

from tfgitops import fetcher

if TYPE_CHECKING:
    from tfgitops.testing.bench import HEAD, Bench, find_plugins
    from tfgitops.testing.cases import Case, CaseFailedError, PluginTests, find_cases
    from tfgitops.testing.contract import RULES, Breach, ContractError, breaches, check_plugin
    from tfgitops.testing.result import Container, Manifest, Pod, Result, Task

_HOMES = {
    "bench": ("HEAD", "Bench", "find_plugins"),
    "cases": ("Case", "CaseFailedError", "PluginTests", "find_cases"),
    "contract": ("RULES", "Breach", "ContractError", "breaches", "check_plugin"),
    "result": ("Container", "Manifest", "Pod", "Result", "Task"),
}
__getattr__ = fetcher(globals(), _HOMES)  # pytest loads a module of this package at each start, and nothing else of it

__all__ = [
    "HEAD", "RULES", "Bench", "Breach", "Case", "CaseFailedError", "Container", "ContractError", "Manifest",
    "PluginTests", "Pod", "Result", "Task", "breaches", "check_plugin", "find_cases", "find_plugins",
]  # fmt: skip
