"""YAML text to plain values, in bounded time and memory, with every scalar kept as it was written."""

from tfgitops.spec.yamltext.textfaults import BLANKS, LOOKALIKES, TextError
from tfgitops.spec.yamltext.tree import Node, borrowed, compose, has_aliases
from tfgitops.spec.yamltext.values import measured, parse

__all__ = ["BLANKS", "LOOKALIKES", "Node", "TextError", "borrowed", "compose", "has_aliases", "measured", "parse"]
