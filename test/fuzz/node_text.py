# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of programs of nodes (nodes.py): what `workgroup_text` and `subgroup_text` have in common."""

from __future__ import annotations

from collections.abc import Callable

from expressions import Emitter
from nodes import Node


def vector(shape: list[int], dtype: str) -> str:
    return f"vector<{'x'.join(map(str, shape))}x{dtype}>"


class Text:
    """The lines of a program's body. A subclass has a `write_OP` for each operation."""

    def __init__(self, kinds: dict[str, str]) -> None:
        """`kinds`: the types of the parameters by name."""
        self.kinds = kinds
        self.lines: list[str] = []
        self.types: dict[int, tuple[list[int], str]] = {}
        self.names: dict[int, str] = {}
        self.count = 0

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%x{self.count} = {text}")
        return f"%x{self.count}"

    def index(self, value: int) -> str:
        return self.new(f"arith.constant {value} : index")

    def indices(self, values: list[int]) -> str:
        return ", ".join(self.index(value) for value in values)

    def nodes(self, nodes: list[Node]) -> None:
        for node in nodes:
            if "t" in node:
                self.types[node["id"]] = (node["shape"], node["t"])
            getattr(self, "write_" + node["op"])(node)

    def kind(self, value: int) -> str:
        return vector(*self.types[value])

    def name(self, value: int) -> str:
        return self.names.get(value, f"%v{value}")

    def set(self, node: Node, text: str) -> None:
        self.lines.append(f"%v{node['id']} = {text}")

    def emit(self, node: Node, names: list[str], shape: Callable[[str], str]) -> str:
        """The node's expression of operands of these names, on vectors of that spelling."""
        self.count += 1
        emitter = Emitter(f"e{self.count}_", shape)
        name = emitter.emit(node["expr"], names, [self.types[i][1] for i in node["in"]], None, 0)
        self.lines += emitter.lines
        return name

    def write_body(self, node: Node) -> None:
        names = [self.name(i) for i in node["in"]]
        self.names[node["id"]] = self.emit(node, names, lambda dtype: vector(node["shape"], dtype))

    def write_mask(self, node: Node) -> None:
        self.set(node, f"vector.create_mask {self.indices(node['inside'])} : {self.kind(node['id'])}")

    def branch(self, node: Node, condition: str) -> None:
        i, kind = node["id"], self.kind(node["id"])
        self.lines.append(f"%v{i} = scf.if {condition} -> ({kind}) {{")
        self.nodes(node["nodes"])
        self.lines.append(f"scf.yield {self.name(node['yield'])} : {kind}\n}} else {{")
        self.lines.append(f"scf.yield {self.name(node['other'])} : {kind}\n}}")
