"""What the GitOps controllers must be told on each object (docs/volcano.md 7)."""
