# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions, elementwise ops, fills, constants and reductions of programs on tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from bounded import NUMPY, UNIT, Bounded, contract, depends_on_order, is_float, settle
from expressions import Emitter, constant, evaluate, literal, result_type
from scalar_ops import apply
from tensor_types import (
    Mismatch,
    Node,
    Op,
    Type,
    Writer,
    affine,
    dims,
    letters_of,
    require,
    same_sizes,
    shape_of,
    size_of,
    tensor,
)

# Contractions

# Maps of A, B and C of the named ops.
NAMED = {
    ("mk", "kn", "mn"): "matmul",
    ("bmk", "bkn", "bmn"): "batch_matmul",
    ("mk", "k", "m"): "matvec",
    ("k", "kn", "n"): "vecmat",
    ("k", "k", ""): "dot",
    ("bmk", "bk", "bm"): "batch_matvec",
    ("bk", "bkn", "bn"): "batch_vecmat",
    ("bmk", "bkn", "mn"): "batch_reduce_matmul",
}
# Their forms with operands of other maps.
TRANSPOSED = {
    ("km", "kn", "mn"): "matmul",
    ("mk", "nk", "mn"): "matmul",
    ("km", "nk", "mn"): "matmul",
    ("bkm", "bkn", "bmn"): "batch_matmul",
    ("bmk", "bnk", "bmn"): "batch_matmul",
}
ORDER = "bgMNmnhKkp"


def takes_cast(maps: tuple[str, ...]) -> bool:
    """Whether the named op of these maps extends its operands as its attribute `cast` says."""
    return (NAMED.get(maps) or TRANSPOSED.get(maps)) in ("matmul", "batch_matmul")


def _contract_order(node: Node) -> str:
    return "".join(letter for letter in ORDER if any(letter in m for m in node["maps"]))


def _infer_contract(node: Node, kinds: list[Type]) -> Type:
    maps = node["maps"]
    require(len(kinds) in (2, 3) and len(maps) == 3)
    found = letters_of(maps[:2], kinds[:2])
    require(all(letter in found for letter in maps[2]) and all(len(set(m)) == len(m) for m in maps))
    kind = Type(node["t"], tuple(found[letter] for letter in maps[2]))
    require(len(kinds) == 2 or kinds[2] == kind)
    floats = {is_float(k.dtype) for k in (*kinds, kind)}
    require(len(floats) == 1 and "i1" not in [k.dtype for k in kinds] + [node["t"]])
    require(all(NUMPY[k.dtype].itemsize <= NUMPY[node["t"]].itemsize for k in kinds))
    require(all(k.dtype == node["t"] or NUMPY[k.dtype].itemsize < NUMPY[node["t"]].itemsize for k in kinds))
    if node["style"] == "named":
        require(tuple(maps) in NAMED or tuple(maps) in TRANSPOSED)
    if node.get("unsigned"):
        require(not is_float(node["t"]) and node["style"] != "contract")
        # Other named ops take the attribute, too, and ignore it.
        require(node["style"] != "named" or takes_cast(tuple(maps)))
    return kind


def _write_contract(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    maps = tuple(node["maps"])
    start = names[2] if len(names) == 3 else writer.filled(writer.constant(node.get("fill", 0), kind.dtype), kind)
    operands = f"ins({names[0]}, {names[1]} : {kinds[0]}, {kinds[1]}) outs({start} : {kind})"
    order = _contract_order(node)
    accesses = ", ".join(affine(order, m) for m in maps)
    if node["style"] == "named":
        name = NAMED.get(maps) or TRANSPOSED[maps]
        extra = "" if maps in NAMED else f" indexing_maps = [{accesses}]"
        cast = " {cast = #linalg.type_fn<cast_unsigned>}" if node.get("unsigned") else ""
        return writer.new(f"linalg.{name}{extra}{cast} {operands} -> {kind}")
    if node["style"] == "contract":
        return writer.new(f"linalg.contract indexing_maps = [{accesses}] {operands} -> {kind}")
    iterators = ", ".join('"parallel"' if letter in maps[2] else '"reduction"' for letter in order)
    letter = "f" if is_float(kind.dtype) else "i"
    lines, factors = [], []
    for name, k in zip("xy", kinds, strict=False):
        factors.append(f"%{name}")
        if k.dtype != kind.dtype:
            factors[-1] += "w"
            cast = "extf" if letter == "f" else "extui" if node.get("unsigned") else "extsi"
            lines.append(f"  %{name}w = arith.{cast} %{name} : {k.dtype} to {kind.dtype}")
    body = "\n".join(
        [
            *lines,
            f"  %p = arith.mul{letter} {', '.join(factors)} : {kind.dtype}",
            f"  %s = arith.add{letter} %z, %p : {kind.dtype}",
            f"  linalg.yield %s : {kind.dtype}",
        ]
    )
    return writer.new(
        f"linalg.generic {{indexing_maps = [{accesses}], iterator_types = [{iterators}]}} {operands} {{\n"
        f"^bb0(%x: {kinds[0].dtype}, %y: {kinds[1].dtype}, %z: {kind.dtype}):\n{body}\n}} -> {kind}"
    )


def _compute_contract(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    maps = tuple(node["maps"])
    found = same_sizes(list(maps[: len(values)]), values)
    if len(values) == 2:
        shape = tuple(found[letter] for letter in maps[2])
        start = constant(node.get("fill", 0), kind.dtype).view(lambda v: np.broadcast_to(v, shape))
        if shape != shape_of(kind, sizes):
            raise Mismatch
    else:
        start = values[2]
    # Products of a narrow type may be rounded where the body says so.
    products = {"f16": 2.0**-11, "bf16": 2.0**-8}.get(kind.dtype, 0.0)
    return contract(maps, values[0], values[1], start, unsigned=bool(node.get("unsigned")), products=products)


# Elementwise

LINALG_NAMED = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.subf": "sub",
    "arith.subi": "sub",
    "arith.mulf": "mul",
    "arith.muli": "mul",
    "arith.divf": "div",
    "arith.maximumf": "max",
    "arith.minimumf": "min",
    "math.exp": "exp",
    "math.log": "log",
    "math.absf": "abs",
    "math.ceil": "ceil",
    "math.floor": "floor",
    "arith.negf": "negf",
    "math.rsqrt": "rsqrt",
    "math.sqrt": "sqrt",
    "math.tanh": "tanh",
    "math.erf": "erf",
    "math.round": "round",
    "math.powf": "powf",
    "arith.select": "select",
}
LOOPS = "abcdefgh"


def _map_letters(node: Node, kinds: list[Type]) -> dict[str, tuple]:
    order = LOOPS[: node["rank"]]
    pairs = [(m, k) for m, k in zip(node["maps"], kinds, strict=True) if k.shape is not None]
    require(all(m is None or all(letter in order for letter in m) for m in node["maps"]))
    require(all((m is None) == (k.shape is None) for m, k in zip(node["maps"], kinds, strict=True)))
    require(all(len(set(m)) == len(m) for m, _ in pairs))
    found = letters_of([m for m, _ in pairs], [k for _, k in pairs], node.get("dims"))
    require(sorted(found) == list(order))
    return found


def _infer_map(node: Node, kinds: list[Type]) -> Type:
    found = _map_letters(node, kinds)
    into = node.get("into") or LOOPS[: node["rank"]]
    require(sorted(into) == list(LOOPS[: node["rank"]]))
    kind = Type(node["t"], tuple(found[letter] for letter in into))
    style = node["style"]
    inputs = [k.dtype for k in kinds]
    out = None
    if node.get("over"):  # the last input is what the result is written over
        require(kinds and kinds[-1] == kind and node["maps"][-1] == into)
        out = inputs[-1]
    rank = 0 if style in ("arith", "map", "named") else node["rank"]
    require(result_type(node["body"], inputs, out, rank) == node["t"])
    plain = all(m == into for m in node["maps"]) and into == LOOPS[: node["rank"]] and not node.get("dims")
    if style == "map":
        require(plain and kinds and not node.get("over"))
    if style == "arith":
        require(plain and kinds and not node.get("over"))
        require(kind.is_static or not _has_constant(node["body"]))
        require(node["body"][0] not in ("in", "const"))
        # What nothing reads is not in the program, and has any size.
        require(all(_reads(node["body"], i) for i in range(len(kinds))))
    if style == "named":
        op, *parts = node["body"]
        require(plain and kinds and not node.get("over") and op in LINALG_NAMED)
        require(all(k.dtype != "i1" for k in kinds))  # some have no meaning there
        require(parts == [["in", i] for i in range(len(kinds))])
    return kind


def _reads(expr: list, i: int) -> bool:
    return expr == ["in", i] or any(_reads(part, i) for part in expr[1:] if isinstance(part, list))


def _has_constant(expr: list) -> bool:
    return expr[0] == "const" or any(_has_constant(part) for part in expr[1:] if isinstance(part, list))


def _write_map(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    style, inputs = node["style"], [k.dtype for k in kinds]
    if style == "arith":
        emitter = Emitter(f"a{len(writer.lines)}_", kind.of)
        name = emitter.emit(node["body"], names, inputs, None, 0)
        writer.lines += emitter.lines
        return name
    start = names[-1] if node.get("over") else writer.empty(kind)
    ins = [(n, k) for n, k in zip(names, kinds, strict=True) if k.shape is not None]
    if node.get("over"):
        ins = ins[:-1]
    text = f"ins({', '.join(n for n, _ in ins)} : {', '.join(str(k) for _, k in ins)}) " if ins else ""
    if style == "named":
        return writer.new(f"linalg.{LINALG_NAMED[node['body'][0]]} {text}outs({start} : {kind}) -> {kind}")
    # Scalars are used from outside.
    inner = [f"%x{i}" if k.shape is not None else n for i, (n, k) in enumerate(zip(names, kinds, strict=True))]
    emitter = Emitter("v")
    out = (inner[-1], inputs[-1]) if node.get("over") else None
    yielded = emitter.emit(node["body"], inner, inputs, out, node["rank"])
    block = [f"%x{i}: {k.dtype}" for i, k in enumerate(kinds) if k.shape is not None]
    if style == "map":
        yielded_ = "\n".join([*emitter.lines, f"linalg.yield {yielded} : {kind.dtype}"])
        block.append(f"%o: {kind.dtype}")
        return writer.new(f"linalg.map {text}outs({start} : {kind}) ({', '.join(block)}) {{\n{yielded_}\n}}")
    if not node.get("over"):
        block.append(f"%o: {kind.dtype}")
    order = LOOPS[: node["rank"]]
    maps = [affine(order, m) for m, k in zip(node["maps"], kinds, strict=True) if k.shape is not None]
    if not node.get("over"):
        maps.append(affine(order, node.get("into") or order))
    iterators = ", ".join(['"parallel"'] * node["rank"])
    body = "\n".join([*("  " + line for line in emitter.lines), f"  linalg.yield {yielded} : {kind.dtype}"])
    return writer.new(
        f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}} "
        f"{text}outs({start} : {kind}) {{\n^bb0({', '.join(block)}):\n{body}\n}} -> {kind}"
    )


def spread(value: Bounded, letters: str, order: str, sizes: Mapping[str, int]) -> Bounded:
    """The value as it is read in a loop nest of `order`."""
    present = [letter for letter in order if letter in letters]
    axes = [letters.index(letter) for letter in present]
    shape = tuple(sizes[letter] for letter in order)

    def change(array: np.ndarray) -> np.ndarray:
        array = np.transpose(array, axes)
        for axis, letter in enumerate(order):
            if letter not in letters:
                array = np.expand_dims(array, axis)
        return np.broadcast_to(array, shape)

    return value.view(change)


def _compute_map(node: Node, values: list[Any], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    order = LOOPS[: node["rank"]]
    pairs = [(m, v) for m, v in zip(node["maps"], values, strict=True) if m is not None]
    found = same_sizes([m for m, _ in pairs], [v for _, v in pairs])
    for letter, dim in (node.get("dims") or {}).items():
        if found.setdefault(letter, size_of(dim, sizes)) != size_of(dim, sizes):
            raise Mismatch
    into = node.get("into") or order
    # An operation of arith has the shape of its operands, and one that writes over an operand that one's; others have
    # an output of sizes that are read elsewhere.
    is_new = node["style"] != "arith" and not node.get("over")
    if is_new and tuple(found[letter] for letter in into) != shape_of(kind, sizes):
        raise Mismatch
    shape = tuple(found[letter] for letter in order)
    read = [
        v.view(lambda a: np.broadcast_to(a, shape)) if m is None else spread(v, m, order, found)
        for m, v in zip(node["maps"], values, strict=True)
    ]
    out = read[-1] if node.get("over") else None
    indices = list(np.indices(shape)) if node["rank"] else []
    value = evaluate(node["body"], read, out, indices)
    value = value.view(lambda a: np.broadcast_to(a, shape))
    return value.view(lambda a: np.transpose(a, [order.index(letter) for letter in into]))


# Fills, constants, reductions


def _infer_fill(node: Node, kinds: list[Type]) -> Type:
    require(len(kinds) <= 1 and all(k.shape is None and k.dtype == node["t"] for k in kinds))
    return Type(node["t"], dims(node["s"]))


def _write_fill(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    value = names[0] if names else writer.constant(node["value"], kind.dtype)
    if node["style"] == "splat":
        dynamic = writer.dynamic(kind)
        return writer.new(f"tensor.splat {value}{f'[{dynamic}]' if dynamic else ''} : {kind}")
    return writer.filled(value, kind)


def _compute_fill(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    value = values[0] if values else constant(node["value"], kind.dtype)
    return value.view(lambda v: np.broadcast_to(v, shape_of(kind, sizes)))


def constant_values(node: Node, shape: tuple[int, ...]) -> np.ndarray:
    """The elements of a dense constant."""
    random = np.random.default_rng(node["seed"])
    values = random.integers(-3, 4, shape)
    return (values / 2 if is_float(node["t"]) else values & 1 if node["t"] == "i1" else values).astype(NUMPY[node["t"]])


def _infer_constant(node: Node, kinds: list[Type]) -> Type:
    kind = Type(node["t"], dims(node["s"]))
    require(not kinds and kind.is_static)
    return kind


def _write_constant(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    values = constant_values(node, shape_of(kind, {}))

    def text(array: np.ndarray) -> str:
        if array.ndim == 0:
            return literal(array.item() if array.dtype != NUMPY["bf16"] else float(array), kind.dtype)
        return "[" + ", ".join(text(part) for part in array) + "]"

    return writer.new(f"arith.constant dense<{text(values) if values.size else ''}> : {kind}")


def _compute_constant(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    return Bounded.exact(kind.dtype, constant_values(node, shape_of(kind, sizes)))


def _infer_reduce(node: Node, kinds: list[Type]) -> Type:
    require(len(kinds) in (1, 2))
    x, along = tensor(kinds[0]), node["dims"]
    require(along and along == sorted(set(along)) and along[-1] < x.rank and x.dtype != "i1")
    require(result_type([node["kind"], ["in", 0], ["in", 0]], [x.dtype]) == x.dtype)
    kind = Type(x.dtype, tuple(dim for i, dim in enumerate(x.shape) if i not in along))
    require(len(kinds) == 1 or kinds[1] == kind)
    return kind


def _write_reduce(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    start = names[1] if len(names) == 2 else writer.filled(writer.constant(node["start"], kind.dtype), kind)
    text = f"ins({names[0]} : {kinds[0]}) outs({start} : {kind})"
    body = f"%s = {node['kind']} %x, %z : {kind.dtype}\n  linalg.yield %s : {kind.dtype}"
    if node["style"] == "reduce":
        return writer.new(
            f"linalg.reduce {text} dimensions = [{', '.join(map(str, node['dims']))}]\n"
            f"  (%x: {kind.dtype}, %z: {kind.dtype}) {{\n  {body}\n}}"
        )
    order = LOOPS[: kinds[0].rank]
    left = "".join(letter for i, letter in enumerate(order) if i not in node["dims"])
    iterators = ", ".join('"reduction"' if i in node["dims"] else '"parallel"' for i in range(kinds[0].rank))
    return writer.new(
        f"linalg.generic {{indexing_maps = [{affine(order, order)}, {affine(order, left)}], iterator_types = "
        f"[{iterators}]}} {text} {{\n^bb0(%x: {kind.dtype}, %z: {kind.dtype}):\n  {body}\n}} -> {kind}"
    )


def _compute_reduce(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    x = values[0]
    kept = [i for i in range(len(x.shape)) if i not in node["dims"]]
    shape = tuple(x.shape[i] for i in kept)
    start = values[1] if len(values) == 2 else constant(node["start"], kind.dtype)
    start = start.view(lambda v: np.broadcast_to(v, shape)) if len(values) == 1 else start
    if start.shape != shape or (len(values) == 1 and shape != shape_of(kind, sizes)):
        raise Mismatch
    count = int(np.prod([x.shape[i] for i in node["dims"]], dtype=np.int64))
    rows = x.view(lambda a: np.transpose(a, [*node["dims"], *kept]).reshape(count, *shape))
    unknown = np.zeros(shape, bool)
    if node["kind"] in ("arith.addf", "arith.mulf"):
        order = np.concatenate([start.values[None], rows.values])
        unknown = depends_on_order(node["kind"][len("arith.") : -1], kind.dtype, order)
    if node["kind"] == "arith.addf":
        # Any order of the sum: the error is that of the sum of sizes.
        with np.errstate(all="ignore"):
            value = start.values + rows.values.sum(axis=0)
            size = np.abs(start.values) + np.abs(rows.values).sum(axis=0)
            error = start.error + rows.error.sum(axis=0)
            extra = np.where(np.isfinite(value), size * (UNIT[kind.dtype] * (count + 1)), 0)
        return settle(kind.dtype, value, np.where(unknown, np.inf, error + extra.astype(np.float64)))
    total = start
    for i in range(count):
        total = apply(node["kind"], [], [total, rows.view(lambda a, i=i: a[i])])
    return replace(total, error=np.where(unknown, np.inf, total.error))


OPS = {
    "contract": Op(_infer_contract, _write_contract, _compute_contract),
    "map": Op(_infer_map, _write_map, _compute_map),
    "fill": Op(_infer_fill, _write_fill, _compute_fill),
    "constant": Op(_infer_constant, _write_constant, _compute_constant),
    "reduce": Op(_infer_reduce, _write_reduce, _compute_reduce),
}
