"""The import directions of docs/design.md: one way, no back and forth."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from rocport.scan.cache import DECIDING

SRC = Path(__file__).parent.parent / "src" / "rocport"

# Package -> the packages of rocport it may import, besides itself and model. cli and report's callers see everything.
ALLOWED = {
    "model": set(),
    "facts": set(),
    "syntax": set(),
    "binding": {"syntax"},
    "convergence": {"syntax"},
    "ptx": {"syntax"},
    "project": {"facts", "syntax"},
    "rules": {"facts", "syntax", "project", "binding", "convergence", "ptx"},
    "scan": {"rules", "project", "syntax", "facts", "binding", "convergence"},
    "port": {"facts", "syntax", "project", "doctor"},
    "toolchain": {"facts"},
    "sandbox": set(),
    "executor": {"syntax", "project", "facts", "toolchain", "sandbox"},
    "verify": {"facts", "syntax", "project", "executor", "toolchain", "sandbox"},
    "repair": {"facts", "syntax", "port", "verify"},
    "doctor": {"facts"},
    "compat": {"facts"},
    "explain": {"facts", "rules", "doctor"},
    "checkpoint": {"facts"},
    "ops": {"facts", "runtime"},
    "integrations": {"facts", "runtime", "ops", "checkpoint"},
    "numerics": {"facts", "sandbox"},
    "runtime": {"facts"},
    "report": set(),
    "fleet": {"report", "port", "scan", "project", "facts", "toolchain", "sandbox", "verify"},
    "agent": {
        *("report", "port", "scan", "rules", "explain", "facts", "toolchain", "verify"),
        *("project", "syntax", "binding"),
    },
}
TORCH = {"ops", "runtime", "numerics", "integrations"}


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("package", sorted(path.name for path in SRC.iterdir() if (path / "__init__.py").exists()))
def test_imports_go_one_way(package: str) -> None:
    if package == "cli":
        pytest.skip("cli may import every package")
    assert package in ALLOWED, f"say in {Path(__file__).name} what rocport.{package} may import"
    allowed = ALLOWED[package] | {package, "model"}
    for path in (SRC / package).rglob("*.py"):
        for name in _imports(path):
            parts = name.split(".")
            if parts[0] == "rocport" and len(parts) > 1 and (SRC / parts[1]).is_dir():
                assert parts[1] in allowed, f"{path.relative_to(SRC)} imports {name}"
            # What runs in the user's own Python, which has PyTorch, is not imported by rocport.
            if parts[0] in ("torch", "triton") and "torch_child" not in path.parts:
                assert package in TORCH, f"{path.relative_to(SRC)} imports {parts[0]}; only {sorted(TORCH)} may"


def test_a_cached_scan_is_made_anew_when_anything_that_scan_stands_on_has_changed() -> None:
    reached, waiting = {"model"}, ["scan"]
    while waiting:
        package = waiting.pop()
        if package not in reached:
            reached.add(package)
            waiting += ALLOWED[package]
    assert set(DECIDING) == reached


# What the proof has to run is confined as any other program is: this makes no port.
SANDBOX = ("rocport.sandbox", "rocport.sandbox.looking")


def test_the_proof_of_the_nvidia_path_shares_nothing_with_what_makes_the_port() -> None:
    for path in (SRC / "verify" / "nvidia").rglob("*.py"):
        for name in _imports(path):
            own = name == "rocport.verify.nvidia" or name.startswith("rocport.verify.nvidia.")
            own = own or name in SANDBOX
            assert own or name.split(".")[0] != "rocport", f"{path.name} imports {name}; it must stand alone"


def test_only_the_command_line_the_agent_s_tools_and_a_fleet_stand_on_the_library() -> None:
    for path in SRC.rglob("*.py"):
        if "rocport.api" in _imports(path):
            assert path.parent.name in ("cli", "agent", "fleet"), f"{path.relative_to(SRC)} imports rocport.api"


def _modules() -> dict[str, Path]:
    """Dotted name of every module below rocport -> its file."""
    found = {}
    for path in SRC.rglob("*.py"):
        parts = path.relative_to(SRC.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _graph() -> dict[str, set[str]]:
    """Module -> the modules of rocport it imports, inside functions and for the type checker too: an import that is put
    off does not open a circle. `from package import module` is an import of the module."""
    modules = _modules()
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        wanted: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inside = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= (inside & modules.keys()) or {node.module}
                wanted |= {node.module} if inside - modules.keys() else set()
        graph[name] = (wanted & modules.keys()) - {name}
    return graph


def _circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import one another: Tarjan's strongly connected components of more than one module."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def test_a_circle_is_seen() -> None:
    assert _circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_modules_import_in_no_circle() -> None:
    assert not _circles(_graph())


def test_benchmarks_find_what_they_take_of_each_other() -> None:
    """A name that is imported from the file beside it stands there; most of them no test runs."""
    top = SRC.parents[1]
    trees = {path.stem: ast.parse(path.read_text()) for path in (top / "benchmarks").glob("*.py")}
    bound: dict[str, set[str]] = {}
    for name, tree in trees.items():
        bound[name] = {
            getattr(node, "asname", None) or getattr(node, "name", None) or getattr(node, "id", "")
            for statement in tree.body
            for node in ast.walk(statement)
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias | ast.Name)
        }
    lacking = [
        f"{name}.py: {node.module}.{alias.name}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in trees
        for alias in node.names
        if alias.name not in bound[node.module] and not (top / "tools" / f"{node.module}.py").is_file()
    ]
    assert not lacking
