"""Logs as they come: every failure is recognised by its own example, and nothing breaks the reader."""

from __future__ import annotations

import io
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocport.explain import Diagnosis, diagnose, engine, read_bytes
from rocport.explain.engine import MAX_LINES
from rocport.explain.match import Match
from rocport.explain.text import BLOCK_BYTES, Block, clean, lowered, read_blocks, squeeze
from rocport.explain.vendor import Vendor, vendor_of
from rocport.facts.failures import Failure, load_failures

FAILURES = load_failures()


def run(text: str | bytes) -> Diagnosis:
    return diagnose(io.BytesIO(text.encode() if isinstance(text, str) else text))


def ids(diagnosis: Diagnosis) -> list[str]:
    return [match.failure.id for match in diagnosis.matches]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.id)
def test_example_matches_its_failure_first(failure: Failure) -> None:
    assert ids(run(failure.example))[:1] == [failure.id]


@pytest.mark.parametrize("failure", [f for f in FAILURES if f.near_miss], ids=lambda failure: failure.id)
def test_near_misses_do_not_match(failure: Failure) -> None:
    for text in failure.near_miss:
        diagnosis = run(text)
        assert failure.id not in [m.failure.id for m in (*diagnosis.matches, *diagnosis.general)]


def test_every_signature_matches_text_made_from_it() -> None:
    filler = {"gfx": "gfx942", "version": "7.2", "number": "42", "cuda": "cudaMalloc", "path": "a/b.so"}
    filler |= {
        "rocmlib": "librocblas.so.5",
        "cudalib": "libcudart.so.12",
        "anylib": "libOpenCL.so.1",
        "soname": "libnuma.so.1",
        "rocmpackage": "hipcub",
    }
    for failure in FAILURES:
        for signature in failure.signatures:
            text = signature.text.replace("{*}", " ")
            for name in signature.pattern.groupindex:
                kind = next((k for k in (f"{{{name}:{kind}}}" for kind in filler) if k in text), f"{{{name}}}")
                value = filler.get(kind.strip("{}").split(":")[-1], "word")
                text = text.replace(kind, value)
            for kind in ("name", "word", "quoted"):
                for name in signature.pattern.groupindex:
                    text = text.replace(f"{{{name}:{kind}}}", "word")
            found = run(text)
            assert failure.id in [m.failure.id for m in (*found.matches, *found.general)], signature.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "CMake Error: The following variables are used in this project, but they are set to NOTFOUND.\n",
            "cmake-variables-notfound",
        ),
        ('  HIP_ARCHITECTURES is empty for target "mlx".', "cmake-hip-architectures-empty"),
        ("ImportError: x.so: undefined symbol: _ZN3mlx4core11Convolution8eval_gpuE", "undefined-symbol-partial-port"),
        ("BNB_CUDA_VERSION=124 detected for ROCm!! ", "bnb-cuda-version-set"),
        ("WARNING: bitsandbytes is fully supported only from ROCm 6.1.", "bnb-rocm-too-old"),
        ("Could not detect ROCm warp size: x. Defaulting to 64.", "bnb-warpsize-undetected"),
        ("Library not found: /x/libbitsandbytes_rocm62.so", "bnb-library-not-found"),
        ("Cannot call CUDAGeneratorImpl::current_seed during CUDA graph capture", "rng-state-during-capture"),
        (
            "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128,expandable_segments:True",
            "allocator-split-size-with-expandable-segments",
        ),
        ("RuntimeError: Unrecognized CachingAllocator option: max_split_size_mb=1", "allocator-option-rejected"),
        ("ModuleNotFoundError: No module named 'flash_attn_2_cuda'", "flash-attn-ck-module-missing"),
        ("pynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found", "nvml-on-amd"),
    ],
)
def test_errors_named_in_the_first_sources(text: str, expected: str) -> None:
    assert ids(run(text))[0] == expected


def test_most_specific_first_and_covered_ones_apart() -> None:
    diagnosis = run(
        "ninja: build stopped: subcommand failed.\n"
        "RuntimeError: Configured ROCm binary not found at /x/libbitsandbytes_rocm84.so\n"
    )
    assert ids(diagnosis) == ["bnb-rocm-version-misparsed", "torch-extension-build-failed"]
    assert [m.failure.id for m in diagnosis.general] == ["bnb-library-not-found"]


def test_line_numbers_counts_and_values() -> None:
    filler = "-- checking\n" * 9
    diagnosis = run(filler + "clang-16: error: invalid target ID 'gfx941'; format is\n" * (MAX_LINES + 5))
    (match,) = diagnosis.matches
    assert match.lines == tuple(range(10, 10 + MAX_LINES))
    assert match.count == MAX_LINES + 5
    assert match.values["gfx"] == "gfx941"
    assert "rocport compat --gpu gfx941" in match.filled(match.failure.fix[1])


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[1m\x1b[31mRuntimeError: HIP error: \x1b[0minvalid device function\r\n",
        "2026-11-20T10:00:00.1234567Z RuntimeError: HIP error: invalid device function\n",
        "worker-1  | RuntimeError: HIP error: invalid device function\n",
        "[rank3]: RuntimeError: HIP error: invalid device function\n",
        " 12%|###   | 3/20 [00:01<00:07]\r 15%|###RuntimeError: HIP error: invalid device function\n",
        "RuntimeError: HIP error: invalid device func\ntion\n",
        "RuntimeError: HIP error: invalid\n    device function\n",
        "2026-11-20T10:00:00.1Z RuntimeError: HIP error: invalid\n2026-11-20T10:00:00.2Z device function\n",
        "\x00\x01\xff RuntimeError: HIP error:   invalid device function \x02\n",
        "\x1b]8;;http://x\x07RuntimeError: HIP error: invalid device function\x1b]8;;\x07\n",
    ],
)
def test_decorated_and_wrapped_lines(text: str) -> None:
    diagnosis = run("first line\n" + text)
    assert ids(diagnosis) == ["invalid-device-function"]
    assert diagnosis.matches[0].lines == (2,)


def test_utf16_as_powershell_writes_it() -> None:
    text = "﻿one\r\nHIP error: invalid device function\r\n"
    diagnosis = run(text.encode("utf-16-le"))
    assert ids(diagnosis) == ["invalid-device-function"]
    assert diagnosis.matches[0].lines == (2,)


def test_a_distant_pair_of_words_is_no_wrapped_message() -> None:
    found = ids(run("HIP error: invalid\n" + "a line between\n" * 8 + "device function\n"))
    assert "invalid-device-function" not in found


def test_messages_at_every_offset_around_the_seam_of_two_blocks() -> None:
    message = b"RuntimeError: HIP error: invalid device function\n"
    for shift in (-200, -60, -25, -1, 0, 1, 40):
        filler = b"x" * 70 + b"\n"
        head = filler * ((BLOCK_BYTES + shift) // len(filler))
        head += b"y" * max(0, BLOCK_BYTES + shift - len(head) - 1) + b"\n"
        diagnosis = run(head + message + filler * 10)
        assert diagnosis.matches[0].lines == (head.count(b"\n") + 1,)
        assert diagnosis.matches[0].count == 1


class Endless(io.RawIOBase):
    """Serves `size` bytes of a repeated piece without holding them."""

    def __init__(self, piece: bytes, size: int) -> None:
        self.piece = piece * (BLOCK_BYTES // len(piece) + 1)
        self.left = size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        count = min(size, self.left, len(self.piece))
        self.left -= count
        return self.piece[:count]


@pytest.mark.parametrize("piece", [b"a line of a build log\n", b"no line end at all ", b"HIP error: out of memory\n"])
def test_memory_is_bounded(piece: bytes) -> None:
    def peak(size: int) -> int:
        tracemalloc.start()
        diagnose(Endless(piece, size))  # type: ignore[arg-type]
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    small = peak(1_000_000)  # first: it also loads what is loaded once
    assert peak(2_000_000) < small + 500_000


def test_suspects_are_error_lines_nothing_explains() -> None:
    diagnosis = run("ok\nfoo.cpp:3: error: something never seen\nRuntimeError: HIP error: invalid device function\n")
    assert diagnosis.suspects == ()
    diagnosis = run("ok\nfoo.cpp:3: error: something never seen\nok\nok\n")
    assert diagnosis.suspects == ((2, "foo.cpp:3: error: something never seen"),)
    assert diagnosis.lines == 4


def test_hostile_values_are_not_put_into_commands() -> None:
    failure = next(f for f in FAILURES if f.id == "invalid-target-id")
    match = Match(failure, (1,), 1, "", {"gfx": "gfx9$(rm -rf ~)"})
    assert "$(" not in match.filled(failure.fix[1])
    assert "--gpu <gfx>" in match.filled(failure.fix[1])


@given(st.binary(max_size=4000))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_to_the_end(data: bytes) -> None:
    assert all(block.first_line >= 1 for block in read_blocks(io.BytesIO(data)))
    assert diagnose(io.BytesIO(data)).lines <= data.count(b"\n") + 1


NOISE = st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\n\r"), max_size=60)


@given(
    st.sampled_from(FAILURES),
    st.lists(NOISE, max_size=6),
    st.sampled_from(["", "2026-01-02 03:04:05,678 ", "[rank0]: ", "#12 34.56 "]),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=150, deadline=None)
def test_an_example_is_found_inside_noise(failure: Failure, noise: list[str], prefix: str, end: str) -> None:
    text = end.join([*noise, *(prefix + line for line in failure.example.splitlines())]) + end
    found = run(text)
    assert failure.id in [m.failure.id for m in (*found.matches, *found.general)]


def test_bounded_time_on_repeated_literals() -> None:
    """A pattern that backtracked without bound would never come back from these."""
    for signature in (s for f in FAILURES for s in f.signatures):
        signature.pattern.search((signature.literal + " ") * 40)
    assert run("'" * 200_000).matches == ()


GLIBCXX = "/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./tool)\n"


@pytest.mark.parametrize(("beside", "most"), [("", 0), ("\n\n\n\ngfx942 of rocm\n", 8)])
def test_whose_words_repeat_is_asked_once(beside: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def asking(text: str) -> Vendor:
        asked.append(text)
        return vendor_of(text)

    monkeypatch.setattr(engine, "vendor_of", asking)
    engine._is_of_amd.cache_clear()
    (match,) = (m for m in run(GLIBCXX * 300 + beside).matches if m.failure.id == "old-libstdcxx")
    assert match.count == 300 and match.wide
    assert len(asked) <= most


def test_lines_that_differ_in_their_numbers_alone_are_looked_at_once_and_hide_no_message() -> None:
    lines = [f"  Size: {number} KB, exit status {number % 2}0" for number in range(1000, 1400)]
    ends = "Error: llama runner process has terminated: exit status {}"
    text = "\n".join(("7900 XTX", *lines, ends.format(0), "x", ends.format(2)))
    assert len(Block(text, 1).squeezed) < len("".join(text.split())) / 20
    (match,) = read_bytes(text.encode(), "log").possible
    assert match.failure.id == "ollama-runner-exit" and match.lines[-1] == 404


def test_a_letter_beyond_ascii_changes_neither_the_length_nor_the_case_of_the_others() -> None:
    """One such letter made each step over 14 MB of rocminfo forty times as slow: 7.7 s of a processor, 3.8 now."""
    assert lowered("Müller RADEON™ İ ABCXYZ") == "müller radeon™ İ abcxyz"
    assert squeeze("GFX 1201 é\n B") == "gfx0000éb"
    assert clean("“HIP” can’t´s\u00a0é") == "\"HIP\" can't's é"


def test_a_failure_seen_often_is_not_searched_for_any_more_within_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_COUNT", 7)
    (match,) = (m for m in run(GLIBCXX * 50).matches if m.failure.id == "old-libstdcxx")
    assert match.count == 7


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("HIP error: the operation cannot be performed in the present state", "hipErrorIllegalState"),
        ("hip error: 'shared object symbol not found'(302) at api.cpp:12", "hipErrorSharedObjectSymbolNotFound"),
        ("returned hipErrorPeerAccessUnsupported", "hipErrorPeerAccessUnsupported"),
        ("ERROR: HSA error (code #4116, something)", "HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED"),
        ("Status Message: MIOPEN failure 3: x ; GPU=0", "miopenStatusBadParm"),
        ("rocsparse_status_zero_pivot", "rocsparse_status_zero_pivot"),
        ("HIPFFT_SETUP_FAILED", "HIPFFT_SETUP_FAILED"),
    ],
)
def test_status_codes_are_known_by_name_text_and_number(text: str, code: str) -> None:
    diagnosis = run(f"before\n{text}\nafter\n")
    titles = {match.failure.title: match.lines for match in (*diagnosis.matches, *diagnosis.general)}
    assert any(code in title and lines == (2,) for title, lines in titles.items()), titles
