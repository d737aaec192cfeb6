# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels of workgroup-level XeTile, stage by stage against NumPy.

A case is a kernel of `workgroup_text` and the stage that it is run at: by its meaning, distributed over subgroups, cut
into blocks, or as SPIR-V on the CPU's OpenCL device (`test/python/workgroups.py`). What a stage refuses must be among
`limits`. Where a result is wrong, the stages before tell which one is the first to be.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import numpy as np
import workgroup_meaning as meaning
import workgroup_text
from node_kind import NodeKind
from workgroup_draw import draw_kernel

# How many of a hundred cases end at which stage, and how large a value is: later stages take longer.
STAGES = {"workgroup": 10, "subgroup": 40, "blocked": 25, "device": 25}
AREAS = {"workgroup": 512, "subgroup": 1024, "blocked": 512, "device": 256}
CHIPS = ["pvc", "pvc", "bmg", "lnl"]


class WorkgroupKernels(NodeKind):
    """A kind of the harness."""

    name = "workgroups"
    limits = {" bytes of registers ": "registers (xetile-blocking)"}

    def prepare(self) -> None:
        super().prepare()
        import workgroups

        self.workgroups = workgroups

    def generate(self, rng: random.Random) -> dict[str, Any]:
        stage = rng.choices(list(STAGES), list(STAGES.values()))[0]
        return draw_kernel(rng, AREAS[stage]) | {"stage": stage, "chip": rng.choice(CHIPS)}

    def check(self, case: dict[str, Any]) -> str | None:
        from harness import count

        count(case["stage"] + "s")
        self.tally(case)
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
        from xetile import XeTileError

        given = meaning.arrays(case)
        kernel = self.kernel(case, given)
        rng = np.random.default_rng(case["seed"])
        where = f" at stage {stage}"
        try:
            result = self.workgroups.COLUMNS[stage](kernel, rng)
        except XeTileError as error:
            return self.refusal(error, where)
        on_device = stage == "device"
        expected = meaning.compute(case, given, 16 if on_device else 1)
        return self.difference(expected, given, result, where, on_device=on_device)

    def describe(self, case: dict[str, Any]) -> str:
        kernel = self.kernel(case, meaning.arrays(case))
        pipeline = f"xetile-lower-to-binary{{chip={case['chip']} native=off}}"
        return f"{kernel.launched()}\n// {pipeline}; stage {case['stage']}\n\n{super().describe(case)}"

    def again(self) -> None:
        """Checks the case on the standard input at all stages, and prints what comes of it."""
        self.prepare()
        case = json.load(sys.stdin)
        for stage in STAGES:
            print(stage, self._check_at(case, stage) or "all is well")


KIND = WorkgroupKernels()
__all__ = ["KIND", "WorkgroupKernels"]
