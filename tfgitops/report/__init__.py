"""How diagnostics are shown: one module a format, each of which only reads."""
