# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions on tensors as plain data: their types, their text in MLIR, their meaning in NumPy.

A program is `{"args": [...], "nodes": [...], "results": [...]}`. Values are numbered, arguments first.
An argument is `{"t": "f32", "s": [dim, ...]}`, or with `"s": None` a scalar. A dim is `[constant, name, ...]`, the sum
of its parts: `[3]` is 3, `[2, "x"]` is x + 2. Names are sizes that the module does not know. A node is `{"op": name,
"in": [values], ...}`; OPS has what each one computes. Loops and branches around all of it are its `around` (looped.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import looped
import numpy as np
import tensor_linalg
import tensor_shapes
from bounded import Bounded
from tensor_types import Op, Type, Writer, dims, require

OPS: dict[str, Op] = tensor_linalg.OPS | tensor_shapes.OPS


def argument_types(program: Mapping[str, Any]) -> list[Type]:
    return [Type(a["t"], None if a["s"] is None else dims(a["s"])) for a in program["args"]]


def infer(program: Mapping[str, Any]) -> list[Type]:
    """The types of all values; Invalid for what is no program."""
    types = argument_types(program)
    for node in program["nodes"]:
        require(node["op"] in OPS and all(0 <= i < len(types) for i in node["in"]))
        kind = OPS[node["op"]].infer(node, [types[i] for i in node["in"]])
        # A size may be a sum with a negative constant, but names that cancel have no meaning.
        require(all(dim[0] >= 0 or len(dim) > 1 for dim in kind.shape or ()))
        types.append(kind)
    require(program["results"] and all(0 <= i < len(types) for i in program["results"]))
    if "around" in program:
        looped.check(program["around"], types[: len(program["args"])], [types[i] for i in program["results"]])
    return types


def write(program: Mapping[str, Any]) -> str:
    """The function in MLIR."""
    types = infer(program)
    count = len(program["args"])
    writer = Writer(types, [f"%arg{i}" for i in range(count)])
    for number, kind in enumerate(types[:count]):
        for axis, dim in enumerate(kind.shape or ()):
            if len(dim) == 2 and dim[0] == 0:
                writer.places.setdefault(dim[1], (number, axis))
    for node, kind in zip(program["nodes"], types[count:], strict=True):
        inputs = node["in"]
        name = OPS[node["op"]].write(node, [types[i] for i in inputs], kind, [writer.names[i] for i in inputs], writer)
        writer.names.append(name)
    arguments = ", ".join(f"{writer.names[i]}: {types[i]}" for i in range(count))
    results = program["results"]
    kinds = ", ".join(str(types[i]) for i in results)
    body = "\n".join("  " + line for text in writer.lines for line in text.split("\n"))
    if "around" in program:
        found = [types[i] for i in results]
        return looped.write(program["around"], types[:count], found, [writer.names[i] for i in results], body)
    names = ", ".join(writer.names[i] for i in results)
    return f"func.func @f({arguments}) -> ({kinds}) {{\n{body}\n  return {names} : {kinds}\n}}\n"


def live(program: Mapping[str, Any]) -> set[int]:
    """The values that a result depends on."""
    found, count = set(program["results"]), len(program["args"])
    for number in range(count + len(program["nodes"]) - 1, count - 1, -1):
        if number in found:
            found |= set(program["nodes"][number - count]["in"])
    return found


def compute(program: Mapping[str, Any], arrays: list[np.ndarray]) -> list[Bounded]:
    """The results for arrays as arguments; Mismatch if their sizes do not fit each other."""
    if "around" not in program:
        return _compute(program, arrays)
    types = infer(program)
    step = {key: part for key, part in program.items() if key != "around"}
    found = [types[i] for i in program["results"]]
    return looped.compute(program["around"], found, arrays, lambda values: _compute(step, values))


def _compute(program: Mapping[str, Any], arrays: list[Any]) -> list[Bounded]:
    types, count, needed = infer(program), len(program["args"]), live(program)
    sizes: dict[str, int] = {}
    for kind, array in zip(types[:count], arrays, strict=True):
        for axis, dim in enumerate(kind.shape or ()):
            if len(dim) == 2 and dim[0] == 0:
                sizes.setdefault(dim[1], np.shape(array)[axis])
    values: list[Any] = [
        array if isinstance(array, Bounded) else Bounded.exact(kind.dtype, array)
        for kind, array in zip(types[:count], arrays, strict=True)
    ]
    for number, node in enumerate(program["nodes"], count):
        inputs = [values[i] for i in node["in"]]
        values.append(OPS[node["op"]].compute(node, inputs, types[number], sizes) if number in needed else None)
    return [values[i] for i in program["results"]]
