# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of nodes as plain data: what `workgroup_text` and `subgroup_text` have in common.

A node gives the value of its number `id` from those of `in`; it has `op`, and mostly `shape` and `t`. Those of `nodes`
are loops and branches: `arg` is the value that a loop begins a trip with, `init` that of its first, `yield` what their
nodes end with, `other` what a branch gives else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from expressions import Invalid, result_type
from xetile_kernel import reads

Node = dict[str, Any]
# What changes a matrix, and what of that gives no value in any program.
EFFECTS = ("store", "scatter", "atomic")
WITHOUT_VALUE = ("store", "scatter")


def all_nodes(nodes: list[Node]) -> Iterator[Node]:
    """Those of loops and branches, too, before them."""
    for node in nodes:
        yield from all_nodes(node.get("nodes", []))
        yield node


def uses(node: Node) -> list[int]:
    """The values that a node reads, those in its region included."""
    found = list(node.get("in", []))
    found += [node[key] for key in ("init", "yield", "other") if key in node]
    return found + [i for inner in node.get("nodes", []) for i in uses(inner)]


def with_what_is_read(node: Node) -> Node:
    """The operands of an expression that it reads, and their new numbers in it."""
    if node["op"] != "body":
        return node
    kept = [i for i in range(len(node["in"])) if reads(node["expr"], i)]

    def change(expr: list) -> list:
        if expr[0] == "in":
            return ["in", kept.index(expr[1])]
        return [change(part) if isinstance(part, list) else part for part in expr]

    return node | {"in": [node["in"][i] for i in kept], "expr": change(node["expr"])}


def without_unused(nodes: list[Node], needed: set[int] | None = None) -> list[Node]:
    """Only what a store needs: nothing tells the map of a value that nobody reads."""
    kept: list[Node] = []
    needed = set(needed or ())
    for node in reversed(nodes):
        if node["op"] in EFFECTS or node["id"] in needed:
            node = with_what_is_read(node)
            if "nodes" in node:
                node = node | {"nodes": without_unused(node["nodes"], {node["yield"]})}
            needed |= set(uses(node))
            kept.append(node)
    return kept[::-1]


def is_complete(nodes: list[Node], known: dict[int, str] | None = None) -> bool:
    """Whether each value that is read was made before, and the expressions have their types."""
    known = dict(known or {})
    for node in nodes:
        if any(i not in known for i in [*node.get("in", []), *(node[k] for k in ("init", "other") if k in node)]):
            return False
        if node["op"] in ("body", "packed"):
            try:
                if result_type(node["expr"], [known[i] for i in node["in"]]) != node["t"]:
                    return False
            except Invalid:
                return False
        if "nodes" in node:
            inner = known | ({node["arg"]: node["t"]} if "arg" in node else {})
            made = {n["id"]: n["t"] for n in node["nodes"]}
            if not is_complete(node["nodes"], inner) or node["yield"] not in inner | made:
                return False
        known[node["id"]] = node["t"]
    return True


def smaller_programs(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Valid programs with less."""
    for candidate in _smaller(case):
        nodes = without_unused(candidate["nodes"])
        if nodes and candidate | {"nodes": nodes} != case and is_complete(nodes):
            yield candidate | {"nodes": nodes}


def _smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Programs with less; some lack what they read."""
    nodes = case["nodes"]
    for i, node in enumerate(nodes):
        yield case | {"nodes": nodes[:i] + nodes[i + 1 :]}
        # A node's operand, or any earlier value of its type, in its place: not what an atomic update gives back, which
        # has no value in a subgroup's program and depends on the order of the workgroups in others.
        for other in nodes[:i]:
            same = other.get("t") == node["t"] and other["shape"] == node["shape"]
            if same and other["op"] not in EFFECTS:
                rest = [_replaced(n, node["id"], other["id"]) for n in nodes[i + 1 :]]
                yield case | {"nodes": nodes[:i] + rest}
    for key, value in {"grid": [1, 1], "data": "integers", "chip": "pvc"}.items():
        if case.get(key, value) != value:
            yield case | {key: value}
    for i, node in enumerate(nodes):
        for change in _smaller_node(node):
            yield case | {"nodes": [*nodes[:i], change, *nodes[i + 1 :]]}


def _smaller_node(node: Node) -> Iterator[Node]:
    if node.get("matrix"):
        # A column-major matrix has its pitch along the columns, a turned tile its own shape.
        if "order" not in node["matrix"]:
            node = node | {"turned": False}
        plain = node["matrix"] | {"size": node["shape"], "pitch": node["shape"][-1]}
        if "order" in plain:
            plain["order"] = [1, 0]
        for change in ({"matrix": plain}, {"at": [0] * len(node["at"])}):
            if node | change != node:
                yield node | change
        if node["op"] == "load" and "order" in plain:
            for change in ({"padding": None}, {"prefetch": None}, {"by": [0, 0]}, {"carried": False}):
                if node | change != node:
                    yield node | change
        elif node.get("map") and node["op"] != "convert":
            shape = node["shape"]
            whole = [[1, node["map"][0][0] * node["map"][0][1]], shape]
            if node["map"] != whole:
                yield node | {"map": whole}
    elif node.get("map") and node["op"] != "convert":
        yield node | {"map": None}
    if node["op"] == "loop" and node["trips"] > 1:
        yield node | {"trips": 1}
    inside = node.get("nodes", [])
    for i, inner in enumerate(inside):
        yield node | {"nodes": inside[:i] + inside[i + 1 :]}
        for change in _smaller_node(inner):
            yield node | {"nodes": [*inside[:i], change, *inside[i + 1 :]]}
    if node["op"] == "body":
        for i, _ in enumerate(node["in"]):
            yield node | {"expr": ["in", i]}


def _replaced(node: Node, old: int, new: int) -> Node:
    """The node with another value in the place of one."""
    change: Node = {key: new for key in ("init", "yield", "other") if node.get(key) == old}
    if "in" in node:
        change["in"] = [new if i == old else i for i in node["in"]]
    if "nodes" in node:
        change["nodes"] = [_replaced(inner, old, new) for inner in node["nodes"]]
    return node | change
