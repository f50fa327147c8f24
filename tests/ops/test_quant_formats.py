import copy
import pickle

import pytest
import torch

from rocport import ops
from rocport.facts.codes import dynamic_map
from rocport.ops.formats import Format, QuantTensor, as_int32
from rocport.ops.quantize.triton import BUCKET_SHIFT, LOWEST_EXPONENT, buckets, decision_points
from rocport.ops.tables import table

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("name", "bits", "group"),
    [("affine3g32", 3, 32), ("nf4b64", 4, 64), ("fp4b4096", 4, 4096), ("dynamic8b256", 8, 256), ("nvfp4", 4, 16)],
)
def test_a_name_and_its_format(name, bits, group):
    fmt = Format.parse(name)
    assert (fmt.bits, fmt.group, fmt.name) == (bits, group, name)


@pytest.mark.parametrize("name", ["affine7g64", "affine4g16", "nf4b48", "dynamic8b32", "nf4", "mxfp4b32", "int8", ""])
def test_what_is_not_a_format_is_refused(name):
    with pytest.raises(ValueError, match="is not a format"):
        Format.parse(name)


def test_tables_are_those_of_bitsandbytes(bnb):
    assert torch.equal(table("dynamic8", CPU), bnb.create_dynamic_map())
    for kind in ("nf4", "fp4"):
        assert torch.equal(table(kind, CPU), bnb.get_4bit_type(kind, device="cpu"))


@pytest.mark.parametrize("kind", ["nf4", "dynamic8"])
def test_a_bucket_holds_at_most_one_decision_point(kind):
    """What the Triton quantizer's single comparison rests on."""
    points = decision_points(kind, CPU)
    below = points.abs() < 2.0 ** (LOWEST_EXPONENT - 127)
    bits = points.abs().view(torch.int32) >> BUCKET_SHIFT
    bits[below] = LOWEST_EXPONENT << (23 - BUCKET_SHIFT)
    for sign in (points >= 0, points < 0):
        assert bits[sign].unique().numel() == int(sign.sum())
    start, padded, count = buckets(kind, CPU)
    assert start.numel() == 2 * count and torch.isinf(padded[-1])


def test_words_keep_their_bits():
    words = torch.tensor([0xFFFFFFFF, 1], dtype=torch.uint32)
    assert as_int32(words).tolist() == [-1, 1]


def test_bytes_stored():
    q = QuantTensor(Format.parse("nf4b64"), (2, 64), torch.float32, torch.zeros(64, dtype=torch.uint8), torch.ones(2))
    assert q.nbytes() == 64 + 8
    assert len(dynamic_map()) == 256


def test_a_copy_of_a_packed_tensor_has_no_plans_of_the_original():
    q = ops.quantize(torch.randn(8, 64), "nf4b64")
    q.plans["call"] = lambda: None
    for twin in (pickle.loads(pickle.dumps(q)), copy.deepcopy(q), q.to("cpu")):
        assert twin.plans == {} and torch.equal(ops.dequantize(twin), ops.dequantize(q))
    assert len(q.plans) == 1
