# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile stages`: a page that shows a program at every level."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from xetile.cli.payload import add_options, read_request, watch
from xetile.errors import XeTileError
from xetile.system import files

__all__ = ["add_parser"]

_EPILOG = """\
The page is one HTML file that needs nothing beside it, no network either: all levels side by side with what each
changed, the way of each operation through them, machine code where ocloc is found, layouts, and memory by time; of
programs of several kernels a picture, with what each of them moves. It is written after each level, and tells of one
that fails. `?` shows its keys. XETILE_TRACE=DIR writes such pages of whatever a program compiles.
"""


def add_parser(commands: Any) -> None:
    """Adds `stages` to the subparsers of `xetile`."""
    parser = commands.add_parser(
        "stages",
        help="write a page that shows a program at every level",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)
    parser.add_argument("--html", required=True, metavar="OUT", help="the page to write")
    parser.add_argument(
        "--passes",
        metavar="DIR",
        help="a new folder, to which every pass prints the module; the page shows what each of them changed",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="run each level that can be run on random arrays, and tell NumPy's difference",
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from xetile.compiling import compiler

    if options.html == "-":
        raise XeTileError("--html -: expected a file, got the standard output")
    request = read_request(options)
    place = files.path_of(options.html, "cannot write a page")
    folder: Path | None = files.path_of(options.passes, "--passes") if options.passes is not None else None
    compiler.show(*request.arguments, path=place, printed_to=folder, check=options.check, on_stage=watch(options))
    print(place)
    return 0
