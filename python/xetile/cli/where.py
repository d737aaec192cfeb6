# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile where`: the paths of the package's parts, for other programs' command lines."""

from __future__ import annotations

import argparse
from typing import Any

from xetile.system import tools

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Adds `where` to the subparsers of `xetile`."""
    parser = commands.add_parser("where", help="print the path of a part: of the plugin, the schedules, ...")
    parser.add_argument("part", nargs="?", metavar="PART", help=f"one of {', '.join(tools.PARTS)} (default: list all)")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    if options.part:
        print(tools.where(options.part))
        return 0
    for name, part in tools.PARTS.items():
        print(f"{name:17} {tools.path_of_part(name)}\n{'':17}   {part.text}")
    return 0
