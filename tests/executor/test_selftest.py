"""Executors show what they get right before they are believed; a verdict says what it rests on."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.executor import rocjitsu as rocjitsu_module
from rocport.executor.amd import AmdExecutor, gpu_targets, width_of
from rocport.executor.base import BuildError, Capability, Executor, Level, RunOptions, RunResult, Trust
from rocport.executor.cpu import CpuExecutor
from rocport.executor.nvidia import NvidiaExecutor, find_nvcc, write_headers
from rocport.executor.program import load_program
from rocport.executor.registry import executors, find_executor
from rocport.executor.rocjitsu import RocjitsuExecutor, find_configs, read_config
from rocport.executor.selftest import PROGRAM, TESTS, Evidence, SelfTest, read_outcome, remembered, trusted
from rocport.executor.triton_interpreter import TritonInterpreter, operations, script_program

ALL_OK = "".join(f"TEST {name} ok\n" for name in TESTS)


def result(stdout: str, status: int = 0) -> RunResult:
    return RunResult(status, stdout, "", 0.1)


def test_the_cpu_executor_passes_at_both_widths(executor: CpuExecutor) -> None:
    capability, outcome = trusted(executor)
    assert outcome.passed, str(outcome)
    assert capability.trust is Trust.SELF_TESTED
    assert "at width 32, width 64" in str(outcome)


@pytest.mark.parametrize(
    ("stdout", "failed"),
    [
        (ALL_OK + "WIDTH 64\n", ()),
        (ALL_OK + "WIDTH 32\n", ("width",)),
        (ALL_OK.replace("barrier ok", "barrier FAIL") + "WIDTH 64\n", ("barrier",)),
        ("", TESTS),  # an emulator that found no device and ended well
    ],
)
def test_the_words_of_a_self_test(stdout: str, failed: tuple[str, ...]) -> None:
    assert read_outcome(result(stdout), 64) == failed


def test_an_executor_that_fails_is_refused() -> None:
    class Silent(CpuExecutor):
        def run(self, *_arguments: object, **_options: object) -> RunResult:
            return result("")

    capability, outcome = trusted(Silent(), Capability("silent", (64,), level=Level.ISA))
    assert not capability.usable
    assert capability.trust is Trust.UNTESTED
    assert "width 64: launch" in str(outcome)


def test_a_target_is_believed_only_where_the_self_test_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocport.executor.selftest.executor_cache", lambda: tmp_path)
    ran: list[str | None] = []

    class Device:
        """Of several targets of one width; the last computes nothing right."""

        name = "told"

        def __init__(self, *targets: str) -> None:
            self.targets = targets

        def probe(self) -> Capability:
            return Capability(self.name, (64,), self.targets, Level.ISA)

        def build(self, *_: object) -> Path:
            return tmp_path / "program"

        def run(self, _executable: Path, _arguments: object, _cwd: Path, options: RunOptions) -> RunResult:
            ran.append(options.target)
            return result("" if options.target == "gfx950" else ALL_OK + f"WIDTH {options.width}\n")

    assert remembered(Device("gfx942"))[0].trust is Trust.SELF_TESTED
    assert remembered(Device("gfx942", "gfx90a"))[0].trust is Trust.SELF_TESTED
    assert ran == ["gfx942", "gfx90a"]  # each once
    capability, _ = remembered(Device("gfx942", "gfx950"))
    assert "gfx950: launch" in capability.refusal
    assert not remembered(Device("gfx950"))[0].usable
    assert ran[2:] == ["gfx950", "gfx950"]


def test_of_two_processes_one_runs_the_self_test_and_the_other_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocport.executor.selftest.executor_cache", lambda: tmp_path)
    runs: list[str] = []

    class Slow(CpuExecutor):
        def probe(self) -> Capability:
            return Capability("slow", (64,), (), Level.ISA)

        def build(self, *_: object, **__: object) -> Path:
            return tmp_path / "program"

        def run(self, *_arguments: object, **_options: object) -> RunResult:
            runs.append("begins")
            time.sleep(0.2)
            return result(ALL_OK + "WIDTH 64\n")

    with ThreadPoolExecutor(2) as pool:  # locks are of open files: threads exclude each other as processes do
        found = [task.result()[0].trust for task in [pool.submit(remembered, Slow()) for _ in range(2)]]
    assert found == [Trust.SELF_TESTED] * 2 and runs == ["begins"]


def test_where_no_record_can_be_written_the_self_test_runs_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("rocport.executor.selftest.executor_cache", lambda: tmp_path / "file")
    asked = (Capability("told", (64,), level=Level.ISA, trust=Trust.SELF_TESTED), SelfTest({"width 64": ()}))
    monkeypatch.setattr("rocport.executor.selftest.trusted", lambda *_: asked)
    assert remembered(CpuExecutor()) == asked


def evidence(*parts: tuple[str, Level, Trust, str]) -> Evidence:
    return Evidence(
        tuple((Capability(name, (64,), level=level, trust=trust), 64, result(out)) for name, level, trust, out in parts)
    )


@pytest.mark.parametrize(
    ("runs", "claim"),
    [
        ((("cpu", Level.SOURCE, Trust.SELF_TESTED, "PASS"),), "source-verified"),
        ((("cpu", Level.SOURCE, Trust.UNTESTED, "PASS"),), "not verified"),
        ((("rocjitsu", Level.ISA, Trust.SELF_TESTED, "PASS"),), "ISA-run"),
        (
            (("rocjitsu", Level.ISA, Trust.SELF_TESTED, "PASS"), ("cpu", Level.SOURCE, Trust.SELF_TESTED, "PASS")),
            "ISA-verified",
        ),
        (
            (("rocjitsu", Level.ISA, Trust.SELF_TESTED, "PASS"), ("cpu", Level.SOURCE, Trust.SELF_TESTED, "PASS 2")),
            "ISA-run",
        ),
        ((("amd", Level.HARDWARE, Trust.SELF_TESTED, "PASS"),), "hardware-verified"),
    ],
)
def test_a_claim_needs_its_evidence(runs: tuple[tuple[str, Level, Trust, str], ...], claim: str) -> None:
    shown = evidence(*runs)
    assert shown.claim == claim
    assert str(shown).startswith(claim) and "at width 64" in str(shown)


def test_every_executor_has_its_own_name_and_says_why_it_is_not_here() -> None:
    names = [one.name for one in executors()]
    assert names == ["cpu", "isa", "amd", "rocjitsu", "nvidia", "triton-interpreter"]
    for one in executors():
        if one.name == "triton-interpreter":
            continue
        capability = one.probe()
        assert capability.usable or len(capability.refusal) > 20
    with pytest.raises(KeyError, match="nothing: no such executor; one of cpu"):
        find_executor("nothing")


# ---- AMD's GPU and its emulator ------------------------------------------------------------------------------------


def test_gpus_are_read_from_the_kernels_topology(tmp_path: Path) -> None:
    for number, text in enumerate(["simd_count 0\n", "simd_count 304\ngfx_target_version 90402\n", "broken"]):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "properties").write_text(text)
    assert gpu_targets(tmp_path) == ("gfx942",)
    assert gpu_targets(tmp_path / "gone") == ()
    assert (width_of("gfx942"), width_of("gfx1100"), width_of("gfx9999")) == (64, 32, 64)


def test_a_gpu_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "properties").write_text("simd_count 8\ngfx_target_version 110000\n")
    assert "cannot be opened" in AmdExecutor(tmp_path, tmp_path / "kfd").probe().refusal
    assert "no AMD GPU" in AmdExecutor(tmp_path / "none").probe().refusal


def test_a_target_chooses_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, version in enumerate((110000, 90402, 90402)):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "properties").write_text(f"simd_count 8\ngfx_target_version {version}\n")
    monkeypatch.setattr("rocport.executor.amd.find_tool", lambda name: tmp_path / name)
    (tmp_path / "kfd").write_text("")
    assert AmdExecutor(tmp_path, tmp_path / "kfd").probe().targets == ("gfx1100", "gfx942")
    refusal = AmdExecutor(tmp_path, tmp_path / "kfd", "gfx90a").probe().refusal
    assert refusal == "no GPU of gfx90a: this machine has gfx1100, gfx942, gfx942; name one of these"
    one = AmdExecutor(tmp_path, tmp_path / "kfd", "gfx942")
    assert one.probe().targets == ("gfx942",) and one.probe().widths == (64,)
    printed = one.run(Path("/bin/sh"), ("-c", "echo $ROCR_VISIBLE_DEVICES"), tmp_path, RunOptions()).stdout
    assert printed == "1\n"


@pytest.mark.parametrize(
    ("given", "target", "seen"),
    [
        ({}, "gfx942", "1||"),
        ({"HIP_VISIBLE_DEVICES": "2"}, "gfx942", "2||"),
        ({"CUDA_VISIBLE_DEVICES": "2,1"}, "gfx942", "2||"),
        ({"ROCR_VISIBLE_DEVICES": "2"}, "gfx942", "2||"),
        ({"ROCR_VISIBLE_DEVICES": "0,2", "HIP_VISIBLE_DEVICES": "1"}, "gfx942", "2||"),
        ({"ROCR_VISIBLE_DEVICES": "GPU-0123456789abcdef"}, "gfx942", "GPU-0123456789abcdef||"),
        ({"HIP_VISIBLE_DEVICES": "", "CUDA_VISIBLE_DEVICES": "2"}, "gfx942", "2||"),
        ({"HIP_VISIBLE_DEVICES": "1"}, None, "|1|"),
        ({"HIP_VISIBLE_DEVICES": "0"}, "gfx942", "leave [0] of them visible"),
        ({}, "gfx90a", "no GPU of gfx90a to run on: this machine has gfx1100, gfx942, gfx942"),
    ],
)
@pytest.mark.parametrize("outside", [True, False])
def test_a_device_that_the_caller_chose_stays_chosen(
    given: dict[str, str],
    target: str | None,
    seen: str,
    outside: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number, version in enumerate((110000, 90402, 90402)):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "properties").write_text(f"simd_count 8\ngfx_target_version {version}\n")
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items() if outside else ():
        monkeypatch.setenv(name, value)
    options = RunOptions(target=target, environment={} if outside else given)
    words = ("-c", "echo $ROCR_VISIBLE_DEVICES'|'$HIP_VISIBLE_DEVICES'|'$CUDA_VISIBLE_DEVICES")
    executor = AmdExecutor(tmp_path, tmp_path / "kfd")
    if "|" in seen:
        assert executor.run(Path("/bin/sh"), words, tmp_path, options).stdout == f"{seen}\n"
    else:
        with pytest.raises(BuildError, match=re.escape(seen)):
            executor.run(Path("/bin/sh"), words, tmp_path, options)


def write_config(folder: Path, name: str, version: int, **more: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    gpu = {"device": {"gfx_target_version": version, "wave_front_size": 64}, **more}
    path.write_text(json.dumps({"vm": {"arch": "x", "gpu": gpu}}))
    return path


def test_the_emulators_configuration_is_chosen_by_target(tmp_path: Path) -> None:
    write_config(tmp_path, "gfx942_cdna3.json", 90402)
    with_driver = write_config(tmp_path, "gfx942_cdna3_kmd.json", 90402)
    write_config(tmp_path, "gfx950_kmd_2gpu.json", 90500, num_gpus=2)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "list.json").write_text("[]")
    found = find_configs(tmp_path)
    assert set(found) == {"gfx942"}
    assert found["gfx942"].path == with_driver
    assert found["gfx942"].width == 64
    assert read_config(tmp_path / "broken.json") is None


def stand_in(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def test_the_emulator_is_called_as_its_manual_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write_config(tmp_path / "share/rocjitsu/configs", "gfx942_cdna3_kmd.json", 90402)
    stand_in(tmp_path / "bin/rocjitsu", 'echo "$@"\n')
    stand_in(tmp_path / "bin/hipcc", "exit 0\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    one = RocjitsuExecutor("gfx942")
    capability = one.probe()
    assert (capability.widths, capability.targets, capability.level) == ((64,), ("gfx942",), Level.ISA)
    said = one.run(Path("/x/app"), ("1",), tmp_path, RunOptions()).stdout.strip()
    assert said == f"--config {config} -- /x/app 1"
    assert "no configuration whose gfx_target_version is gfx1100's; there: gfx942" in (
        RocjitsuExecutor("gfx1100").probe().refusal
    )


def test_older_packages_have_only_mirage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path / "bin/mirage", 'echo "$@"\n')
    stand_in(tmp_path / "bin/hipcc", "exit 0\n")
    monkeypatch.setattr(
        rocjitsu_module, "find_tool", lambda name: p if (p := tmp_path / "bin" / name).exists() else None
    )
    assert (
        RocjitsuExecutor("gfx950").run(Path("app"), (), tmp_path, RunOptions()).stdout.strip()
        == "run --profile mi350x -- app"
    )
    assert "no profile for gfx1030" in RocjitsuExecutor("gfx1030").probe().refusal


# ---- NVIDIA --------------------------------------------------------------------------------------------------------


def test_hip_names_get_their_cuda_spelling(tmp_path: Path) -> None:
    write_headers(load_program(PROGRAM), tmp_path)
    names = (tmp_path / "rocport_names.h").read_text()
    for line in ("hipMalloc cudaMalloc", "hipSuccess cudaSuccess", "__hip_bfloat16 __nv_bfloat16"):
        assert f"#define {line}\n" in names
    assert "#include <cuda_runtime.h>" in (tmp_path / "hip" / "hip_runtime.h").read_text()


def test_a_library_without_counterpart_is_named(tmp_path: Path) -> None:
    source = tmp_path / "a.hip"
    source.write_text("#include <hip/hip_ext.h>\nint main() {}\n")
    with pytest.raises(BuildError, match=r"no CUDA counterpart of hip/hip_ext\.h"):
        write_headers(load_program(source), tmp_path / "include")


def test_the_self_test_builds_with_nvcc(tmp_path: Path) -> None:
    if find_nvcc() is None:
        pytest.skip("no nvcc")
    assert NvidiaExecutor().build(load_program(PROGRAM), tmp_path, architecture="sm_90").is_file()


def test_an_nvidia_gpu_has_no_width_64(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="warps of 32 lanes"):
        NvidiaExecutor().run(tmp_path / "x", (), tmp_path, RunOptions(width=64))


# ---- Triton's interpreter ------------------------------------------------------------------------------------------


def _needs_triton() -> None:
    outcome = operations(sys.executable, True)
    if "error" in outcome:
        pytest.skip(outcome["error"])


def test_what_the_interpreter_gets_wrong_is_put_right() -> None:
    _needs_triton()
    as_is, corrected = operations(sys.executable, False), operations(sys.executable, True)
    assert all(said == "ok" for name, said in corrected.items() if name != "triton"), corrected
    if as_is["triton"].startswith("3.9."):
        assert as_is["dot-bf16"] != "ok"
        assert as_is["round-bf16"] != "ok"
    assert TritonInterpreter().probe().trust is Trust.SELF_TESTED


def test_a_script_runs_in_the_corrected_interpreter(tmp_path: Path) -> None:
    _needs_triton()
    script = tmp_path / "s.py"
    script.write_text(
        "import sys\nimport torch\nimport triton\nimport triton.language as tl\n\n\n"
        "@triton.jit\ndef k(x, y, N: tl.constexpr):\n"
        "    at = tl.arange(0, N)\n    tl.store(y + at, tl.load(x + at).to(tl.bfloat16))\n\n\n"
        "x = torch.full((16,), 1.005859375)\ny = torch.zeros(16, dtype=torch.bfloat16)\nk[(1,)](x, y, 16)\n"
        "print(sys.argv[1], torch.equal(y, x.to(torch.bfloat16)))\n"
    )
    one = TritonInterpreter()
    path = one.build(script_program(script), tmp_path)
    done = one.run(path, ("here",), tmp_path, RunOptions())
    assert done.stdout.strip() == "here True", done.stderr


def test_a_script_that_needs_what_is_wrong_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "rocport.executor.triton_interpreter.operations", lambda *_: {"triton": "4", "dot-bf16": "wrong"}
    )
    (tmp_path / "s.py").write_text("tl.dot(a, b)\n")
    with pytest.raises(BuildError, match="dot-bf16"):
        TritonInterpreter().build(script_program(tmp_path / "s.py"), tmp_path)


# ---- the command ---------------------------------------------------------------------------------------------------


def test_the_command_lists_executors_and_refuses_what_is_not_here(tmp_path: Path) -> None:
    if shutil.which("nvidia-smi"):
        pytest.skip("an NVIDIA driver is here")
    listed = CliRunner().invoke(cli, ["run", "--list-executors"])
    assert listed.exit_code == 0
    assert "cpu: source, self-tested, width 32, 64" in listed.stdout
    assert "nvidia: not here (source): no NVIDIA GPU" in listed.stdout
    refused = CliRunner().invoke(cli, ["run", "--executor", "nvidia", str(PROGRAM)])
    assert "nvidia: no NVIDIA GPU" in refused.output
    unknown = CliRunner().invoke(cli, ["run", "--executor", "tpu", str(PROGRAM)])
    assert "tpu: no such executor" in unknown.output


def test_each_follows_the_interface() -> None:
    for one in executors():
        checked: Executor = one
        assert callable(checked.probe) and callable(checked.build) and callable(checked.run)
