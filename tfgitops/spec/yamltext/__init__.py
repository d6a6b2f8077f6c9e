"""YAML text to plain values, in bounded time and memory, with every scalar kept as it was written."""

from tfgitops.spec.yamltext.characters import BLANKS, LOOKALIKES
from tfgitops.spec.yamltext.texterror import TextError
from tfgitops.spec.yamltext.tree import Node, borrowed, compose, has_aliases
from tfgitops.spec.yamltext.values import parse

__all__ = ["BLANKS", "LOOKALIKES", "Node", "TextError", "borrowed", "compose", "has_aliases", "parse"]
