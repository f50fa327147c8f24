"""rocminfo: the agents as the HSA runtime shows them, that is, after HSA_OVERRIDE_GFX_VERSION."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Setting, Sighting, Symptom, VersionFact
from rocport.doctor.probes.names import chip_of, gfx_of, pci_of_bdf
from rocport.doctor.text import Line, clean

_AGENT = re.compile(r"^\**\s*Agent (\d+)\s*\**$")
_FIELD = re.compile(r"^([A-Z][A-Za-z0-9 ./()#-]*?)\s*:{1,2}(?!:)\s*(.*)$")
_ISA = re.compile(r"amdgcn-amd-amdhsa--(gfx[0-9a-z+:-]+)")
_LOADED = re.compile(r"ROCk module(?: version (\S+))? is loaded")


@dataclass
class _Agent:
    line: int
    name: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    isas: list[str] = field(default_factory=list)
    in_isa: bool = False
    pool_bytes: int | None = None
    pool_is_local: bool = False


def parse(lines: list[Line], where: str) -> Facts:
    """GPU agents, the driver's version, the runtime's version and the messages of rocminfo.

    Agents whose Device Type is not GPU, and agents named otherwise than a gfx target (CPU, aie2 of the NPU), are not
    GPUs. Works on excerpts: without `Agent N` lines (grep), without Device Type, cut in the middle.
    """
    agents: list[_Agent] = []
    settings: list[Setting] = []
    versions: list[VersionFact] = []
    symptoms: list[Symptom] = []
    anchored = False
    for line in lines:
        text = line.stripped
        spot = f"{where}:{line.number}"
        if _AGENT.match(text):
            agents.append(_Agent(line.number))
            anchored = True
            continue
        loaded = _LOADED.search(text)
        if loaded:
            anchored = True
            settings.append(Setting("amdgpu_loaded", True, Evidence("rocminfo", spot, text)))
            if loaded.group(1) and re.match(r"\d+\.\d+", loaded.group(1)):
                versions.append(VersionFact("driver", loaded.group(1), Evidence("rocminfo", spot, text)))
            continue
        if text == "HSA Agents":
            anchored = True
            continue
        match = _FIELD.match(text)
        if match is None:
            continue
        key, value = match.group(1).strip(), match.group(2).strip()
        if key == "Runtime Version":
            versions.append(VersionFact("hsa", value, Evidence("rocminfo", spot, text)))
        elif key == "ISA Info" and agents:
            agents[-1].in_isa = True
        elif key == "Name":
            isa = _ISA.search(value)
            if isa or value.startswith("amdgcn-"):
                if not agents:
                    agents.append(_Agent(line.number))
                if isa:
                    agents[-1].isas.append(isa.group(1))
                agents[-1].in_isa = True
            elif not agents or agents[-1].name or agents[-1].in_isa:
                if gfx_of(value)[0]:  # a grep, or a cut paste: the heading is gone
                    agents.append(_Agent(line.number, name=value))
            else:
                agents[-1].name = value
        elif agents and not agents[-1].in_isa:
            _field(agents[-1], key, value)
    gpus = tuple(s for a in agents if (s := _sighting(a, where)) is not None)
    if anchored and _is_whole(lines) and not gpus:
        symptoms.append(
            Symptom("no-gpu-agent", Evidence("rocminfo", where, f"{len(agents)} agents listed, none is a GPU"))
        )
    for agent in agents:
        kind = agent.fields.get("Device Type", "")
        if kind == "DSP" or agent.name.lower().startswith("aie"):
            spot = f"{where}:{agent.line}"
            settings.append(Setting("npu", agent.name or kind, Evidence("rocminfo", spot, f"Name: {agent.name}")))
    probed = frozenset({"rocminfo"}) if anchored or gpus else frozenset()
    return Facts(
        probed=probed,
        sightings=gpus,
        versions=tuple(versions),
        settings=tuple(settings),
        symptoms=tuple(symptoms),
    )


def _is_whole(lines: list[Line]) -> bool:
    """True when the agent list was printed to its end: rocminfo closes with `*** Done ***`."""
    texts = {line.stripped for line in lines}
    return "HSA Agents" in texts and "*** Done ***" in texts


def _field(agent: _Agent, key: str, value: str) -> None:
    if key == "Segment":
        agent.pool_is_local = value.startswith("GLOBAL")
    elif key == "Size" and agent.pool_is_local and agent.pool_bytes is None:
        number = re.match(r"(\d+)", value)
        if number:
            agent.pool_bytes = int(number.group(1)[:15]) * 1024
    else:
        agent.fields.setdefault(key, value)


def _sighting(agent: _Agent, where: str) -> Sighting | None:
    kind = agent.fields.get("Device Type", "")
    if kind and kind != "GPU":
        return None
    gfx, features = gfx_of(agent.name)
    if not gfx and kind == "GPU" and not agent.name:
        gfx, features = next((found for isa in agent.isas if (found := gfx_of(isa))[0]), ("", ""))
    if not gfx:
        return None
    for isa in agent.isas:
        name, isa_features = gfx_of(isa)
        if name == gfx and isa_features:
            features = isa_features
    width = re.match(r"(32|64)\b", agent.fields.get("Wavefront Size", ""))
    node = re.fullmatch(r"\d{1,3}", agent.fields.get("Node", ""))
    bdf = re.fullmatch(r"\d{1,5}", agent.fields.get("BDFID", ""))
    units = re.match(r"\d{1,4}\b", agent.fields.get("Compute Unit", ""))
    shown = [f"Name: {agent.name or gfx}"]
    shown += [f"{key}: {agent.fields[key]}" for key in ("Chip ID", "Marketing Name") if agent.fields.get(key)]
    return Sighting(
        source="rocminfo",
        evidence=Evidence("rocminfo", f"{where}:{agent.line}", ", ".join(shown)),
        gfx=gfx,
        features=features,
        chip_id=chip_of(agent.fields.get("Chip ID", "")),
        product=agent.fields.get("Marketing Name", ""),
        wavefront=int(width.group(1)) if width else None,
        node=int(node.group()) if node else None,
        pci=pci_of_bdf(int(bdf.group())) if bdf and int(bdf.group()) else "",
        compute_units=int(units.group()) if units else None,
        vram_bytes=agent.pool_bytes,
        apu=True if "APU" in agent.fields.get("Memory Properties", "") else None,
    )


def probe(host: Host) -> Facts:
    """Run rocminfo when it is installed; `rocminfo_missing` is set when it is not."""
    text = host.run(["rocminfo"], 10.0)
    if text is None:
        evidence = Evidence("rocminfo", "PATH", "rocminfo is not installed, or did not end")
        return Facts(settings=(Setting("rocminfo_missing", True, evidence),)) if host.real else Facts()
    return parse(clean(text), "rocminfo")
