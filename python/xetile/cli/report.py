# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile report`: machine instructions of a kernel."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xetile.reports.report import KernelStatistics

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
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument(
        "--compare", metavar="OTHER", help="print the figures of another kernel, or those of a --json, beside them"
    )
    parser.add_argument(
        "--check", metavar="BASELINE", help="exit with status 1 and a table if a figure is worse than in this --json"
    )
    parser.add_argument(
        "--tolerance",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="by how much a figure may be worse, '5%%' or '0.05' (default: 0)",
    )
    parser.set_defaults(command=_run)


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a share such as 5% or 0.05, got {text!r}")
    return value


def _statistics(path: str, options: argparse.Namespace) -> list[KernelStatistics]:
    from xetile.kernels import saved
    from xetile.reports import report
    from xetile.system import files

    code = files.read(path, "SPIR-V")
    if code[:4] == b"\x7fELF":
        code = saved.load(path).spirv
    return [kernel for chip in options.device for kernel in report.statistics(code, chip, options.large_registers)]


def _run(options: argparse.Namespace) -> int:
    from xetile.reports import baseline, report

    kernels = _statistics(options.kernel, options)
    if options.check:
        differences = baseline.compare(kernels, baseline.read(options.check))
        worse = [difference for difference in differences if difference.is_worse(options.tolerance)]
        print(baseline.format_differences(worse or differences, options.tolerance))
        return 1 if worse else 0
    if options.json:
        print(baseline.to_json(kernels), end="")
        return 0
    print(report.format_table(kernels))
    for text in filter(None, map(report.describe, kernels)):
        print(f"\n{text}")
    if options.compare:
        print(f"\nfrom {options.compare} to {options.kernel}")
        print(baseline.format_differences(baseline.compare(kernels, _other(options.compare, options))))
    return 0


def _other(path: str, options: argparse.Namespace) -> Any:
    """The figures of the other side: a kernel, or what was kept of one."""
    from xetile.reports import baseline
    from xetile.system import files

    data = files.read(path, "the other side")
    if data.lstrip()[:1] == b"{":
        return baseline.parse(data, path)
    others: Sequence[KernelStatistics] = _statistics(path, options)
    return {(kernel.kernel, kernel.chip): baseline.figures_of(kernel) for kernel in others}
