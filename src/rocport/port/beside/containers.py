"""`Dockerfile.rocm` from a Dockerfile with a CUDA image: the same steps on an image with ROCm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.facts.containers import development_image, is_of_cuda, pytorch_image
from rocport.facts.packages import find_package
from rocport.facts.targets import default_targets
from rocport.model import PatchFile
from rocport.port.beside import requirements
from rocport.port.beside.wheels import Wheels, wheels
from rocport.port.generated import PortedTree

TARGETS = ";".join(default_targets())
_FROM = re.compile(r"^(\s*FROM\s+(?:--platform=\S+\s+)?)(\S+)(.*)$", re.IGNORECASE)
_ARG = re.compile(r"^(\s*ARG\s+\w+\s*=\s*[\"']?)([^\s\"']+)([\"']?.*)$", re.IGNORECASE)
_NVIDIA = re.compile(r"^\s*(?:ENV|ARG)\s+(?:NVIDIA_|CUDNN_|NCCL_VERSION)\w*[=\s][^\\]*$", re.IGNORECASE)
_APT = re.compile(
    r"(?<=\s)(?:cuda-[\w.-]+|libcu(?:blas|sparse|solver|dnn|rand|fft)[\w.=*+-]*|libnccl[\w.=*+-]*)(?=\s|$)"
)
_RANGE = r"[=~<>!]=?[\w.+*]+(?:[ \t]*,[ \t]*[=~<>!]=?[\w.+*]+)*"
"""What follows a package's name: every comparator."""
_WHEELS = re.compile(r"(https?://download\.pytorch\.org/whl/)cu\d+")


def generate(tree: PortedTree) -> Iterator[PatchFile]:
    for path in tree.named("Dockerfile"):
        try:
            text = tree.read(path).decode()
        except (OSError, UnicodeDecodeError):
            continue
        if _based_on_cuda(text):
            data = _ported(tree, path, text)
            yield PatchFile(f"{path}.rocm", data.encode(), f"{path} on an image with ROCm")


def _based_on_cuda(text: str) -> bool:
    return any((match := _FROM.match(row) or _ARG.match(row)) and is_of_cuda(match[2]) for row in text.splitlines())


def _ported(tree: PortedTree, path: str, text: str) -> str:
    own = requirements.SOURCE in tree.files and any(
        new.path == requirements.REQUIREMENTS for new in requirements.generate(tree)
    )
    chosen = wheels(tree.options)
    rows = []
    for row in text.replace("\r\n", "\n").split("\n"):
        changed = _row(row, chosen, own)
        if changed is not None:
            rows.append(changed)
    return _head(path) + "\n".join(_checked(_ordered(_closed(rows), chosen, own), chosen))


_PIP = re.compile(r"^\s*RUN\b.*\bpip3?\s+install\b")
_SETS = re.compile(r"^\s*(?:COPY|ADD|ARG|ENV|WORKDIR|SHELL|USER)\b", re.IGNORECASE)
_TORCH_ONLY = re.compile(r"^\s*RUN\s+(?:python3?\s+-m\s+)?pip3?\s+install\s+(\S[^;&|<>$`\\]*)$")
_OF_TORCH = re.compile(
    r"-U|-q|--(?:upgrade|pre|no-cache-dir|force-reinstall|quiet)"
    r"|(?:torch|torchvision|torchaudio|triton)(?![\w.-])(?:\[[\w,]*\])?[\w.+*=~!,-]*"
)


def _ordered(rows: list[str], chosen: Wheels, own: bool) -> list[str]:
    """ROCm's torch before the first other `pip install` of its stage: one that came first would bring CUDA's, or
    build an extension against none. Its row is moved where it needs nothing that stands between; else torch alone is
    installed there, and the row finds it."""
    stages: list[list[str]] = [[]]
    for row in rows:
        if _FROM.match(row):
            stages.append([])
        stages[-1].append(row)
    found: list[str] = []
    for stage in (_without_cudas_torch(stage, chosen) for stage in stages):
        first = next((at for at, row in enumerate(stage) if _PIP.match(row)), None)
        torch = next((at for at, row in enumerate(stage) if _PIP.match(row) and chosen.index in row), None)
        if first is not None and torch is not None and first < torch:
            stage.insert(first, stage.pop(torch) if _moves(stage, first, torch) else f"RUN {chosen.install()}")
        elif first is not None and torch is None and own and any(requirements.REQUIREMENTS in row for row in stage):
            stage.insert(first, f"RUN {chosen.install()}")
        found += stage
    return found


_INSTALL = re.compile(r"^(?:python3?\s+-m\s+)?pip3?\s+install\b")
_OTHER_INDEX = re.compile(r"\s(?:-i|-f|--index-url|--extra-index-url|--find-links)\b")
_SETTING = re.compile(r"\s(?:(?:-c|--constraint|--index-url|--extra-index-url|-i|-f|--find-links)[= ]\s*\S+|-\S+)")
_NAME = re.compile(r"\btorch(?:vision|audio)?\b")
_FAMILY = re.compile(r"[\"']?(?:torch|torchvision|torchaudio|triton|pytorch-triton)(?:\[[\w,]*\])?(?![\w.-])\S*")


def _without_cudas_torch(stage: list[str], chosen: Wheels) -> list[str]:
    """A stage in which no RUN of one line installs torch from the default index, which holds CUDA's build, or installs
    nothing: what goes is named in a comment, and ROCm's torch is installed where the first of it stood."""
    rows: list[str] = []
    at: int | None = None
    family: set[str] = set()
    for row, before in zip(stage, ["", *stage], strict=False):
        match = re.match(r"^(\s*RUN\s+)((?:(?!\s\d?[<>])[^|;$`])*\S)\s*$", row)
        if match is None or row.rstrip().endswith("\\") or before.rstrip().endswith("\\"):
            rows.append(row)
            continue
        commands = re.split(r"\s+&&\s+", match[2])
        gone = [word for command in commands for word in _cudas(command)]
        kept = [command for command in map(_left, commands) if command]
        if gone:
            at = len(rows) if at is None else at
            family.update(_NAME.findall(" ".join(gone)))
            rows.append(f"# {' '.join(gone)} left out: the default index holds CUDA's build")
        if kept:
            rows.append(row if kept == commands else match[1] + " && ".join(kept))
    of_torch = any(pytorch_image().name in row for row in stage if _FROM.match(row))
    if at is not None and not of_torch and not any(chosen.index in row for row in rows):
        audio = " torchaudio" if "torchaudio" in family else ""
        rows.insert(at + 1, f"RUN {chosen.install(('torch', *sorted(family)))}{audio}")
    return rows


def _cudas(command: str) -> list[str]:
    """What a command installs of torch's family from the default index."""
    if not _INSTALL.match(command) or _OTHER_INDEX.search(command):
        return []
    return [word for word in _INSTALL.sub("", command).split() if _FAMILY.fullmatch(word)]


def _left(command: str) -> str:
    """A command without that; empty for a `pip install` that names nothing any more."""
    if not _INSTALL.match(command):
        return command
    gone = _cudas(command)
    kept = " ".join(word for word in command.split(" ") if word not in gone)
    named = _SETTING.sub("", _INSTALL.sub("", kept)).strip() or re.search(r"\s(?:-r|-e|--requirement|--editable)", kept)
    return kept if named else ""


def _moves(stage: list[str], first: int, torch: int) -> bool:
    """True where the row of torch installs torch's packages and nothing else, and no row between sets what it sees."""
    match = _TORCH_ONLY.match(stage[torch])
    if match is None or stage[torch - 1].rstrip().endswith("\\") or any(map(_SETS.match, stage[first:torch])):
        return False
    words = re.sub(r"--(?:extra-)?index-url[= ]\S+", "", match[1]).replace('"', "").replace("'", "").split()
    return all(_OF_TORCH.fullmatch(word) for word in words)


def _checked(rows: list[str], chosen: Wheels) -> list[str]:
    """Without the ENV variables that the checks of `rocport doctor` would have unset, each named in a comment; one that
    a RUN sets is named above it."""
    # Most trees have no such file, and every port would wait for the imports.
    from rocport.doctor.capture import machine_from_text
    from rocport.doctor.diagnosis import diagnose

    named = {name: value for row in rows for name, value in (*_variables(row), *_run_variables(row))}
    if not named:
        return rows
    text = "\n".join((f"PyTorch version: {chosen.torch}.0+rocm{chosen.rocm}", *(f"{k}={v}" for k, v in named.items())))
    wrong = {
        name: result.message
        for result in diagnose(machine_from_text(text, "Dockerfile")).results
        if result.status in ("warn", "fail")
        for name, value in result.env.items()
        if name in named and value != named[name]
    }
    found: list[str] = []
    for row in rows:
        here = [(name, value) for name, value in _variables(row) if name in wrong]
        if not here:
            said = [f"# {name}={value} below: {wrong[name]}" for name, value in _run_variables(row) if name in wrong]
            found += [*said, row]
            continue
        found += [f"# {name}={value} left out: {wrong[name]}" for name, value in here]
        kept = [f'{name}="{value}"' for name, value in _variables(row) if name not in wrong]
        if kept:
            found.append(f"ENV {' '.join(kept)}")
    return found


def _variables(row: str) -> list[tuple[str, str]]:
    """What an ENV of one line sets: `ENV A=1 B="2"`, `ENV A 1`."""
    from rocport.doctor.probes.dockerfile import variables

    match = re.match(r"^\s*ENV\s+(.*[^\s\\])\s*$", row, re.IGNORECASE)
    return variables(match[1]) if match else []


def _run_variables(row: str) -> list[tuple[str, str]]:
    """What a RUN of one line sets for its commands: `RUN export A=1 && ...`, `RUN A=1 pip ...`."""
    match = re.match(r"^\s*RUN\s+(.*)$", row, re.IGNORECASE)
    return re.findall(r"(?:^|&&|;|\bexport)\s*([A-Z][A-Z0-9_]*)=([^\s;&\"']+)", match[1]) if match else []


def _head(path: str) -> str:
    return (
        f"# {path} for AMD GPUs.\n"
        f"#   docker build -f {path}.rocm -t rocm .\n"
        "#   docker run --device=/dev/kfd --device=/dev/dri --group-add video --group-add render rocm\n"
    )


def _row(row: str, chosen: Wheels, own: bool) -> str | None:
    """A line for ROCm; None for a line that goes."""
    if row.lstrip().startswith("#"):
        return row
    image = _FROM.match(row) or _ARG.match(row)
    if image and is_of_cuda(image[2]):
        return f"{image[1]}{_image(image[2], chosen.rocm)}{image[3]}"
    if _NVIDIA.match(row):
        return None
    row = re.sub(
        r"\bTORCH_CUDA_ARCH_LIST([=\s]\s*)(?:\"[^\"]*\"|'[^']*'|[^\s\\]+)", rf'PYTORCH_ROCM_ARCH\1"{TARGETS}"', row
    )
    row = re.sub(r"\bCUDA_HOME([=\s]\s*)/usr/local/cuda[\w.-]*", r"ROCM_PATH\1/opt/rocm", row)
    row = re.sub(r"/usr/local/cuda(?:-[\d.]+)?(?=[/:\s\"']|$)", "/opt/rocm", row)
    row = _WHEELS.sub(rf"\g<1>rocm{chosen.rocm}", row)
    row = re.sub(r"--extra-index-url(?=[= ]https://download\.pytorch\.org/whl/rocm)", "--index-url", row)
    row = re.sub(r"(\btorch(?:vision|audio)?==[\d.]+)\+cu\d+", r"\1", row)
    if chosen.index in row:
        for name, version in chosen.pins:
            row = re.sub(rf"\b{name}{_RANGE}", f"{name}=={version}", row)
        row = re.sub(rf"\b(torchaudio|triton){_RANGE}", r"\1", row)
    if own:
        row = re.sub(
            r"(COPY\s+(?:--\S+\s+)*)requirements\.txt\b",
            rf"\1{requirements.REQUIREMENTS} {requirements.CONSTRAINTS}",
            row,
        )
        row = re.sub(r"(-r\s*)((?:\S*/)?)requirements\.txt\b", rf"\1\2{requirements.REQUIREMENTS}", row)
    without = _APT.sub("", row)
    without = " ".join(_kept(without)) if re.search(r"\bpip3?\s+install\b", without) else without
    if without != row and not without.strip(" \\\t"):
        return None
    return without if without == row else re.sub(r"(?<=\S)[ \t]{2,}", " ", without)


def _kept(row: str) -> Iterator[str]:
    """The words of a line with `pip install` that have a place on ROCm."""
    for word in row.split(" "):
        name = re.split(r"[=<>~!\[;@]", word.strip("\"'"))[0]
        package = find_package(name) if re.fullmatch(r"[A-Za-z][\w.-]+", name) else None
        if package is None or package.state not in ("cuda-only", "torch-index") or name.startswith("torch"):
            yield word


def _image(name: str, rocm: str) -> str:
    if "pytorch" in name:
        return pytorch_image().name
    ubuntu = re.search(r"ubuntu(\d\d\.\d\d)", name)
    return development_image(ubuntu[1] if ubuntu else "", rocm).name


def _closed(rows: list[str]) -> list[str]:
    """A line that ends in `\\` and whose continuation went ends there."""
    closed = []
    for row, after in zip(rows, [*rows[1:], ""], strict=True):
        ends = row.rstrip().endswith("\\") and (not after.strip() or re.match(r"^[A-Z]+\s", after) is not None)
        closed.append(row.rstrip().removesuffix("\\").rstrip() if ends else row)
    return closed
