"""Files that a tool takes up because of their name or place, and those that are the port's own."""

from __future__ import annotations

import pytest

from rocport.verify.nvidia.by_name import BY_NAME, TAKES_ALL, own_of_the_port
from rocport.verify.nvidia.python import SOURCE_READ


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        (".envrc", "shell"), (".npmrc", "package manager"), (".condarc", "package manager"),
        ("Pipfile.lock", "package manager"), ("constraints.txt", "package manager"), (".python-version", "version"),
        ("conftest.py", "pytest"), ("tox.ini", "pytest"), ("sitecustomize.py", "Python runs"),
        ("usercustomize.py", "Python runs"), ("pyvenv.cfg", "virtual environment"), ("setup.cfg", "packaging"),
        ("BUILD.bazel", "Bazel"), ("BUCK", "Buck"), ("BUILD.gn", "GN"), ("CMakeCache.txt", "cmake"),
        (".gdbinit", "debugger"),
    ],
)  # fmt: skip
def test_who_reads_a_file_by_its_name(name: str, reader: str) -> None:
    assert reader in BY_NAME[name]


@pytest.mark.parametrize(
    ("path", "beside", "tools"),
    [
        ("src/bin/a.rs", "Cargo.toml", ["Cargo"]),
        ("x/src/bin/a.rs", "Cargo.toml", ["Cargo"]),
        ("lib/a.rs", "Cargo.toml", []),
        ("src/bin/a.rs", "Cargo.lock", []),
        ("p/a.go", "p/b.go", ["Go"]),
        ("p/a.go", "b.go", []),
        ("a.tf", "b.tf", ["Terraform"]),
        ("p/a.cs", "x.csproj", ["the .NET SDK"]),
        ("templates/a.yaml", "Chart.yaml", ["Helm"]),
        ("other/a.yaml", "Chart.yaml", []),
    ],
)
def test_who_takes_whatever_lies_in_a_folder(path: str, beside: str, tools: list[str]) -> None:
    folder, _, name = beside.rpartition("/")

    def children(of: str) -> list[str]:
        return [name] if of == folder else []

    asked = [tool for tool in TAKES_ALL if tool.marker.pattern != ".*"]
    assert [tool.tool for tool in asked if tool.takes(path, children)] == tools


@pytest.mark.parametrize(
    ("path", "own"),
    [
        (".rocport/x", True), ("a/b.py", True), ("b.py", False), ("README.md", True), ("notes.rst", True),
        ("a.txt", False),
        ("requirements-rocm.txt", True), ("hip/b.py", True), ("hip/.x", False), ("a/.x", False),
        (".hidden/a.py", False), (".hidden/rocm.py", True),
        ("rocm/.b/c.py", True), (".rocm", False), (".md", False), ("ship.py", False), ("Dockerfile.rocm", True),
        ("amdgpu.txt", False), ("amd_x.txt", True), ("k.hip", True), (".github/workflows/rocm.yml", True),
        (".github/workflows/a.yml", False), ("x/.github/a.rst", False),
    ],
)  # fmt: skip
def test_new_files_that_a_port_puts_there(path: str, own: bool) -> None:
    assert own_of_the_port(path) is own


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("inspect.getsource(f)", True), ("getsourcelines(f)", True), ("findsource(f)", True), ("Bytecode(f)", True),
        ("dis.dis(f)", True), ("import dis", False), ("cloudpickle.dumps(f)", True), ("import dill", True),
        ("marshal.dumps(f)", True), ("marshal.loads(f)", False), ("linecache.getlines(p)", True),
        ("m.__loader__", True), ("loader.get_code(n)", True), ("pkgutil.get_data(p, n)", True),
        ("f.__code__", True), ("f.__code__.co_code", True), ("f.__code__.co_name", False),
        ("f.__code__.co_names", True), ("f.__code__.co_argcount", False), ("getsources(f)", False),
    ],
)  # fmt: skip
def test_texts_that_may_read_the_source_of_a_function(text: str, reads: bool) -> None:
    assert bool(SOURCE_READ.search(text.encode())) is reads
