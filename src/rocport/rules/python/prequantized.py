"""A checkpoint of 4-bit weights in blocks of 64 that the bitsandbytes of this project, or the target, cannot load.
`-bnb-4bit` on the hub stands for weights quantized on NVIDIA in blocks of 64. bitsandbytes has kernels for them on
wavefronts of 32 lanes since 0.49.0 and on 64 lanes since 0.49.2; before, the load ends in "blocksize must be one of".
Some targets have no kernels in the published wheels at all. Right where the pin lets a newer release in, where the
model is loaded in 16-bit, and in Unsloth's own loaders, which take `-bnb-4bit` off the name by themselves;
`rocport model inspect` says it of a checkpoint on disk.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.facts.errors import FactError
from rocport.facts.packages import package
from rocport.facts.targets import load_target, target_names, wave_target
from rocport.model import Applicability, Confidence, Context, Example, Finding, GfxTarget, Rule, Severity
from rocport.project.pins import stays_below
from rocport.rules.python.common import PYTHON, finding, open_places, text_of
from rocport.syntax.python import PythonSource

SIZE = 64
_NAMED = re.compile(r"(?i)[-_]bnb[-_](?:4bit|nf4|fp4)(?![a-z0-9])")
_WHERE = frozenset({"pretrained_model_name_or_path", "model_name_or_path", "model_name", "model", "model_id"})
_OWN = re.compile(r"Fast\w*Model")


def _lacks(target: str) -> bool:
    return any(said.state == "no" for said in load_target(target).library("bitsandbytes")[-1:])


_WITHOUT = next(filter(_lacks, target_names()))

RULE = Rule(
    name="prequantized-4bit",
    summary="4-bit checkpoint that the pinned bitsandbytes or the target cannot load",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"from_pretrained"}),
    phase=5,
    examples=(
        Example(
            "m = AutoModelForCausalLM.from_pretrained('unsloth/llama-3-8b-bnb-4bit')\n",
            path="m.py",
            options={"bitsandbytes": "==0.45.5"},
        ),
        Example(
            "NAME = 'org/Qwen2.5-7B-BNB-NF4'\nm = AutoModel.from_pretrained(model_name=NAME)\n",
            path="m.py",
            options={"bitsandbytes": "<0.49"},
        ),
        Example(
            "m = AutoModelForCausalLM.from_pretrained('unsloth/llama-3-8b-bnb-4bit')\n",
            path="m.py",
            options={"target": _WITHOUT},
        ),
    ),
    clean=(
        Example("m = AutoModelForCausalLM.from_pretrained('unsloth/llama-3-8b-bnb-4bit')\n", path="m.py"),
        Example(
            "m = AutoModelForCausalLM.from_pretrained('unsloth/llama-3-8b-bnb-4bit')\n",
            path="m.py",
            options={"bitsandbytes": ">=0.43.0"},
        ),
        Example(
            "m = AutoModelForCausalLM.from_pretrained('unsloth/llama-3-8b-bnb-4bit')\n",
            path="m.py",
            options={"bitsandbytes": "==0.49.1", "target": wave_target(32).name},
        ),
        Example(
            "m = FastLanguageModel.from_pretrained('unsloth/llama-3-8b-bnb-4bit')\n",
            path="m.py",
            options={"bitsandbytes": "==0.45.5"},
        ),
        Example(
            "m = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-3.1-8B', load_in_4bit=True)\n",
            path="m.py",
            options={"bitsandbytes": "==0.45.5"},
        ),
        Example(
            "if not torch.version.hip:\n    m = AutoModel.from_pretrained('org/x-bnb-4bit')\n",
            path="m.py",
            options={"bitsandbytes": "==0.45.5"},
        ),
        Example(
            "t = AutoTokenizer.from_pretrained('unsloth/llama-3-8b-bnb-4bit')\n",
            path="m.py",
            options={"bitsandbytes": "==0.45.5"},
        ),
    ),
    sources=("https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1873",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    calls = [(call, name) for call in source.find(ast.Call) if (name := _checkpoint(source, call))]
    if not calls:
        return
    why, holds = _trouble(context)
    names = {id(call): name for call, name in calls}
    for call in open_places(source, [call for call, _ in calls]) if why else ():
        yield finding(
            RULE,
            source,
            call,
            f"{names[id(call)]}: 4-bit weights in blocks of {SIZE}; {why}",
            fix="bitsandbytes>=0.50.0 where it has kernels, or the 16-bit checkpoint; on disk: "
            "rocport model convert SRC DST --blocksize 128 (or --to fp16)",
            confidence=Confidence.MEDIUM,
            holds=holds,
        )


def _checkpoint(source: PythonSource, call: ast.Call) -> str:
    """The name of the 4-bit checkpoint that a call loads weights from; empty when it loads none."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "from_pretrained":
        return ""
    loader = source.dotted(call.func.value).rsplit(".", 1)[-1]
    if "Model" not in loader or _OWN.fullmatch(loader):
        return ""
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg in _WHERE)]
    texts = (source.constants.get(node.id, "") if isinstance(node, ast.Name) else text_of(node) for node in given)
    return next((text for text in texts if _NAMED.search(text)), "")


def _trouble(context: Context) -> tuple[str, str]:
    """Why such a checkpoint does not load with the options and the pins of this run, and where that holds."""
    targets = [target for name in context.options.targets if (target := _target(name))]
    without = [t.name for t in targets if any(s.state == "no" for s in t.library("bitsandbytes")[-1:])]
    if without and len(without) == len(targets):
        return f"the published bitsandbytes has no kernels for {', '.join(without)}", ", ".join(without)
    facts = package("bitsandbytes")
    known = [facts.since, *(rule.since for rule in facts.blocksizes if rule.since)]
    widths = {target.wavefront for target in targets} or {32, 64}
    for specifier in context.project.pins.get("bitsandbytes", ()):
        short = {
            rule.wavefront: rule.since
            for rule in facts.blocksizes
            if SIZE in rule.sizes and rule.wavefront in widths and stays_below(specifier, rule.since, known)
        }
        if short:
            lanes = " and ".join(map(str, sorted(short)))
            since = ", ".join(f"{version} on {lanes} lanes" for lanes, version in sorted(short.items()))
            return f"bitsandbytes{specifier} has no kernels for them (since {since})", f"wavefronts of {lanes} lanes"
    return "", ""


def _target(name: str) -> GfxTarget | None:
    try:
        return load_target(name)
    except FactError:
        return None
