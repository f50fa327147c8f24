"""A gfx target: what a program may ask of it instead of looking at its name."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.specifiers import SpecifierSet


@dataclass(frozen=True)
class Source:
    """Where some facts were read: the facts' field names, an address or a description, the versions they were read
    for, and how sure we are (`measured`, `documented`, `reported` or `unverified`)."""

    facts: tuple[str, ...]
    url: str
    versions: str
    sure: str


@dataclass(frozen=True)
class Support:
    """What one library does on one target, for a range of the library's versions.

    `state` is `yes`, `no`, `partial`, `experimental` or `aborts`. `since` is inclusive, `until` exclusive, both in the
    library's own versions; empty: `versions` says in words what was looked at.
    """

    library: str
    state: str
    versions: str
    source: str
    sure: str
    since: str = ""
    until: str = ""
    builds: tuple[str, ...] = ()
    """Which builds of the library carry the target, such as `rocm72` of bitsandbytes; empty: not split by build."""
    note: str = ""


@dataclass(frozen=True)
class Switch:
    """An environment variable without which a library leaves its kernels for the target unused.

    `torch` is the range of torch releases that ask for it, as a version specifier (`<2.11`); empty: every one.
    """

    library: str
    variable: str
    value: str
    torch: str
    source: str
    sure: str


@dataclass(frozen=True)
class OfficialSupport:
    """AMD's own support statement.

    `products` as of `release`, empty: none; `since` first ROCm release (inclusive), `until` exclusive, both empty when
    they were not found in a document (`note` says what was).
    """

    products: str
    release: str
    since: str
    until: str
    source: str
    sure: str
    note: str = ""


@dataclass(frozen=True)
class GfxTarget:
    """One AMD GPU architecture. Sizes in bytes, widths in lanes."""

    name: str
    family: str
    wavefront: int
    """Default wavefront width HIP compiles for."""
    wavefronts: tuple[int, ...]
    lds_bytes: int
    """LDS one workgroup may allocate."""
    matrix: str
    """`mfma`, `wmma` or `none`."""
    fp8: str
    """`fnuz`, `ocp` or `none`: the flavour the matrix instructions take; `unknown` for one unreleased target."""
    bf16_matrix: bool
    kind: str
    """`dgpu` or `apu`. gfx942 is both: see `apu_chip_ids`."""
    product_class: str = "radeon"
    """`instinct` (CDNA) or `radeon`; whether it is an APU is `kind`'s to say."""
    textures: bool | None = None
    """Whether its compute units have texture units; None: not looked up."""
    products: tuple[str, ...] = ()
    max_workgroup: int = 1024
    source: str = ""
    codename: str = ""
    released: bool = True
    matrix_detail: str = ""
    xnack: str = "unknown"
    """`unsupported`, `off` or `on` (the default), or `unknown`."""
    sramecc: bool | None = None
    llvm_generic: str = ""
    """LLVM's generic target whose code objects this target also runs, such as `gfx11-generic`; empty: none."""
    chip_ids: tuple[int, ...] = ()
    """PCI device ids (vendor 0x1002) known to be this target; not complete."""
    apu_chip_ids: tuple[int, ...] = ()
    """Those of `chip_ids` that share memory with the CPU although `kind` is `dgpu` (MI300A)."""
    apu_products: tuple[str, ...] = ()
    """Product names of those, as they stand inside what tools print."""
    early_names: tuple[str, ...] = ()
    """What early silicon or early drivers of the same product called themselves: gfx940 and gfx941 for gfx942."""
    lds_hardware_bytes: int | None = None
    """LDS of one CU (of one WGP on RDNA); None: not documented."""
    elf_machine: int | None = None
    """EF_AMDGPU_MACH of its code objects; None: not looked up."""
    isa_table: str = ""
    """The instruction table that decodes its code: `cdna`, `rdna3` or `rdna4`; empty: none does."""
    isa_operations: tuple[tuple[int, str], ...] = ()
    """Operations of its VOP3P encoding (bits 22:16) that `isa_table` gives another name, or none."""
    mirage_profile: str = ""
    """What AMD's emulator calls a machine with it; empty: it has none."""
    linux_since: str = ""
    """The first kernel its driver needs where a document names one for this target; `linux_recommended` likewise."""
    linux_recommended: str = ""
    switches: tuple[Switch, ...] = ()
    note: str = ""
    official: OfficialSupport | None = None
    support: tuple[Support, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def gfx_target_version(self) -> int:
        """The number KFD prints: major * 10000 + minor * 100 + stepping, stepping and minor being hex digits."""
        digits = self.name.removeprefix("gfx").split("-")[0]
        return int(digits[:-2]) * 10000 + int(digits[-2], 16) * 100 + int(digits[-1], 16)

    @property
    def capability(self) -> tuple[int, int]:
        """What torch and HIP answer when asked for the compute capability: (9, 4) for gfx942."""
        return self.gfx_target_version // 10000, self.gfx_target_version // 100 % 100

    def library(self, name: str) -> tuple[Support, ...]:
        """Every record for a library (its name in any case), by version; empty: nothing is known."""
        return tuple(s for s in self.support if s.library.lower() == name.lower())

    def switches_of(self, library: str, torch: str | None = None) -> tuple[Switch, ...]:
        """What has to be set for a library's kernels; with `torch`, a version, only what that release asks for."""
        return tuple(
            switch
            for switch in self.switches
            if switch.library.lower() == library.lower()
            and (torch is None or SpecifierSet(switch.torch).contains(torch, prereleases=True))
        )

    @property
    def radeon(self) -> bool:
        """True for the RDNA families; GCN and Instinct are none."""
        return self.family.startswith("RDNA")

    def is_apu(self, chip_id: int | None = None, product: str = "") -> bool:
        """True when the GPU shares its memory with the CPU; gfx942 tells by PCI id or product name."""
        if chip_id is not None and chip_id in self.chip_ids:
            return self.kind == "apu" or chip_id in self.apu_chip_ids
        return self.kind == "apu" or any(name in product for name in self.apu_products)
