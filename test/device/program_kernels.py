# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems of KernelBench as saved kernels, on a GPU: what PyTorch computes for the same, and how long both take."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TOLERANCE = 1e-2  # of the largest number that is expected: products of f32 may be those of tf32


def arguments_of(case: dict[str, Any], model: Any, inputs: list[Any]) -> list[Any]:
    """Tensors in the order of the kernel's arguments, on the GPU."""
    import torch
    from torch.utils._pytree import tree_leaves

    held = dict(model.named_parameters()) | dict(model.named_buffers())
    given = [leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    kept = torch.load(HERE / case["constants_file"]) if case["constants_file"] else {}
    found = []
    for place in case["arguments"]:
        kind, key = place
        tensor = {"input": given, "state": held, "constant": kept}[kind][key]
        found.append(tensor.detach().cuda().contiguous())
    return found


def run(case: dict[str, Any], kernel: Any, rounds: int, seed: int, guarded: Callable[..., Any]) -> dict[str, Any]:
    """Errors as parts of what is allowed, and microseconds beside eager PyTorch."""
    import torch
    from problem import Problem
    from torch.utils._pytree import tree_leaves, tree_map

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    problem = Problem(HERE / case["source"], case["constants"])
    model, inputs = problem.make(seed=1)
    arguments = arguments_of(case, model, inputs)
    dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
              "i64": torch.int64, "i32": torch.int32, "i8": torch.int8, "i1": torch.bool}  # fmt: skip
    outs = [torch.empty(shape, dtype=dtypes[dtype], device="cuda") for shape, dtype in case["results"]]
    for out in outs:
        out.fill_(math.nan if out.is_floating_point() else 1)
    call = kernel.bind(*arguments, *outs)
    call()
    torch.cuda.synchronize()
    kernel.raise_error()
    model = model.cuda()
    inputs = tree_map(lambda leaf: leaf.cuda() if isinstance(leaf, torch.Tensor) else leaf, inputs)
    with torch.no_grad():
        expected = [leaf for leaf in tree_leaves(model(*inputs)) if isinstance(leaf, torch.Tensor)]
    errors = {str(number): error(*pair) / TOLERANCE for number, pair in enumerate(zip(outs, expected, strict=True))}
    if not max(errors.values()) <= 1:
        return {"errors": errors}
    from triton.testing import do_bench

    times: dict[str, list[float]] = {"ours": [], "peer": []}

    def peer() -> None:
        with torch.no_grad():
            model(*inputs)

    for _ in range(rounds):
        for side, function in (("peer", peer), ("ours", call)):
            times[side].append(do_bench(function, warmup=5, rep=20, return_mode="median") * 1e3)
    return {"errors": errors} | {name: statistics.median(values) for name, values in times.items()}


def error(got: Any, expected: Any) -> float:
    """The largest difference as a part of the largest number that is expected."""
    import torch

    if got.shape != expected.shape:
        return math.inf
    got, expected = got.double(), expected.double()
    finite = torch.isfinite(expected)
    if not bool((torch.isfinite(got) == finite).all()):
        return math.inf
    if not bool(finite.any()):
        return 0.0
    return float((got - expected)[finite].abs().max() / expected[finite].abs().max().clamp(min=1e-6))


def tell(cases: list[dict[str, Any]], results: dict[int, dict[str, Any]]) -> None:
    """Each beside PyTorch, and the geometric mean."""
    print("| program | us | eager us | ratio |\n|---|---|---|---|")
    ratios = []
    for number, result in sorted(results.items()):
        if "ours" in result:
            ratios.append(result["peer"] / result["ours"])
            print(f"| {cases[number]['name']} | {result['ours']:.1f} | {result['peer']:.1f} | {ratios[-1]:.2f} |")
    if ratios:
        print(f"geometric mean of ratios {math.exp(statistics.fmean(map(math.log, ratios))):.3f} of {len(ratios)}")
