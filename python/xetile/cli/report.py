# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile report`, `xetile diff`: machine instructions of kernels, and what changed in them."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xetile.errors import XeTileError

if TYPE_CHECKING:
    from xetile.reports.report import KernelStatistics

__all__ = ["add_diff_parser", "add_parser"]


def add_parser(commands: Any) -> None:
    """Adds `report` to the subparsers of `xetile`."""
    parser = commands.add_parser("report", help="count the machine instructions of kernels; needs ocloc")
    parser.add_argument(
        "kernel",
        metavar="KERNEL.spv|.cl|.bin|.so",
        help="SPIR-V, OpenCL C, ocloc's native binary, or a saved kernel for a GPU",
    )
    _add_chips(parser)
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


def _add_chips(parser: argparse.ArgumentParser) -> None:
    """The options that say for what ocloc compiles."""
    parser.add_argument("--device", action="append", required=True, metavar="CHIP", help="may be repeated")
    parser.add_argument(
        "--large-registers",
        action=argparse.BooleanOptionalAction,
        help="256 registers per thread or 128 (default: what spills less)",
    )


def add_diff_parser(commands: Any) -> None:
    """Adds `diff` to the subparsers of `xetile`."""
    parser = commands.add_parser(
        "diff", help="what changed in the machine code from one kernel to another; needs ocloc"
    )
    for name in ("before", "now"):
        parser.add_argument(name, metavar=name.upper(), help="K.spv, .cl, .bin, .so, or what report --json printed")
    _add_chips(parser)
    parser.add_argument(
        "--tolerance",
        type=_share,
        metavar="SHARE",
        help="exit with status 1 if a figure is worse by more than this, '5%%' or '0.05' (default: never)",
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        type=_limit,
        metavar="FIGURE=NUMBER",
        help="exit with status 1 if a figure of NOW is above; may be repeated: --limit spill_bytes=0",
    )
    parser.set_defaults(command=_diff)


def _limit(text: str) -> tuple[str, float]:
    figure, _, number = text.partition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not figure or not math.isfinite(limit):
        raise argparse.ArgumentTypeError(f"expected FIGURE=NUMBER such as spill_bytes=0, got {text!r}")
    return figure, limit


def _diff(options: argparse.Namespace) -> int:
    from xetile.reports import baseline

    before, now = _figures(options.before, options), _figures(options.now, options)
    # Messages and purposes that one side has none of are none there.
    for key in before.keys() & now.keys():
        if "instructions" not in before[key] or "instructions" not in now[key]:
            continue  # one is of report --json, which keeps less
        for figure in (before[key].keys() ^ now[key].keys()) - set(baseline.FIGURES):
            before[key].setdefault(figure, 0.0)
            now[key].setdefault(figure, 0.0)
    differences = baseline.differences(before, now, renamed=True)
    print(f"from {options.before} to {options.now}")
    print(baseline.format_differences(differences, options.tolerance or 0.0))
    known = {one.figure for one in differences}
    for figure, _ in options.limit:
        if figure not in known:
            raise XeTileError(
                f"--limit: expected a figure of these kernels, one of {', '.join(sorted(known))}, got {figure!r}"
            )
    broken = [
        f"{one.kernel} on {one.chip}: {one.figure} is {one.now:g}, the limit is {limit:g}"
        for figure, limit in options.limit
        for one in differences
        if one.figure == figure and one.now is not None and one.now > limit
    ]
    for line in broken:
        print(line)
    judged = [one for one in differences if one.figure in (*baseline.FIGURES, "instructions")]
    worse = options.tolerance is not None and any(one.is_worse(options.tolerance) for one in judged)
    return 1 if broken or worse else 0


def _figures(path: str, options: argparse.Namespace) -> dict[tuple[str, str], dict[str, float]]:
    """All figures of one side by kernel and chip: of kernels also how many instructions and messages they have."""
    from xetile.reports import baseline
    from xetile.system import files

    data = files.read(path, "a kernel")
    if data.lstrip()[:1] == b"{":
        return {key: dict(figures) for key, figures in baseline.parse(data, path).items()}
    return {(kernel.kernel, kernel.chip): baseline.all_figures_of(kernel) for kernel in _statistics(path, options)}


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a share such as 5% or 0.05, got {text!r}")
    return value


def _statistics(path: str, options: argparse.Namespace) -> list[KernelStatistics]:
    from xetile.cli.kernel import read_spirv
    from xetile.kernels import saved
    from xetile.reports import native, report
    from xetile.system import files

    if path.endswith(".cl"):
        codes = {chip: read_spirv(path, chip) for chip in options.device}
        return [one for chip in options.device for one in report.statistics(codes[chip], chip, options.large_registers)]
    code = files.read(path, "SPIR-V")
    if native.is_native(code):
        if options.large_registers is not None:
            raise XeTileError(f"--large-registers: {path} is compiled already: leave it out")
        return [kernel for chip in options.device for kernel in native.statistics(code, chip)]
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
    for kernel in kernels:
        for text in filter(None, (report.describe(kernel), report.describe_messages(kernel))):
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
