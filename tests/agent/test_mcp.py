"""The server with a real client over stdin and stdout, and a scripted editor that makes wrong and right edits."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from rocport.agent import tasks, tools
from rocport.agent.accept import accept
from rocport.toolchain import ToolchainError, find

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

    _served(use)


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
