"""`rocport sdk`: a HIP cross-compile SDK in a user folder, assembled from Debian packages; no root, no GPU.

The packages are pinned in `sdk-pins.toml` by version and SHA-256. They are downloaded by apt itself with private state
(its own source list, index and cache folders), so nothing of the machine's package database is read or changed, and
unpacked with dpkg-deb. The result has the layout of a ROCm installation (`include`, `amdgcn/bitcode`, `llvm/bin`,
`share/hip/version`), so that clang accepts it as `--rocm-path` and so can other tools as ROCM_PATH.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rocport.facts.targets import default_targets
from rocport.model import HANGING_S, shape
from rocport.model.digest import file_sha256
from rocport.model.locks import locked

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Log = Callable[[str], None]

MANIFEST = "rocport-sdk.json"
_SELF_TEST = """\
#include <hip/hip_runtime.h>
#include <vector>
__global__ void rocport_self_test(float* x) { x[threadIdx.x] = expf(x[threadIdx.x]); }
"""
_ELSEWHERE = (
    "On other distributions install ROCm or its rocm-sdk wheels, or clang with the HIP headers and the ROCm device "
    "libraries (Fedora: clang rocm-hip-devel rocm-device-libs; Arch: rocm-hip-sdk), and rocport finds them; or copy an "
    "SDK folder from another machine and set ROCPORT_SDK to it."
)


class SdkError(Exception):
    """The SDK cannot be installed or used; the message says what to do."""


@dataclass(frozen=True)
class Pin:
    """One Debian package: where it comes from, which version, and what its file must hash to."""

    name: str
    suite: str
    version: str
    sha256: str
    size: int
    """Bytes to download."""
    role: str
    """`compiler`, `headers`, `device-libs`, or `library` (a shared library fetched only where the machine lacks it)."""
    keep: tuple[str, ...] = ()
    """Paths to keep, as globs below the package's root; empty: all."""


@dataclass(frozen=True)
class Pins:
    version: str
    """Name of the SDK, and of its folder."""
    rocm: str
    llvm: int
    architecture: str
    unpacked: str
    """`unpacked_sha256` of what all packages but those of the role `library` unpack to."""
    newer_targets: tuple[str, ...]
    """Targets that the compiler knows and the device libraries have no constant for."""
    suites: tuple[str, ...]
    packages: tuple[Pin, ...]


@dataclass(frozen=True)
class Installed:
    """One package of an installed SDK. `pinned` is false where the archive's version was taken instead of the pin."""

    name: str
    version: str
    sha256: str
    pinned: bool


def load_pins(text: str | None = None) -> Pins:
    """Read the pin file shipped with rocport, or `text`."""
    raw = tomllib.loads(text if text is not None else Path(__file__).with_name("sdk-pins.toml").read_text())
    return Pins(
        version=raw["version"],
        rocm=raw["rocm"],
        llvm=raw["llvm"],
        architecture=raw["architecture"],
        unpacked=raw["unpacked"],
        newer_targets=tuple(raw.get("newer_targets", ())),
        suites=tuple(dict.fromkeys(p["suite"] for p in raw["package"])),
        packages=tuple(Pin(**{**p, "keep": tuple(p.get("keep", ()))}) for p in raw["package"]),
    )


def base_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where SDK versions live: $XDG_DATA_HOME/rocport/sdk."""
    data = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "rocport" / "sdk"


def sdk_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of the SDK this rocport uses: $ROCPORT_SDK, or the pinned version below `base_folder`."""
    override = environ.get("ROCPORT_SDK")
    return Path(override).expanduser() if override else base_folder(environ) / load_pins().version


_INSTALLED = {
    "packages": [{"name?": str, "version?": str, "pinned?": bool}],
    "version?": str,
    "rocm?": str,
    "llvm?": int,
    "unpacked?": str,
}


def read_manifest(path: Path) -> dict[str, Any] | None:
    """What was installed at `path`; None where no complete SDK is."""
    try:
        manifest: dict[str, Any] = shape.read((path / MANIFEST).read_text(), _INSTALLED)
    except (OSError, ValueError):
        return None
    return manifest


def unpacked_sha256(root: Path) -> str:
    """Hash of the names and contents of every file below a folder, but what the installation adds: the manifest and the
    constants of newer targets. Links, which it adds too, are no files of their own."""
    added = {MANIFEST, *(f"oclc_isa_version_{name.removeprefix('gfx')}.bc" for name in load_pins().newer_targets)}
    digest = hashlib.sha256()
    files = (path for path in root.rglob("*") if path.name not in added and path.is_file() and not path.is_symlink())
    for path in sorted(files):
        digest.update(f"{path.relative_to(root).as_posix()}\0{file_sha256(path)}\n".encode())
    return digest.hexdigest()


def is_as_unpacked(root: Path) -> bool:
    """Whether an installed SDK still holds what its packages do: the pins say what that is, or its own manifest where
    the archive's rebuilds, or libraries the machine lacked, were taken."""
    manifest = read_manifest(root) or {}
    expected: str = manifest.get("unpacked", load_pins().unpacked)
    return unpacked_sha256(root) == expected


def upstream(version: str) -> str:
    """The upstream part of a Debian version: `1:19.1.7-3~deb12u1` -> `19.1.7`, `7.1.1+dfsg-4` -> `7.1.1+dfsg`."""
    version = version.split(":", 1)[-1]
    return version.rsplit("-", 1)[0] if "-" in version else version


class Apt:
    """apt-get with private state below `folder`: own source list, index, cache, and no installed packages."""

    def __init__(self, folder: Path, mirror: str, suites: Iterable[str]) -> None:
        self.folder = folder
        for name in ("lists/partial", "archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        keyring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
        signed = f"[signed-by={keyring}] " if keyring.exists() else ""
        sources = "".join(f"deb {signed}{mirror} {suite} main\n" for suite in suites)
        (folder / "sources.list").write_text(sources)
        options = {
            "Dir::Etc::sourcelist": str(folder / "sources.list"),
            "Dir::Etc::sourceparts": "-",
            "Dir::State": str(folder),
            "Dir::State::lists": str(folder / "lists"),
            "Dir::State::status": "/dev/null",
            "Dir::Cache": str(folder),
            "Dir::Cache::pkgcache": "pkgcache.bin",
            "Dir::Cache::srcpkgcache": "srcpkgcache.bin",
            "Acquire::Languages": "none",
            "Acquire::Retries": "2",
            "Acquire::http::Timeout": "30",
            "APT::Sandbox::User": "",
            "APT::Update::Post-Invoke-Success": "",
        }
        self._options = [item for key, value in options.items() for item in ("-o", f"{key}={value}")]

    def _run(self, program: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [program, *self._options, *arguments]
        try:
            return subprocess.run(
                command,
                cwd=cwd,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=HANGING_S,
                env={**os.environ, "LC_ALL": "C"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SdkError(
                f"{program} {arguments[0]} did not finish within {HANGING_S:.0f} s; run again to resume"
            ) from None

    def update(self) -> str:
        """Fetch the signed package index of every suite; returns what apt complained about."""
        done = self._run("apt-get", "update")
        return "\n".join(line for line in done.stderr.splitlines() if line[:2] in ("E:", "W:"))

    def versions(self, names: Sequence[str]) -> dict[tuple[str, str], str]:
        """(package, suite) -> version in the archive."""
        found: dict[tuple[str, str], str] = {}
        for line in self._run("apt-cache", "madison", *names).stdout.splitlines():
            fields = [field.strip() for field in line.split("|")]
            if len(fields) == 3 and fields[2].endswith("Packages"):
                suite = fields[2].split()[1].split("/")[0]
                found.setdefault((fields[0], suite), fields[1])
        return found

    def records(self, packages: Sequence[tuple[str, str]]) -> dict[str, tuple[str, int]]:
        """Package name -> (SHA-256, size in bytes) that the signed index gives for (name, version)."""
        text = self._run("apt-cache", "show", *(f"{name}={version}" for name, version in packages)).stdout
        found: dict[str, tuple[str, int]] = {}
        for paragraph in text.split("\n\n"):
            field = dict(re.findall(r"^(Package|SHA256|Size): (\S+)$", paragraph, re.M))
            if len(field) == 3:
                found[field["Package"]] = (field["SHA256"], int(field["Size"]))
        lacking = [name for name, _ in packages if name not in found]
        if lacking:
            raise SdkError(f"the package index has no SHA-256 for {', '.join(lacking)}")
        return found

    def download(self, packages: Sequence[tuple[str, str]], into: Path) -> None:
        """Fetch (name, version) package files into a folder. Raises SdkError with apt's own words."""
        done = self._run("apt-get", "download", *(f"{n}={v}" for n, v in packages), cwd=into)
        if done.returncode != 0:
            raise SdkError(f"apt-get download failed: {_tail(done.stderr)}")


def find_mirror() -> str:
    """The address of a Debian archive in this machine's own apt configuration.

    Raises SdkError where apt is missing or configured for another distribution.
    """
    for program in ("apt-get", "apt-cache", "dpkg-deb"):
        if shutil.which(program) is None:
            raise SdkError(f"{program} not found: this SDK is put together from Debian packages. {_ELSEWHERE}")
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(CREATED_BY)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)"],
        capture_output=True,
        text=True,
        check=False,
    )
    debian = ("bookworm", "trixie", "forky", "sid", "stable", "testing", "unstable", "oldstable")
    for line in done.stdout.splitlines():
        created_by, uri, release, component = (*line.split("|"), "", "", "", "")[:4]
        if created_by == "Packages" and release in debian and component == "main":
            return uri
    raise SdkError(
        "this machine's apt configuration names no Debian archive (apt-get indextargets lists none of "
        f"{', '.join(debian[:4])}). Pass --mirror with the address of one. {_ELSEWHERE}"
    )


def install(
    *,
    path: Path | None = None,
    mirror: str | None = None,
    allow_unpinned: bool = False,
    force: bool = False,
    log: Log = lambda _: None,
) -> tuple[Path, bool]:
    """Install the SDK; returns (folder, whether anything was done).

    Atomic: the folder appears only after it was unpacked, and compiled a kernel. Resumable: verified downloads are kept
    until then. A second process waits for the first. Raises SdkError.
    """
    pins = load_pins()
    target = path or sdk_path()
    if not force and read_manifest(target) is not None:
        return target, False
    machine = os.uname().machine
    if (os.uname().sysname, machine) != ("Linux", "x86_64"):
        raise SdkError(
            f"the SDK is pinned for Linux on x86_64, this is {os.uname().sysname} on {machine}. {_ELSEWHERE}"
        )
    mirror = mirror or find_mirror()
    if target.exists() and read_manifest(target) is None and any(target.iterdir()):
        raise SdkError(f"{target} exists and is not a rocport SDK; move it away or set ROCPORT_SDK to another folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        waiting = "another rocport is installing this SDK; waiting for it"
        with locked(target.parent / f".{target.name}.lock", lambda: log(waiting)):
            _mend(target)
            if not force and read_manifest(target) is not None:
                return target, False
            _install_locked(pins, target, mirror, allow_unpinned, log)
    except PermissionError as error:
        raise SdkError(
            f"cannot write {error.filename}: {error.strerror}; set ROCPORT_SDK to a folder you own"
        ) from error
    except OSError as error:
        raise SdkError(f"cannot install into {target}: {error}") from error
    return target, True


def _install_locked(pins: Pins, target: Path, mirror: str, allow_unpinned: bool, log: Log) -> None:
    state = target.parent / f".{target.name}.download"
    debs = state / "debs"
    debs.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        apt = Apt(state, mirror, pins.suites)
        installed: list[Installed] = []
        wanted = [pin for pin in pins.packages if pin.role != "library"]
        files = _fetch(apt, wanted, debs, allow_unpinned, installed, log)
        log(f"unpacking {len(files)} packages")
        root = scratch / "sdk"
        _unpack(files, root, scratch)
        unpacked = unpacked_sha256(root)
        if unpacked != pins.unpacked and all(package.pinned for package in installed):
            raise SdkError(
                f"the pinned packages unpacked to files with the hash {unpacked}, not {pins.unpacked}: the disk, "
                "or dpkg-deb, changed them; nothing was installed"
            )
        clang = _shape(root, pins)
        missing = _missing_libraries(root)
        if missing:
            log(f"this machine lacks {', '.join(sorted(missing))}: adding them to the SDK")
            libraries = [pin for pin in pins.packages if pin.role == "library"]
            _unpack(_fetch(apt, libraries, debs, allow_unpinned, installed, log), root, scratch)
            unpacked = unpacked_sha256(root)
            _shape(root, pins)
            if missing := _missing_libraries(root):
                raise SdkError(f"the compiler still lacks {', '.join(sorted(missing))}; install them and run again")
        log("compiling a test kernel")
        self_test(clang, root, scratch)
        manifest = {
            "isa_constants_added": _add_isa_constants(root, scratch),
            "version": pins.version,
            "rocm": pins.rocm,
            "llvm": pins.llvm,
            "packages": [asdict(package) for package in installed],
            "unpacked": unpacked,
        }
        (root / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        if target.exists():
            target.rename(scratch / "old")
        root.rename(target)
        shutil.rmtree(state, ignore_errors=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _mend(target: Path) -> None:
    """Clear away what an installation that was killed left; the SDK it was about to replace goes back in its place."""
    for left in target.parent.glob(f".{target.name}.*"):
        if left.is_dir() and left.suffix != ".download":
            if (left / "old").is_dir() and not target.exists():
                (left / "old").rename(target)
            shutil.rmtree(left)


def _fetch(
    apt: Apt, pins: Sequence[Pin], debs: Path, allow_unpinned: bool, installed: list[Installed], log: Log
) -> list[tuple[Pin, Path]]:
    """Download what is not there yet, verify every file, and note what was taken."""
    have = {file_sha256(path): path for path in sorted(debs.glob("*.deb"))}
    todo = [pin for pin in pins if pin.sha256 not in have]
    chosen: dict[str, tuple[str, str]] = {pin.name: (pin.version, pin.sha256) for pin in pins}
    if todo:
        log("reading the package index")
        complaint = apt.update()
        versions = apt.versions([pin.name for pin in todo])
        if not versions:
            raise SdkError(
                "the package index could not be read; rocport sdk install needs the network once. apt said: "
                f"{_tail(complaint) or 'nothing'}"
            )
        version_of = {
            pin.name: choose_version(pin, versions.get((pin.name, pin.suite)), allow_unpinned, log) for pin in todo
        }
        records = apt.records(list(version_of.items()))
        for pin in todo:
            sha, _ = records[pin.name]
            if version_of[pin.name] == pin.version and sha != pin.sha256:
                raise SdkError(
                    f"{pin.name} {pin.version}: the archive's index says SHA-256 {sha}, the pin says {pin.sha256}; "
                    "not downloaded. The archive or mirror may have been tampered with"
                )
            chosen[pin.name] = (version_of[pin.name], sha)
        todo = [pin for pin in todo if chosen[pin.name][1] not in have]
        log(f"downloading {len(todo)} packages, {sum(records[pin.name][1] for pin in todo) / 1e6:.0f} MB")
        apt.download([(pin.name, chosen[pin.name][0]) for pin in todo], debs)
        have = {file_sha256(path): path for path in sorted(debs.glob("*.deb"))}
    files: list[tuple[Pin, Path]] = []
    for pin in pins:
        version, sha = chosen[pin.name]
        if sha not in have:
            raise SdkError(f"{pin.name} {version}: no downloaded file has SHA-256 {sha}; run again to download it anew")
        files.append((pin, have[sha]))
        installed.append(Installed(pin.name, version, sha, version == pin.version))
    return files


def choose_version(pin: Pin, current: str | None, allow_unpinned: bool, log: Log) -> str:
    """Which version to take where the archive's suite holds `current`.

    The pin if it is there. Otherwise a rebuild of the same upstream version (a Debian revision: security and packaging
    fixes) with a warning; its hash then comes from the archive's signed index. Another upstream version only with
    `allow_unpinned`. See docs/adr/0004-an-sdk-from-pinned-debian-packages.md.
    """
    if current == pin.version:
        return current
    if current is None:
        raise SdkError(
            f"{pin.name} is not in the archive's suite {pin.suite}; a newer rocport may pin another. {_ELSEWHERE}"
        )
    if upstream(current) == upstream(pin.version):
        log(f"note: {pin.name} {pin.version} left the archive; taking its rebuild {current}")
        return current
    if allow_unpinned:
        log(f"warning: {pin.name} {pin.version} left the archive; taking {current}, which rocport was not tested with")
        return current
    raise SdkError(
        f"{pin.name} {pin.version} left the archive, which now has {current}. Upgrade rocport, or take the archive's "
        "version with --allow-unpinned (rocport was not tested with it)"
    )


def _unpack(files: Sequence[tuple[Pin, Path]], root: Path, scratch: Path) -> None:
    """Unpack packages so that their `usr/` becomes `root`; drop documentation and what a pin does not keep."""
    for pin, file in files:
        stage = scratch / "stage"
        done = subprocess.run(["dpkg-deb", "-x", file, stage], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SdkError(f"dpkg-deb could not unpack {file.name}: {_tail(done.stderr)}")
        for path in sorted(stage.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                continue
            relative = path.relative_to(stage).as_posix()
            if relative.startswith(("usr/share/doc", "usr/share/man", "usr/share/lintian")):
                continue
            if pin.keep and not any(path.match(pattern) for pattern in pin.keep):
                continue
            # Libraries of older Debian releases lie in /lib, beside /usr/lib.
            destination = root / relative.removeprefix("usr/")
            destination.parent.mkdir(parents=True, exist_ok=True)
            path.replace(destination)
        shutil.rmtree(stage)


def _shape(root: Path, pins: Pins) -> Path:
    """Give the folder the layout of a ROCm installation; returns clang++."""
    llvm = root / "lib" / f"llvm-{pins.llvm}"
    for library in sorted((root / "lib" / "x86_64-linux-gnu").glob("*.so.*")):
        # The programs look in $ORIGIN/../lib.
        link = llvm / "lib" / library.name
        if not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(library, link.parent))
    bitcode = next(iter(sorted(root.glob("lib/llvm-*/lib/clang/*/amdgcn/bitcode"))), None)
    if bitcode is None:
        raise SdkError("the device library package holds no amdgcn/bitcode folder; rocport was not written for it")
    for link, to in ((root / "amdgcn" / "bitcode", bitcode), (root / "llvm", llvm)):
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(to, link.parent))
    return llvm / "bin" / "clang++"


def isa_version(target: str) -> int:
    """The device library's number of a gfx target: gfx942 -> 9402, gfx90a -> 9010, gfx1201 -> 12001."""
    digits = target.removeprefix("gfx")
    return int(digits[:-2]) * 1000 + int(digits[-2]) * 100 + int(digits[-1], 16)


def _add_isa_constants(root: Path, scratch: Path) -> list[str]:
    """Add the one-constant bitcode file of targets the compiler knows and the device libraries are older than.

    The libraries' code for such a target is that of the newest family they know: enough to compile against, which is
    all this SDK is for, and said in `rocport sdk status`.
    """
    added = []
    for target in load_pins().newer_targets:
        bitcode = root / "amdgcn" / "bitcode" / f"oclc_isa_version_{target.removeprefix('gfx')}.bc"
        if bitcode.exists():
            continue
        source = scratch / "isa.ll"
        source.write_text(
            'target triple = "amdgcn-amd-amdhsa"\n'
            "@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) "
            f"constant i32 {isa_version(target)}, align 4\n"
        )
        clang = root / "llvm" / "bin" / "clang"
        command = [str(clang), "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-x", "ir", "-emit-llvm"]
        done = subprocess.run(
            [*command, "-c", str(source), "-o", str(bitcode)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SdkError(
                f"the compiler could not write the device library constant of {target}: {_tail(done.stderr)}"
            )
        added.append(target)
    return added


def _missing_libraries(root: Path) -> set[str]:
    """Shared libraries that the compiler or linker needs and this machine lacks."""
    missing: set[str] = set()
    for program in ("clang", "lld"):
        path = root / "llvm" / "bin" / program
        done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        missing.update(line.split("=>")[0].strip() for line in done.stdout.splitlines() if "not found" in line)
        if "GLIBC_" in done.stderr:
            raise SdkError(
                f"this machine's C library is older than the compiler needs: {_tail(done.stderr)}. {_ELSEWHERE}"
            )
    return missing


def self_test(clang: Path, root: Path, scratch: Path) -> None:
    """Compile one kernel for one target, host and device. Raises SdkError that says what is missing."""
    source = scratch / "self_test.hip"
    source.write_text(_SELF_TEST)
    command = [
        str(clang),
        "-x",
        "hip",
        f"--rocm-path={root}",
        f"--offload-arch={default_targets()[0]}",
        "-isystem",
        str(root / "include"),
        "-c",
        str(source),
        "-o",
        str(scratch / "self_test.o"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    if re.search(r"'(cmath|vector|cstdlib|new|stdlib\.h|string\.h|\w+)' file not found", done.stderr):
        raise SdkError(
            "the C++ standard library headers are missing: install g++ (Debian: apt install g++). The compiler said: "
            + _tail(done.stderr, 3)
        )
    raise SdkError(f"the compiler could not build a test kernel: {_tail(done.stderr, 5)}")


def _tail(text: str, lines: int = 2) -> str:
    return "; ".join([line.strip() for line in text.strip().splitlines() if line.strip()][:lines])
