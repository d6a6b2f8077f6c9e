"""What Kubernetes asks of matchLabelKeys, which make the label selectors beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.targets.routes import Route

    Json = Mapping[str, Any]

_TWICE = ("{found} is selected on twice", "name it once")
_ALONE = ("{field} add to a labelSelector, and there is none", "give a labelSelector")
RULES = Rules(
    {
        "k8s-spread-match-label-keys-both-lists": _TWICE,
        "k8s-spread-match-label-keys-selector-mismatch": _ALONE,
        "k8s-pod-affinity-match-label-keys-both-lists": _TWICE,
        "k8s-pod-affinity-match-label-keys-selector-mismatch": _ALONE,
        "pod-affinity-label-key-selected": (
            "{found} stands in matchLabelKeys and in the labelSelector, and Kubernetes would join the two",
            "name it in one of them",
        ),
    }
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LISTS = ("matchLabelKeys", "mismatchLabelKeys")


def judge_label_keys(spec: Json) -> Iterator[Fault]:
    """Judge the keys of topology spread constraints, also against their selectors, and of pod affinities."""
    for i, spread in enumerate(spec.get("topologySpreadConstraints", ())):
        used = _keys(spread.get("labelSelector", {}))
        yield from _judge_keys("k8s-spread", spread, used, ("topologySpreadConstraints", i))
    for at, term in _terms(spec.get("affinity", {})):
        yield from _judge_keys("k8s-pod-affinity", term, set(), at)
        selected = _keys(term.get("labelSelector", {}))
        for i, key in enumerate(term.get("matchLabelKeys", ())):
            if key in selected:
                yield RULES.fault("pod-affinity-label-key-selected", (*at, "matchLabelKeys", i), found=key)


def _terms(affinity: Json) -> Iterator[tuple[Route, Json]]:
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind, {})
        for i, term in enumerate(rules.get(_REQUIRED, ())):
            yield ("affinity", kind, _REQUIRED, i), term
        for i, weighted in enumerate(rules.get(_PREFERRED, ())):
            yield ("affinity", kind, _PREFERRED, i, "podAffinityTerm"), weighted.get("podAffinityTerm", {})


def _judge_keys(family: str, term: Json, used: set[str], at: Route) -> Iterator[Fault]:
    seen = set(used)
    for field in _LISTS:  # twice in one list is nothing to Kubernetes
        keys = term.get(field, ())
        if keys and "labelSelector" not in term:
            yield RULES.fault(f"{family}-match-label-keys-selector-mismatch", (*at, field), field=field)
            return
        for i, key in enumerate(keys):
            if key in seen:
                yield RULES.fault(f"{family}-match-label-keys-both-lists", (*at, field, i), found=key)
        seen.update(keys)


def _keys(selector: Json) -> set[str]:
    expressions = {expression.get("key", "") for expression in selector.get("matchExpressions", ())}
    return {*selector.get("matchLabels", {}), *expressions}
