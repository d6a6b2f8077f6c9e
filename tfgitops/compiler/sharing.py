"""Check the environments of one call together: cluster and namespace say what they share, not their folders."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import Problem, a_few
from tfgitops.spec.disk import shown
from tfgitops.targets.kubernetes.furtherobjects import node_ports

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.planning.plan import Planned
    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.model import Environment
    from tfgitops.targets.routes import Route

    Owner = tuple[Environment, Planned]
    Use = tuple[Environment, str, Route]
    Finding = tuple[Environment, Problem, tuple[str, Span]]

_STORAGE = "STORE04"  # the code of the storage plugin, which sees one environment at a time
_TOLD = ("Queue", "PersistentVolumeClaim")  # kinds that environments take from each other without a word
_ONE_NODE = ("ReadWriteOnce", "ReadWriteOncePod")


def check_sharing(results: Sequence[Compiled], codes: Collection[str]) -> list[Compiled]:
    """Add what is wrong with some environments together: an error to both owners, a warning to the later one.

    ``codes`` are those of the compiler and the plugins. Each environment allows its own warnings.
    """
    environments = [one.environment for one in results if one.environment and one.files]
    owners = [(one.environment, planned) for one in results if one.environment and one.files for planned in one.objects]
    found: dict[int, list[tuple[Problem, tuple[str, Span]]]] = defaultdict(list)
    for finding in (
        *_two_owners(owners),
        *_node_ports(owners),
        *(_one_node_claims(environments, owners) if _STORAGE in codes else ()),
    ):
        found[id(finding[0])].append(finding[1:])
    return [_with(one, found[id(one.environment)]) if id(one.environment) in found else one for one in results]


def _with(compiled: Compiled, findings: Iterable[tuple[Problem, tuple[str, Span]]]) -> Compiled:
    assert compiled.environment
    sift = compiled.allowances.sift if compiled.allowances else compiled.environment.places.diagnose
    told = [replace(said, notes=(*said.notes, note)) for problem, note in findings for said in sift([problem])]
    return replace(compiled, diagnostics=(*compiled.diagnostics, *told))


def _two_owners(owners: Iterable[Owner]) -> Iterator[Finding]:
    """Find the objects that two environments write for one cluster, or for two that nothing but their folders names."""
    first: dict[tuple[str, ...], Owner] = {}
    alike: dict[int, list[tuple[Owner, Owner]]] = defaultdict(list)
    for owner in owners:
        environment, planned = owner
        metadata = planned.manifest["metadata"]
        key = planned.manifest["kind"], metadata.get("namespace", ""), metadata["name"]
        other = first.setdefault((environment.cluster, *key), owner)
        if other[0] is not environment:
            yield _two_owner(other, owner)
            yield _two_owner(owner, other)
        elif key[0] in _TOLD and "cluster" not in environment.data:
            alike[id(environment)].append((owner, first.setdefault(key, owner)))
    for pairs in alike.values():
        if others := [(own, other) for own, other in pairs if other[0] is not own[0]]:
            yield _two_clusters(others)


def _two_owner(own: Owner, other: Owner) -> Finding:
    (environment, planned), (beside, theirs) = own, other
    problem = Problem(
        code="TF404", at=planned.because, on_key=True,
        message=f"{_named(own)} is written by {shown(beside.folder)} too, for the same cluster '{environment.cluster}'",
        hint="write it in one environment; in the other declare it as existing, rename it, or set another `cluster`",
    )  # fmt: skip
    return environment, problem, ("the other owner", beside.places.span(theirs.because, on_key=True))


def _node_ports(owners: Iterable[Owner]) -> Iterator[Finding]:
    """Find the ports of nodes that two Services of one cluster ask for; nobody can have a port that another has."""
    first: dict[tuple[str, str, int], Owner] = {}
    for owner in owners:
        environment, planned = owner
        for port in node_ports(planned.manifest):
            other = first.setdefault((environment.cluster, *port), owner)
            if other[1] is not planned:
                problem = Problem(
                    code="TF501", at=planned.because, found=str(port[1]),
                    message=f"{_named(owner)} asks for the port {port[1]} of the nodes, and so does {_named(other)} of "
                            f"{shown(other[0].folder)}",
                    hint="give one of them another nodePort, or none: the cluster then chooses one",
                )  # fmt: skip
                yield environment, problem, ("the other Service", other[0].places.span(other[1].because))


def _two_clusters(pairs: Sequence[tuple[Owner, Owner]]) -> Finding:
    (environment, planned), (beside, theirs) = pairs[0]
    names = a_few([_named(own) for own, other in pairs if other[0] is beside], 3)
    problem = Problem(
        code="TF404", severity="warning", at=planned.because, on_key=True,
        message=f"{shown(beside.folder)} writes {names} too; these are two clusters, '{beside.cluster}' and "
                f"'{environment.cluster}', only because no `cluster` says otherwise",
        hint="write `cluster: NAME` in both: one name if it is one cluster, two names if there are two",
    )  # fmt: skip
    return environment, problem, ("written here too", beside.places.span(theirs.because, on_key=True))


def _one_node_claims(environments: Iterable[Environment], owners: Iterable[Owner]) -> Iterator[Finding]:
    """Find the claims for one node that jobs of two environments mount; one warning for each further environment."""
    modes: dict[tuple[str, str, str], str] = {}
    for one in environments:
        for name, volume in (one.data.get("volumes") or {}).items():
            if (mode := volume.get("access", _ONE_NODE[0] if "size" in volume else "")) in _ONE_NODE:
                modes.setdefault((one.cluster, one.namespace, volume.get("claim", name)), mode)
    first: dict[tuple[str, str, str], Use] = {}
    told: set[tuple[int, str]] = set()
    for one, planned in owners if modes else ():
        for claim, use in _mounted(one, planned):
            key = (one.cluster, one.namespace, claim)
            other, beside, there = first.setdefault(key, use)
            if key in modes and other is not one and (id(one), claim) not in told:
                told.add((id(one), claim))
                problem = Problem(
                    code=_STORAGE, severity="warning", at=use[2],
                    message=f"the claim '{claim}' is {modes[key]}, and the jobs '{use[1]}' here and '{beside}' of "
                            f"{shown(other.folder)} both mount it",
                    hint="the second waits until the first is done, unless they share a node: use ReadWriteMany",
                )  # fmt: skip
                yield one, problem, ("mounted here too", other.places.span(there))


def _mounted(one: Environment, planned: Planned) -> Iterator[tuple[str, Use]]:
    """Yield the claims that a Job mounts; the place is the job itself if an overlay or a pin brings the claim."""
    volumes, manifest = one.data.get("volumes") or {}, planned.manifest
    job = one.job_of(manifest) if manifest["kind"] == "Job" else None
    if job is None:
        return
    for role, task in zip(job.roles, manifest["spec"]["tasks"], strict=True):
        names = [use["name"] for use in role.data.get("volumes") or ()]
        claims = [volumes.get(name, {}).get("claim", name) for name in names]
        for volume in task["template"]["spec"].get("volumes") or ():
            if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
                place = (*role.route, "volumes", claims.index(claim)) if claim in claims else planned.because
                yield claim, (one, job.name, place)


def _named(owner: Owner) -> str:
    return f"{owner[1].manifest['kind']} '{owner[1].manifest['metadata']['name']}'"
