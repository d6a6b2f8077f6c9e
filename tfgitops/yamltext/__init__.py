"""YAML text to plain values, in bounded time and memory, with every scalar kept as it was written."""

from tfgitops.yamltext.aliases import borrowed, has_aliases
from tfgitops.yamltext.characters import BLANKS, LOOKALIKES
from tfgitops.yamltext.fault import Fault, Place, TextError
from tfgitops.yamltext.tree import Node, compose
from tfgitops.yamltext.values import parse

__all__ = ["BLANKS", "LOOKALIKES", "Fault", "Node", "Place", "TextError", "borrowed", "compose", "has_aliases", "parse"]
