"""The shape of a check. A check is one module below checks/: a docstring, one `CHECK`, one `run(machine)`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from rocport.doctor.machine import Evidence, Machine
from rocport.facts.hazards import fill, findings

STATUSES = ("ok", "skipped", "warn", "fail")
"""From best to worst."""


@dataclass(frozen=True)
class Check:
    """What a check is called and which hazards (ids of facts/hazards) it looks for.

    `silent` checks find what gives wrong results without a message: they are shown first.
    """

    id: str
    title: str
    hazards: tuple[str, ...] = ()
    silent: bool = False


@dataclass(frozen=True)
class Result:
    """What one check found.

    `message` is one line; for `skipped` it is the reason. `fix` are shell commands, and lines that begin with `#` say
    what no command does. `env` are variables to set, None to unset them: what `--export` prints.
    """

    status: str
    message: str
    evidence: tuple[Evidence, ...] = ()
    consequence: str = ""
    fix: tuple[str, ...] = ()
    verify: str = ""
    needs_sudo: bool = False
    needs_reboot: bool = False
    needs_relogin: bool = False
    env: Mapping[str, str | None] = field(default_factory=dict)
    check: Check = Check("", "")

    def as_dict(self) -> dict[str, object]:
        return {
            "id": self.check.id,
            "status": self.status,
            "title": self.check.title,
            "message": self.message,
            "evidence": [e.as_dict() for e in self.evidence],
            "consequence": self.consequence,
            "fix": list(self.fix),
            "needs_sudo": self.needs_sudo,
            "needs_reboot": self.needs_reboot,
            "needs_relogin": self.needs_relogin,
            "verify": self.verify,
        }


class CheckModule(Protocol):
    CHECK: Check

    def run(self, machine: Machine) -> Result | Iterable[Result]: ...


def ok(message: str, *evidence: Evidence | None) -> Result:
    return Result("ok", message, _real(evidence))


def skipped(reason: str, *evidence: Evidence | None) -> Result:
    return Result("skipped", reason, _real(evidence))


def problem(
    status: str,
    message: str,
    evidence: Iterable[Evidence | None],
    consequence: str,
    fix: Iterable[str] = (),
    verify: str = "",
    *,
    sudo: bool = False,
    reboot: bool = False,
    relogin: bool = False,
    env: Mapping[str, str | None] | None = None,
) -> Result:
    """A `warn` or `fail`."""
    return Result(
        status=status,
        message=message,
        evidence=_real(evidence),
        consequence=consequence,
        fix=tuple(fix),
        verify=verify,
        needs_sudo=sudo,
        needs_reboot=reboot,
        needs_relogin=relogin,
        env=dict(env or {}),
    )


def says(identifier: str, evidence: Iterable[Evidence | None], status: str = "", **values: object) -> Result:
    """The row `identifier` of facts/hazards (`[[finding]]`) as a result, its `{name}`s filled from `values`.

    `status` is for a row that leaves it to the check. Raises KeyError for a row that is not there.
    """
    row = findings()[identifier]
    return problem(
        status or row.status,
        fill(row.message, values),
        evidence,
        fill(row.consequence, values),
        [fill(line, values) for line in row.fix],
        fill(row.verify, values),
        sudo="sudo" in row.needs,
        reboot="reboot" in row.needs,
        relogin="relogin" in row.needs,
        env={
            fill(name, values): fill(value, values) if isinstance(value, str) else None
            for name, value in row.env.items()
        },
    )


def _real(evidence: Iterable[Evidence | None]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(e for e in evidence if e is not None))


def modules() -> Iterator[CheckModule]:
    """Every check module, found by walking the package."""
    from rocport.doctor import checks

    for info in pkgutil.iter_modules(checks.__path__):
        if not info.name.startswith("_"):
            yield cast(CheckModule, importlib.import_module(f"{checks.__name__}.{info.name}"))
