"""The command `xetile`: compile, run, report, schedules, doctor. Errors are one message on stderr and status 1."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xetile import files, layout_cli, output
from xetile.errors import XeTileError

# Commands import what they use when they run: `xetile --help` and `xetile doctor` need no MLIR.
if TYPE_CHECKING:
    from xetile.schedule import Schedule

__all__ = ["main"]

# What --emit names -> the level that has it.
_EMIT = {
    "xetile": "1-xetile-workgroup",
    "xegpu": "4-xegpu",
    "xevm": "5-xevm",
    "llvm": "6-llvm",
    "spirv": "6-llvm",
    "native": "6-llvm",
}
_TOLERANCE = 1e-3


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
            return options.command(options)
        finally:
            # What is still in the buffer fails now, where it can be told, not when Python exits.
            sys.stdout.flush()
    except XeTileError as error:
        return output.complain(f"xetile: error: {error}")
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
    parser = argparse.ArgumentParser(prog="xetile", description="Compiles linalg.matmul to kernels for Intel GPUs.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    payload = argparse.ArgumentParser(add_help=False)
    payload.add_argument("input", metavar="IN.mlir", help="a module with one function, on tensors")
    payload.add_argument("--schedule", default="matmul", metavar="NAME|FILE", help="how to tile it (default: matmul)")
    payload.add_argument("--target", metavar="CHIP", help="the GPU to compile for, or cpu (default: the schedule's)")
    payload.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the schedule; may be repeated"
    )
    payload.add_argument("--dump-stages", metavar="DIR", help="write the module at each level to DIR/<level>.mlir")

    compile_ = commands.add_parser("compile", parents=[payload], help="write a kernel, or its module at some level")
    compile_.add_argument("-o", dest="output", required=True, metavar="OUT", help="the file to write; - for stdout")
    compile_.add_argument("--emit", choices=_EMIT, help="what to write (default: spirv; native for cpu)")
    compile_.set_defaults(command=_compile)

    run = commands.add_parser("run", parents=[payload], help="run on random arrays, on the device XETILE_DEVICE names")
    run.add_argument("--check", action="store_true", help=f"fail if NumPy's result differs by more than {_TOLERANCE}")
    run.add_argument("--seed", type=_seed, metavar="N", help="of the random arrays (default: a fresh one, printed)")
    run.add_argument("--repeat", type=_count, default=1, metavar="N", help="run N times, tell the fastest (default: 1)")
    run.set_defaults(command=_run)

    explain = commands.add_parser("explain", help="tell how matmuls are cut for the CPU, and the scores that decided")
    explain.add_argument("input", metavar="IN.mlir", help="a module with matmuls on tensors")
    explain.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a field of the configuration, or threads"
    )
    explain.set_defaults(command=_explain)

    report = commands.add_parser("report", help="count the machine instructions of a SPIR-V kernel; needs ocloc")
    report.add_argument("kernel", metavar="KERNEL.spv")
    report.add_argument("--device", action="append", required=True, metavar="CHIP", help="may be repeated")
    report.add_argument(
        "--large-registers",
        action=argparse.BooleanOptionalAction,
        help="256 registers per thread or 128 (default: what spills less)",
    )
    report.set_defaults(command=_report)

    schedules = commands.add_parser("schedules", help="list schedules and their parameters")
    schedules.add_argument("names", nargs="*", metavar="NAME|FILE", help="only these (default: all that come along)")
    schedules.set_defaults(command=_schedules)

    layout_cli.add_parser(commands)

    doctor = commands.add_parser("doctor", help="tell what is installed, what is found, what to do about the rest")
    doctor.set_defaults(command=_doctor)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or len(text) > 1000:
        raise argparse.ArgumentTypeError(f"expected 0 or a positive integer, got {text!r}")
    return int(text)


def _parameters(schedule: Schedule, settings: Sequence[str]) -> dict[str, int | str]:
    """The values of --set, each of its parameter's type."""
    values: dict[str, int | str] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise XeTileError(f"--set {setting}: expected KEY=VALUE")
        parameter = schedule.params.get(key)
        if key == "target":
            raise XeTileError(f"--set {setting}: expected --target {text}")
        if parameter is None:
            known = ", ".join(name for name in schedule.params if name != "target")
            raise XeTileError(f"--set {setting}: schedule {schedule.name!r} has no parameter {key!r}; it has {known}")
        values[key] = text
        if parameter.type is int:
            try:
                values[key] = int(text)
            except ValueError:
                raise XeTileError(f"--set {setting}: expected an integer, got {text!r}") from None
    return values


def _explain(options: argparse.Namespace) -> int:
    from xetile import cpu_cli

    return cpu_cli.explain(options)


def _compile(options: argparse.Namespace) -> int:
    if options.target == "cpu":
        from xetile import cpu_cli

        return cpu_cli.compile(options)
    options.emit = options.emit or "spirv"
    from xetile import compiler
    from xetile import schedule as schedules

    level = _EMIT[options.emit]
    schedule = schedules.load(options.schedule)
    payload = compiler.read_payload(options.input)
    parameters = _parameters(schedule, options.set)
    native = "require" if options.emit == "native" else "off"
    for stage in compiler.lower(payload, schedule, options.target, parameters, native=native):
        _warn(stage.warnings)
        if options.dump_stages:
            stage.write(options.dump_stages)
        if stage.name == level:
            chosen = stage
            if not options.dump_stages:
                break
    if level != compiler.STAGES[-1] or options.emit == "llvm":
        data = chosen.text.encode()
    else:
        spirv, codes = chosen.binaries()
        data = spirv if options.emit == "spirv" else next(iter(codes.values())).data
    _write(options.output, data)
    return 0


def _write(place: str, data: bytes) -> None:
    if place == "-":
        sys.stdout.buffer.write(data)
    else:
        files.write(place, data)


def _warn(warnings: Sequence[object]) -> None:
    for warning in warnings:
        output.complain(warning.format())


def _run(options: argparse.Namespace) -> int:
    if options.target == "cpu":
        from xetile import cpu_cli

        return cpu_cli.run(options)
    import numpy as np

    from xetile import compiler, reference, runtime
    from xetile import schedule as schedules

    schedule = schedules.load(options.schedule)
    payload = compiler.read_payload(options.input)
    parameters = _parameters(schedule, options.set)
    kernel = compiler.compile(payload, schedule, options.target, parameters, native="off")
    _warn(kernel.warnings)
    if options.dump_stages:
        kernel.stages.write(options.dump_stages)

    seed = secrets.randbits(32) if options.seed is None else options.seed
    arguments = reference.random_arguments(kernel.signature, np.random.default_rng(seed))
    results = kernel(*arguments)
    first = runtime.stats()
    calls, launches = [], [first.kernel_seconds]
    for _ in range(options.repeat):
        start = time.perf_counter()
        results = kernel(*arguments)
        calls.append(time.perf_counter() - start)
        launches.append(runtime.stats().kernel_seconds)
    seconds = min(launches)
    speed = f", {reference.count_flops(payload) / seconds * 1e-9:.1f} GFLOP/s" if seconds else ""
    print(f"{kernel.signature} for {kernel.target}, on {runtime.selected_device()}")
    print(f"kernel {seconds * 1e3:.2f} ms{speed}; call {min(calls) * 1e3:.2f} ms; link {first.build_seconds:.2f} s")
    if not options.check:
        print(f"random arrays of seed {seed}; not checked")
        return 0
    expected = reference.evaluate(payload, arguments)
    results = results if isinstance(results, tuple) else (results,)
    differences = [reference.compare(*pair) for pair in zip(results, expected, strict=True)]
    for number, difference in enumerate(differences):
        print(f"result {number}: {difference}; random arrays of seed {seed}")
    worst = max((difference.max_relative for difference in differences), default=0.0)
    if worst > _TOLERANCE:
        raise XeTileError(f"the results are wrong: relative error {worst:.3g}, expected at most {_TOLERANCE}")
    return 0


def _report(options: argparse.Namespace) -> int:
    from xetile import report

    kernels = [
        kernel for chip in options.device for kernel in report.statistics(options.kernel, chip, options.large_registers)
    ]
    print(report.format_table(kernels))
    return 0


def _schedules(options: argparse.Namespace) -> int:
    from xetile import schedule as schedules

    for number, name in enumerate(options.names or schedules.available()):
        schedule = schedules.load(name)
        print("\n" * bool(number) + name)
        rows = []
        for parameter in schedule.params.values():
            limits = {">=": parameter.minimum, "<=": parameter.maximum}
            legal = " ".join(f"{sign} {limit}" for sign, limit in limits.items() if limit is not None)
            rows.append((parameter.name, str(parameter.default), legal, parameter.doc))
        widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:3]] if rows else []
        for *cells, doc in rows:
            columns = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            print(f"  {columns}  {doc}".rstrip())
    return 0


def _doctor(_: argparse.Namespace) -> int:
    from xetile import doctor

    return doctor.main()


if __name__ == "__main__":
    sys.exit(main())
