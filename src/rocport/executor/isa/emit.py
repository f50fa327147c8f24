# SPDX-License-Identifier: Apache-2.0
"""Write the C++ of one lane for an instruction's pseudo-code.

Every register is a local variable that holds its raw bits (`u32`, `u64` or `u128`); views convert. The statements run
for one lane `l`; the form around them (forms.py) loops over lanes and loads and stores the variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rocport.executor.isa import pseudocode as p


class Untranslated(ValueError):
    """Pseudo-code that has no translation; the message says which construct."""


@dataclass(frozen=True)
class Value:
    """C++ code and the type of what it computes: kind 'u', 'i', 'f' or 'bf', and bits."""

    code: str
    kind: str
    width: int
    constant: int | None = None
    loose: bool = False
    """A literal without a type of its own: it takes the other operand's."""
    power: str | None = None
    """Exponent of a power of two, so that a product with it becomes ldexp."""

    @property
    def floating(self) -> bool:
        return self.kind in ("f", "bf")

    @property
    def ctype(self) -> str:
        return ctype(self.kind, self.width)


def ctype(kind: str, width: int) -> str:
    """The C++ type that holds a value of this type."""
    if kind == "f":
        if width not in (16, 32, 64):
            raise Untranslated(f"type f{width}")
        return {16: "f16", 32: "float", 64: "double"}[width]
    if kind == "bf":
        return "float"
    return f"{kind}{32 if width <= 32 else 64 if width <= 64 else 128}"


def from_bits(code: str, kind: str, width: int) -> str:
    """The value of this type whose bits are `code`."""
    if kind == "f":
        return f"as_f{width}({code})"
    if kind == "bf":
        return f"as_bf16({code})"
    if kind == "i":
        return f"({ctype(kind, width)})({code})" if width in (32, 64) else f"({ctype(kind, width)})sext({code},{width})"
    if width in (32, 64, 128):
        return f"({ctype(kind, width)})({code})"
    if width > 64:
        return f"(u128)({code})"
    return f"(({ctype(kind, width)})({code})&({ctype(kind, width)})mask({width}))"


def to_bits(value: Value) -> str:
    """The bits of a value, as an unsigned number no wider than the value."""
    if value.kind == "bf":
        return f"bf16_bits({value.code})"
    if value.kind == "f":
        return f"bits({value.code})"
    if value.width in (32, 64):
        return f"({ctype('u', value.width)})({value.code})"
    if value.width > 64:
        return f"(u128)({value.code})"
    return f"(({ctype('u', value.width)})({value.code})&({ctype('u', value.width)})mask({value.width}))"


# Functions of the texts that lanes.h defines under `x_NAME`, overloaded by argument type, with their result's type:
# None: the first argument's.
_FUNCTIONS: dict[str, tuple[str, int] | None] = {
    **dict.fromkeys(("fma", "abs", "floor", "trunc", "fract", "sqrt", "ldexp", "log2", "sin", "cos", "pow", "rndne")),
    **dict.fromkeys(("ceil", "mantissa", "cvtToQuietNAN", "rcp", "rsq", "exp2", "fmin", "fmax", "fmed")),
    **dict.fromkeys(("minimum", "maximum", "legacy_mul")),
    "exponent": ("i", 32),
    **dict.fromkeys(("sign", "isNAN", "isQuietNAN", "isSignalNAN", "isEven", "classify"), ("u", 1)),
    "signext": ("i", 64),
    **dict.fromkeys(("bitCount", "countbits", "count_ones", "byte_permute", "clz", "ctz", "set_byte"), ("u", 32)),
    "f32_to_f16_rtz": ("f", 16),
    **dict.fromkeys(("f16_to_snorm", "f32_to_snorm", "v_cvt_i16_f32"), ("i", 16)),
    **dict.fromkeys(("f16_to_unorm", "f32_to_unorm", "v_cvt_u16_f32"), ("u", 16)),
    **dict.fromkeys(("v_sad_u8", "v_msad_u8"), ("u", 32)),
    "trig_preop": ("f", 64),
    **dict.fromkeys(("fp8_to_f32", "bf8_to_f32", "fp8o_to_f32", "bf8o_to_f32"), ("f", 32)),
    **dict.fromkeys(("f32_to_fp8", "f32_to_bf8", "f32_to_fp8o", "f32_to_bf8o"), ("u", 8)),
    **dict.fromkeys(("f32_to_fp8_sr", "f32_to_bf8_sr"), ("u", 8)),
}
_CONVERSION = re.compile(r"(?:bf|[uif])\d+_to_((?:bf|[uif])\d+)$")
_MINMAX = re.compile(r"v_(?:min|max|minimum|maximum)3?_(?:num_)?((?:bf|[uif])\d+)$")
_PSEUDO = {"INF": "INFINITY", "NAN": "NAN", "PI": "M_PI"}


@dataclass
class Scope:
    """What names stand for.

    registers: name -> (C++ variable with its raw bits, width). masks: names whose `[laneId]` bit is the C++ bool
    `mask_NAME`. scalars: name -> Value. arrays: name -> element type.
    """

    registers: dict[str, tuple[str, int]] = field(default_factory=dict)
    masks: set[str] = field(default_factory=set)
    scalars: dict[str, Value] = field(default_factory=dict)
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)
    lambdas: dict[str, p.Lambda] = field(default_factory=dict)
    declarations: list[str] = field(default_factory=list)


def emit(text: str, registers: Mapping[str, int], masks: Sequence[str] = (), scalars: Mapping[str, Value] = {}) -> str:
    """C++ statements for one lane.

    registers: name -> width in bits of the variable of that name (0 < width <= 128). Raises Untranslated or
    PseudocodeError.
    """
    scope = Scope({name: (name, width) for name, width in registers.items()}, set(masks), dict(scalars))
    body = _Emitter(scope).block(p.parse(text))
    return "".join(scope.declarations) + body


class _Emitter:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    # Statements

    def block(self, statements: Sequence[p.Statement]) -> str:
        return "".join(self.statement(statement) for statement in statements)

    def statement(self, node: p.Statement) -> str:
        if isinstance(node, p.Assign):
            return self.assign(node)
        if isinstance(node, p.If):
            text = ""
            for condition, arm in node.arms:
                text += f"{'else ' if text else ''}if({self.expr(condition).code}){{{self.block(arm)}}}"
            return text + (f"else{{{self.block(node.otherwise)}}}" if node.otherwise else "")
        if isinstance(node, p.For):
            first, last = self.expr(node.first), self.expr(node.last)
            kept = self.scope.scalars.get(node.variable)
            self.scope.scalars[node.variable] = Value(node.variable, "i", 32)
            body = self.block(node.body)
            if kept is None:
                del self.scope.scalars[node.variable]
            else:
                self.scope.scalars[node.variable] = kept
            name = node.variable
            return f"for(i32 {name}={first.code};{name}<=(i32)({last.code});{name}++){{{body}}}"
        if isinstance(node, p.While):
            return f"while({self.expr(node.condition).code}){{{self.block(node.body)}}}"
        if isinstance(node, p.Break):
            return "break;"
        if isinstance(node, p.Return):
            return f"return (u64){to_bits(self.expr(node.value))};"
        if isinstance(node, p.Declare):
            return self.declare(node)
        if isinstance(node, p.Lambda):
            self.scope.lambdas[node.name] = node
            return ""
        raise Untranslated(f"statement {type(node).__name__}")

    def declare(self, node: p.Declare) -> str:
        scope = self.scope
        if node.name in scope.registers or node.name in scope.scalars or node.name in scope.arrays:
            return ""
        name = _safe(node.name)
        if node.count:
            scope.arrays[node.name] = (node.kind, node.width)
            scope.declarations.append(f"{ctype(node.kind, node.width)} {name}[{node.count}]={{}};")
        elif node.kind == "u":
            self.register(node.name, node.width)
        else:
            scope.scalars[node.name] = Value(name, node.kind, node.width)
            scope.declarations.append(f"{ctype(node.kind, node.width)} {name}=0;")
        return ""

    def register(self, name: str, width: int) -> None:
        self.scope.registers[name] = (_safe(name), width)
        self.scope.declarations.append(f"{ctype('u', width)} {_safe(name)}=0;")

    def assign(self, node: p.Assign) -> str:
        if isinstance(node.targets[0], p.Concat):
            return self.spread(node.targets[0], self.expr(node.value))
        value = self.expr(node.value)
        if node.op:
            target = node.targets[0]
            value = self.arithmetic(node.op, self.expr(target), value)
        return "".join(self.store(target, value) for target in reversed(node.targets))

    def spread(self, target: p.Concat, value: Value) -> str:
        widths = [self.target_width(item) for item in target.items]
        low = sum(widths)
        text = f"{{const u128 whole=(u128)({to_bits(value)});"
        for item, width in zip(target.items, widths, strict=True):
            low -= width
            text += self.store(item, Value(f"(u64)(whole>>{low})", "u", width))
        return text + "}"

    def target_width(self, node: p.Expr) -> int:
        if isinstance(node, p.View):
            return node.width
        if isinstance(node, p.Slice) and self.is_mask(node):
            return 1
        if isinstance(node, p.Name) and node.name in self.scope.registers:
            return self.scope.registers[node.name][1]
        raise Untranslated("target of a concatenation")

    def is_mask(self, node: p.Expr) -> str | None:
        """The mask that `NAME.u64[laneId]` names."""
        if isinstance(node, p.Slice) and node.low is None and node.count is None and node.high == p.Name("laneId"):
            base = node.base.base if isinstance(node.base, p.View) else node.base
            if isinstance(base, p.Name) and base.name in self.scope.masks:
                return base.name
        return None

    def store(self, target: p.Expr, value: Value) -> str:
        if mask := self.is_mask(target):
            return f"mask_{mask}=(({value.code})!=0);"
        if isinstance(target, p.View) and (mask := self.is_mask(target.base)):
            return f"mask_{mask}=(({value.code})!=0);"
        if isinstance(target, p.Name):
            return self.store_name(target.name, value)
        if isinstance(target, p.Field):
            return ""  # status registers (TRAPSTS.INVALID) that no kernel of ours reads
        if isinstance(target, p.View):
            if isinstance(target.base, p.Name):
                return self.store_view(target.base.name, target, value)
            if isinstance(target.base, p.Slice):
                return self.store_slice(target.base, self.convert(value, target.kind, target.width))
        if isinstance(target, p.Slice):
            return self.store_slice(target, value)
        raise Untranslated("target of an assignment")

    def convert(self, value: Value, kind: str, width: int) -> Value:
        """The value as a target of this type takes it: numbers convert within a class, bits move between classes."""
        floating = kind in ("f", "bf")
        if floating != value.floating:
            if value.loose and floating:
                return Value(f"({ctype(kind, width)})({value.code})", kind, width)
            return Value(from_bits(to_bits(value), kind, width), kind, width)
        return Value(f"({ctype(kind, width)})({value.code})", kind, width)

    def store_name(self, name: str, value: Value) -> str:
        scope = self.scope
        if name in scope.registers:
            variable, width = scope.registers[name]
            return f"{variable}=({ctype('u', width)}){to_bits(self.widen(value, width))};"
        if name in scope.scalars:
            held = scope.scalars[name]
            return f"{held.code}={self.convert(value, held.kind, held.width).code};"
        if name in scope.arrays or name in scope.masks:
            raise Untranslated(f"assignment to the whole of {name}")
        if value.kind == "u" or value.loose:
            # Later slices of it need a container of bits; 64 where a literal says nothing.
            self.register(name, max(value.width, 32) if not value.loose else 64 if value.width > 32 else 32)
            return self.store_name(name, value)
        scope.scalars[name] = Value(_safe(name), value.kind, value.width)
        scope.declarations.append(f"{value.ctype} {_safe(name)}=0;")
        return self.store_name(name, value)

    def widen(self, value: Value, width: int) -> Value:
        """An integer stored in a wider container keeps its sign; a float keeps its bits."""
        if value.kind == "i" and width > value.width:
            return Value(f"({ctype('i', width)})({value.code})", "i", width)
        return value

    def store_view(self, name: str, target: p.View, value: Value) -> str:
        scope = self.scope
        if name in scope.masks:
            raise Untranslated(f"assignment to the whole mask {name}")
        held = scope.scalars.get(name)
        if held is not None and name not in scope.registers:
            converted = self.convert(value, target.kind, target.width)
            return f"{held.code}={from_bits(to_bits(converted), held.kind, held.width)};"
        if name not in scope.registers:
            self.register(name, max(32, target.width))
        variable, width = scope.registers[name]
        converted = self.convert(value, target.kind, target.width)
        if target.width < 32 and width <= 32 and target.kind in ("f", "bf", "u", "i"):
            return f"{variable}=set_bits({variable},0,{target.width},{to_bits(converted)});"
        if target.width < width:
            return f"{variable}=set_bits({variable},0,{target.width},{to_bits(converted)});"
        return f"{variable}=({ctype('u', width)}){to_bits(converted)};"

    def store_slice(self, target: p.Slice, value: Value) -> str:
        scope = self.scope
        base = target.base.base if isinstance(target.base, p.View) else target.base
        if isinstance(base, p.Slice) and isinstance(base.base, p.Slice):
            # VGPR[laneId][VDST.u32][15 : 0]: the destination itself.
            root = base.base.base
            if root == p.Name("VGPR"):
                return self.store_slice(replace(target, base=p.Name("D0")), value)
        if not isinstance(base, p.Name):
            raise Untranslated("target of a slice")
        name = base.name
        if name in scope.arrays:
            kind, width = scope.arrays[name]
            index = self.expr(target.high)
            return f"{_safe(name)}[{index.code}]={self.convert(value, kind, width).code};"
        if name not in scope.registers:
            if name in scope.scalars:
                raise Untranslated(f"slice of {name}")
            self.register(name, 64)
        variable, _ = scope.registers[name]
        low, count = self.bounds(target)
        return f"{variable}=set_bits({variable},{low},{count},{to_bits(value)});"

    def bounds(self, node: p.Slice) -> tuple[str, str]:
        """Code of the low bit and of the width."""
        high = self.expr(node.high)
        if node.count is not None:
            return f"(int)({high.code})", f"(int)({self.expr(node.count).code})"
        if node.low is None:
            return f"(int)({high.code})", "1"
        low = self.expr(node.low)
        if high.constant is not None and low.constant is not None:
            return str(low.constant), str(high.constant - low.constant + 1)
        return f"(int)({low.code})", f"(int)({high.code}-({low.code})+1)"

    # Expressions

    def expr(self, node: p.Expr) -> Value:
        if isinstance(node, p.Number):
            return _number(node)
        if isinstance(node, p.Name):
            return self.name(node.name)
        if isinstance(node, p.View):
            return self.view(node)
        if isinstance(node, p.Field):
            full = f"{node.base}.{node.name}"
            if full in self.scope.scalars:
                return self.scope.scalars[full]
            raise Untranslated(full)
        if isinstance(node, p.Slice):
            return self.slice(node)
        if isinstance(node, p.Unary):
            return self.unary(node)
        if isinstance(node, p.Binary):
            return self.binary(node)
        if isinstance(node, p.Select):
            condition, then, other = self.expr(node.condition), self.expr(node.then), self.expr(node.other)
            kind, width = _join(then, other)
            c = ctype(kind, width)
            return Value(f"(({condition.code})?({c})({then.code}):({c})({other.code}))", kind, width)
        if isinstance(node, p.Cast):
            return self.cast(node)
        if isinstance(node, p.Concat):
            items = [self.expr(item) for item in node.items]
            width = low = sum(item.width for item in items)
            c = ctype("u", width)
            parts = []
            for item in items:
                low -= item.width
                parts.append(f"(({c}){to_bits(item)}<<{low})")
            return Value("(" + "|".join(parts) + ")", "u", width)
        return self.call(node)

    def name(self, name: str) -> Value:
        scope = self.scope
        if name in scope.registers:
            variable, width = scope.registers[name]
            return Value(variable, "u", width)
        if name in scope.scalars:
            return scope.scalars[name]
        if name in _PSEUDO:
            return Value(f"((double){_PSEUDO[name]})", "f", 64, loose=True)
        raise Untranslated(f"name {name}")

    def view(self, node: p.View) -> Value:
        kind, width = node.kind, node.width
        if mask := self.is_mask(node.base):
            return Value(f"(({ctype(kind, width)})mask_{mask})", kind, width)
        if isinstance(node.base, p.Name) and node.base.name in _PSEUDO:
            return Value(f"(({ctype(kind, width)}){_PSEUDO[node.base.name]})", kind, width)
        if (
            isinstance(node.base, p.Unary)
            and isinstance(node.base.operand, p.Name)
            and node.base.operand.name in _PSEUDO
        ):
            return Value(f"(-({ctype(kind, width)}){_PSEUDO[node.base.operand.name]})", kind, width)
        base = self.expr(node.base)
        if base.floating and kind == base.kind and width == base.width:
            return base
        if base.kind == "i" and kind in "ui" and width > base.width:
            return Value(f"({ctype(kind, width)})({base.code})", kind, width)
        return Value(from_bits(to_bits(base), kind, width), kind, width)

    def slice(self, node: p.Slice) -> Value:
        if mask := self.is_mask(node):
            return Value(f"((u32)mask_{mask})", "u", 1)
        if isinstance(node.base, p.Name) and node.base.name in self.scope.arrays:
            kind, width = self.scope.arrays[node.base.name]
            return Value(f"{_safe(node.base.name)}[{self.expr(node.high).code}]", kind, width)
        base = self.expr(node.base)
        high = self.expr(node.high)
        if node.low is not None:
            low = self.expr(node.low)
            if high.constant is not None and low.constant is not None and high.constant < low.constant:
                width = low.constant - high.constant + 1
                return Value(f"({ctype('u', width)})reverse_bits({to_bits(base)},{width})", "u", width)
        low_code, width_code = self.bounds(node)
        known = int(width_code) if width_code.isdigit() else None
        width = known or 64
        c = ctype("u", width)
        return Value(f"(({c})get_bits({to_bits(base)},{low_code},{width_code}))", "u", width)

    def unary(self, node: p.Unary) -> Value:
        a = self.expr(node.operand)
        if node.op == "!":
            return Value(f"(!({a.code}))", "u", 1)
        if node.op == "-":
            constant = -a.constant if a.constant is not None else None
            return replace(a, code=f"(-({a.code}))", constant=constant)
        full = f"(({a.ctype})~({a.code}))"
        return Value(full if a.width >= 32 else f"({full}&({a.ctype})mask({a.width}))", a.kind, a.width)

    def binary(self, node: p.Binary) -> Value:
        op = node.op
        if op in ("==", "!=") and isinstance(node.right, p.View) and node.right.base == p.Name("DENORM"):
            a = self.convert_to(self.expr(node.left), node.right.kind, node.right.width)
            return Value(f"({'!' if op == '!=' else ''}x_isdenormal({a.code}))", "u", 1)
        a, b = self.expr(node.left), self.expr(node.right)
        if op in ("||", "&&"):
            return Value(f"(({a.code}){op}({b.code}))", "u", 1)
        if op in ("==", "!=", "<", ">", "<=", ">="):
            c = ctype(*_join(a, b))
            return Value(f"(({c})({a.code}){op}({c})({b.code}))", "u", 1)
        return self.arithmetic(op, a, b)

    def convert_to(self, a: Value, kind: str, width: int) -> Value:
        return a if (a.kind, a.width) == (kind, width) else Value(f"({ctype(kind, width)})({a.code})", kind, width)

    def arithmetic(self, op: str, a: Value, b: Value) -> Value:
        if op == "**":
            if a.constant == 2 or a.code in ("2.0f", "2.0"):
                return Value(f"x_ldexp(({a.ctype})1,{b.code})", a.kind, a.width, power=b.code, loose=a.loose)
            raise Untranslated("power of a base other than two")
        if op in ("<<", ">>"):
            width = max(32, a.width)
            c = ctype(a.kind, width)
            return Value(f"{'shl' if op == '<<' else 'shr'}(({c})({a.code}),(u64)({b.code}))", a.kind, width)
        if op == "*" and b.power is not None and a.floating:
            return Value(f"x_ldexp({a.code},{b.power})", a.kind, a.width)
        kind, width = _join(a, b)
        constant = None
        if a.constant is not None and b.constant is not None and op in "+-*":
            constant = {"+": a.constant + b.constant, "-": a.constant - b.constant, "*": a.constant * b.constant}[op]
        c = ctype(kind, width)
        loose = a.loose and b.loose
        if kind == "i" and op in "+-*":
            u = ctype("u", width)
            return Value(f"(({c})(({u})({a.code}){op}({u})({b.code})))", kind, width, constant, loose)
        if kind in "ui" and op in "/%":
            return Value(f"x_{'div' if op == '/' else 'mod'}(({c})({a.code}),({c})({b.code}))", kind, width)
        if kind == "bf":
            return Value(f"(({a.code}){op}({b.code}))", kind, width)
        return Value(f"(({c})(({c})({a.code}){op}({c})({b.code})))", kind, width, constant, loose)

    def cast(self, node: p.Cast) -> Value:
        a = self.expr(node.operand)
        kind, width = node.kind, node.width
        if kind in ("f", "bf"):
            if a.constant is not None and not a.floating:
                return Value(from_bits(f"(u64){a.code}", kind, width), kind, width)
            return Value(f"(({ctype(kind, width)})({a.code}))", kind, width)
        if a.floating:
            raise Untranslated("cast of a number to an integer")
        if width < 32:
            return Value(from_bits(f"(u32)({a.code})", kind, width), kind, width)
        return Value(f"(({ctype(kind, width)})({a.code}))", kind, width)

    def call(self, node: p.Call) -> Value:
        name = node.function
        if name in self.scope.lambdas:
            return self.inline(self.scope.lambdas[name], node.arguments)
        arguments = node.arguments
        if name in ("isSignalNAN", "isQuietNAN", "cvtToQuietNAN", "isNAN"):
            # The cast to double around the argument would already make a signalling NaN quiet.
            arguments = tuple(a.operand if isinstance(a, p.Cast) and a.kind == "f" else a for a in arguments)
        values = [self.expr(a) for a in arguments]
        code = ",".join(value.code for value in values)
        if name == "signext_from_bit":
            return Value(f"((i64)sext({code}))", "i", 64)
        if name == "signext":
            return Value(f"((i64)({code}))", "i", 64)
        if name == "fma" and any(value.kind == "bf" for value in values):
            return Value(f"x_fma({code})", "bf", 16)
        if name in _FUNCTIONS:
            result = _FUNCTIONS[name]
            kind, width = (values[0].kind, values[0].width) if result is None else result
            return Value(f"x_{name}({code})", kind, width)
        if (found := _MINMAX.match(name)) or (found := _CONVERSION.match(name)):
            typed = p.parse_type(found[1])
            assert typed is not None
            return Value(f"x_{name}({code})", *typed)
        raise Untranslated(f"function {name}")

    def inline(self, definition: p.Lambda, arguments: Sequence[p.Expr]) -> Value:
        values = [self.expr(a) for a in arguments]
        if len(values) != len(definition.parameters):
            raise Untranslated(f"arguments of {definition.name}")
        scope = Scope(
            dict(self.scope.registers),
            self.scope.masks,
            dict(self.scope.scalars),
            dict(self.scope.arrays),
            self.scope.lambdas,
        )
        if not isinstance(definition.body, tuple):
            for name, value in zip(definition.parameters, values, strict=True):
                scope.scalars[name] = replace(value, code=f"({value.code})")
            return _Emitter(scope).expr(definition.body)
        parameters = []
        for name, value in zip(definition.parameters, values, strict=True):
            scope.scalars[name] = Value(_safe(name), value.kind, value.width)
            parameters.append(f"{value.ctype} {_safe(name)}")
        inner = _Emitter(scope)
        body = inner.block(definition.body)
        code = f"[&]({','.join(parameters)})->u64{{{''.join(scope.declarations)}{body}return 0;}}"
        return Value(f"{code}({','.join(v.code for v in values)})", "u", _return_width(definition, inner))


def _return_width(definition: p.Lambda, emitter: _Emitter) -> int:
    def first(body: Sequence[p.Statement]) -> p.Return | None:
        for node in body:
            if isinstance(node, p.Return):
                return node
            if isinstance(node, p.If):
                for _, arm in node.arms:
                    if found := first(arm):
                        return found
        return None

    assert isinstance(definition.body, tuple)
    found = first(definition.body)
    return 64 if found is None else emitter.expr(found.value).width


_RESERVED = {"in", "S", "int", "float", "double", "union", "signed", "unsigned", "W", "l", "w", "op", "shift", "new"}


def _safe(name: str) -> str:
    return f"v_{name}" if name in _RESERVED else name


def _number(node: p.Number) -> Value:
    if node.kind == "f":
        text = repr(float(node.value)) + ("f" if node.width == 32 else "")
        if node.width == 16:
            text = f"(f16){float(node.value)!r}"
        return Value(text, "f", node.width, loose=node.loose)
    value = int(node.value)
    suffix = "ULL" if value >= 2**31 else ""
    return Value(f"({ctype(node.kind, node.width)}){value}{suffix}", node.kind, node.width, value, node.loose)


def _join(a: Value, b: Value) -> tuple[str, int]:
    """The type in which an operator works on both."""
    if a.floating or b.floating:
        if a.floating and b.floating:
            if a.loose != b.loose:
                return (b.kind, b.width) if a.loose else (a.kind, a.width)
            return (a.kind, a.width) if a.width >= b.width else (b.kind, b.width)
        return (a.kind, a.width) if a.floating else (b.kind, b.width)
    if a.loose != b.loose:
        typed, literal = (b, a) if a.loose else (a, b)
        fits = literal.constant is None or -(2 ** (typed.width - 1)) <= literal.constant < 2**typed.width
        return typed.kind, typed.width if fits else max(typed.width, literal.width)
    width = max(a.width, b.width)
    unsigned = (a.kind == "u" and a.width == width) or (b.kind == "u" and b.width == width)
    return ("u" if unsigned else "i"), width
