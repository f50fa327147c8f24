"""Versions that a project's files ask for, and whether they keep a newer one out."""

import pytest

from rocport.project.pins import pins, stays_below


def test_specifiers_are_read_from_requirement_lines():
    texts = [
        b"torch\nbitsandbytes==0.45.5\n",
        b'dependencies = ["bitsandbytes >=0.43, <0.46; sys_platform == \'linux\'", "numpy"]\n',
        b"RUN pip install 'bitsandbytes[test]~=0.45.0'\n",
        b"my-bitsandbytes==1.0\nbitsandbytes\nbitsandbytes @ git+https://x\nimport bitsandbytes == broken\n",
    ]
    assert pins(texts, "bitsandbytes") == ("<0.46,>=0.43", "==0.45.5", "~=0.45.0")
    assert pins([b"bitsandbytes-foundation>=2"], "bitsandbytes") == ()


@pytest.mark.parametrize("text", ["{}x", "[a]{}x", "==1{}x", "==1{},x"])
def test_a_run_of_blanks_is_read_once(text):
    """Reading 64,000 blanks as blanks before and after a list of extras took minutes."""
    assert pins([f"bitsandbytes{text.format(' ' * 64000)}".encode()], "bitsandbytes") in ((), ("==1",))


@pytest.mark.parametrize(
    ("specifier", "below"),
    [("==0.45.5", True), ("<0.49", True), (">=0.43", False), ("~=0.45.0", True), ("!=0.49.2", False),
     ("==0.51.3", False), ("<=0.49.2", False), ("==0.49.*", False), ("<0.49.2,>=0.40", True),
     ("===foo", True), (">=0.43,===foo", True)],
)  # fmt: skip
def test_a_specifier_that_keeps_a_version_out(specifier, below):
    assert stays_below(specifier, "0.49.2", ("0.50.0",)) is below


def test_a_scan_compares_the_pin_with_the_checkpoint(tmp_path):
    from rocport.model import Options
    from rocport.scan.engine import scan_tree
    from rocport.scan.tree import read_tree

    (tmp_path / "run.py").write_text("m = AutoModel.from_pretrained('unsloth/llama-3-8b-bnb-4bit')\n")
    for text, found in (("bitsandbytes==0.49.1\n", 1), ("bitsandbytes>=0.49.1\n", 0)):
        (tmp_path / "requirements.txt").write_text(text)
        findings = scan_tree(read_tree(tmp_path), Options()).findings
        assert [f.rule for f in findings].count("prequantized-4bit") == found
