# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one problem and prints what came of it as JSON, in a process that may crash.

usage: child.py FILE --elements N --threads N [--seconds S] [--inductor] [--freeze]
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import xetile.torch
from inductor import count_kernels
from problem import Problem
from xetile import XeTileError
from xetile.compiling import compiler
from xetile.kernels.kernel import Kernel
from xetile.reports.launches import launches_in
from xetile.reports.report import statistics
from xetile.system import tools
from xetile.torch.importing import NotImportedError

TOLERANCE = 1e-3
EAGERS = 2.0
"""How many times eager's error, measured against f64, ours may be where that is over the tolerance."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--elements", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--inductor", action="store_true")
    parser.add_argument("--freeze", action="store_true")
    parser.add_argument("--target", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch._dynamo.config.allow_rnn = True
    problem = Problem(options.file)
    if options.elements:
        problem = problem.shrunk(options.elements)
    print(json.dumps(run(problem, options)), flush=True)


def run(problem: Problem, options: argparse.Namespace) -> dict[str, Any]:
    """`state` is how far it came: "not imported", "not compiled", "wrong" or "right"."""
    model, inputs = problem.make(seed=1)
    found: dict[str, Any] = {"constants": problem.constants}
    with torch.no_grad():
        expected = model(*inputs)
        settings = {"target": options.target, "strict": True, "freeze": options.freeze}
        settings |= {"threads": options.threads} if options.target == "cpu" else {"native": "off"}
        function = torch.compile(model, backend=xetile.torch.backend, options=settings, dynamic=False)
        kernels = recorded()
        start = time.perf_counter()
        try:
            got = function(*inputs)
        except Exception as error:
            cause = getattr(error, "inner_exception", error)
            if not isinstance(cause, XeTileError):
                raise
            state = "not imported" if isinstance(cause, NotImportedError) else "not compiled"
            return {**found, "state": state, "reason": str(cause)[:600]}
        found["compile_seconds"] = time.perf_counter() - start
        if options.target != "cpu":
            launches = [launches_in(kernel.stages.stage("4-xegpu").module, kernel.name) for kernel in kernels]
            found["kernels"] = sum(each.places for names in launches for each in names.values())
            found["inductor_kernels"] = count_kernels(copy.deepcopy(model), inputs)
            found["spills"] = spills(kernels, options.target)
        error = difference(got, expected)
        if not error <= TOLERANCE:
            # Where little is left of large numbers, eager's own result has no digits either: f64 tells.
            exact = in_f64(model, inputs)
            errors = [difference(each, exact) for each in (got, expected)]
            if not errors[0] <= max(TOLERANCE, EAGERS * errors[1]):
                reason = f"relative error {error:.3g}; to f64 {errors[0]:.3g}, eager's {errors[1]:.3g}"
                return {**found, "state": "wrong", "reason": reason}
            found["eager_error"] = errors[1]
        sides = {"eager": lambda: model(*inputs), "ours": lambda: function(*inputs)}
        if options.inductor:
            torch._dynamo.reset()
            other = torch.compile(model, backend="inductor", dynamic=False)
            other(*inputs)
            sides["inductor"] = lambda: other(*inputs)
        return {**found, "state": "right", "error": error, "seconds": fastest(sides, options.seconds)}


def recorded() -> list[Kernel]:
    """All kernels that are compiled from now on."""
    made: list[Kernel] = []
    compile_kernel = compiler.compile

    def record(*arguments: Any, **options: Any) -> Kernel:
        kernel = compile_kernel(*arguments, **options)
        made.append(kernel)
        return kernel

    compiler.compile = record
    return made


def spills(kernels: list[Kernel], chip: str) -> dict[str, int] | None:
    """What machine code of the kernels spills to memory, in bytes of a thread, of those that do; None without ocloc."""
    if not tools.find_ocloc():
        return None
    counted = [each for kernel in kernels if kernel.spirv for each in statistics(kernel.spirv, chip)]
    return {each.kernel: each.spill_bytes for each in counted if each.spill_bytes}


def in_f64(model: torch.nn.Module, inputs: list[Any]) -> Any:
    """What the model gives when it computes in f64."""
    wide = [each.double() if isinstance(each, torch.Tensor) and each.is_floating_point() else each for each in inputs]
    return copy.deepcopy(model).double()(*wide)


def difference(got: Any, expected: Any) -> float:
    """The largest difference, over the largest number that was expected."""
    if isinstance(expected, (tuple, list)):
        return max((difference(*pair) for pair in zip(got, expected, strict=True)), default=0.0)
    got, expected = got.double(), expected.double()
    if got.shape != expected.shape or not torch.equal(got.isfinite(), expected.isfinite()):
        return float("inf")
    finite = expected.isfinite()
    if not finite.any():
        return 0.0
    scale = max(expected[finite].abs().max().item(), 1e-6)
    return (got - expected)[finite].abs().max().item() / scale


def fastest(sides: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Each side's fastest call, in turns."""
    best = dict.fromkeys(sides, float("inf"))
    end = time.perf_counter() + seconds * len(sides)
    turns = 0
    while time.perf_counter() < end or turns < 3:
        for name, side in sides.items():
            start = time.perf_counter()
            side()
            best[name] = min(best[name], time.perf_counter() - start)
        turns += 1
    return best


if __name__ == "__main__":
    main()
