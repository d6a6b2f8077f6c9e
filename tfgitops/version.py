"""The version of the compiler."""

__version__ = "0.1.0"
