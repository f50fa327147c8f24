"""rocport_pointer.h: sums of pointers to void in bytes, of anything else as written."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.port import headers

DEVICE = r"""
#include "rocport_pointer.h"
struct K { static const int value = 3; static constexpr int get(int i) { return i; } };
static_assert(rocport::plus(K::get(3), K::value) == 6, "in a constant expression");
struct Cache { void *rows; __device__ void *at(int) { return rows; } };
__global__ void k(void *p, const void *q, volatile void *v, float *f, long *o, Cache c, unsigned n) {
  float *a = reinterpret_cast<float *>(rocport::plus(c.at(1), n));
  const float *b = static_cast<const float *>(rocport::minus(rocport::plus(q, n), 4u));
  o[0] = *a + *b + *rocport::plus(f, n) + rocport::plus(n, 1);
  o[2] = *(volatile int *)rocport::plus(v, n) + rocport::plus(n, K::value);
  o[3] = *(volatile int *)rocport::minus((const volatile void *)v, 4);
  o[1] = rocport::minus(p, q) + rocport::minus(f, a);
}
"""
HOST = r"""
#include "rocport_pointer.h"
#include <vector>
int main() {
  std::vector<int> x = {1, 2, 3, 4};
  void *const p = x.data();
  const void *q = x.data();
  return !(*(int *)rocport::plus(p, 4u) == 2 && *rocport::plus(x.begin(), 2) == 3 &&
           *(const int *)rocport::minus(rocport::plus(q, sizeof(int) * 3), 4) == 3 &&
           *rocport::plus(x.data(), 1) == 2 &&
           rocport::minus(rocport::plus(p, 8), q) == 8 && rocport::minus(7u, 8u) == 7u - 8u);
}
"""


def test_device_code_compiles(tmp_path: Path, compiles: Callable[..., Path]) -> None:
    (tmp_path / "a.hip").write_text(DEVICE)
    (tmp_path / "rocport_pointer.h").write_bytes(headers.read("rocport_pointer.h"))
    compiles(tmp_path / "a.hip", "gfx942", "-S")


@pytest.mark.parametrize("standard", ["c++14", "c++20"])
def test_a_host_program_computes_what_gnu_c_does(standard: str, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    (tmp_path / "a.cpp").write_text(HOST)
    (tmp_path / "rocport_pointer.h").write_bytes(headers.read("rocport_pointer.h"))
    command = [
        "g++",
        f"-std={standard}",
        "-Wall",
        "-Wextra",
        "-Werror",
        str(tmp_path / "a.cpp"),
        "-o",
        str(tmp_path / "a"),
    ]
    built = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert built.returncode == 0, built.stderr[-4000:]
    assert subprocess.run([str(tmp_path / "a")], timeout=3600).returncode == 0


def test_a_header_that_c_files_include_keeps_its_sum_for_a_person(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    tree.mkdir()
    header = "static inline void *at(void *p, int n) { return p + n; }\n"
    (tree / "at.h").write_text(header)
    (tree / "m.c").write_text('#include "at.h"\nint main(void) { return at(0, 0) != 0; }\n')
    (tree / "k.cu").write_text('#include "at.h"\n__global__ void k(void *p) { at(p, 1); }\n')
    said = CliRunner().invoke(cli, ["port", str(tree), "--out", str(out), "--format", "json"])
    assert "p + n" in (out / "at.h").read_text() and "rocport_pointer" not in (out / "at.h").read_text()
    (finding,) = [item for item in json.loads(said.stdout)["findings"] if item["rule"] == "void-pointer"]
    assert finding["path"] == "at.h" and finding["applicability"] == "manual"
