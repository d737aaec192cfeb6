# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile explain`: how a payload is cut, and why; what becomes of a kernel in SPIR-V."""

from __future__ import annotations

import argparse
from typing import Any

from xetile.cli import kernel
from xetile.cli.payload import add_options, read_request, watch
from xetile.errors import XeTileError

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Adds `explain` to the subparsers of `xetile`."""
    parser = commands.add_parser(
        "explain",
        help="tell how matmuls are cut: for cpu (default) the scores that decided, and what is beside them; for GPUs "
        "messages and dpas; for K.spv what is dropped, rewritten and defined where no GPU is",
    )
    add_options(parser)
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    if kernel.is_kernel(options.input):
        if options.schedule is not None or options.set or options.dump_stages:
            raise XeTileError("--schedule, --set, --dump-stages: expected none for a kernel in SPIR-V")
        print(kernel.explain(options.input, options.target))
        return 0
    from xetile.compiling import compiler

    request = read_request(options, unsaid="cpu")
    if request.target.name == "cpu" and request.schedule is None:
        from xetile.targets.cpu import explain_parameters

        print(explain_parameters(request.payload, request.params))
        return 0
    more: dict[str, Any] = {"native": "auto"} if request.target.has_device else {}
    print(compiler.compile(*request.arguments, on_stage=watch(options), **more).explain())
    return 0
