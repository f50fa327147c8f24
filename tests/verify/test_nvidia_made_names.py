"""Names of gates that a build puts together, or has a function make: never taken not to be the gate's."""

from __future__ import annotations

import time

import pytest

from rocport.verify.nvidia import cmake, made_names

NAMES = ("USE_ROCM", "__HIP_PLATFORM_AMD__")
MADE = [
    ("cmake", 'string(REPLACE "CUDA" "ROCM" g "USE_CUDA")\nset(${g} ON)'),
    ("cmake", 'string(TOUPPER "use_rocm" g)\noption(${g} "" ON)'),
    ("cmake", 'set(B ROCM)\nstring(CONFIGURE "USE_@B@" g @ONLY)\nset(${g} ON)'),
    ("cmake", "string(ASCII 85 83 g)\nset(${g} ON)"),
    ("cmake", 'set(g "US")\nstring(APPEND g "E_ROCM")\nset(${g} ON)'),
    ("cmake", 'set(l use rocm)\nlist(TRANSFORM l TOUPPER)\nlist(JOIN l "_" g)\nset(${g} ON)'),
    ("cmake", "macro(on n)\n  set(${n} ON)\nendmacro()\nstring(TOUPPER use_rocm g)\non(${g})"),
    ("cmake", "foreach(b cuda rocm)\n  string(TOUPPER use_${b} B)\n  set(${B} ON)\nendforeach()"),
    ("cmake", "execute_process(COMMAND a OUTPUT_VARIABLE g)\nset(${g} ON)"),
    ("cmake", "file(READ a.dat g)\nset(n ${g})\nset(${n} ON)"),
    ("cmake", "set(${${a}} ON)"),
    ("cmake", "list(TRANSFORM l TOUPPER)\nforeach(n ${l})\n  set(${n} 1)\nendforeach()"),
    ("python", "e = os.environ.copy()\nenv |= {n.upper(): 1}"),
    ("cmake", "set($ENV{GATE} ON)"),
    ("cmake", "set(n $ENV{GATE})\nset(${n} ON)"),
    ("cmake", "set(a US)\nset(b E_RO)\nset(c CM)\nset(${a}${b}${c} ON)"),
    ("cmake", "string(TOUPPER use_rocm g)\nadd_compile_definitions(${g}=1)"),
    ("cmake", "string(TOUPPER use_rocm g)\ntarget_compile_definitions(x PRIVATE ${g})"),
    ("cmake", "string(TOUPPER use_rocm g)\nexecute_process(COMMAND cmake -D${g}=ON)"),
    ("cmake", "string(TOUPPER use_rocm g)\nset_property(CACHE ${g} PROPERTY VALUE ON)"),
    ("cmake", 'string(CONFIGURE "${code}" c @ONLY)\ncmake_language(EVAL CODE "${c}")'),
    ("make", "V := $(shell echo use_rocm | tr a-z A-Z)\n$(V) := 1"),
    ("make", "V := USE\nW := ROCM\n$(V)_$(W) := 1"),
    ("make", "A := US\nB := E_RO\nC := CM\nexport ${A}${B}${C} := 1"),
    ("make", "$(patsubst %CUDA,%ROCM,USE_CUDA) = 1"),
    ("make", "define on\n$(1) := 1\nendef\n$(eval $(call on,$(shell cat gate.txt)))"),
    ("make", "$(eval $(file <gates.txt))"),
    ("make", "$(eval $(shell cat gate.txt) := 1)"),
    ("shell", 'n=$(echo use_rocm | tr a-z A-Z)\nexport "$n=1"'),
    ("shell", "n=use_rocm\nexport ${n^^}=1"),
    ("yaml", "run: |\n  n=USE_CUDA\n  export ${n/CUDA/ROCM}=1"),
    ("docker", 'RUN a=US b=E_ROCM && eval "export $a$b=1" && make'),
    ("other", "printf -v g %s_%s USE ROCM\ndeclare -x $g=1"),
    ("shell", "n=`cat gate`\ncmake -D$n=ON .."),
    ("python", "os.environ['use_rocm'.upper()] = '1'"),
    ("python", "os.environ.update({'USE_' + b.upper(): '1' for b in B})"),
    ("python", "n = 'USE_CUDA'.replace('CUDA', 'ROCM')\nos.environ[n] = '1'"),
    ("python", "os.environ['MCOR_ESU'[::-1]] = '1'"),
    ("python", "d = {b64decode(b'VVNF').decode(): '1'}\nrun(a, env=d)\nos.environ"),
    ("python", "os.putenv(f'{a.upper()}_{b.upper()}', '1')"),
    ("python", "a, b = 'USE', 'ROCM'\nos.environ[f'{a}_{b}'] = '1'"),
    ("python", "e = {**os.environ, 'use_rocm'.upper(): '1'}"),
    ("python", "define_macros = [('use_rocm'.upper(), 1)]"),
    ("python", "define_macros.append((n.upper(), 1))"),
    ("python", "Extension(define_macros=[('use_rocm'.upper(), 1)])"),
    ("python", "n = 'a' + b\nflags = [f'-D{n.upper()}=1']"),
    ("python", "flags = ['-D' + n.upper()]"),
    ("python", "flags = ['-D%s' % n.upper() for n in X]"),
    ("python", "flags = ['-D{}={}'.format(n.upper(), 1)]"),
    ("python", "flags = ['-D%s_%s' % (a.upper(), b.upper())]"),
    ("python", "flags = ['-D{}={}'.format(*a)]"),
    ("make", "$(foreach n,$(shell cat gates),$(eval $(n) := 1))"),
    ("python", "n = 'US'\nn += 'E_ROCM'\nos.environ[n] = '1'"),
]
OTHERS = [
    ("cmake", "function(f out)\n  set(${out} 1 PARENT_SCOPE)\nendfunction()\nf(RESULT)"),
    ("cmake", "function(f out in)\n  set(${out} 1 PARENT_SCOPE)\nendfunction()\nstring(TOUPPER a b)\nf(RESULT ${b})"),
    ("cmake", 'string(TOUPPER "${n}" N)\nset(${N}_FOUND 1)\nset(MY_${N} 1)'),
    ("cmake", "string(FIND a b at)\nset(${at} 1)"),
    ("cmake", "string(REPLACE a b f c)\nset(X ${f})\ntarget_compile_definitions(${f} PRIVATE $<$<BOOL:${f}>:A>)"),
    ("cmake", "foreach(v A B)\n  set(${v} 1)\nendforeach()"),
    ("cmake", "set(${a}${b} 1)"),
    ("cmake", "set(${g"),
    ("cmake", "set(n a)\nset(${n} 1)"),
    ("cmake", "list(LENGTH l n)\nset(${n} 1)"),
    ("cmake", "string(CONCAT g a)\nset(${a} 1)"),
    ("cmake", "list(JOIN)\nstring()\nfile(READ)\nset()\nset(${n} 1)"),
    ("cmake", "file(READ a g)\nset(${a} 1)"),
    ("python", "run(a, cwd={n.upper(): 1})\nd = {n.upper(): 1}\nrun(d, env=e)\nos.environ"),
    ("python", "e.update({n.upper(): 1})\nd |= {n.upper(): 1}\nos.environ"),
    ("make", "V := $(shell uname)\nX_$(V) := 1"),
    (
        "make",
        "define r\n$(1).o: $(1).c\n\tcc $$<\nendef\nO := $(patsubst a,b,c)\n$(foreach o,$(O),$(eval $(call r,$(o))))",
    ),
    ("make", "$(eval X := $(shell uname))"),
    ("make", "$(OBJ)/%.o: X = $(shell a)\nA = $(B)\n# $(shell a) = 1\n\t$(shell a) = 1"),
    ("shell", "for f in a b; do export X_$f=1; done"),
    ("shell", "eval $ac_envvar=\\$ac_optarg\nac_envvar=`expr a`"),
    ("shell", "# export $(cat a)=1\nexport A=$(cat a)"),
    ("python", "for k, v in x.items():\n    os.environ[k] = v"),
    ("python", "os.environ['X_' + n.upper()] = '1'"),
    ("python", "flags = [f'-D{k}={v}' for k, v in d.items()]"),
    ("python", "d = {k.upper(): v for k, v in x}\nos.environ['A'] = '1'"),
    ("python", "files.append((n.upper(), 1))\nos.environ['A']"),
    ("python", "flags = ['-DX_%s' % n.upper(), '-D%s=%s' % (k, v.upper()), '-D{}'.format(k)]"),
    ("make", "$(foreach n,A B,$(eval $(n) := 1))"),
    ("text", "$(shell a) = 1"),
]


@pytest.mark.parametrize(("kind", "text"), MADE)
def test_a_name_that_is_made_may_be_the_gate_s(kind: str, text: str) -> None:
    found = dict(made_names.of_gates(kind, NAMES, f"{text}\n".encode()))
    assert "USE_ROCM" in found and 1 <= found["USE_ROCM"] <= text.count("\n") + 1


@pytest.mark.parametrize(("kind", "text"), OTHERS)
def test_a_name_of_which_enough_is_written_is_another(kind: str, text: str) -> None:
    assert list(made_names.of_gates(kind, NAMES, f"{text}\n".encode())) == []


@pytest.mark.parametrize(
    ("parts", "fits"),
    [
        ((1,), True),
        (("USE_", 1), True),
        ((1, "_FOUND"), False),
        ((0, "_", 0), True),
        ((0, 0), False),
        (("USE_ROCM",), False),
        (("USE_", 0), True),
        ((1, "_", 1), True),
        (("X", 1), False),
        ((), False),
        (("USE_ROCM", 1), True),
        ((1, "USE_ROCM"), True),
        ((1, "ROCM", 1), True),
        ((1, "M", "X"), False),
        ((1, 0), True),
        ((0, "_", "RO", 0), False),
    ],
)
def test_parts_and_names(parts: tuple[str | int, ...], fits: bool) -> None:
    assert made_names.fits(parts, "USE_ROCM", {"USE", "ROCM"}) is fits


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('message("use -DUSE_ROCM=ON")', {1}),
        ('message(STATUS "a\n -DUSE_ROCM=ON")\nset(A 1)', {1, 2}),
        ('message("a") set(A -DUSE_ROCM=ON)', set()),
        ('macro(message)\nendmacro()\nmessage("-DUSE_ROCM=ON")', set()),
        ('message("a', set()),
    ],
)
def test_lines_that_only_print(text: str, lines: set[int]) -> None:
    assert cmake.shown(text.encode()) == lines


def test_what_is_printed_sets_no_gate() -> None:
    assert cmake.untrusted(b'message("use -DUSE_ROCM=ON")\nmessage(FATAL_ERROR -DUSE_ROCM=ON)\n') == {}
    assert cmake.untrusted(b'set(A "use -DUSE_ROCM=ON")\n') == {"USE_ROCM": 1}


@pytest.mark.parametrize("kind", ["cmake", "make", "shell", "python"])
def test_long_texts_are_read_in_their_length(kind: str) -> None:
    pieces = {
        "cmake": b"set(${a}${b} 1)\nstring(TOUPPER a b)\n",
        "make": b"$(A)$(B) := $(C)\n$(eval $(D)",
        "shell": b'export "$a$b$',
        "python": b"os.environ[a + b] = a\n",
    }
    times: list[float] = []
    for count in (200, 1600):
        start = time.process_time()
        found = dict(made_names.of_gates(kind, NAMES, pieces[kind] * count))
        times.append(time.process_time() - start)
        assert set(found) <= set(NAMES)
    assert times[1] < 20 * times[0] + 0.2
