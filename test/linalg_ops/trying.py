# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles one payload for a target, runs it on this machine's OpenCL device and says what came of it."""

from __future__ import annotations

from typing import Any

import catalog
import numpy as np
from payloads import NUMPY, Case, Expected

__all__ = ["attempt", "difference"]


def attempt(trial: catalog.Trial, seed: int) -> dict[str, Any]:
    """What became of it: its `state` and `reason`, with the payload's `text`.

    "right"    the numbers are those that NumPy has, as near as the types allow; the outputs held other bytes before
    "wrong"    other numbers, or other memory
    "refused"  an error of xetile's
    "invalid"  MLIR does not read the payload: it is this program that is wrong
    """
    import xetile
    from xetile.mlir import ir

    case = catalog.case(trial, seed)
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = False
        try:
            module = ir.Module.parse(case.text)
        except ir.MLIRError as error:
            return {"state": "invalid", "reason": _line(str(error)), "text": case.text}
        try:
            kernel = xetile.compile(module, target=trial.target, native="off")
        except xetile.XeTileError as error:
            return {"state": "refused", "reason": _line(str(error)), "text": case.text}
    before = [array.copy() for array in case.arrays]
    out = tuple(_poisoned(each) for each in case.results)
    kernel(*case.arrays, out=out if len(out) > 1 else out[0])
    text = difference(case, out)
    if text is None and not all(_same(*pair) for pair in zip(before, case.arrays, strict=True)):
        text = "an argument was written to"
    return {"state": "right"} if text is None else {"state": "wrong", "reason": text, "text": case.text}


def _line(text: str) -> str:
    """The first error of a message that names a place, else its first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if "error:" in line]
    return (told or lines)[0][:300]


def _poisoned(expected: Expected) -> np.ndarray:
    dtype = np.dtype(NUMPY[expected.dtype])
    size = expected.values.size
    # Booleans are bytes of 0 and 1.
    byte = b"\x01" if expected.dtype == "i1" else b"\xa5"
    return np.frombuffer(byte * (size * dtype.itemsize), dtype).reshape(expected.values.shape).copy()


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.tobytes() == b.tobytes()


def difference(case: Case, out: tuple[np.ndarray, ...]) -> str | None:
    """The element that is farthest from what it has to be, if any is too far."""
    for number, (expected, got) in enumerate(zip(case.results, out, strict=True)):
        if (text := _difference(expected, got)) is not None:
            return f"result {number}: {text}"
    return None


def _difference(expected: Expected, got: np.ndarray) -> str | None:
    if expected.values.size == 0:
        return None
    if expected.dtype[0] == "i":
        is_far = got != expected.values
        excess = is_far.astype(np.float64)
    else:
        exact, found = expected.values.astype(np.float64), got.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            # What the type cannot hold is infinite in it.
            rounded = exact.astype(NUMPY[expected.dtype]).astype(np.float64)
            allowed = 0.0 if expected.allowed is None else expected.allowed
            near = np.isfinite(exact) & (np.abs(found - exact) <= allowed)
        alike = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
        is_far = ~(alike | near)
        with np.errstate(all="ignore"):
            excess = np.where(np.isfinite(found - exact), np.abs(found - exact), np.inf)
    if not is_far.any():
        return None
    place = np.unravel_index(np.argmax(np.where(is_far, excess, -1)), got.shape)
    count = int(is_far.sum())
    where = f" at {tuple(int(each) for each in place)}" if place else ""
    return f"{count} of {got.size} wrong; expected {expected.values[place]}, got {got[place]}{where}"
