"""Whatever is pasted, cut, shuffled or damaged: no exception, and no gfx that the text does not hold."""

from __future__ import annotations

import json
import re

import doctor_samples as samples
from hypothesis import given, settings
from hypothesis import strategies as st

from rocport.doctor.capture import machine_from_text
from rocport.doctor.diagnosis import diagnose
from rocport.doctor.probes.names import gfx_of
from rocport.facts.targets import decode_gfx_target_version, target_names

XTX = samples.agent("gfx1100", 0x744C, "Radeon RX 7900 XTX")
SAMPLES = (
    samples.rocminfo(XTX),
    samples.rocminfo(samples.agent("gfx1151", 0x1586, "Radeon 8060S Graphics", apu=True), samples.NPU),
    samples.rocminfo(samples.agent("gfx1030", 0x73DF, "AMD Radeon RX 6700 XT")),
    samples.rocminfo(*(samples.agent("gfx90a", 0x7408, "", node=n, wave=64) for n in (2, 3))),
    samples.KFD_CPU + samples.kfd(90402, 0x74A1, wave=64) + samples.kfd(100306, 0x164E),
    samples.collect_env(),
    samples.collect_env(gpu="AMD Instinct MI300X (gfx942:sramecc+:xnack-)", torch="2.7.0a0+git3a58512"),
    "GPU: 0\n    ASIC:\n        MARKET_NAME: X\n        DEVICE_ID: 0x7550\n        TARGET_GRAPHICS_VERSION: gfx1201\n",
    "GPU[0]\t: Card Series: \tRadeon 8060S\nGPU[0]\t: Card Model: \t0x1586\nGPU[0]\t: GFX Version: \tgfx1151\n",
    "=== bitsandbytes v0.49.2 ===\nPyTorch: 2.9.0+rocm6.4\n  HIP: 6.4.43484\nlibbitsandbytes_rocm84.so: undefined\n",
    "Unable to open /dev/kfd read-write: Permission denied\nHSA_OVERRIDE_GFX_VERSION=11.0.0\n",
)
NOISE = st.text(st.characters(codec="utf-8"), max_size=40)


def check(text: str) -> None:
    machine = machine_from_text(text)
    diagnosis = diagnose(machine)
    json.dumps(diagnosis.as_dict())
    held = set(re.findall(r"gfx[0-9a-f]+", text.lower()))
    held |= {gfx_of(name)[0] for name in held}  # gfx9010 is an old tool's spelling of gfx90a
    for number in re.findall(r"gfx_target_version\D{0,3}(\d+)", text):
        try:
            held.add(decode_gfx_target_version(int(number[:12])))
        except ValueError:
            continue
    for gpu in machine.gpus:
        for name in gpu.reported:
            assert name in held, (name, held)
            assert name in target_names() or not any(known.startswith(name) for known in target_names())
        assert gpu.gfx == "" or gpu.gfx in gpu.reported


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(SAMPLES), st.data())
def test_cut_anywhere(sample, data):
    start = data.draw(st.integers(0, len(sample)))
    check(sample[start : data.draw(st.integers(start, len(sample)))])


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_lines_in_any_order(chosen, random):
    lines = "\n".join(chosen).splitlines()
    random.shuffle(lines)
    check("\n".join(lines))


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(SAMPLES), st.data())
def test_damaged_characters(sample, data):
    text = list(sample)
    for _ in range(data.draw(st.integers(1, 12))):
        spot = data.draw(st.integers(0, len(text) - 1))
        text[spot] = data.draw(NOISE)
    check("".join(text))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SAMPLES), st.data())
def test_lines_dropped_and_doubled(sample, data):
    lines = sample.splitlines()
    kept = data.draw(st.lists(st.sampled_from(lines), max_size=2 * len(lines)))
    check("\n".join(kept))


@settings(max_examples=120, deadline=None)
@given(st.text(max_size=400))
def test_any_text_at_all(text):
    check(text)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=600))
def test_any_bytes_at_all(data):
    from rocport.doctor.text import decode

    check(decode(data))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([s for s in SAMPLES if "gfx" in s]), st.sampled_from(["\r\n", "\r"]), st.booleans())
def test_line_endings_and_indentation_change_nothing(sample, ending, quoted):
    expected = [g.gfx for g in machine_from_text(sample).gpus]
    text = "".join(f"{'> ' if quoted else ''}{line}{ending}" for line in sample.splitlines())
    assert [g.gfx for g in machine_from_text(text).gpus] == expected


def test_a_cut_name_is_never_another_target():
    for name in target_names():
        for end in range(3, len(name)):
            text = f"Agent 2\n  Name:    {name[:end]}\n  Marketing Name: x\n"
            assert [g.gfx for g in machine_from_text(text).gpus if g.gfx and g.gfx != name[: len(g.gfx)]] == []
