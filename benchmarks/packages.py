"""Source distributions of real packages with CUDA sources, downloaded when a benchmark needs them, never committed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from rocport.fleet.sources import sdist
from rocport.toolchain.sdk import Apt, find_mirror

# name -> version. Pinned so that a figure can be printed again.
PACKAGES = {
    "causal-conv1d": "1.5.3.post1",
    "mamba-ssm": "2.2.6.post3",
    "torch-scatter": "2.1.2",
    "torch-sparse": "0.6.18",
    "torch-cluster": "1.6.3",
    "torch-spline-conv": "1.2.2",
    "gsplat": "1.5.3",
    "mmcv": "2.2.0",
    "deepspeed": "0.18.2",
    "llama-cpp-python": "0.3.16",
    "cupy": "13.6.0",
    "xgboost": "3.1.1",
    "warp-rnnt": "0.7.0",
    "torchsort": "0.1.10",
    "optimum-quanto": "0.2.7",
    "auto-gptq": "0.7.1",
    "MinkowskiEngine": "0.5.4",
    "vllm": "0.11.0",
}


def cache_folder() -> Path:
    """Where archives and unpacked trees are kept between runs."""
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "rocport" / "benchmarks"


def fetch(name: str, version: str) -> Path:
    """Folder of the unpacked sdist; downloaded once. Raises RuntimeError with the reason when it cannot be had."""
    folder = cache_folder() / f"{name}-{version}"
    if (folder / ".complete").exists():
        return folder
    archive = sdist(name, version)
    folder.mkdir(parents=True, exist_ok=True)
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder)
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    (folder / ".complete").write_text(hashlib.sha256(archive.read_bytes()).hexdigest() + "\n")
    return folder


def fetch_hipify_perl() -> Path:
    """The hipify-perl script of Debian's package, downloaded once. Raises SdkError where there is no Debian archive."""
    script = cache_folder() / "hipify-perl" / "usr" / "bin" / "hipify-perl"
    if not script.exists():
        folder = cache_folder() / "hipify-perl"
        folder.mkdir(parents=True, exist_ok=True)
        apt = Apt(folder / "apt", find_mirror(), ["sid"])
        apt.update()
        version = apt.versions(["hipify-perl"])["hipify-perl", "sid"]
        apt.download([("hipify-perl", version)], folder)
        (archive,) = folder.glob("hipify-perl_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(folder)], check=True)
    return script


if __name__ == "__main__":
    for package, pinned in PACKAGES.items():
        try:
            print(f"{package} {pinned}: {fetch(package, pinned)}")
        except Exception as error:
            print(f"{package} {pinned}: {error}", file=sys.stderr)
