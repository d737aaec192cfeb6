# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of XeTile at workgroup level as plain data: their text in MLIR, their meaning in NumPy.

A kernel is
  {"grid": [x, y], "tile": [m, n], "map": {"layout": [..], "data": [..]}, "element": "f16",
   "loads":  [{"t", "size": [rows, columns], "pitch": 0, "at": [row, column], "prefetch": bool}],
   "mma":    None or {"k", "steps", "a": load, "b": load, "a_body", "b_body", "start": number or index of a load},
   "walk":   None or {"load", "steps", "by": [rows, columns], "body", "t", "start": number},
   "stores": [{"t", "size", "pitch", "at", "body"}]}
Workgroup (x, y) has the tile at [x * m, y * n], moved by `at`. Bodies are expressions (scalar_ops.py) of the loaded
tiles, in order, then of the product, then of what the walk summed up. Whatever lies outside of a matrix reads as zero
and is not written.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from bounded import NUMPY, Bounded, contract
from expressions import Emitter, Invalid, constant, evaluate, literal, result_type

Kernel = dict
Load = dict


def memref(load: Load) -> str:
    rows, columns = load["size"]
    pitch = load.get("pitch") or columns
    layout = f", strided<[{pitch}, 1]>" if pitch != columns else ""
    return f"memref<{rows}x{columns}x{load['t']}{layout}>"


def operands(kernel: Kernel) -> list[tuple[str, Load]]:
    """The matrices in the order of the kernel's parameters."""
    found = [(f"L{i}", load) for i, load in enumerate(kernel["loads"])]
    if kernel["mma"]:
        found += [("A", kernel["mma"]["a"]), ("B", kernel["mma"]["b"])]
    if kernel["walk"]:
        found.append(("W", kernel["walk"]["load"]))
    return found + [(f"S{i}", store) for i, store in enumerate(kernel["stores"])]


def input_types(kernel: Kernel) -> list[str]:
    """Types of what the bodies of stores read."""
    types = [load["t"] for load in kernel["loads"]]
    if kernel["mma"]:
        types.append(sum_type(kernel))
    if kernel["walk"]:
        types.append(kernel["walk"]["t"])
    return types


def is_used(kernel: Kernel, number: int) -> bool:
    """Whether a body reads input `number`, or the product starts from it."""
    starts = bool(kernel["mma"]) and kernel["mma"]["start"] == number and number < len(kernel["loads"])
    return starts or any(reads(store["body"], number) for store in kernel["stores"])


def reads(expr: list, number: int) -> bool:
    """Whether an expression reads input `number`."""
    return expr == ["in", number] or any(reads(part, number) for part in expr if isinstance(part, list))


def sum_type(kernel: Kernel) -> str:
    return "i32" if kernel["element"] == "i8" else "f32"


def work_items(kernel: Kernel) -> int:
    rows, columns = kernel["map"]["layout"]
    return rows * columns * 16


class Text:
    """The kernel's body, line by line."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.lines, self.count = kernel, [], 0

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%r{self.count} = {text}")
        return f"%r{self.count}"

    def index(self, value: int) -> str:
        return self.new(f"arith.constant {value} : index")

    def tile(self, shape: list[int], dtype: str, mapped: bool = True) -> str:
        """The type of a tile; only tiles of the result's shape may say their map."""
        wg_map = self.kernel["map"]
        if not mapped or shape != self.kernel["tile"]:
            return f"!xetile.tile<{shape[0]}x{shape[1]}x{dtype}>"
        return (
            f"!xetile.tile<{shape[0]}x{shape[1]}x{dtype}, #xetile.tile_attr<wg_map = "
            f"<sg_layout = {wg_map['layout']}, sg_data = {wg_map['data']}>>>"
        )

    def init(self, name: str, matrix: Load, row: str | None, column: str | None, kind: str) -> str:
        """A tile of `matrix` at an offset and what the matrix adds to it."""
        places = []
        for base, plus in zip((row, column), matrix["at"], strict=True):
            if base is None:
                places.append(str(plus) if plus >= 0 else self.index(plus))
            else:
                places.append(self.new(f"arith.addi {base}, {self.index(plus)} : index") if plus else base)
        return self.new(f"xetile.init_tile %{name}[{', '.join(places)}] : {memref(matrix)} -> {kind}")

    def body(
        self, expr: list, names: list[str], types: list[str], shape: list[int], out: tuple[str, str] | None = None
    ) -> str:
        self.count += 1
        emitter = Emitter(f"b{self.count}_", lambda dtype: f"vector<{shape[0]}x{shape[1]}x{dtype}>")
        name = emitter.emit(expr, names, types, out, 0)
        self.lines += emitter.lines
        return name


def write(kernel: Kernel) -> str:
    """The module: the kernel and @main, which launches it."""
    text = Text(kernel)
    m, n = kernel["tile"]
    x, y = text.new("gpu.block_id x"), text.new("gpu.block_id y")
    row = text.new(f"arith.muli {x}, {text.index(m)} : index")
    column = text.new(f"arith.muli {y}, {text.index(n)} : index")
    values, types = [], input_types(kernel)
    for i, load in enumerate(kernel["loads"]):
        # The map of a tile that nothing with a map uses does not follow from others.
        kind = text.tile([m, n], load["t"], kernel["maps"] or not is_used(kernel, i))
        tile = text.init(f"L{i}", load, row, column, kind)
        if load.get("prefetch"):
            text.lines.append(f"xetile.prefetch_tile {tile} locality<3> : {kind}")
        values.append(text.new(f"xetile.load_tile {tile} : {kind} -> vector<{m}x{n}x{load['t']}>"))
    if kernel["mma"]:
        values.append(_write_mma(text, kernel, row, column, values))
    if kernel["walk"]:
        values.append(_write_walk(text, kernel, row, column))
    for i, store in enumerate(kernel["stores"]):
        value = text.body(store["body"], values, types, [m, n])
        kind = text.tile([m, n], store["t"])
        tile = text.init(f"S{i}", store, row, column, kind)
        text.lines.append(f"xetile.store_tile {value}, {tile} : vector<{m}x{n}x{store['t']}>, {kind}")
    parameters = ", ".join(f"%{name}: {memref(matrix)}" for name, matrix in operands(kernel))
    arguments = ", ".join(f"%{name} : {memref(matrix)}" for name, matrix in operands(kernel))
    body = "\n".join("      " + line for line in text.lines)
    return f"""module attributes {{gpu.container_module}} {{
  gpu.module @device {{
    gpu.func @kernel({parameters}) kernel attributes {{known_block_size = array<i32: {work_items(kernel)}, 1, 1>}} {{
{body}
      gpu.return
    }}
  }}
  func.func @main({parameters}) attributes {{llvm.emit_c_interface}} {{
    %one = arith.constant 1 : index
    %x = arith.constant {kernel["grid"][0]} : index
    %y = arith.constant {kernel["grid"][1]} : index
    %threads = arith.constant {work_items(kernel)} : index
    gpu.launch_func @device::@kernel blocks in (%x, %y, %one) threads in (%threads, %one, %one) args({arguments})
    return
  }}
}}
"""


def _write_mma(text: Text, kernel: Kernel, row: str, column: str, values: list[str]) -> str:
    mma, (m, n), element, sums = kernel["mma"], kernel["tile"], kernel["element"], sum_type(kernel)
    k, kind = mma["k"], f"vector<{m}x{n}x{sum_type(kernel)}>"
    if mma["start"] is None or isinstance(mma["start"], dict):
        number = (mma["start"] or {}).get("const", 0)
        start = text.new(f"arith.constant dense<{literal(number, sums)}> : {kind}")
    else:
        start = values[mma["start"]]
    a_tile, b_tile = text.tile([m, k], mma["a"]["t"], False), text.tile([k, n], mma["b"]["t"], False)
    a, b = text.init("A", mma["a"], row, None, a_tile), text.init("B", mma["b"], None, column, b_tile)
    wg_map = kernel["map"]
    attribute = f"{{wg_map = #xetile.wg_map<sg_layout = {wg_map['layout']}, sg_data = {wg_map['data']}>}}"

    def step(a: str, b: str, total: str) -> str:
        found = []
        for tile, tile_kind, matrix, shape, body in (
            (a, a_tile, mma["a"], [m, k], mma["a_body"]),
            (b, b_tile, mma["b"], [k, n], mma["b_body"]),
        ):
            if mma.get("prefetch"):
                text.lines.append(f"xetile.prefetch_tile {tile} locality<3> : {tile_kind}")
            loaded = text.new(f"xetile.load_tile {tile} : {tile_kind} -> vector<{shape[0]}x{shape[1]}x{matrix['t']}>")
            found.append(text.body(body, [loaded], [matrix["t"]], shape))
        return text.new(
            f"xetile.tile_mma {found[0]}, {found[1]}, {total} {attribute} : vector<{m}x{k}x{element}>, "
            f"vector<{k}x{n}x{element}>, {kind} -> {kind}"
        )

    if mma["steps"] == 1 and not mma.get("loop"):
        return step(a, b, start)
    zero, one, end = text.index(0), text.index(1), text.index(mma["steps"])
    delta = text.index(k)
    result = f"%sum{text.count}"
    text.lines.append(
        f"{result}:3 = scf.for %i = {zero} to {end} step {one} iter_args(%acc = {start}, %ta = {a}, %tb = {b}) -> "
        f"({kind}, {a_tile}, {b_tile}) {{"
    )
    total = step("%ta", "%tb", "%acc")
    a_next = text.new(f"xetile.update_tile_offset %ta, [0, {delta}] : {a_tile}")
    b_next = text.new(f"xetile.update_tile_offset %tb, [{delta}, 0] : {b_tile}")
    text.lines.append(f"scf.yield {total}, {a_next}, {b_next} : {kind}, {a_tile}, {b_tile}\n}}")
    return result + "#0"


def _write_walk(text: Text, kernel: Kernel, row: str, column: str) -> str:
    walk, (m, n) = kernel["walk"], kernel["tile"]
    tile_kind, kind = text.tile([m, n], walk["load"]["t"]), f"vector<{m}x{n}x{walk['t']}>"
    start = text.new(f"arith.constant dense<{literal(walk['start'], walk['t'])}> : {kind}")
    tile = text.init("W", walk["load"], row, column, tile_kind)
    zero, one, end = text.index(0), text.index(1), text.index(walk["steps"])
    by = [text.index(part) for part in walk["by"]]
    result = f"%walked{text.count}"
    text.lines.append(
        f"{result}:2 = scf.for %j = {zero} to {end} step {one} iter_args(%acc = {start}, %tw = {tile}) -> "
        f"({kind}, {tile_kind}) {{"
    )
    loaded = text.new(f"xetile.load_tile %tw : {tile_kind} -> vector<{m}x{n}x{walk['load']['t']}>")
    total = text.body(walk["body"], [loaded, "%acc"], [walk["load"]["t"], walk["t"]], [m, n])
    following = text.new(f"xetile.update_tile_offset %tw, [{by[0]}, {by[1]}] : {tile_kind}")
    text.lines.append(f"scf.yield {total}, {following} : {kind}, {tile_kind}\n}}")
    return result + "#0"


# Meaning


def window(matrix: np.ndarray, row: int, column: int, shape: tuple[int, int]) -> np.ndarray:
    """The tile's elements, zero outside of the matrix."""
    out = np.zeros(shape, matrix.dtype)
    rows, columns, inside = _inside(matrix.shape, row, column, shape)
    out[inside] = matrix[rows[inside], columns[inside]]
    return out


def _inside(size: tuple[int, ...], row: int, column: int, shape: tuple[int, int]) -> tuple[np.ndarray, ...]:
    rows, columns = np.meshgrid(np.arange(shape[0]) + row, np.arange(shape[1]) + column, indexing="ij")
    return rows, columns, (rows >= 0) & (rows < size[0]) & (columns >= 0) & (columns < size[1])


def compute(kernel: Kernel, arrays: dict[str, np.ndarray]) -> dict[str, tuple[Bounded, np.ndarray]]:
    """For each store its matrix and which of its elements are written."""
    results = {}
    for i, store in enumerate(kernel["stores"]):
        size = tuple(store["size"])
        zeros = Bounded.exact(store["t"], np.zeros(size, NUMPY[store["t"]]))
        results[f"S{i}"] = (zeros, np.zeros(size, bool))
    for x, y in workgroups(kernel):
        inputs = _compute_inputs(kernel, arrays, x, y)
        m, n = kernel["tile"]
        for i, store in enumerate(kernel["stores"]):
            value = evaluate(store["body"], inputs, None, []).view(partial(np.broadcast_to, shape=(m, n)))
            matrix, written = results[f"S{i}"]
            row, column = x * m + store["at"][0], y * n + store["at"][1]
            rows, columns, inside = _inside(matrix.shape, row, column, (m, n))
            matrix.values[rows[inside], columns[inside]] = value.values[inside]
            matrix.error[rows[inside], columns[inside]] = value.error[inside]
            written[rows[inside], columns[inside]] = True
    return results


def workgroups(kernel: Kernel) -> Iterator[tuple[int, int]]:
    for x in range(kernel["grid"][0]):
        for y in range(kernel["grid"][1]):
            yield x, y


def _compute_inputs(kernel: Kernel, arrays: dict[str, np.ndarray], x: int, y: int) -> list[Bounded]:
    m, n = kernel["tile"]
    row, column = x * m, y * n

    def load(name: str, matrix: Load, shape: tuple[int, int], r: int, c: int) -> Bounded:
        values = window(arrays[name], r + matrix["at"][0], c + matrix["at"][1], shape)
        return Bounded.exact(matrix["t"], values)

    inputs = [load(f"L{i}", matrix, (m, n), row, column) for i, matrix in enumerate(kernel["loads"])]
    mma, walk = kernel["mma"], kernel["walk"]
    if mma:
        k, sums = mma["k"], sum_type(kernel)
        parts: tuple[list[Bounded], list[Bounded]] = ([], [])
        for step in range(mma["steps"]):
            a = load("A", mma["a"], (m, k), row, step * k)
            b = load("B", mma["b"], (k, n), step * k, column)
            parts[0].append(evaluate(mma["a_body"], [a], None, []).view(lambda v: np.broadcast_to(v, (m, k))))
            parts[1].append(evaluate(mma["b_body"], [b], None, []).view(lambda v: np.broadcast_to(v, (k, n))))
        a, b = (join(part, axis) for part, axis in zip(parts, (1, 0), strict=True))
        if mma["start"] is None or isinstance(mma["start"], dict):
            number = (mma["start"] or {}).get("const", 0)
            start = constant(number, sums).view(lambda v: np.broadcast_to(v, (m, n)))
        else:
            start = inputs[mma["start"]]
        inputs.append(contract(("mk", "kn", "mn"), a, b, start))
    if walk:
        total = constant(walk["start"], walk["t"]).view(lambda v: np.broadcast_to(v, (m, n)))
        for step in range(walk["steps"]):
            loaded = load("W", walk["load"], (m, n), row + step * walk["by"][0], column + step * walk["by"][1])
            total = evaluate(walk["body"], [loaded, total], None, [])
        inputs.append(total)
    return inputs


def join(parts: list[Bounded], axis: int) -> Bounded:
    values = np.concatenate([part.values for part in parts], axis)
    return Bounded(parts[0].dtype, values, np.concatenate([part.error for part in parts], axis))


def check_types(kernel: Kernel) -> None:
    """Invalid if a body does not give its type, or an operand of the product is not what is loaded for it."""
    wanted = [(store["body"], input_types(kernel), store["t"]) for store in kernel["stores"]]
    if mma := kernel["mma"]:
        wanted += [(mma[f"{x}_body"], [mma[x]["t"]], kernel["element"]) for x in "ab"]
        start = mma["start"]
        if isinstance(start, int) and kernel["loads"][start]["t"] != sum_type(kernel):
            raise Invalid
        # The map of an operand's tile follows from the product alone.
        if not all(reads(mma[f"{x}_body"], 0) for x in "ab"):
            raise Invalid
    if walk := kernel["walk"]:
        wanted.append((walk["body"], [walk["load"]["t"], walk["t"]], walk["t"]))
    for body, inputs, dtype in wanted:
        if result_type(body, inputs) != dtype:
            raise Invalid
