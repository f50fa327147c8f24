"""Requirements that only CUDA can meet, and indexes that replace a ROCm torch.
`nvidia-*`, `cupy-cuda12x`, TensorRT and their like have no AMD build; `flash-attn` and others are built or come from
another index there; `whl/cu121` and `+cu121` install CUDA's torch over ROCm's. Right when a file or an extra for ROCm
stands beside it, or the line carries a marker that leaves ROCm out. What serves each package on ROCm is read from the
package facts; pure Python packages are left alone.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from rocport.facts.packages import find_package, normalize
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource, Line
from rocport.rules.build.common import WHEEL_TAG, found
from rocport.syntax.amd import is_amd_path, names_amd

RULE = Rule(
    name="cuda-requirement",
    summary="requirement or index only CUDA can meet",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"requirements", "toml", "yaml", "docker", "shell", "make"}),
    phase=0,
    holds="packages as they were in November 2026 (facts/packages)",
    examples=(
        Example("flash-attn>=2.5\n", path="requirements.txt"),
        Example("cupy-cuda12x\n", path="requirements.txt"),
        Example("--extra-index-url https://download.pytorch.org/whl/cu121\n", path="requirements.txt"),
        Example("x:\n\tgit clone https://github.com/Dao-AILab/flash-attention.git\n", path="Makefile"),
        Example("RUN pip install nvidia-cudnn-cu12\n", path="Dockerfile"),
        Example("channels: [nvidia]\ndependencies:\n  - pytorch=2.1.0=py3.10_cuda11.8_0\n", path="conda.yml"),
        Example("conda install 'pytorch=2.4=*cuda*' numpy\n", path="run.sh"),
        Example('[tool.poetry.dependencies]\ncupy-cuda12x = {version = "^13"}\n', path="pyproject.toml"),
        Example("[options]\ninstall_requires =\n  torch\n  cupy-cuda12x>=12\n", path="setup.cfg"),
        Example('dependencies = ["torch==2.4.0+cu121", "tensorrt", "cupy-cuda12x"]\n', path="pyproject.toml"),
    ),
    clean=(
        Example("numpy\ntransformers>=4.40\n", path="requirements.txt"),
        Example("flash-attn\n", path="requirements-rocm.txt"),
        Example("# cupy-cuda12x\n", path="requirements.txt"),
        Example("channels: [pytorch]\ndependencies:\n  - pytorch=2.1.0=py3.10_cpu_0\n", path="conda.yml"),
        Example("BACKEND=a=cuda conda install numpy\n", path="run.sh"),
        Example('[project]\nkeywords = [\n  "nvidia-smi",\n]\n', path="pyproject.toml"),
        Example("[isort]\nknown_third_party = cupy\n[mypy-cupy.*]\nignore = 1\n", path="setup.cfg"),
        Example("onnxruntime>=1.14\nnvidia-sphinx-theme\n", path="requirements.txt"),
        Example(
            '[tool.uv]\nconflicts = [[\n  { package = "x" },\n  { extra = "mamba-ssm" },\n]]\n', path="pyproject.toml"
        ),
    ),
    sources=("facts/packages",),
)

_REQUIREMENT = re.compile(r"^\s*[-\"'\[ ]*([A-Za-z][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:[=<>~!@;,\"'\]\s]|$)")
_ALONE = re.compile(r"^([A-Za-z][\w.-]*)(?:\[[\w,-]*\])?\s*(?:(?:[=<>~!]=?|@)\s*\S.*)?$")
_INSTALL = re.compile(r"\b(?:pip3?|uv pip|conda|mamba|micromamba|uv)\s+(?:install|add)\b([^&;|]*)")
_BUILD = re.compile(r"[A-Za-z][\w.-]*==?[\w.*]+=[\w.*]*?cuda[\w.*]*")
_CLONE = re.compile(r"\bgit clone\b.*/([\w.-]+?)(?:\.git)?(?:\s|$)")
_CUDA_IMAGE = re.compile(r"(?i)^\s*FROM\s.*(?:nvidia/cuda|nvcr\.io)")
_QUOTED = re.compile(r"[\"']([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*(?:[=<>~!@][^\"']*)?[\"']")
_FOR_CUDA = re.compile(r"-cu(?:da)?1[1-9]x?$")
_OF_TORCH = frozenset({"cudatoolkit", "pytorch-cuda"})
"""What tells conda which of CUDA's builds of torch is meant."""
_KEY = re.compile(r"\s*([A-Za-z][\w-]*)\s*=")
_SECTION = re.compile(r"\s*\[+([^\[\]]+)\]+\s*$")
_TABLE = re.compile(r"(?:^|[.-])(?:dependencies|packages)$")
"""Tables of Poetry, pixi and Pipenv whose keys are packages."""
_ASKING = frozenset({"install_requires", "setup_requires", "tests_require", "requires", "deps"})
"""Keys of setup.cfg and tox.ini that ask for packages."""
_WORDS = frozenset({"keywords", "classifiers", "description", "authors", "name", "title"})
"""Keys of pyproject.toml whose values are words."""
_ASKS_AMD_OUT = ("cuda-only", "separate", "build", "fork")
_EXTRA = re.compile(
    r"\bjax\[cuda|\bcupy-cuda|\bcuda-python\b|\bcudatoolkit\b|\bpytorch-cuda\b|\bnvidia-\w+|-cu1[123]\b"
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if is_amd_path(source.path) or (
        source.language == "yaml" and not any(word in source.data for word in (b"pip", b"conda", b"channels:"))
    ):
        return
    if source.language == "docker" and any(_CUDA_IMAGE.search(line.text) for line in source.lines):
        return  # nvidia-container speaks for the whole file
    for line, names in _asked(source):
        if line.gated or names_amd(line.text):
            continue
        troubled = {name: said for name in names if (said := trouble(name)) and not ships(context, name)}
        rest = line.text
        for name in troubled:
            rest = rest.replace(name, "")
        tag = WHEEL_TAG.search(rest)
        if tag:
            item = found(RULE, source, line, f"{tag[0].strip()}: CUDA's wheels", fix=_TAG_FIX)
            yield replace(item, cause=package_cause())
        for build in _builds(source.language, line.text):
            item = found(RULE, source, line, f"{build}: CUDA's build", fix=_BUILD_FIX)
            yield replace(item, cause=package_cause())
        # What serves one package is asked apart from what serves another.
        for cause in dict.fromkeys(map(package_cause, troubled)):
            texts = dict.fromkeys(text for name, text in troubled.items() if package_cause(name) == cause)
            item = found(RULE, source, line, "; ".join(texts), fix=_NAME_FIX, confidence=Confidence.MEDIUM)
            yield replace(item, cause=cause)


def _asked(source: BuildSource) -> Iterator[tuple[Line, list[str]]]:
    """The lines and the packages each asks for; not those of a TOML file whose key has words for its value."""
    section = key = ""
    ini = source.path.endswith((".cfg", ".ini"))
    for line in source.lines:
        if source.language == "toml":
            opened = _SECTION.match(line.text)
            section, key = (opened[1], "") if opened else (section, key)
            begun = None if ini and line.text[:1].isspace() else _KEY.match(line.text)
            key = begun[1] if begun else key
            if key in _WORDS:
                continue
            if ini and (key in _ASKING or section == "options.extras_require"):
                match = _REQUIREMENT.match(line.text[begun.end() :] if begun else line.text)
                yield line, [match[1]] if match else []
                continue
            if begun and _TABLE.search(section):
                yield line, [key]
                continue
        yield line, _names(source.language, line.text)


def package_cause(*names: str) -> str:
    """What one decision settles wherever the packages are asked for or imported."""
    found = {name: find_package(name) for name in names}
    known = {
        record.name if record else normalize(name)
        for name, record in found.items()
        if record or not (_FOR_CUDA.search(normalize(name)) or normalize(name) in _OF_TORCH)
    }
    return "package " + (" ".join(sorted(known)) or "for CUDA's wheels")


def ships(context: Context, name: str) -> bool:
    """True for a package that a project in the tree builds: its folder stands beside a setup.py or pyproject.toml."""
    package = find_package(name)
    module = package.imported if package is not None else name.replace("-", "_")
    files, found = context.project.files, context.project.by_basename.get("__init__.py", ())
    roots = {path[: -len(own)] for path in found if f"/{path}".endswith(f"/{(own := f'{module}/__init__.py')}")}
    return any(f"{root}{build}" in files for root in roots for build in ("setup.py", "pyproject.toml"))


_BUILD_FIX = "pip's wheels for ROCm in the environment: rocport compat --script conda writes such a file"
_TAG_FIX = "a requirements file for ROCm with --index-url of the rocm wheels, not --extra-index-url"
_NAME_FIX = "move it to a requirements file or extra for CUDA; rocport compat says what serves it on ROCm"


def _names(language: str, text: str) -> list[str]:
    """Packages a line asks for."""
    if language == "requirements":
        match = _REQUIREMENT.match(text)
        return [match[1]] if match and not text.lstrip().startswith("-") else []
    if language == "toml":
        if re.match(r"\s*\{\s*(?:extra|package|group)\s*=", text):  # which extras uv is not to install together
            return []
        return [match[1] for match in _QUOTED.finditer(text)]
    cloned = _CLONE.search(text)
    if cloned:
        return [cloned[1]]
    installed = [word for part in _INSTALL.findall(text) for word in part.split()]
    if installed:
        words = (re.split(r"[=<>~!\[@]", word.strip("\"'"))[0] for word in installed)
        return [word for word in words if word and not word.startswith("-")]
    if language == "yaml":
        match = _REQUIREMENT.match(text) if re.match(r"^\s*- [\w.-]+(?:\[.*\])?\s*(?:[=<>~].*)?$", text) else None
        return [match[1]] if match else []
    return []


def _builds(language: str, text: str) -> list[str]:
    """The requirements of a line of conda's that ask for a build with CUDA: `pytorch=2.1.0=py3.10_cuda11.8_0`."""
    asked = [text.strip().removeprefix("- ")] if language == "yaml" else []
    asked += [word for part in _INSTALL.findall(text) for word in part.split()]
    return [word for word in (each.strip("\"'") for each in asked) if _BUILD.fullmatch(word)]


def requirement_name(text: str) -> str:
    """The package a requirement in quotes asks for; empty when the text is none."""
    match = _ALONE.match(text.strip())
    return match[1] if match else ""


@cache
def trouble(name: str) -> str:
    """What is wrong with asking for a package on ROCm; empty when nothing is."""
    package = find_package(name)
    if package is not None and any(fnmatch.fnmatchcase(normalize(name), pattern) for pattern in package.elsewhere):
        return ""
    if package is None or package.state not in _ASKS_AMD_OUT:
        return f"{name}: for CUDA only" if _EXTRA.search(name) else ""
    return f"{name}: {SAYS[package.state]}" + (f"; instead: {package.replacement}" if package.replacement else "")


SAYS = {
    "cuda-only": "no AMD build",
    "separate": "AMD's wheels are elsewhere; the default index serves CUDA's",
    "build": "has to be built from source on ROCm",
    "fork": "a fork serves ROCm",
}
