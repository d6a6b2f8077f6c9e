"""Reads committed files from Git, all with one process."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tfgitops.review.gitanswers import content_of, contents_of, git_said, no_base, not_run, ran, readable, succeeds
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.disk import folders_of, is_there, kind_of, read_file
from tfgitops.spec.git import object_id, run_git
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from tfgitops.spec.diagnostics import CompileError
    from tfgitops.spec.disk import Kind

DEFAULT_REF = "origin/HEAD"
_DEEPEN = 100
_NO_REPOSITORY = "not a git repository (or any"  # said also of an empty `.git` that marks the root
_VERSIONS_MAX = 2000  # earlier versions of manifests that are read to find a name that returns


@dataclass(frozen=True, kw_only=True)
class Base:
    """The commit that a review compares with: the merge base of HEAD and ``ref``.

    ``blobs`` are the object ids of its files below the folders ``listed``, by path from the top of the repository.
    ``moves`` leads from present folders to those in which their files were.
    """

    top: Path
    ref: str
    commit: str
    blobs: Mapping[str, str] = field(repr=False)
    listed: Collection[str]
    moves: Mapping[str, str] = field(default_factory=dict, repr=False)

    def path(self, file: Path) -> str:
        """Return the path of a file from the top of the repository, as the commit had it."""
        file = file.resolve()
        path = (file.relative_to(self.top) if file.is_relative_to(self.top) else file).as_posix()
        moved = next((folder for folder in self.moves if f"{path}/".startswith(f"{folder}/")), None)
        return path if moved is None else f"{self.moves[moved]}{path.removeprefix(moved)}"

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the content of some files of the commit."""
        wanted = [path for path in paths if path in self.blobs]
        ids = [self.blobs[path] for path in wanted]
        contents = [content_of(self.top, *ids)] if len(ids) == 1 else contents_of(self.top, ids)
        return dict(zip(wanted, contents, strict=True))

    def find(self, path: str) -> bytes | None:
        """Return the content of any file of the commit, also of an unlisted one; None if there is none."""
        if path in self.blobs:
            return self.read([path])[path]
        if not {".", path, *map(str, PurePosixPath(path).parents)}.isdisjoint(self.listed):
            return None
        result = ran(self.top, "cat-file", "blob", f"{self.commit}:{path}")
        return None if result.returncode else result.stdout

    def newest(self, changing: str, files: Iterable[Path]) -> Base | None:
        """Return the newest commit so far that changed a folder, listing files; None if a shallow clone lacks it."""
        said = git_said(self.top, "log", "-1", "--format=%H %P", self.commit, "--", changing).split()
        if not said or said[0] == self.commit:
            return self if said and (said[1:] or not _is_shallow(self.top)) else None
        if not said[1:] and _is_shallow(self.top):
            return None
        listed = _inside(self.top, files)
        return replace(self, commit=said[0], blobs=_blobs_of(self.top, said[0], listed), listed=listed)

    def last_with(self, path: str) -> Base | None:
        """Return the newest commit so far that had a removed file, listing nothing; None if none removed it."""
        said = git_said(self.top, "log", "-1", "--format=%P", "--diff-filter=D", self.commit, "--", path).split()
        return replace(self, commit=said[0], blobs={}, listed=()) if said else None

    @cached_property
    def homes(self) -> Mapping[str, list[str]]:
        """The folders that have a manifest of a training, by its path below ``manifests/``."""
        found: dict[str, list[str]] = {}
        for path in self.blobs:
            home, _, file = f"./{path}".rpartition(f"/{MANIFESTS}/")
            if file.startswith("workloads/job-"):
                found.setdefault(file, []).append(home.removeprefix("./"))
        return found

    def homes_of(self, file: str, text: str) -> list[str]:
        """Return those of these folders that have a manifest with a text."""
        return self._by_content.get((file, object_id(text.encode(), len(self.commit))), [])

    @cached_property
    def _by_content(self) -> Mapping[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for file, home in ((path, home) for path, homes in self.homes.items() for home in homes):
            found.setdefault((file, self.blobs[f"{home}/{MANIFESTS}/{file}".removeprefix("./")]), []).append(home)
        return found

    @cached_property
    def folders(self) -> Mapping[str, Mapping[str, Kind]]:
        """What is directly in each folder; see `folders_of`."""
        return folders_of(self.blobs)

    def differs(self, path: str, text: str) -> bool:
        """Tell whether a file's text differs from the commit, by its object id."""
        blob = self.blobs.get(path)
        return blob is None or blob != object_id(text.encode(), len(blob))

    def has_changed(self, file: Path) -> bool:
        """Tell whether a file differs from the commit, or only one of both has it."""
        path, is_file = self.path(file), kind_of(file) == "file"
        return self.differs(path, read_file(file).decode(errors="replace")) if is_file else path in self.blobs

    def earlier(self, paths: Sequence[str]) -> dict[str, list[bytes]]:
        """Return the earlier versions of some files, the newest first, up to a limit."""
        ids: dict[str, str] = {}
        for *blobs, path in self._log(paths) if paths else ():
            ids.update({blob: path for blob in blobs if blob.strip("0")})
        versions: dict[str, list[bytes]] = {}
        ids = dict(list(ids.items())[:_VERSIONS_MAX])
        for (_, path), content in zip(ids.items(), contents_of(self.top, list(ids)), strict=True):
            versions.setdefault(path, []).append(content)
        return versions

    def removed(self, folders: Sequence[str], names: tuple[str, ...]) -> dict[str, bytes]:
        """Return the last versions of files that earlier commits removed from some folders, by path.

        ``names`` are what the names of the files begin with.
        """
        ids: dict[str, str] = {}
        for blob, _, path in self._log(folders, "--diff-filter=D"):
            if path not in self.blobs and path.rpartition("/")[2].startswith(names):
                ids.setdefault(path, blob)
        return dict(zip(ids, contents_of(self.top, list(ids.values())), strict=True))

    @readable()
    def _log(self, paths: Sequence[str], *options: str) -> list[tuple[str, str, str]]:
        """Return the ids of a file before and after each commit that changed it, and its path, the newest first."""
        listing = git_said(
            self.top, "log", "--format=", "--raw", "--no-abbrev", "--no-renames", "-z", f"-n{_VERSIONS_MAX}",
            "-O/dev/null", *options, self.commit, "--", *paths,
        )  # fmt: skip
        fields = [part for part in listing.split("\0") if part]
        found = []
        for meta, path in zip(fields[::2], fields[1::2], strict=False):
            old, new = meta.split()[2:4]
            found.append((old, new, path))
        return found


def find_head(root: Path, places: Iterable[Path]) -> Base | None:
    """Return the newest commit with its files below some places; None without Git, repository or commit.

    Raises CompileError if there is a repository that Git cannot read.
    """
    mark = next((folder / ".git" for folder in (root, *root.parents) if is_there(folder / ".git")), None)
    if mark is None:
        return None
    try:
        said = run_git(root, "rev-parse", "--show-toplevel").stderr.decode(errors="replace")
    except FileNotFoundError:  # no Git
        return None
    except OSError as error:
        raise not_run(error) from error
    if _NO_REPOSITORY in said and not _holds_something(mark):
        return None
    if not succeeds(_top(root), "rev-parse", "--verify", "--quiet", "HEAD"):
        return None
    return find_base(root, places, "HEAD")


def is_unborn(root: Path) -> bool:
    """Tell whether a folder is in a repository that has no commit yet, if it has no newest commit."""
    try:
        return run_git(root, "symbolic-ref", "--quiet", "HEAD").returncode == 0
    except OSError:
        return False


def _holds_something(mark: Path) -> bool:
    """Tell whether a `.git` is more than a mark, or cannot be read."""
    try:
        return is_there(mark / "HEAD")
    except OSError:
        return True


@readable()
def find_base(root: Path, folders: Iterable[Path], ref: str | None) -> Base:
    """Return the merge base of HEAD and a ref, with its files below some folders.

    Raises CompileError if there is no Git, no repository, no such ref, or no merge base; each has a hint.
    """
    top = _top(root)
    name = ref or DEFAULT_REF
    if not succeeds(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
        raise no_base("this repository has no commit yet, so there is nothing to compare with", "commit first")
    if name.startswith("-") or not succeeds(top, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"):
        raise _unknown_ref(top, name, default=ref is None)
    result = ran(top, "merge-base", "HEAD", name)
    if result.returncode:
        raise _no_merge_base(top, name)
    commit, listed = result.stdout.decode().strip(), _inside(top, folders)
    return Base(top=top, ref=name, commit=commit, blobs=_blobs_of(top, commit, listed), listed=listed)


def _inside(top: Path, places: Iterable[Path]) -> list[str]:
    """Return the paths of files and folders from the top of the repository, without those outside."""
    inside = {place.resolve() for place in places}
    return sorted(place.relative_to(top).as_posix() for place in inside if place.is_relative_to(top))


@readable()
def _blobs_of(top: Path, commit: str, places: Sequence[str]) -> dict[str, str]:
    """Return the object ids of the files that a commit has at or below some paths."""
    listing = git_said(top, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *([] if "." in places else places))
    entries = (entry.partition("\t") for entry in listing.split("\0"))
    found = {path: meta.split() for meta, _, path in entries if path}
    return {path: blob for path, (mode, kind, blob) in found.items() if kind == "blob" and mode != "120000"}  # no links


@readable()
def _top(root: Path) -> Path:
    result = ran(root, "rev-parse", "--show-toplevel")
    if result.returncode:
        said = result.stderr.decode(errors="replace").strip().splitlines()
        words = said[0].removeprefix("fatal: ") if said else "nothing"
        hint = "review compares with a commit: run it inside of a Git repository"
        if _NO_REPOSITORY not in words or _holds_something(root / ".git"):
            hint = "see what `git status` says there, and mend that first"
        if "dubious ownership" in words:  # as in a container that runs as another user
            hint = f"if it is yours: git config --global --add safe.directory {root}"
        raise no_base(f"{root.name}/ cannot be compared with a commit: Git says: {words}", hint)
    return type(root)(os.fsdecode(result.stdout.rstrip(b"\n"))).resolve()


def _unknown_ref(top: Path, name: str, *, default: bool) -> CompileError:
    refs = git_said(top, "for-each-ref", "--format=%(refname:short)").split()
    if default:
        known = next((ref for ref in ("origin/main", "origin/master", "main", "master") if ref in refs), None)
        hint = f"name the branch to compare with: --against {known or 'REF'}; or `git remote set-head origin --auto`"
        return no_base(f"there is no {name} here, which review compares with by default", hint)
    hint = did_you_mean(name, refs)
    if _is_shallow(top):
        fetch = f"fetch it: git fetch --depth={_DEEPEN} origin {name.removeprefix('origin/')}"
        hint = f"{fetch}; or {hint}" if hint else fetch
    return no_base(f"there is no commit called '{name}' here", hint or "see `git branch --all` for what there is")


def _no_merge_base(top: Path, name: str) -> CompileError:
    if not _is_shallow(top):
        return no_base(f"HEAD and '{name}' have no common commit", "name a branch that this one was started from")
    depth = git_said(top, "rev-list", "--count", "HEAD").strip()
    branch = name.removeprefix("origin/")
    return no_base(
        f"this clone is shallow: its {depth} commits do not reach back to where HEAD and '{name}' parted",
        f"fetch {_DEEPEN} more commits: git fetch --deepen={_DEEPEN} origin {branch}; in CI, check out with "
        "fetch-depth: 0",
    )


def _is_shallow(top: Path) -> bool:
    return git_said(top, "rev-parse", "--is-shallow-repository").strip() == "true"
