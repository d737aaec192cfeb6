# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of programs on tensors that move elements, and those on single elements."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from bounded import Bounded
from expressions import Emitter, constant, evaluate, result_type
from tensor_types import (
    Mismatch,
    Node,
    Op,
    Type,
    Undetermined,
    Writer,
    add,
    dims,
    make_dim,
    require,
    shape_of,
    tensor,
)


def _infer_broadcast(node: Node, kinds: list[Type]) -> Type:
    x, added = tensor(kinds[0]), dict(zip(node["dims"], dims(node["sizes"]), strict=True))
    rest = iter(x.shape)
    rank = x.rank + len(added)
    require(all(0 <= i < rank for i in added) and node["dims"] == sorted(added))
    return Type(x.dtype, tuple(added[i] if i in added else next(rest) for i in range(rank)))


def _write_broadcast(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    return writer.new(
        f"linalg.broadcast ins({names[0]} : {kinds[0]}) outs({writer.empty(kind)} : {kind}) "
        f"dimensions = [{', '.join(map(str, node['dims']))}]"
    )


def _compute_broadcast(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    shape = shape_of(kind, sizes)
    expected = tuple(size for i, size in enumerate(shape) if i not in node["dims"])
    if values[0].shape != expected:
        raise Mismatch
    return values[0].view(lambda a: np.broadcast_to(np.expand_dims(a, tuple(node["dims"])), shape))


def _infer_transpose(node: Node, kinds: list[Type]) -> Type:
    x = tensor(kinds[0])
    require(sorted(node["perm"]) == list(range(x.rank)))
    return Type(x.dtype, tuple(x.shape[i] for i in node["perm"]))


def _write_transpose(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    return writer.new(
        f"linalg.transpose ins({names[0]} : {kinds[0]}) outs({writer.empty(kind)} : {kind}) "
        f"permutation = [{', '.join(map(str, node['perm']))}]"
    )


def _compute_transpose(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    value = values[0].view(lambda a: np.transpose(a, node["perm"]))
    if value.shape != shape_of(kind, sizes):
        raise Mismatch
    return value


def _slice_sizes(node: Node, x: Type) -> list[tuple]:
    require(len(node["offsets"]) == len(node["trim"]) == len(node["strides"]) == x.rank)
    found = []
    for dim, offset, trim, stride in zip(x.shape, node["offsets"], node["trim"], node["strides"], strict=True):
        require(stride >= 1 and offset >= 0 and trim >= 0 and (stride == 1 or len(dim) == 1))
        rest = add(dim, plus=-offset - trim)
        # MLIR takes no offset into nothing, not even 0.
        require(len(dim) > 1 or (rest[0] >= 0 and offset < dim[0]))
        found.append((-(-rest[0] // stride),) if len(dim) == 1 else rest)
    return found


def _infer_slice(node: Node, kinds: list[Type]) -> Type:
    x = tensor(kinds[0])
    found = _slice_sizes(node, x)
    require(all(found[i] == (1,) for i in node["drop"]))
    return Type(x.dtype, tuple(dim for i, dim in enumerate(found) if i not in node["drop"]))


def _write_slice(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    sizes = [str(dim[0]) if len(dim) == 1 else writer.size(dim) for dim in _slice_sizes(node, kinds[0])]
    parts = "".join(f"[{', '.join(map(str, part))}]" for part in (node["offsets"], sizes, node["strides"]))
    # One bracket each, separated by spaces.
    return writer.new(f"tensor.extract_slice {names[0]}{parts.replace('][', '] [')} : {kinds[0]} to {kind}")


def _compute_slice(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    x = values[0]
    parts = tuple(
        slice(offset, max(size - trim, offset), stride)
        for size, offset, trim, stride in zip(x.shape, node["offsets"], node["trim"], node["strides"], strict=True)
    )
    value = x.view(lambda a: np.squeeze(a[parts], tuple(node["drop"])) if node["drop"] else a[parts])
    if value.shape != shape_of(kind, sizes):
        raise Undetermined
    return value


def _infer_insert(node: Node, kinds: list[Type]) -> Type:
    small, big = tensor(kinds[0]), tensor(kinds[1])
    require(small.dtype == big.dtype and small.rank == big.rank == len(node["offsets"]))
    for a, b, offset in zip(small.shape, big.shape, node["offsets"], strict=True):
        require(offset >= 0 and a[1:] == b[1:] and 0 <= a[0] <= b[0] - offset)
        # MLIR takes no offset into nothing, not even 0.
        require(len(b) > 1 or offset < b[0])
    return big


def _write_insert(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    sizes = [str(dim[0]) if len(dim) == 1 else writer.size(dim) for dim in kinds[0].shape]
    ones = ", ".join(["1"] * kind.rank)
    place = f"[{', '.join(map(str, node['offsets']))}] [{', '.join(sizes)}] [{ones}]"
    return writer.new(f"tensor.insert_slice {names[0]} into {names[1]}{place} : {kinds[0]} into {kind}")


def _compute_insert(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    small, big = values
    place = tuple(slice(offset, offset + size) for offset, size in zip(node["offsets"], small.shape, strict=True))
    if any(part.stop > size for part, size in zip(place, big.shape, strict=True)):
        raise Mismatch
    found, error = big.values.copy(), big.error.copy()
    found[place], error[place] = small.values, small.error
    return Bounded(kind.dtype, found, error)


def _infer_pad(node: Node, kinds: list[Type]) -> Type:
    x = tensor(kinds[0])
    require(len(node["low"]) == len(node["high"]) == x.rank and min([0, *node["low"], *node["high"]]) == 0)
    return Type(x.dtype, tuple(add(d, plus=a + b) for d, a, b in zip(x.shape, node["low"], node["high"], strict=True)))


def _write_pad(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    value = writer.constant(node["value"], kind.dtype)
    block = ", ".join(f"%i{i}: index" for i in range(kind.rank))
    return writer.new(
        f"tensor.pad {names[0]} low[{', '.join(map(str, node['low']))}] high[{', '.join(map(str, node['high']))}] "
        f"{{\n^bb0({block}):\n  tensor.yield {value} : {kind.dtype}\n}} : {kinds[0]} to {kind}"
    )


def _compute_pad(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    x, fill = values[0], constant(node["value"], kind.dtype).values
    widths = list(zip(node["low"], node["high"], strict=True))
    return Bounded(kind.dtype, np.pad(x.values, widths, constant_values=fill), np.pad(x.error, widths))


def _product(group: list[tuple]) -> tuple:
    names = [dim for dim in group if len(dim) > 1]
    factor = int(np.prod([dim[0] for dim in group if len(dim) == 1], dtype=np.int64))
    require(len(names) <= 1 and factor >= 0)
    if not names:
        return (factor,)
    return make_dim(names[0][0] * factor, list(names[0][1:]) * factor) if factor else (0,)


def _infer_collapse(node: Node, kinds: list[Type]) -> Type:
    x, groups = tensor(kinds[0]), node["groups"]
    require([i for group in groups for i in group] == list(range(x.rank)) and all(groups))
    found = [_product([x.shape[i] for i in group]) for group in groups]
    for group, dim in zip(groups, found, strict=True):
        require(any(len(x.shape[i]) > 1 for i in group) == (len(dim) > 1))
    return Type(x.dtype, tuple(found))


def _write_collapse(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    return writer.new(f"tensor.collapse_shape {names[0]} {node['groups']} : {kinds[0]} into {kind}")


def _compute_collapse(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    shape = [int(np.prod([values[0].shape[i] for i in group], dtype=np.int64)) for group in node["groups"]]
    return values[0].view(lambda a: a.reshape(shape))


def _infer_expand(node: Node, kinds: list[Type]) -> Type:
    """`factors` has for each dim the static sizes behind its first part."""
    x, found = tensor(kinds[0]), []
    require(len(node["factors"]) == x.rank)
    for dim, factors in zip(x.shape, node["factors"], strict=True):
        by = int(np.prod(factors, dtype=np.int64))
        names = sorted(set(dim[1:]))
        require(by > 0 and dim[0] % by == 0 and all(dim[1:].count(name) % by == 0 for name in names))
        found.append(make_dim(dim[0] // by, [name for name in names for _ in range(dim[1:].count(name) // by)]))
        found += [(factor,) for factor in factors]
    return Type(x.dtype, tuple(found))


def _write_expand(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    groups, start = [], 0
    for factors in node["factors"]:
        groups.append(list(range(start, start + 1 + len(factors))))
        start += 1 + len(factors)
    sizes = ", ".join(str(dim[0]) if len(dim) == 1 else writer.size(dim) for dim in kind.shape)
    return writer.new(f"tensor.expand_shape {names[0]} {groups} output_shape [{sizes}] : {kinds[0]} into {kind}")


def _compute_expand(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    shape = shape_of(kind, sizes)
    # Arrays of sizes that do not fit each other have another count of elements.
    if values[0].values.size != np.prod(shape, dtype=np.int64):
        raise Mismatch
    return values[0].view(lambda a: a.reshape(shape))


def _infer_concat(node: Node, kinds: list[Type]) -> Type:
    first, axis = tensor(kinds[0]), node["axis"]
    require(axis < first.rank)
    require(all(k.shape is not None and (k.dtype, k.rank) == (first.dtype, first.rank) for k in kinds))
    rest = [k.shape[:axis] + k.shape[axis + 1 :] for k in kinds]
    require(all(r == rest[0] for r in rest))
    joined = add(*(k.shape[axis] for k in kinds))
    return Type(first.dtype, (*first.shape[:axis], joined, *first.shape[axis + 1 :]))


def _write_concat(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    types = ", ".join(map(str, kinds))
    return writer.new(f"tensor.concat dim({node['axis']}) {', '.join(names)} : ({types}) -> {kind}")


def _compute_concat(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    rest = {tuple(size for i, size in enumerate(v.shape) if i != node["axis"]) for v in values}
    if len(rest) != 1:
        raise Mismatch
    axis = node["axis"]
    return Bounded(
        kind.dtype,
        np.concatenate([v.values for v in values], axis),
        np.concatenate([v.error for v in values], axis),
    )


# Scalars


def _infer_dim(node: Node, kinds: list[Type]) -> Type:
    require(node["axis"] < tensor(kinds[0]).rank and node["t"] in ("i32", "i64"))
    return Type(node["t"])


def _write_dim(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    size = writer.new(f"tensor.dim {names[0]}, {writer.index(node['axis'])} : {kinds[0]}")
    return writer.new(f"arith.index_cast {size} : index to {kind}")


def _compute_dim(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    return Bounded.exact(kind.dtype, np.int64(values[0].shape[node["axis"]]))


def _infer_extract(node: Node, kinds: list[Type]) -> Type:
    x = tensor(kinds[0])
    require(len(node["at"]) == x.rank)
    require(all(len(dim) == 1 and i < dim[0] for i, dim in zip(node["at"], x.shape, strict=True)))
    return Type(x.dtype)


def _write_extract(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    at = ", ".join(writer.index(i) for i in node["at"])
    return writer.new(f"tensor.extract {names[0]}[{at}] : {kinds[0]}")


def _compute_extract(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    return values[0].view(lambda a: np.asarray(a[tuple(node["at"])]))


def _infer_scalar(node: Node, kinds: list[Type]) -> Type:
    require(all(k.shape is None for k in kinds))
    return Type(result_type(node["body"], [k.dtype for k in kinds]))


def _write_scalar(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    emitter = Emitter(f"s{len(writer.lines)}_")
    name = emitter.emit(node["body"], names, [k.dtype for k in kinds], None, 0)
    writer.lines += emitter.lines
    return name


def _compute_scalar(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    return evaluate(node["body"], values, None, [])


def _infer_elements(node: Node, kinds: list[Type]) -> Type:
    require(kinds and all(k == kinds[0] and k.shape is None for k in kinds))
    return Type(kinds[0].dtype, ((len(kinds),),))


def _write_elements(node: Node, kinds: list[Type], kind: Type, names: list[str], writer: Writer) -> str:
    return writer.new(f"tensor.from_elements {', '.join(names)} : {kind}")


def _compute_elements(node: Node, values: list[Bounded], kind: Type, sizes: Mapping[str, int]) -> Bounded:
    return Bounded(kind.dtype, np.stack([v.values for v in values]), np.stack([v.error for v in values]))


OPS = {
    "broadcast": Op(_infer_broadcast, _write_broadcast, _compute_broadcast),
    "transpose": Op(_infer_transpose, _write_transpose, _compute_transpose),
    "slice": Op(_infer_slice, _write_slice, _compute_slice),
    "insert": Op(_infer_insert, _write_insert, _compute_insert),
    "pad": Op(_infer_pad, _write_pad, _compute_pad),
    "collapse": Op(_infer_collapse, _write_collapse, _compute_collapse),
    "expand": Op(_infer_expand, _write_expand, _compute_expand),
    "concat": Op(_infer_concat, _write_concat, _compute_concat),
    "dim": Op(_infer_dim, _write_dim, _compute_dim),
    "extract": Op(_infer_extract, _write_extract, _compute_extract),
    "scalar": Op(_infer_scalar, _write_scalar, _compute_scalar),
    "elements": Op(_infer_elements, _write_elements, _compute_elements),
}
