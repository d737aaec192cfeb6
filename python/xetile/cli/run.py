# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile run`: a kernel on random arrays, its speed, whether its results are NumPy's; a PyTorch model; SPIR-V."""

from __future__ import annotations

import argparse
import os
import secrets
import time
from typing import Any

from xetile.cli import kernel, model
from xetile.cli.payload import add_options, add_seed, pass_parameters, read_request, watch
from xetile.errors import XeTileError

__all__ = ["add_check_parser", "add_parser"]

_TOLERANCE = 1e-3  # of a model's results


def add_parser(commands: Any) -> None:
    """Adds `run` to the subparsers of `xetile`."""
    parser = commands.add_parser(
        "run",
        help="run on random arrays, on the device XETILE_DEVICE names or this CPU; or model.py:Model, of PyTorch; or a "
        "kernel of any compiler, K.spv",
    )
    add_options(parser)
    parser.add_argument(
        "--check", action="store_true", help=f"fail if NumPy's result, or PyTorch's, differs by more than {_TOLERANCE}"
    )
    add_seed(parser)
    parser.add_argument(
        "--repeat", type=_count, default=1, metavar="N", help="run N times, tell the fastest (default: 1)"
    )
    kernel.add_options(parser)
    parser.set_defaults(command=_run)


def add_check_parser(commands: Any) -> None:
    """Adds `check` to the subparsers of `xetile`: `run` of a kernel in SPIR-V under XETILE_CHECK=1."""
    parser = commands.add_parser(
        "check",
        help="run a kernel K.spv and fail if it leaves its arrays, breaks a rule of 2D blocks, or depends on the order "
        "of subgroups",
    )
    add_options(parser)
    add_seed(parser)
    parser.set_defaults(repeat=1, command=_check)
    kernel.add_options(parser)


def _check(options: argparse.Namespace) -> int:
    if not kernel.is_kernel(options.input):
        raise XeTileError(
            f"expected a kernel, K.spv or K.cl, got {options.input}; XETILE_CHECK=1 checks other programs"
        )
    before = os.environ.get("XETILE_CHECK")
    os.environ["XETILE_CHECK"] = "1"
    try:
        status = kernel.run(options)
        print("checked: arrays, rules of 2D blocks, the order of subgroups")
        return status
    finally:
        if before is None:
            del os.environ["XETILE_CHECK"]
        else:
            os.environ["XETILE_CHECK"] = before


def _run(options: argparse.Namespace) -> int:
    if kernel.is_kernel(options.input):
        return kernel.run(options)
    if given := [name for name in ("kernel", "grid", "block", "arg", "out") if getattr(options, name)]:
        raise XeTileError(f"--{given[0]}: expected none but for a kernel in SPIR-V or OpenCL C, K.spv or K.cl")
    if model.is_model(options.input):
        return model.run(options, pass_parameters(options.set), _TOLERANCE)
    import numpy as np

    from xetile import reference
    from xetile.compiling import compiler

    request = read_request(options)
    if options.check and request.schedule is None and request.target.has_device:
        raise XeTileError(
            "--check: expected a function on tensors, of which NumPy computes the same; got a module with kernels: "
            "leave it out"
        )
    has_native = any(option.name == "native" for option in request.target.options)
    more: dict[str, Any] = {"native": "off"} if has_native else {}
    compiled = compiler.compile(*request.arguments, on_stage=watch(options), **more)

    seed = secrets.randbits(32) if options.seed is None else options.seed
    arguments = reference.random_arguments(compiled.signature, np.random.default_rng(seed), request.payload)
    results = compiled(*arguments)
    clock = _Clock(request.target.has_device)
    for _ in range(options.repeat):
        with clock:
            results = compiled(*arguments)
    print(f"{compiled.signature} for {request.target}, on {clock.place}")
    print(clock.tell(reference.count_flops(request.payload)))
    if not options.check:
        print(f"random arrays of seed {seed}; not checked")
        return 0
    expected, tolerance = reference.evaluate(request.payload, arguments), reference.tolerance(request.payload)
    results = results if isinstance(results, tuple) else (results,)
    differences = [reference.compare(*pair) for pair in zip(results, expected, strict=True)]
    for number, difference in enumerate(differences):
        print(f"result {number}: {difference}; random arrays of seed {seed}")
    worst, most = max((difference.max_relative for difference in differences), default=0.0), tolerance
    if worst > most:
        raise XeTileError(f"the results are wrong: relative error {worst:.3g}, expected at most {most:.3g}")
    return 0


class _Clock:
    """The fastest call, and on a device the fastest kernel and what it took to link; made after the first call.

    The runtime has the time of the last kernel alone: that of several is their call's.
    """

    def __init__(self, on_device: bool) -> None:
        self._calls: list[float] = []
        self._kernels: list[float] = []
        self.place = "this CPU"
        self._launches = 1
        self._on_device = on_device
        if on_device:
            from xetile.kernels import runtime

            first = runtime.stats()
            self._kernels.append(first.kernel_seconds)
            self._link = first.build_seconds
            self.place = runtime.selected_device()

    def __enter__(self) -> None:
        if self._on_device:
            from xetile.kernels import runtime

            self._before = runtime.stats().launches
        self._start = time.perf_counter()

    def __exit__(self, *_: Any) -> None:
        self._calls.append(time.perf_counter() - self._start)
        if self._on_device:
            from xetile.kernels import runtime

            now = runtime.stats()
            self._kernels.append(now.kernel_seconds)
            self._launches = now.launches - self._before

    def tell(self, flops: int) -> str:
        seconds = min(self._kernels if self._kernels and self._launches == 1 else self._calls)
        speed = f", {flops / seconds * 1e-9:.1f} GFLOP/s" if seconds and flops else ""
        call = f"call {min(self._calls) * 1e3:.3f} ms"
        if not self._on_device:
            return f"{call}{speed}"
        if self._launches != 1:
            return f"{self._launches} kernels; {call}{speed}; link of the last one {self._link:.2f} s"
        return f"kernel {seconds * 1e3:.2f} ms{speed}; {call}; link {self._link:.2f} s"


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}")
    return int(text)
