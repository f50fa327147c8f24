"""Discovery, on the folder layouts of the ROCm releases, with a stand-in for the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.toolchain import ToolchainError, find

CLANG = """#!/bin/sh
case "$*" in
*--print-supported-cpus*) printf '\\tgfx942\\n\\tgfx1100\\n\\tgfx950\\n' ;;
*) echo "AMD clang version {major}.0.0" ;;
esac
"""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def headers(root: Path, version: str = "7.16.1") -> None:
    folder = root / "include" / "hip"
    folder.mkdir(parents=True)
    (folder / "hip_runtime.h").touch()
    major, minor, patch = version.split(".")
    (folder / "hip_version.h").write_text(
        f"#define HIP_VERSION_MAJOR {major}\n#define HIP_VERSION_MINOR {minor}\n#define HIP_VERSION_PATCH {patch}\n"
    )


def bitcode(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("ocml", "oclc_isa_version_942", "oclc_isa_version_1100"):
        (folder / f"{name}.bc").touch()
    return folder


def rocm(root: Path, llvm: str = "lib/llvm", libs: str = "lib/llvm/amdgcn/bitcode", version: str = "10.1.0") -> Path:
    """A ROCm root; the defaults are the layout of ROCm 10 (TheRock)."""
    script(root / llvm / "bin" / "amdclang++", CLANG.format(major=23))
    headers(root)
    bitcode(root / libs)
    (root / ".info").mkdir()
    (root / ".info" / "version").write_text(f"{version}\n")
    return root


def test_rocm_10_below_opt(tmp_path: Path) -> None:
    root = rocm(tmp_path / "opt/rocm/core-10.1")
    found = find(environ={"PATH": ""}, prefix=tmp_path)
    assert (found.kind, found.root, found.clang_major) == ("rocm", root, 23)
    assert found.device_libs == root / "lib/llvm/amdgcn/bitcode"
    assert (found.rocm_version, str(found.hip_version)) == ("10.1.0", "7.16.1")
    assert found.summary() == "amdclang 23 + HIP 7.16 headers (rocm)"


def test_rocm_6_layout(tmp_path: Path) -> None:
    root = rocm(tmp_path / "opt/rocm-6.4.3", llvm="llvm", libs="amdgcn/bitcode", version="6.4.3-128")
    (tmp_path / "opt/rocm").symlink_to("rocm-6.4.3")
    found = find(environ={"PATH": ""}, prefix=tmp_path)
    assert found.compiler.resolve() == root / "llvm/bin/amdclang++"
    assert found.rocm_version == "6.4.3-128"


def test_device_libraries_in_the_resource_folder(tmp_path: Path) -> None:
    root = rocm(tmp_path / "opt/rocm/core-7.12", libs="lib/llvm/lib/clang/22/lib/amdgcn/bitcode")
    found = find(environ={"PATH": ""}, prefix=tmp_path)
    assert found.device_libs == root / "lib/llvm/lib/clang/22/lib/amdgcn/bitcode"


def test_newest_of_several_releases(tmp_path: Path) -> None:
    for release in ("7.14", "10.0", "10.1", "9.9"):
        rocm(tmp_path / f"opt/rocm/core-{release}", version=release)
    assert find(environ={"PATH": ""}, prefix=tmp_path).root.name == "core-10.1"


def test_rocm_path_wins_over_opt(tmp_path: Path) -> None:
    rocm(tmp_path / "opt/rocm")
    mine = rocm(tmp_path / "mine")
    assert find(environ={"PATH": "", "ROCM_PATH": str(mine)}, prefix=tmp_path).root == mine


def test_broken_rocm_path_is_named_and_passed_over(tmp_path: Path) -> None:
    usable = rocm(tmp_path / "opt/rocm")
    (tmp_path / "mine").mkdir()
    assert find(environ={"PATH": "", "ROCM_PATH": str(tmp_path / "mine")}, prefix=tmp_path).root == usable


def test_hipconfig_on_path(tmp_path: Path) -> None:
    root = rocm(tmp_path / "somewhere/else")
    script(tmp_path / "bin/hipconfig", f'#!/bin/sh\n[ "$1" = --rocmpath ] && printf {root}\n')
    found = find(environ={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}, prefix=tmp_path)
    assert found.root == root


def test_wheels_through_the_rocm_sdk_command(tmp_path: Path) -> None:
    """The compiler is in the core wheel, the headers are in the devel wheel once `rocm-sdk init` has unpacked it."""
    site = tmp_path / "site-packages"
    core, devel = site / "_rocm_sdk_core", site / "_rocm_sdk_devel"
    script(core / "lib/llvm/bin/amdclang++", CLANG.format(major=23))
    bitcode(core / "lib/llvm/amdgcn/bitcode")
    headers(devel)
    script(tmp_path / "bin/rocm-sdk", f"#!/bin/sh\necho {devel}\n")
    found = find(environ={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}, prefix=tmp_path)
    assert (found.kind, found.include, found.compiler) == (
        "wheels",
        devel / "include",
        core / "lib/llvm/bin/amdclang++",
    )


def test_wheels_that_were_not_initialised(tmp_path: Path) -> None:
    core = tmp_path / "site-packages/_rocm_sdk_core"
    script(core / "lib/llvm/bin/amdclang++", CLANG.format(major=23))
    bitcode(core / "lib/llvm/amdgcn/bitcode")
    script(tmp_path / "bin/rocm-sdk", f"#!/bin/sh\necho {core}\n")
    environ = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "ROCPORT_SDK": str(tmp_path / "none")}
    with pytest.raises(ToolchainError, match="rocm-sdk init"):
        find(environ=environ, prefix=tmp_path)


def test_distribution(tmp_path: Path) -> None:
    """Device libraries of several LLVM versions: the newest that the compiler reads."""
    headers(tmp_path / "usr", "6.4.3")
    script(tmp_path / "bin/clang++-19", CLANG.format(major=19))
    for major in (17, 21):
        bitcode(tmp_path / f"usr/lib/llvm-{major}/lib/clang/{major}/amdgcn/bitcode")
    found = find(environ={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}, prefix=tmp_path)
    assert (found.kind, found.clang_major) == ("distribution", 19)
    assert "llvm-17" in str(found.device_libs)


def test_old_distribution_headers_are_refused_with_the_reason(tmp_path: Path) -> None:
    headers(tmp_path / "usr", "5.2.21153")
    with pytest.raises(ToolchainError, match=r"are 5\.2\.21153, older than 6\.0"):
        find("distribution", environ={"PATH": ""}, prefix=tmp_path)


def test_compiler_without_the_amdgpu_target(tmp_path: Path) -> None:
    root = rocm(tmp_path / "opt/rocm")
    script(root / "lib/llvm/bin/amdclang++", '#!/bin/sh\n[ "$1" = --version ] && echo clang version 19.0.0\n')
    with pytest.raises(ToolchainError, match="without the AMDGPU target"):
        find("rocm", environ={"PATH": ""}, prefix=tmp_path)


def test_nothing_found_names_every_place(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError) as caught:
        find(environ={"PATH": str(tmp_path), "ROCPORT_SDK": str(tmp_path / "none")}, prefix=tmp_path)
    text = str(caught.value)
    for place in ("ROCM_PATH", "opt/rocm", "hipconfig", "rocm-sdk", "hip_version.h", "rocport SDK", "sdk install"):
        assert place in text


def test_available_targets_are_those_of_compiler_and_device_libraries(tmp_path: Path) -> None:
    rocm(tmp_path / "opt/rocm")
    targets = find(environ={"PATH": ""}, prefix=tmp_path).targets()
    assert targets["gfx942"] == targets["gfx1100"] == ""
    assert "oclc_isa_version_950.bc" in targets["gfx950"]
    assert "does not know it" in targets["gfx90a"]
