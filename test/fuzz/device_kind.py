# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kinds of the harness have in common that run kernels on the CPU's OpenCL device."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from worker import DRIVER_MEMORY

TESTS = Path(__file__).parents[1]


class DeviceKind:
    """The part of a `harness.Kind` that does not depend on the cases.

    `builtins` are the versions of Intel's functions that kernels are linked with: "portable" ones link in half of the
    time that those for CPUs take; "" leaves the choice.
    """

    name: str
    memory = DRIVER_MEMORY
    builtins = ""
    xetile: ModuleType

    def prepare(self) -> None:
        # Programs are never found in a cache, and never kept.
        os.environ["XETILE_CACHE"] = os.devnull + "/none"
        if self.builtins:
            os.environ["XETILE_BUILTINS"] = self.builtins
        sys.path += [str(TESTS), str(TESTS / "python")]
        import xetile
        from xetile import runtime

        self.xetile = xetile
        if not runtime.devices():
            raise RuntimeError(runtime.describe_drivers())

    def check(self, case: dict[str, Any]) -> str | None:
        raise NotImplementedError

    def describe(self, case: dict[str, Any]) -> str:
        module = type(self).__module__
        return (
            f"again, from the project's root:\nPYTHONPATH=test/fuzz .venv/bin/python -c "
            f"\"import {module}; {module}.KIND.again()\" <<'CASE'\n{json.dumps(case)}\nCASE"
        )

    def again(self) -> None:
        """Checks the case on the standard input, and prints what comes of it."""
        self.prepare()
        print(self.check(json.load(sys.stdin)) or "all is well")
