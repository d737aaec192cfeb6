# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile calibrate`: measure this CPU's rates for the cost model of matmuls."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Adds `calibrate` to the subparsers of `xetile`."""
    parser = commands.add_parser(
        "calibrate", help="measure this CPU's rates in some seconds, and keep them for all compilations on such a CPU"
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from xetile.targets.cpu_calibration import calibrate

    found = calibrate()
    print(f"{found}\nmeasured in {found.seconds:.1f} s")
    return 0
