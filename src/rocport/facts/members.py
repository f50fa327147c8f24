"""Members of CUDA's structures that HIP's counterparts lack or spell otherwise: members.csv, by refresh_members.py."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache

from rocport.facts._toml import FACTS

MEMBERS = FACTS / "members.csv"


@cache
def other_members() -> Mapping[bytes, Mapping[bytes, bytes]]:
    """Member -> structure of CUDA's -> HIP's member, empty where HIP has none. Raises KeyError for another file."""
    found: dict[bytes, dict[bytes, bytes]] = {}
    with MEMBERS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["member"].encode(), {})[row["struct"].encode()] = row["hip"].encode()
    return found
