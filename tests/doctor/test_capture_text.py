"""Cleaning pasted text: encodings, colours, markdown, log prefixes."""

from __future__ import annotations

import os
import threading

import doctor_samples as samples
import pytest

from rocport.doctor.capture import CaptureError, machine_from_text, read_captures
from rocport.doctor.text import clean, decode, looks_binary

GFX = samples.rocminfo(samples.agent("gfx1100", 0x744C, "Radeon RX 7900 XTX"))


def gfx(text: str) -> list[str]:
    return [g.gfx for g in machine_from_text(text).gpus]


def prefixed(prefix: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in GFX.splitlines())


@pytest.mark.parametrize(
    "prefix",
    [
        "> ",
        "> > ",
        "2026-08-15T10:11:12.1234567Z ",
        "[2026-08-15 10:11:12,123] ",
        "build\tRun doctor\t2026-08-15T10:11:12.1234567Z ",
        "vllm-1  | ",
        "Aug 15 10:11:12 host rocminfo[123]: ",
        "INFO 03-04 12:10:58 [__init__.py:207] ",
        "(EngineCore_0 pid=123) ",
        "[rank0]: ",
        "\x1b[37m",
    ],
)
def test_prefixes_are_seen_through(prefix):
    assert gfx(prefixed(prefix)) == ["gfx1100"]


def test_line_numbers_are_seen_through():
    assert gfx("".join(f"{i:4}: {line}\n" for i, line in enumerate(GFX.splitlines(), 1))) == ["gfx1100"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_encodings(encoding):
    data = GFX.encode(encoding)
    assert not looks_binary(data)
    assert gfx(decode(data)) == ["gfx1100"]


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_line_endings(ending):
    assert gfx(GFX.replace("\n", ending)) == ["gfx1100"]


def test_markdown_and_html():
    text = f"<details><summary>rocminfo</summary>\n\n```\n{GFX}```\n</details>"
    assert gfx(text) == ["gfx1100"]
    assert gfx(text.replace("<", "&lt;").replace(">", "&gt;")) == ["gfx1100"]


def test_a_string_literal_with_escapes():
    assert gfx(repr(GFX)) == ["gfx1100"]


def test_indentation_behind_a_prefix_is_kept():
    assert clean("> \tx\n>   y")[1].text == "  y"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CaptureError, match="nowhere"):
        read_captures([tmp_path / "nowhere.txt"])


def test_a_binary_is_refused_and_passed_over_in_a_folder(tmp_path):
    (tmp_path / "a.so").write_bytes(b"\x7fELF" + bytes(100))
    (tmp_path / "b.txt").write_text(GFX)
    (tmp_path / "loop").symlink_to(tmp_path)
    with pytest.raises(CaptureError, match="not text"):
        read_captures([tmp_path / "a.so"])
    machine = read_captures([tmp_path])
    assert [g.gfx for g in machine.gpus] == ["gfx1100"]
    assert any("passed over" in note for note in machine.notes)


def test_a_pipe_is_read_once_and_whole(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(GFX,))
    writer.start()
    machine = read_captures([pipe])
    writer.join()
    assert [g.gfx for g in machine.gpus] == ["gfx1100"]


def test_a_binary_behind_a_head_of_text_is_no_text_and_a_log_with_a_few_nuls_is(tmp_path):
    (tmp_path / "a.run").write_bytes(b"#!/bin/sh\n" * 1000 + bytes(range(256)) * 40)
    with pytest.raises(CaptureError, match=r"a\.run: not text"):
        read_captures([tmp_path / "a.run"])
    (tmp_path / "kern.log").write_bytes(b"a line of the kernel\n" * 1000 + bytes(8) + GFX.encode())
    assert [g.gfx for g in read_captures([tmp_path / "kern.log"]).gpus] == ["gfx1100"]


def test_nothing_known_says_what_would_help():
    machine = machine_from_text("hello\nworld\n")
    assert machine.gpus == () and "rocminfo" in machine.notes[0]
    assert machine_from_text("").gpus == ()


def test_a_prefix_goes_however_many_stand_before_a_line():
    assert [line.text for line in clean("[rank0]: [ 12.345678] > INFO: x y\nplain: text\n  | kept\n")][:3] == [
        "x y",
        "plain: text",
        "  | kept",
    ]
