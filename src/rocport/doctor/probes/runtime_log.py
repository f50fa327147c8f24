"""GPUs as other programs of the HIP runtime print them, and as a reporter writes them down.

hipInfo, clinfo, llama.cpp, ollama and ComfyUI print what the runtime says (source `runtime`); an issue form holds what
its author believes (source `stated`). Where neither names a GPU, a Ryzen AI processor is one: its GPU is inside.
"""

from __future__ import annotations

import re

from rocport.doctor.machine import Evidence, Facts, Package, Sighting, VersionFact
from rocport.doctor.probes.names import gfx_of
from rocport.doctor.text import Line
from rocport.facts.products import targets_of_processor, unserved_product
from rocport.facts.targets import targets_of_product

_LLAMA = re.compile(r"^\s*Device \d+: (.+?), (gfx[0-9a-f]+)[^,]*, .*?Wave Size: (32|64)", re.IGNORECASE)
_LLAMA_SHORT = re.compile(r"^\s*Device \d+: (.+?), (gfx[0-9a-f]+)[^,]*,", re.IGNORECASE)
_OLLAMA = re.compile(r"\b(?:gpu_type|compute|gfx)=(gfx[0-9a-f]+)\b.*?(?:name=(?:\"([^\"]*)\"|(\S+)))?$")
_COMFY = re.compile(r"^AMD arch:\s*(gfx[0-9a-f]+)")
_CLINFO = re.compile(r"^Device Name\s{2,}(gfx[0-9a-f]+)\b")
_ENUMERATOR = re.compile(r"^(gfx[0-9a-f]{3,5})$")
_HIPINFO_NAME = re.compile(r"^Name:\s{2,}(\S.*)$")
_HIPINFO_WARP = re.compile(r"^warpSize:\s+(32|64)$")
_HIPINFO_ARCH = re.compile(r"^gcnArchName:\s+(gfx\S+)$")
_HIPINFO_DEVICE = re.compile(r"^device#\s+(\d+)$")
_STATED = re.compile(r"^[-*]?\s*\**(?:GPU|Graphics card|Video card)\**\s*:\**\s*(.+)$", re.IGNORECASE)
_HEADING = re.compile(r"^#+\s*(?:GPU|Graphics card)\s*$", re.IGNORECASE)
_TORCH = re.compile(
    r"^[-*]?\s*\**(?:PyTorch|torch|pytorch version)(?: version)?\**\s*:\**\s*v?(\d+\.\d+\.\d+[\w.+]*)", re.IGNORECASE
)
_RYZEN_AI = re.compile(r"\b(?:AMD )?(?:Ryzen )?AI (?:Max\+?|\d) ?(?:PRO )?(?:HX ?)?(?:PRO )?\d{3}\b", re.IGNORECASE)
_OTHER_GPU = re.compile(
    r"radeon (?:rx|pro)\b|\brx ?\d{4}|instinct|nvidia|geforce|\b[rg]tx ?\w?\d{3,4}|\bquadro\b|\btesla\b"
    r"|\barc\b[^\n]{0,20}graphics",
    re.IGNORECASE,
)
_OF_AMD = re.compile(r"gpu|graphics|\bcard\b|radeon|\bamd\b|vega|\brx\b|\bmi ?\d|\b[wr]\d{4}\b|\bxtx?\b", re.IGNORECASE)
_TORCH_HIP = re.compile(r"torch\.version\.hip\s*[:=]+\s*['\"]?(\d+\.\d+[\w.-]*)")


def parse(lines: list[Line], where: str) -> Facts:
    runtime: list[Sighting] = []
    stated: list[Sighting] = []
    versions: list[VersionFact] = []
    packages: list[Package] = []
    enumerator = heading = False
    device: dict[str, str] = {}
    for line in lines:
        text = line.stripped
        evidence = Evidence("runtime", f"{where}:{line.number}", text[:200])
        if "rocm_agent_enumerator" in text:
            enumerator = True
            continue
        match = _ENUMERATOR.match(text) if enumerator else None
        if match:
            gfx, features = gfx_of(match.group(1))
            if gfx:
                runtime.append(Sighting("runtime", evidence, gfx, features=features))
            continue
        if enumerator and text and not text.startswith("gfx"):
            enumerator = False
        if _HIPINFO_DEVICE.match(text):
            device = {"open": text}
            continue
        if device:
            name, warp, arch = _HIPINFO_NAME.match(text), _HIPINFO_WARP.match(text), _HIPINFO_ARCH.match(text)
            if name:
                device.setdefault("name", name.group(1))
            elif warp:
                device["warp"] = warp.group(1)
            elif arch:
                gfx, features = gfx_of(arch.group(1))
                if gfx:
                    width = int(device["warp"]) if "warp" in device else None
                    name_text = device.get("name", "")
                    runtime.append(Sighting("runtime", evidence, gfx, None, name_text, width, features=features))
                device = {}
                continue
        match = _LLAMA.match(text) or _LLAMA_SHORT.match(text)
        if match:
            gfx, features = gfx_of(match.group(2))
            width = int(match.group(3)) if match.re is _LLAMA else None
            if gfx:
                runtime.append(Sighting("runtime", evidence, gfx, None, match.group(1), width, features=features))
            continue
        match = _COMFY.match(text) or _OLLAMA.search(text) or _CLINFO.match(text)
        if match:
            gfx, features = gfx_of(match.group(1))
            if gfx and all(s.gfx != gfx for s in runtime):
                runtime.append(Sighting("runtime", evidence, gfx, features=features))
        match = _TORCH.match(text)
        if match:
            versions.append(VersionFact("torch", match.group(1), evidence))
            packages.append(Package("torch", match.group(1), evidence))
        match = _TORCH_HIP.search(text)
        if match:
            versions.append(VersionFact("torch_hip", match.group(1), evidence))
        match = _STATED.match(text)
        claim = match.group(1) if match else text if heading and text else ""
        if claim:
            sighting = _claimed(claim, Evidence("stated", f"{where}:{line.number}", text[:200]))
            if sighting:
                stated.append(sighting)
        if text:
            heading = bool(_HEADING.match(text))
    if not runtime and not stated:
        stated = _inside(lines, where)
    probed = frozenset({"runtime"}) if runtime else frozenset()
    return Facts(probed=probed, sightings=(*runtime, *stated[:1]), versions=tuple(versions), packages=tuple(packages))


def _inside(lines: list[Line], where: str) -> list[Sighting]:
    """The GPU inside the Ryzen AI processor that a text names; none where it names another GPU or two processors."""
    found: dict[str, Sighting] = {}
    others: set[str] = set()
    for line in lines:
        rest = _RYZEN_AI.sub(" ", line.stripped)
        if _OTHER_GPU.search(rest):
            return []
        if _OF_AMD.search(rest):
            others.update(targets_of_product(rest))
            others.update(card.chip for card in [unserved_product(rest)] if card is not None)
        named = _RYZEN_AI.search(line.stripped)
        for target in targets_of_processor(named.group()) if named else ():
            evidence = Evidence("stated", f"{where}:{line.number}", line.stripped[:200])
            found.setdefault(target, Sighting("stated", evidence, target, None, named.group() if named else ""))
    return list(found.values()) if len(found) == 1 and others <= found.keys() else []


def _claimed(claim: str, evidence: Evidence) -> Sighting | None:
    """`AMD Radeon RX 7600 XT (gfx1102)`: a name, and a gfx when one stands there."""
    if not re.search(r"radeon|instinct|\bRX ?\d|\bMI\d{2,3}\b|\bW\d{4}\b", claim, re.IGNORECASE):
        return None
    named = re.search(r"\b(gfx[0-9a-f]{3,5})\b", claim)
    gfx = gfx_of(named.group(1))[0] if named else ""
    product = re.sub(r"\s*\(?gfx[0-9a-f]+\)?", "", claim).strip(" ,*`")
    return Sighting("stated", evidence, gfx, None, product[:80])
