"""What the GitOps controllers must be told on each object (volcano.md 7)."""
