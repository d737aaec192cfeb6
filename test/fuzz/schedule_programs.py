# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What schedules are for, of random sizes and with random knobs, on the CPU's OpenCL device against NumPy in f64.

A case is a draw of test/python/schedule_draws.py: a workload, its sizes, knobs, a chip. Some have wild knobs, any
values of any of the schedule's: these may be refused, others may not. Of some no schedule is named.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from device_kind import DeviceKind
from messages import error_line

# Knobs by schedule, of which wild cases have any values.
KNOBS = {
    "matmul": ("workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n", "k_step", "prefetch", "split_k"),
    "attention": ("workgroup_m", "subgroups_m", "keys", "split_keys", "prefetch"),
    "mlp": ("workgroup_m", "subgroups_m", "hidden", "prefetch"),
    "rows": ("workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n"),
    "elementwise": ("workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n"),
    "scan": ("workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n"),
    "convolution": ("workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n"),
    "windows": ("workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n"),
    "gather": ("workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n"),
}
WILD = (0, 0, 1, 1, 2, 3, 4, 5, 8, 12, 16, 16, 24, 32, 32, 33, 48, 64, -1, -7, 100, 1 << 40)
# Most elements of a workgroup's tile in wild cases: linking code of more takes minutes.
MOST = 1 << 12


class SchedulePrograms(DeviceKind):
    """A kind of the harness."""

    name = "schedules"
    time_limit = 120.0
    builtins = "portable"

    def generate(self, rng: random.Random) -> dict[str, Any]:
        import schedule_draws

        case = schedule_draws.draw(rng, rng.choice(list(schedule_draws.WORKLOADS)))
        wild: dict[str, int] = {}
        schedule = schedule_draws.WORKLOADS[case["workload"]].schedule
        if rng.random() < 0.25:
            names = KNOBS[schedule]
            wild = {name: rng.choice(WILD) for name in rng.sample(names, rng.choice([1, 1, 2, len(names)]))}
            if wild.get("workgroup_m", 0) * wild.get("workgroup_n", 16) > MOST:
                wild["workgroup_m"] = 16
        return case | {"wild": wild, "named": bool(wild) or rng.random() < 0.85}

    def check(self, case: dict[str, Any]) -> str | None:
        import schedule_draws
        from harness import count
        from xetile.mlir import ir

        workload = schedule_draws.WORKLOADS[case["workload"]]
        program = schedule_draws.case_of(case)
        schedule = workload.schedule if case["named"] else None
        params = {**case["params"], **program.params, **case["wild"]} if case["named"] else {}
        count(workload.schedule)
        with ir.Context():
            payload = ir.Module.parse(program.text)
        try:
            kernel = self.xetile.compile(payload, schedule, case["target"], params, native="off")
        except self.xetile.XeTileError as error:
            if not case["wild"]:
                return f"refused: {error_line(error)}\n{error}"
            count("wild knobs refused")
            said = str(error)
            if any(name in said for name in case["wild"]) or error.diagnostics:
                return None
            return f"refused, but neither a knob nor a place is told\n{error}"
        kept = [array.copy() for array in program.arrays]
        result = kernel(*program.arrays)
        if any(array.tobytes() != copy.tobytes() for array, copy in zip(program.arrays, kept, strict=True)):
            return "an argument was changed"
        wrong = program.difference(np.asarray(result))
        return f"wrong result of {case['workload']}\n{wrong}" if wrong else None

    def reduced(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for key in list(case["wild"]):
            yield case | {"wild": {name: value for name, value in case["wild"].items() if name != key}}
        if case["params"]:
            yield case | {"params": {}}
            for key in list(case["params"]):
                yield case | {"params": {name: value for name, value in case["params"].items() if name != key}}
        for key, value in case["sizes"].items():
            plain = {"then": "none", "mask": "none", "strided": False, "residual": False, "form": "nn"}.get(key)
            if plain is not None and value != plain:
                yield case | {"sizes": case["sizes"] | {key: plain}}
            if type(value) is int and value > 1 and key not in ("size", "axis", "parts"):
                yield case | {"sizes": case["sizes"] | {key: value // 2}}
            if isinstance(value, list) and key != "order" and max(value) > 1:
                yield case | {"sizes": case["sizes"] | {key: [max(each // 2, 1) for each in value]}}


KIND = SchedulePrograms()
