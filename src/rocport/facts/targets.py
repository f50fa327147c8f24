"""The gfx targets: one TOML file each in targets/, loaded into `GfxTarget`.

A name may carry target features (`gfx942:sramecc+:xnack-`, what torch calls gcnArchName): they are not part of the
target and are dropped.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rocport.facts._toml import FACTS, read_toml
from rocport.facts.errors import FactError
from rocport.model.targets import GfxTarget, OfficialSupport, Source, Support, Switch

SURE = frozenset({"measured", "documented", "reported", "unverified"})
_FOLDER = FACTS / "targets"
_GFX = re.compile(r"gfx[0-9a-f]+(?:-(?:strict|generic)|-\d+-generic)?")


def canonical(name: str) -> str:
    """`gfx942:sramecc+:xnack-` or ` GFX942 ` -> `gfx942`; anything else is returned stripped and in lower case."""
    return name.strip().lower().split(":", 1)[0]


def is_gfx_name(name: str) -> bool:
    """True for text shaped like a target name, known or not. Generic targets (`gfx11-generic`) count."""
    return _GFX.fullmatch(canonical(name)) is not None


def decode_gfx_target_version(value: int) -> str:
    """KFD's `gfx_target_version` -> target name: 90402 -> gfx942, 90010 -> gfx90a, 110501 -> gfx1151.

    Minor and stepping are printed in hex; the source is the topology code of the ROCr runtime. Raises ValueError for 0
    (a CPU node) and for numbers that no target encodes.
    """
    major, minor, step = value // 10000, value // 100 % 100, value % 100
    if value <= 0 or not 3 <= major < 100 or minor > 15 or step > 15:
        raise ValueError(f"gfx_target_version {value} is not a GPU's: expected such as 90402 (gfx942)")
    return f"gfx{major}{minor:x}{step:x}"


def target_names() -> tuple[str, ...]:
    """Names of all targets, in order of architecture."""
    return _names(_FOLDER)


@functools.cache
def _names(folder: Path) -> tuple[str, ...]:
    names = (path.stem for path in folder.glob("gfx*.toml"))
    return tuple(sorted(names, key=lambda name: (len(name.split("-")[0]), name)))


def load_target(name: str) -> GfxTarget:
    """The target of that name, features dropped. Raises FactError, with suggestions, when it is not known."""
    key = canonical(name)
    if not re.fullmatch(r"[a-z0-9-]+", key) or not (_FOLDER / f"{key}.toml").is_file():
        raise FactError("gfx target", key, target_names())
    return _load(key)


def all_targets() -> tuple[GfxTarget, ...]:
    """Every target, in order of architecture."""
    return tuple(_load(name) for name in target_names())


def targets_of_chip(chip_id: int) -> tuple[str, ...]:
    """Names of the targets that an AMD PCI device id may be; empty when the id is not in the facts."""
    return _chips().get(chip_id, ())


def targets_of_product(product: str) -> tuple[str, ...]:
    """Names of the targets of a product or marketing name (`AMD Radeon RX 7900 XTX`); empty when it is not known.

    The longest known product name found as whole words wins, so that `RX 7900 XTX` is not read as `RX 7900 XT`.
    `AMD Radeon Graphics`, what the tools print for most APUs, names nothing and gives nothing.
    """
    words = _words(product)
    if "ryzen" in words and "radeon" in words:
        words = words[words.index("radeon") :]  # "Ryzen 5 5600 with Radeon ..." is no RX 5600
    elif {"hd", "firepro", "r5", "r7", "r9", "geforce"} & set(words):
        return ()  # older series reuse the numbers: Radeon HD 6800
    found: dict[tuple[str, ...], set[str]] = {}
    for target in all_targets():
        for known in target.products:
            key = tuple(word for word in _words(known) if word not in _FILLER)
            if "ryzen" in words and "ryzen" not in key:
                continue
            if key and _holds(words, key):
                found.setdefault(key, set()).add(target.name)
    if not found:
        return ()
    longest = max(len(key) for key in found)
    return tuple(sorted({name for key, names in found.items() if len(key) == longest for name in names}))


_FILLER = frozenset({"amd", "radeon", "instinct", "pro", "ai", "rx", "tm", "r", "graphics", "series"})


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+", text.lower().replace("(tm)", " ").replace("(r)", " ")))


def _holds(words: tuple[str, ...], key: tuple[str, ...]) -> bool:
    return f" {' '.join(key)} " in f" {' '.join(words)} "


def early_name_of(name: str) -> str:
    """The released target that early silicon called `name` became (gfx941 -> gfx942); empty for any other name."""
    return _early().get(canonical(name), "")


@functools.cache
def default_targets() -> tuple[str, ...]:
    """What a ported build compiles for unless the user says otherwise."""
    return tuple(_choices()["build"])


@functools.cache
def compiled_targets() -> tuple[str, ...]:
    """What generated code is compiled for in tests and benchmarks: one target of every family with matrix units."""
    return tuple(_choices()["compiled"])


def wave_target(width: int) -> GfxTarget:
    """The target that stands for a wavefront width, 32 or 64 lanes. Raises KeyError for another width."""
    return load_target(_choices()["wavefront"][str(width)])


def one_of_each_width() -> tuple[str, ...]:
    """The targets that stand for wavefronts of 64 and of 32 lanes: what a port is compiled for to verify it."""
    return tuple(wave_target(width).name for width in (64, 32))


def target_of_elf(machine: int) -> str:
    """The target, generic ones included, of a code object's EF_AMDGPU_MACH; empty when it is not known."""
    return _elf_machines().get(machine, "")


def running(name: str) -> GfxTarget | None:
    """The target of that name, or the first that runs a generic one's code (`gfx11-generic`); None: not known."""
    key = canonical(name)
    return next((one for one in all_targets() if key and key in (one.name, one.llvm_generic)), None)


def is_older_than_rocm(name: str) -> bool:
    """True for the GCN 1 to 4 targets that current ROCm carries no code for."""
    return re.fullmatch(_choices()["unsupported"]["old"], canonical(name)) is not None


def forks() -> str:
    """Targets of other vendors, in words."""
    return "; ".join(f"{vendor}: {', '.join(names)}" for vendor, names in _choices()["unsupported"]["forks"].items())


def listed(holds: Callable[[GfxTarget], bool]) -> str:
    """The released targets something holds for, in words: `gfx942 and gfx950`."""
    return _words_of([target.name for target in all_targets() if target.released and holds(target)])


def families(holds: Callable[[GfxTarget], bool]) -> str:
    """The families of the released targets something holds for, in words: `CDNA1, CDNA2 and CDNA3`."""
    found = (target.family.split(" ")[0] for target in all_targets() if target.released and holds(target))
    return _words_of(sorted(dict.fromkeys(found)))


def wave64(target: GfxTarget) -> bool:
    """Whether HIP compiles for 64 lanes a wavefront."""
    return target.wavefront == 64


def fnuz(target: GfxTarget) -> bool:
    """Whether its matrix instructions take fnuz fp8 values."""
    return target.fp8 == "fnuz"


def ocp(target: GfxTarget) -> bool:
    """Whether its matrix instructions take OCP fp8 values."""
    return target.fp8 == "ocp"


def capabilities() -> str:
    """What two targets answer when asked for their compute capability: `gfx942: 9.4, gfx1100: 11.0`."""
    return ", ".join(
        f"{target.name}: {target.capability[0]}.{target.capability[1]}" for target in map(wave_target, (64, 32))
    )


def _words_of(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


@functools.cache
def _choices() -> dict[str, Any]:
    return read_toml(_FOLDER / "choices.toml")


@functools.cache
def _elf_machines() -> dict[int, str]:
    known = {number: name for name, number in _choices()["elf_machine"].items()}
    return known | {target.elf_machine: target.name for target in all_targets() if target.elf_machine is not None}


@functools.cache
def _early() -> dict[str, str]:
    return {early: target.name for target in all_targets() for early in target.early_names}


@functools.cache
def _chips() -> dict[int, tuple[str, ...]]:
    chips: dict[int, tuple[str, ...]] = {}
    for target in all_targets():
        for chip in target.chip_ids:
            chips[chip] = (*chips.get(chip, ()), target.name)
    return chips


@functools.cache
def _load(name: str) -> GfxTarget:
    data: dict[str, Any] = read_toml(_FOLDER / f"{name}.toml")
    rocm = data["rocm"]
    sources = tuple(Source(tuple(s["facts"]), s["url"], s["versions"], s["sure"]) for s in data["source"])
    return GfxTarget(
        name=data["name"],
        family=data["family"],
        wavefront=data["wavefront"],
        wavefronts=tuple(data["wavefronts"]),
        lds_bytes=data["lds_bytes"],
        matrix=data["matrix"],
        fp8=data["fp8"],
        bf16_matrix=data["bf16_matrix"],
        kind=data["kind"],
        product_class=data["class"],
        textures=data.get("textures"),
        products=tuple(data["products"]),
        source=sources[0].url,
        codename=data.get("codename", ""),
        released=data["released"],
        matrix_detail=data["matrix_detail"],
        xnack=data["xnack"],
        sramecc=data.get("sramecc"),
        llvm_generic=data.get("llvm_generic", ""),
        chip_ids=tuple(data.get("chip_ids", ())),
        apu_chip_ids=tuple(data.get("apu_chip_ids", ())),
        apu_products=tuple(data.get("apu_products", ())),
        early_names=tuple(data.get("early_names", ())),
        lds_hardware_bytes=data.get("lds_hardware_bytes"),
        elf_machine=data.get("elf_machine"),
        isa_table=data.get("isa_table", ""),
        isa_operations=tuple((int(code, 0), name) for code, name in data.get("isa_operations", {}).items()),
        mirage_profile=data.get("mirage_profile", ""),
        linux_since=data.get("linux", {}).get("since", ""),
        linux_recommended=data.get("linux", {}).get("recommended", ""),
        switches=tuple(Switch(**switch) for switch in data.get("switch", ())),
        note=data.get("note", ""),
        official=OfficialSupport(
            products=rocm["official"],
            release=rocm["release"],
            since=rocm["since"],
            until=rocm["until"],
            source=rocm["source"],
            sure=rocm["sure"],
            note=rocm.get("note", ""),
        ),
        support=tuple(
            Support(
                library=s["library"],
                state=s["state"],
                versions=s["versions"],
                source=s["source"],
                sure=s["sure"],
                since=s.get("since", ""),
                until=s.get("until", ""),
                builds=tuple(s.get("builds", ())),
                note=s.get("note", ""),
            )
            for s in data.get("support", ())
        ),
        sources=sources,
    )
