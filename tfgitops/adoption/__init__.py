"""From objects that others wrote to a spec: read, settle, propose, compile, compare."""
