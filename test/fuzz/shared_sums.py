# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls and attentions of random sizes, whose sums workgroups share, on the CPU's OpenCL device against NumPy in f64.

A case is a payload, the number of parts of k or of the keys, a target. What the schedule must refuse is told here from
its documentation: transform.xetile.split_k and split_keys.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from device_kind import DeviceKind
from messages import error_line

TARGETS = ("pvc", "bmg", "lnl")
MASKS = ("none", "none", "causal", "window", "added", "selected")
TOLERANCE = {"f16": 4e-3, "bf16": 2e-2}


class SharedSums(DeviceKind):
    """A kind of the harness."""

    name = "splits"
    time_limit = 120.0

    def generate(self, rng: random.Random) -> dict[str, Any]:
        case: dict[str, Any] = {"target": rng.choice(TARGETS), "seed": rng.randrange(10**6)}
        case["parts"] = rng.choice([1, 2, 2, 3, 3, 4, 5, 7])
        case["dtype"] = rng.choice(["f16", "f16", "bf16"])
        if rng.random() < 0.5:
            m, n = (rng.choice([1, 3, 8, 17, 32, 40]) for _ in range(2))
            return case | {"form": "matmul", "m": m, "n": n, "k": rng.randrange(1, 400)}
        shared = rng.choice([1, 2])
        sizes = {"rows": rng.choice([1, 1, 1, 2, 5, 9]), "heads": shared * rng.choice([1, 2]), "key_heads": shared}
        keys = rng.randrange(20, 300)
        # The driver links an attention of bf16 with heads of 40 for minutes.
        sizes |= {"keys": keys, "inner": rng.choice([16, 32, 64]), "values": rng.choice([16, 32, 48, 64])}
        offset = rng.randrange(keys)
        sizes |= {"mask": rng.choice(MASKS), "offset": offset, "first": offset - rng.randrange(keys)}
        return case | {"form": "attention", "sizes": sizes}

    def check(self, case: dict[str, Any]) -> str | None:
        from harness import count

        count(case["form"] + "s")
        matmul = case["form"] == "matmul"
        text, arrays, expected = _matmul(case) if matmul else _attention(case)
        illegal = must_refuse(case)
        params = {"split_k" if matmul else "split_keys": case["parts"]}
        from xetile.mlir import ir

        with ir.Context():
            payload = ir.Module.parse(text)
        try:
            kernel = self.xetile.compile(payload, case["form"], case["target"], params, native="off")
        except self.xetile.XeTileError as error:
            if illegal:
                count("refused")
                return None
            return f"refused: {error_line(error)}\n{error}"
        if illegal:
            return f"accepted, but the documentation refuses it: {illegal}"
        kept = [array.copy() for array in arrays]
        result = kernel(*arrays).astype(np.float64)
        if any(array.tobytes() != copy.tobytes() for array, copy in zip(arrays, kept, strict=True)):
            return "an argument was changed"
        close = 0.0 if matmul else TOLERANCE[case["dtype"]]
        if not np.allclose(result, expected, rtol=0, atol=close, equal_nan=True):
            return f"wrong result of {case['form']}\n{np.nanmax(np.abs(result - expected))} off"
        return None

    def reduced(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for key in ("m", "n", "k", "parts"):
            if case.get(key, 1) > 1:
                yield case | {key: case[key] // 2}
        if "sizes" in case:
            sizes = case["sizes"]
            yield case | {"sizes": sizes | {"mask": "none"}}
            for key in ("rows", "keys", "inner", "values"):
                if sizes[key] > 16 or (key == "rows" and sizes[key] > 1):
                    yield case | {"sizes": sizes | {key: sizes[key] // 2}}


def must_refuse(case: dict[str, Any]) -> str:
    """Why the parts are refused, "" if they are not: as many as ceil(n / (ceil(n / parts) in whole units)) are."""
    parts = case["parts"]
    if parts == 1:
        return ""
    if case["form"] == "attention":
        n, unit = case["sizes"]["keys"], 16
    else:
        # Steps and cache lines of 32 elements; both kinds of steps, 16 and 32, divide these.
        n, unit = case["k"], 32
    size = math.ceil(math.ceil(n / parts) / unit) * unit
    made = math.ceil(n / size)
    return "" if made == parts else f"{n} in parts of {size} are {made}, not {parts}"


def _matmul(case: dict[str, Any]) -> tuple[str, list[np.ndarray], np.ndarray]:
    """Small integers, whose sums are exact in any order."""
    import ml_dtypes
    import xetile

    rng = np.random.default_rng(case["seed"])
    m, n, k = case["m"], case["n"], case["k"]
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[case["dtype"]]
    a, b = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((m, k), (k, n)))
    c = rng.integers(-3, 4, (m, n)).astype(np.float32)
    return str(xetile.matmul(m, n, k, case["dtype"])), [a, b, c], a.astype(np.float64) @ b.astype(np.float64) + c


def _attention(case: dict[str, Any]) -> tuple[str, list[np.ndarray], np.ndarray]:
    from attention_programs import Attention

    attention = Attention(dtype=case["dtype"], **case["sizes"])
    arrays = attention.arrays(case["seed"], 2.0)
    with np.errstate(invalid="ignore"):
        return attention.text(), arrays, attention.reference(arrays)


KIND = SharedSums()
