# SPDX-License-Identifier: Apache-2.0
"""What a runtime library calls as a child process: where the engine is, and where a kernel's translation is."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TextIO

from rocport.executor.isa import EngineError, TablesError, library, shelf, translate
from rocport.syntax.code_object import CodeObject, CodeObjectError


def serve(requests: TextIO, answers: TextIO) -> int:
    """For each line `CODE_OBJECT TARGET KERNEL plain|watched`, tabs between: the shared object's path, or an empty line
    and why."""
    shelf.prune_sometimes(library.folder())
    opened: dict[tuple[str, str], CodeObject] = {}
    for request in requests:
        path, target, name, how = request.rstrip("\n").split("\t")
        answer = ""
        try:
            if (path, target) not in opened:
                opened = {(path, target): translate.open_object(Path(path).read_bytes(), target)}
            code = opened[path, target]
            answer = str(translate.translate(code, code.kernels[name], target, how == "watched").path)
        except (OSError, KeyError, CodeObjectError, EngineError, TablesError) as error:
            print(f"{error}", file=sys.stderr)
        answers.write(answer + "\n")
        answers.flush()
    return 0


def main(arguments: list[str] | None = None) -> int:
    """`engine` or `translate`: one JSON object on standard output; 2 and the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m rocport.executor.isa", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("engine", help="build the dispatcher library")
    commands.add_parser("serve", help="translate one kernel for each line CODE_OBJECT, target, kernel, plain|watched")
    one = commands.add_parser("translate", help="translate kernels of a code object")
    one.add_argument("code_object", type=Path)
    one.add_argument("--target", required=True)
    one.add_argument("--kernel", action="append", default=[])
    one.add_argument("--all", action="store_true")
    given = parser.parse_args(arguments)
    if given.command == "serve":
        return serve(sys.stdin, sys.stdout)
    try:
        if given.command == "engine":
            answer = {"library": str(library.engine()), "include": str(library.NATIVE), "abi": library.ABI}
        else:
            data = given.code_object.read_bytes()
            known = list(translate.open_object(data, given.target).kernels)
            missing = [name for name in given.kernel if name not in known]
            if missing:
                raise CodeObjectError(f"no kernel {', '.join(missing)}; the object has {', '.join(known)}")
            names = known if given.all else given.kernel
            answer = translate.describe(data, given.target, names)
    except (OSError, CodeObjectError, EngineError, TablesError) as error:
        print(f"{error}", file=sys.stderr)
        return 2
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
