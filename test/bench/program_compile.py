# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a program of 20 kernels takes to SPIR-V, and one whose layers are alike; part of `make bench`.

usage: program_compile.py [--json]

A layer is a product of f16 matrices, relu, and a softmax: two kernels. In the first program each of ten layers has
sizes of its own, in the second all have the same. Times are the processor's, the best of ROUNDS behind a first one,
from the module to validated SPIR-V. Fails if the ten layers that are alike take LIMIT times what one layer takes.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import xetile
from xetile.mlir import ir
from xetile.reports.launches import launches_in

LAYERS = 10
ROUNDS = 3
LIMIT = 4.0
ROWS, WIDTH = 512, 768


def program(widths: list[int]) -> ir.Module:
    """Layers from each width to the next one."""
    inputs = [f"%w{number}: tensor<{k}x{n}xf16>" for number, (k, n) in enumerate(zip(widths, widths[1:], strict=False))]
    lines = []
    for number, (k, n) in enumerate(zip(widths, widths[1:], strict=False)):
        wide, narrow = f"tensor<{ROWS}x{n}xf32>", f"tensor<{ROWS}x{n}xf16>"
        lines.append(f"""
  %e{number} = tensor.empty() : {wide}
  %z{number} = linalg.fill ins(%zero : f32) outs(%e{number} : {wide}) -> {wide}
  %m{number} = linalg.matmul ins(%x{number}, %w{number} : tensor<{ROWS}x{k}xf16>, tensor<{k}x{n}xf16>)
      outs(%z{number} : {wide}) -> {wide}
  %r{number} = linalg.map {{ arith.maximumf }} ins(%m{number}, %z{number} : {wide}, {wide}) outs(%e{number} : {wide})
  %s{number} = linalg.softmax dimension(1) ins(%r{number} : {wide}) outs(%e{number} : {wide}) -> {wide}
  %x{number + 1} = arith.truncf %s{number} : {wide} to {narrow}""")
    last = f"tensor<{ROWS}x{widths[-1]}xf16>"
    with ir.Context():
        return ir.Module.parse(f"""
func.func @program(%x0: tensor<{ROWS}x{widths[0]}xf16>, {", ".join(inputs)}) -> {last} {{
  %zero = arith.constant 0.0 : f32{"".join(lines)}
  return %x{len(widths) - 1} : {last}
}}""")


def seconds_of_processor() -> float:
    """Of this process and of those that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(widths: list[int]) -> dict[str, Any]:
    """Kernels, launches, seconds of the processor, and of those the shares of the levels."""
    module, found = program(widths), {}
    for turn in range(ROUNDS + 1):
        marks = [seconds_of_processor()]

        def note(_: xetile.kernels.kernel.Stage, marks: list[float] = marks) -> None:
            marks.append(seconds_of_processor())

        kernel = xetile.compile(module, target="pvc", native="off", on_stage=note)
        seconds = marks[-1] - marks[0]
        if turn and seconds < found.get("seconds", float("inf")):
            parts = zip(kernel.stages, marks, marks[1:], strict=False)
            launches = launches_in(kernel.stages.stage("4-xegpu").module)
            found = {
                "kernels": len(launches),
                "launches": sum(each.places for each in launches.values()),
                "seconds": seconds,
                "levels": {name: end - start for name, start, end in parts},
            }
    return found


def main() -> int:
    different = measure([WIDTH + 64 * number for number in range(LAYERS + 1)])
    alike, one = measure([WIDTH] * (LAYERS + 1)), measure([WIDTH] * 2)
    figures = {"different": different, "alike": alike, "one": one, "ratio": alike["seconds"] / one["seconds"]}
    if "--json" in sys.argv[1:]:
        print(json.dumps(figures))
    else:
        for name in ("different", "alike"):
            row = figures[name]
            counts = f"{row['launches']} launches of {row['kernels']} kernels"
            print(f"{LAYERS} layers, {name}: {counts}, {row['seconds']:.2f} s to SPIR-V")
        print("  " + ", ".join(f"{level} {seconds:.2f}" for level, seconds in different["levels"].items()))
        print(f"alike against one layer: {figures['ratio']:.1f} times, limit {LIMIT}")
        print(f"different against one layer: {different['seconds'] / one['seconds']:.1f} times")
    return 0 if figures["ratio"] < LIMIT and alike["kernels"] == one["kernels"] else 1


if __name__ == "__main__":
    sys.exit(main())
