"""amd-smi and rocm-smi: product, PCI id, memory; amd-smi also the target. Text and JSON of both."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Sighting, VersionFact
from rocport.doctor.probes.names import chip_of, gfx_of
from rocport.doctor.text import Line, clean, holds
from rocport.facts.targets import targets_of_chip

_ROCM_CARD = re.compile(r"^(?:GPU|card)\[?(\d+)\]?\s*:\s*(.+?):\s*(.*)$", re.IGNORECASE)
_ROCM_NEW_ROW = re.compile(r"^(\d{1,2})\s+(\d{1,2})\s+(0x[0-9a-f]{4}),\s+\d+", re.IGNORECASE)
_ROCM_MODEL_ROW = re.compile(r"^(\d{1,2})\s+\[(0x[0-9a-f]{4}) : 0x[0-9a-f]+\]", re.IGNORECASE)
_PRODUCT_ROW = re.compile(r"^((?:AMD )?(?:Instinct|Radeon)\b.*)$")
_SMI_GPU = re.compile(r"^GPU:\s*(\d+)$", re.IGNORECASE)
_PAIR = re.compile(r'^["\']?([A-Za-z][A-Za-z_ ]*?)["\']?\s*:\s*["\']?(.*?)["\']?,?$')
_SIZE = re.compile(r"^(\d+)\s*(KB|MB|GB|MiB|GiB)", re.IGNORECASE)
# amd-smi builds its UUID around the PCI device id: 00ff1586-0000-1000-8000-...
_UUID = re.compile(r"^[0-9a-f]{2}ff([0-9a-f]{4})-0000-1000-80", re.IGNORECASE)
_TABLE_ROW = re.compile(r"^\|\s*([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s+(\S.*?)\s*\|", re.IGNORECASE)
_VERSIONS = (
    ("driver", re.compile(r"amdgpu version:\s*(\d[\w.]*)", re.IGNORECASE)),
    ("rocm", re.compile(r"ROCm version:\s*(\d+\.\d+[\w.]*)", re.IGNORECASE)),
)
_JSON_GPU = re.compile(r'^"gpu":\s*(\d+),?$')
_ROCM_DRIVER = re.compile(r"^(?:system\s*:\s*)?Driver version:\s*(\d[\w.-]*)", re.IGNORECASE)
_ROCM_JSON = re.compile(r'^"?card(\d+)"?:\s*\{')
# What each tool prints has one of these words, or one of these patterns, in lower case: its parser asks many questions
# of each line.
_OF_AMD_SMI = ("amdgpu version:", "rocm version:", "graphics_version"), (r'gpu"?:\s*\d', r"\|\s*[0-9a-f]{4}:")
_OF_ROCM_SMI = (
    ("rocm system management interface", "rocm smi log", "driver version:", ": 0x"),
    (r"gpu\[?\d", r"card\[?\d", r"0x[0-9a-f]{4},"),
)
_UNITS = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "mib": 1 << 20, "gib": 1 << 30}


@dataclass
class _Card:
    index: int
    line: int
    fields: dict[str, str] = field(default_factory=dict)


def parse(lines: list[Line], where: str) -> Facts:
    """GPUs and driver version of either tool."""
    amd = _amd_smi(lines, where) if holds(lines, *_OF_AMD_SMI) else Facts()
    rocm = _rocm_smi(lines, where) if holds(lines, *_OF_ROCM_SMI) else Facts()
    return amd + rocm


def _amd_smi(lines: list[Line], where: str) -> Facts:
    cards: list[_Card] = []
    section = ""
    versions: list[VersionFact] = []
    for line in lines:
        text = line.stripped.strip("|").strip()
        spot = f"{where}:{line.number}"
        lower = text.lower()
        if "amd" in lower and ("smi" in lower or "amdgpu version" in lower):
            for name, pattern in _VERSIONS:
                match = pattern.search(text)
                if match:
                    versions.append(VersionFact(name, match.group(1), Evidence("amd-smi", spot, text[:200])))
        row = _TABLE_ROW.match(line.stripped)
        if row and row.group(2).strip().upper() not in ("N/A", "GPU-NAME"):
            table = _Card(len(cards), line.number, {"BDF": row.group(1), "MARKET_NAME": row.group(2).strip()})
            if all(c.fields.get("BDF", "").lower() != row.group(1).lower() for c in cards):
                cards.append(table)
            continue
        started = _SMI_GPU.match(text) or _JSON_GPU.match(text)
        if started:
            cards.append(_Card(int(started.group(1)), line.number))
            section = ""
            continue
        match = _PAIR.match(text)
        if match is None:
            continue
        if not cards:  # a grep, or a heading that was cut off
            if not match.group(1).upper().endswith("GRAPHICS_VERSION"):
                continue
            cards.append(_Card(0, line.number))
        key, value = match.group(1).strip().upper().replace(" ", "_"), match.group(2).strip()
        if value in ("", "{"):
            section = key
            continue
        cards[-1].fields.setdefault(f"{section}.{key}", value)
        cards[-1].fields.setdefault(key, value)
    sightings = []
    for card in cards:
        get = card.fields.get
        gfx, features = gfx_of(get("TARGET_GRAPHICS_VERSION", ""))
        chip = chip_of(get("ASIC.DEVICE_ID") or get("DEVICE_ID", ""))
        unique = _UUID.match(get("UUID", ""))
        if chip is None and unique:
            chip = int(unique.group(1), 16)
        product = _known(get("MARKET_NAME", "")) or _known(get("PRODUCT_NAME", ""))
        bdf = get("BDF", "")
        node = re.fullmatch(r"\d{1,3}", get("NODE_ID", ""))
        size = _SIZE.match(get("VRAM.SIZE", ""))
        if not (gfx or chip or product):
            continue
        driver = get("DRIVER.VERSION", "")
        spot = f"{where}:{card.line}"
        if re.match(r"\d+\.\d+", driver):
            versions.append(VersionFact("driver", driver, Evidence("amd-smi", spot, f"DRIVER VERSION: {driver}")))
        kernel = get("OS_KERNEL_VERSION", "")
        if re.match(r"\d+\.\d+", kernel):
            versions.append(VersionFact("kernel", kernel, Evidence("amd-smi", spot, f"OS_KERNEL_VERSION: {kernel}")))
        shown = f"GPU {card.index}: " + ", ".join(p for p in (gfx, product, f"{chip:#06x}" if chip else "") if p)
        sightings.append(
            Sighting(
                source="amd-smi",
                evidence=Evidence("amd-smi", spot, shown),
                gfx=gfx,
                features=features,
                chip_id=chip,
                product=product,
                pci=bdf.lower() if re.fullmatch(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d", bdf) else "",
                node=int(node.group()) if node else None,
                vram_bytes=int(size.group(1)[:12]) * _UNITS[size.group(2).lower()] if size else None,
            )
        )
    probed = frozenset({"amd-smi"}) if sightings or versions else frozenset()
    return Facts(probed=probed, sightings=tuple(sightings), versions=tuple(versions[:4]))


def _rocm_smi(lines: list[Line], where: str) -> Facts:
    cards: dict[int, _Card] = {}
    versions: list[VersionFact] = []
    last: _Card | None = None
    inside: _Card | None = None
    columns: list[str] = []
    anchored = False
    for line in lines:
        text = line.stripped.replace("\\t", " ").strip('",')
        if "ROCm System Management Interface" in text or "ROCm SMI Log" in text:
            anchored = True
        driver = _ROCM_DRIVER.search(text)
        if driver:
            spot = f"{where}:{line.number}"
            versions.append(VersionFact("driver", driver.group(1), Evidence("rocm-smi", spot, text)))
            continue
        pair = _ROCM_CARD.match(text)
        if pair and int(pair.group(1)) < 64:
            card = cards.setdefault(int(pair.group(1)), _Card(int(pair.group(1)), line.number))
            card.fields.setdefault(pair.group(2).strip().lower(), pair.group(3).strip())
            continue
        opened = _ROCM_JSON.match(text)
        if opened:  # --json
            inside = cards.setdefault(int(opened.group(1)), _Card(int(opened.group(1)), line.number))
        member = re.match(r'^([A-Za-z][^":]*)"?:\s*"?([^"]*)$', text) if inside is not None else None
        if member and inside is not None:
            inside.fields.setdefault(member.group(1).strip().lower(), member.group(2).strip())
            continue
        if text.startswith("device,"):  # --csv
            columns = [c.strip().lower() for c in text.split(",")]
            continue
        cells = text.split(",")
        if columns and len(cells) == len(columns) and re.fullmatch(r"card\d+", cells[0]):
            number = int(cells[0][4:])
            card = cards.setdefault(number, _Card(number, line.number))
            for name, value in zip(columns, cells, strict=True):
                card.fields.setdefault(name, value.strip())
            continue
        row = _ROCM_NEW_ROW.match(text)
        if row:
            last = cards.setdefault(int(row.group(1)), _Card(int(row.group(1)), line.number))
            last.fields.setdefault("node id", row.group(2))
            last.fields.setdefault("device id", row.group(3))
            continue
        row = _ROCM_MODEL_ROW.match(text)
        if row:
            last = cards.setdefault(int(row.group(1)), _Card(int(row.group(1)), line.number))
            last.fields.setdefault("device id", row.group(2))
            continue
        named = _PRODUCT_ROW.match(text)
        if named and last is not None and anchored:
            last.fields.setdefault("card series", named.group(1))
            last = None
    sightings = []
    for card in cards.values():
        get = card.fields.get
        gfx, features = gfx_of(get("gfx version", ""))
        chip = _chip(get, ("device id", "card series", "card model", "gpu id", "device name"))
        product = next((p for k in ("card series", "device name", "card model") if (p := _known(get(k, "")))), "")
        node = re.fullmatch(r"\d{1,3}", get("node id", ""))
        vram = re.fullmatch(r"\d{1,15}", get("vram total memory (b)", ""))
        bus = get("pci bus", "")
        if not (gfx or chip or product):
            continue
        shown = f"GPU {card.index}: " + ", ".join(p for p in (gfx, product, f"{chip:#06x}" if chip else "") if p)
        sightings.append(
            Sighting(
                source="rocm-smi",
                evidence=Evidence("rocm-smi", f"{where}:{card.line}", shown),
                gfx=gfx,
                features=features,
                chip_id=chip,
                product=product,
                node=int(node.group()) if node else None,
                pci=bus.lower() if re.fullmatch(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d", bus) else "",
                vram_bytes=int(vram.group()) if vram else None,
            )
        )
    probed = frozenset({"rocm-smi"}) if sightings or anchored or versions else frozenset()
    return Facts(probed=probed, sightings=tuple(sightings), versions=tuple(versions[:1]))


def _chip(get: Callable[[str, str], str], keys: tuple[str, ...]) -> int | None:
    """The PCI device id; releases differ in where they print it, and print the subsystem's id as the card model."""
    ids = [chip for key in keys if (chip := chip_of(get(key, "")))]
    return next((chip for chip in ids if targets_of_chip(chip)), ids[0] if ids else None)


def _known(value: str) -> str:
    """A name a tool printed, empty for N/A and for a bare PCI id."""
    value = value.strip()
    if value.upper() in ("N/A", "UNKNOWN", "") or value.startswith("0x") or "not supported" in value.lower():
        return ""
    return value


def probe(host: Host) -> Facts:
    """Run amd-smi (or rocm-smi when it is absent): slow Python programs, so only for `--deep`."""
    for command in (["amd-smi", "static"], ["rocm-smi", "--showproductname", "--showdriverversion"]):
        text = host.run(command, 20.0)
        if text:
            return parse(clean(text), " ".join(command))
    return Facts()
