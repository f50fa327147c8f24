"""Writes docs/agent-transcript.md: the official client of the Model Context Protocol at work with `rocport mcp`.

    python tools/agent_transcript.py [--check]

The client starts the server, lists its tools, and ports examples/turned in a scratch folder: a diff first, then the
port, a wrong edit of what is left, a right one. `--check`: exit code 1 where the page is not what the client saw, as
tests/agent/test_mcp.py asks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import mcp

from rocport.toolchain import find

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "agent-transcript.md"
_WORDS = 400
_ITEMS = 3
_UNSTEADY = frozenset(["cached"])
"""What depends on earlier runs of this machine."""
_LOG = "RuntimeError: HIP error: invalid device function"
_HEAD = """\
# A coding agent at work

What the official Python client of the Model Context Protocol asked of `rocport mcp`, and what it was told, over stdin
and stdout. `python tools/agent_transcript.py` wrote this page, a test keeps it equal. Long answers are cut, with `...`
where. The repository is `examples/turned`: a kernel with a named barrier.
"""


class Session:
    """One client; every call and its answer go onto the page."""

    def __init__(self, client: Any, folder: Path) -> None:
        self.client = client
        self.parts = [_HEAD]
        home = find().root
        self.places = [(str(folder.resolve()) + "/", ""), (str(folder.resolve()), "."), (f"{home}/", "SDK/")]

    def say(self, text: str) -> None:
        self.parts.append(text)

    async def call(self, name: str, /, keys: tuple[str, ...] = (), **arguments: Any) -> dict[str, Any]:
        """The answer of a tool, shown: all of it, or what lies under some keys (`gpu.target`)."""
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        shown = {key: _under(answer, key.split(".")) for key in keys} | {"...": "..."} if keys else answer
        self._show(f"{name} {json.dumps(_short(arguments))}", shown)
        return answer

    async def refused(self, name: str, /, **arguments: Any) -> None:
        """A call that is an error, shown."""
        result = await self.client.call_tool(name, arguments)
        assert result.is_error
        self._show(f"{name} {json.dumps(arguments)}", {"error": result.content[0].text})

    def _show(self, asked: str, answer: Any) -> None:
        whole = json.dumps(answer)
        for place, name in self.places:  # before anything is cut: where a text ends must not depend on the machine
            whole = whole.replace(json.dumps(place)[1:-1], name)
        text = json.dumps(_short(json.loads(whole)), indent=1)
        self.parts.append(f"```\n> {asked}\n```\n\n```json\n{text}\n```\n")


def _under(value: Any, path: list[str]) -> Any:
    """What lies under a path of keys; of a list, what lies there in each item."""
    if not path:
        return value
    return [_under(item, path) for item in value] if isinstance(value, list) else _under(value[path[0]], path[1:])


def _short(value: Any, depth: int = 4) -> Any:
    """The value with long texts, long lists and what lies deep cut."""
    if isinstance(value, str):
        return value if len(value) <= _WORDS else value[:_WORDS].rstrip() + " ..."
    if isinstance(value, dict):
        kept_ = {key: _short(item, depth - 1) for key, item in value.items() if key not in _UNSTEADY}
        return kept_ if depth else "..."
    if isinstance(value, list):
        kept = [_short(item, depth - 1) for item in value[:_ITEMS]] if depth else []
        return kept + ["..."] * (len(value) > len(kept))
    return value


async def work(session: Session) -> None:
    """The whole session."""
    tools = (await session.client.list_tools()).tools
    session.say("\n## The tools\n\n| tool | | what the server says of it |\n|---|---|---|")
    for tool in tools:
        kind = "reads" if tool.annotations.read_only_hint else "writes or runs"
        session.say(
            f"| `{tool.name}` | {kind} | {(tool.description or '').split('. ')[0].strip().replace(chr(10), ' ')} |"
        )
    session.say("\n## What breaks, and what a port would change\n")
    await session.call("scan", path="turned", applicability="manual")
    await session.call("port", path="turned")
    session.say("## The port, and whether it compiles\n")
    await session.call("apply_port", path="turned", out="turned-hip")
    await session.call("verify_build", path="turned-hip")
    session.say("## Questions on the way\n")
    await session.call("explain", ("vendor.name", "matches.id", "matches.title", "matches.cause"), text=_LOG)
    await session.call(
        "compat",
        ("works", "gpu.target", "python", "os", "torch.owner"),
        gpu="RX 7900 XTX",
        system="ubuntu-24.04",
        python="3.12",
    )
    await session.call("counterpart", ("kind", "cuda", "known", "hip", "library", "source"), name="cudaMemcpyAsync")
    await session.refused("counterpart", name="cudaMalloc", kind="thing")
    page = await session.client.read_resource("rocport://rules/inline-ptx")
    session.say(f"The resource `rocport://rules/inline-ptx` begins `{page.contents[0].text.splitlines()[0]}`.\n")
    session.say("## What the port left\n")
    task = await session.call("task", port_path="turned-hip")
    lines = Path(session.places[1][0], "turned-hip", task["file"]).read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "bar.sync" in line)
    edits = (
        ("Text that is no C++ is refused by the compiler.", "  int main( {\n", False, {}),
        (
            "Without the barrier it compiles, and is right on a wavefront of 64 lanes. At 32, CUDA's width, it is "
            "wrong: the edit is refused, and the file is as it was.", "", False, {"turned.cu": "wrong"},
        ),
        (
            "All threads of the block meet here: the barrier of the block does what the named one did.",
            "  __syncthreads();\n", True, {"turned.cu": "pass"},
        ),
    )  # fmt: skip
    for words, line, taken, ran in edits:
        session.say(words + "\n")
        text = "".join([*lines[:at], line, *lines[at + 1 :]])
        verdict = await session.call("accept", port_path="turned-hip", file=task["file"], text=text)
        assert (verdict["accepted"], verdict["ran"]) == (taken, ran)
    session.say("## The proof\n")
    await session.call("verify_build", path="turned-hip")


def transcript() -> str:
    """The page as the client sees it now. Raises ToolchainError."""

    async def talk(folder: Path) -> str:
        served = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "rocport", "mcp"], env=dict(os.environ), cwd=folder
        )
        async with mcp.Client(served) as client:
            session = Session(client, folder)
            await work(session)
            return "\n".join(session.parts)

    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(ROOT / "examples" / "turned", Path(scratch, "turned"))
        here = Path.cwd()
        os.chdir(scratch)
        try:
            return asyncio.run(talk(Path(scratch)))
        finally:
            os.chdir(here)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = transcript()
    if arguments.check:
        same = PAGE.read_text(encoding="utf-8") == text
        print(f"{PAGE.name}: {'as it is' if same else 'not what the client saw; write it again'}")
        return not same
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE}: {len(text.splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
