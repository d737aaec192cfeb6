# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions on tensors, compiled for the CPU and compared with NumPy.

A case is a program (tensor_program.py), options of `cpu.compile`, and the calls of the one kernel: sizes of what the
module does not know, how the arrays lie in memory, sizes that do not fit each other, which must be refused.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from bounded import NUMPY, Bounded, is_float
from cpu_draw import draw_calls, draw_program
from data import draw_array
from expressions import Invalid, smaller
from messages import error_line
from tensor_program import argument_types, compute, infer, live, write
from tensor_types import Mismatch, Type, Undetermined, size_of

# What the compiler may refuse, and where that is documented. Everything else that it refuses is a finding.
REFUSALS = {
    # A configuration holds for all matmuls of the module and need not fit each of them (#xetile.matmul_config).
    "config": r"(MThreads|NThreads|KThreads|[MNK]Block|innermost[MNK]Block|threads) = -?\d+: expected ",
    # The schedule tiles every linalg.contract; the compiler's own choice leaves those alone that are no matmuls.
    "contract": r"cannot be tiled: expected (dimensions m, n and k|the inner dimensions of blocked operands)",
    # cpu.compile: results whose sizes are known at run time only are new arrays.
    "out": r"out: results of sizes known at run time only are new arrays",
}
LAYOUTS = ["C", "C", "C", "F", "strided", "reversed", "odd address", "read-only"]
DATA = ["normal", "normal", "normal", "integers", "special"]


class CpuPrograms:
    """A kind of the harness."""

    name = "cpu"
    time_limit = 20.0

    def prepare(self) -> None:
        import xetile  # noqa: F401
        from xetile import cpu

        self.cpu = cpu
        cpu.find_libomp()

    def generate(self, rng: random.Random) -> dict[str, Any]:
        program = draw_program(rng)
        calls = [
            call | {"layout": rng.choice(LAYOUTS), "data": rng.choice(DATA), "out": rng.random() < 0.25}
            for call in draw_calls(rng, program)
        ]
        return {"program": program, "options": _options(rng, program), "calls": calls, "seed": rng.randrange(10**6)}

    def check(self, case: dict[str, Any]) -> str | None:
        from harness import count
        from xetile import XeTileError, schedule
        from xetile.mlir import ir

        options = dict(case["options"])
        if "schedule" in options:
            options = {"schedule": schedule.load("cpu_matmul").with_params(**options["schedule"])}
        elif "model" in options:
            options = {"schedule": schedule.load("cpu_model").with_params(**options["model"])}
        try:
            with ir.Context():
                kernel = self.cpu.compile(ir.Module.parse(write(case["program"])), **options)
        except XeTileError as error:
            configured = case["options"].get("config") or case["options"].get("schedule")
            if configured and re.search(REFUSALS["config"], str(error)):
                count("refused configurations")
                return None
            contracts = any(node.get("style") == "contract" for node in case["program"]["nodes"])
            if "schedule" in case["options"] and contracts and re.search(REFUSALS["contract"], str(error)):
                count("refused contractions")
                return None
            return f"refused: {error_line(error)}\n{error}"
        for number, call in enumerate(case["calls"]):
            if wrong := self._call(kernel, case, number, call):
                return f"{wrong}\nin call {number}: {call}"
        return None

    def _call(self, kernel: Any, case: dict[str, Any], number: int, call: dict[str, Any]) -> str | None:
        from harness import count
        from xetile import XeTileError

        arrays = arguments(case, number)
        expected: list[Bounded] | None = None
        may_be_accepted = False
        try:
            expected = compute(case["program"], arrays)
        except Mismatch as mismatch:
            may_be_accepted = isinstance(mismatch, Undetermined)
        kept = [np.array(array, copy=True) for array in arrays]
        out = None
        if call["out"] and expected is not None:
            out = tuple(_poisoned(value.shape, value.dtype) for value in expected)
        try:
            results = kernel(*arrays, **({"out": out} if out else {}))
        except XeTileError as error:
            if "wrong" in call:
                count("refused sizes")
                return None
            if out and re.search(REFUSALS["out"], str(error)):
                return self._call(kernel, case, number, {**call, "out": False})
            return f"call refused: {error_line(error)}\n{error}"
        if expected is None:
            if may_be_accepted:
                count("sizes that a slice leaves open")
                return None
            return "sizes that do not fit each other were accepted"
        results = results if isinstance(results, tuple) else (results,)
        for array, before in zip(arrays, kept, strict=True):
            if np.asarray(array).tobytes() != before.tobytes():
                return "an argument was changed"
        if len(results) != len(expected):
            return f"{len(results)} results, expected {len(expected)}"
        for i, (result, value) in enumerate(zip(results, expected, strict=True)):
            if out and result is not out[i]:
                return "a result is not the array that was passed as out"
            if wrong := value.difference(np.asarray(result)):
                kind = "integers" if not is_float(value.dtype) else value.dtype
                return f"wrong result of {kind}: {error_line(wrong).split(';')[0]}\nresult {i}: {wrong}"
            others = [*arrays, *results[:i]]
            if any(isinstance(o, np.ndarray) and np.shares_memory(result, o) for o in others if np.ndim(result)):
                return "a result shares memory with another array"
        return None

    def reduced(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for candidate in _smaller_cases(case):
            try:
                types = infer(candidate["program"])
                write(candidate["program"])
            except (Invalid, IndexError, KeyError, ValueError):
                continue
            if candidate != case and all(
                size_of(dim, dict.fromkeys(dim[1:], 0) | call["sizes"]) >= 0
                for call in candidate["calls"]
                for kind in types
                for dim in kind.shape or ()
            ):
                yield candidate

    def describe(self, case: dict[str, Any]) -> str:
        lines = [f"  {json.dumps(call)}" for call in case["calls"]]
        return (
            f"{write(case['program'])}\noptions of cpu.compile: {case['options']}\ncalls:\n"
            + "\n".join(lines)
            + f"\n\nagain, from the project's root:\nPYTHONPATH=test/fuzz .venv/bin/python -c \"import cpu_programs; "
            f"cpu_programs.again()\" <<'CASE'\n{json.dumps(case)}\nCASE"
        )


def again() -> None:
    """Checks the case on the standard input, and prints what comes of it."""
    import sys

    kind = CpuPrograms()
    kind.prepare()
    case = json.load(sys.stdin)
    print(kind.describe(case).split("\n\nagain")[0])
    print(kind.check(case) or "all is well")


def _options(rng: random.Random, program: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {"threads": rng.choice([1, 1, 2, 2, 3, 4])}
    if rng.random() < 0.5:
        options["pack"] = rng.choice(["always", "never", "always"])
    if rng.random() < 0.2:
        options["fuse"] = False
    if rng.random() < 0.35:
        inner = {dim: rng.choice([1, 2, 4, 5, 8, 16, 24, 32]) for dim in "MNK"}
        config: dict[str, int] = {}
        for dim, size in inner.items():
            if rng.random() < 0.6:
                config[f"innermost{dim}Block"] = size
                if rng.random() < 0.7:
                    config[f"{dim}Block"] = size * rng.choice([1, 1, 2, 3])
            if rng.random() < 0.3:
                config[f"{dim}Threads"] = rng.choice([1, 1, 2])
        if rng.random() < 0.5:
            config["loopOrder"] = rng.randrange(6)
        options["config"] = config
    if rng.random() < 0.12 and any(node["op"] == "contract" for node in program["nodes"]):
        knobs = options.pop("config", {}) | {"threads": options["threads"], "pack": options.get("pack", "auto")}
        return {"schedule": knobs}
    if rng.random() < 0.2:
        model = {
            "threads": options["threads"],
            "pack": options.get("pack", "auto"),
            "rows": rng.choice([0, 1, 2, 3, 7]),
        }
        return {"model": model}
    return options


def arguments(case: dict[str, Any], number: int) -> list[Any]:
    """The arrays and numbers of a call."""
    call, made = case["calls"][number], []
    rng = np.random.default_rng((case["seed"], number))
    for i, kind in enumerate(argument_types(case["program"])):
        shape = None if kind.shape is None else [max(size_of(dim, call["sizes"]), 0) for dim in kind.shape]
        if shape is not None and call.get("wrong") and call["wrong"][0] == i:
            shape[call["wrong"][1]] = call["wrong"][2]
        values = draw_array(rng, tuple(shape or ()), kind.dtype, call["data"])
        made.append(values[()] if shape is None else _laid_out(values, call["layout"]))
    return made


def _laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """The same elements, otherwise placed in memory."""
    if layout == "F" and array.ndim:
        return np.asfortranarray(array)
    if layout == "strided":
        wide = np.zeros((*array.shape[:-1], array.shape[-1] * 2 if array.ndim else 1), array.dtype)
        if array.ndim:
            wide[..., ::2] = array
            return wide[..., ::2]
    if layout == "reversed" and array.ndim:
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "odd address" and array.ndim:
        shifted = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
        shifted[...] = array
        return shifted
    if layout == "read-only":
        array.flags.writeable = False
    return array


def _poisoned(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype == "i1":
        return np.full(shape, 0xAA, np.uint8).view(np.bool_)
    return np.full(shape, np.nan if is_float(dtype) else np.iinfo(NUMPY[dtype]).max - 3, NUMPY[dtype])


# Reduction


def _smaller_cases(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    program = case["program"]
    calls = case["calls"]
    for i in range(len(calls)):
        if len(calls) > 1:
            yield case | {"calls": [calls[i]]}
    for candidate in _smaller_programs(program):
        yield _with_program(case, candidate)
    if case["options"] != {"threads": 1}:
        yield case | {"options": {"threads": 1}}
    for key in case["options"]:
        if key not in ("config", "schedule"):
            yield case | {"options": {k: v for k, v in case["options"].items() if k != key}}
    for group in ("config", "schedule"):
        for key in case["options"].get(group, ()):
            less = {k: v for k, v in case["options"][group].items() if k != key}
            yield case | {"options": case["options"] | {group: less}}
    for i, call in enumerate(calls):
        plain = {"layout": "C", "data": "integers", "out": False}
        for key, value in plain.items():
            if call[key] != value:
                yield case | {"calls": [*calls[:i], call | {key: value}, *calls[i + 1 :]]}
        for name, size in call["sizes"].items():
            for less in sorted({0, 1, 2, size // 2, size - 1}):
                if 0 <= less < size:
                    sizes = call["sizes"] | {name: less}
                    yield case | {"calls": [*calls[:i], call | {"sizes": sizes}, *calls[i + 1 :]]}


def _with_program(case: dict[str, Any], program: dict[str, Any]) -> dict[str, Any]:
    """The case with another program, of which dead values are removed."""
    pruned, arguments = prune(program)
    calls = []
    for call in case["calls"]:
        if "wrong" in call:
            if call["wrong"][0] not in arguments:
                continue
            call = call | {"wrong": [arguments.index(call["wrong"][0]), *call["wrong"][1:]]}
        calls.append(call)
    return case | {"program": pruned, "calls": calls or [case["calls"][0] | {"wrong": [0, 0, 0]}]}


def prune(program: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """The program without values that no result depends on, and which arguments are left."""
    count, needed = len(program["args"]), sorted(live(program))
    place = {old: new for new, old in enumerate(needed)}
    kept = [i for i in needed if i < count]
    nodes = [program["nodes"][i - count] for i in needed if i >= count]
    return {
        "args": [program["args"][i] for i in kept],
        "nodes": [node | {"in": [place[i] for i in node["in"]]} for node in nodes],
        "results": [place[i] for i in program["results"]],
    }, kept


def _smaller_programs(program: dict[str, Any]) -> Iterator[dict[str, Any]]:
    count, types = len(program["args"]), infer(program)
    results = program["results"]
    if len(results) > 1:
        for i in range(len(results)):
            yield program | {"results": [results[i]]}
        for i in range(len(results)):
            yield program | {"results": results[:i] + results[i + 1 :]}
    # A value that is computed becomes a result, or an argument.
    for i in range(count, len(types)):
        if i not in results:
            yield program | {"results": [i]}
    for i in range(len(types) - 1, count - 1, -1):
        yield _cut(program, i - count, types[i])
    # A value in the place of another of its type, one of them computed.
    for i in range(count, len(types)):
        for j in range(i):
            if types[i] == types[j]:
                yield _renamed(program, i, j)
    names = sorted({name for kind in types for dim in kind.shape or () for name in dim[1:]})
    for name in names:
        for size in (1, 4):
            yield map_dims(program, partial(known, name=name, size=size))
    for i, node in enumerate(program["nodes"]):
        yield from (_replace(program, i, less) for less in _smaller_nodes(program, types, node))
    constants = sorted({dim[0] for kind in types for dim in kind.shape or () if dim[0] > 1}, reverse=True)
    for size in constants:
        for less in sorted({1, 2, size // 2, size - 1}):
            if 0 < less < size:
                yield map_dims(program, partial(_shrunk, size=size, less=less))
    elements = {a["t"] for a in program["args"]} | {node["t"] for node in program["nodes"] if "t" in node}
    for dtype in sorted(elements - {"f32"}):
        if is_float(dtype):
            yield json.loads(json.dumps(program).replace(f'"{dtype}"', '"f32"'))
        elif dtype != "i32":
            yield json.loads(json.dumps(program).replace(f'"{dtype}"', '"i32"'))


def known(dim: list, name: str, size: int) -> list:
    """The dim with a number in the place of a name."""
    return [dim[0] + size * dim[1:].count(name), *(other for other in dim[1:] if other != name)]


def _shrunk(dim: list, size: int, less: int) -> list:
    return [less if dim[0] == size else dim[0], *dim[1:]]


def _smaller_nodes(program: dict[str, Any], types: list[Type], node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "body" in node:
        inputs = [types[i].dtype for i in node["in"]]
        out = inputs[-1] if node.get("over") else None
        for body in smaller(node["body"], inputs, out, node.get("rank", 0)):
            yield node | {"body": body}
        for i in range(len(node["in"])):
            if node["op"] == "map" and len(node["in"]) > 1:
                less = _without_input(node, i)
                if less:
                    yield less
    if node["op"] == "contract":
        if len(node["in"]) == 3:
            yield {**node, "in": node["in"][:2], "fill": 0}
        if node.get("fill"):
            yield node | {"fill": 0}
        if node.get("unsigned"):
            yield {k: v for k, v in node.items() if k != "unsigned"}
    if node.get("style") in ("generic", "splat", "contract", "arith", "map"):
        for style in ("named", "fill", "reduce", "generic"):
            if style != node["style"]:
                yield node | {"style": style}


def _without_input(node: dict[str, Any], i: int) -> dict[str, Any] | None:
    """Without an input that the body does not read."""
    reads = re.findall(r'\["in", (\d+)\]', json.dumps(node["body"]))
    if str(i) in reads or (node.get("over") and i == len(node["in"]) - 1):
        return None

    def shift(expr: list) -> list:
        if expr[0] == "in":
            return ["in", expr[1] - (expr[1] > i)]
        return [shift(part) if isinstance(part, list) else part for part in expr]

    drop = lambda values: values[:i] + values[i + 1 :]  # noqa: E731
    return node | {"in": drop(node["in"]), "maps": drop(node["maps"]), "body": shift(node["body"])}


def _replace(program: dict[str, Any], i: int, node: dict[str, Any]) -> dict[str, Any]:
    return program | {"nodes": [*program["nodes"][:i], node, *program["nodes"][i + 1 :]]}


def _cut(program: dict[str, Any], i: int, kind: Type) -> dict[str, Any]:
    """Node `i` as an argument."""
    count = len(program["args"])

    def place(old: int) -> int:
        return count if old == count + i else old + (count <= old < count + i)

    argument = {"t": kind.dtype, "s": None if kind.shape is None else [list(dim) for dim in kind.shape]}
    nodes = program["nodes"][:i] + program["nodes"][i + 1 :]
    return {
        "args": [*program["args"], argument],
        "nodes": [node | {"in": [place(j) for j in node["in"]]} for node in nodes],
        "results": [place(j) for j in program["results"]],
    }


def _renamed(program: dict[str, Any], old: int, new: int) -> dict[str, Any]:
    change = lambda values: [new if i == old else i for i in values]  # noqa: E731
    nodes = [node | {"in": change(node["in"])} for node in program["nodes"]]
    return program | {"nodes": nodes, "results": change(program["results"])}


def map_dims(program: dict[str, Any], change: Any) -> dict[str, Any]:
    """Other sizes, wherever the program says some."""
    program = copy.deepcopy(program)
    for part in (*program["args"], *program["nodes"]):
        for key in ("s", "sizes"):
            if part.get(key) is not None:
                part[key] = [change(dim) for dim in part[key]]
        if part.get("dims") and isinstance(part["dims"], dict):
            part["dims"] = {letter: change(dim) for letter, dim in part["dims"].items()}
    return program


KIND = CpuPrograms()
__all__ = ["KIND", "CpuPrograms", "again"]
