"""From a resolved environment to its objects: checks of roles and gangs, pods, policies, and pinned jobs."""
