"""How fast `rocport scan` reads a large tree, cold and cached, beside grep, hipify-perl and torch.utils.hipify.

    python benchmarks/scan_speed.py [TREE] [--jobs N] [--sample FILES]

TREE defaults to the torch package of this environment: about 14,000 files, sources and headers full of CUDA. Every tool
runs in a process of its own over the same copy; hipify-perl -examine reads a sample, because it needs seconds a file.
Wall time of the whole process; MB/s are over the bytes of the files a tool is given.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from packages import fetch_hipify_perl

WORDS = r"cuda|CUDA|nvcc|NVIDIA|nvidia|warp|fp8|cublas|cudnn"
CUDA_SUFFIXES = {".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc"}


def timed(command: list[str], **environment: str) -> float:
    """Seconds of wall time. The exit code says what was found, so only a crash is an error."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sample", type=int, default=8, help="files hipify-perl reads")
    arguments = parser.parse_args()
    source = arguments.tree or torch_package()
    with tempfile.TemporaryDirectory(prefix="scan-speed-") as scratch:
        tree = Path(scratch) / "tree"
        shutil.copytree(
            source, tree, symlinks=True, ignore=shutil.ignore_patterns("*.so*", "*.a", "__pycache__", "bin")
        )
        files = [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()]
        total = sum(path.stat().st_size for path in files)
        print(f"{source.name}: {len(files)} files, {total / 1e6:.1f} MB, {arguments.jobs} processes")
        rocport = [sys.executable, "-m", "rocport", "scan", str(tree), "--statistics", "-j", str(arguments.jobs)]
        cache = {"ROCPORT_CACHE": str(Path(scratch) / "cache")}
        rows = [("rocport scan, nothing cached", timed(rocport, **cache), total)]
        rows.append(("rocport scan, again", timed(rocport, **cache), total))
        changed = next(path for path in files if path.suffix == ".py" and b"cuda" in path.read_bytes())
        changed.write_bytes(changed.read_bytes() + b"\n")
        rows.append(("rocport scan, one file changed", timed(rocport, **cache), total))
        rows.append(("grep -rnE", timed(["grep", "-rnE", "-I", WORDS, str(tree)]), total))
        cuda = [path for path in files if path.suffix in CUDA_SUFFIXES and b"cuda" in path.read_bytes().lower()]
        sample = cuda[:: max(1, len(cuda) // arguments.sample)][: arguments.sample]
        size = sum(path.stat().st_size for path in sample)
        perl = [shutil.which("perl") or "perl", str(fetch_hipify_perl()), "-examine", *map(str, sample)]
        rows.append((f"hipify-perl -examine ({len(sample)} files)", timed(perl), size))
        program = "import sys\nfrom torch.utils.hipify.hipify_python import hipify\nhipify(sys.argv[1], sys.argv[2])\n"
        staged = Path(scratch) / "cuda"
        for path in sample:
            (staged / path.relative_to(tree)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, staged / path.relative_to(tree))
        hipify = [sys.executable, "-c", program, str(staged), str(Path(scratch) / "hip")]
        rows.append((f"torch.utils.hipify ({len(sample)} files)", timed(hipify), size))
    print(f"{'':44} {'s':>8} {'MB/s':>8}   a tool's MB/s over rocport's, nothing cached")
    base = rows[0][2] / rows[0][1]
    for name, seconds, read in rows:
        print(f"{name:44} {seconds:8.2f} {read / seconds / 1e6:8.3g}   {read / seconds / base:.3g}")


def torch_package() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("torch is not installed here: name a TREE")
    return Path(spec.submodule_search_locations[0])


if __name__ == "__main__":
    main()
