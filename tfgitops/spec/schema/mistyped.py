"""How a value of the wrong type was probably meant: a number in words, a list for a map, a map for a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.spec.schema.unknownkeys import brought
from tfgitops.spec.yamltext.textfaults import odd_characters
from tfgitops.targets.kubernetes.names import describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TRUTHS = {**dict.fromkeys(("yes", "on", "y", "true"), "true"), **dict.fromkeys(("no", "off", "n", "false"), "false")}
_NUMBER = re.compile(r"([+-]?)([0-9]+(?:[_,][0-9]{3})*)")
_PLAIN = re.compile(r"[^\s,\[\]{}#:'\"&*!|>%@`][^\s,\[\]{}#:'\"]*")
_HINT_AT_MOST = 160
_DIGITS_AT_MOST = 18  # what has more is text, quoted or not
_ONE = ("name", "size", "count", "value")
_PAIR = re.compile(r"([A-Za-z_][\w./-]*)=(.*)", re.DOTALL)


def meant(value: Any, kinds: Sequence[str], schema: Mapping[str, Any]) -> str:
    """Say how a value was probably meant that is of none of some types, or nothing."""
    say = _list if type(value) is list else _map if type(value) is dict else _single
    hint = say(value, kinds, schema)
    return hint if len(hint) <= _HINT_AT_MOST and "\n" not in hint else ""  # what shows the value anew must be short


def strange(text: str) -> str:
    """Name the characters of what should be plain ASCII, by their code points."""
    odd = odd_characters(text) or [describe(char) for char in dict.fromkeys(text) if not char.isascii()]
    return f"it holds {' and '.join(odd)}; type it anew" if odd else ""


def _single(value: Any, kinds: Sequence[str], schema: Mapping[str, Any]) -> str:
    text = str(value).strip()
    named = schema.get("additionalProperties")
    if type(value) is bool:
        return _truth(value, kinds, schema)
    if "boolean" in kinds and text.lower() in _TRUTHS:
        return f"write {_TRUTHS[text.lower()]}"
    if type(named) is dict and (_PAIR.fullmatch(text) or (type(value) is int and "x-shorthand" in named)):
        return _unnamed(value, "")
    return _words(text, kinds, schema) if "array" in kinds else _text_or_number(value, kinds, schema)


def _truth(value: bool, kinds: Sequence[str], schema: Mapping[str, Any]) -> str:  # noqa: FBT001 - it is the value
    if "string" in kinds:
        return "" if "format" in schema else f'quote it, if the text is meant: "{str(value).lower()}"'
    if "integer" in kinds:
        return "write a number, such as 1" if value else "leave it out; `~` removes an inherited one"
    return ""


def _text_or_number(value: Any, kinds: Sequence[str], schema: Mapping[str, Any]) -> str:
    if "string" in kinds and type(value) is int:
        return f'quote it: "{value}"'
    number = _NUMBER.fullmatch(str(value).strip()[: 2 * _DIGITS_AT_MOST])
    if "integer" in kinds and number:
        return _number(number, schema)
    return strange(value) if type(value) is str and odd_characters(value) else ""


def _words(text: str, kinds: Sequence[str], schema: Mapping[str, Any]) -> str:
    """Turn a text into a list of its words, where a list of texts alone is wanted."""
    items = schema.get("items", {})
    if "string" in kinds or ("properties" in items and "x-shorthand" not in items):
        return ""
    return "" if "'" in text or not text else f"write a list: `[{', '.join(map(_in_list, text.split()))}]`"


def _in_list(word: str) -> str:
    word = word.strip(",")
    return word if _PLAIN.fullmatch(word) else f'"{word}"'


def _number(number: re.Match[str], schema: Mapping[str, Any]) -> str:
    whole = int(number[1] + re.sub("[_,]", "", number[2]))
    for bound, out, word in (("maximum", whole.__gt__, "most"), ("minimum", whole.__lt__, "least")):
        if bound in schema and out(schema[bound]):
            return f"write a number, {schema[bound]} at {word}"
    if len(number[2]) > _DIGITS_AT_MOST:
        return f"write a number of {_DIGITS_AT_MOST} digits at most"
    return f"write {whole}, a number without quotes" if str(whole) == number[0] else f"write {whole}"


def _list(value: list[Any], kinds: Sequence[str], schema: Mapping[str, Any]) -> str:
    first = value[0] if value else None
    named = schema.get("additionalProperties")
    if "object" not in kinds or type(named) is not dict:
        fits = len(value) == 1 and type(first) in (str, int) and not {"string", "integer"}.isdisjoint(kinds)
        return f"write it without a list: {first}" if fits else ""
    if type(first) is dict:
        single = f"leave out the '-' before `{next(iter(first), '')}:`" if len(first) == 1 else ""
        return _named(first, named) if type(first.get("name")) is str else single
    return _unnamed(first, f" for `- {first}`") if isinstance(first, str | int) else ""


def _unnamed(entry: str | int, instead_of: str) -> str:
    """Turn an entry of a list, or a single value, into an entry of a map."""
    text = str(entry)
    if pair := _PAIR.fullmatch(text):
        return f"write `{pair[1]}: {pair[2]}`{instead_of}"
    if port := re.search(r"(?:^|:)([0-9]+)$", text):
        return f"each needs a name: `NAME: {port[1]}`"
    return f"write `{text}: …`{instead_of}"


def _named(entry: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    """Turn `- name: A` and what stands beside it, Kubernetes's form of a list, into an entry of a map."""
    name = entry["name"]
    if "valueFrom" in entry:
        return f"write `{name}: {{secret: NAME, key: KEY}}` for `- name: {name}` and its `valueFrom`"
    for key in ("value", "containerPort", "port"):
        if key in entry and type(entry[key]) in (str, int):
            return f"write `{name}: {entry[key]}` for `- {{name: {name}, {key}: {entry[key]}}}`"
    return f"write `{name}:` for `- name: {name}`{', and its other keys below it' * ('properties' in named)}"


def _map(value: dict[str, Any], kinds: Sequence[str], schema: Mapping[str, Any]) -> str:
    if "array" not in kinds:
        return _alone(value)
    items = schema.get("items", {})
    inner = [key for one in value.values() if type(one) is dict for key in one]
    if elsewhere := next(filter(None, (brought(key, items) for key in inner)), ""):
        return elsewhere
    known = items.get("properties", {})
    if known and any(key in known for key in value) and items.get("x-shorthand") != ["name"]:
        return f"write a list: `- ` before `{next(iter(value))}:`"
    if items.get("x-shorthand") == ["name"] or items.get("type") == "string":
        names = [value["name"]] if type(value.get("name")) is str else [*value]
        return f"write a list: `[{', '.join(map(_in_list, names))}]`"
    return ""


def _alone(value: Mapping[str, Any]) -> str:
    """Find in a map, as others write it, the one value that is wanted."""
    if "repository" in value and "tag" in value:  # as Helm's charts have an image
        return f"write it as one: {value['repository']}:{value['tag']}"
    keys = (key for key in _ONE if type(value.get(key)) in (str, int))
    return next((f"write it alone, without a key: {value[key]}" for key in keys), "")
