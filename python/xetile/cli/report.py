# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile report`: machine instructions of a kernel."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Adds `report` to the subparsers of `xetile`."""
    parser = commands.add_parser("report", help="count the machine instructions of a SPIR-V kernel; needs ocloc")
    parser.add_argument("kernel", metavar="KERNEL.spv|.so", help="SPIR-V, or a saved kernel for a GPU")
    parser.add_argument("--device", action="append", required=True, metavar="CHIP", help="may be repeated")
    parser.add_argument(
        "--large-registers",
        action=argparse.BooleanOptionalAction,
        help="256 registers per thread or 128 (default: what spills less)",
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from xetile import files, report, saved

    code = files.read(options.kernel, "SPIR-V")
    if code[:4] == b"\x7fELF":
        code = saved.load(options.kernel).spirv
    kernels = [kernel for chip in options.device for kernel in report.statistics(code, chip, options.large_registers)]
    print(report.format_table(kernels))
    return 0
