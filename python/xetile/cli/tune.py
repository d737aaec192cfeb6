# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile tune`: measure configurations of a payload's matmuls on this CPU."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Adds `tune` to the subparsers of `xetile`."""
    parser = commands.add_parser(
        "tune", help="measure configurations of the matmuls on this CPU, and keep the fastest for compile(tune=True)"
    )
    parser.add_argument("input", metavar="IN.mlir", help="a module with one function, on tensors of static sizes")
    parser.add_argument("--target", metavar="cpu", default="cpu", help="what to tune for; cpu alone so far (default)")
    parser.add_argument("--threads", type=int, metavar="N", help="threads to use (default: one for each core)")
    parser.add_argument(
        "--candidates", type=int, default=5, metavar="N", help="configurations of each matmul, at most (default: 5)"
    )
    parser.add_argument(
        "--seconds", type=float, default=0.2, metavar="S", help="for the calls of each configuration (default: 0.2)"
    )
    parser.add_argument("--again", action="store_true", help="measure what is known, too")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from xetile.compiling.tuning import tune

    tune(
        options.input,
        options.target,
        threads=options.threads,
        candidates=options.candidates,
        seconds=options.seconds,
        again=options.again,
        on_found=lambda found: print(found, flush=True),
    )
    return 0
