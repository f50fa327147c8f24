"""Whose GPU a paste is about, and that nothing is said about another vendor's."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.explain import read_bytes, read_stream
from rocport.explain.evidence import CLEAR, SYSTEMS, subjects_of, warns
from rocport.explain.pages import MOST_POSSIBLE
from rocport.explain.vendor import vendor_of
from rocport.facts.failures import load_failures
from rocport.model.context import Options
from rocport.model.versions import RocmVersion

NVIDIA_LOGS = (
    "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n"
    "RuntimeError: CUDA error: no kernel image is available for execution on the device\n",
    "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
    "CUDA kernel errors might be asynchronously reported at some other API call\n",
    "Automatically detected platform cuda.\nRuntimeError: Engine core initialization failed.\n",
    "| NVIDIA-SMI 510.85.02 |\nCUDA driver version is insufficient for CUDA runtime version\n",
)


@pytest.mark.parametrize("log", NVIDIA_LOGS)
def test_an_nvidia_log_gets_a_sentence_and_silence(log: str) -> None:
    assert read_bytes(log.encode(), "log").matches == ()
    result = CliRunner().invoke(cli, ["explain", "-"], input=log)
    assert result.exit_code == 0
    assert "nothing to say" in result.stdout
    assert "Fix:" not in result.stdout
    result = CliRunner().invoke(cli, ["doctor", "--from", "-"], input=log)
    assert result.exit_code == 0
    assert "nothing to say" in result.stdout


@pytest.mark.parametrize(
    ("text", "vendor"),
    [
        ("torch 2.5.1+cu121 on a Radeon RX 6800", "amd"),
        ("ggml_cuda_init: found 1 ROCm devices", "amd"),
        ("Device 0: AMD Radeon Graphics, gfx1151; NVIDIA-SMI has failed", "amd"),
        ("Python 3.12 [MSC v.1943 64 bit (AMD64)] on win32; GeForce RTX 3060", "nvidia"),
        ("Automatically detected platform cuda", "nvidia"),
        ("everything is fine", "unknown"),
        ("ROCM used to build PyTorch: N/A\nCUDA used to build PyTorch: 12.4\nHIP runtime version: N/A", "nvidia"),
        ('env="map[HIP_VISIBLE_DEVICES: HSA_OVERRIDE_GFX_VERSION: ] libraries [cpu rocm_v6]"\nTesla V100', "nvidia"),
        ("AMD Ryzen 7 5800H with Radeon Graphics; NVIDIA GeForce GTX 1650", "nvidia"),
        ("CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasCreate(handle)`", "nvidia"),
        ("### GPU\n\nAMD\n", "amd"),
        (
            "libbitsandbytes_rocm63.so: undefined symbol. If you use Intel CPU or XPU, please pip install "
            "intel_extension_for_pytorch",
            "amd",
        ),
        ("import intel_extension_for_pytorch as ipex", "intel"),
        ("amdgpu_device_initialize: amdgpu_get_auth (1) failed (-1)", "amd"),
        ("ROCM Version                 : Could not collect\nCUDA Archs: Not Set; ROCm: Disabled\n", "unknown"),
        ('* AMD GPUs on Linux require this driver:\n  "AMD ROCm" (4.3 or later)\n* NVIDIA GPUs require', "unknown"),
        ("The failure occurs in `TritonAMDGPUPipeline`: PassManager::run failed", "amd"),
        *(
            (text, "nvidia")
            for text in (
                *("RTX 4090, Windows", "I use an nvidia card", "two 4090s in one machine", "DGX Spark, Ubuntu 24.04"),
                *("Jetson Orin Nano", "Colab with a Tesla T4", "GPU: RTX PRO 6000", "Quadro P4000", "using a 1080ti"),
                *(
                    "nvidia driver 576.02",
                    "I am on nvidia",
                    "Platform: Windows 11, NVIDIA",
                    "使用 4090 显卡",
                    "TITAN V",
                ),
                "I'm using NVIDIA GPU but this keeps showing: cannot find _rocm_sdk_core/bin",
                "I have an RTX 3060. pip picked torch+rocm6.4, how do I get rid of it?",
                "### GPU\n\nRTX 4070\n\n### Log\n\nrocm plugin not found",
            )
        ),
        *(
            (text, "amd")
            for text in (
                *("It works on my RTX 3090 but fails on ROCm: HIP error", "Works fine on nvidia; on ROCm it does not"),
                *("I have a 7900 XTX and a 3090; the 7900 fails", "AMD 780M", "W7900", "7900 GRE", "AI PRO R9700"),
                *("MI 300X", "MI-250", "Strix Point 890M", "BC-250", "8060S graphics", "I have an AMD card"),
            )
        ),
        ("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU", "unknown"),
        ("a 780M parameter model, listening on port 5050", "unknown"),
    ],
)
def test_vendor(text: str, vendor: str) -> None:
    assert vendor_of(text).name == vendor


SEVEN = (
    *("allocator-max-split-size-small", "allocator-split-size-with-expandable-segments", "bnb-double-quant-cpu-xpu"),
    *("bnb-blocksize-64-refused", "flash-attn-ck-module-missing", "syncwarp-redefined", "allocator-option-rejected"),
)
MANY = "\n\n".join(failure.example for failure in load_failures() if failure.id in SEVEN)
"""Causes of which none is certain, as nothing says whose GPU it is."""


def test_possible_causes_beyond_the_first_few_are_counted_and_all_shows_them(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text(MANY + "\n\n\n\nx\nfoo: error: never seen\n")
    possible = read_bytes(log.read_bytes(), "log").possible
    last = possible[-1].failure.id
    assert len(possible) > MOST_POSSIBLE
    for command in (["explain", str(log)], ["doctor", "--from", str(log)]):
        said = CliRunner().invoke(cli, command).stdout
        assert f"and {len(possible) - MOST_POSSIBLE} more (rocport explain --all FILE" in said and last not in said
        assert "rocport explain --vendor amd FILE" in said
    for form in ("text", "markdown", "html"):
        said = CliRunner().invoke(cli, ["explain", "--all", "--format", form, str(log)]).stdout
        assert last in said and "foo: error: never seen" in said, form
        assert last not in CliRunner().invoke(cli, ["explain", "--format", form, str(log)]).stdout, form


def test_what_nvidia_machines_print_too_is_no_claim_without_a_word_of_amd() -> None:
    log = "NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:\n"
    reading = read_bytes(log.encode(), "log")
    assert reading.matches == ()
    assert [match.failure.id for match in reading.possible] == ["xformers-no-operator"]
    said = CliRunner().invoke(cli, ["explain", "-"], input=log)
    assert said.exit_code == 0
    assert "Possible causes, not certain" in said.stdout
    assert "--vendor amd" in said.stdout
    said = CliRunner().invoke(cli, ["explain", "--vendor", "amd", "-"], input=log)
    assert said.exit_code == 1
    assert "xformers-no-operator]" in said.stdout
    assert "Possible causes" not in said.stdout
    assert read_bytes(f"{log}gfx1201\n".encode(), "log").possible == ()


FAULT = "RuntimeError: HIP error: invalid device function\n"


@pytest.mark.parametrize(
    ("log", "doubt"),
    [
        # ollama's loader and system libraries, and no Python wheel anywhere
        ("error:/opt/rocm/lib/libMIOpen.so.1: undefined symbol: _ZN2ck1E\n", "of wheel"),
        ("node:1:1 [0] NCCL INFO NET/Plugin: librocm-net.so: cannot open shared object file: gfx90a\n", "information"),
        ('level=WARN source=amd_linux.go:53 msg="amdgpu version file missing: /sys/module/amdgpu/version"\n'
         'msg="inference compute" id=0 library=rocm compute=gfx900\n', "ends well (line 2)"),
        (f"{FAULT}retry\nSuccessfully installed torch-2.9.1+rocm7.2\n", "ends well (line 3)"),
        ("[W1 HIPAllocatorConfig.h:29] Warning: expandable_segments not supported on this platform\n"
         "Traceback (most recent call last):\nKeyError: 'weights'\n", "on line 3"),
        ("-- set CK_USE_XDL for gfx942\n[3/9] Building HIP object a.o\n", "only names it"),
        ("/opt/amdgpu/share/libdrm/amdgpu.ids: No such file or directory\nKeyError: 'x'\n", "on line 2"),
        (f"torch 2.9.1\n{FAULT}" + "-\n" * 50 + "ImportError: librocblas.so.5: cannot open shared object file\n", ""),
    ],
)  # fmt: skip
def test_what_speaks_against_a_diagnosis_makes_it_a_possibility(log: str, doubt: str) -> None:
    reading = read_bytes(log.encode(), "log")
    if not doubt:
        assert len(reading.matches) == 2
        return
    assert reading.matches == ()
    assert any(doubt in text for match in reading.possible for text in match.doubts), reading.weighed


@pytest.mark.parametrize(
    "line",
    [
        "If you get `{}`, set the override.",
        "You may see an error like: {}",
        "- Fixed: {}",
        "If you see the following error:\n\n```\n{}",
        "a1b2c3d Do not die with {} on RDNA",
        "`{}` no longer occurs here.",
        "A workaround for {} is to use another kernel.",
        '        raise RuntimeError("{}")',
        '    logger.warning(f"{}")',
        '\t\tDRM_ERROR("{}\\n");',
        "test_x.py::test_y[{}] PASSED",
        "expect {} on RDNA",
        "### {}",
        "1. `{}` (code 100). The runtime loaded fine but listed none. This is an environment issue on your end. Look.",
        "Or:\n```\n{}",
        "A script forces a device. The interpreter cannot map it. This triggers {}, and more.",
        "**{}**: set the override on RDNA.",
        "| {} | set the override |",
        "On some cards it can fail with {}",
        "Known issue: {}",
        "e.g. {}",
        "I no longer see {} on my card",
        "[Solved] {} on my card",
        "{} means that the kernels are another GPU's.",
    ],
)
def test_a_line_that_only_speaks_of_a_message_is_no_error(line: str) -> None:
    """Of 357 messages in nine such sentences, 330 were claimed in each; a report in words of one's own is still one."""
    for message in ("RuntimeError: HIP error: invalid device function", "hipErrorNoBinaryForGpu"):
        spoken = read_bytes(f"Radeon RX 7900 XTX (gfx1100)\n\n{line.format(message)}\n".encode(), "log")
        assert spoken.matches == ()
        reported = read_bytes(f"gfx1100\nWhen I run it I get {message}, what now?\n".encode(), "log")
        assert reported.matches != ()


@pytest.mark.parametrize(
    "line",
    [
        "{}: an unsupported value was passed to the function",
        "== {} ==",
        "unable to handle kernel: {}",
        "It used to work but now: {}",
        "I tried to fix it and I still get {}",
        "How to fix {}?",
        "{} and I can't use my GPU anymore",
        "{}: the kernel is expected to be built for this GPU",
        'torch.AcceleratorError("{}")',
    ],
)
def test_a_line_with_such_words_that_reports_a_message_is_one(line: str) -> None:
    reading = read_bytes(f"Radeon RX 7900 XTX (gfx1100)\n\n{line.format('hipErrorNoBinaryForGpu')}\n".encode(), "log")
    assert [match.failure.id for match in reading.matches] == ["invalid-device-function"]


@pytest.mark.parametrize("line", ["+    if (!compiled) return {};", "    if (status == {}) stop();", "case {}: break;"])
def test_a_code_that_a_source_names_is_no_error(line: str) -> None:
    assert read_bytes(f"gfx1100\n{line.format('hipErrorNoBinaryForGpu')}\n".encode(), "log").matches == ()


def test_what_ends_a_run_without_a_cause_is_no_diagnosis() -> None:
    reading = read_bytes(b"7900 XTX\nError: llama runner process has terminated: exit status 2\n", "log")
    assert reading.matches == ()
    assert [match.failure.id for match in reading.possible] == ["ollama-runner-exit"]


@pytest.mark.parametrize(
    "line",
    [
        "ROCm Setup failed despite ROCm being available. Please run the following command to get more information:",
        "RuntimeError: NCCL Error 2: unhandled system error (run with NCCL_DEBUG=INFO for details)",
    ],
)
def test_a_message_that_sends_its_reader_to_another_line_is_no_diagnosis(line: str) -> None:
    """Without the line that decides, the general one was claimed: bitsandbytes on a ROCm it has no library for."""
    reading = read_bytes(f"7900 XTX, bitsandbytes, RCCL\n{line}\n".encode(), "log")
    assert reading.matches == ()
    assert reading.possible[0].doubts == ("it says where to look, not what is wrong",)


def test_who_joins_a_report_tells_of_their_own_failure_and_a_listing_below_ends_nothing() -> None:
    title = "# hipErrorNoBinaryForGpu: Unable to find code object for all current devices!\n"
    agents = "```\nHSA Agents\n  Name: gfx803\n```\n"
    joined = read_bytes(f"{title}+1 same problem. RX 480\n{agents}".encode(), "log")
    assert [match.failure.id for match in joined.matches] == ["invalid-device-function"]
    page = read_bytes(f"{title}Set the override on an RX 480.\n{agents}".encode(), "log")
    assert page.matches == ()


def test_a_warning_is_not_claimed_beside_an_error() -> None:
    warning = "MIOpen(HIP): Warning [SQLiteBase] Missing system database file: gfx1030_12.kdb Performance may degrade\n"
    error = "RuntimeError: HIP error: invalid device function\n"
    reading = read_bytes((error + warning).encode(), "log")
    assert [match.failure.id for match in reading.matches] == ["invalid-device-function"]
    assert reading.possible[0].doubts == ("line 1 speaks for another cause: invalid-device-function",)


def test_what_another_failure_brings_about_is_no_cause() -> None:
    """A ring that hung is reset, and the reset of its queue is followed by faults at address 0."""
    hung = "amdgpu 0000:03:00.0: amdgpu: ring comp_1.1.0 timeout, signaled seq=7, emitted seq=9\n"
    fault = "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:32 vmid:0 pasid:0)\n"
    after, before = read_bytes((hung + fault).encode(), "log"), read_bytes((fault + hung).encode(), "log")
    assert [match.failure.id for match in after.matches] == ["gpu-reset"]
    assert "line 1 stands before it and brings it about: gpu-reset" in after.possible[0].doubts
    assert before.matches[0].failure.id == "gpu-page-fault"


def test_the_first_level_a_line_names_is_its_level() -> None:
    log = "error: unknown warning option '-Wnrvo' [-Werror,-Wunknown-warning-option]\nMIGraphX of ROCm 7.0 on gfx1100\n"
    assert [match.failure.id for match in read_bytes(log.encode(), "log").matches] == ["migraphx-compiler-option"]
    assert warns("CMake Warning at CMakeLists.txt:3 (message): error: none") and not warns(
        "x.cpp:3:1: error: -Wwarning"
    )


def test_words_of_anybody_are_claimed_only_beside_something_of_amd() -> None:
    """DKMS builds other drivers, too; a GPU of AMD named elsewhere in the paste does not make the failure ROCm's."""
    built = "Building initial module for 6.14.0\nError! Bad return status for module build on kernel: 6.14.0 (x86)\n"
    far = f"AMD Radeon RX 7900 XTX\n\n\n\n\nSetting up virtualbox-dkms\n{built}"
    reading = read_bytes(far.encode(), "log")
    assert reading.matches == ()
    assert any("nothing beside them" in doubt for match in reading.possible for doubt in match.doubts)
    near = f"Setting up amdgpu-dkms\n{built}"
    assert [match.failure.id for match in read_bytes(near.encode(), "log").matches] == ["dkms-build-failed"]


@pytest.mark.parametrize("library", ["libOpenCL.so.1", "libmagma.so", "libutility.so"])
def test_a_library_whose_name_others_have_is_claimed_only_beside_something_of_amd(library: str) -> None:
    missing = f"./tool: error while loading shared libraries: {library}: cannot open shared object file: No such file\n"
    assert "rocm-library-not-found" not in [match.failure.id for match in read_bytes(missing.encode(), "log").matches]
    beside = f"+ /opt/rocm/bin/tool\n{missing}"
    assert "rocm-library-not-found" in [match.failure.id for match in read_bytes(beside.encode(), "log").matches]


def test_no_example_of_what_nvidia_machines_print_too_is_claimed_where_no_vendor_shows() -> None:
    for failure in load_failures():
        reading = read_bytes(failure.example.encode(), "log")
        if failure.nvidia_too and reading.vendor == "unknown":
            assert failure.id not in [match.failure.id for match in reading.matches], failure.id


def test_a_clear_message_shows_its_own_program_and_no_system() -> None:
    triton = "out of resource: shared memory, Required: 106496, Hardware limit: 65536. Reducing block sizes may help.\n"
    assert [match.failure.id for match in read_bytes(f"{triton}rocm\n".encode(), "log").matches] == [
        "triton-lds-out-of-resources"
    ]
    for failure in load_failures():
        if failure.specificity >= CLEAR and SYSTEMS.intersection(subjects_of(failure.title)):
            break
    else:
        raise AssertionError("no record speaks of a system")


def test_a_missing_cmake_package_is_named_and_rocksdb_is_none_of_rocm() -> None:
    log = 'CMake Error: By not providing "Findhipblas.cmake" in CMAKE_MODULE_PATH this project\nGGML_HIP gfx1100\n'
    (match,) = read_bytes(log.encode(), "log").matches
    assert "package of hipblas is not installed" in match.filled(match.failure.cause)
    log = "CMake Error: Could NOT find RocksDB (missing: ROCKSDB_LIBRARIES) for gfx1100\n"
    assert read_bytes(log.encode(), "log").weighed == ()


@pytest.mark.parametrize("rocm", ["6.4", "7.2"])
def test_a_version_out_of_its_range_makes_it_a_possibility(rocm: str) -> None:
    log = "error: use of undeclared identifier '__shfl_down_sync'; did you mean '__shfl_down'?\n"
    found = read_stream(io.BytesIO(log.encode()), "log", "amd", Options(rocm=RocmVersion.parse(rocm)))
    (match,) = found.weighed
    assert match.failure.id == "shfl-sync-undeclared"
    assert bool(match.doubts) == (rocm == "7.2")


@pytest.mark.parametrize(
    "log",
    [
        "RuntimeError: MPS backend out of memory (MPS allocated: 5.50 GB). OS: macOS 14.5 (arm64)\n",
        "torch==2.7.1+xpu\nROCM used to build PyTorch: N/A\nProcess finished with exit code -1073741819 (0xC0000005)\n",
        "AMD Radeon Pro 5500M\nggml_metal_init: found device\nGGML_ASSERT failed\n",
    ],
)
def test_other_vendors_get_silence(log: str) -> None:
    reading = read_bytes(log.encode(), "log")
    assert reading.foreign
    assert reading.weighed == ()


def test_a_cuda_build_without_a_gpu_keeps_only_that_mistake() -> None:
    build = "torch version ........ 2.3.1+cu121\nRuntimeError: Error building extension 'fused_adam'\n"
    assert read_bytes(build.encode(), "log").matches == ()
    library = "OSError: libcublas.so.12: cannot open shared object file: No such file or directory\n"
    assert [m.failure.id for m in read_bytes(library.encode(), "log").possible] == ["cuda-library-needed-on-rocm"]
    assert read_bytes(f"{library}gfx1100\n".encode(), "log").matches
    assert "no GPU is named" in CliRunner().invoke(cli, ["explain", "-"], input=library).stdout


def test_case_numbers_and_wraps_do_not_matter() -> None:
    for text in (
        "rocblas ERROR: cannot read /opt/rocm-7.9.1/rocblas/TensileLibrary.dat: illegal seek for gpu arch : gfx1103",
        "amdgpu-6.12.12 DKMS files\n"
        "\x1b[31mError! Bad return status for module build on kernel: 6.14.0-24-gen\neric (x86_64)\x1b[0m",
        'OSError: [WinError 126] No se encuentra el modulo. Error loading "C:\\zluda\\torch\\lib\\shm.dll" or one of'
        " its dependencies.",
    ):
        assert read_bytes(text.encode(), "log").matches, text


def test_one_identifier_is_not_the_beginning_of_another() -> None:
    found = read_bytes(b"hipErrorInvalidDeviceFunction", "log").matches
    assert [match.failure.id for match in found] == ["invalid-device-function"]


def test_doctor_from_says_what_explain_says(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text(
        'Device 0: AMD Radeon Graphics, gfx1103\nrocblaslt error: Could not load "TensileLibrary_lazy_gfx1103.dat"\n'
    )
    result = CliRunner().invoke(cli, ["doctor", "--from", str(log)])
    assert result.exit_code == 1
    assert "[hipblaslt-library-missing]" in result.stdout


def test_rocminfo_of_megabytes_is_read_in_bounded_memory_and_keeps_the_machine() -> None:
    agent = (
        "*******\nAgent 2\n*******\n  Name:                    gfx1100\n  Marketing Name:          Radeon RX 7900 XTX\n"
    )
    noise = b"".join(b"      Size:  %d(0x%x) KB\n" % (n, n) for n in range(75_000))
    reading = read_bytes(agent.encode() + noise + b"rocBLAS error: Cannot read TensileLibrary.dat\n", "rocminfo")
    assert reading.vendor == "amd"
    assert [match.failure.id for match in reading.matches] == ["tensile-library-missing"]


def test_doctor_reads_a_paste_once_and_as_explain_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files are one machine; each is parsed by the reader of explain and by nothing else."""
    from rocport.doctor import capture

    (tmp_path / "a.txt").write_text("GPU models and configuration: AMD Radeon RX 7900 XTX (gfx1100)\n")
    (tmp_path / "b.txt").write_text("[pip3] bitsandbytes==0.49.1\n")
    (tmp_path / "c.png").write_bytes(b"\x89PNG\x00\x00")
    parsed: list[str] = []
    parse_text = capture.parse_text
    monkeypatch.setattr(capture, "parse_text", lambda text, where: parsed.append(where) or parse_text(text, where))
    result = CliRunner().invoke(cli, ["doctor", "--from", str(tmp_path)])
    assert [Path(name).name for name in parsed] == ["a.txt", "b.txt"]
    assert "2 captures read" in result.stdout and "gfx1100" in result.stdout and "c.png: passed over" in result.stdout
    assert "bitsandbytes 0.49.1" in result.stdout


def test_the_last_good_or_bad_line_is_found_among_many_that_look_alike() -> None:
    lines = ["cuda available: true", *["available: true", "Error rate 0"] * 500, "KeyError: 'x'", "available: true"]
    setting = read_bytes("\n".join(lines).encode(), "log").diagnosis.setting
    assert (setting.well, setting.failed) == (1, 1002)


def test_a_default_that_was_taken_does_not_outrank_the_error_that_ended_the_run() -> None:
    """Both lines are marked as errors; after the first bitsandbytes goes on with a wavefront of 64 lanes."""
    log = (
        "[error] Could not detect ROCm warp size: [WinError 2] The system cannot find the file. Defaulting to 64.\n"
        "[error] bitsandbytes library load error: Configured ROCm binary not found at D:\\libbitsandbytes_rocm72.dll\n"
        "Traceback (most recent call last):\n"
    )
    assert read_bytes(log.encode(), "log").matches[0].failure.id == "bnb-library-not-found"


def test_a_crash_of_another_drivers_function_is_not_the_gpus() -> None:
    """`dm_` begins names of amdgpu's display code and of the device mapper."""
    oops = "RIP: 0010:{}+0x48/0x445\n"
    assert not read_bytes(("GPU: gfx1100\n" + "x\n" * 9 + oops.format("dm_table_run_md_queue")).encode(), "l").matches
    assert read_bytes(("x\n" * 9 + oops.format("dm_read_reg_func").rstrip() + " [amdgpu]\n").encode(), "log").matches


def test_an_address_in_a_line_says_whose_it_is():
    """A key of another repository was taken for AMD's, whose guide was named in the sentence above."""
    guide = "The guide is https://rocm.docs.amd.com/projects/install-on-linux\n\n"
    error = "W: GPG error: https://{} jammy InRelease: signatures couldn't be verified: NO_PUBKEY 516166\n"
    other = read_bytes((guide + error.format("cloud.example.org/ubuntu")).encode(), "log")
    assert other.matches == () and other.vendor == "amd"
    assert read_bytes((guide + error.format("repo.radeon.com/rocm/apt/6.4")).encode(), "log").matches


@pytest.mark.parametrize(("version", "claimed"), [("2.44.0", False), ("2.45.0", True)])
def test_a_library_that_bounds_a_failure_is_looked_for_in_the_paste(version: str, claimed: bool) -> None:
    """Only bitsandbytes and Triton were: a message of Ray 2.45 and later was claimed beside any Ray."""
    log = (
        f"GPU models and configuration: AMD Instinct MI300X (gfx942)\n[pip3] ray=={version}\n\n"
        "AssertionError: Inconsistant values found. Please use either HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES.\n"
    )
    reading = read_bytes(log.encode(), "log")
    assert [match.failure.id for match in reading.matches] == ["visible-devices-disagree"] * claimed
    if not claimed:
        assert "it holds for ray >=2.45" in reading.possible[0].doubts[0]
