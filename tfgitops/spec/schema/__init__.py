"""The shape of a spec: one JSON Schema, the keywords and forms that it is written in, and what is derived from it."""
