"""Commands that are text: how a shell runs them, and what is surely broken in one."""
