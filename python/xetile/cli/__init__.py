# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `xetile`: compile, run, check, explain, stages, calibrate, tune, report, diff, schedules, layout, reduce,
where, doctor.

Errors are one message on stderr and status 1.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from xetile.cli import calibrate, compile, explain, layout, reduce, report, run, schedules, stages, tune, where
from xetile.errors import XeTileError
from xetile.system import output, surroundings

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with `arguments`, by default those of the process, and returns its exit status.

    0 for success, 1 for an error that a message on stderr tells, 2 for a command line that is not understood, 130
    after Ctrl-C.
    """
    try:
        return _main(arguments)
    except KeyboardInterrupt:
        return 130


def _main(arguments: Sequence[str] | None) -> int:
    stdout = sys.stdout
    sys.stdout = output.Stdout(stdout)
    try:
        try:
            options = _parser().parse_args(arguments)
            status: int = options.command(options)
            return status
        finally:
            # Buffered output fails now, where it can be reported, not when Python exits.
            sys.stdout.flush()
    except XeTileError as error:
        return output.complain(f"xetile: error: {error}")
    except ImportError as error:
        return output.complain(f"xetile: error: {surroundings.explain(error)}")
    except BrokenPipeError:
        # The reader of our output is gone; there is nobody to tell.
        return 1
    except MemoryError as error:
        return output.complain(f"xetile: error: not enough memory: {error}")
    except Exception as error:  # noqa: BLE001  a mistake of ours: say so, and how to see more
        if os.environ.get("XETILE_TRACEBACK"):
            raise
        text = f"xetile: internal error: {type(error).__name__}: {error}"
        return output.complain(f"{text}\n  XETILE_TRACEBACK=1 shows where; please report it")
    finally:
        sys.stdout = stdout


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xetile", description="Compiles linalg.matmul to kernels for Intel GPUs and for this CPU."
    )
    parser.add_argument("--version", action="version", version=f"xetile {surroundings.version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (compile, run, explain, stages, calibrate, tune, report, schedules, layout, reduce, where):
        command.add_parser(commands)
    report.add_diff_parser(commands)
    run.add_check_parser(commands)
    doctor = commands.add_parser("doctor", help="tell what is installed, what is found, what to do about the rest")
    doctor.set_defaults(command=_doctor)
    return parser


def _doctor(_: argparse.Namespace) -> int:
    from xetile import doctor

    return doctor.main()
