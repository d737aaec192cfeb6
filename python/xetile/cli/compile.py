# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile compile`: a kernel, its binary, or its module at some level, into a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from xetile.cli.payload import Request, add_options, add_seed, read_request, watch
from xetile.errors import XeTileError
from xetile.system import files, output

if TYPE_CHECKING:
    from xetile.kernels.kernel import Kernel, Stage

__all__ = ["add_parser"]

# The format by the output's suffix, without --emit.
_SUFFIXES = {".so": "so", ".spv": "spirv", ".h": "header", ".o": "object", ".mlir": "llvm"}
_EPILOG = """\
what --emit takes, besides the names of levels:
  GPUs: xetile, xegpu, xevm, llvm (the module there), spirv, native (machine code, needs ocloc), so, header
  cpu:  tiled, memory, llvm (the module there), object, so (also: native), header
so is a shared object that xetile.load and C programs call; header declares its functions for C.
Without --emit the name of OUT tells: .so, .spv, .o, .h, .mlir (the lowest level); else spirv, and so for cpu.

--from LEVEL: IN.mlir is a file of --dump-stages that was edited. It is compiled from there on, run on random arrays and
compared with what --against has, by default the nearest level before it that lies beside IN.mlir (for cpu the payload,
0-linalg.mlir). Where results differ nothing is written, and an error tells which elements do.
"""


def add_parser(commands: Any) -> None:
    """Adds `compile` to the subparsers of `xetile`."""
    parser = commands.add_parser(
        "compile",
        help="write a kernel, or its module at some level",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)
    parser.add_argument("-o", dest="output", required=True, metavar="OUT", help="the file to write; - for stdout")
    parser.add_argument("--emit", metavar="WHAT", help="what to write (default: what OUT's name says)")
    edit = parser.add_argument_group("edit and go on")
    edit.add_argument("--from", dest="level", metavar="LEVEL", help="check that the edited IN.mlir computes the same")
    edit.add_argument("--against", metavar="FILE", help="the module before the edit, or that of a level before it")
    add_seed(edit)
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    request = read_request(options)
    made = None
    if options.level is not None:
        made = _check_edit(request, options)
    elif options.against is not None or options.seed is not None:
        raise XeTileError("--against, --seed: expected --from LEVEL beside them")
    emits = request.target.emits
    emit = options.emit
    if emit is None:
        emit = _SUFFIXES.get(PurePath(options.output).suffix, "")
        if emit not in emits and emit not in ("so", "header"):
            emit = request.target.default_emit
    if emit == "native" and not request.target.has_device:
        emit = "so"
    if emit in ("so", "header"):
        return _write_kernel(request, options, emit, made)
    level = emits.get(emit, emit if emit in request.target.levels else None)
    if level is None:
        known = ", ".join([*emits, "so", "header", *request.target.levels])
        raise XeTileError(f"--emit {emit}: expected for the target {request.target} one of {known}")
    if emit in request.target.binary_emits:
        kernel = made or _compile(request, options, native="require" if emit == "native" else None)
        name = request.target.binary_emits[emit]
        if name not in kernel.binaries:
            raise XeTileError(f"--emit {emit}: the program has no kernel, as its results have no elements; emit an so")
        data = kernel.binaries[name]
    else:
        data = (made.stages.stage(level) if made else _lower(request, options, level)).text.encode()
    _write(options.output, data)
    return 0


def _check_edit(request: Request, options: argparse.Namespace) -> Kernel | None:
    """Fails unless the edited module computes what the one before does. The kernel that it became where it is no
    payload."""
    from xetile.compiling import compiler, edits

    if options.schedule is not None or options.set:
        raise XeTileError("--from: expected no --schedule and no --set beside it: the module is compiled as it is")
    if options.level not in request.target.levels:
        known = ", ".join(request.target.levels)
        raise XeTileError(f"--from {options.level}: expected one of the levels of {request.target}: {known}")
    before = options.against or edits.find_before(options.input, options.level, request.target)
    more: dict[str, Any] = dict(edits.without_machine_code(request.target))
    resumes = edits.resumes(request.target, options.level)
    kernel, seed = edits.compile_edit(
        request.payload,
        compiler.read_payload(before),
        options.level,
        request.target,
        options.seed,
        watch(options) if resumes else None,
        **more,
    )
    output.complain(f"{options.input} computes what {before} does, on random arrays of seed {seed}")
    return kernel if resumes else None


def _write_kernel(request: Request, options: argparse.Namespace, emit: str, made: Kernel | None) -> int:
    if emit == "so" and options.output == "-":
        raise XeTileError("-o -: expected a file for a shared object")
    kernel = made or _compile(request, options)
    if emit == "header":
        _write(options.output, kernel.header().encode())
    else:
        kernel.save(options.output)
    return 0


def _compile(request: Request, options: argparse.Namespace, native: str | None = None) -> Kernel:
    from xetile.compiling import compiler

    more: dict[str, Any] = {}
    if any(option.name == "native" for option in request.target.options):
        more["native"] = native or "off"
    return compiler.compile(*request.arguments, on_stage=watch(options), **more)


def _lower(request: Request, options: argparse.Namespace, level: str) -> Stage:
    """The module at a level. All levels are made if they are to be dumped."""
    from xetile.compiling import compiler

    chosen, tell = None, watch(options)
    stages: Iterator[Stage] = compiler.lower(*request.arguments)
    for stage in stages:
        tell(stage)
        if stage.name == level:
            chosen = stage
            if not options.dump_stages:
                break
    assert chosen is not None
    return chosen


def _write(place: str, data: bytes) -> None:
    if place == "-":
        sys.stdout.buffer.write(data)
    else:
        files.write(place, data)
