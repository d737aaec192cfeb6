# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels of workgroup-level XeTile, stage by stage against NumPy.

A case is a kernel of `workgroup_text` and the stage that it is run at: by its meaning, distributed over subgroups, cut
into blocks, or as SPIR-V on the CPU's OpenCL device (`test/python/workgroups.py`). What a stage refuses must be among
`LIMITS`. Where a result is wrong, the stages before tell which one is the first to be.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import workgroup_meaning as meaning
import workgroup_text
from bounded import Bounded, is_float
from workgroup_draw import draw_kernel, without_unused
from workgroup_text import all_nodes

# How many of a hundred cases end at which stage, and how large a value is: later stages take longer.
STAGES = {"workgroup": 10, "subgroup": 40, "blocked": 25, "device": 25}
AREAS = {"workgroup": 512, "subgroup": 1024, "blocked": 512, "device": 256}
CHIPS = ["pvc", "pvc", "bmg", "lnl"]
# What may be refused, and where that is said.
LIMITS = {
    " bytes of registers ": "registers (xetile-blocking)",
}


class WorkgroupKernels:
    """A kind of the harness."""

    name = "workgroups"
    time_limit = 60.0
    memory = 6 << 30  # the OpenCL driver keeps what it compiled

    def prepare(self) -> None:
        # Programs are never found in a cache, and never kept.
        os.environ["XETILE_CACHE"] = os.devnull + "/none"
        # The portable versions of Intel's builtins link faster.
        os.environ["XETILE_BUILTINS"] = "portable"
        sys.path.append(str(Path(__file__).parents[1] / "python"))
        import workgroups

        self.workgroups = workgroups

    def generate(self, rng: random.Random) -> dict[str, Any]:
        stage = rng.choices(list(STAGES), list(STAGES.values()))[0]
        return draw_kernel(rng, AREAS[stage]) | {"stage": stage, "chip": rng.choice(CHIPS)}

    def check(self, case: dict[str, Any]) -> str | None:
        from harness import count

        count(case["stage"] + "s")
        for node in all_nodes(case["nodes"]):
            count("with " + node["op"])
        found = self._check_at(case, case["stage"])
        if found is None:
            return None
        for stage in STAGES:
            if stage == case["stage"]:
                break
            if (earlier := self._check_at(case, stage)) and not earlier.startswith("refused"):
                return earlier
        return found

    def kernel(self, case: dict[str, Any], given: dict[str, np.ndarray]) -> Any:
        return self.workgroups.Kernel(
            workgroup_text.body(case),
            given,
            case["subgroups"],
            grid=tuple(case["grid"]),
            chip=case["chip"],
            types=workgroup_text.memrefs(case),
        )

    def _check_at(self, case: dict[str, Any], stage: str) -> str | None:
        from harness import count
        from xetile import XeTileError

        given = meaning.arrays(case)
        kernel = self.kernel(case, given)
        rng = np.random.default_rng(case["seed"])
        try:
            result = self.workgroups.COLUMNS[stage](kernel, rng)
        except XeTileError as error:
            for words, limit in LIMITS.items():
                if words in str(error):
                    count("refused: " + limit)
                    return None
            return f"refused at stage {stage}: {_line(error)}\n{error}"
        expected = meaning.compute(case, given)
        for name, (value, written) in expected.items():
            # OpenCL's division has 2.5 units in the last place.
            error = np.where(written, value.error * (4 if stage == "device" else 1), 0.0)
            if wrong := Bounded(value.dtype, value.values, error).difference(result[name]):
                kind = "integers" if not is_float(value.dtype) else value.dtype
                return f"wrong result at stage {stage}: {kind}\nmatrix {name}: {wrong}"
        for name, array in given.items():
            if (
                name not in meaning.compute(case | {"grid": [0, 0]}, given)
                and array.tobytes() != result[name].tobytes()
            ):
                return f"a matrix was changed that the kernel only reads: {name}, stage {stage}"
        return None

    def reduced(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for candidate in smaller(case):
            nodes = without_unused(candidate["nodes"])
            if nodes and candidate | {"nodes": nodes} != case and is_complete(nodes):
                yield candidate | {"nodes": nodes}

    def describe(self, case: dict[str, Any]) -> str:
        kernel = self.kernel(case, meaning.arrays(case))
        pipeline = f"xetile-lower-to-binary{{chip={case['chip']} native=off}}"
        return (
            f"{kernel.launched()}\n// {pipeline}; stage {case['stage']}\n\n"
            "again, from the project's root:\nPYTHONPATH=test/fuzz .venv/bin/python -c "
            f"\"import workgroup_kernels; workgroup_kernels.again()\" <<'CASE'\n{json.dumps(case)}\nCASE"
        )


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Kernels with less; some lack what they read."""
    nodes = case["nodes"]
    for i, node in enumerate(nodes):
        yield case | {"nodes": nodes[:i] + nodes[i + 1 :]}
        # A node's operand, or any earlier value of its type, in its place.
        for other in nodes[:i]:
            if (
                other.get("t") == node["t"]
                and other["shape"] == node["shape"]
                and other["op"] not in ("store", "scatter")
            ):
                rest = [replaced(n, node["id"], other["id"]) for n in nodes[i + 1 :]]
                yield case | {"nodes": nodes[:i] + rest}
    for key, value in {"grid": [1, 1], "data": "integers", "chip": "pvc"}.items():
        if case.get(key, value) != value:
            yield case | {key: value}
    for i, node in enumerate(nodes):
        for change in smaller_node(node):
            yield case | {"nodes": [*nodes[:i], change, *nodes[i + 1 :]]}


def smaller_node(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
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
    for i, inner in enumerate(node.get("nodes", [])):
        inside = node["nodes"]
        yield node | {"nodes": inside[:i] + inside[i + 1 :]}
        for change in smaller_node(inner):
            yield node | {"nodes": [*inside[:i], change, *inside[i + 1 :]]}
    if node["op"] == "body":
        for i, _ in enumerate(node["in"]):
            yield node | {"expr": ["in", i]}


def replaced(node: dict[str, Any], old: int, new: int) -> dict[str, Any]:
    """The node with another value in the place of one."""
    change: dict[str, Any] = {key: new for key in ("init", "yield", "other") if node.get(key) == old}
    if "in" in node:
        change["in"] = [new if i == old else i for i in node["in"]]
    if "nodes" in node:
        change["nodes"] = [replaced(inner, old, new) for inner in node["nodes"]]
    return node | change


def is_complete(nodes: list[dict[str, Any]], known: dict[int, Any] | None = None) -> bool:
    """Whether each value that is read was made before, and the expressions have their types."""
    from expressions import Invalid, result_type

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


def again() -> None:
    """Checks the case on the standard input at all stages, and prints what comes of it."""
    kind = WorkgroupKernels()
    kind.prepare()
    case = json.load(sys.stdin)
    for stage in STAGES:
        print(stage, kind._check_at(case, stage) or "all is well")


def _line(error: Any) -> str:
    lines = [line for line in str(error).split("\n") if line.strip()]
    line = re.sub(r"^\S*\d+:\d+: ", "", lines[min(1, len(lines) - 1)].strip())
    return re.sub(r"(tile|memref|vector)<[^<>]*(<[^<>]*(<[^<>]*>[^<>]*)*>[^<>]*)*>", r"\1<>", line)


KIND = WorkgroupKernels()
__all__ = ["KIND", "WorkgroupKernels", "again"]
