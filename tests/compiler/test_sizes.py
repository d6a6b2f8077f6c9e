"""What is too large for Linux, for an annotation or for etcd is said before it is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result


def _job(text: str, gitops: str = "none") -> str:
    return f"gitops: {gitops}\njobs:\n  train:\n    image: a\n    worker: 1\n{text}"


def _variables(number: int) -> str:
    return "    env:\n" + "".join(f"      V{index}: {'x' * 1000}\n" for index in range(number))


def test_a_script_that_no_process_can_be_given_is_refused(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec(_job(f"    command: echo {'x' * 140_000}\n"))
    assert result.codes == ["TF304"]
    assert "131,071" in result.text


def test_a_manifest_that_no_annotation_can_hold_is_a_warning(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec(_job(_variables(270)))
    assert (result.ok, result.codes) == (True, ["TF502"])
    assert "--server-side" in result.text


def test_flux_keeps_no_copy_in_an_annotation(compile_spec: Callable[[str], Result]) -> None:
    assert compile_spec(_job(_variables(270), gitops="flux")).codes == []


def test_a_manifest_that_kubernetes_cannot_store_is_refused(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec(_job(_variables(1600), gitops="flux"))
    assert (result.ok, result.codes) == (False, ["TF501"])
