# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random edits of MLIR text: of characters and tokens, and of the ops, values and attributes of its generic form.

Every edit takes (rng, text, pool) and returns new text, or None where it has nothing to work on. `pool` holds what
other files have: lines of the generic form, attributes by name.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import generic

EDGES = ["0", "1", "-1", "2", "3", "7", "15", "16", "17", "63", "64", "65", "1000", "65536"]
EDGES += ["2147483647", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808"]
SIZES = ["0", "1", "2", "3", "5", "8", "15", "16", "17", "24", "32", "48", "64", "100", "128", "256", "1024", "?"]
SIZES += ["65536", "16777217", "2147483648", "4294967296", "9223372036854775807"]
TYPES = ["f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2", "i1", "i4", "i8", "i16", "i32", "i64", "si8", "ui8"]
TYPES += ["i128", "index", "complex<f32>", "i3", "none"]
SPACES = ["1 : i32", "3 : i32", "3", "#gpu.address_space<workgroup>", "#gpu.address_space<private>", "4294967296"]
ATTRIBUTES = ["unit", "true", "-1 : i32", "0 : i64", '"text"', "1.5 : f32", "0x7FC00000 : f32", "@nosuch", "[]", "{}"]
ATTRIBUTES += ["array<i64>", "array<i64: -1, 0>", "array<i32: 1, 1, 1, 1>", "array<i64: 1, 0>"]
ATTRIBUTES += ["dense<0> : tensor<2xi64>"]
ATTRIBUTES += ["#xetile.wg_map<sg_layout = [2, 2], sg_data = [8, 16]>", "affine_map<(d0, d1) -> (d1, d0)>", "f16"]
NAMES = ["transpose", "padding", "wg_map", "order", "inner_blocks", "layout", "memory_space", "foo", "xetile.foo"]
NAMES += ["operandSegmentSizes", "kind", "layout_result_0", "gpu.kernel", "known_block_size", "sym_visibility"]

ELEMENT = r"(?<![\w.])(?:bf16|tf32|f\d+\w*|[su]?i\d+|index)(?!\w)|(?<=x)(?:bf16|tf32|f\d+\w*|[su]?i\d+|index)(?!\w)"
TYPE = r"(?:vector|memref|tensor|!xetile\.tile|!xegpu\.tensor_desc|!xegpu\.mem_desc)<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>"


@dataclass
class Pool:
    """Pieces of all files, to be put into others."""

    lines: list[tuple[str, generic.Op]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    attributes: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)


def attributes(line: str) -> list[tuple[int, int, str, str]]:
    """(start, end, name, value) of what stands in <{...}> and {...} of an op's line."""
    found = []
    for braces in re.finditer(r"<\{(.*?)\}>|\) \{(.*?)\} : \(|\}\) \{(.*)\} : \(", line):
        group = next(number for number in (1, 2, 3) if braces[number] is not None)
        place = braces.start(group)
        for piece in generic.split_types(braces[group]):
            start = line.index(piece, place)
            place = start + len(piece)
            name, _, value = piece.partition(" = ")
            found.append((start, place, name, value))
    return found


def _pick(rng: random.Random, text: str, pattern: str) -> re.Match[str] | None:
    found = list(re.finditer(pattern, text))
    return rng.choice(found) if found else None


def _put(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


# Edits of any text.


def characters(rng: random.Random, text: str, pool: Pool) -> str | None:
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice([0, 1, 1, 2, 5, 40]))
    new = "".join(rng.choice('%^@#!<>(){}[]:,="-x0123456789 \n\0\xe4azf?*') for _ in range(rng.choice([0, 0, 1, 2])))
    return text[:start] + new + text[end:]


def number(rng: random.Random, text: str, pool: Pool) -> str | None:
    found = _pick(rng, text, r"(?<![\w%@#^.])-?\d+(?![\w.])")
    return _put(text, found, rng.choice(EDGES)) if found else None


def size(rng: random.Random, text: str, pool: Pool) -> str | None:
    """Another size of a shape: here, or everywhere that this number is one."""
    found = _pick(rng, text, r"(?<=[<x])(?:\d+|\?)(?=x)")
    if not found:
        return None
    new = rng.choice(SIZES)
    if rng.random() < 0.75:
        return re.sub(rf"(?<=[<x]){re.escape(found[0])}(?=x)", new, text)
    return _put(text, found, new)


def element(rng: random.Random, text: str, pool: Pool) -> str | None:
    found = _pick(rng, text, ELEMENT)
    if not found:
        return None
    floats = [name for name in TYPES if re.fullmatch(r"(bf|f|tf)\d+", name)]
    integers = [name for name in TYPES if re.fullmatch(r"[su]?i\d+|index", name)]
    kin = [names for names in (floats, integers) if found[0] in names]
    new = rng.choice(kin[0] if kin and rng.random() < 0.8 else TYPES)
    if rng.random() < 0.85:
        return re.sub(rf"(?<![\w.]){found[0]}(?!\w)|(?<=x){found[0]}(?!\w)", new, text)
    return _put(text, found, new)


def type_(rng: random.Random, text: str, pool: Pool) -> str | None:
    """Another type of this text or another instead of one, here or everywhere."""
    found = _pick(rng, text, TYPE)
    if not found:
        return None
    kind = rng.random()
    if kind < 0.5:
        new = (size if rng.random() < 0.6 else element)(rng, found[0], pool) or found[0]
    elif kind < 0.7:
        new = re.sub(r"(?<=[<x])(?:\d+|\?)x", rng.choice(["", r"1x\g<0>"]), found[0], count=1)  # another rank
    else:
        other = _pick(rng, rng.choice([text, rng.choice(pool.texts)]), TYPE)
        new = other[0] if other else rng.choice(TYPES)
    return text.replace(found[0], new) if rng.random() < 0.8 else _put(text, found, new)


def space(rng: random.Random, text: str, pool: Pool) -> str | None:
    found = _pick(rng, text, r"memref<[^<>]*>")
    if not found:
        return None
    inner = found[0][7:-1].split(", ")[0]
    layout = rng.choice(["", "", ", strided<[?, 1], offset: ?>", ", strided<[1, 64]>", ", strided<[0, 1]>"])
    end = f", {rng.choice(SPACES)}" if rng.random() < 0.8 or not layout else ""
    new = f"memref<{inner}{layout}{end}>"
    return text.replace(found[0], new)


def lines(rng: random.Random, text: str, pool: Pool) -> str | None:
    """Deletes, doubles or swaps lines."""
    rows = text.splitlines()
    first, second = sorted(rng.randrange(len(rows)) for _ in range(2))
    kind = rng.randrange(3)
    if kind == 0:
        del rows[first]
    elif kind == 1:
        rows.insert(second, rows[first])
    else:
        rows[first], rows[second] = rows[second], rows[first]
    return "\n".join(rows) + "\n"


# Edits of the generic form.


def _op(rng: random.Random, ops: list[generic.Op], which: Callable[[generic.Op], object]) -> generic.Op | None:
    chosen = [op for op in ops if op.name != "builtin.module" and which(op)]
    return rng.choice(chosen) if chosen else None


def _same_type(rng: random.Random, text: str, ops: list[generic.Op], line: int, type_: str, but: str) -> str | None:
    found = [name for at, name, other in generic.values(text, ops) if other == type_ and at < line and name != but]
    return rng.choice(found) if found else None


def delete_op(rng: random.Random, text: str, pool: Pool) -> str | None:
    """An op away; its results become other values of their types, or poison."""
    ops = generic.parse(text)
    op = _op(rng, ops, lambda op: len(op.results) == len(op.result_types) and not op.is_terminator)
    if not op:
        return None
    rows = text.splitlines()
    body, rest = [], "\n".join(rows[op.last + 1 :])
    for number_, (name, type_) in enumerate(zip(op.results, op.result_types, strict=True)):
        other = _same_type(rng, text, ops, op.first, type_, name) if rng.random() < 0.7 else None
        if not other:
            other = f"%gone{op.first}_{number_}"
            body.append(poison(other, type_))
        rest = generic.rename(rest, name, other)
    return "\n".join([*rows[: op.first], *body, rest]) + "\n"


def poison(name: str, type_: str) -> str:
    if type_ == "index" or re.fullmatch(r"i\d+", type_):
        return f'{name} = "arith.constant"() <{{value = 1 : {type_}}}> : () -> {type_}'
    return f'{name} = "ub.poison"() <{{value = #ub.poison}}> : () -> {type_}'


def copy_op(rng: random.Random, text: str, pool: Pool) -> str | None:
    """An op twice; what follows may use the second."""
    ops = generic.parse(text)
    op = _op(rng, ops, lambda op: not op.is_terminator)
    if not op:
        return None
    rows = text.splitlines()
    again, rest = "\n".join(rows[op.first : op.last + 1]), "\n".join(rows[op.last + 1 :])
    for name in {result.split("#")[0] for result in op.results}:
        again = re.sub(re.escape(name) + r"(?!\w)", f"%again_{name[1:]}", again)
        if rng.random() < 0.5:
            rest = re.sub(re.escape(name) + r"(?!\w)", f"%again_{name[1:]}", rest, count=1)
    if re.search(r'sym_name = "(\w+)"', again) and rng.random() < 0.8:
        again = re.sub(r'sym_name = "(\w+)"', r'sym_name = "\1_again"', again, count=1)
    return "\n".join([*rows[: op.last + 1], again, rest]) + "\n"


def swap_ops(rng: random.Random, text: str, pool: Pool) -> str | None:
    """Two ops of one block change places."""
    ops = generic.parse(text)
    op = _op(rng, ops, lambda op: not op.is_terminator)
    if not op:
        return None
    others = [other for other in ops if other.depth == op.depth and other.first > op.last and not other.is_terminator]
    if not others:
        return None
    other = rng.choice(others[:3])
    rows = text.splitlines()
    first, between = rows[op.first : op.last + 1], rows[op.last + 1 : other.first]
    second = rows[other.first : other.last + 1]
    return "\n".join([*rows[: op.first], *second, *between, *first, *rows[other.last + 1 :]]) + "\n"


def operands(rng: random.Random, text: str, pool: Pool) -> str | None:
    """Other operands: two swapped, one replaced by a value of its type or of any, one more, one less."""
    ops = generic.parse(text)
    op = _op(rng, ops, lambda op: op.operands and len(op.operands) == len(op.operand_types))
    if not op:
        return None
    names, types = list(op.operands), list(op.operand_types)
    place, kind = rng.randrange(len(names)), rng.random()
    if kind < 0.25:
        other = rng.randrange(len(names))
        names[place], names[other] = names[other], names[place]
        types[place], types[other] = types[other], types[place]
    elif kind < 0.7:
        names[place] = _same_type(rng, text, ops, op.first, types[place], names[place]) or names[place]
    elif kind < 0.8:
        values = [(name, type_) for at, name, type_ in generic.values(text, ops) if at < op.first]
        names[place], types[place] = rng.choice(values) if values else (names[place], types[place])
    elif kind < 0.9:
        del names[place], types[place]
    else:
        names.append(names[place])
        types.append(types[place])
    rows = text.splitlines()
    rows[op.first] = rows[op.first].replace(f"({', '.join(op.operands)})", f"({', '.join(names)})", 1)
    head, _, tail = rows[op.last].rpartition(f": ({', '.join(op.operand_types)}) ->")
    rows[op.last] = f"{head}: ({', '.join(types)}) ->{tail}"
    return "\n".join(rows) + "\n"


def attribute(rng: random.Random, text: str, pool: Pool) -> str | None:
    """An attribute gone, with another value, or with the value that another file has."""
    rows = text.splitlines()
    having = [number_ for number_, row in enumerate(rows) if attributes(row)]
    if not having:
        return None
    chosen = rng.choice(having)
    start, end, name, value = rng.choice(attributes(rows[chosen]))
    kind = rng.random()
    if kind < 0.2:
        row = re.sub(r"\{, ", "{", (rows[chosen][:start] + rows[chosen][end:]).replace(", ,", ",").replace(", }", "}"))
    else:
        numbers = list(re.finditer(r"(?<![\w.])-?\d+(?![\w.])", value))
        if kind < 0.5 and numbers:
            new = _put(value, rng.choice(numbers), rng.choice(EDGES))
        elif kind < 0.8 and name in pool.attributes:
            new = rng.choice(pool.attributes[name])
        else:
            new = rng.choice(ATTRIBUTES)
        row = rows[chosen][:start] + (name if new == "unit" else f"{name} = {new}") + rows[chosen][end:]
    rows[chosen] = row
    return "\n".join(rows) + "\n"


def add_attribute(rng: random.Random, text: str, pool: Pool) -> str | None:
    rows = text.splitlines()
    chosen = [number_ for number_, row in enumerate(rows) if re.search(r"\) : \(|\}> : \(|\} : \(", row)]
    if not chosen:
        return None
    place = rng.choice(chosen)
    name = rng.choice(NAMES if rng.random() < 0.6 or not pool.attributes else sorted(pool.attributes))
    known = pool.attributes.get(name)
    value = rng.choice(known) if known and rng.random() < 0.6 else rng.choice(ATTRIBUTES)
    text_ = name if value == "unit" else f"{name} = {value}"
    row = rows[place]
    if "<{" in row and rng.random() < 0.5:
        rows[place] = row.replace("<{", f"<{{{text_}, ", 1)
    else:
        at = row.rindex(" : (") if " : (" in row else len(row)
        rows[place] = row[:at] + (f" {{{text_}}}" if row[at - 1] in ")>" else "") + row[at:]
        if row[at - 1] == "}":
            rows[place] = row[: at - 1] + f", {text_}}}" + row[at:]
    return "\n".join(rows) + "\n"


def kin(op: generic.Op) -> str:
    """What ops have in common that one another's operands and results fit."""
    shapes = [re.sub(r"\d+", "#", type_) for type_ in (*op.operand_types, "->", *op.result_types)]
    return " ".join(shapes)


def op_name(rng: random.Random, text: str, pool: Pool) -> str | None:
    """Another op with as many operands and results."""
    ops = generic.parse(text)
    op = _op(rng, ops, lambda op: not op.has_region)
    if not op:
        return None
    names = pool.names.get(kin(op))
    if not names:
        return None
    rows = text.splitlines()
    rows[op.first] = rows[op.first].replace(f'"{op.name}"(', f'"{rng.choice(names)}"(', 1)
    return "\n".join(rows) + "\n"


def _may_be_nested(op: generic.Op) -> bool:
    """In a function's code, where scf ops may stand."""
    outside = op.name.endswith((".module", ".func", ".func_op")) or op.parent in ("", "builtin.module", "gpu.module")
    return not (outside or op.is_terminator or op.name.startswith("transform.") or op.parent.startswith("linalg."))


def wrap(rng: random.Random, text: str, pool: Pool) -> str | None:
    """An op into an scf.if or scf.for that gives its results."""
    ops = generic.parse(text)
    op = _op(rng, ops, lambda op: len(op.results) == len(op.result_types) and _may_be_nested(op))
    if not op or any("#" in name for name in op.results):
        return None
    rows = text.splitlines()
    types, tag = ", ".join(op.result_types), f"w{op.first}"
    inner = rows[op.first : op.last + 1]
    inner[0] = inner[0].replace(", ".join(op.results) + " = ", ", ".join(f"%in_{n[1:]}" for n in op.results) + " = ", 1)
    inside = ", ".join(f"%in_{name[1:]}" for name in op.results)
    results = ", ".join(op.results) + " = " if op.results else ""
    other = [f"%{tag}_{number_}" for number_ in range(len(op.results))]
    poisons = [poison(name, type_) for name, type_ in zip(other, op.result_types, strict=True)]
    end = f'"scf.yield"({inside}) : ({types}) -> ()'
    if rng.random() < 0.5:
        condition = f'%{tag} = "arith.constant"() <{{value = {rng.choice(["true", "false"])}}}> : () -> i1'
        if rng.random() < 0.5:
            condition = f'%{tag} = "ub.poison"() <{{value = #ub.poison}}> : () -> i1'
        body = [condition, f'{results}"scf.if"(%{tag}) ({{', *inner, end, "}, {"]
        if op.results:
            body += [*poisons, f'"scf.yield"({", ".join(other)}) : ({types}) -> ()']
        body.append(f"}}) : (i1) -> ({types})")
    else:
        low, high, step = (rng.choice(["0", "0", "1", "4", "-1"]) for _ in range(3))
        body = [
            f'%{tag}{n} = "arith.constant"() <{{value = {v} : index}}> : () -> index'
            for n, v in (("l", low), ("h", high), ("s", step))
        ]
        arguments = "".join(f", %{tag}_a{n}: {type_}" for n, type_ in enumerate(op.result_types))
        body += [*poisons, f'{results}"scf.for"({", ".join([f"%{tag}l", f"%{tag}h", f"%{tag}s", *other])}) ({{']
        body += [f"^bb0(%{tag}i: index{arguments}):", *inner, end]
        body.append(f"}}) : ({', '.join(['index'] * 3 + op.result_types)}) -> ({types})")
    return "\n".join([*rows[: op.first], *body, *rows[op.last + 1 :]]) + "\n"


def transplant(rng: random.Random, text: str, pool: Pool) -> str | None:
    """An op of another file, on values that are here or on poison."""
    ops = generic.parse(text)
    place = _op(rng, ops, _may_be_nested)
    if not place or not pool.lines:
        return None
    line, donor = rng.choice(pool.lines)
    rows, body, names = text.splitlines(), [], []
    for number_, type_ in enumerate(donor.operand_types):
        name = _same_type(rng, text, ops, place.first, type_, "")
        if not name:
            name = f"%t{place.first}_{number_}"
            body.append(poison(name, type_))
        names.append(name)
    line = line.strip().replace(f"({', '.join(donor.operands)})", f"({', '.join(names)})", 1)
    for result in {name.split("#")[0] for name in donor.results}:
        line = re.sub(re.escape(result) + r"(?!\w)", f"%t{place.first}_{result[1:]}", line)
    return "\n".join([*rows[: place.first], *body, line, *rows[place.first :]]) + "\n"


def combine(rng: random.Random, text: str, pool: Pool) -> str | None:
    """Another file's module behind this one's, or inside."""
    other = re.sub(r'sym_name = "', 'sym_name = "b_', rng.choice(pool.texts))
    if rng.random() < 0.5:
        other = re.sub(r"@(\w)", r"@b_\1", other)
    return text + other


ANY = (characters, number, number, number, size, size, size, element, element, type_, type_, space, lines)
GENERIC = (
    delete_op, delete_op, copy_op, swap_ops, operands, operands, attribute, attribute, attribute, add_attribute,
    op_name, wrap, wrap, wrap, transplant, transplant, combine,
    number, size, size, size, element, element, type_, space,
)  # fmt: skip
