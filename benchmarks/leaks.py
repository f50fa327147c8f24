"""Does `verify --level nvidia-unchanged` see a leak, an unusual one too, and is it quiet about correct ports?

    python benchmarks/leaks.py [--trees DIR] [--most N] [--misses] [--json FILE]

Every folder below DIR (default: `examples/`) is ported with `--layout both`, and the port is checked as it is: what
the check says of it, other than things to review, is a false alarm. Then leaks are planted one at a time, at most N
a tree, and taken back. A leak is made from a grammar: a kind, a spelling of it, and a place in the tree. Ordinary
ones change a file of the port. Unusual ones need something in the original that few trees have (a build tool that
lists files, a gate that is set somewhere, a predicate that asks the machine): that is put into the original and the
port alike, and the leak into the port only.

Half of the spellings is set aside: those whose sha256("KIND SPELLING") is odd in its last bit. The check is tuned on
the others. `caught` is a difference, `undecided` is named to be looked at, `missed` is called unchanged. The order is
by a hash, so every run with the same trees plants the same leaks.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rocport import api
from rocport.verify import nvidia
from rocport.verify.nvidia import Kind

OUTCOMES = ("caught", "undecided", "missed")
ENDINGS = (".cu", ".cpp", ".cuh", ".h", ".cc", ".py")


@dataclass(frozen=True)
class Leak:
    """`both` is written to the original and the port, `port` to the port only; None: the file is removed there."""

    kind: str
    spelling: str
    unusual: bool
    port: dict[str, bytes | None]
    both: dict[str, bytes] = field(default_factory=dict)
    mode: int = 0

    @property
    def aside(self) -> bool:
        return hashlib.sha256(f"{self.kind} {self.spelling}".encode()).digest()[-1] % 2 == 1


def order(*words: str) -> bytes:
    return hashlib.sha256("\0".join(words).encode()).digest()


# Ordinary: a line of a file that both trees have.

EDITS: dict[str, tuple[tuple[str, str, str], ...]] = {
    ".py": (
        ("constant", "= 1", "= 2"),
        ("constant", "= True", "= False"),
        ("constant", "range(", "range(1 + "),
        ("operator", " + ", " - "),
        ("operator", " == ", " != "),
        ("operator", " < ", " <= "),
        ("name", "self.", "self.rocm_"),
        ("default", "=None", "=0"),
        ("default", "=False", "=True"),
        ("string", "'cuda'", "'hip'"),
        ("string", '"cuda"', '"hip"'),
        ("import", "import torch\n", "import torch\nimport os.path\n"),
        ("statement", "return ", "return not "),
        ("statement", "    return ", "    print()\n    return "),
    ),
    "c": (
        ("type", "sizeof(float)", "sizeof(double)"),
        ("type", "sizeof(int)", "sizeof(long)"),
        ("type", "unsigned int ", "unsigned long "),
        ("type", "int ", "long "),
        ("type", "float ", "double "),
        ("type", "float*", "const float*"),
        ("type", "const ", ""),
        ("constant", " 32", " 64"),
        ("constant", "<<<", "<<< 1 + "),
        ("constant", "[0]", "[1]"),
        ("operator", " < ", " <= "),
        ("operator", " + ", " - "),
        ("operator", "++", "--"),
        ("operator", "!", ""),
        ("statement", "__syncthreads();", ";"),
        ("statement", "return", 'asm volatile(""); return'),
        ("statement", "{\n", "{\n  ;\n"),
        ("include", "#include ", "#include <hip/hip_runtime.h>\n#include "),
        ("macro", "#define ", "#undef X\n#define "),
        ("comment", ";\n", "; // \\\n"),
    ),
    "build": (
        ("flag", "-O3", "-O2"),
        ("flag", "nvcc", "hipcc"),
        ("flag", "CUDA", "HIP"),
        ("command", "project(", "enable_testing()\nproject("),
        ("command", ")\n", " EXTRA)\n"),
        ("command", "\n\t", "\n\t@"),
        ("command", "=", "= -DX "),
    ),
}


def ordinary(original: Path, port: Path) -> Iterator[Leak]:
    for place in sorted(port.rglob("*")):
        path = place.relative_to(port).as_posix()
        before = original / path
        if not place.is_file() or place.is_symlink() or not before.is_file() or place.stat().st_size > 200_000:
            continue
        data = place.read_bytes()
        if place.suffix in (".cu", ".cpp", ".cuh", ".h", ".cc", ".c", ".hpp"):
            rules = EDITS["c"]
        elif place.name in ("CMakeLists.txt", "Makefile"):
            rules = EDITS["build"]
        else:
            rules = EDITS.get(place.suffix, ())
        text = before.read_bytes()
        for kind, old, new in rules:
            # A line that both have, once in each, and that no comment holds: there a change reaches NVIDIA.
            for line in text.splitlines(keepends=True):
                plain = line.strip()
                if plain.startswith((b"#", b"//", b"*", b"/*", b'"')) and not plain.startswith(
                    (b"#include", b"#define")
                ):
                    continue
                if old.encode() in line and data.count(line) == text.count(line) == 1 and b"//" not in line:
                    changed = data.replace(line, line.replace(old.encode(), new.encode(), 1))
                    yield Leak(f"{place.suffix or place.name} {kind}", f"{old!r} -> {new!r}", False, {path: changed})
                    break
        yield Leak("file", f"removed {place.suffix}", False, {path: None})
        yield Leak("file", f"mode {place.suffix}", False, {path: data}, mode=place.stat().st_mode ^ 0o100)


# Unusual.

LISTERS: tuple[tuple[str, str], ...] = (
    ("BUILD", 'cc_library(name = "l", srcs = glob(["{d}/*{e}"]))\n'),
    ("BUILD.bazel", 'filegroup(\n  name = "l",\n  srcs = glob(\n    ["{d}/**/*{e}"],\n  ),\n)\n'),
    ("leak.bzl", 'def s():\n  return native.glob(include = ["{d}/*{e}"])\n'),
    ("BUCK", 'cxx_library(name="l", srcs=glob(["{d}/*{e}"]))\n'),
    ("TARGETS", 'cpp_library(name="l", srcs=subdir_glob([("{d}", "*{e}")]))\n'),
    ("BUILD.gn", 'x = exec_script("ls.py", [ rebase_path("{d}") ], "list lines", [ "{d}" ])\n'),
    ("build.rs", 'fn main() {{ for e in std::fs::read_dir("{d}").unwrap() {{ add(e); }} }}\n'),
    ("build.rs", 'fn main() {{\n  let dir = "{d}";\n  for e in WalkDir::new(dir) {{ add(e); }}\n}}\n'),
    ("build.rs", 'fn main() {{ for e in glob::glob("{d}/*{e}").unwrap() {{ add(e); }} }}\n'),
    ("l.pro", "SOURCES += $$files($$PWD/{d}/*{e})\n"),
    ("l.pri", "HEADERS += $$files({d}/*{e}, true)\n"),
    ("premake5.lua", 'project "l"\n  files {{ "{d}/**{e}" }}\n'),
    ("xmake.lua", 'target("l")\n  add_files("{d}/*{e}")\n'),
    ("package.json", '{{"scripts": {{"build": "nvcc -c {d}/*{e}"}}}}\n'),
    ("binding.gyp", "{{'sources': ['<!@(ls -1 {d}/*{e})']}}\n"),
    ("gulpfile.js", 'const f = fs.readdirSync("{d}").filter(x => x.endsWith("{e}"));\n'),
    ("justfile", "build:\n  nvcc {d}/*{e} -o l\n"),
    ("Taskfile.yml", "tasks:\n  build:\n    cmds:\n      - nvcc {d}/*{e}\n"),
    ("l.sh", "find {d} -name '*{e}' -print0 | xargs -0 nvcc -c\n"),
    ("l.sh", "for f in {d}/*{e}; do\n  nvcc -c $f\ndone\n"),
    ("l.sh", 'SRC="$(find ./{d} -type f)"\nnvcc $SRC\n'),
    ("l.sh", "ls {d}/ | while read f; do nvcc $f; done\n"),
    ("l.sh", "git ls-files '{d}/*{e}' | xargs nvcc\n"),
    ("l.sh", 'cd "$(dirname "$0")"\ncp -r {d}/* build/\n'),
    ("l.ps1", "Get-ChildItem {d}/*{e} | ForEach-Object {{ nvcc $_ }}\n"),
    ("l.bat", "for %%f in ({d}/*{e}) do nvcc %%f\n"),
    ("Jenkinsfile", "node {{ sh 'nvcc {d}/*{e}' }}\n"),
    (".gitlab-ci.yml", "build:\n  script:\n    - nvcc {d}/*{e}\n"),
    (".github/workflows/l.yml", "jobs:\n  b:\n    steps:\n      - run: |\n          nvcc {d}/*{e}\n"),
    ("Dockerfile.l", "FROM x\nRUN nvcc {d}/*{e}\n"),
    ("Dockerfile.l", "FROM x\nCOPY {d}/*{e} /src/\n"),
    ("l.cpp", 'void f() {{ for (auto& e : std::filesystem::directory_iterator("{d}")) g(e); }}\n'),
    ("l.cpp", 'void f() {{ for (auto& e : fs::recursive_directory_iterator(std::string("{d}"))) g(e); }}\n'),
    ("l.cpp", 'void f() {{ DIR* d = opendir("{d}"); while (auto* e = readdir(d)) g(e); }}\n'),
    ("l.cpp", 'void f() {{ glob_t r; glob("{d}/*{e}", 0, 0, &r); }}\n'),
    ("l.cpp", 'bool f() {{ return std::filesystem::exists("{n}"); }}\n'),
    ("l.go", 'func f() {{ filepath.Walk("{d}", visit) }}\n'),
    ("l.go", 'func f() {{ m, _ := filepath.Glob("{d}/*{e}") }}\n'),
    ("Rakefile", 'SRC = Dir.glob("{d}/*{e}")\n'),
    ("l.pl", 'opendir(D, "{d}"); my @f = readdir(D);\n'),
    ("l_gen.py", "import os\nF = [f for f in os.listdir('{d}') if f.endswith('{e}')]\n"),
    ("l_gen.py", "import os\nfor r, d, f in os.walk('{d}'):\n    print(f)\n"),
    ("l_gen.py", "from pathlib import Path\nF = list(Path('{d}').glob('*{e}'))\n"),
    ("l_gen.py", "from pathlib import Path\nF = sorted(Path(__file__).parent.joinpath('{d}').iterdir())\n"),
    ("l_gen.py", "import glob\nF = glob.glob('{d}/*' + '{e}')\n"),
    ("l_gen.py", "import os\nF = [e.name for e in os.scandir('{d}')]\n"),
    ("l_gen.py", "import subprocess\nF = subprocess.check_output(['git', 'ls-files', '{d}'])\n"),
    ("l_gen.py", "import subprocess\nF = subprocess.getoutput('find {d} -type f')\n"),
    ("l_gen.py", "import os\nF = os.path.isfile('{n}')\n"),
    ("l.mk", "SRC := $(wildcard {d}/*{e})\n"),
    ("l.mk", "SRC := $(shell find {d} -name '*{e}')\n"),
    ("l.mk", "SRC := $(shell ls {d}/*{e})\n"),
    ("l.mk", "-include {n}\n"),
    ("l.cmake", "file(GLOB S ${{CMAKE_SOURCE_DIR}}/{d}/*{e})\n"),
    ("l.cmake", "file(GLOB_RECURSE S CONFIGURE_DEPENDS {d}/*{e})\n"),
    ("l.cmake", "if(EXISTS ${{CMAKE_SOURCE_DIR}}/{n})\n  add_definitions(-DN)\nendif()\n"),
    ("l.cmake", "execute_process(COMMAND find {d} -name *{e} OUTPUT_VARIABLE S)\n"),
    ("meson.l", "run_command('sh', '-c', 'ls {d}/*{e}')\n"),
    ("SConstruct", "Program('l', Glob('{d}/*{e}'))\n"),
    ("wscript", "def build(b):\n    b.program(source=b.path.ant_glob('{d}/*{e}'), target='l')\n"),
)
NAMED = (
    *(".envrc", ".npmrc", ".condarc", ".python-version", ".clang-tidy", ".clang-format", ".pre-commit-config.yaml"),
    *("pyvenv.cfg", "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", "tox.ini", ".bazelrc"),
    *("CMakePresets.json", "CMakeUserPresets.json", ".yarnrc", ".dockerignore", ".gitattributes", "Makefile.am"),
    *("GNUmakefile", "x.pth", ".tool-versions", ".nvmrc", "mise.toml", ".flake8", ".pylintrc", ".gdbinit", ".pdbrc"),
    *(
        "Directory.Build.props",
        ".ccache",
        "compile_flags.txt",
        ".clangd",
        ".lfsconfig",
        "uv.toml",
        "Pipfile",
        "pip.conf",
    ),
    *(
        "docker-compose.override.yml",
        "Vagrantfile",
        "noxfile.py",
        "lefthook.yml",
        "ruff.toml",
        "mypy.ini",
        ".isort.cfg",
    ),
    *(
        "rust-toolchain.toml",
        "go.work",
        "pnpm-workspace.yaml",
        "module.modulemap",
        "aclocal.m4",
        "configure",
        "build.zig",
    ),
)
SWITCHES: tuple[tuple[str, str], ...] = (
    ("l_setup.py", "F = ['-D{m}=0']\n"),
    ("l_setup.py", "M = [('{m}', 0)]\n"),
    ("l_setup.py", "import os\nos.environ['{m}'] = '0'\n"),
    ("l_setup.py", "import os\nos.environ.setdefault('{m}', '0')\n"),
    ("l_setup.py", "import os\nos.putenv('{m}', '0')\n"),
    ("l_setup.py", "D = dict({m}=0)\n"),
    ("l_config.h.in", "#cmakedefine01 {m}\n"),
    ("l_config.h.in", "#cmakedefine {m} @{m}@\n"),
    ("l_config.h.in", "#mesondefine {m}\n"),
    ("l_config.h", "#define {m} 0\n"),
    ("l_config.h", "# define {m}\n"),
    ("l_config.h", "#ifndef {m}\n#define {m} 0\n#endif\n"),
    ("l.cmake", "add_definitions(-D{m}=0)\n"),
    ("l.cmake", "add_compile_definitions({m}=0)\n"),
    ("l.cmake", "target_compile_definitions(x PRIVATE {m}=0)\n"),
    ("l.cmake", 'set(CMAKE_CXX_FLAGS "${{CMAKE_CXX_FLAGS}} -D{m}=0")\n'),
    ("l.cmake", "set_property(TARGET x APPEND PROPERTY COMPILE_DEFINITIONS {m}=0)\n"),
    ("l.mk", "CXXFLAGS += -D{m}=0\n"),
    ("l.mk", "CPPFLAGS := -D {m}=0\n"),
    ("l.mk", "DEFS = {m}=0\nCPPFLAGS += $(addprefix -D,$(DEFS))\n"),
    ("CMakePresets.json", '{{"cacheVariables": {{"{m}": {{"type": "BOOL", "value": "OFF"}}}}}}\n'),
    ("Dockerfile.l", "FROM x\nENV {m}=0\n"),
    ("Dockerfile.l", "FROM x\nARG {m}=0\n"),
    ("docker-compose.yml", "services:\n  a:\n    environment:\n      - {m}=0\n"),
    (".github/workflows/l.yml", "env:\n  {m}: 0\n"),
    (".gitlab-ci.yml", 'variables:\n  {m}: "0"\n'),
    ("l.sh", "export {m}=0\n"),
    ("l.sh", "{m}=0 make\n"),
    ("l.sh", "make CXXFLAGS=-D{m}\n"),
    ("l.bat", "set {m}=0\n"),
    ("l.ps1", "$env:{m} = 0\n"),
    (".bazelrc", "build --copt=-D{m}=0\n"),
    ("BUILD", 'cc_library(name = "l", defines = ["{m}=0"])\n'),
    ("BUILD.gn", 'defines = [ "{m}=0" ]\n'),
    ("build.rs", 'fn main() {{ cc::Build::new().define("{m}", "0"); }}\n'),
    ("l.pro", "DEFINES += {m}=0\n"),
    ("premake5.lua", 'defines {{ "{m}=0" }}\n'),
    ("SConstruct", "env.Append(CPPDEFINES=['{m}'])\n"),
    ("pyproject.toml.l", '[tool.l]\nenv = {{ {m} = "0" }}\n'),
    (".env", "{m}=0\n"),
    ("l.vcxproj", "<PreprocessorDefinitions>{m}=0</PreprocessorDefinitions>\n"),
    ("compile_flags.txt", "-D{m}=0\n"),
)
MACROS = ("USE_ROCM", "HIP_VERSION", "__HIP_PLATFORM_AMD__")
PREDICATES = (
    *("hip() or 'L_ROCM' in os.environ", "os.environ.get('L_ROCM') == '1'", "os.getenv('L') is not None"),
    *("platform.system() == 'L'", "platform.node().startswith('l-')", "sys.platform == 'l'", "os.name == 'l'"),
    *("shutil.which('l-hipcc') is not None", "os.path.exists('/dev/l-kfd')", "os.path.isdir('/opt/l-rocm')"),
    *("os.access('/dev/l-kfd', os.R_OK)", "__import__('time').time() > 2e9", "__import__('random').random() > 2"),
    *("__import__('datetime').date.today().year > 2050", "__import__('glob').glob('/l/*') != []"),
    *(
        "len(CALLS) > 9",
        "os.cpu_count() > 9999",
        "'--l' in sys.argv",
        "sys.version_info > (3, 99)",
        "os.getuid() == 99999",
    ),
    *(
        "importlib.util.find_spec('l_amdsmi') is not None",
        "bool(importlib.import_module('torch').cuda.device_count() > 7)",
    ),
    *("'l' in str(pathlib.Path.cwd())", "'l-' in sys.executable", "hip() or bool(os.environ.keys() & {'L'})"),
    *("next(iter(COUNT)) > 9", "sys.modules.get('l_amd') is not None", "'L' in open('/proc/version').read()"),
)
MODULE = """\
import functools
import importlib
import importlib.util
import os
import pathlib
import platform
import shutil
import sys

CALLS = []
COUNT = [1]


def hip():
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(importlib.import_module("torch").version.hip)


def __getattr__(name):
    if name == "IS_ROCM":
        return {}
    raise AttributeError(name)
"""


def unusual(original: Path, port: Path) -> Iterator[Leak]:
    folders = sorted(
        {
            place.parent.relative_to(original).as_posix()
            for place in original.rglob("*")
            if place.suffix in ENDINGS and place.is_file() and place.parent != original
        }
    ) or ["l_src"]
    for carrier, text in LISTERS:
        for folder in folders[:3]:
            for ending in ENDINGS[:5]:
                new = f"{folder}/l_rocm{ending}"
                made = text.format(d=folder, e=ending, n=new).encode()
                spelling = f"{carrier} {text}"
                both = {carrier: made, f"{folder}/l_old{ending}": b"\n"}
                if not (original / carrier).exists():
                    yield Leak(f"listed {carrier}", spelling, True, {new: b"\n"}, both)
    for name in NAMED:
        for folder in ("", f"{folders[0]}/"):
            if not (original / f"{folder}{name}").exists():
                yield Leak("read by its name", name, True, {f"{folder}{name}": b"\n"})
    for carrier, text in SWITCHES:
        for macro in MACROS:
            if (original / carrier).exists():
                continue
            gated = f"#ifdef {macro}\nint l;\n#endif\nint old;\n".encode()
            both = {carrier: text.format(m=macro).encode(), "l_gate.cpp": b"int old;\n"}
            yield Leak(f"gate {carrier}", f"{macro} {text}", True, {"l_gate.cpp": gated}, both)
    for expression in PREDICATES:
        module = {
            "l_pkg/_rocm_compat.py": MODULE.format(expression).encode(),
            "l_pkg/m.py": b"import torch\nfrom . import _rocm_compat\n\nX = 1 if _rocm_compat.IS_ROCM else 2\n",
        }
        both = {"l_pkg/__init__.py": b"", "l_pkg/m.py": b"import torch\n\nX = 2\n"}
        yield Leak("predicate", expression, True, dict(module), both)


def planted(leak: Leak, original: Path, port: Path) -> str:
    """What the check says of one leak; the trees are put back."""
    saved: dict[Path, tuple[bytes, int] | None] = {}

    def write(place: Path, data: bytes | None) -> None:
        if place not in saved:
            saved[place] = (place.read_bytes(), place.stat().st_mode) if place.is_file() else None
        if data is None:
            place.unlink()
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    try:
        for path, content in leak.both.items():
            write(original / path, content)
            write(port / path, content)
        for path, data in leak.port.items():
            write(port / path, data)
            if leak.mode:
                (port / path).chmod(leak.mode)
        proof = nvidia.verify(port, original)
    finally:
        for place, before in saved.items():
            if before is None:
                place.unlink(missing_ok=True)
                while place.parent not in (original, port) and not any(place.parent.iterdir()):
                    place = place.parent
                    place.rmdir()
            else:
                place.write_bytes(before[0])
                place.chmod(before[1])
    return {"unchanged": "missed", "not decided": "undecided"}.get(proof.verdict, "caught")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trees", type=Path, default=Path(__file__).parent.parent / "examples")
    parser.add_argument("--most", type=int, default=40, help="leaks planted in one tree, half of them unusual")
    parser.add_argument("--misses", action="store_true", help="name what was missed in the half that is not set aside")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    counts: dict[tuple[str, str], Counter[str]] = {}
    alarms: Counter[str] = Counter()
    missed: list[str] = []
    trees, started = 0, time.monotonic()
    for tree in sorted(item for item in arguments.trees.iterdir() if item.is_dir()):
        with tempfile.TemporaryDirectory(prefix="rocport-leaks-") as name:
            original, port = Path(name) / "original", Path(name) / "port"
            shutil.copytree(tree, original, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", ".git"))
            api.apply(api.port(original, api.Settings(layout="both"), jobs=1), port)
            (port / "rocport-manifest.json").unlink(missing_ok=True)
            proof = nvidia.verify(port, original)
            trees += 1
            found = [item for item in proof.differences if item.kind is not Kind.REVIEW]
            alarms.update(f"{tree.name} {item.path}: {item.message}" for item in found)
            if found:
                # What is said of the correct port would hide whether a leak is seen.
                continue
            for words, leaks in (("ordinary", ordinary(original, port)), ("unusual", unusual(original, port))):
                chosen = sorted(leaks, key=lambda leak: order(tree.name, leak.kind, leak.spelling, *leak.port))
                for leak in chosen[: arguments.most // 2]:
                    outcome = planted(leak, original, port)
                    half = "set aside" if leak.aside else "tuned on"
                    counts.setdefault((words, half), Counter())[outcome] += 1
                    if outcome == "missed" and not leak.aside:
                        missed.append(f"{tree.name}: {leak.kind}: {leak.spelling!r} in {', '.join(leak.port)}")
        print(f"{tree.name}: {sum(item.total() for item in counts.values())} planted so far", flush=True)
    print(f"{'':26}{'planted':>9}" + "".join(f"{item:>11}" for item in OUTCOMES) + f"{'seen':>8}")
    for (words, half), counter in sorted(counts.items()):
        seen = 1 - counter["missed"] / counter.total()
        row = "".join(f"{counter[item]:11}" for item in OUTCOMES)
        print(f"{words:12}{half:14}{counter.total():9}{row}{seen:8.3f}")
    print(f"{trees} trees, {alarms.total()} false alarms: {alarms.total() / max(trees, 1):.2f} a tree")
    print(f"{time.monotonic() - started:.0f} s")
    for alarm in alarms:
        print(f"  alarm  {alarm}")
    if arguments.misses:
        print("\n".join(f"  missed {item}" for item in missed))
    if arguments.json:
        body = {f"{words}, {half}": dict(counter) for (words, half), counter in counts.items()}
        body |= {"trees": {"all": trees, "false alarms": alarms.total()}}
        arguments.json.write_text(json.dumps(body, indent=1) + "\n")


if __name__ == "__main__":
    main()
