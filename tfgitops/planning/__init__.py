"""What `plan` is made of: the checks before, the pods of a role, overlays, and what of a pinned job is kept."""
