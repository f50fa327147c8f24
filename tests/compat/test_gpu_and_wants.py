"""GPUs by the names people use, and wanted packages as files write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocport.compat import CompatError
from rocport.compat.gpu import resolve_gpu
from rocport.compat.wants import parse_wants, read_requirements
from rocport.facts.targets import all_targets, targets_of_product


@pytest.mark.parametrize(
    ("text", "gfx"),
    [
        ("RX 7900 XTX", "gfx1100"),
        ("AMD Radeon RX 7900 XTX", "gfx1100"),
        ("rx7900xtx", "gfx1100"),
        ("RX 7900", "gfx1100"),
        ("MI300X", "gfx942"),
        ("mi300", "gfx942"),
        ("AMD Instinct MI250X", "gfx90a"),
        ("Strix Halo", "gfx1151"),
        ("780M", "gfx1103"),
        ("RX 6700 XT", "gfx1031"),
        ("gfx942:sramecc+:xnack-", "gfx942"),
        ("AMD Ryzen 7 7840HS w/ Radeon 780M Graphics", "gfx1103"),
        ("Ryzen 7 7840U", "gfx1103"),
        ("AMD Ryzen AI MAX+ PRO 395", "gfx1151"),
        ("Ryzen AI 9 HX 370", "gfx1150"),
        ("Ryzen AI 7 350", "gfx1152"),
        ("Ryzen 7 5700G", "gfx90c"),
        ("AMD Ryzen 9 7950X", "gfx1036"),
    ],
)
def test_names_people_use(text, gfx):
    assert resolve_gpu(text).name == gfx


@pytest.mark.parametrize(
    ("text", "says"),
    [("Radeon 840M", "gfx1152"), ("Gorgon Point", "gfx1150"), ("gfx943", "gfx942"), ("RX 7950 XTX", "RX 7900 XTX")],
)
def test_doubtful_names_list_candidates(text, says):
    with pytest.raises(CompatError) as error:
        resolve_gpu(text)
    assert any(says in candidate for candidate in error.value.candidates)


@pytest.mark.parametrize("text", ["RX 580", "Radeon RX580", "RX 570", "Instinct MI8", "RX 550"])
def test_cards_that_nothing_serves_are_said_to_be(text):
    with pytest.raises(CompatError, match="Vulkan") as error:
        resolve_gpu(text)
    assert not error.value.candidates


def test_close_names_are_of_the_same_series():
    with pytest.raises(CompatError) as error:
        resolve_gpu("Ryzen 7 7849HS")
    assert not error.value.candidates


@pytest.mark.parametrize("text", ["", " ", "RTX 4090", "GeForce 6800", "Radeon HD 6800", "banana", "gfx", "7"])
def test_other_names_give_no_gpu(text):
    with pytest.raises(CompatError):
        resolve_gpu(text)


def test_every_product_in_the_facts_is_found():
    for target in all_targets():
        for product in target.products:
            if len(targets_of_product(product)) == 1:
                assert resolve_gpu(product).name == target.name


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_gpu_or_an_error(text):
    try:
        assert resolve_gpu(text).name.startswith("gfx")
    except CompatError as error:
        assert str(error)


def test_commas_separate_packages_and_specifiers():
    wants = parse_wants("torch>=2.9,<3,bitsandbytes, flash-attn ,numpy[x]==1.*")
    assert [want.name for want in wants] == ["torch", "bitsandbytes", "flash-attn", "numpy"]
    assert set(wants[0].specifier.split(",")) == {">=2.9", "<3"}
    with pytest.raises(CompatError, match="no requirement"):
        parse_wants("torch=>2")


def test_a_requirements_file(tmp_path):
    (tmp_path / "base.txt").write_bytes(b"\xef\xbb\xbfnumpy<2  # old\r\n\r\n")
    path = tmp_path / "requirements.txt"
    path.write_text(
        "# wanted\n-r base.txt\n--extra-index-url https://download.pytorch.org/whl/cu124\n-i https://example.org/simple\n"
        "torch==2.5.1+cu124\nflash_attn>=2.5 \\\n  --hash=sha256:00\npywin32; sys_platform == 'win32'\n"
        "old; python_version < '3.10'\nkernels @ git+https://example.org/kernels\n./local\n"
        "https://example.org/a-1-py3-none-any.whl\n",
        encoding="utf-8",
    )
    wants, notes = read_requirements(path, "3.12")
    assert [want.name for want in wants] == ["numpy", "torch", "flash_attn", "kernels"]
    assert wants[1].cuda == "cu124" and wants[1].specifier == "==2.5.1"
    assert wants[1].where.endswith("requirements.txt:5") and wants[3].url
    assert "cu124 holds CUDA builds" in notes[0] and len(notes) == 4


def test_files_that_cannot_be_used_are_named(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text("-r requirements.txt\n")
    with pytest.raises(CompatError, match="includes itself"):
        read_requirements(path, None)
    path.write_text("fine\n!!!\n")
    with pytest.raises(CompatError, match=r"requirements\.txt:2"):
        read_requirements(path, None)
    path.write_bytes(b"\x7fELF\0\xff\xfe")
    with pytest.raises(CompatError, match="not text"):
        read_requirements(path, None)
    path.write_text("torch\0")
    with pytest.raises(CompatError, match="binary"):
        read_requirements(path, None)
    for missing in (tmp_path / "absent", tmp_path):
        with pytest.raises(CompatError, match="cannot be read"):
            read_requirements(missing, None)
    path.write_bytes("torch\n".encode("utf-16"))
    assert read_requirements(path, None)[0][0].name == "torch"


@given(text=st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_is_requirements_or_an_error(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "fuzz.txt"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        read_requirements(path, "3.12")
    except CompatError as error:
        assert "fuzz.txt" in str(error) or "cannot be read" in str(error)
