# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of linalg on tensors, compiled to kernels for a GPU, run on the OpenCL device, compared with NumPy.

A case is a program (tensor_program.py) whose sizes are known, a quarter of them in a loop of the host, a chip, and the
calls of the kernel, with other arrays and other layouts each.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
from functools import partial
from typing import Any

import looped
from cpu_draw import draw_calls, draw_program
from cpu_programs import DATA, LAYOUTS, CpuPrograms, known, map_dims
from expressions import Invalid
from messages import error_line
from tensor_program import infer, write
from worker import DRIVER_MEMORY

# Numbers beside tensors are the host's.
HOST_OPS = {"scalar", "elements", "dim", "extract"}
CHIPS = ("pvc", "bmg", "lnl")
# What the compiler may refuse, and where that is documented. Everything else that it refuses is a finding.
REFUSALS: dict[str, str] = {}


class DevicePrograms(CpuPrograms):
    """A kind of the harness."""

    name = "programs"
    time_limit = 60.0
    memory = DRIVER_MEMORY

    def prepare(self) -> None:
        # Programs are never found in a cache, and never kept.
        os.environ["XETILE_CACHE"] = os.devnull + "/none"
        import xetile  # noqa: F401

    def generate(self, rng: random.Random) -> dict[str, Any]:
        while True:
            program = draw_program(rng)
            calls = [call for call in draw_calls(rng, program) if "wrong" not in call]
            for name, size in calls[0]["sizes"].items():
                program = map_dims(program, partial(known, name=name, size=size))
            with contextlib.suppress(Invalid):
                if is_for_devices(program):
                    break
        if rng.random() < 0.25:
            types = infer(program)
            found = [types[i] for i in program["results"]]
            program = program | {"around": looped.draw(rng, types[: len(program["args"])], found)}
        calls = [
            {"sizes": {}, "layout": rng.choice(LAYOUTS), "data": rng.choice(DATA), "out": rng.random() < 0.5}
            for _ in range(rng.choice([1, 1, 2]))
        ]
        return {
            "program": program,
            "options": {"target": rng.choice(CHIPS)},
            "calls": calls,
            "seed": rng.randrange(10**6),
        }

    def check(self, case: dict[str, Any]) -> str | None:
        import xetile
        from harness import count
        from xetile import XeTileError
        from xetile.mlir import ir

        if not is_for_devices(case["program"]):
            return None
        try:
            with ir.Context():
                kernel = xetile.compile(ir.Module.parse(write(case["program"])), native="off", **case["options"])
        except XeTileError as error:
            for name, pattern in REFUSALS.items():
                if re.search(pattern, str(error)):
                    count(f"refused: {name}")
                    return None
            return f"refused: {error_line(error)}\n{error}"
        for number, call in enumerate(case["calls"]):
            if wrong := self._call(kernel, case, number, call):
                return f"{wrong}\nin call {number}: {call}"
        return None


def is_for_devices(program: dict[str, Any]) -> bool:
    """Whether there are tensors only, of sizes that are known, with elements."""
    ops = {node["op"] for node in program["nodes"]}
    if ops & HOST_OPS or ops <= {"constant", "fill"}:
        return False
    return all(
        kind.shape is not None and all(len(dim) == 1 and dim[0] > 0 for dim in kind.shape) for kind in infer(program)
    )


KIND = DevicePrograms()
