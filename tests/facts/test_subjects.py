"""The programs a failure speaks of are programs that a paste can show."""

from __future__ import annotations

from rocport.explain import read_stream
from rocport.explain.evidence import subjects_of
from rocport.facts._toml import FACTS, read_toml
from rocport.facts.failures import load_failures


def test_every_subject_is_spoken_of_and_its_texts_are_lower_case() -> None:
    spoken = {name for failure in load_failures() for name in subjects_of(failure.title)}
    table = read_toml(FACTS / "subjects.toml")["subjects"]
    assert set(table) == spoken
    assert all(text == text.lower() for row in table.values() for text in row["seen"])


def test_most_examples_show_what_their_failure_speaks_of() -> None:
    """A record whose own example is doubted for its subject can never be claimed from its message alone."""
    import io

    silent = []
    for failure in load_failures():
        reading = read_stream(io.BytesIO(failure.example.encode()), "example", "amd")
        doubts = [text for match in reading.weighed if match.failure.id == failure.id for text in match.doubts]
        silent += [failure.id] * any("nothing in the paste" in text for text in doubts)
    assert silent == ["wsl-amdsmi", "system-rocm-shadows-wheel"]
