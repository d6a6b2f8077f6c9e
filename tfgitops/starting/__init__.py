"""A new repository for trainings: the files that `tfgitops init` writes, and the helper that its CI calls."""
