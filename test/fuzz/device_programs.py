# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of linalg on tensors, compiled to kernels for a GPU, run on the OpenCL device, compared with NumPy.

A case is a program (tensor_program.py), a quarter of those of known sizes in a loop of the host, a chip, and the calls
of the kernel, with other arrays and other layouts each. In some programs (OPEN) sizes that the generator left open stay
so: calls have other sizes each then.
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
# The share of programs whose open sizes stay open.
OPEN = 0.4
# What the compiler may refuse, and where that is documented. Everything else that it refuses is a finding.
REFUSALS: dict[str, str] = {
    # docs/torch.md, "Sizes that only a run knows, on GPUs".
    "open sizes": r"expected (sizes|insertions with steps of sizes and at offsets) known when compiled",
}


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
            sizes = draw_calls(rng, program)
            is_open = rng.random() < OPEN
            if not is_open:
                for name, size in sizes[0]["sizes"].items():
                    program = map_dims(program, partial(known, name=name, size=size))
                sizes = [{"sizes": {}}] * rng.choice([1, 1, 2])
            with contextlib.suppress(Invalid):
                if is_for_devices(program):
                    break
        if not is_open and rng.random() < 0.25:
            types = infer(program)
            found = [types[i] for i in program["results"]]
            program = program | {"around": looped.draw(rng, types[: len(program["args"])], found)}
        calls = [
            {**call, "layout": rng.choice(LAYOUTS), "data": rng.choice(DATA), "out": rng.random() < 0.5}
            for call in sizes
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
    """Whether there are tensors only, whose sizes are open or not zero."""
    ops = {node["op"] for node in program["nodes"]}
    if ops & HOST_OPS or ops <= {"constant", "fill"}:
        return False
    return all(
        kind.shape is not None and all(len(dim) > 1 or dim[0] > 0 for dim in kind.shape) for kind in infer(program)
    )


KIND = DevicePrograms()
