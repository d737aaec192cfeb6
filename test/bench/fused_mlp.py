# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast a layer of an MLP is, gelu(x @ w.T + b), against PyTorch as it runs it and as torch.compile's inductor does.

usage: fused_mlp.py [--json FILE] [--threads N ...] [--types T ...] [--rows MxKxN ...] [--quick] [--strict]

Sizes are rows of x, features in, features out; weights lie as nn.Linear has them, out x in. "xetile" is a module of
linalg ops, "xetile.torch" torch.compile with the backend xetile, "frozen" the same with weights packed once. All make a
new result in each call, and take turns in one process; the best call counts. Results are compared with NumPy's in f64
before.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import json
import math
import os
import sys
from collections.abc import Callable, Mapping

import deep_tile
import numpy as np

ERF, TANH = "erf", "tanh"
LAYERS = ((128, 1024, 4096), (256, 768, 3072), (64, 512, 512), (512, 1024, 1024), (1, 4096, 4096))
# These are measured with the other form of GELU, too.
WITH_TANH = LAYERS[:1] + LAYERS[2:3]
# Against PyTorch without a compiler.
LIMITS = {"mean": 1.15, "rows": 1.0}
# Of the largest element: sums of f32, and roundings to bf16 of the sum and of the result.
ERRORS = {"f32": 1e-5, "bf16": 1e-2}
EAGER, COMPILED, OURS, THROUGH_TORCH, FROZEN = "eager", "inductor", "xetile", "xetile.torch", "frozen"
# More of them on one thread: they need not wait for other libraries' threads.
TURNS, TURN_SECONDS = {1: 6, 2: 2}, 0.05

_GELU = {
    ERF: """
      %root = arith.constant 0.70710678118654752 : f32
      %inner = arith.mulf %y, %root : f32
      %step = math.erf %inner : f32""",
    TANH: """
      %cubic = arith.constant 0.044715 : f32
      %root = arith.constant 0.79788456080286536 : f32
      %square = arith.mulf %y, %y : f32
      %cube = arith.mulf %square, %y : f32
      %more = arith.mulf %cube, %cubic : f32
      %sum = arith.addf %y, %more : f32
      %inner = arith.mulf %sum, %root : f32
      %step = math.tanh %inner : f32""",
}


def module(layer: tuple[int, int, int], dtype: str, form: str) -> object:
    """The layer as a matmul and one elementwise op."""
    from xetile.mlir import ir

    m, k, n = layer
    x, w, b, y, sums = (
        f"tensor<{shape}x{kind}>"
        for shape, kind in (
            (f"{m}x{k}", dtype),
            (f"{n}x{k}", dtype),
            (str(n), dtype),
            (f"{m}x{n}", dtype),
            (f"{m}x{n}", "f32"),
        )
    )
    narrow = dtype != "f32"
    with ir.Context():
        return ir.Module.parse(
            f"""
            #x = affine_map<(m, n, k) -> (m, k)>
            #w = affine_map<(m, n, k) -> (n, k)>
            #y = affine_map<(m, n, k) -> (m, n)>
            #all = affine_map<(m, n) -> (m, n)>
            #column = affine_map<(m, n) -> (n)>
            func.func @layer(%x: {x}, %w: {w}, %b: {b}) -> {y} {{
              %zero = arith.constant 0.0 : f32
              %half = arith.constant 0.5 : f32
              %one = arith.constant 1.0 : f32
              %e = tensor.empty() : {sums}
              %z = linalg.fill ins(%zero : f32) outs(%e : {sums}) -> {sums}
              %product = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : {x}, {w}) outs(%z : {sums}) -> {sums}
              %o = tensor.empty() : {y}
              %r = linalg.generic {{indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}}
                  ins(%product, %b : {sums}, {b}) outs(%o : {y}) {{
              ^bb0(%p: f32, %c: {dtype}, %unused: {dtype}):
                {"%wide = arith.extf %c : " + dtype + " to f32" if narrow else ""}
                %y = arith.addf %p, {"%wide" if narrow else "%c"} : f32
                {_GELU[form]}
                %shifted = arith.addf %step, %one : f32
                %part = arith.mulf %y, %half : f32
                %g = arith.mulf %part, %shifted : f32
                {"%out = arith.truncf %g : f32 to " + dtype if narrow else ""}
                linalg.yield {"%out" if narrow else "%g"} : {dtype}
              }} -> {y}
              return %r : {y}
            }}"""
        )


def expected(x: np.ndarray, w: np.ndarray, b: np.ndarray, form: str) -> np.ndarray:
    """The layer in f64."""
    y = x.astype("f8") @ w.astype("f8").T + b.astype("f8")
    if form == TANH:
        return 0.5 * y * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))
    return 0.5 * y * (1 + np.vectorize(math.erf, otypes=["f8"])(y * math.sqrt(0.5)))


def in_torch(
    arrays: list[np.ndarray], dtype: str, form: str, threads: int, said: set[str]
) -> Mapping[str, Callable[[], object]]:
    """PyTorch's ways to compute the layer; adds to `said` why one is missing."""
    import torch
    from torch.nn import functional

    torch.set_num_threads(threads)
    torch._dynamo.reset()
    # The same memory for all: NumPy asks for huge pages, PyTorch does not.
    kind, bits = {"f32": (torch.float32, "i4"), "bf16": (torch.bfloat16, "i2")}[dtype]
    x, w, b = (torch.from_numpy(array.view(bits)).view(kind) for array in arrays)
    approximate = "tanh" if form == TANH else "none"

    def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return functional.gelu(functional.linear(x, w, b), approximate=approximate)

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.b = torch.nn.Parameter(w), torch.nn.Parameter(b)

        def forward(self, x: torch.Tensor, *unused: torch.Tensor) -> torch.Tensor:
            return functional.gelu(functional.linear(x, self.w, self.b), approximate=approximate)

    ways = {EAGER: layer}
    if importlib.util.find_spec("torch_mlir"):
        from xetile.torch import backend

        options = {"threads": threads, "strict": True}
        ways[THROUGH_TORCH] = torch.compile(layer, backend=backend, options=options)
        ways[FROZEN] = torch.compile(Layer(), backend=backend, options={**options, "freeze": True})
    else:
        said.add(f"left out, as torch-mlir is not installed (pip install 'xetile[torch]'): {THROUGH_TORCH}, {FROZEN}")
    # Each function of its own: a compiled one is found by its code.
    compiled = torch.compile(functools.partial(layer))
    try:
        compiled(x, w, b)
    except Exception as error:  # of many kinds; the usual one is that there is no compiler for C++
        said.add(f"left out, as torch.compile failed: {COMPILED}: {next(iter(str(error).splitlines()), '')}")
    else:
        ways[COMPILED] = compiled
    return {name: functools.partial(way, x, w, b) for name, way in ways.items()}


def to_array(result: object) -> np.ndarray:
    return (result if isinstance(result, np.ndarray) else result.double().numpy()).astype("f8")


def measure(threads: int, types: list[str], layers: list[tuple[int, int, int]], turns: int) -> list[dict[str, object]]:
    """A row for each type, size and form of GELU, and what is said about missing sides."""
    import torch
    from xetile import cpu

    rng = np.random.default_rng(1)
    rows, said = [], set()
    with torch.no_grad():
        for dtype in types:
            for layer, form in [(layer, form) for layer in layers for form in (ERF, TANH)]:
                if form == TANH and layer in LAYERS and layer not in WITH_TANH:
                    continue
                kernel = cpu.compile(module(layer, dtype, form), threads=threads)
                arrays = [deep_tile.draw(rng, spec) for spec in kernel.arguments]
                # As nn.Linear starts.
                arrays[1] = (arrays[1].astype("f4") / math.sqrt(layer[1])).astype(arrays[1].dtype)
                sides = {OURS: functools.partial(kernel, *arrays)}
                sides |= in_torch(arrays, dtype, form, threads, said)
                right = expected(*arrays, form)
                for name, call in sides.items():
                    error = np.abs(to_array(call()) - right).max() / np.abs(right).max()
                    if not error < ERRORS[dtype]:
                        sys.exit(f"bench: error: {name} of {layer} {dtype} {form} is wrong by {error:.2g}")
                seconds = deep_tile.take_turns(sides, turns, threads, TURN_SECONDS)
                rows.append({"layer": layer, "dtype": dtype, "form": form, "threads": threads, "seconds": seconds})
    return [{"said": line} for line in sorted(said)] + rows


def report(rows: list[dict[str, object]]) -> bool:
    """Prints tables and means; whether the limits hold."""
    good = True
    for line in dict.fromkeys(row["said"] for row in rows if "said" in row):
        print(line)
    rows = [row for row in rows if "said" not in row]
    sides = [
        side for side in (OURS, THROUGH_TORCH, FROZEN, EAGER, COMPILED) if all(side in row["seconds"] for row in rows)
    ]
    for threads, dtype in dict.fromkeys((row["threads"], row["dtype"]) for row in rows):
        chosen = [row for row in rows if row["threads"] == threads and row["dtype"] == dtype]
        print(
            f"\ngelu(linear), {dtype}, {threads} thread{'s' * (threads > 1)}; microseconds of a call with a new result"
        )
        print(f"{'rows x in x out':>18} {'gelu':>5} " + " ".join(f"{side:>12}" for side in sides) + "  eager/xetile")
        for row in chosen:
            best = row["seconds"]
            print(
                f"{'x'.join(map(str, row['layer'])):>18} {row['form']:>5} "
                + " ".join(f"{1e6 * best[side]:>12.1f}" for side in sides)
                + f" {best[EAGER] / best[OURS]:>13.2f}"
            )
        for ours, peer in [(ours, peer) for ours in sides[:-1] for peer in sides[1:]]:
            if ours not in (OURS, THROUGH_TORCH, FROZEN) or peer not in (EAGER, COMPILED):
                continue
            limits = LIMITS if (ours, peer) == (OURS, EAGER) else {}
            line, reached = deep_tile.summary([row["seconds"][peer] / row["seconds"][ours] for row in chosen], limits)
            print(f"{ours} against {peer}: {line}", flush=True)
            good &= reached
    return good


def read_layer(text: str) -> tuple[int, int, int]:
    with contextlib.suppress(ValueError):
        m, k, n = (int(word) for word in text.split("x"))
        if min(m, k, n) > 0:
            return m, k, n
    raise argparse.ArgumentTypeError(f"expected MxKxN, got {text}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--types", nargs="+", choices=list(ERRORS), default=list(ERRORS))
    parser.add_argument("--rows", type=read_layer, nargs="+", metavar="MxKxN", default=list(LAYERS))
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--strict", action="store_true", help="fail where a limit is not reached")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        turns = 2 if options.quick else TURNS.get(options.one, 2)
        print(json.dumps(measure(options.one, options.types, options.rows, turns)))
        return 0
    print()
    if deep_tile.without_torch("layers of an MLP"):
        return 0
    names = ["x".join(map(str, layer)) for layer in options.rows]
    arguments = ["--types", *options.types, "--rows", *names] + ["--quick"] * options.quick
    rows = deep_tile.in_processes(os.path.abspath(__file__), options.threads, arguments)
    good = report(rows)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file)
    return 1 if options.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
