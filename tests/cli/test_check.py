"""`tfgitops build --check`: each way to differ, and files that are not ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from builder import cut
from commandline import run
from workspace import HEAD, MANIFEST, OTHER, PROD, TRAIN, WORKLOADS, edit, put, tree

Change = Callable[[], object]

DIFFERENCES: dict[str, tuple[Change, Path, str]] = {
    "stale": (lambda: edit(PROD / "environment.yaml", "worker: 2", "worker: 3"), MANIFEST, "updated"),
    "edited": (lambda: edit(MANIFEST, "replicas: 2", "replicas: 9"), MANIFEST, "restored"),
    "orphan": (lambda: put(PROD / "environment.yaml", HEAD + TRAIN), OTHER, "removed"),
    "missing": (MANIFEST.unlink, MANIFEST, "created"),
}


@pytest.mark.parametrize("word", DIFFERENCES)
def test_check_tells_the_differences_apart_and_writes_nothing(word: str, built: Path) -> None:
    change, path, _ = DIFFERENCES[word]
    change()
    before = tree()
    result = run("build", "--check")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == f"{word}  {path}"
    assert result.stdout.splitlines()[1:] == [result.stdout.splitlines()[-1]], "one line for the file, one in all"
    assert "1 file not as compiled; run `tfgitops build`" in result.stdout
    assert tree() == before


@pytest.mark.parametrize("word", DIFFERENCES)
def test_build_mends_each_difference_and_says_what_it_did(word: str, built: Path) -> None:
    change, path, done = DIFFERENCES[word]
    change()
    result = run("build")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"{done}  {path}"
    assert run("build", "--check").exit_code == 0


def test_check_of_what_was_just_built_is_fine(built: Path) -> None:
    before = tree()
    result = run("build", "--check")
    assert (result.exit_code, result.stdout) == (0, f"{PROD}: 2 jobs, 2 manifests: up to date\n")
    assert tree() == before


def test_quiet_check_lists_the_differences_alone(built: Path) -> None:
    MANIFEST.unlink()
    assert run("build", "--check", "-q").stdout == f"missing  {MANIFEST}\n"


def test_check_lists_every_difference_however_many() -> None:
    jobs = "".join(f"  train-{index}: {{image: tf, worker: 1}}\n" for index in range(50))
    put(PROD / "environment.yaml", f"{HEAD}jobs:\n{jobs}")
    assert run("build", "--check").stdout.count("missing  ") == 50


def test_edited_wins_over_stale(built: Path) -> None:
    edit(PROD / "environment.yaml", "worker: 2", "worker: 3")
    edit(MANIFEST, "replicas: 2", "replicas: 9")
    assert f"edited  {MANIFEST}\n" in run("build", "--check").stdout


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: cut(text, "sha256:", "sha256:0", 1),
        lambda text: cut(text, "\n# sha256:", "\n\n# sha256:", 1),
        lambda text: text + "# a remark\n",
        lambda text: text.removesuffix("\n"),
    ],
    ids=["digest", "blank line", "remark at the end", "no end of line"],
)
def test_any_other_byte_below_the_first_line_is_an_edit(damage: Callable[[str], str], built: Path) -> None:
    MANIFEST.write_text(damage(MANIFEST.read_text(encoding="utf-8")), encoding="utf-8")
    assert f"edited  {MANIFEST}\n" in run("build", "--check").stdout


def test_an_emptied_manifest_is_not_taken_for_somebody_elses(built: Path) -> None:
    """Nothing of it is ours any more, so it is in the way; it is named, and not overwritten."""
    MANIFEST.write_text("")
    result = run("build")
    assert result.exit_code == 1
    assert str(MANIFEST) in result.stderr
    assert MANIFEST.read_text(encoding="utf-8") == ""


def test_crlf_changes_nothing(built: Path) -> None:
    MANIFEST.write_bytes(MANIFEST.read_bytes().replace(b"\n", b"\r\n"))
    before = tree()
    assert run("build", "--check").exit_code == 0
    assert "nothing changed" in run("build").stdout
    assert tree() == before


@pytest.mark.parametrize(
    "name", ["stray.yaml", "stray.yml", "stray.json", "workloads/stray.yaml", "deep/er/stray.yaml"]
)
def test_foreign_files_fail_the_check_and_are_never_touched(name: str, built: Path) -> None:
    stray = put(PROD / "manifests" / name, "kind: ConfigMap\n")
    before = stray.stat()
    result = run("build", "--check")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, f"foreign  {stray}")
    result = run("build")
    assert result.exit_code == 0
    assert f"foreign  {stray}\n" in result.stdout
    assert "1 foreign file left alone" in result.stdout
    assert (stray.read_text(encoding="utf-8"), stray.stat().st_mtime_ns) == ("kind: ConfigMap\n", before.st_mtime_ns)


def test_a_foreign_file_that_is_no_text_is_foreign_too(built: Path) -> None:
    stray = PROD / "manifests" / "stray.yaml"
    stray.write_bytes(b"\xff\xfe\0")
    assert f"foreign  {stray}\n" in run("build", "--check").stdout


def test_a_foreign_file_in_the_way_is_an_error() -> None:
    put(MANIFEST, "kind: ConfigMap\n")
    for command in (("build",), ("build", "--check")):
        result = run(*command)
        assert result.exit_code == 1
        assert "error[TF601]" in result.stderr
        assert str(MANIFEST) in result.stderr
        assert MANIFEST.read_text(encoding="utf-8") == "kind: ConfigMap\n"


def test_a_folder_in_the_way_is_an_error() -> None:
    MANIFEST.mkdir(parents=True)
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF601]" in result.stderr
    assert f"{PROD}: nothing written" in result.stdout


TOP = PROD / "manifests"
OBSTACLES: dict[str, tuple[Change, Path]] = {
    "is a link, and nothing is written through links": (lambda: WORKLOADS.symlink_to(PROD.resolve()), WORKLOADS),
    "is a file, and the folder of the manifests must be there": (lambda: put(TOP, ""), TOP),
    "was not generated, and a manifest must go there": (lambda: put(MANIFEST, "kind: ConfigMap\n"), MANIFEST),
    "is not a file, and a manifest must go there": (lambda: put(MANIFEST / "a" / "b.txt", ""), MANIFEST),
}


@pytest.mark.parametrize("words", OBSTACLES)
def test_each_thing_in_the_way_is_told_in_its_words(words: str) -> None:
    make, path = OBSTACLES[words]
    if path != TOP:
        path.parent.mkdir(parents=True)
    make()
    result = run("build", "--check")
    assert result.exit_code == 1
    assert f"error[TF601]: {path} {words}\n" in result.stderr
    assert "= help: move it away, then build again\n" in result.stderr


@pytest.mark.parametrize("link", [PROD / "manifests", WORKLOADS, MANIFEST], ids=["top", "folder", "file"])
def test_nothing_is_written_through_a_link(link: Path) -> None:
    target = Path("elsewhere")
    if link == MANIFEST:
        put(target, "precious\n")
    else:
        put(target / "precious.txt", "precious\n")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target.resolve())
    before = tree()
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF601]" in result.stderr
    assert str(link) in result.stderr
    assert tree() == before


def test_a_link_among_the_manifests_is_foreign(built: Path) -> None:
    link = WORKLOADS / "linked.yaml"
    link.symlink_to(MANIFEST.resolve())
    assert f"foreign  {link}\n" in run("build", "--check").stdout
    run("build")
    assert link.is_symlink()
