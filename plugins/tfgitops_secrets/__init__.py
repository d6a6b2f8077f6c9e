"""Secrets: tokens, keys and passwords that a spec, a script or a configuration would bring into Git and the cluster."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from tfgitops import Environment, Problem, hookimpl, secrets_of

if TYPE_CHECKING:
    from collections.abc import Iterator

tfgitops_api = 1

CODES = {
    "SECRET01": "a token, a key or a password in a spec",
    "SECRET02": "a value that may be a secret, by its name",
}
_ELSEWHERE = ("jobs", "defaults", "allow")  # a job has what it inherits, and exceptions are in no manifest


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Report the secrets in the texts of a spec and of the files that it names; the value is never shown."""
    found = [secrets_of(environment.get(key), (key,)) for key in environment.data if key not in _ELSEWHERE]
    for job in environment.jobs:
        found += [secrets_of(job.data, job.route)]
        for role in job.roles:  # what a role has from its job is the same value
            own = {key: value for key, value in role.data.items() if value != job.data.get(key)}
            found += [secrets_of(own, role.route)]
    for at, secret in chain.from_iterable(found):
        yield Problem(
            code="SECRET01" if secret.certain else "SECRET02", severity="error" if secret.certain else "warning",
            message=f"{secret.kind} {'stands' if secret.certain else 'seems to stand'} here, and so in Git", at=at,
            hint="revoke it, and name a Secret of the cluster: `env: {TOKEN: {secret: hub, key: token}}`",
            on_key=True, allowable=True,
        )  # fmt: skip
