"""Probe this machine (or a folder that looks like one), without importing torch and without root."""

from __future__ import annotations

from rocport.doctor.gpus import resolve
from rocport.doctor.host import Host
from rocport.doctor.machine import Facts, Machine, merge
from rocport.doctor.probes import (
    access,
    codeobjects,
    driver,
    environment,
    hipconfig,
    install,
    kfd,
    platform,
    python_env,
    rocminfo,
    smi,
)

_PROBES = (kfd, driver, platform, access, environment, install, python_env)


def read_machine(host: Host | None = None, deep: bool = False) -> Machine:
    """Facts of the machine. rocminfo runs when there is a GPU to compare with; `deep` also runs the smi tools,
    hipconfig, and torch in a child process."""
    host = host or Host()
    parts: list[Facts] = [probe.probe(host) for probe in _PROBES]
    notes: list[str] = []
    facts = merge(parts)
    if facts.sightings or any(s.name in ("wsl", "dxg") for s in facts.settings):
        facts = facts + rocminfo.probe(host) + codeobjects.probe(host)
    if deep:
        from rocport.doctor import deep as child

        facts = facts + smi.probe(host) + hipconfig.probe(host)
        found, said = child.probe(host)
        facts = facts + found
        notes += said
    return Machine(facts=facts, gpus=resolve(facts), live=True, notes=tuple(notes))
