"""The generated `_rocm_compat.py`: what it says on each platform, and that asking changes nothing."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from rocport.facts.targets import all_targets
from rocport.port import compat

EVERYTHING = compat.names()


def load(tmp_path: Path, names: frozenset[str] = EVERYTHING) -> Any:
    path = tmp_path / "_rocm_compat.py"
    path.write_bytes(compat.render(names))
    spec = importlib.util.spec_from_file_location("_rocm_compat_under_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class FakeTorch(types.ModuleType):
    """As much of a ROCm PyTorch as the facts are read from."""

    def __init__(self, hip: str | None, gfx: str = "") -> None:
        super().__init__("torch")
        self.version = types.SimpleNamespace(hip=hip, cuda=None if hip else "12.8")
        properties = types.SimpleNamespace(gcnArchName=f"{gfx}:sramecc+:xnack-")
        self.cuda = types.SimpleNamespace(
            is_available=lambda: bool(gfx), current_device=lambda: 0, get_device_properties=lambda index: properties
        )


def on(monkeypatch: pytest.MonkeyPatch, hip: str | None, gfx: str = "") -> None:
    monkeypatch.setitem(sys.modules, "torch", FakeTorch(hip, gfx))


def test_every_predicate_is_false_on_nvidia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, None, "gfx942")
    module = load(tmp_path)
    assert [getattr(module, name) for name in sorted(compat.PREDICATES)] == [False] * len(compat.PREDICATES)
    assert module.HIP_VERSION == (0, 0) and module.GFX == ""


@pytest.mark.parametrize("target", [target for target in all_targets() if "generic" not in target.name], ids=str)
def test_the_facts_of_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: Any) -> None:
    on(monkeypatch, "7.2.53211-abc", target.name)
    module = load(tmp_path)
    monkeypatch.setattr(module, "_targets_of_the_driver", lambda: set())
    assert module.IS_ROCM and target.name == module.GFX
    assert module.HIP_VERSION == (7, 2) and module.HIP_RELEASE == "7.2"
    assert (target.wavefront == 64) == module.WAVE64
    assert (target.fp8 == "fnuz") == module.FP8_FNUZ


def test_the_driver_is_asked_before_the_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "7.2", "")
    module = load(tmp_path)
    nodes = {"0": "gfx_target_version 0\n", "1": "simd_count 304\ngfx_target_version 90402\n", "2": ""}
    for name, text in nodes.items():
        (tmp_path / "nodes" / name).mkdir(parents=True)
        (tmp_path / "nodes" / name / "properties").write_text(text)
    found = module._targets_of_the_driver(str(tmp_path / "nodes"))
    assert found == {"gfx942"}
    monkeypatch.setattr(module, "_targets_of_the_driver", lambda: found)
    assert module.FP8_FNUZ and module.WAVE64
    assert module._targets_of_the_driver is not None and load(tmp_path)._targets_of_the_driver("/nowhere") == set()


def test_names_of_the_driver_are_those_of_the_facts(tmp_path: Path) -> None:
    module = load(tmp_path)
    for target in all_targets():
        if target.name.endswith(("strict", "generic")):
            continue
        folder = tmp_path / target.name / "0"
        folder.mkdir(parents=True)
        (folder / "properties").write_text(f"gfx_target_version {target.gfx_target_version}\n")
        assert module._targets_of_the_driver(str(tmp_path / target.name)) == {target.name}


@pytest.mark.parametrize("hip", ["None", "'6.4.43482-0f2d60242'"])
def test_torch_is_not_imported(tmp_path: Path, hip: str) -> None:
    """A torch on the path that may not be imported: its version file is enough."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "torch" / "version.py").write_text(
        f"from typing import Optional\ncuda: Optional[str] = None\nhip: Optional[str] = {hip}\n"
    )
    (tmp_path / "_rocm_compat.py").write_bytes(compat.render(EVERYTHING))
    code = "import _rocm_compat, sys; print(_rocm_compat.IS_ROCM, _rocm_compat.HIP_VERSION, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=3600)
    assert done.stdout.strip() == ("False (0, 0) False" if hip == "None" else "True (6, 4) False"), done.stderr


def test_without_torch(tmp_path: Path) -> None:
    (tmp_path / "_rocm_compat.py").write_bytes(compat.render(EVERYTHING))
    code = "import _rocm_compat as c; print(c.IS_ROCM, c.WAVE64, c.FP8_FNUZ)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=3600
    )
    assert done.stdout.strip() == "False False False", done.stderr


def test_an_unknown_name_is_an_attribute_error(tmp_path: Path) -> None:
    with pytest.raises(AttributeError, match="NOPE"):
        _ = load(tmp_path).NOPE


def test_what_is_missing_is_false_and_says_why(tmp_path: Path) -> None:
    module = load(tmp_path)
    assert module.optional("json").dumps is not None
    dumps, loads = module.optional("json", "dumps", "loads")
    assert loads(dumps([1])) == [1]
    assert module.optional("os", "path") is not None
    gone, also = module.optional("no_such_package.inner", "f", "g")
    assert not gone and not also
    with pytest.raises(ImportError, match=r"no_such_package\.inner\.f cannot be used"):
        gone(1)
    with pytest.raises(AttributeError, match="cannot be used"):
        _ = gone.attribute


def test_compile_modes_agree_with_the_runtime(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="rocport.runtime needs torch")
    from rocport.runtime.compiling import HAZARDS

    module = load(tmp_path)
    for hazard in HAZARDS:
        assert module.compile_mode(hazard.mode) == hazard.instead
    assert module.compile_mode("default") == "default"


@pytest.mark.parametrize(
    ("installed", "gfx", "wanted"),
    [("0.49.1", "gfx942", 128), ("0.49.2", "gfx942", 64), ("0.48.2", "gfx1100", 128), ("0.49.0", "gfx1100", 64)],
)
def test_block_sizes_follow_the_release_and_the_wavefront(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: str, gfx: str, wanted: int
) -> None:
    on(monkeypatch, "6.4", gfx)
    module = load(tmp_path)
    monkeypatch.setattr(module, "_targets_of_the_driver", lambda: set())
    monkeypatch.setattr("importlib.metadata.version", lambda name: installed)
    assert module.bnb_blocksize(64) == wanted and module.bnb_blocksize(256) == 256


SHAPES = [
    (batch, queries, keys, heads, shared, causal, window)
    for (batch, queries, keys, heads, shared), causal, window in itertools.product(
        [(2, 5, 5, 4, 4), (1, 1, 7, 4, 2), (2, 3, 8, 6, 2), (1, 6, 4, 2, 1)], [False, True], [(-1, -1), (2, 0), (1, 1)]
    )
]


@pytest.mark.parametrize(("batch", "queries", "keys", "heads", "shared", "causal", "window"), SHAPES)
@pytest.mark.parametrize("fused", [True, False])
def test_attention_is_the_specification(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    batch: int,
    queries: int,
    keys: int,
    heads: int,
    shared: int,
    causal: bool,
    window: tuple[int, int],
    fused: bool,
) -> None:
    torch = pytest.importorskip("torch", reason="attention needs torch")
    from rocport.ops.sdpa import sdpa

    module = load(tmp_path)
    torch.manual_seed(0)
    q = torch.randn(batch, queries, heads, 8)
    k, v = torch.randn(2, batch, keys, shared, 8)
    if not fused:
        monkeypatch.delattr(torch.nn.functional, "scaled_dot_product_attention")
    right = min(window[1], 0) if causal and window[1] >= 0 else (0 if causal else window[1])
    wanted = sdpa(q, k, v, window=(window[0], right), tier="eager")
    found = module.flash_attn_func(q, k, v, causal=causal, window_size=window)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def test_sequences_of_different_length_are_computed_apart(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="attention needs torch")
    module = load(tmp_path)
    lengths = [3, 5, 0, 2]
    ends = torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32)
    q, k, v = torch.randn(3, sum(lengths), 2, 4)
    slopes = torch.rand(len(lengths), 2)
    found = module.flash_attn_varlen_func(q, k, v, ends, ends, 5, 5, causal=True, softcap=3.0, alibi_slopes=slopes)
    for n, (start, end) in enumerate(itertools.pairwise(ends.tolist())):
        one = (t[start:end].unsqueeze(0) for t in (q, k, v))
        wanted = module.flash_attn_func(*one, causal=True, softcap=3.0, alibi_slopes=slopes[n])
        torch.testing.assert_close(found[start:end], wanted[0])
    with pytest.raises(NotImplementedError, match="flash_attn"):
        module.flash_attn_func(q[None], k[None], v[None], return_attn_probs=True)


def test_bias_by_distance_matches_a_plain_loop(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="attention needs torch")
    module = load(tmp_path)
    q, k, v = torch.randn(1, 2, 2, 4), torch.randn(1, 5, 2, 4), torch.randn(1, 5, 2, 4)
    slopes = torch.tensor([0.5, 0.25])
    found = module.flash_attn_func(q, k, v, causal=True, alibi_slopes=slopes)
    for head in range(2):
        for i in range(2):
            position = i + 3
            scores = torch.stack(
                [(q[0, i, head] @ k[0, j, head]) / 2 - slopes[head] * (position - j) for j in range(position + 1)]
            )
            wanted = scores.softmax(0) @ v[0, : position + 1, head]
            torch.testing.assert_close(found[0, i, head], wanted)


def test_nvml_answers_by_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="the functions ask torch")
    module = load(tmp_path)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda index: (3, 10))
    nvml = module.nvml
    nvml.nvmlInit()
    memory = nvml.nvmlDeviceGetMemoryInfo(nvml.nvmlDeviceGetHandleByIndex(0))
    assert (memory.total, memory.free, memory.used) == (10, 3, 7)
    assert nvml.nvmlDeviceGetCount() == torch.cuda.device_count()


def test_the_rules_ask_for_what_there_is(tmp_path: Path) -> None:
    from rocport.rules.python.nvidia_tools import SERVED
    from rocport.rules.python.optional import ATTENTION

    module = load(tmp_path)
    assert all(hasattr(module.nvml, name) for name in SERVED) and ATTENTION <= EVERYTHING


def test_each_part_stands_alone(tmp_path: Path) -> None:
    for name in sorted(EVERYTHING):
        module = load(tmp_path, frozenset({name}))
        assert getattr(module, name) is not None


def test_the_module_is_clean_for_the_maintainers_linters(tmp_path: Path) -> None:
    for name, names in {"all": EVERYTHING, **{name: frozenset({name}) for name in sorted(EVERYTHING)}}.items():
        (tmp_path / f"{name}_compat.py").write_bytes(compat.render(names))
    ruff = ["ruff", "--quiet"]
    check = ["check", "--isolated", "--line-length", "120", "--target-version", "py38", "--select", "E,F,W,I"]
    for command in ([*check], ["format", "--isolated", "--line-length", "120", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", *ruff, *command, str(tmp_path)], capture_output=True, text=True, timeout=3600
        )
        assert done.returncode == 0, done.stdout
