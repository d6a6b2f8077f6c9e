"""Whether each pod fits a node that it may run on, and what is said where it fits none."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tfgitops import (
    Environment,
    Job,
    Note,
    Problem,
    Role,
    did_you_mean,
    gang_pods,
    is_extended,
    pod_requests,
    quantity,
)
from tfgitops_nodes.gangs import asked_at, check_gang, said
from tfgitops_nodes.packing import Need
from tfgitops_nodes.pools import Amounts, Pool, Wish, read_pools, wish_of
from tfgitops_nodes.slots import slots_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def check_jobs(
    environment: Environment, nodes: Mapping[str, Any], manifests: tuple[Mapping[str, Any], ...]
) -> Iterator[Problem]:
    """Report the pods of each planned Job that fit no node; where all fit one, whether they fit together."""
    pools = read_pools(nodes)
    for manifest in manifests:
        if job := environment.job_of(manifest):
            yield from _check_job(job, manifest, pools)


def _check_job(job: Job, manifest: Mapping[str, Any], pools: tuple[Pool, ...]) -> Iterator[Problem]:
    problems: list[Problem] = []
    needs: list[tuple[Role, Need]] = []
    counted = (job.roles, manifest["spec"]["tasks"], gang_pods(manifest), slots_of(manifest))
    for role, task, count, slots in zip(*counted, strict=True):
        spec = task["template"]["spec"]
        amounts, wish = (*sorted(one for one in pod_requests(spec).items() if one[1]), *slots), wish_of(spec)
        chosen = _chosen(wish, pools)
        if fitting := _fitting(amounts, chosen):
            needs += [(role, Need(count, amounts, fitting))] * bool(count)
        elif chosen:
            problems += _too_large(job, role, amounts, chosen)
        else:
            problems.append(_not_there(job, role, spec, pools, _fitting(amounts, pools) or pools))
    yield from problems or check_gang(job, needs)


@lru_cache(maxsize=1024)
def _chosen(wish: Wish, pools: tuple[Pool, ...]) -> tuple[Pool, ...]:
    return tuple(pool for pool in pools if not pool.unmet(wish))


@lru_cache(maxsize=1024)
def _fitting(amounts: Amounts, pools: tuple[Pool, ...]) -> tuple[Pool, ...]:
    return tuple(pool for pool in pools if all(pool.has(resource) >= amount for resource, amount in amounts))


def _not_there(
    job: Job, role: Role, spec: Mapping[str, Any], pools: tuple[Pool, ...], large: tuple[Pool, ...]
) -> Problem:
    """Say what the nodes of the nearest pool lack, of those that are large enough if any are."""
    wish = wish_of(spec)
    nearest = min(large, key=lambda pool: len(pool.unmet(wish)))
    missing = nearest.unmet(wish)[0]
    elsewhere = any(not pool.unmet(((missing,),)) for pool in pools)
    known = sorted({pool.labels[missing.key] for pool in pools if missing.key in pool.labels})
    silent = next((pool for pool in large if (missing,) == pool.unmet(wish) and missing.key not in pool.labels), None)
    hint = did_you_mean(missing.values[0], known) if missing.operator == "In" and not elsewhere else ""
    if not hint and silent:
        nearest, hint = silent, f"if the nodes of '{silent.name}' have this label, add it to its `labels`"
    routes: tuple[tuple[str, ...], ...] = (("pod", "spec", "affinity", "nodeAffinity"), ())
    if missing.key in (spec.get("nodeSelector") or {}):
        routes = (("pod", "spec", "nodeSelector", missing.key), ("nodeSelector", missing.key), ("gpu", "product"), ())
    return Problem(
        code="NODES01", at=job.written(role, *routes), found=str(missing),
        message=f"'{role.name}' selects nodes with {missing}, and no pool "
        f"{'that suits it otherwise ' * elsewhere}has such nodes",
        expected=f"{missing.key}: {' or '.join(known)}" if known and missing.operator == "In" else "",
        hint=hint or "select other nodes, or declare the pool that has these under `nodes`",
        notes=(Note(message=f"the labels of '{nearest.name}'", at=nearest.route("labels", missing.key)),),
    )  # fmt: skip


def _too_large(job: Job, role: Role, amounts: Amounts, pools: tuple[Pool, ...]) -> Iterator[Problem]:
    """Say what the largest node has too little of; devices come first, since they decide which nodes are meant."""
    narrowed: list[str] = []
    for resource, amount in sorted(amounts, key=lambda one: (not is_extended(one[0]), one)):
        asked = said(resource, amount)
        if fitting := _fitting(((resource, amount),), pools):
            narrowed += [asked] * (len(fitting) < len(pools))
            pools = fitting
            continue
        largest = max(pools, key=lambda pool: pool.has(resource))
        has = quantity.show(largest.has(resource), resource)
        which = f" with {' and '.join(narrowed)}" if narrowed else ""
        known = {name for pool in pools for name in pool.amounts if is_extended(name)}
        hint = "" if largest.has(resource) else did_you_mean(resource, sorted(known), cutoff=0.8)
        yield Problem(
            code="NODES02", at=asked_at(job, role, resource), found=asked, expected=f"at most {has}",
            message=f"a pod of '{role.name}' asks for {asked}, and the largest node{which} it may run on"
            f" (pool '{largest.name}') has {has}",
            hint=hint or "it would wait for ever: ask for less, or declare the nodes that have it under `nodes`",
            notes=(Note(message=f"the nodes of '{largest.name}'", at=largest.route(resource)),),
        )  # fmt: skip
