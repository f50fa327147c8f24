"""The edits of CMake: what stands for a command on ROCm, behind `if(USE_ROCM)`.

Commands are wrapped or inserted whole, so that with USE_ROCM off the commands that run are the original's.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rocport.facts.lookup import Kind, cmake_target_of, counterpart, link_names, rocm_package
from rocport.facts.symbols import Symbol, without_counterpart
from rocport.facts.targets import default_targets
from rocport.model import Context, Edit, Span
from rocport.project.build import BuildSource
from rocport.project.cmake import CMakeCommand
from rocport.rules.build.nvcc import hip_flags

OPTION = "USE_ROCM"

COMPILE = frozenset(
    {"target_compile_options", "add_compile_options", "target_compile_definitions", "add_compile_definitions"}
)
_FOLDERS = re.compile(r"\s*\$\{CUDA(?:Toolkit)?_(?:TOOLKIT_)?INCLUDE_DIRS?\}")
_BUILDS = frozenset({"add_library", "add_executable", "target_sources"})
_OLD = {"cuda_add_library": "add_library", "cuda_add_executable": "add_executable"}
_SWITCH = (
    r"(?:\w*(?:USE|ENABLE|WITH|BUILD|HAVE)_(?:CUDA|GPU|NVIDIA)\w*|CUDA(?:Toolkit)?_FOUND|CMAKE_CUDA_COMPILER"
    r"|\w+_USE_CUDA)"
)
_ASKS_CUDA = re.compile(rf"(?<![^\s()])\"?(?:\$\{{)?(?P<switch>{_SWITCH})\}}?\"?(?=\s*(?:\)|\Z|(?:AND|OR)\b))".encode())
"""A switch that is asked whether it is on, and not compared with anything."""
_OF_CUDA = re.compile(rb"(?i)\w*(?:cuda|nvidia|cudnn|COMPUTE_BACKEND)\w*")
_VERSION = re.compile(r"\s*\"?\$?\{?(?:CUDA_VERSION|CUDAToolkit_VERSION|CMAKE_CUDA_COMPILER_VERSION)\w*\}?\"?\s+\w+\s")


def edits(source: BuildSource, command: CMakeCommand, context: Context, languages: Languages) -> tuple[Edit, ...]:
    """The edits for one command the rule found; empty where it has no form for ROCm. `languages`: `project_languages`
    of the file."""
    if command.name in ("if", "elseif"):
        return _condition(source, command)
    rocm = _rocm(
        command,
        driver=links_driver(source, command, context),
        languages=languages,
    )
    if rocm is None:
        return ()
    wrapped = _wrapped(source, command, rocm)
    return (*wrapped, *prelude(source, context)) if wrapped else ()


def builds(source: BuildSource, command: CMakeCommand) -> bool:
    """True for a command that gives a target CUDA sources, by name or in a variable of the file that holds some; not in
    one that the build for AMD sets itself (`if(USE_ROCM) set(GPU_SOURCES a.hip)`)."""
    if command.name not in _BUILDS or re.search(r"\b(?:INTERFACE|IMPORTED|ALIAS)\b", command.arguments):
        return False
    named = re.search(r"\.cu\b", command.arguments) is not None
    return named or not _cuda_lists(source).isdisjoint(_VARIABLE.findall(command.arguments))


_VARIABLE = re.compile(r"\$\{([^{}]*)\}")


@lru_cache(maxsize=2)
def _cuda_lists(source: BuildSource) -> frozenset[str]:
    """The variables of a file that hold CUDA sources, but for those that its build for AMD sets."""
    own = [item.words for item in source.commands if item.gated and item.name == "set"]
    ported = {words[0] for words in own if any(word.endswith(".hip") for word in words)}
    return frozenset(_holding_cuda(source) - ported)


def _holding_cuda(source: BuildSource) -> set[str]:
    """The variables of a file that hold CUDA sources, through one another too."""
    found: set[str] = set()
    holding: list[str] = []
    taken_up: dict[str, list[str]] = {}
    for item in source.commands:
        words = item.words
        name = {"set": words[:1], "file": words[1:2], "list": words[1:2]}.get(item.name, ())
        verb = "" if item.name == "set" else words[0] if words else ""
        if not name or verb not in ("", "GLOB", "GLOB_RECURSE", "APPEND", "PREPEND", "INSERT"):
            continue
        if re.search(r"\.cu\b", item.arguments):
            holding.append(name[0])
        for other in _VARIABLE.findall(item.arguments):
            taken_up.setdefault(other, []).append(name[0])
    while holding:
        variable = holding.pop()
        if variable not in found:
            found.add(variable)
            holding += taken_up.get(variable, ())
    return found


def roots(source: BuildSource, context: Context) -> CMakeCommand | None:
    """The `project` of a file whose folders below hold CUDA sources and CMake of their own; None elsewhere.

    What those folders ask for, the option and the function for sources, has to be defined above them.
    """
    project = next((item for item in source.commands if item.name == "project" and not item.gated), None)
    if project is None or "add_subdirectory" not in source.first_commands:
        return None
    folder = posixpath.dirname(source.path)
    below = [path for path in context.project.files if not folder or path.startswith(f"{folder}/")]
    nested = any(path.endswith("/CMakeLists.txt") and path != source.path for path in below)
    return project if nested and any(path.endswith(".cu") for path in below) else None


def links_driver(source: BuildSource, command: CMakeCommand, context: Context) -> bool:
    """True where a plain `cuda` is the driver's library, not a target of the project or a word like any other."""
    words = command.words
    if "cuda" not in words[1:] or "cuda" in context.project.cmake_folders or _makes_cuda(source):
        return False
    if command.name in ("target_link_libraries", "link_libraries"):
        return True
    variable = words[1] if command.name == "list" else words[0]
    return command.name in ("set", "list") and re.search(r"(?i)libs?\b|librar|_libs?_", variable) is not None


@lru_cache(maxsize=2)
def _makes_cuda(source: BuildSource) -> bool:
    """True where a file makes a library `cuda` of its own."""
    return any(item.name == "add_library" and item.words[:1] == ("cuda",) for item in source.commands)


def sources_edits(source: BuildSource, command: CMakeCommand, context: Context) -> tuple[Edit, ...]:
    """Have the CUDA sources of a target compiled as HIP, from their translations where those lie elsewhere."""
    target = command.arguments.split()[0]
    if not _alone(source, command):
        return ()
    indent, newline = _indent(source, command), _newline(source)
    rows = (f"if({OPTION})", f"  rocm_sources({target})", "endif()")
    text = "".join(f"{newline}{indent}{row}" for row in rows)
    end = _end(source, command)
    return (Edit(Span(end, end), text.encode()), *prelude(source, context))


def prelude(source: BuildSource, context: Context) -> tuple[Edit, ...]:
    """The option, the AMD targets and the function for sources, once, in a file with a project of its own."""
    if _declares_option(source) or "project" not in source.first_commands:
        return ()
    first = source.first_commands.get("cmake_minimum_required")
    newline = _newline(source)
    default = "ON" if context.options.layout == "hip" else "OFF"
    text = _PRELUDE.format(
        option=OPTION, default=default, targets=" ".join(context.options.targets or default_targets())
    )
    folder = posixpath.dirname(source.path)
    root = posixpath.relpath(".", folder) if folder else "."
    twin = _TWIN.format(root=root, mirror=context.options.mirror) if context.options.layout == "both" else ""
    text = text.replace("@TWIN@\n", twin).replace("\n", newline)
    if first is None:
        # Edits at one place are made in the order of their text: the comment keeps these lines before an `if` there.
        return (Edit(Span(0, 0), (f"# ROCm, where AMD GPUs are built for.{newline}{text}{newline}").encode()),)
    if not _alone(source, first):
        return ()
    return (Edit(Span(first.close, first.close), (newline * 2 + text.rstrip()).encode()),)


def _rocm(command: CMakeCommand, *, driver: bool, languages: Languages) -> list[str] | None:
    """The lines that stand for a command on ROCm; None where none are known."""
    words = command.arguments.split()
    if command.name in ("enable_language", "check_language"):
        others = [word for word in words if word not in ("CUDA", "OPTIONAL")]
        return [f"{command.name}({' '.join([*others, 'HIP'])})"]
    if command.name in ("find_package", "include"):
        row = counterpart("package", "CUDA" if words[0].startswith("CUDA") else words[0])
        package = row.hip if row else ""
        required = " REQUIRED" if package == "hip" or "REQUIRED" in words else ""
        # FindCUDA brings nvcc with it; sources of HIP need their language.
        language = ["enable_language(HIP)"] if words[0] == "CUDA" and command.at in languages.enabled_at else []
        return [*language, f"find_package({package}{required})"] if package else []
    if command.name in FINDS:
        return _found_on_rocm(command)
    if command.name == "project":
        return [f"project({_no_cuda(command.arguments)})"]
    if adds_language(command, languages):
        return [f"{command.name}({_no_cuda(command.arguments)})"]
    if command.name in _OLD:
        return [f"{_OLD[command.name]}({command.arguments})", f"rocm_sources({words[0]})"] if words else None
    if command.name == "cuda_include_directories":
        return [f"include_directories({command.arguments})"]
    if command.name == "cuda_add_cublas_to_target" and words:
        return ["find_package(hipblas REQUIRED)", f"target_link_libraries({words[0]} roc::hipblas)"]
    if command.name == "list" and words[:1] == ["APPEND"] and _cuda_flags(words):
        return _appended(words[2:])
    if command.name == "set" and words[0].startswith("CUDA_NVCC_FLAGS"):
        return _set(words)
    if command.name in ("target_link_libraries", "link_libraries", "list") or (
        command.name == "set" and (driver or _names_a_library().search(command.arguments)) and not _cuda_flags(words)
    ):
        return _linked(command.name, command.arguments, driver=driver)
    if command.name in ("include_directories", "target_include_directories") and _FOLDERS.search(command.arguments):
        return _kept(command.name, _FOLDERS.sub("", command.arguments))
    if command.name == "set" and re.fullmatch(r"(?:CMAKE_)?CUDA_ARCH\w*|CMAKE_CUDA_(?!FLAGS)\w+", words[0]):
        return []
    if command.name in ("set_source_files_properties", "set_property") and "LANGUAGE" in words:
        return _source_language(command)
    if command.name == "set_target_properties":
        return _properties(command.arguments)
    if command.name in COMPILE or _cuda_flags(words):
        return _flags(command)
    return None


FINDS = frozenset({"find_library", "find_path", "find_file"})
_FIND_OPTION = re.compile(
    r"HINTS|PATHS|PATH_SUFFIXES|DOC|REQUIRED|OPTIONAL|NAMES_PER_DIR|VALIDATOR|ENV|NO_\w+|CMAKE_FIND_ROOT_PATH_BOTH"
    r"|ONLY_CMAKE_FIND_ROOT_PATH|REGISTRY_VIEW"
)


def sought(name: str, arguments: str) -> dict[str, str]:
    """The CUDA libraries or headers that a `find_library` or `find_path` looks for -> what ROCm has in their place.

    Empty where nothing takes their place as they are used: another interface is ported by hand, its header, too.
    """
    found: dict[str, str] = {}
    for match in _names(arguments):
        plain = match[0].strip('"')
        library = name == "find_library"
        row = counterpart("link", plain.removeprefix("lib")) if library else counterpart("header", plain)
        if row is not None and not row.dropped and row.hip != plain:
            found[plain] = row.hip
    return found


def by_hand(command: CMakeCommand) -> tuple[str, str, str]:
    """(the first name of CUDA's in a command that nothing takes the place of, what to do about it, the library where
    none of it has a place); empty: none."""
    words, rows = command.words, []
    if command.name == "find_package":
        rows = [counterpart("package", words[0])] if words else []
    elif command.name in FINDS:
        kind: Kind = "link" if command.name == "find_library" else "header"
        rows = [counterpart(kind, word) for word in sought(command.name, command.arguments)]
    elif command.name.startswith(("target_link", "link_", "set", "list")):
        rows = [_linked_row(match) for match in _names_a_library().finditer(command.arguments)]
    row = next((row for row in rows if row is not None and row.by_hand), None)
    return (row.cuda, row.note.partition(":")[2].strip(), without_counterpart(row)) if row else ("", "", "")


def _names(arguments: str) -> Iterator[re.Match[str]]:
    """The names a find looks for: what stands behind its variable, or NAMES, up to the next option."""
    names = True
    for match in [*re.finditer(r'"[^"]*"|\S+', arguments)][1:]:
        if match[0] == "NAMES":
            names = True
        elif _FIND_OPTION.fullmatch(match[0]):
            names = False
        elif names:
            yield match


def _found_on_rocm(command: CMakeCommand) -> list[str]:
    """The command with each CUDA name in its place replaced, once; none where a name has no counterpart."""
    names, text = sought(command.name, command.arguments), command.arguments
    if not all(names.values()):
        return []
    written: set[str] = set()
    parts, at = [], 0
    for match in _names(text):
        plain = match[0].strip('"')
        hip = names.get(plain, plain)
        parts.append(text[at : match.start()])
        if hip in written:
            parts[-1] = parts[-1].rstrip(" \t")
        else:
            parts.append(match[0].replace(plain, hip) if plain else match[0])
        written.add(hip)
        at = match.end()
    return [f"{command.name}({''.join(parts)}{text[at:]})"]


@dataclass(frozen=True)
class Languages:
    """What a file says of its languages."""

    variables: frozenset[str]
    """Those that reach its `project` or `enable_language`, through one another too."""
    enabled_at: frozenset[int]
    """The commands, by their place, where one can be enabled: behind the `project`, outside of functions and macros."""


def project_languages(source: BuildSource) -> Languages:
    """The languages of a file, asked once for all its commands."""
    return Languages(_language_variables(source), frozenset(_behind_project(source)))


def _behind_project(source: BuildSource) -> Iterator[int]:
    depth, project = 0, False
    for item in source.commands:
        if project and depth == 0:
            yield item.at
        depth += (item.name in ("function", "macro")) - (item.name in ("endfunction", "endmacro"))
        project = project or item.name == "project"


def _language_variables(source: BuildSource) -> frozenset[str]:
    reach: dict[str, set[str]] = {}
    found: set[str] = set()
    for item in source.commands:
        words = item.words
        held = set(re.findall(r"\$\{(\w+)\}", item.arguments))
        if item.name in ("project", "enable_language"):
            found |= held
        elif item.name == "foreach" and words:
            reach.setdefault(words[0], set()).update(held, words[words.index("LISTS") :] if "LISTS" in words else ())
        elif item.name in ("set", "list") and words:
            reach.setdefault(words[item.name == "list" and len(words) > 1], set()).update(held)
    left = list(found)
    while left:
        more = reach.get(left.pop(), set()) - found
        found |= more
        left += more
    return frozenset(found)


def adds_language(command: CMakeCommand, languages: Languages) -> bool:
    """True for `set(LANGS CXX CUDA)` and `list(APPEND LANGS CUDA)` of a variable that `project_languages` names."""
    words = command.arguments.split()
    if command.name == "list":
        words = words[1:] if words[:1] == ["APPEND"] else []
    elif command.name != "set":
        return False
    return words[:1] != [] and words[0] in languages.variables and "CUDA" in words[1:]


def _no_cuda(arguments: str) -> str:
    """The arguments with HIP for the language CUDA; the first is the name of a project or a variable."""
    first = re.match(r'\s*(?:"[^"]*"|\S+)', arguments)
    kept = first.end() if first else 0
    return arguments[:kept] + re.sub(r'"CUDA"|"[^"]*"|(?<![\w:./-])CUDA(?![\w:./-])', _hip, arguments[kept:])


def _hip(match: re.Match[str]) -> str:
    return match[0].replace("CUDA", "HIP") if match[0].strip('"') == "CUDA" else match[0]


_PROPERTY = re.compile(r"(?P<name>\w+)(?P<gap>\s+)(?P<value>\"[^\"]*\"|[^\s\"]+)(?P<after>\s*)")


def _source_language(command: CMakeCommand) -> list[str] | None:
    """The language HIP for the same files, and their options in clang's words; None where one has no such word."""
    head = re.match(r"[\s\S]*?\bPROPERT(?:Y|IES)\s+", command.arguments)
    if head is None:
        return None
    rest, at = command.arguments[head.end() :].rstrip(), 0
    parts = [head[0]]
    while at < len(rest):
        pair = _PROPERTY.match(rest, at)
        if pair is None:
            return None
        value = pair["value"]
        if pair["name"] == "LANGUAGE" and value.strip('"') == "CUDA":
            value = value.replace("CUDA", "HIP")
        elif pair["name"] in ("COMPILE_OPTIONS", "COMPILE_FLAGS"):
            separator = ";" if pair["name"] == "COMPILE_OPTIONS" else " "
            words = [word for word in re.split(r"[;\s]+", value.strip('"')) if word]
            new = hip_flags(words)
            if new is None or any("$<" in word for word in words):
                return None
            flags = [
                flag for word, here in zip(words, new, strict=True) for flag in ((word,) if here is None else here)
            ]
            value = f'"{separator.join(flags)}"'
        parts.append(f"{pair['name']}{pair['gap']}{value}{pair['after']}")
        at = pair.end()
    return [f"{command.name}({''.join(parts)})"]


@cache
def _names_a_library() -> re.Pattern[str]:
    # A plain `cuda` is a word like any other; `-lcuda` is the driver's library.
    names = "|".join(re.escape(name) for name in link_names() if name != "cuda")
    return re.compile(
        rf"(?<![\w:])(?P<target>[A-Za-z_]\w*::\w+)|(?<![\w:./-])(?:-l)?(?P<name>{names}|(?<=-l)cuda)(?![\w:./-])"
        r"|\$\{CUDA_(?:(?P<variable>\w+)_)?LIBRAR(?:Y|IES)\}|\$\{(?P<package>CUDNN|NCCL)_LIBRAR(?:Y|IES)\}"
    )


def _linked_row(match: re.Match[str]) -> Symbol | None:
    if match["target"]:
        return counterpart("cmake", match["target"])
    spelled = match["name"] or match["package"] or match["variable"] or "cudart"
    return cmake_target_of(spelled) or cmake_target_of(spelled.lower())


def _linked(name: str, arguments: str, *, driver: bool) -> list[str] | None:
    packages: list[str] = []
    unknown = dropped = False

    def other(match: re.Match[str]) -> str:
        nonlocal unknown, dropped
        row = _linked_row(match)
        if row is None and match["target"] and not match["target"].startswith("CUDA::"):
            return match[0]
        if row is not None and not row.hip:
            dropped = True
            return ""
        package = rocm_package(row.hip) if row is not None else ""
        if row is None or not package:
            unknown = True
            return match[0]
        packages.append(package)
        return row.hip

    first = re.match(r"\s*\S+", arguments)
    kept = first.end() if first and name.startswith("target_") else 0
    listed = re.sub(r"(?<![\w:./$-])cuda(?![\w:./-])", "-lcuda", arguments[kept:]) if driver else arguments[kept:]
    rest = _names_a_library().sub(other, listed)
    if unknown or not (packages or dropped):
        return None
    if not set(rest.split()) - _SCOPES:
        return []
    text = (arguments[:kept] + rest).rstrip(" ")
    return [*(f"find_package({package} REQUIRED)" for package in dict.fromkeys(packages)), f"{name}({text})"]


_SCOPES = frozenset({"PRIVATE", "PUBLIC", "INTERFACE"})


def _cuda_flags(words: Sequence[str]) -> bool:
    return any(word.startswith(("CMAKE_CUDA_FLAGS", "CUDA_NVCC_FLAGS")) for word in words[:2])


def _flags(command: CMakeCommand) -> list[str] | None:
    """The command with nvcc's flags in clang's words, for the HIP language."""
    text = re.sub(r"\b(?:CMAKE_CUDA_FLAGS|CUDA_NVCC_FLAGS)", "CMAKE_HIP_FLAGS", command.arguments)
    text = re.sub(r"(\$<(?:COMPILE_LANGUAGE|COMPILE_LANG_AND_ID):)CUDA\b", r"\1HIP", text)
    # A string over several lines, and quotes in it around a list of targets.
    text = re.sub(r"\\\r?\n\s*", " ", text)
    text = re.sub(r"(code=)\\+\"([\w,]*)\\+\"", r"\1\2", text)
    separators = r"(\s+|;|\"|<|>|(?<=[>L]):)"
    parts = re.split(separators, text)
    words = parts[::2]
    new = hip_flags([word for word in words if word])
    if new is None:
        return None
    chosen = iter(new)
    changed = []
    for word in words:
        here = next(chosen) if word else None
        gap = " " if '"' in text and "COMPILE_LANG" not in text else ";"
        changed.append(word if here is None else gap.join(here))
    rest = [*parts[1::2], ""]
    joined = "".join(word + gap for word, gap in zip(changed, rest, strict=True))
    # A generator expression left without its flag adds nothing, and an empty item in a list of flags is one too many.
    joined = re.sub(r"\$<\$<COMPILE_LANGUAGE:HIP>:(?:SHELL:)?;*>", "", joined)
    joined = re.sub(r'"SHELL:\s*"', "", joined)
    joined = re.sub(r";{2,}", ";", joined)
    joined = re.sub(r"[ \t;]+>", ">", joined)
    joined = re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", joined)
    joined = re.sub(r'"([^"]*)"', lambda match: f'"{match[1].rstrip()}"', joined)
    return _kept(command.name, joined)


def _properties(arguments: str) -> list[str] | None:
    """The HIP twin of a property where there is one; no command where only CUDA's are left."""
    before, found, after = arguments.partition("PROPERTIES")
    words = re.findall(r'"[^"]*"|\S+', after)
    if not found or len(words) % 2:
        return None
    kept: list[str] = []
    for name, value in zip(words[::2], words[1::2], strict=True):
        if re.fullmatch(r"CUDA_(?:PTX|CUBIN|FATBIN|OPTIX)_COMPILATION", name):
            return None  # What reads the objects wants NVIDIA's code, not another kind of object.
        if not name.startswith("CUDA_"):
            kept += [name, value]
        elif name in ("CUDA_STANDARD", "CUDA_STANDARD_REQUIRED", "CUDA_EXTENSIONS"):
            kept += [name.replace("CUDA_", "HIP_", 1), value]
    return [f"set_target_properties({before.rstrip()} PROPERTIES {' '.join(kept)})"] if kept else []


def _listed_flags(words: Sequence[str]) -> list[str] | None:
    """nvcc's flags of a list of CMake's, one by one in clang's words; None where a flag's value is not among them."""
    flags = [flag for word in words for flag in re.split(r"[;\s]+", word.strip('"')) if flag]
    new = hip_flags(flags)
    if new is None:
        return None
    return [text for old, here in zip(flags, new, strict=True) for text in ((old,) if here is None else here)]


def _appended(words: Sequence[str]) -> list[str] | None:
    """Flags that were a list of CUDA's; those of the HIP language are one string."""
    kept = _listed_flags(words)
    if kept is None:
        return None
    if not kept:
        return []
    return [f'string(APPEND CMAKE_HIP_FLAGS " {" ".join(kept)}")', *_one_string("CMAKE_HIP_FLAGS", kept)]


def _one_string(name: str, flags: Sequence[str]) -> list[str]:
    """What makes a string of flags of a variable that has another one of the project's in it: that may be a list."""
    listed = any("${" in flag and "CMAKE_HIP_FLAGS" not in flag for flag in flags)
    return [f'string(REPLACE ";" " " {name} "${{{name}}}")'] if listed else []


def _set(words: Sequence[str]) -> list[str] | None:
    """CUDA_NVCC_FLAGS as it is set: a list of FindCUDA's, in which `;` would end the command of a HIP compiler."""
    cut = words.index("CACHE") if "CACHE" in words else len(words)
    name = words[0].replace("CUDA_NVCC_FLAGS", "CMAKE_HIP_FLAGS")
    kept = _listed_flags([word.replace("${CUDA_NVCC_FLAGS", "${CMAKE_HIP_FLAGS") for word in words[1:cut]])
    if kept is None:
        return None
    if set(kept) <= {f"${{{name}}}"}:
        return []
    value = " ".join(kept)
    cached = "".join(f" {word}" for word in words[cut:])
    return [f'set({name} "{value}"{cached})', *_one_string(name, kept)]


def _kept(name: str, arguments: str) -> list[str]:
    """The command with what is left of its arguments; no command where only the target is left."""
    words = [word for word in arguments.split() if word not in ("PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE")]
    bare = len(words) <= (1 if name.startswith("target_") else 0)
    return [] if bare else [f"{name}({arguments.strip()})"]


def _condition(source: BuildSource, command: CMakeCommand) -> tuple[Edit, ...]:
    """Where it is asked whether CUDA is there, ROCm counts too: what stands in the branch is gated in its turn. Tests
    of CUDA's version alone are not for ROCm; one of them beside others decides too much to be edited."""
    words = command.arguments.split()
    at = source.data.find(b"(", command.at, command.close) + 1
    if len(words) == 3 and _VERSION.match(command.arguments):
        at += len(source.data[at:]) - len(source.data[at:].lstrip())
        return (Edit(Span(at, at), f"NOT {OPTION} AND ".encode()),)
    text = source.data[at : command.close - 1]
    asked = [match for match in _ASKS_CUDA.finditer(text) if match["switch"]]
    if not asked or len(asked) < len(_OF_CUDA.findall(text)) or b"#" in text:
        return ()
    if len(words) == 1:
        return (Edit(Span(at + asked[0].start(), at + asked[0].start()), f"{OPTION} OR ".encode()),)
    made: list[Edit] = []
    for match in asked:
        start, end = at + match.start(), at + match.end()
        made += (Edit(Span(start, start), f"({OPTION} OR ".encode()), Edit(Span(end, end), b")"))
    return tuple(made)


def _wrapped(source: BuildSource, command: CMakeCommand, rocm: Sequence[str]) -> tuple[Edit, ...]:
    if not _alone(source, command):
        return ()
    newline, indent = _newline(source), _indent(source, command)
    head = f"if({OPTION}){newline}" + "".join(
        f"{indent}  {row}{newline}" for line in rocm for row in [line.replace("\n", newline)]
    )
    head = head + f"{indent}else(){newline}" if rocm else f"if(NOT {OPTION}){newline}"
    made = [Edit(Span(command.at, command.at), f"{head}{indent}  ".encode())]
    made += _indented(source, command)
    end = _end(source, command)
    made.append(Edit(Span(end, end), f"{newline}{indent}endif()".encode()))
    return tuple(made)


def _indented(source: BuildSource, command: CMakeCommand) -> list[Edit]:
    """Two more spaces on the lines a command goes on with, where no string crosses a line."""
    text = source.data[command.at : command.close]
    rows = text.split(b"\n")
    if any(row.count(b'"') % 2 for row in rows) or b"[[" in text or b"[=" in text:
        return []
    found, at = [], command.at
    for row in rows[:-1]:
        at += len(row) + 1
        found.append(Edit(Span(at, at), b"  "))
    return found


def _alone(source: BuildSource, command: CMakeCommand) -> bool:
    """True when nothing but a comment shares the lines of a command."""
    data = source.data
    before = data[data.rfind(b"\n", 0, command.at) + 1 : command.at]
    after = _behind(source, command)
    return not before.strip(b" \t\xef\xbb\xbf") and (not after or (after[:1] == b"#" and after[:2] != b"#["))


def _behind(source: BuildSource, command: CMakeCommand) -> bytes:
    """What stands behind a command on its line."""
    end = source.data.find(b"\n", command.close)
    return source.data[command.close : end if end >= 0 else len(source.data)].strip()


def _end(source: BuildSource, command: CMakeCommand) -> int:
    """Where a command and the comment behind it end."""
    after = _behind(source, command)
    return source.data.find(after, command.close) + len(after) if after else command.close


def _indent(source: BuildSource, command: CMakeCommand) -> str:
    start = source.data.rfind(b"\n", 0, command.at) + 1
    return source.data[start : command.at].decode("latin-1").replace("\xef\xbb\xbf", "")


@lru_cache(maxsize=2)
def _declares_option(source: BuildSource) -> bool:
    return f"option({OPTION}".encode() in source.data


@lru_cache(maxsize=2)
def _newline(source: BuildSource) -> str:
    return "\r\n" if b"\r\n" in source.data else "\n"


_PRELUDE = """\
option({option} "Build for AMD GPUs: HIP in place of CUDA" {default})
if({option})
  if(NOT CMAKE_HIP_ARCHITECTURES)
    set(CMAKE_HIP_ARCHITECTURES {targets} CACHE STRING "AMD targets to build for")
  endif()
  # Compile the GPU sources of a target as HIP.
  function(rocm_sources target)
    get_target_property(sources ${{target}} SOURCES)
    if(NOT sources)
      return()
    endif()
    set(found)
    foreach(source IN LISTS sources)
@TWIN@
      if(source MATCHES "\\\\.(cu|hip)$")
        set_source_files_properties("${{source}}" PROPERTIES LANGUAGE HIP)
      endif()
      list(APPEND found "${{source}}")
    endforeach()
    set_property(TARGET ${{target}} PROPERTY SOURCES ${{found}})
  endfunction()
endif()
"""
_TWIN = """\
      if(NOT source MATCHES "^\\\\$<")
        get_filename_component(path "${{source}}" ABSOLUTE)
        get_filename_component(root "${{CMAKE_CURRENT_FUNCTION_LIST_DIR}}/{root}" ABSOLUTE)
        file(RELATIVE_PATH path "${{root}}" "${{path}}")
        string(REGEX REPLACE "\\\\.cu$" ".hip" path "${{root}}/{mirror}/${{path}}")
        if(EXISTS "${{path}}")
          set(source "${{path}}")
        endif()
      endif()
"""
