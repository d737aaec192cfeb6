# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kinds `workgroups` and `subgroups` have in common: programs of nodes (nodes.py), compared with NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from bounded import Bounded, is_float
from device_kind import DeviceKind
from messages import error_line
from nodes import all_nodes, smaller_programs


class NodeKind(DeviceKind):
    """The part of a `harness.Kind` that does not depend on the operations."""

    time_limit = 60.0
    builtins = "portable"
    # What may be refused, and where that is said.
    limits: ClassVar[dict[str, str]] = {}

    def tally(self, case: dict[str, Any]) -> None:
        from harness import count

        for node in all_nodes(case["nodes"]):
            count("with " + node["op"])

    def refusal(self, error: Any, where: str = "") -> str | None:
        """The finding that a refusal is, unless it is one of `limits`."""
        from harness import count

        for words, limit in self.limits.items():
            if words in str(error):
                count("refused: " + limit)
                return None
        return f"refused{where}: {error_line(error)}\n{error}"

    def excuse(self, text: str, log: str) -> str | None:
        """Why a death is not our finding: the compiler in the CPU's OpenCL driver gave up on SPIR-V that is valid."""
        if "**Internal compiler error**" in log and "Intel OpenCL forum" in log:
            return "died in the OpenCL driver's compiler"
        return None

    def difference(
        self,
        expected: dict[str, tuple[Bounded, np.ndarray]],
        given: dict[str, np.ndarray],
        result: dict[str, np.ndarray],
        where: str = "",
        *,
        on_device: bool = True,
    ) -> str | None:
        """What differs of the matrices: `expected` of those that are written, `given` else."""
        for name, (value, written) in expected.items():
            # OpenCL's division has 2.5 units in the last place.
            error = np.where(written, value.error * (4 if on_device else 1), 0.0)
            if wrong := Bounded(value.dtype, value.values, error).difference(result[name]):
                dtype = "integers" if not is_float(value.dtype) else value.dtype
                return f"wrong result{where}: {dtype}\nmatrix {name}: {wrong}"
        for name, array in given.items():
            if name not in expected and array.tobytes() != result[name].tobytes():
                return f"a matrix was changed that is only read{where}: {name}"
        return None

    def reduced(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from smaller_programs(case)
