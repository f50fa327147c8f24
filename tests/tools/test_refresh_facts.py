"""The facts against made-up snapshots in the formats of their sources: what agrees is right, what differs is named."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest
import refresh_facts
from fact_sources import bitsandbytes, documentation, listings, pytorch, tags, therock
from fact_sources.claim import Claim
from fact_sources.snapshot import Snapshot

MATRIX = """
ROCM_ARCHES_DICT = {{
    "nightly": ["9.9"],
    "release": {rocm},
}}
PYTHON_ARCHES_DICT = {{
    "release": {python},
}}
CURRENT_STABLE_VERSION = "{version}"
"""


def put(folder: Path, repository: str, path: str, text: str) -> None:
    file = folder / repository.replace("/", "+") / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def state(found: list[Claim], name: str) -> str:
    return next(claim.state for claim in found if claim.name == name)


def test_an_empty_snapshot_decides_nothing(tmp_path, capsys, monkeypatch):
    found = list(refresh_facts.claims(Snapshot(tmp_path)))
    assert found and {claim.state for claim in found} == {"not checked"}
    assert {claim.half for claim in found} == {"aside", "looked at"}
    monkeypatch.setattr("sys.argv", ["refresh_facts.py", str(tmp_path), "--check"])
    assert refresh_facts.main() == 0
    assert "not checked" in capsys.readouterr().out


def test_the_matrix_of_every_release_is_read_from_its_history(tmp_path):
    repository, path = pytorch.MATRIX
    folder = tmp_path / repository.replace("/", "+")
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for version, rocm in (("2.8.0", ["6.3", "6.4"]), ("2.9.0", ["6.3", "6.4"]), ("2.9.1", ["6.4"])):
        put(tmp_path, repository, path, MATRIX.format(rocm=rocm, python=["3.10", "3.14", "3.14t"], version=version))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", version], check=True)
    seen = pytorch.released(Snapshot(tmp_path))
    assert [one.version for one in seen] == ["2.8.0", "2.9.0", "2.9.1"]
    assert seen[-1].rocm == ("6.4",) and seen[-1].python == ("3.10", "3.14")
    found = list(pytorch.claims(Snapshot(tmp_path)))
    assert state(found, "torch 2.9: channels") == state(found, "torch 2.9: Python") == "right"
    assert state(found, "torch 2.8: Python") == "wrong" and state(found, "torch 2.7: channels") == "not checked"


def test_channels_are_compared_target_by_target(tmp_path):
    rust = '"rocm6.1" => Ok(Self::Rocm61),\n(TorchBackend::Rocm61, AmdGpuArchitecture::Gfx900),\n'
    put(tmp_path, *pytorch.UV, rust)
    wrong = next(c for c in pytorch.claims(Snapshot(tmp_path)) if c.name == "wheels of rocm6.1: targets")
    assert wrong.state == "wrong" and wrong.source_says == "gfx900"
    script = 'PYTORCH_ROCM_ARCH="gfx908;gfx90a"\nelif [[ "$GPU_ARCH_VERSION" == *"7.14"* ]]; then\n'
    put(tmp_path, *pytorch.BUILD, script)
    assert state(list(pytorch.claims(Snapshot(tmp_path))), "wheels of rocm7.14: targets") == "wrong"


def test_therocks_exclusions_and_device_extras(tmp_path):
    cmake = """therock_add_amdgpu_target(gfx1100 "a (b)" FAMILY x
  EXCLUDE_TARGET_PROJECTS
    hipSPARSELt # why
)
therock_add_amdgpu_target(gfx942 "c" FAMILY y)
"""
    assert therock.excluded(cmake) == {"gfx1100": {"hipSPARSELt"}, "gfx942": set()}
    put(tmp_path, therock.THEROCK, therock.TARGETS, cmake)
    mirror = '    "rocm-sdk-device-gfx1100": [{"project": "torch_rocm", "target": "rocm7.14"}],\n'
    put(tmp_path, *therock.MIRROR, mirror)
    put(tmp_path, therock.THEROCK, therock.SUPPORTED, "## ROCm on Windows\n| **RDNA3** | **gfx1100** | ✅ |\n")
    found = list(therock.claims(Snapshot(tmp_path)))
    assert state(found, "gfx1100: hipSPARSELt") == state(found, "gfx1100: hipBLASLt") == "right"
    assert state(found, "gfx90a: hipBLASLt") == "wrong" and state(found, "gfx902: hipBLASLt") == "right"  # no such row
    assert state(found, "multi-arch: targets") == state(found, "Windows: targets") == "wrong"


def test_documents_of_releases_products_versions_and_drivers(tmp_path):
    days = "   * - `10.1.0 <https://x>`__\n     - October 5, 2026\n\n   * - `6.1.0 <x>`__\n     - Apr 17, 2024\n"
    put(tmp_path, documentation.DOCS, documentation.VERSIONS, days)
    gpus = "AMD Radeon:\n  AMD Radeon RX 7900 XTX:\n    gfx: gfx1100\n  AMD Radeon RX 7600:\n    gfx: gfx1100\n"
    put(tmp_path, documentation.DOCS, documentation.GPUS, gpus)
    put(tmp_path, documentation.DOCS, documentation.DRIVERS, "  AMD Instinct MI300X:\n    amdgpu: [*amdgpu_31_1_0]\n")
    table = "ROCm Version,6.1.0\n  :doc:`RCCL <rccl:index>`,2.18.6\n  :doc:`HIP <hip:index>`,6.1.40091\n,\n"
    put(tmp_path, *documentation.HISTORY[0], table)
    later = "ROCm Version,7.1.0,7.0.1/7.0.0,6.1.0\n  :doc:`HIP <hip:index>`,7.1.25414,7.0.51830,9.9.9\n"
    put(tmp_path, *documentation.HISTORY[1], later)
    found = list(documentation.claims(Snapshot(tmp_path)))
    assert state(found, "ROCm 10.1.0: date") == "right" and state(found, "ROCm 6.1.0: date") == "wrong"
    assert state(found, "product Radeon RX 7900 XTX") == "right"
    assert state(found, "product Radeon RX 7600") == "wrong"
    assert state(found, "driver for ROCm 10.0") == "wrong" and state(found, "ROCm 6.1.0: HIP") == "right"
    versions = documentation.library_versions(Snapshot(tmp_path))
    assert versions["RCCL", "6.1.0"][0] == "2.18.6" and versions["HIP", "6.1.0"][0] == "6.1.40091"
    assert versions["HIP", "7.0.0"][0] == versions["HIP", "7.0.1"][0] == "7.0.51830"
    assert versions["HIP", "7.1.0"][0] == "7.1.25424"


def test_a_page_whose_first_table_is_of_systems_gives_the_versions_of_the_table_of_releases(tmp_path):
    page = (
        '  .. csv-table:: x\n      :header: "Operating Systems", "ROCm 7.2.0"\n\n      Ubuntu 24.04.3,Y\n\n'
        ' .. csv-table:: \n      :header: "ROCm Version", "7.2.0", "7.1.1"\n      :stub-columns: 1\n\n'
        "      :doc:`rocBLAS <rocblas:index>`,5.2.0,5.1.1\n\n"
    )
    put(tmp_path, *documentation.BETWEEN, page)
    versions = documentation.library_versions(Snapshot(tmp_path))
    assert versions["rocBLAS", "7.1.1"] == ("5.1.1", ":".join(documentation.BETWEEN))


def test_a_page_with_a_matrix_and_one_with_cells_of_systems(tmp_path):
    page = """  .. csv-table::
      :header: "ROCm Version", "7.2.4/7.2.3", "7.1.0"
      :stub-columns: 1

      :ref:`Operating systems <x>`,"RHEL 10.1, |br| 9.7","RHEL 10.0"
      ,SLES 15 SP7,SLES 15 SP7
      ,.. _architecture-support-compatibility-matrix:,
      :doc:`RCCL <rccl:index>`,2.27.7,2.27.6

.. rubric:: Footnotes
"""
    put(tmp_path, *documentation.LAST, page)
    table = documentation.systems(page)
    assert table["7.2.3", "rhel"] == {"10.1", "9.7"} and table["7.1.0", "sles"] == {"15.7"}
    assert documentation.library_versions(Snapshot(tmp_path))["RCCL", "7.2.4"][0] == "2.27.7"
    cells = "         Ubuntu 24.04.4 (GA kernel: 6.8)\n\n      .. matrix-cell:: Oracle Linux 10 (kernel: UEK 8.1)\n"
    assert documentation.listed_systems(cells) == [("oracle", "10", "8.1 UEK"), ("ubuntu", "24.04.4", "6.8 GA")]
    put(tmp_path, *documentation.INSTINCT, cells)
    found = list(documentation.claims(Snapshot(tmp_path)))
    assert state(found, "ROCm 7.14.0, Instinct, on oracle") == "wrong"
    assert state(found, "ROCm 7.2.4 on sles") == "right" and state(found, "ROCm 7.2.4 on rhel") == "wrong"


def test_install_pages_say_what_an_index_serves(tmp_path):
    page = """.. |PKG| replace:: https://example.org/whl/
.. |VER| replace:: rocm10.1.0

.. selected:: rocm-ver=10.1.0
      .. selected:: gfx=gfx1100
            .. selected:: os=linux
                  python -m pip install --index-url |PKG| \\
                      "torch[device-gfx1100]==2.14.0+|VER|" \\
                      "torchvision[device-gfx1100]==0.29+|VER|" \\
                      "torchaudio==2.11.0.3+|VER|"
"""
    (row,) = documentation.installed(page)
    assert (row.rocm, row.index, row.target, row.system) == ("10.1.0", "https://example.org/whl/", "gfx1100", "linux")
    assert (row.torch, row.torchvision, row.torchaudio) == ("2.14.0", "0.29", "2.11.0.3")
    put(tmp_path, documentation.ECOSYSTEM, documentation.PAGE.format("10.1.0"), page)
    found = list(documentation.claims(Snapshot(tmp_path)))
    assert state(found, "AMD's index for ROCm 10.1.0") == "wrong"
    assert state(found, "AMD's torch for ROCm 10.1.0, radeon, linux") == "wrong"


def test_libraries_inside_a_wheel_and_in_a_workflow(tmp_path):
    workflow = '  build-rocm:\n    matrix:\n        rocm_version: ["6.4.4", "7.14.0"]\n'
    assert bitsandbytes.built(workflow) == ["6.4", "7.14"]
    (tmp_path / "wheels").mkdir()
    name = tmp_path / "wheels" / "bitsandbytes-0.50.2-py3-none-manylinux_2_24_x86_64.whl"
    with zipfile.ZipFile(name, "w") as wheel:
        wheel.writestr("bitsandbytes/libbitsandbytes_rocm64.so", b"\x7fELF" + bytes(60))
    found = list(bitsandbytes.claims(Snapshot(tmp_path)))
    assert state(found, "bitsandbytes 0.50.2: libraries") == state(found, "gfx1100: bitsandbytes") == "wrong"
    assert state(found, "bitsandbytes 0.49.2: libraries") == "not checked"


@pytest.mark.parametrize("source", ["a page", "https://github.com/o/n/blob/1a2b/docs/x.md"])
def test_a_citation_that_the_snapshot_lacks_is_not_read(tmp_path, source):
    assert Snapshot(tmp_path).cited(source)[1] is None


def test_a_library_is_compared_with_its_own_build_file_at_the_tag(tmp_path):
    folder = tmp_path / "ROCm+MIOpen"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for tag, version in (("6.0.0", "3.00.0"), ("6.3.0", "3.9.9")):
        put(tmp_path, "ROCm/MIOpen", "CMakeLists.txt", f"rocm_setup_version(VERSION {version})\n")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", tag], check=True)
        subprocess.run([*git, "tag", f"rocm-{tag}"], check=True)
    found = list(tags.claims(Snapshot(tmp_path)))
    assert state(found, "MIOpen in ROCm 6.0.0, by its tag") == "right"
    assert state(found, "MIOpen in ROCm 6.3.0, by its tag") == "wrong"
    names = [claim.name for claim in found]
    assert "MIOpen in ROCm 6.0.0" not in names, "what its tag decides is not counted as not checked, too"
    assert state(found, "MIOpen in ROCm 6.2.0") == "not checked" and len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("https://github.com/ROCm/rccl/releases/tag/rocm-6.2.0", "ROCm/rccl"),
        ("https://github.com/hanzoai/ROCm/blob/HEAD/docs/a.csv", "hanzoai/ROCm"),
        ("ROCm/TheRock:SUPPORTED_GPUS.md", "ROCm/TheRock"),
        ("https://rocm.docs.amd.com/projects/a.html", "rocm.docs.amd.com (no repository)"),
        ("", "a table that names it"),
    ],
)
def test_what_was_not_checked_is_counted_by_what_a_snapshot_lacks(text: str, source: str) -> None:
    assert refresh_facts.source_of(text) == source


def test_that_versions_of_a_build_file_are_found() -> None:
    assert tags.version_in("NCCL_MAJOR := 2\nNCCL_MINOR := 20\nNCCL_PATCH := 5\n") == "2.20.5"


def test_systems_are_read_from_the_matrix_and_a_copy_of_a_text_is_counted_apart(tmp_path, monkeypatch, capsys):
    matrix = (
        "ROCm Version,6.3.2,6.1.0\n"
        '      :ref:`Operating systems`,"SLES 15 SP6, SP5",\n'
        '      ,"Oracle Linux 8.10 [#mi300x-past-60]_","Ubuntu 22.04.4, 22.04.3"\n'
        "      ,.. _architecture-support,\n      ,CDNA3 9,\n"
    )
    assert documentation.systems(matrix) == {
        ("6.3.2", "sles"): {"15.6", "15.5"},
        ("6.3.2", "oracle"): {"8.10"},
        ("6.1.0", "ubuntu"): {"22.04.4", "22.04.3"},
    }
    put(tmp_path, "ROCm/ROCm", documentation.MATRIX, matrix)
    found = list(documentation.claims(Snapshot(tmp_path)))
    assert state(found, "ROCm 6.3.2 on sles") == "right" and state(found, "ROCm 6.1.0 on ubuntu") == "wrong"
    monkeypatch.setattr("sys.argv", ["refresh_facts.py", str(tmp_path), "--check"])
    assert refresh_facts.main() == 1
    assert "right by a copy of the text" in capsys.readouterr().out


def test_hip_is_compared_with_its_own_file_of_versions_at_the_tag(tmp_path):
    folder = tmp_path / "ROCm+HIP"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for tag, patch in (("5.7.0", "31921"), ("6.1.0", "40091"), ("6.1.1", "1")):
        (folder / "VERSION").write_text(f"#MAJOR\n{tag[0]}\n#MINOR\n{tag[2]}\n#PATCH\n{patch}\n", encoding="utf-8")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", tag], check=True)
        subprocess.run([*git, "tag", f"rocm-{tag}"], check=True)
    found = list(documentation.claims(Snapshot(tmp_path)))
    assert state(found, "ROCm 5.7.0: HIP, by its tag") == state(found, "ROCm 6.1.0: HIP, by its tag") == "right"
    assert state(found, "ROCm 6.1.1: HIP, by its tag") == "wrong"
    assert "ROCm 5.7.0: HIP" not in {claim.name for claim in found}
    assert state(found, "ROCm 6.2.0: HIP") == "not checked"


def tagged(folder: Path, repository: str, tag: str, path: str, text: str) -> None:
    """Commit a file of a repository of the snapshot and tag it."""
    put(folder, repository, path, text)
    git = [
        "git",
        "-C",
        str(folder / repository.replace("/", "+")),
        "-c",
        "user.name=n",
        "-c",
        "user.email=e@example.org",
    ]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", tag], ["tag", tag]):
        subprocess.run([*git, *words], check=True)


def test_hip_before_it_had_a_file_of_versions_is_read_from_its_scripts(tmp_path):
    text = '$HIP_BASE_VERSION_MAJOR = "5";\n$HIP_BASE_VERSION_MINOR = "4";\n$HIP_VERSION_MAJOR = $v // "6";\n'
    tagged(tmp_path, "ROCm/HIP", "rocm-5.4.0", "bin/hipvars.pm", text)
    assert documentation.hip_at_tag(Snapshot(tmp_path), "5.4.0") == ("5.4", "ROCm/HIP:bin/hipvars.pm")
    found = list(documentation.claims(Snapshot(tmp_path)))
    assert state(found, "ROCm 5.4.0: HIP, by its tag") == "right"
    assert state(found, "ROCm 5.4.1: HIP") == "not checked"


def test_a_preview_is_known_by_therocks_tag(tmp_path):
    tagged(tmp_path, "ROCm/TheRock", "therock-7.13", "version.json", '{"rocm-version": "7.13.0"}')
    tagged(tmp_path, "ROCm/TheRock", "therock-7.9.0", "version.json", '{"rocm-version": "7.8.0"}')
    found = list(documentation.claims(Snapshot(tmp_path)))
    assert state(found, "ROCm 7.13.0: known, by its tag") == "right"
    assert state(found, "ROCm 7.9.0: known, by its tag") == "wrong"
    assert state(found, "ROCm 7.12.0: known, by its tag") == "not checked"


def test_an_image_stands_in_the_text_it_cites(tmp_path):
    mine, targets = "agenticsnz/llama.cpp-rocm-docker", "gwokhou/SOL-ExecBench-ROCm"
    put(tmp_path, mine, "conf/amd-10.1.0.env", "ROCM_BASE=rocm/dev-ubuntu-24.04:10.1.0-full\n")
    put(tmp_path, mine, "conf/amd-7.14.1.env", "ROCM_BASE=rocm/dev-ubuntu-24.04:7.14.0-full\n")
    put(tmp_path, targets, "docker/rocm-targets.json", '"rocm/dev-ubuntu-24.04", "docker_image_tag": "7.1.1-complete"')
    script = "image=rocm/dev-ubuntu-22.04:${ROCM_VERSION}-${suffix}\n"
    put(tmp_path, "bitsandbytes-foundation/bitsandbytes", ".github/scripts/build-rocm.sh", script)
    found = list(documentation.claims(Snapshot(tmp_path)))
    said = {
        "rocm/dev-ubuntu-24.04:10.1.0-full": "right",
        "rocm/dev-ubuntu-24.04:7.14.1-full": "wrong",
        "rocm/dev-ubuntu-24.04:7.1.1-complete": "right",
        "rocm/dev-ubuntu-24.04:7.2-complete": "wrong",
        "rocm/dev-ubuntu-22.04:7.2.4-complete": "not checked",
        "rocm/dev-ubuntu-24.04:10.0.0-full": "not checked",
    }
    assert {name: state(found, f"image {name}") for name in said} == said


def test_a_release_that_is_being_tested_is_read_where_the_history_ends(tmp_path):
    test = '"test": ["7.2", "7.14"],\n    "release":'
    text = MATRIX.format(rocm=["7.1", "7.2"], python=["3.10", "3.14"], version="2.13.0").replace('"release":', test, 1)
    text = text.replace("\"release\": ['3.10'", '"test": ["3.10", "3.15", "3.15t"],\n    "release": [\'3.10\'')
    put(tmp_path, *pytorch.MATRIX, text + 'CURRENT_CANDIDATE_VERSION = "2.14.0"\n')
    assert pytorch.candidate(Snapshot(tmp_path)) == pytorch.Released("2.14.0", "", ("7.2", "7.14"), ("3.10", "3.15"))
    found = list(pytorch.claims(Snapshot(tmp_path)))
    assert state(found, "torch 2.14: channels") == state(found, "torch 2.14: Python") == "right"
    assert state(found, "torch 2.14: patches") == "not checked"
    assert not any(claim.name == "torch 2.15: channels" for claim in found)


def test_the_targets_of_a_page_are_compared_too(tmp_path):
    """Rows of a page that was read to its 16,000th character only lacked the targets after it."""
    index, path = "https://stable.repo.amd.com/rocm/whl-next/", documentation.PAGE.format("10.0.0")
    command = 'pip install --index-url {} "torch=={}+r" "torchvision==0.26.0+r" "torchaudio==2.11.0+r"\n'
    page = ".. selected:: rocm-ver=10.0.0\n"
    for gfx in ("gfx950", "gfx942", "gfx90a", "gfx908"):
        page += f".. selected:: gfx={gfx}\n.. selected:: os=linux\n" + command.format(index, "2.11.0")
    name = f"{index}: torch 2.11.0 for ROCm 10.0.0, linux wsl"
    put(tmp_path, documentation.ECOSYSTEM, path, page)
    assert state(list(listings.claims(Snapshot(tmp_path))), name) == "right"
    put(tmp_path, documentation.ECOSYSTEM, path, page.replace("gfx908", "gfx1103"))
    assert state(list(listings.claims(Snapshot(tmp_path))), name) == "wrong"
