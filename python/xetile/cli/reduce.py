# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile reduce`: the smallest module that still fails in the same way, by the passes of upstream's mlir-reduce."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from xetile.cli import failures
from xetile.cli.payload import add_options
from xetile.errors import XeTileError
from xetile.system import files, output, tools

__all__ = ["add_parser"]

_EPILOG = """\
IN.mlir is compiled as `xetile compile` does it with the same options, or by the passes of --passes. The first error
tells how it fails; a smaller module is taken if it fails with that error, whatever its numbers and names are, or by
the same signal. Operations become their operands, zeros or nothing: results of the smaller module mean nothing.

A reproducer of xetile-opt (--mlir-pass-pipeline-crash-reproducer=FILE) names its passes itself.
"""
# mlir-reduce's passes, in turns while they find something.
_CLEAN = ("canonicalize", "cse", "symbol-dce")
_ROUNDS = 4


def add_parser(commands: Any) -> None:
    """Adds `reduce` to the subparsers of `xetile`."""
    parser = commands.add_parser(
        "reduce",
        help="make a module that fails small: the smallest one with the same error",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, stages=False)
    parser.add_argument("-o", dest="output", required=True, metavar="OUT.mlir", help="the file to write; - for stdout")
    parser.add_argument("--emit", metavar="WHAT", help="what to compile to, as `xetile compile` takes it")
    parser.add_argument("--passes", metavar="PIPELINE", help='passes of xetile-opt instead: "builtin.module(...)"')
    parser.add_argument("--error", metavar="TEXT", help="the failure is any error with TEXT (default: the first one)")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    text = files.read(options.input, "the module").decode(errors="replace")
    passes = options.passes or _passes_of_reproducer(text)
    if passes is not None and (options.schedule or options.target or options.set or options.emit):
        raise XeTileError("--passes: expected no --schedule, --target, --set and --emit beside it")
    with tempfile.TemporaryDirectory(prefix="xetile-reduce-") as folder:
        work = Path(folder)
        start = work / "0.mlir"
        start.write_text(_without_resources(text))
        command = _command(options, passes, work)
        status, said = failures.execute(command, start)
        wanted = failures.failure_of(status, said)
        if wanted is None:
            raise XeTileError(f"{options.input}: expected a module that fails, and it does not: {shlex.join(command)}")
        if options.error is not None and options.error not in said:
            raise XeTileError(
                f"--error {options.error}: expected it among the errors of {options.input}:\n{said.strip()}"
            )
        (work / "wanted.json").write_text(
            json.dumps({"command": command, "failure": wanted, "error": options.error, "cwd": os.getcwd()})
        )
        output.complain(f"xetile: reducing while it fails with: {options.error or wanted}")
        smallest = _reduce(start, _write_tester(work))
        small = smallest.read_text()
        counts = [_count_ops(path.read_text()) for path in (start, smallest)]
        if options.output == "-":
            sys.stdout.write(small)
        else:
            files.write(options.output, small.encode())
        output.complain(f"xetile: {counts[1]} lines with operations are left of {counts[0]}")
    return 0


def _passes_of_reproducer(text: str) -> str | None:
    """The pipeline of a reproducer that a pass manager wrote; None for other modules."""
    found = re.search(r'mlir_reproducer: \{\s*pipeline: "((?:[^"\\]|\\.)*)"', text)
    return found[1].replace('\\"', '"') if found else None


def _without_resources(text: str) -> str:
    return re.sub(r"\n\{-#.*?#-\}\s*$", "\n", text, flags=re.DOTALL)


def _command(options: argparse.Namespace, passes: str | None, work: Path) -> list[str]:
    """The command that is run on a module, whose path is put behind it."""
    if passes is not None:
        return [str(tools.where("xetile-opt")), f"--pass-pipeline={passes}", "-o", os.devnull]
    command = [sys.executable, "-m", "xetile.cli", "compile", "-o", str(work / "compiled")]
    for name in ("schedule", "target", "emit"):
        if (value := getattr(options, name)) is not None:
            command += [f"--{name}", value]
    for setting in options.set:
        command += ["--set", setting]
    return command


def _write_tester(work: Path) -> Path:
    tester = work / "tester"
    command = shlex.join([sys.executable, str(Path(failures.__file__).resolve())])
    tester.write_text(f'#!/bin/sh\nexec {command} "$1" {shlex.quote(str(work))}\n')
    tester.chmod(0o755)
    return tester


def _reduce(start: Path, tester: Path) -> Path:
    """The file of the smallest module that the tester takes."""
    smallest, number = start, 0
    pipelines = [f"opt-reduction-pass{{opt-pass={name} test={tester}}}" for name in _CLEAN]
    pipelines.append(f"reduction-tree{{traversal-mode=0 test={tester}}}")
    for _ in range(_ROUNDS):
        before = smallest.read_text()
        for pipeline in pipelines:
            number += 1
            made = start.with_name(f"{number}.mlir")
            command = [
                str(tools.where("xetile-opt")),
                str(smallest),
                f"--pass-pipeline=builtin.module({pipeline})",
                "-o",
                str(made),
            ]
            # A pass that fails or crashes, as they do on modules that are not canonical, leaves what there was.
            done = subprocess.run(command, capture_output=True, check=False)
            if done.returncode == 0 and made.exists() and failures.judge(str(made), str(start.parent)):
                smallest = made
        if smallest.read_text() == before:
            break
    return smallest


def _count_ops(text: str) -> int:
    return sum(1 for line in text.splitlines() if re.match(r'\s*(%[\w:, %]+ = )?"?[a-z_]+\.[\w.]+', line))
