"""An index of ROCm wheels that no longer gets torch, or that pip may pass over.
Each `whl/rocmX.Y` serves the torch releases of its time and stops: a pinned old one installs an old torch, or none.
With `--extra-index-url` pip also looks at the default index and takes the newest version of both, so CUDA's torch comes
in over ROCm's as soon as it is newer. Right: `--index-url` with the channel of the torch that is wanted, and the other
packages in a second step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rocport.facts.rocm import channels_of, torch_releases
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import found

_INDEX = re.compile(r"\bwhl/(nightly/)?rocm(\d+(?:\.\d+)*)")
_EXTRA = re.compile(r"extra[-_]index[-_]url")
_BEFORE = 24  # characters before an address in which its option stands

RULE = Rule(
    name="rocm-wheel-index",
    summary="index of ROCm wheels: old, or an extra one",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=frozenset({"requirements", "toml", "yaml", "docker", "shell", "make"}),
    triggers=frozenset({b"whl/"}),
    phase=0,
    holds="channels of torch 2.0 to 2.14 on pytorch.org",
    examples=(
        Example("--extra-index-url https://download.pytorch.org/whl/rocm7.2\ntorch\n", path="requirements-rocm.txt"),
        Example("RUN pip install torch --index-url https://download.pytorch.org/whl/rocm5.4.2\n", path="Dockerfile"),
    ),
    clean=(
        Example("--index-url https://download.pytorch.org/whl/rocm7.14\ntorch\n", path="requirements-rocm.txt"),
        Example("--extra-index-url https://download.pytorch.org/whl/cpu\ntorch\n", path="requirements.txt"),
    ),
    sources=("facts/torch_rocm.toml", "https://pip.pypa.io/en/stable/cli/pip_install/#finding-packages"),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    for line in source.lines:
        match = _INDEX.search(line.text)
        if match is None:
            continue
        last = _last_torch(match[2])
        wanted = context.options.torch
        said = []
        head = line.text[: match.start()]
        address = max(head.rfind(" "), head.rfind("\t")) + 1
        if _EXTRA.search(head, max(0, address - _BEFORE)):
            said.append("pip takes CUDA's torch from the default index when that is newer")
        if not match[1] and wanted is None and last != _newest():
            oldest = _channels()[-1][0]
            said.append(f"its newest torch is {last}" if last else f"it is older than torch {oldest}")
        elif not match[1] and wanted is not None and not _serves(wanted, match[2]):
            said.append(f"torch {wanted} is not in this channel")
        if said:
            yield found(
                RULE,
                source,
                line,
                f"rocm{match[2]}: " + "; ".join(said),
                fix="--index-url with the channel of the torch you want (rocport compat names it)",
                confidence=Confidence.MEDIUM if match[1] or wanted else Confidence.LOW,
            )


@cache
def _channels() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(torch, its ROCm channels on pytorch.org), newest first."""
    return tuple((item.version, channels_of(item)) for item in torch_releases() if item.rocm)


def _newest() -> str:
    return _channels()[0][0]


def _last_torch(rocm: str) -> str:
    return next((torch for torch, channels in _channels() if rocm in channels), "")


def _serves(torch: str, rocm: str) -> bool:
    """True where the facts do not know the torch release either. Channels are compared whole: 6.2.4 is not 6.2."""
    known = [channels for release, channels in _channels() if torch == release or torch.startswith(release + ".")]
    return not known or any(rocm in channels for channels in known)
