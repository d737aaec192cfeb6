# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of workgroup-level XeTile as plain data, and their text.

A kernel is
  {"grid": [x, y], "subgroups": 4, "nodes": [node, ...]}
A node gives the value of its number `id` from those of `in`; all have `op`, and mostly `shape`, `t` and `map`
([sg_layout, sg_data] or None: it follows from others):
  load       `matrix` {"size", "pitch", "order"}, `at`, `padding`, `prefetch`; in a loop `by`: how far it moves in each
             trip, `carried`: the loop carries its tile
  body       `expr` (expressions.py) of its operands, element by element
  transpose, convert, cast (a row to a column or back), broadcast `dims`, reduce `dims` `kind`, mma
  slice      of its operand from `at` on
  table      a constant of the numbers `values`;  count: a row 0, 1, 2, ...;  mask: true in the first `inside` rows and
             columns
  shared     stored to shared local memory, and a tile at `at` of it loaded
  packed     cut into `blocks`, `expr` there, put together again
  gather     of `places` of a row of `count` elements, where a mask allows, else `padding`
  loop       `trips` of `nodes`, which begin with `init` as value `arg` and end with `yield`;  if: `nodes` that end with
             `yield` where the workgroup is the first of its row, else `other`
and without a value
  store      `matrix`, `at`;  scatter: to permuted places of a row, where a mask allows;  atomic: `kind`, the same
             elements of all workgroups
Workgroup (x, y) has the tile at [x * rows, y * columns] of loads and stores, moved by `at`.
"""

from __future__ import annotations

import node_text
from expressions import literal
from node_text import vector
from nodes import Node, all_nodes

Kernel = dict


def map_text(wg_map: list) -> str:
    return f"#xetile.wg_map<sg_layout = {wg_map[0]}, sg_data = {wg_map[1]}>"


def tile(shape: list[int], dtype: str, wg_map: list | None = None, **attributes: str) -> str:
    parts = [f"wg_map = {map_text(wg_map)}"] if wg_map else []
    parts += [f"{name} = {value}" for name, value in attributes.items()]
    attribute = f", #xetile.tile_attr<{', '.join(parts)}>" if parts else ""
    return f"!xetile.tile<{shape[0]}x{shape[1]}x{dtype}{attribute}>"


def memref(matrix: dict, dtype: str) -> str:
    rows, columns = matrix["size"]
    pitch = matrix["pitch"]
    if matrix["order"] == [0, 1]:
        return f"memref<{rows}x{columns}x{dtype}, strided<[1, {pitch}]>>"
    layout = f", strided<[{pitch}, 1]>" if pitch != columns else ""
    return f"memref<{rows}x{columns}x{dtype}{layout}>"


def row_memref(count: int, dtype: str) -> str:
    return f"memref<1x{count}x{dtype}>"


def memrefs(kernel: Kernel) -> dict[str, str]:
    """The parameters: their types by name."""
    found: dict[str, str] = {}
    for node in all_nodes(kernel["nodes"]):
        i, op = node["id"], node["op"]
        if op in ("load", "store", "atomic"):
            found[f"M{i}"] = memref(node["matrix"], node["t"])
        elif op in ("gather", "scatter"):
            found[f"M{i}"] = row_memref(node["count"], node["t"])
            found[f"P{i}"] = f"memref<{node['shape'][0]}x{node['shape'][1]}xi32>"
            found[f"K{i}"] = f"memref<{node['shape'][0]}x{node['shape'][1]}xi8>"
    return found


class Text(node_text.Text):
    """The lines of a kernel's body."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(memrefs(kernel))
        self.trip: str | None = None
        self.carried: dict[int, str] = {}
        self.lines += ["%bx = gpu.block_id x", "%by = gpu.block_id y"]
        self.nodes(kernel["nodes"])

    def set(self, node: Node, text: str) -> None:
        """The node's value; @map in `text` stands for its map."""
        given = f" {{wg_map = {map_text(node['map'])}}}" if node.get("map") else ""
        self.lines.append(f"%v{node['id']} = {text.replace('@map', given)}")

    def place(self, node: Node, trips: str | None = None) -> str:
        """Offsets of the workgroup's tile."""
        found = []
        for block, size, plus, by in zip(
            ("%bx", "%by"), node["shape"], node["at"], node.get("by", [0, 0]), strict=True
        ):
            start = self.new(f"arith.muli {block}, {self.index(size)} : index")
            if plus:
                start = self.new(f"arith.addi {start}, {self.index(plus)} : index")
            if by and trips:
                start = self.new(
                    f"arith.addi {start}, {self.new(f'arith.muli {trips}, {self.index(by)} : index')} : index"
                )
            found.append(start)
        return ", ".join(found)

    def order(self, node: Node) -> dict[str, str]:
        return {"order": "[0, 1]"} if node["matrix"]["order"] == [0, 1] else {}

    def padding(self, node: Node) -> str:
        return f"{{padding = {literal(node['padding'], node['t'])} : {node['t']}}}"

    def tile_of(self, node: Node) -> str:
        return tile(node["shape"], node["t"], node["map"], **self.order(node))

    def write_load(self, node: Node) -> None:
        i, kind = node["id"], self.tile_of(node)
        if i in self.carried:
            name = self.carried[i]
        else:
            name = self.new(f"xetile.init_tile %M{i}[{self.place(node, self.trip)}] : {self.kinds[f'M{i}']} -> {kind}")
        if node["prefetch"] is not None:
            self.lines.append(f"xetile.prefetch_tile {name} locality<{node['prefetch']}> : {kind}")
        padding = (
            "" if node["padding"] is None else f" {{padding = {literal(node['padding'], node['t'])} : {node['t']}}}"
        )
        self.set(node, f"xetile.load_tile {name}{padding} : {kind} -> {self.kind(i)}")

    def write_transpose(self, node: Node) -> None:
        (x,) = node["in"]
        self.set(node, f"xetile.tile_transpose {self.name(x)}, [1, 0]@map : {self.kind(x)} -> {self.kind(node['id'])}")

    def write_convert(self, node: Node) -> None:
        self.set(node, f"xetile.tile_conv_layout {self.name(node['in'][0])}@map : {self.kind(node['id'])}")

    def write_cast(self, node: Node) -> None:
        (x,) = node["in"]
        self.set(node, f"vector.shape_cast {self.name(x)} : {self.kind(x)} to {self.kind(node['id'])}")

    def write_slice(self, node: Node) -> None:
        (x,) = node["in"]
        places = f"{{offsets = {node['at']}, sizes = {node['shape']}, strides = [1, 1]}}"
        kinds = f"{self.kind(x)} to {self.kind(node['id'])}"
        self.set(node, f"vector.extract_strided_slice {self.name(x)} {places} : {kinds}")

    def write_broadcast(self, node: Node) -> None:
        (x,) = node["in"]
        kinds = f"{self.kind(x)} -> {self.kind(node['id'])}"
        self.set(node, f"xetile.tile_broadcast {self.name(x)}, {node['dims']}@map : {kinds}")

    def write_reduce(self, node: Node) -> None:
        (x,) = node["in"]
        kinds = f"{self.kind(x)} -> {self.kind(node['id'])}"
        self.set(node, f"xetile.tile_reduce <{node['kind']}> {self.name(x)}, {node['dims']}@map : {kinds}")

    def write_mma(self, node: Node) -> None:
        names = ", ".join(self.name(i) for i in node["in"])
        kinds = ", ".join(self.kind(i) for i in node["in"])
        self.set(node, f"xetile.tile_mma {names}@map : {kinds} -> {self.kind(node['id'])}")

    def write_table(self, node: Node) -> None:
        rows = ", ".join("[" + ", ".join(literal(x, node["t"]) for x in row) + "]" for row in node["values"])
        self.set(node, f"arith.constant dense<[{rows}]> : {self.kind(node['id'])}")

    def write_count(self, node: Node) -> None:
        columns = node["shape"][1]
        step = self.new(f"vector.step : vector<{columns}xindex>")
        row = self.new(f"vector.shape_cast {step} : vector<{columns}xindex> to vector<1x{columns}xindex>")
        self.set(node, f"arith.index_cast {row} : vector<1x{columns}xindex> to {self.kind(node['id'])}")

    def write_shared(self, node: Node) -> None:
        (x,), i = node["in"], node["id"]
        (rows, columns), dtype = self.types[x]
        kind = f"memref<{rows}x{columns}x{dtype}, 3>"
        space = {"memory_space": "slm"}
        to, back = tile([rows, columns], dtype, node["map"], **space), tile(node["shape"], dtype, node["back"], **space)
        self.lines.append("gpu.barrier")  # in a loop, after the reads of the trip before
        self.lines.append(f"%t{i} = xetile.init_tile %S{i}[0, 0] : {kind} -> {to}")
        self.lines.append(f"xetile.store_tile {self.name(x)}, %t{i} : {self.kind(x)}, {to}")
        self.lines.append("gpu.barrier")
        name = self.new(f"xetile.init_tile %S{i}[{self.indices(node['at'])}] : {kind} -> {back}")
        self.set(node, f"xetile.load_tile {name} : {back} -> {self.kind(i)}")
        self.lines.insert(0, f"%S{i} = memref.alloca() : {kind}")

    def write_packed(self, node: Node) -> None:
        (x,) = node["in"]
        (rows, columns), (r, c) = node["shape"], node["blocks"]
        shape = lambda t: f"vector<{rows // r}x{columns // c}x{r}x{c}x{t}>"  # noqa: E731
        flat, dtype = self.types[x]
        blocks = f"{{inner_blocks = array<i64: {r}, {c}>}}"
        name = self.new(f"xetile.tile_pack {self.name(x)} {blocks} : {vector(flat, dtype)} -> {shape(dtype)}")
        result = self.emit(node, [name], shape)
        self.set(node, f"xetile.tile_unpack {result} {blocks} : {shape(node['t'])} -> {self.kind(node['id'])}")

    def places(self, node: Node) -> tuple[str, str, str, str]:
        """A tile of scattered elements, the mask, their types."""
        i, shape = node["id"], node["shape"]
        loaded = []
        for name, dtype in (("P", "i32"), ("K", "i8")):
            kind = tile(shape, dtype)
            window = self.new(f"xetile.init_tile %{name}{i}[0, 0] : {self.kinds[f'{name}{i}']} -> {kind}")
            loaded.append(self.new(f"xetile.load_tile {window} : {kind} -> {vector(shape, dtype)}"))
        zero = self.new(f"arith.constant dense<0> : {vector(shape, 'i8')}")
        mask = self.new(f"arith.cmpi ne, {loaded[1]}, {zero} : {vector(shape, 'i8')}")
        indices = self.new(f"arith.index_cast {loaded[0]} : {vector(shape, 'i32')} to {vector(shape, 'index')}")
        start = self.new(f"memref.extract_aligned_pointer_as_index %M{i} : {self.kinds[f'M{i}']} -> index")
        address = self.new(f"arith.index_cast {start} : index to i64")
        kind = tile(shape, node["t"], node["map"], scatter="true")
        name = self.new(f"xetile.init_tile {address}, {indices} : i64, {vector(shape, 'index')} -> {kind}")
        return name, mask, kind, vector(shape, "i1")

    def write_gather(self, node: Node) -> None:
        name, mask, kind, bits = self.places(node)
        text = f"xetile.load_gather {name}, {mask} {self.padding(node)} : {kind}, {bits} -> {self.kind(node['id'])}"
        self.set(node, text)

    def write_scatter(self, node: Node) -> None:
        (x,) = node["in"]
        name, mask, kind, bits = self.places(node)
        self.lines.append(f"xetile.store_scatter {self.name(x)}, {mask}, {name} : {self.kind(x)}, {bits}, {kind}")

    def write_store(self, node: Node) -> None:
        i, kind = node["id"], self.tile_of(node)
        name = self.new(f"xetile.init_tile %M{i}[{self.place(node)}] : {self.kinds[f'M{i}']} -> {kind}")
        self.lines.append(
            f"xetile.store_tile {self.name(node['in'][0])}, {name} : {vector(node['shape'], node['t'])}, {kind}"
        )

    def write_atomic(self, node: Node) -> None:
        i, kind = node["id"], self.tile_of(node)
        at = self.indices(node["at"])
        name = self.new(f"xetile.init_tile %M{i}[{at}] : {self.kinds[f'M{i}']} -> {kind}")
        value = vector(node["shape"], node["t"])
        text = (
            f"xetile.atomic_rmw_tile <{node['kind']}> {self.name(node['in'][0])}, {name} : {value}, {kind} -> {value}"
        )
        self.set(node, text)

    def write_loop(self, node: Node) -> None:
        i, kind = node["id"], self.kind(node["id"])
        carried = [n for n in node["nodes"] if n["op"] == "load" and n["carried"]]
        tiles = [self.tile_of(n) for n in carried]
        starts = []
        for load, name in zip(carried, tiles, strict=True):
            matrix = f"M{load['id']}"
            starts.append(self.new(f"xetile.init_tile %{matrix}[{self.place(load)}] : {self.kinds[matrix]} -> {name}"))
        zero, one, end = self.index(0), self.index(1), self.index(node["trips"])
        values = [f"%v{node['arg']} = {self.name(node['init'])}"]
        values += [f"%t{load['id']} = {start}" for load, start in zip(carried, starts, strict=True)]
        kinds = ", ".join([kind, *tiles])
        result = f"%l{i}:{1 + len(carried)}" if carried else f"%l{i}"
        self.lines.append(
            f"{result} = scf.for %i{i} = {zero} to {end} step {one} iter_args({', '.join(values)}) -> ({kinds}) {{"
        )
        self.types[node["arg"]] = self.types[i]
        outer, self.trip = self.trip, f"%i{i}"
        self.carried |= {load["id"]: f"%t{load['id']}" for load in carried}
        self.nodes(node["nodes"])
        moved = []
        for load, name in zip(carried, tiles, strict=True):
            by = self.indices(load["by"])
            moved.append(self.new(f"xetile.update_tile_offset %t{load['id']}, [{by}] : {name}"))
        self.lines.append(f"scf.yield {', '.join([self.name(node['yield']), *moved])} : {kinds}\n}}")
        self.trip = outer
        self.names[i] = f"%l{i}#0" if carried else f"%l{i}"

    def write_if(self, node: Node) -> None:
        self.branch(node, self.new(f"arith.cmpi eq, %bx, {self.index(0)} : index"))


def body(kernel: Kernel) -> str:
    return "\n".join(Text(kernel).lines)
