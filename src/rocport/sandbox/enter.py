"""Restricts this process, and becomes the command behind `--`: what `rocport.sandbox.looking` starts.

A program of its own, since what runs between fork and exec in a process with threads can hang.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rocport.sandbox import seccomp
from rocport.sandbox.landlock import Ruleset


def main(words: list[str]) -> None:
    options, command = words[: words.index("--")], words[words.index("--") + 1 :]
    named = {kind: [Path(word[2:]) for word in options if word.startswith(kind)] for kind in ("-r", "-w")}
    Ruleset(named["-w"], named["-r"]).enforce()
    if seccomp.works():
        seccomp.Filter().enforce()
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
