"""Does a port keep every declaration that the CUDA build of a unit has?

    python benchmarks/declarations.py --work DIR [--mirror DIR] [--only NAME ...] [--half tuned|aside] [--listed 1|2|3]
        [--sample N] [--units N]

The repositories are those of real.toml; a port that lies in DIR/port is taken. Each unit is preprocessed as nvcc's
passes see the original and as HIP's passes see the port, with empty files in the place of every header that is not the
tree's. What the project declares outside function bodies (functions, classes, aliases) in the original and not in the
port, after the names of CUDA's have become HIP's, is lost. What a rule leaves out because HIP has it stands in the port
in a branch for CUDA alone (`!ROCPORT_HIP`): it is counted apart.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import real

from rocport.facts.lookup import counterpart
from rocport.model.manifest import NAME, Manifest
from rocport.project.tree import Project, read_project
from rocport.project.unit import Unit
from rocport.syntax.includes import include_names
from rocport.toolchain import Toolchain, find
from rocport.verify import build

_NVCC = ("__CUDACC__", "__NVCC__", "__CUDACC_VER_MAJOR__=12", "__CUDACC_VER_MINOR__=4", "CUDA_VERSION=12040",
         "CUDART_VERSION=12040", "CUB_VERSION=200301", "THRUST_VERSION=200301")  # fmt: skip
_HIP = ("__HIPCC__", "__HIP__", "__HIP_PLATFORM_AMD__", "HIP_VERSION=60400000", "HIP_VERSION_MAJOR=6")
_PASSES = {"device": (("__CUDA_ARCH__=800",), ("__HIP_DEVICE_COMPILE__=1", "__AMDGCN__=1")), "host": ((), ())}
_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'')
_DECLARED = re.compile(
    r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(?:\w+\([^()]*\)\s*)*(?P<type>[A-Za-z_]\w*)\s*(?=[:{;])"
    r"|\busing\s+(?P<alias>[A-Za-z_]\w*)\s*="
    r"|(?P<function>[A-Za-z_]\w*)\s*\((?=[^;{}]*\)[^;{}()]*[;{:])"
)
_OUR_HEADER = re.compile(r"(?:^|/)rocport_\w+\.(?:h|hpp)$")
_NO_NAME = re.compile(
    r"(?:if|for|while|switch|return|sizeof|alignof|decltype|static_assert|__attribute__|__launch_bounds__|__align__"
    r"|alignas|catch|noexcept|defined|operator|throw|explicit|asm|__asm__|new|delete)\Z"
)


def preprocessed(tree: Path, unit: Unit, stubs: Path, defines: tuple[str, ...], toolchain: Toolchain) -> str:
    """The tree's own text of a unit after the preprocessor, without bodies and literals; empty where it stops."""
    command = [
        str(toolchain.compiler),
        "-x",
        "c" if unit.language == "c" else "c++",
        "-E",
        "-w",
        "-nostdinc",
        "-nostdinc++",
    ]
    command += [f"-D{define}" for define in (*defines, *unit.defines)]
    command += [word for folder in unit.quote_includes for word in ("-iquote", folder)]
    command += [f"-I{folder}" for folder in unit.includes]
    command += ["-idirafter", str(stubs), unit.path]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, errors="replace", check=False)
    kept: list[str] = []
    ours = True
    for line in done.stdout.splitlines():
        if match := re.match(r'# \d+ "([^"]*)"', line):
            ours = not match[1].startswith(("<", "/")) and _OUR_HEADER.search(match[1]) is None
        elif ours and not line.startswith("#"):
            kept.append(line)
    return _LITERAL.sub('""', "\n".join(kept))


def declared(text: str) -> Iterator[str]:
    """The names declared outside function bodies."""
    for match in _DECLARED.finditer(_without_bodies(text)):
        name = match["type"] or match["alias"] or match["function"]
        if _NO_NAME.match(name) is None:
            yield name


def _without_bodies(text: str) -> str:
    """Text with what stands in the braces of functions left out; those of namespaces, classes and `extern` stay."""
    out: list[str] = []
    depth = 0
    begin = 0
    for at in range(len(text)):
        character = text[at]
        if character == "{":
            if depth:
                depth += 1
            elif not re.search(
                r"(?:\b(?:namespace|class|struct|union|enum|extern)\b[^;{}()]*(?:\([^()]*\)[^;{}()]*)?|=\s*)$",
                text[max(0, at - 400) : at],
            ):
                out.append(text[begin : at + 1])
                depth = 1
        elif character == "}" and depth:
            depth -= 1
            begin = at
    return "".join(out) + (text[begin:] if not depth else "")


def renamed(name: str) -> set[str]:
    """What a name may be in the port."""
    row = counterpart("symbol", name)
    return {name, row.hip if row is not None and row.hip else name, f"project{name[1:]}"}


def lost(
    original: Path, port: Path, path: str, source: str, project: Project, toolchain: Toolchain, stubs: Path
) -> set[str]:
    """The names that a unit's CUDA build declares and its port does not, in either pass."""
    unit = next(item for item in project.units(frozenset()) if item.path == path)
    gone: set[str] = set()
    for nvcc, hip in _PASSES.values():
        before = set(declared(preprocessed(original, replace(unit, path=source), stubs, (*_NVCC, *nvcc), toolchain)))
        after = set(declared(preprocessed(port, unit, stubs, (*_HIP, *hip), toolchain)))
        gone |= {name for name in before if not renamed(name) & after}
    return gone


def replaced(port: Path, name: str) -> bool:
    """True for a name that the port keeps in a branch for CUDA alone, because HIP has it."""
    kept = re.compile(rf"#if !ROCPORT_HIP  // [^\n]*\n(?:(?!#endif)[^\n]*\n)*?[^\n]*\b{re.escape(name)}\b")
    return any(
        kept.search(path.read_text(encoding="utf-8", errors="replace"))
        for path in port.rglob("*")
        if path.suffix in real._SOURCES and path.is_file()
    )


def stubbed(trees: tuple[Path, ...], folder: Path) -> None:
    """Empty files for every header that no file of the trees can be."""
    for tree in trees:
        own = {
            path.name for path in tree.rglob("*") if path.suffix in (".h", ".hpp", ".cuh", ".inl", ".hh", ".cu", ".inc")
        }
        for path in tree.rglob("*"):
            if path.suffix not in real._SOURCES or not path.is_file():
                continue
            for name in include_names(path.read_bytes()):
                if name.rsplit("/", 1)[-1] in own or name.startswith("/") or ".." in name or not name.strip():
                    continue
                place = folder / name
                if not place.exists() and not any(parent.is_file() for parent in place.parents):
                    place.parent.mkdir(parents=True, exist_ok=True)
                    if not place.is_dir():
                        place.touch()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--mirror", type=Path)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--half", choices=("tuned", "aside"))
    parser.add_argument("--listed", type=int, choices=(1, 2, 3))
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--units", type=int, default=0, metavar="N")
    arguments = parser.parse_args()
    toolchain = find()
    total: Counter[str] = Counter()
    chosen = [
        repository
        for repository in real.repositories()
        if (not arguments.only or {repository.name, repository.name.split("/")[1]} & set(arguments.only))
        and (not arguments.half or repository.aside == (arguments.half == "aside"))
        and arguments.listed in (None, repository.listed)
    ]
    for repository in real.drawn(chosen, arguments.sample):
        original = real.obtain(repository, arguments.work, arguments.mirror)
        port = arguments.work / "port" / repository.folder
        if not (port / NAME).is_file():
            command = [sys.executable, "-m", "rocport", "port", str(original), "--out", str(port), "--format", "json"]
            subprocess.run(command, capture_output=True, check=False)
        manifest = Manifest.parse((port / NAME).read_text(encoding="utf-8"))
        project = read_project(port, toolchain.include)
        with tempfile.TemporaryDirectory(prefix="rocport-declared-") as scratch:
            stubbed((original, port), Path(scratch))
            for path in sorted(real.sample(build.unit_paths(port), arguments.units)):
                source = manifest.files[path].source if path in manifest.files else path
                gone = lost(original, port, path, source or path, project, toolchain, Path(scratch))
                by_hip = {name for name in gone if replaced(port, name)}
                gone -= by_hip
                total["units"] += 1
                total["lose"] += bool(gone)
                total["left out for HIP's"] += len(by_hip)
                if gone:
                    shown = "" if repository.aside else ", ".join(sorted(gone)[:8])
                    print(f"{repository.name}: {path}: {len(gone)} {shown}", flush=True)
    apart = total["left out for HIP's"]
    print(f"{total['lose']} of {total['units']} units lose a declaration; {apart} left out because HIP has them")


if __name__ == "__main__":
    main()
