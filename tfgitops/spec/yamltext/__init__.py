"""YAML text to plain values, in bounded time and memory, with every scalar kept as it was written."""

from tfgitops.spec.yamltext.aliases import borrowed, has_aliases
from tfgitops.spec.yamltext.characters import BLANKS, LOOKALIKES
from tfgitops.spec.yamltext.textfault import Fault, Place, TextError
from tfgitops.spec.yamltext.tree import Node, compose
from tfgitops.spec.yamltext.values import parse

__all__ = ["BLANKS", "LOOKALIKES", "Fault", "Node", "Place", "TextError", "borrowed", "compose", "has_aliases", "parse"]
