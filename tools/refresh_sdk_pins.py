"""Rewrite src/rocport/toolchain/sdk-pins.toml: same packages and suites, the archive's current versions and hashes.

Run by hand, then install and test: `python tools/refresh_sdk_pins.py && rocport sdk install --force && make test`.
Raise `version` when the content changes, so that machines with the old SDK get the new one.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from rocport.toolchain import sdk

PINS = Path(sdk.__file__).with_name("sdk-pins.toml")


def main() -> None:
    text = PINS.read_text()
    pins = sdk.load_pins(text)
    with tempfile.TemporaryDirectory() as folder:
        apt = sdk.Apt(Path(folder), sdk.find_mirror(), pins.suites)
        if complaint := apt.update():
            raise SystemExit(complaint)
        versions = apt.versions([pin.name for pin in pins.packages])
        records = apt.records([(pin.name, versions[(pin.name, pin.suite)]) for pin in pins.packages])
        for pin in pins.packages:
            version = versions[(pin.name, pin.suite)]
            sha, size = records[pin.name]
            old = re.search(
                rf'name = "{re.escape(pin.name)}"\nsuite = "{pin.suite}"\nversion = .*\nsha256 = .*\nsize = .*\n', text
            )
            assert old is not None, f"{PINS}: {pin.name} is not laid out as expected"
            new = (
                f'name = "{pin.name}"\nsuite = "{pin.suite}"\nversion = "{version}"\nsha256 = "{sha}"\nsize = {size}\n'
            )
            text = text.replace(old[0], new)
            if version != pin.version:
                print(f"{pin.name}: {pin.version} -> {version}")
    PINS.write_text(text)


if __name__ == "__main__":
    main()
