# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions of XeGPU on a subgroup's vectors, run on the CPU's OpenCL device and compared with NumPy.

A case is a function of `subgroup_text` and the chip that it is compiled for. What is refused must be among `LIMITS`.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import subgroup_meaning as meaning
import subgroup_text
from bounded import Bounded, is_float
from subgroup_draw import draw_function
from workgroup_draw import without_unused
from workgroup_kernels import _line, is_complete, smaller
from workgroup_text import all_nodes

CHIPS = ["pvc", "pvc", "bmg"]
# What may be refused, and where that is said.
LIMITS: dict[str, str] = {}


class SubgroupFunctions:
    """A kind of the harness."""

    name = "subgroups"
    time_limit = 60.0
    memory = 6 << 30  # the OpenCL driver keeps what it compiled

    def prepare(self) -> None:
        # Programs are never found in a cache, and never kept.
        os.environ["XETILE_CACHE"] = os.devnull + "/none"
        # The portable versions of Intel's builtins link faster.
        os.environ["XETILE_BUILTINS"] = "portable"
        sys.path.append(str(Path(__file__).parents[1] / "python"))
        import xegpu_programs

        self.programs = xegpu_programs

    def generate(self, rng: random.Random) -> dict[str, Any]:
        return draw_function(rng) | {"chip": rng.choice(CHIPS)}

    def check(self, case: dict[str, Any]) -> str | None:
        from harness import count
        from xetile import XeTileError

        for node in all_nodes(case["nodes"]):
            count("with " + node["op"])
        given = meaning.arrays(case)
        result = {name: _copy(array) for name, array in given.items()}
        kinds = subgroup_text.memrefs(case)
        try:
            self.programs.run("subgroup", subgroup_text.body(case), kinds=kinds, chip=case["chip"], **result)
        except XeTileError as error:
            for words, limit in LIMITS.items():
                if words in str(error):
                    count("refused: " + limit)
                    return None
            return f"refused: {_line(error)}\n{error}"
        expected = meaning.compute(case, given)
        for name, (value, written) in expected.items():
            # OpenCL's division has 2.5 units in the last place.
            error = np.where(written, value.error * 4, 0.0)
            if wrong := Bounded(value.dtype, value.values, error).difference(result[name]):
                kind = "integers" if not is_float(value.dtype) else value.dtype
                return f"wrong result: {kind}\nmatrix {name}: {wrong}"
        for name, array in given.items():
            if name not in expected and array.tobytes() != result[name].tobytes():
                return f"a matrix was changed that the function only reads: {name}"
        return None

    def reduced(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for candidate in smaller(case):
            nodes = without_unused(candidate["nodes"])
            if nodes and candidate | {"nodes": nodes} != case and is_complete(nodes):
                yield candidate | {"nodes": nodes}

    def describe(self, case: dict[str, Any]) -> str:
        parameters = ", ".join(f"%{name}: {kind}" for name, kind in subgroup_text.memrefs(case).items())
        body = "\n".join("      " + line for line in subgroup_text.body(case).splitlines())
        return (
            "module {\n  gpu.module @device {\n    gpu.func @kernel("
            f"{parameters}) kernel attributes {{known_block_size = array<i32: 16, 1, 1>}} {{\n{body}\n"
            "      gpu.return\n    }\n  }\n}\n"
            f"// xetile-attach-target{{chip={case['chip']}}},gpu.module(xetile-assign-lane-layouts,...)\n\n"
            "again, from the project's root:\nPYTHONPATH=test/fuzz .venv/bin/python -c "
            f"\"import subgroup_functions; subgroup_functions.again()\" <<'CASE'\n{json.dumps(case)}\nCASE"
        )


def _copy(array: np.ndarray) -> np.ndarray:
    """With the same strides, which are in the code."""
    if array.flags.c_contiguous:
        return array.copy()
    return array.base.copy()[..., : array.shape[-1]]


def again() -> None:
    """Checks the case on the standard input, and prints what comes of it."""
    kind = SubgroupFunctions()
    kind.prepare()
    print(kind.check(json.load(sys.stdin)) or "all is well")


KIND = SubgroupFunctions()
__all__ = ["KIND", "SubgroupFunctions", "again"]
