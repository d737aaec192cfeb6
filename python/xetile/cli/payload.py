# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments shared by the commands that compile: the payload, its schedule, target and parameters."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from xetile.cli import python_files
from xetile.errors import XeTileError
from xetile.system import output

# Commands import what they use when they run: `xetile --help` needs no MLIR.
if TYPE_CHECKING:
    from xetile.kernels.kernel import Stage
    from xetile.mlir import ir
    from xetile.schedule import Schedule
    from xetile.targets import Target

__all__ = ["Request", "add_options", "add_seed", "pass_parameters", "read_request", "read_schedule", "watch"]


def add_options(parser: argparse.ArgumentParser, *, stages: bool = True) -> None:
    """The options that `read_request` reads, and with `stages` those that `watch` does."""
    parser.add_argument(
        "input", metavar="IN.mlir", help="a module with one function, on tensors, or with kernels for a GPU"
    )
    parser.add_argument(
        "--schedule",
        metavar="NAME|FILE",
        help="how to tile it: a name that `xetile schedules` lists, a file, or FILE.py:NAME, a Python function's "
        "(default: what the payload needs; for cpu the compiler's own choice)",
    )
    parser.add_argument(
        "--target", metavar="CHIP", help="the GPU to compile for, or cpu (default: the schedule's own, pvc)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the schedule; may be repeated"
    )
    if stages:
        parser.add_argument("--dump-stages", metavar="DIR", help="write the module at each level to DIR/<level>.mlir")


class Request:
    """A command line's compilation; the fields are arguments of `xetile.compile`."""

    def __init__(self, payload: ir.Module, schedule: Schedule | None, target: Target, params: dict[str, Any]) -> None:
        self.payload, self.schedule, self.target, self.params = payload, schedule, target, params

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of `xetile.compile`: payload, schedule, target, params."""
        return self.payload, self.schedule, self.target, self.params


def read_request(options: argparse.Namespace, unsaid: str | None = None) -> Request:
    """Reads files and settings. XeTileError for what is not there, or means nothing.

    `unsaid` is the target of functions on tensors where neither --target nor --schedule is given.
    """
    from xetile import schedule as schedules
    from xetile.compiling import compiler
    from xetile.mlir._mlir_libs import _xetile
    from xetile.targets import Target

    name, chip = options.schedule, options.target
    payload = compiler.read_payload(options.input)
    if name is None and not options.set and chip != "cpu" and _xetile.find_level(payload):
        return Request(payload, None, Target("pvc" if chip is None else chip), {})
    if name is None and chip is None:
        chip = unsaid
    on_cpu = chip == "cpu"
    # The default is a name, so that its parameters are known to --set.
    default = "cpu_matmul" if on_cpu else "matmul" if options.set else schedules.suggest(payload)
    schedule = read_schedule(name or default)
    own = schedule.params.get("target")
    target = Target(chip if chip is not None else str(own.value) if own else "pvc")
    if on_cpu and name is None:
        params = pass_parameters(options.set)
        return Request(payload, None, target, params)
    params = _schedule_parameters(schedule, options.set)
    return Request(payload, schedule, target, params)


def read_schedule(text: str) -> Schedule:
    """The schedule that a command line names: one that comes along, a file of MLIR, or FILE.py[:NAME].

    Such a file defines schedules by `xetile.schedule.define`; if it defines one only, it needs no NAME.
    """
    from xetile import schedule as schedules

    named = python_files.split(text)
    if named is None:
        return schedules.load(text)
    path, name = named
    module = python_files.read(path, "schedule")
    defined = {key: value for key, value in vars(module).items() if isinstance(value, schedules.Schedule)}
    if name is None and len(defined) == 1:
        return next(iter(defined.values()))
    if name in defined:
        return defined[name]
    expected = "one schedule, or FILE.py:NAME" if name is None else f"{name}, a schedule"
    raise XeTileError(
        f"{path}: expected {expected}, a function under @xetile.schedule.define; it defines "
        f"{', '.join(defined) or 'none'}"
    )


def _settings(settings: Sequence[str]) -> Iterable[tuple[str, str, str]]:
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise XeTileError(f"--set {setting}: expected KEY=VALUE")
        yield setting, key, text


def _schedule_parameters(schedule: Schedule, settings: Sequence[str]) -> dict[str, Any]:
    """The values of --set, each of its parameter's type."""
    values: dict[str, Any] = {}
    for setting, key, text in _settings(settings):
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
                # A name of a value: the schedule knows which there are.
                if not parameter.names:
                    raise XeTileError(f"--set {setting}: expected an integer, got {text!r}") from None
    return values


def pass_parameters(settings: Sequence[str]) -> dict[str, Any]:
    """The values of --set where the pass tiles: numbers, words, and for `fuse` true or false."""
    values: dict[str, Any] = {}
    for setting, key, text in _settings(settings):
        if key in ("pack", "loopOrder") and not text.lstrip("-").isdecimal():
            values[key] = text
        elif key == "fuse":
            if text not in ("0", "1", "false", "true"):
                raise XeTileError(f"--set {setting}: expected true or false, got {text!r}")
            values[key] = text in ("1", "true")
        else:
            try:
                values[key] = int(text)
            except ValueError:
                raise XeTileError(f"--set {setting}: expected an integer, got {text!r}") from None
    return values


def watch(options: argparse.Namespace) -> Callable[[Stage], None]:
    """A callback for each level: its remarks go to stderr, its text to the folder of --dump-stages."""

    def tell(stage: Stage) -> None:
        for warning in stage.warnings:
            output.complain(warning.format())
        if options.dump_stages:
            stage.write(options.dump_stages)

    return tell


def add_seed(options: argparse._ActionsContainer) -> None:
    """The option --seed, of a command or a group of its options."""
    options.add_argument("--seed", type=_seed, metavar="N", help="of the random arrays (default: a fresh one, printed)")


def _seed(text: str) -> int:
    if not text.isdecimal() or len(text) > 1000:
        raise argparse.ArgumentTypeError(f"expected 0 or a positive integer, got {text!r}")
    return int(text)
