"""A GPU as people name it -> its gfx target."""

from __future__ import annotations

import difflib
import re

from rocport.compat.errors import CompatError
from rocport.facts.errors import FactError
from rocport.facts.products import targets_of_processor, unserved_product
from rocport.facts.targets import all_targets, is_gfx_name, load_target, targets_of_product, wave_target
from rocport.model.targets import GfxTarget


def resolve_gpu(text: str) -> GfxTarget:
    """The target of `gfx1100`, `RX 7900 XTX` or `AMD Instinct MI300X`.

    Raises CompatError, with candidates, when nothing or more than one target answers to the name.
    """
    if is_gfx_name(text):
        try:
            return load_target(text)
        except FactError as error:
            raise CompatError(str(error), error.suggestions) from error
    gone = unserved_product(text)
    if gone is not None:
        raise CompatError(f"{text!r} is {gone.chip}: {gone.text} ({gone.sure}: {gone.source})")
    names = targets_of_product(text) or _same(text) or targets_of_processor(text)
    if len(names) == 1:
        return load_target(names[0])
    if names:
        lines = tuple(describe(load_target(name)) for name in names)
        raise CompatError(f"{text!r} is sold with more than one chip; name the gfx target (rocminfo prints it)", lines)
    close = _close(text)
    hint = (
        "close:" if close else f"give a product name such as 'RX 7900 XTX', or a target such as {wave_target(32).name}"
    )
    raise CompatError(f"{text!r} is no AMD GPU in the facts; {hint}", close)


def _same(text: str) -> tuple[str, ...]:
    """Targets whose codename is `text`, or all of whose products that hold it as whole words (`RX 7900`) are named."""
    key = _key(text)
    if not re.search(r"[a-z]{4}|\d{3}", key):
        return ()
    found = set()
    for target in all_targets():
        keys = [_key(name) for name in (*target.products, *target.codename.split(","))]
        if any(f" {key} " in f" {known} " for known in keys):
            found.add(target.name)
    return tuple(sorted(found))


def describe(target: GfxTarget) -> str:
    """`gfx1100 (RDNA3): Radeon RX 7900 XTX, ...`"""
    return f"{target.name} ({target.family}): {', '.join(target.products[:4]) or 'no product known'}"


def _key(text: str) -> str:
    words = re.findall(r"[a-z]+|\d+", text.lower())
    return " ".join(word for word in words if word not in {"amd", "radeon", "instinct", "ryzen", "ai", "pro", "rx"})


def _series(key: str) -> set[str]:
    """The words of a name that are no number, and the thousand of its number: a 7950 XTX is near a 7900 XTX, not to a
    7840HS or an RX 580."""
    return {word if word.isalpha() else word[:2] for word in key.split() if word.isalpha() or len(word) >= 4}


def _close(text: str) -> tuple[str, ...]:
    """Products whose names are close, each with its target."""
    known = {product: target.name for target in all_targets() for product in target.products}
    by_key: dict[str, list[str]] = {}
    for product in known:
        by_key.setdefault(_key(product), []).append(product)
    key = _key(text)
    near = [name for name in by_key if len(key) > 2 and f" {key} " in f" {name} "]
    near += [
        name
        for name in difflib.get_close_matches(key, list(by_key), n=5, cutoff=0.6)
        if _series(key) & _series(name) or not re.search(r"\d", key)
    ]
    names = [product for name in dict.fromkeys(near) for product in by_key[name]]
    return tuple(f"{product} ({known[product]})" for product in names[:8])
