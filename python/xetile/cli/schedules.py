# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile schedules`: schedules and their parameters; of one that is named, its algorithm and its figures, too."""

from __future__ import annotations

import argparse
from typing import Any

from xetile.cli import python_files
from xetile.cli.payload import read_schedule

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Adds `schedules` to the subparsers of `xetile`."""
    parser = commands.add_parser("schedules", help="list schedules and their parameters")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME|FILE|FILE.py:NAME",
        help="only these, with their algorithms and figures (default: all that come along)",
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from xetile import schedule as schedules

    for number, name in enumerate(options.names or schedules.available()):
        schedule = read_schedule(name)
        print("\n" * bool(number) + name)
        if options.names and (about := schedule.doc or _head(name)):
            print("\n".join(f"  {line}".rstrip() for line in about.splitlines()) + "\n")
        rows = []
        for parameter in schedule.params.values():
            limits = {">=": parameter.minimum, "<=": parameter.maximum}
            legal = " ".join(f"{sign} {limit}" for sign, limit in limits.items() if limit is not None)
            rows.append((parameter.name, str(parameter.default), legal, parameter.doc))
        widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:3]] if rows else []
        for *cells, doc in rows:
            columns = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            print(f"  {columns}  {doc}".rstrip())
        if options.names:
            _print_figures(name)
    return 0


def _print_figures(name: str) -> None:
    """Counts of its kernels' machine code, if it is one of the package's."""
    from xetile.schedule import figures

    found = figures.of_schedule(name)
    if not found:
        return
    print("\n  Machine code, at most (make bench):")
    width = max(len(f"{figure.kernel}, {figure.dtype}") for figure in found)
    for figure in found:
        counts = ", ".join(f"{most:g} on {chip}" for chip, most in zip(figures.CHIPS, figure.most, strict=True))
        print(f"  {f'{figure.kernel}, {figure.dtype}'.ljust(width)}  {counts}: {figure.unit}")


def _head(name: str) -> str:
    """The algorithm that the file of a schedule in MLIR begins with."""
    from xetile import schedule as schedules

    return "" if python_files.split(name) else schedules.algorithm(name)
