"""KFD topology: what the kernel driver says each GPU is. The only source that an override does not change."""

from __future__ import annotations

import re
from dataclasses import replace

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Sighting, merge
from rocport.doctor.probes.names import pci_of_bdf
from rocport.doctor.text import Line
from rocport.facts.targets import decode_gfx_target_version

AMD_VENDOR = 4098
TOPOLOGY = "/sys/class/kfd/kfd/topology/nodes"
_PAIR = re.compile(r"^(?:(?P<path>\S*?nodes/(?P<node>\d+)/properties):)?\s*(?P<key>[a-z][a-z0-9_]+) (?P<value>\d+)$")
_PATH = re.compile(r"nodes/(\d+)(?:/properties)?\b")
_KEYS = frozenset(
    {
        "cpu_cores_count",
        "simd_count",
        "mem_banks_count",
        "caches_count",
        "io_links_count",
        "p2p_links_count",
        "cpu_core_id_base",
        "simd_id_base",
        "max_waves_per_simd",
        "lds_size_in_kb",
        "gds_size_in_kb",
        "num_gws",
        "wave_front_size",
        "array_count",
        "simd_arrays_per_engine",
        "cu_per_simd_array",
        "simd_per_cu",
        "max_slots_scratch_cu",
        "gfx_target_version",
        "vendor_id",
        "device_id",
        "location_id",
        "domain",
        "drm_render_minor",
        "hive_id",
        "num_sdma_engines",
        "num_sdma_xgmi_engines",
        "num_sdma_queues_per_engine",
        "num_cp_queues",
        "max_engine_clk_fcompute",
        "local_mem_size",
        "fw_version",
        "capability",
        "debug_prop",
        "sdma_fw_version",
        "unique_id",
        "num_xcc",
        "max_engine_clk_ccompute",
    }
)


def parse(lines: list[Line], where: str) -> Facts:
    """Properties files, one or several after each other, with or without `nodes/1/properties:` in front.

    A repeated key starts the next node. CPU nodes (simd_count 0), nodes of another vendor, and gfx_target_version
    numbers that no target encodes give no GPU.
    """
    nodes: list[tuple[int | None, dict[str, int], int]] = []
    current: dict[str, int] = {}
    number: int | None = None
    start = 0
    for line in lines:
        match = _PAIR.match(line.stripped)
        if match is None or match["key"] not in _KEYS:
            path = _PATH.search(line.text) if "nodes/" in line.text else None
            if path:
                if current:
                    nodes.append((number, current, start))
                    current = {}
                number = int(path.group(1))
            continue
        key, node = match["key"], int(match["node"]) if match["node"] else None
        if current and (key in current or (node is not None and node != number)):
            nodes.append((number, current, start))
            current, number = {}, None
        if not current:
            start = line.number
        if node is not None:
            number = node
        current[key] = int(match["value"][:20])
    if current:
        nodes.append((number, current, start))
    # kernels before 5.15 print no gfx_target_version: the PCI id is left
    told = [n for n in nodes if "gfx_target_version" in n[1] or {"simd_count", "device_id"} <= n[1].keys()]
    if not told:
        return Facts()
    seen = tuple(s for n in told if (s := _sighting(n[1], n[0], f"{where}:{n[2]}")) is not None)
    return Facts(probed=frozenset({"kfd"}), sightings=seen)


def _sighting(props: dict[str, int], node: int | None, where: str) -> Sighting | None:
    if props.get("simd_count", 1) == 0 or props.get("vendor_id", AMD_VENDOR) != AMD_VENDOR:
        return None
    value, chip = props.get("gfx_target_version"), props.get("device_id") or None
    try:
        gfx = decode_gfx_target_version(value) if value is not None else ""
    except ValueError:
        return None
    location = props.get("location_id")
    simds, per_cu = props.get("simd_count"), props.get("simd_per_cu")
    return Sighting(
        source="kfd",
        evidence=Evidence("kfd", where, f"gfx_target_version {value} ({gfx})" if gfx else f"device_id {chip}"),
        gfx=gfx,
        chip_id=chip,
        wavefront=props.get("wave_front_size") or None,
        node=node,
        pci=pci_of_bdf(location, props.get("domain", 0)) if location else "",
        compute_units=simds // per_cu if simds and per_cu else None,
        render_minor=props.get("drm_render_minor") or None,
        apu=True if props.get("cpu_cores_count") else None,
    )


def probe(host: Host) -> Facts:
    """Read every node below /sys/class/kfd. Sets `probed` to kfd when the topology is there."""
    parts = []
    for path in host.glob(TOPOLOGY, "*/properties"):
        text = host.read(host.shown(path))
        if text and path.parent.name.isdigit():
            lines = [Line(i, t) for i, t in enumerate(text.splitlines(), start=1)]
            found = parse(lines, host.shown(path))
            parts.append(
                Facts(
                    probed=found.probed,
                    sightings=tuple(_with_node(s, int(path.parent.name), host.shown(path)) for s in found.sightings),
                )
            )
    return merge(parts)


def _with_node(sighting: Sighting, node: int, where: str) -> Sighting:
    return replace(sighting, node=node, evidence=Evidence("kfd", where, sighting.evidence.text))
