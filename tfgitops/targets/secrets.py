"""Secrets in texts: tokens by their well-known shapes, private keys, passwords in URLs, and values of telling names."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping
from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.targets.routes import Route

_SHAPES = {
    "an access key of AWS": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
    "a token of GitHub": r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255}",
    "a token of GitLab": r"gl(?:pat|rt|dt|cbt|ptt|ft|soat|agent|oas|imt)-[A-Za-z0-9_.-]{20,}",
    "a token of Slack": r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}",
    "a webhook of Slack": r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{30,}",
    "a key of Google Cloud": r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28}",
    "a key of Azure Storage": r"AccountKey=[A-Za-z0-9+/]{86}==|[?&]sig=[A-Za-z0-9%+/]{43,}",
    "a token of Hugging Face": r"hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{34}",
    "a key of a model's API": r"sk-(?:proj|svcacct|admin|ant)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{40,}",
    "a token of Docker Hub": r"dckr_[po]at_[A-Za-z0-9_-]{27,}",
    "a token of a package registry": r"npm_[A-Za-z0-9]{36}|pypi-AgEI[A-Za-z0-9_-]{50,}",
    "a token of Databricks": r"dapi[0-9a-f]{32}(?:-\d)?",
    "a token of DigitalOcean": r"do[opr]_v1_[0-9a-f]{64}",
    "a token of Vault": r"hv[bsr]\.[A-Za-z0-9_-]{24,}",
    "a token of Grafana": r"gl(?:sa|c)_[A-Za-z0-9_=+/-]{32,}",
    "a key of Stripe": r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "a key of SendGrid": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "a token of a Telegram bot": r"\d{8,10}:AA[A-Za-z0-9_-]{33}",
    "a JSON Web Token": r"(?<!-)eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "a private key of age": r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z0-9 ]+-----)?",
}
"""What each well-known secret is, and its shape."""

# Patterns are compiled when a text needs them, which is seldom, and takes longer than to look through a small spec.
_KNOWN = "|".join(f"(?<![A-Za-z0-9_])(?P<s{n}>{shape})" for n, shape in enumerate(_SHAPES.values()))
_KINDS = [*_SHAPES]
_URL = r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@'\"?#]{0,200}:(?P<value>[^\s/@'\"]{1,500})@"
_HEADER = r"\b(?:[Bb]earer|[Bb]asic)\s+(?P<value>[A-Za-z0-9+/._~-]{16,}=*)(?![A-Za-z0-9(])"
_TOLD = (
    r"(?<![\w.])(?<![\w.]-)(?P<name>[A-Za-z_][\w.-]{0,100})(?P<end>[\"']?\]?)\s*(?P<by>=|:)\s*(?:(?P<quote>[\"'])(?P<quoted>[^\"'\n]+)(?P=quote)|"
    r"(?P<bare>[^\s\"',;&|)}\]]+))|(?<![\w-])--(?P<option>[\w-]{1,100})\s+[\"']?(?P<given>[^\s\"'-][^\s\"']*)"
)
_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
_PASSWORDS = frozenset({"password", "passwd", "passphrase", "pwd", "pass"})
_KEYS = frozenset({"secret", "token", "credential", "credentials", "apikey", "accesskey", "secretkey", "authkey"})
_PAIRS = frozenset({
    ("api", "key"), ("access", "key"), ("secret", "key"), ("private", "key"), ("account", "key"), ("auth", "key"),
    ("signing", "key"), ("encryption", "key"), ("license", "key"), ("kaggle", "key"), ("client", "key"),
})  # fmt: skip
_ABOUT = frozenset({
    "name", "names", "ref", "file", "files", "path", "dir", "folder", "url", "uri", "host", "endpoint", "id", "ids",
    "type", "kind", "length", "len", "size", "count", "limit", "ttl", "seconds", "expiry", "key", "version", "mount",
    "class", "provider", "env", "policy", "field", "header", "prefix", "format", "issuer", "audience", "store",
})  # fmt: skip
"""Last words of names that are about a secret, and do not hold it."""

_NO_VALUE = (
    r"(?s:[$<{%].*|.*\$[({].*|[./~].*|.*://.*|[*x.•…-]+|(?i:.*(?:change|replace|your|example|dummy|redacted|placeholder|secret)"
    r"[-_ ]?(?:me|this|here)?.*|todo|none|null|nil|true|false|yes|no|empty|unset|required|optional|default|test|"
    r"pass(?:word|wd)?|token|env|disabled|enabled))"
)
"""References, paths and placeholders."""

_LAST = r"(?:\[([^\]]+)\](?:\.value)?|([^.\[\]]+))\Z"
_LEAST, _LONG, _DENSE = 4, 16, 3.0
_HINTS = (
    "pass", "pwd", "secret", "token", "key", "credential", "bearer", "basic", "://", "-----begin", "sig=", "akia",
    "asia", "abia", "acca", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "glpat-", "glrt-", "gldt-", "glcbt-",
    "glptt-", "glft-", "glsoat-", "glagent-", "gloas-", "glimt-", "glsa_", "glc_", "xox", "xapp", "ya29", "gocspx",
    "aiza", "hf_", "api_org", "sk-", "dckr", "npm_", "pypi-", "dapi", "_v1_", "hvb.", "hvs.", "hvr.", "rk_", "sk_",
    "sg.", ":aa", "eyj",
)  # fmt: skip
"""In lower case, what each text with a secret has, unless the name of its key tells: most texts have none of these."""

_ENTRY = r"\bname[\"']?: *[\"']?(?P<name>[\w.-]{1,200})[\"']?, *[\"']?value[\"']?: *[\"']?(?P<value>[^\"',}\n]+)"
_REMEMBERED_MAX = 1000
_remembered: set[str] = set()
"""Secrets that were found where their names are: shown nowhere else either, while this process lasts."""


class Secret(NamedTuple):
    """A secret in a text: what it is, where it starts and ends, and whether its shape alone tells it."""

    kind: str
    start: int
    end: int
    certain: bool


def secrets_in(text: str, name: str = "") -> list[Secret]:
    """Return the secrets in a text in their order; ``name`` is the key that the whole text is the value of."""
    found: list[Secret] = []
    telling = bool(name) and _telling(name)
    if telling or _may_hold(text):
        found += [*_shaped(text)]
        found += [Secret(f"the value of {name}", 0, len(text), certain=False)] if _is_value(text, telling) else []
        found += _told(text)
    taken: list[Secret] = []
    for one in sorted(found, key=lambda one: one.start):
        if not taken or one.start >= taken[-1].end:
            taken.append(one)
        elif one.certain > taken[-1].certain:
            taken[-1] = one
    values = (text[one.start : one.end] for one in taken if len(_remembered) < _REMEMBERED_MAX)
    _remembered.update(value for value in values if len(value) >= _LONG or not value.isalpha())
    return taken


def masked(text: str, name: str = "") -> str:
    """Return a text of the same length without its secrets, and without those that were found elsewhere."""
    parts, at = [], 0
    for _, start, end, _ in secrets_in(text, name):
        parts += [text[at:start], re.sub(r".", "•", text[start:end])]  # the lines stay
        at = end
    text = "".join([*parts, text[at:]]) if parts else text
    for value in _remembered:
        if value in text:
            text = text.replace(value, "•" * len(value))
    return text


def hidden(excerpt: str, texts: Iterable[str]) -> tuple[str, list[str]]:
    """Return a line of a file and what is said of it, without the secrets that stand in the line."""
    clean = masked(excerpt)
    runs = [(run.start(), run.end()) for run in re.finditer("•+", clean)] if clean != excerpt else ()
    values = {excerpt[start:end] for start, end in runs} - {"", "•"}
    said = []
    for text in map(masked, texts):
        for value in values:
            text = text.replace(value, "•" * len(value))  # noqa: PLW2901 - the same text, with less in it
        said.append(text)
    return clean, said


def secrets_of(value: Any, at: Route = ()) -> Iterator[tuple[Route, Secret]]:
    """Yield the secrets in the texts of a JSON value, each with its route, which begins with ``at``.

    The value of an entry with a ``name``, as of ``env``, has the route of that name: no line is to show the value.
    """
    return _below(value, at, "") if _may_hold(repr(value)) else iter(())


def learn(value: Any) -> None:
    """Remember the secrets in a JSON value, so that they are not shown without their names either."""
    deque(secrets_of(value), maxlen=0)


def _may_hold(text: str) -> bool:
    text = text.lower()
    return any(hint in text for hint in _HINTS)


def _below(value: Any, at: Route, name: str) -> Iterator[tuple[Route, Secret]]:
    if isinstance(value, str):
        yield from ((at, found) for found in secrets_in(value, name))
    elif isinstance(value, Mapping):
        for key, inner, named in _named(value):
            yield from _below(inner, (*at, "name" if named != key else key), named)
    elif isinstance(value, tuple | list):
        for index, inner in enumerate(value):
            yield from _below(inner, (*at, index), _option(value, index) or name)


def masked_value(value: Any, name: str = "") -> Any:
    """Return a JSON value without the secrets in its texts."""
    if isinstance(value, str):
        return masked(value, name)
    if isinstance(value, Mapping):
        return {key: masked_value(inner, named) for key, inner, named in _named(value)}
    if isinstance(value, list | tuple):
        return [masked_value(inner, _option(value, index) or name) for index, inner in enumerate(value)]
    return value


def _named(value: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield each key, its value, and the name of that: of an entry of ``env``, the variable's."""
    variable = value.get("name")
    for key, inner in value.items():
        yield key, inner, variable if key == "value" and isinstance(variable, str) else str(key)


def _option(items: Sequence[Any], index: int) -> str:
    """Return the option before an item of a command, whose value the item is, or nothing."""
    before = items[index - 1] if index else ""
    return before if isinstance(before, str) and before.startswith("-") and "=" not in before else ""


def key_of(path: str) -> str:
    """Return the name of what stands at a path such as `env[TOKEN].value`."""
    last = re.search(_LAST, path)
    return last[1] or last[2] if last else ""


def _shaped(text: str) -> Iterator[Secret]:
    for match in re.finditer(_KNOWN, text):
        kind = _KINDS[int(str(match.lastgroup)[1:])]
        yield Secret(kind, match.start(), match.end(), certain=True)
    for pattern, kind in ((_URL, "a password in a URL"), (_HEADER, "a token of an HTTP header")):
        for match in re.finditer(pattern, text):
            if not re.fullmatch(_NO_VALUE, match["value"]):
                yield Secret(kind, *match.span("value"), certain=True)


def _told(text: str) -> Iterator[Secret]:
    """Yield the values that stand behind telling names within a text, as in `TOKEN=…`."""
    for match in re.finditer(_TOLD, text):
        part = next(part for part in ("quoted", "bare", "given") if match[part])
        name = match["name"] or match["option"]
        telling = _telling(name)
        in_yaml = match["by"] == ":" and telling == "password" and match.start() == len(text) - len(text.lstrip(" -"))
        if _is_value(match[part], telling, literal=part != "quoted" and not in_yaml):
            yield Secret(f"the value of {name}", *match.span(part), certain=False)
    for match in re.finditer(_ENTRY, text):
        if _is_value(match["value"].rstrip(), _telling(match["name"])):
            yield Secret(f"the value of {match['name']}", *match.span("value"), certain=False)


def _telling(name: str) -> str:
    """Return which kind of secret has such a name: a password, a key, or none."""
    words = [word.lower() for word in re.findall(_WORDS, name)]
    if name == "secret" or not words or (words[-1] in _ABOUT and (*words[-2:],) not in _PAIRS):
        return ""
    if not _PASSWORDS.isdisjoint(words):
        return "password"
    return "key" if not _KEYS.isdisjoint(words) or not _PAIRS.isdisjoint(pairwise(words)) else ""


def _is_value(text: str, telling: object, *, literal: bool = False) -> bool:
    """Tell whether a text is a secret where the name is telling; ``literal`` is whether it may be code."""
    if not telling or len(text) < _LEAST or any(char.isspace() for char in text) or re.fullmatch(_NO_VALUE, text):
        return False
    if literal and (not any(map(str.isdigit, text)) or re.search(r"[\[({]", text)):
        return False
    mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    if telling == "password":
        return True
    return len(text) >= _LONG and mixed and _density(text) >= _DENSE


def _density(text: str) -> float:
    """Return Shannon's entropy of a text in bits a character."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * log2(share) for share in shares)
