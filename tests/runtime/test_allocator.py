import pytest

from rocport.runtime import AllocatorConflict, allocator_settings, apply_allocator_settings
from rocport.runtime.allocator import parse


def test_the_pair_that_corrupts_is_refused():
    clash = {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128,expandable_segments:True"}
    with pytest.raises(AllocatorConflict, match="drop max_split_size_mb"):
        allocator_settings(clash)


@pytest.mark.parametrize("text", ["max_split_size_mb:128", "expandable_segments:True", "expandable_segments:False"])
def test_either_alone_is_fine(text):
    key, value = text.split(":")
    assert allocator_settings({"PYTORCH_HIP_ALLOC_CONF": text}) == {key: value}


def test_apply_keeps_what_the_user_set_but_never_the_pair():
    environment = {"PYTORCH_HIP_ALLOC_CONF": "garbage_collection_threshold:0.8,max_split_size_mb:64"}
    assert apply_allocator_settings(environment=environment)["max_split_size_mb"] == "64"
    environment = {"PYTORCH_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:64"}
    apply_allocator_settings(environment=environment)
    assert environment == {"PYTORCH_ALLOC_CONF": "expandable_segments:True"}


def test_apply_asks_for_expandable_segments():
    environment: dict[str, str] = {}
    assert apply_allocator_settings(environment=environment) == {"expandable_segments": "True"}
    assert environment == {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    assert apply_allocator_settings(expandable_segments=False, environment={}) == {}


def test_lists_are_one_value_and_a_bare_word_is_an_error():
    assert parse("roundup_power2_divisions:[256:1,512:2],a:b") == {
        "roundup_power2_divisions": "[256:1,512:2]",
        "a": "b",
    }
    with pytest.raises(ValueError, match="'name:value'"):
        parse("expandable_segments")
