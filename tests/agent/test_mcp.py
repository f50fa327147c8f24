"""The server with a real client over stdin and stdout, and a scripted editor that makes wrong and right edits."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from rocport import api
from rocport.agent import tasks, tools
from rocport.agent.accept import accept
from rocport.facts.dates import as_of
from rocport.model.verification import Status, UnitResult, Verification
from rocport.toolchain import ToolchainError, find
from rocport.verify import build, functional
from rocport.verify.nvidia import TreeError

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
#include <cuda_runtime.h>
__global__ void k(float *x) {
  x[threadIdx.x] += __shfl_xor_sync(0xffffffff, x[threadIdx.x], 1);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a.cu").write_text(SOURCE)
    (folder / "b.cu").write_text("#include <cuda_runtime.h>\n__global__ void b(int *x) { *x = 1; }\n")
    return folder


def _served(use: Callable[[Any], Awaitable[None]]) -> None:
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")

    async def talk() -> None:
        words = ["-m", "rocport", "mcp"]
        served = mcp.StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with mcp.Client(served) as client:
            await use(client)

    asyncio.run(talk())


def test_a_client_scans_ports_and_asks(tree: Path, tmp_path: Path) -> None:
    async def use(client: Any) -> None:
        named = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"scan", "port", "apply_port", "verify_build", "explain", "counterpart", "task", "accept"} <= set(named)
        assert named["scan"].annotations.read_only_hint and not named["accept"].annotations.read_only_hint
        assert all(tool.description for tool in named.values())

        async def call(name: str, /, **arguments: Any) -> Any:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            return result.structured_content

        found = await call("scan", path=str(tree), applicability="manual")
        assert [finding["line"] for finding in found["findings"]] == [4] and found["next_offset"] is None
        preview = await call("port", path=str(tree))
        assert "+#include <hip/hip_runtime.h>" in preview["diff"] and not (tmp_path / "port").exists()
        written = await call("apply_port", path=str(tree), out=str(tmp_path / "port"))
        assert written["files"]["translated"] == 2 and (tmp_path / "port" / "a.cu").exists()
        assert (await call("counterpart", name="cudaMalloc"))["hip"] == "hipMalloc"
        assert not (await call("counterpart", name="cudaNoSuchName"))["known"]
        refused = await client.call_tool("scan", {"path": str(tmp_path / "nowhere")})
        assert refused.is_error and "no such file or folder" in refused.content[0].text
        listed = await client.read_resource("rocport://rules")
        assert "warp-mask-constant: " in listed.contents[0].text
        page = await client.read_resource("rocport://rules/inline-ptx")
        assert "PTX" in page.contents[0].text
        report = await client.read_resource("rocport://report/" + quote(str(tmp_path / "port"), safe=""))
        assert report.contents[0].text.startswith("<!DOCTYPE html>") and "a.cu" in report.contents[0].text

    _served(use)


def test_a_folder_that_is_no_port_has_no_page(tmp_path: Path) -> None:
    with pytest.raises(tools.ToolError, match="run `rocport port` first"):
        tools.report(str(tmp_path))


def test_long_answers_come_in_pages(tree: Path) -> None:
    (tree / "c.cu").write_text(
        "#include <cuda_runtime.h>\nint main() {\n" + "  cudaDeviceSynchronize();\n" * 2000 + "}\n"
    )
    first = tools.port(str(tree))
    assert first["next_offset"] == tools.TEXT == len(first["diff"])
    whole, offset = first["diff"], first["next_offset"]
    while offset is not None:
        following = tools.port(str(tree), offset=offset)
        whole, offset = whole + following["diff"], following["next_offset"]
    assert whole.count("+  hipDeviceSynchronize();") == 2000


def test_the_transcript_of_the_docs_is_what_a_client_sees() -> None:
    """A diff, the port, a task, two wrong edits refused (by the compiler, by the run at width 32), a right one."""
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    try:
        if find().kind != "sdk":
            pytest.skip("the page was written with rocport's SDK; another HIP compiler has other words")
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    words = [sys.executable, str(ROOT / "tools" / "agent_transcript.py"), "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_and_a_counterpart_have_the_day_of_their_facts() -> None:
    for name in ("warp-mask-constant", "bnb-cuda-version-set"):
        assert tools.page(name)["data"]["facts_as_of"] == as_of("failures").isoformat()
    day = as_of("libraries", "packages", "intrinsics.toml").isoformat()
    for name in ("cudaMalloc", "cudaNoSuchName"):
        assert tools.counterpart(name)["facts_as_of"] == day


def test_an_explanation_has_the_day_of_its_facts() -> None:
    said = tools.explain(
        "Ignoring visible gpu device (device: 0) with AMDGPU version : gfx1102. "
        "The supported AMDGPU versions are gfx1030."
    )
    assert said["facts_as_of"] == as_of("failures").isoformat()


def test_what_cannot_be_answered_is_said_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(tools.ToolError, match="warp-mask-constant"):
        tools.page("warp-mask")
    with pytest.raises(tools.ToolError, match="one of symbol"):
        tools.counterpart("cudaMalloc", "thing")
    with pytest.raises(tools.ToolError, match="write one with apply_port"):
        tasks.task(str(tmp_path))
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.cu").write_text(SOURCE)
    tools.apply_port(str(tmp_path / "tree"), str(tmp_path / "port"))
    with pytest.raises(tools.ToolError, match="not a file that the port wrote"):
        accept(str(tmp_path / "port"), "../tree/a.cu", SOURCE)
    with pytest.raises(tools.ToolError, match="32 or 64"):
        tools.run("x.hip", 16)


def _port(tmp_path: Path, text: str) -> Path:
    """The port of one file, `b.cu`."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "b.cu").write_text(f"#include <cuda_runtime.h>\n{text}\n")
    tools.apply_port(str(tmp_path / "one"), str(tmp_path / "port"))
    return tmp_path / "port" / "b.cu"


def test_an_edit_that_no_compiler_judges_is_refused(tmp_path: Path) -> None:
    try:
        find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    file = _port(tmp_path, "__global__ void b(int *x) { *x = 1; }")
    right, port = file.read_text(), str(file.parent)
    skipped = accept(port, "b.cu", "#include <no/such.h>\n" + right, ("gfx942",))
    assert not skipped["accepted"] and file.read_text() == right
    assert {(error["unit"], error["target"]) for error in skipped["errors"]} == {("b.cu", "host"), ("b.cu", "gfx942")}
    assert "no/such.h> is not on this machine" in skipped["errors"][0]["reason"]
    file.write_text("#include <no/such.h>\n#error\n")
    unjudged = accept(port, "b.cu", "#include <no/such.h>\n" + right, ("gfx942",))
    assert unjudged["accepted"] and any("not judged by a compiler" in said for said in unjudged["how"])
    file.write_text("#error\n")
    skipped = accept(port, "b.cu", "#include <no/such.h>\n", ("gfx942",))
    assert not skipped["accepted"] and file.read_text() == "#error\n"


def test_an_edit_after_which_a_program_runs_no_more_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compiles need not link, or be a program at all. The compiler and the runs are told here."""

    def verify(path: Path, _: object) -> functional.FunctionalVerification:
        verdict = functional.Verdict.NOT_BUILT if "missing()" in path.read_text() else functional.Verdict.PASS
        return functional.FunctionalVerification("told", (functional.ProgramResult(path.name, str(path), verdict, ""),))

    compiled = Verification("build", "", (), "told", (UnitResult("b.cu", "host", Status.OK),))
    monkeypatch.setattr(build, "verify", lambda path, options: compiled)
    monkeypatch.setattr(functional, "verify", verify)
    file = _port(tmp_path, "int main() {}")
    right, port = file.read_text(), str(file.parent)
    gone = accept(port, "b.cu", "void other() {}\n", ("gfx942",))
    assert not gone["accepted"] and gone["errors"][0]["verdict"] == "gone" and file.read_text() == right
    unlinked = accept(port, "b.cu", "void missing();\nint main() { missing(); }\n", ("gfx942",))
    assert not unlinked["accepted"] and unlinked["ran"] == {"b.cu": "not built"} and file.read_text() == right
    assert "built and run before the edit" in unlinked["errors"][0]["reason"]
    assert accept(port, "b.cu", "int main() { return 0; }\n", ("gfx942",))["ran"] == {"b.cu": "pass"}


PROGRAM = """\
__global__ void k(int *x) {{ *x = 1; }}
{more}
int main() {{ int *x; {body} return 0; }}
"""


def test_an_edit_that_keeps_main_and_drops_the_launch_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that no longer runs the kernel is right whatever the kernel computes."""
    runs = []

    def verify(path: Path, _: object) -> functional.FunctionalVerification:
        text = path.read_text().partition("int main")[2]
        runs.append(text)
        ran = () if "return 0; k<" in text else tuple(name for name in ("k", "ns::j<int>") if f"{name}<<<" in text)
        result = functional.ProgramResult(path.name, str(path), functional.Verdict.PASS, kernels=ran)
        return functional.FunctionalVerification("told", (result,))

    compiled = Verification("build", "", (), "told", (UnitResult("b.cu", "host", Status.OK),))
    monkeypatch.setattr(build, "verify", lambda path, options: compiled)
    monkeypatch.setattr(functional, "verify", verify)
    file = _port(tmp_path, PROGRAM.format(more="", body="k<<<1, 1>>>(x);"))
    right, port = file.read_text(), str(file.parent)
    assert "k<<<" in right

    def taken(text: str) -> tuple[bool, str]:
        file.write_text(right)
        runs.clear()
        said = accept(port, "b.cu", text, ("gfx942",))
        assert said["accepted"] or file.read_text() == right
        return said["accepted"], " ".join([*said["how"], *(error["reason"] for error in said["errors"])])

    for body in ("", "return 0; k<<<1, 1>>>(x);"):
        accepted, reason = taken(PROGRAM.format(more="", body=body))
        assert not accepted and "it ran k before the edit" in reason and len(runs) == 2
    accepted, _ = taken(PROGRAM.format(more="// again", body="k<<<1, 1>>>(x);"))
    assert accepted and len(runs) == 1
    other = "namespace ns { template <class T> __global__ void j(T *x) {} }"
    accepted, reason = taken(f"{other}\nint main() {{ int *x; ns::j<int><<<1, 1>>>(x); }}\n")
    assert accepted and "no longer runs k; it runs j" in reason
    assert not taken("int main() { }\n")[0]


@pytest.mark.parametrize("words", [["accept", "port", "a.cu", "tree/a.cu"], ["task", "port"]])
def test_a_file_that_is_not_there_is_an_error_and_not_a_crash(tree: Path, words: list[str]) -> None:
    tools.apply_port(str(tree), str(tree.parent / "port"))
    (tree.parent / "port" / "a.cu").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "rocport", *words], cwd=tree.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "Error: port/a.cu: No such file or directory" in done.stderr, done.stderr


def test_a_tree_that_cannot_be_compared_is_an_error(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verify(path: Path, level: str, *_: object) -> Any:
        if level == "build":
            return Verification("build", str(path), (), "", ())
        raise TreeError("x: Permission denied")

    out = tmp_path / "port"
    tools.apply_port(str(tree), str(out))
    monkeypatch.setattr(api, "verify", verify)
    with pytest.raises(tools.ToolError, match="Permission denied"):
        accept(str(out), "a.cu", SOURCE)
