"""A new plugin: a package, or a file of a repository, that has all there is to change, and tests that pass."""
