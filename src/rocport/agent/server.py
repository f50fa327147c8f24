"""The tools of `rocport.agent.tools` and the sites to close, as a server of the Model Context Protocol (mcp 2.x)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError as Refusal
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp_types import ToolAnnotations

from rocport import __version__
from rocport.agent import tasks, tools
from rocport.agent.accept import accept

_INSTRUCTIONS = """\
rocport takes a CUDA / PyTorch repository to a correct run on an AMD GPU. Begin with scan or port (a diff; nothing is
written), write with apply_port, prove with verify_build and run. What port leaves is `manual`: ask task for such a
site, edit the file it names, and hand the new text to accept, which takes it only when its check passes. Do not guess
names of HIP: ask counterpart. Results are cut by pages: go on at next_offset."""
_READING: tuple[Callable[..., Any], ...] = (
    tools.scan, tools.port, tools.verify_build, tools.verify_nvidia_unchanged, tools.explain, tools.page,
    tools.counterpart, tools.compat, tools.doctor, tasks.task,
)  # fmt: skip
_WRITING: tuple[Callable[..., Any], ...] = (tools.apply_port, tools.run, accept)


def make_server() -> MCPServer[Any]:
    """A server with every tool; the rules, their pages and the page of a port are resources."""
    server: MCPServer[Any] = MCPServer("rocport", version=__version__, instructions=_INSTRUCTIONS)
    for function in _READING:
        server.tool(annotations=ToolAnnotations(read_only_hint=True))(_told(function))
    for function in _WRITING:
        server.tool(annotations=ToolAnnotations(read_only_hint=False))(_told(function))

    @server.resource("rocport://rules", mime_type="text/plain")
    def rules() -> str:
        """Every rule's name and what it finds."""
        from rocport.rules import discover

        return "\n".join(f"{loaded.rule.name}: {loaded.rule.summary}" for loaded in discover())

    @server.resource("rocport://rules/{name}", mime_type="text/plain")
    def rule(name: str) -> str:
        """The page of a rule."""
        return tools.page(name)["text"]

    # The folder of a port, as the tools take it: `rocport report` reads nothing but a port.
    anywhere = ResourceSecurity(exempt_params={"port"})

    @server.resource("rocport://report/{port}", mime_type="text/html", security=anywhere)
    def report(port: str) -> str:
        """The page about a port; `port` is its folder, percent-encoded (`%2F` for `/`)."""
        return tools.report(port)

    return server


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with its errors in words the client shows."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except tools.ToolError as error:
            raise Refusal(str(error)) from error

    return call
