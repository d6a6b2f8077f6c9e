"""The rules for scripts and configMaps, and for the names and the sizes of their files."""

from __future__ import annotations

import re
from posixpath import basename, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tfgitops import Note, Problem, did_you_mean
from tfgitops_files.mounted import SCRIPT_FOLDER, VARIABLE, config_path, runs_by_itself, script_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops import Job, Role, Route

    Block = Mapping[str, Any]

_MOST, _MOST_OF_ALL = 1 << 20, 128 << 20
_is_key = re.compile(r"(?!\.\.?(?:\.|\Z))[-._a-zA-Z0-9]{1,253}").fullmatch
_is_digest = re.compile(r"[0-9a-f]{64}").fullmatch
_CHANGES = "without a digest, another file can stand there when a pod restarts, and the run would train with it"


def check_files(jobs: Iterable[Job], declared: Block) -> Iterator[Problem]:
    """Report what is wrong with the configMaps of an environment, and with the scripts and configMaps of its roles."""
    for name, block in declared.items():
        yield from _check_map(name, block.get("files", ()), ("configMaps", name, "files"))
    sizes = {name: sum(len(file.get("text", "")) for file in one.get("files", ())) for name, one in declared.items()}
    size = 0
    for job in jobs:
        used = {use["name"] for role in job.roles for use in role.get("configMaps") or ()}
        before, size = size, size + sum(sizes.get(name, 0) for name in used)
        if before <= _MOST_OF_ALL < size:
            message = f"the configMaps of all jobs so far are larger than {_MOST_OF_ALL >> 20} MiB"
            yield Problem(code="FILE05", message=message, at=job.route, on_key=True, hint="make several environments")
        for role in job.roles:
            script = role.get("script")
            if script is not None:
                yield from _check_script(script, role, (*role.route, "script"))
            yield from _check_uses(role, declared, SCRIPT_FOLDER if script else "")


def _check_map(name: str, files: tuple[Block, ...], at: Route) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, file in enumerate(files):
        key = basename(file["path"])
        yield from _check_key(key, (*at, index, "path"))
        if first.setdefault(key, index) != index:
            message = f"'{name}' has two files with the name {key}"
            hint = "rename one of the files, or make a configMap of its own for it"
            notes = (Note(message="the other file", at=(*at, first[key])),)
            yield Problem(code="FILE04", message=message, at=(*at, index), hint=hint, notes=notes)
    size = sum(len(file.get("text", "").encode()) for file in files)
    if size > _MOST:
        message = f"the files of '{name}' have {size:,} bytes, and a ConfigMap holds {_MOST:,} at most"
        hint = "make several configMaps, or put the data into the image or on a volume"
        yield Problem(code="FILE05", message=message, at=at, on_key=True, hint=hint)


def _check_key(key: str, at: Route) -> Iterator[Problem]:
    if not _is_key(key):
        message = f"the file name '{key}' cannot be a key of a ConfigMap"
        hint = "rename the file: a key has letters of ASCII, digits, '-', '_' and '.', and does not begin with two dots"
        yield Problem(code="FILE04", message=message, at=at, found=key, hint=hint)


def _check_script(script: Block, role: Role, at: Route) -> Iterator[Problem]:
    if "file" in script and "url" in script:
        message = f"the script of '{role.name}' has both `file` and `url`"
        hint = "keep one of them; null removes an inherited one: `file: ~`, or `url: ~` and `sha256: ~`"
        yield Problem(code="FILE01", message=message, at=(*at, "url"), hint=hint)
    elif "file" in script:
        yield from _check_key(script_name(script), (*at, "file", "path"))
        for key in ("sha256", "image"):
            if key in script:
                message = f"'{key}' means nothing for a file of the repository: nothing is fetched"
                yield Problem(code="FILE01", message=message, at=(*at, key), hint=f"leave it out, or write `{key}: ~`")
    elif "url" in script:
        yield from _check_url(str(script["url"]), (*at, "url"))
        yield from _check_digest(script.get("sha256"), at)
    else:
        message = f"the script of '{role.name}' has neither `file` nor `url`"
        hint = "write `script: train.py` for a file of the repository, or `script: {url: …, sha256: …}`"
        yield Problem(code="FILE01", message=message, at=at, on_key=True, hint=hint)
        return
    name = script_name(script)
    if name and not name.endswith(".py") and not runs_by_itself(role):
        message = f"no command runs {name}, so the image runs what it always runs"
        hint = f"say what runs it, such as `command: [bash, $({VARIABLE})]`"
        yield Problem(code="FILE06", message=message, at=at, on_key=True, hint=hint, severity="warning")


def _check_url(url: str, at: Route) -> Iterator[Problem]:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and bool(_is_key(basename(parts.path)))
    except ValueError:
        fits = False
    if not fits or re.search(r"[\s$\x00-\x1f]", url):
        message = "the URL does not lead to a file that can be fetched"
        expected = "http:// or https://, a host, and a path that ends with the name of the file"
        hint = "write it such as https://example.com/train.py, with %24 for a dollar sign and %20 for a blank"
        yield Problem(code="FILE02", message=message, at=at, found=url, expected=expected, hint=hint)
    elif "@" in parts.netloc:
        message = "the URL has a user or a password, which everyone could read in Git and in the cluster"
        hint = "use a URL that needs none: the digest already proves which file it is"
        yield Problem(code="FILE02", message=message, at=at, hint=hint)


def _check_digest(digest: str | None, at: Route) -> Iterator[Problem]:
    if digest is None:
        message = f"a script from a URL needs its `sha256`: {_CHANGES}"
        hint = "add `sha256: DIGEST`, as `curl -fsSL URL | sha256sum` prints it"
        yield Problem(code="FILE02", message=message, at=(*at, "url"), hint=hint)
    elif not _is_digest(digest):
        digits = digest.lower().removeprefix("sha256:")
        better = f"write {digits}" if _is_digest(digits) else "take it from `curl -fsSL URL | sha256sum`"
        message, expected = "this is no SHA-256 digest", "64 lower-case hexadecimal digits"
        yield Problem(code="FILE02", message=message, at=(*at, "sha256"), found=digest, expected=expected, hint=better)


def _check_uses(role: Role, declared: Block, script: str) -> Iterator[Problem]:
    taken = {script: "the script"} if script else {}
    for index, use in enumerate(role.get("configMaps") or ()):
        name, at = use["name"], (*role.route, "configMaps", index)
        if name not in declared:
            declare = f"declare it at the top: `configMaps: {{{name}: {{files: [FILE]}}}}`"
            hint = did_you_mean(name, declared, among="the configMaps are", otherwise=declare)
            message = f"the configMap '{name}' is not declared"
            yield Problem(code="FILE03", message=message, at=(*at, "name"), found=name, hint=hint)
            continue
        path = normpath(config_path(use, declared))
        if path in taken:
            message = f"'{name}' and {taken[path]} are both mounted at {path}"
            yield Problem(code="FILE03", message=message, at=at, found=path, hint="give one another path")
        taken[path] = f"'{name}'"
