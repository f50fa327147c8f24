"""Package lines of any tool: pip list, pip freeze, uv, conda, and the [pip3] lines of collect_env."""

from __future__ import annotations

import re

from rocport.doctor.machine import Evidence, Facts, Package, VersionFact
from rocport.doctor.text import Line

_PIN = re.compile(r"^(?:\[(?:pip3|conda)\]\s*)?([A-Za-z][\w.-]*?)(?:==|\s*@\s*\S+/|\s{2,})(\d[\w.+!-]*)(?:\s|$)")
_WATCHED = re.compile(
    r"^(torch|torchvision|torchaudio|triton|triton-rocm|pytorch-triton|pytorch-triton-rocm|bitsandbytes|flash-attn|"
    r"amdsmi|amd-smi|aiter|amd-aiter|vllm|xformers|jax|rocm|rocm-.+|nvidia-.+|amd-torch-.+|amd-torchvision-.+|"
    r"onnxruntime-.+|deepspeed|transformers|unsloth|numpy|cupy.*|ray)$"
)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def parse(lines: list[Line], where: str) -> Facts:
    """Packages that a check asks for; versions of triton and bitsandbytes among them."""
    packages: list[Package] = []
    for line in lines:
        match = _PIN.match(line.stripped)
        if match is None:
            continue
        name = normal(match.group(1))
        if _WATCHED.match(name):
            evidence = Evidence("pip", f"{where}:{line.number}", line.stripped[:200])
            packages.append(Package(name, match.group(2), evidence))
    return Facts(
        probed=frozenset({"packages"}) if packages else frozenset(),
        packages=tuple(packages),
        versions=versions_of(packages),
    )


def versions_of(packages: list[Package]) -> tuple[VersionFact, ...]:
    """The version facts that packages give: torch, triton (under any of its names) and bitsandbytes."""
    found = []
    for package in packages:
        name = "triton" if package.name in ("triton", "triton-rocm", "pytorch-triton-rocm") else package.name
        if name in ("torch", "triton", "bitsandbytes"):
            found.append(VersionFact(name, package.version, package.evidence))
    return tuple(found)
