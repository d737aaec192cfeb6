# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of f32 that are exact: numbers at the ends of the range, and errors beside those of cuBLAS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

KIND, NUMBERS = "f32", "f32_numbers"
ROUNDS = ("positive", "large", "tiny")
"""What numbers are besides those of all kernels: sums of one sign, close to the largest, below 2**-100."""


def rounds(case: dict[str, Any]) -> tuple[str, ...]:
    """Those of a kernel. Results of large ones are beyond f16 but for the few that cancel to 2**-15 of the others, and
    which those are is a matter of rounding."""
    return tuple(what for what in ROUNDS if (what, case["output"]) != ("large", "f16"))


def scale(what: str, arrays: list[Any]) -> None:
    """Makes A of a round large or tiny, and B such that the product is neither."""
    if what == "large":
        arrays[0].clamp_(-3.9, 3.9).mul_(2.0**126)
        arrays[1].mul_(2.0**-100)
    elif what == "tiny":
        arrays[0].mul_(2.0**-110)
        arrays[1].mul_(2.0**100)


def errors(
    case: dict[str, Any], kernel: Any, seed: int, inputs: Callable[..., Any], expected: Callable[..., Any],
    peer: Callable[..., Any],
) -> dict[str, tuple[float, float]]:  # fmt: skip
    """The largest errors, ours and cuBLAS's, as parts of the largest result in f64; none of products that take long."""
    import torch

    found: dict[str, tuple[float, float]] = {}
    if case["m"] * case["n"] * case["k"] > 2**36:
        return found
    for what in ("normal", "positive"):
        arrays = inputs(case, seed + 1, what == "positive")
        ours, theirs = (torch.full((case["m"], case["n"]), torch.nan, device="cuda") for _ in range(2))
        kernel.bind(*arrays, ours)()
        torch.cuda.synchronize()
        kernel.raise_error()
        theirs = peer(case, arrays, theirs)()
        right = expected(case, arrays)
        of_ours, of_theirs = (float((got.double() - right).abs().max() / right.abs().max()) for got in (ours, theirs))
        found[what] = of_ours, of_theirs
    return found


def tell(result: dict[str, Any]) -> None:
    """A line for each sort of numbers."""
    for what in ("normal", "positive"):
        if what in result:
            ours, theirs = result[what]
            print(f"  {what} numbers: errors {ours:.2e}, cuBLAS's {theirs:.2e} of the largest result")
