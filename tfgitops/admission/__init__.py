"""Judge each manifest as the cluster would, and suppress the problems that an environment allows."""
