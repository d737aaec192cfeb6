# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of XeGPU on a subgroup's vectors as plain data, and their text.

A function is {"nodes": [node, ...]}, as in `workgroup_text`: a node gives the value of its number `id` from those of
`in`.
  load       `matrix` {"size", "pitch"}, `at`, `by` {"nd", "vector", "transfer", "descriptor"}, `turned`, `padding`
  gather     elements at `count` places of a row, chunks of `chunk`, by offsets or by a descriptor (`by`), where a mask
             allows, else `padding`
  body       `expr` (expressions.py) of its operands, element by element
  narrow     `kind` of the last `bits` of an integer and `by`, extended as `signed` says
  transpose `order`, reduce `dims` `kind` onto the second operand, broadcast, cast (vector.shape_cast), bitcast
  slice, put `at`: vector.extract_strided_slice and insert_strided_slice;  extract, insert: of a row, or `at` of the run
  interleave, part (of vector.deinterleave) `number`, shuffle `order`, dpas
  table `values`, count, mask `inside`
  shared     stored to a matrix in shared local memory that lies as `layout` says, and part of it loaded
  loop       `trips` of `nodes`, which begin with `init` as value `arg` and end with `yield`;  if: `nodes` that end with
             `yield` where `taken`, else `other`
and without a value
  store      as load;  scatter: to permuted places where a mask allows;  atomic: `kind`
"""

from __future__ import annotations

import node_text
from expressions import literal
from node_text import vector
from nodes import Node, all_nodes

Function = dict


def memref(matrix: dict, dtype: str) -> str:
    size, pitch = matrix["size"], matrix["pitch"]
    layout = f", strided<[{pitch}, 1]>" if len(size) == 2 and pitch != size[1] else ""
    return f"memref<{'x'.join(map(str, size))}x{dtype}{layout}>"


def memrefs(function: Function) -> dict[str, str]:
    """The parameters: their types by name."""
    found: dict[str, str] = {}
    for node in all_nodes(function["nodes"]):
        i, op = node["id"], node["op"]
        if op in ("load", "store"):
            found[f"M{i}"] = memref(node["matrix"], node["t"])
        elif op in ("gather", "scatter", "atomic"):
            places = "x".join(map(str, places_shape(node)))
            found[f"M{i}"] = f"memref<{node['count']}x{node['t']}>"
            found[f"P{i}"] = f"memref<{places}xi32>"
            found[f"K{i}"] = f"memref<{places}xi8>"
    return found


def places_shape(node: Node) -> list[int]:
    """The shape of the offsets: that of the value without its chunks."""
    return node["shape"][:-1] if node.get("chunk", 1) > 1 else node["shape"]


class Text(node_text.Text):
    """The lines of a function's body."""

    def __init__(self, function: Function) -> None:
        super().__init__(memrefs(function))
        self.nodes(function["nodes"])

    # Memory

    def descriptor(self, node: Node) -> tuple[str, str]:
        """A descriptor of the node's tile without offsets, and its type."""
        i, shape = node["id"], node["shape"][::-1] if node.get("turned") else node["shape"]
        kind = f"!xegpu.tensor_desc<{'x'.join(map(str, shape))}x{node['t']}>"
        return self.new(f"xegpu.create_nd_tdesc %M{i} : {self.kinds[f'M{i}']} -> {kind}"), kind

    def transfer(self, node: Node) -> tuple[str, str, str]:
        """Where a transfer is, its attributes, the memref's type."""
        name = f"M{node['id']}"
        turned = "permutation_map = affine_map<(d0, d1) -> (d1, d0)>" if node.get("turned") else ""
        return f"%{name}[{self.indices(node['at'])}]", f" {{{turned}}}" if turned else "", self.kinds[name]

    def write_load(self, node: Node) -> None:
        i, by = node["id"], node["by"]
        if by == "vector":
            self.set(node, f"vector.load %M{i}[{self.indices(node['at'])}] : {self.kinds[f'M{i}']}, {self.kind(i)}")
        elif by == "transfer":
            place, attributes, kind = self.transfer(node)
            padding = self.new(f"arith.constant {literal(node['padding'], node['t'])} : {node['t']}")
            self.set(node, f"vector.transfer_read {place}, {padding}{attributes} : {kind}, {self.kind(i)}")
        else:
            name, kind = self.descriptor(node)
            place = f"[{self.indices(node['at'])}]"
            if by == "descriptor":  # the offsets in it
                name = self.new(f"xegpu.update_nd_offset {name}, {place} : {kind}")
                place = f"[{', '.join(['0'] * len(node['at']))}]"
            self.lines.append(f"xegpu.prefetch_nd {name}{place} : {kind}")
            turned = " <{transpose = array<i64: 1, 0>}>" if node["turned"] else ""
            self.set(node, f"xegpu.load_nd {name}{place}{turned} : {kind} -> {self.kind(i)}")

    def write_store(self, node: Node) -> None:
        (x,), by, i = node["in"], node["by"], node["id"]
        if by == "vector":
            place = f"%M{i}[{self.indices(node['at'])}]"
            self.lines.append(f"vector.store {self.name(x)}, {place} : {self.kinds[f'M{i}']}, {self.kind(x)}")
        elif by == "transfer":
            place, attributes, kind = self.transfer(node)
            text = f"vector.transfer_write {self.name(x)}, {place}{attributes} : {self.kind(x)}, {kind}"
            self.lines.append(text)
        else:
            name, kind = self.descriptor(node)
            place = self.indices(node["at"])
            self.lines.append(f"xegpu.store_nd {self.name(x)}, {name}[{place}] : {self.kind(x)}, {kind}")

    def places(self, node: Node) -> tuple[str, str, str, str]:
        """Offsets and mask, and their types."""
        i, shape = node["id"], places_shape(node)
        zeros = self.indices([0] * len(shape))
        loaded = self.new(f"vector.load %P{i}[{zeros}] : {self.kinds[f'P{i}']}, {vector(shape, 'i32')}")
        bytes_ = self.new(f"vector.load %K{i}[{zeros}] : {self.kinds[f'K{i}']}, {vector(shape, 'i8')}")
        none = self.new(f"arith.constant dense<0> : {vector(shape, 'i8')}")
        mask = self.new(f"arith.cmpi ne, {bytes_}, {none} : {vector(shape, 'i8')}")
        offsets = self.new(f"arith.index_cast {loaded} : {vector(shape, 'i32')} to {vector(shape, 'index')}")
        return offsets, mask, vector(shape, "index"), vector(shape, "i1")

    def scattered(self, node: Node, offsets: str, index: str) -> tuple[str, str]:
        """A descriptor of scattered elements and its type."""
        i, chunk = node["id"], node.get("chunk", 1)
        attribute = f"chunk_size = {chunk} : i64" if chunk > 1 else ""
        shape = "x".join(map(str, node["shape"]))
        kind = f"!xegpu.tensor_desc<{shape}x{node['t']}, #xegpu.scatter_tdesc_attr<{attribute}>>"
        return self.new(f"xegpu.create_tdesc %M{i}, {offsets} : {self.kinds[f'M{i}']}, {index} -> {kind}"), kind

    def write_gather(self, node: Node) -> None:
        i = node["id"]
        offsets, mask, index, bits = self.places(node)
        chunk = f" <{{chunk_size = {node['chunk']} : i64}}>" if node["chunk"] > 1 else ""
        if node["by"] == "descriptor":
            name, kind = self.scattered(node, offsets, index)
            found = self.new(f"xegpu.load {name}, {mask} : {kind}, {bits} -> {self.kind(i)}")
        else:
            kinds = f"{self.kinds[f'M{i}']}, {index}, {bits} -> {self.kind(i)}"
            found = self.new(f"xegpu.load %M{i}[{offsets}], {mask}{chunk} : {kinds}")
        if node["chunk"] > 1:  # every lane has its chunk
            self.names[i] = found
            return
        other = self.new(f"arith.constant dense<{literal(node['padding'], node['t'])}> : {self.kind(i)}")
        self.set(node, f"arith.select {mask}, {found}, {other} : {bits}, {self.kind(i)}")

    def write_scatter(self, node: Node) -> None:
        (x,), i = node["in"], node["id"]
        offsets, mask, index, bits = self.places(node)
        chunk = f" <{{chunk_size = {node['chunk']} : i64}}>" if node["chunk"] > 1 else ""
        if node["by"] == "descriptor":
            name, kind = self.scattered(node, offsets, index)
            self.lines.append(f"xegpu.store {self.name(x)}, {name}, {mask} : {self.kind(x)}, {kind}, {bits}")
        else:
            kinds = f"{self.kind(x)}, {self.kinds[f'M{i}']}, {index}, {bits}"
            self.lines.append(f"xegpu.store {self.name(x)}, %M{i}[{offsets}], {mask}{chunk} : {kinds}")

    def write_atomic(self, node: Node) -> None:
        (x,) = node["in"]
        offsets, mask, index, bits = self.places(node)
        name, kind = self.scattered(node, offsets, index)
        kinds = f"{kind}, {bits}, {self.kind(x)} -> {self.kind(x)}"
        self.new(f"xegpu.atomic_rmw {node['kind']} {name}, {mask}, {self.name(x)} : {kinds}")

    def write_shared(self, node: Node) -> None:
        (x,), i = node["in"], node["id"]
        (rows, columns), dtype = self.types[x]
        layouts = {"": "", "columns": f", #xegpu.mem_layout<stride = [1, {rows}]>"}
        kind = f"!xegpu.mem_desc<{rows}x{columns}x{dtype}{layouts[node['layout']]}>"
        memory = f"memref<{rows * columns}x{dtype}, 3>"
        self.lines.insert(0, f"%S{i} = memref.alloca() : {memory}")
        name = self.new(f"xegpu.create_mem_desc %S{i} : {memory} -> {kind}")
        self.lines.append("gpu.barrier")
        self.lines.append(f"xegpu.store_matrix {self.name(x)}, {name}[0, 0] : {self.kind(x)}, {kind}")
        self.lines.append("gpu.barrier")
        at = self.indices(node["at"])
        self.set(node, f"xegpu.load_matrix {name}[{at}] : {kind}, index, index -> {self.kind(i)}")

    # Registers

    def unary(self, node: Node, text: str, word: str = "to") -> None:
        (x,) = node["in"]
        self.set(node, f"{text.replace('@', self.name(x))} : {self.kind(x)} {word} {self.kind(node['id'])}")

    def write_narrow(self, node: Node) -> None:
        (x,) = node["in"]
        wide, narrow = self.kind(x), vector(node["shape"], f"i{node['bits']}")
        cut = self.new(f"arith.trunci {self.name(x)} : {wide} to {narrow}")
        by = self.new(f"arith.constant dense<{node['by']}> : {narrow}")
        made = self.new(f"arith.{node['kind']} {cut}, {by} : {narrow}")
        self.set(node, f"arith.{'extsi' if node['signed'] else 'extui'} {made} : {narrow} to {wide}")

    def write_transpose(self, node: Node) -> None:
        self.unary(node, f"vector.transpose @, {node['order']}")

    def write_broadcast(self, node: Node) -> None:
        self.unary(node, "vector.broadcast @")

    def write_cast(self, node: Node) -> None:
        self.unary(node, "vector.shape_cast @")

    def write_bitcast(self, node: Node) -> None:
        self.unary(node, "vector.bitcast @")

    def write_reduce(self, node: Node) -> None:
        x, start = node["in"]
        text = f"vector.multi_reduction <{node['kind']}>, {self.name(x)}, {self.name(start)} {node['dims']}"
        self.set(node, f"{text} : {self.kind(x)} to {self.kind(node['id'])}")

    def write_slice(self, node: Node) -> None:
        ones = [1] * len(node["at"])
        where = f"{{offsets = {node['at']}, sizes = {node['shape']}, strides = {ones}}}"
        self.unary(node, f"vector.extract_strided_slice @ {where}")

    def write_put(self, node: Node) -> None:
        x, into = node["in"]
        where = f"{{offsets = {node['at']}, strides = {[1] * len(self.types[x][0])}}}"
        text = f"vector.insert_strided_slice {self.name(x)}, {self.name(into)} {where}"
        self.set(node, f"{text} : {self.kind(x)} into {self.kind(node['id'])}")

    def write_extract(self, node: Node) -> None:
        (x,) = node["in"]
        self.set(node, f"vector.extract {self.name(x)}{node['at']} : {self.kind(node['id'])} from {self.kind(x)}")

    def write_insert(self, node: Node) -> None:
        x, into = node["in"]
        text = f"vector.insert {self.name(x)}, {self.name(into)} {node['at']}"
        self.set(node, f"{text} : {self.kind(x)} into {self.kind(node['id'])}")

    def write_interleave(self, node: Node) -> None:
        x, y = node["in"]
        self.set(node, f"vector.interleave {self.name(x)}, {self.name(y)} : {self.kind(x)} -> {self.kind(node['id'])}")

    def write_part(self, node: Node) -> None:
        (x,), i = node["in"], node["id"]
        names = [f"%v{i}", f"%d{i}"][:: -1 if node["number"] else 1]
        text = f"vector.deinterleave {self.name(x)} : {self.kind(x)} -> {self.kind(i)}"
        self.lines.append(f"{names[0]}, {names[1]} = {text}")

    def write_shuffle(self, node: Node) -> None:
        x, y = node["in"]
        kinds = f"{self.kind(x)}, {self.kind(y)}"
        self.set(node, f"vector.shuffle {self.name(x)}, {self.name(y)} {node['order']} : {kinds}")

    def write_dpas(self, node: Node) -> None:
        names = ", ".join(self.name(i) for i in node["in"])
        kinds = ", ".join(self.kind(i) for i in node["in"])
        self.set(node, f"xegpu.dpas {names} : {kinds} -> {self.kind(node['id'])}")

    def write_table(self, node: Node) -> None:
        text = ", ".join(literal(value, node["t"]) for value in node["values"])
        flat = self.new(f"arith.constant dense<[{text}]> : vector<{len(node['values'])}x{node['t']}>")
        self.set(
            node, f"vector.shape_cast {flat} : vector<{len(node['values'])}x{node['t']}> to {self.kind(node['id'])}"
        )

    def write_count(self, node: Node) -> None:
        (count,) = node["shape"]
        step = self.new(f"vector.step : vector<{count}xindex>")
        self.set(node, f"arith.index_cast {step} : vector<{count}xindex> to {self.kind(node['id'])}")

    def write_loop(self, node: Node) -> None:
        i, kind = node["id"], self.kind(node["id"])
        zero, one, end = self.index(0), self.index(1), self.index(node["trips"])
        start = f"%v{node['arg']} = {self.name(node['init'])}"
        self.lines.append(f"%v{i} = scf.for %i{i} = {zero} to {end} step {one} iter_args({start}) -> ({kind}) {{")
        self.types[node["arg"]] = self.types[i]
        self.nodes(node["nodes"])
        self.lines.append(f"scf.yield {self.name(node['yield'])} : {kind}\n}}")

    def write_if(self, node: Node) -> None:
        block = self.new("gpu.block_id x")
        self.branch(node, self.new(f"arith.cmpi {'eq' if node['taken'] else 'ne'}, {block}, {self.index(0)} : index"))


def body(function: Function) -> str:
    return "\n".join(Text(function).lines)
