# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random schedules of a matmul and random kernels of XeTile, run on the CPU's OpenCL device and compared with NumPy.

A case of the form "schedule" is a payload, parameters of the schedule `matmul`, steps that extend it, a target. What
the schedule must refuse is told here from its documentation (transform.xetile.check_matmul_tiling). A case of the form
"kernel" is one of xetile_kernel.py.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import xetile_kernel
from bounded import NUMPY, Bounded, contract, is_float
from data import draw_array
from device_kind import DeviceKind
from expressions import Invalid, constant
from kernel_draw import draw_kernel, smaller_kernels
from messages import error_line

TARGETS = ("pvc", "bmg", "lnl")
# The one reason for which a kernel may be refused: what a value takes of them depends on how it is cut.
TOO_LARGE = " bytes of registers "
# What no tile tells the owner of: a kernel of several subgroups must not compute it in each of them.
UNMAPPED = " without a wg_map in a kernel of "
ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "i32": 4}
# Steps that may follow in a schedule and change no result.
EXTENSIONS = ("canonicalize", "cse", "annotate", "infer maps", "distribute", "hoist", "prefetch more")


class GpuSchedules(DeviceKind):
    """A kind of the harness."""

    name = "gpu"
    time_limit = 60.0  # the OpenCL driver takes 25 s for a minimum of 3,000 numbers of f16

    def generate(self, rng: random.Random) -> dict[str, Any]:
        schedule = rng.random() < 0.4
        case = {"form": "schedule", **_draw_schedule(rng)} if schedule else {"form": "kernel", **draw_kernel(rng)}
        # The portable versions of Intel's builtins link in half of the time that those for CPUs take.
        builtins = rng.choice(["lockstep", *["portable"] * 11])
        return case | {"target": rng.choice(TARGETS), "builtins": builtins, "seed": rng.randrange(10**6)}

    def check(self, case: dict[str, Any]) -> str | None:
        from harness import count

        count(case["form"] + "s")
        os.environ["XETILE_BUILTINS"] = case["builtins"]
        return self._check_schedule(case) if case["form"] == "schedule" else self._check_kernel(case)

    def _check_schedule(self, case: dict[str, Any]) -> str | None:
        from harness import count

        illegal = must_refuse(case)
        try:
            kernel = self.xetile.compile(
                _payload(case),
                _schedule(case),
                target=case["target"],
                native="off",
                large_registers=case["large"],
            )
        except self.xetile.XeTileError as error:
            if illegal or must_refuse(case, narrow=True):
                count("refused schedules")
                return None
            return f"schedule refused: {error_line(error)}\n{error}"
        if illegal:
            return f"a schedule was accepted that the documentation refuses: {illegal}"
        rng = np.random.default_rng(case["seed"])
        m, n, k = case["m"], case["n"], case["k"]
        arrays = [
            draw_array(rng, (m, k), case["dtype"], case["data"]),
            draw_array(rng, (k, n), case["dtype"], case["data"]),
        ]
        sums = _sums(case)
        number = case["start"] if case["start"] != "C" else 0
        start = constant(number if is_float(sums) else int(number), sums)
        start = start.view(lambda v: np.broadcast_to(v, (m, n)))
        if case["start"] == "C":
            arrays.append(draw_array(rng, (m, n), sums, case["data"]))
            start = Bounded.exact(sums, arrays[2])
        kept = [array.copy() for array in arrays]
        a, b = (Bounded.exact(case["dtype"], array) for array in arrays[:2])
        result = kernel(*arrays)
        if any(array.tobytes() != copy.tobytes() for array, copy in zip(arrays, kept, strict=True)):
            return "an argument was changed"
        wrong = contract(("mk", "kn", "mn"), a, b, start).difference(result)
        return f"wrong result of a schedule\n{wrong}" if wrong else None

    def _check_kernel(self, case: dict[str, Any]) -> str | None:
        from harness import count
        from xetile import XeTileError, passes
        from xetile.mlir import ir

        arrays = kernel_arrays(case)
        with ir.Context():
            module = ir.Module.parse(xetile_kernel.write(case))
            try:
                passes.run(module, f"xetile-lower-to-binary{{chip={case['target']} native=off}}")
            except XeTileError as error:
                if TOO_LARGE in str(error) or (UNMAPPED in str(error) and _has_a_sum_of_no_tile(case)):
                    count("refused kernels")
                    return None
                return f"kernel refused: {error_line(error)}\n{error}"
            kept = {name: array.copy() for name, array in arrays.items()}
            self._launch(module, arrays)
        expected = xetile_kernel.compute(case, kept)
        for name, array in arrays.items():
            if name not in expected:
                if array.tobytes() != kept[name].tobytes():
                    return f"a matrix was changed that the kernel only reads: {name}"
                continue
            value, written = expected[name]
            # OpenCL's division has 2.5 units in the last place.
            values = np.where(written, value.values, kept[name].astype(value.values.dtype))
            loose = Bounded(value.dtype, values, np.where(written, value.error * 4, 0.0))
            if wrong := loose.difference(array):
                kind = "integers" if not is_float(value.dtype) else value.dtype
                return f"wrong result of a kernel: {kind}\nmatrix {name}: {wrong}"
        return None

    def _launch(self, module: Any, arrays: dict[str, np.ndarray]) -> None:
        from xetile import runtime
        from xetile.mlir.execution_engine import ExecutionEngine
        from xetile.mlir.runtime import get_ranked_memref_descriptor

        with runtime.checked():
            engine = ExecutionEngine(
                module, opt_level=0, shared_libs=[str(runtime.library_path())], enable_object_dump=False
            )
            engine.initialize()  # loads the kernel, which a global constructor does
            descriptors = [ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(a))) for a in arrays.values()]
            engine.invoke("main", *descriptors)

    def reduced(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if case["form"] == "schedule":
            yield from (candidate for candidate in _smaller_schedules(case) if candidate != case)
            return
        for candidate in smaller_kernels(case):
            try:
                xetile_kernel.check_types(candidate)
                xetile_kernel.write(candidate)
            except (Invalid, IndexError, KeyError):
                continue
            if candidate != case:
                yield candidate

    def describe(self, case: dict[str, Any]) -> str:
        if case["form"] == "schedule":
            text = json.dumps(case)
        else:
            text = xetile_kernel.write(case) + f"\n// xetile-lower-to-binary{{chip={case['target']} native=off}}"
        return f"{text}\n\n{super().describe(case)}"


# Schedules


def _draw_schedule(rng: random.Random) -> dict[str, Any]:
    subgroups = [rng.choice([1, 1, 2, 2, 3, 4]) for _ in range(2)]
    subgroup_m, subgroup_n = rng.choice([8, 8, 16, 24, 32]), rng.choice([16, 16, 32, 48, 64])
    k_step = rng.choice([16, 16, 32, 32, 48, 64])
    # Most of a case's time goes into the OpenCL driver's link, by the size of the code.
    most = rng.choices([1, 2, 4, 8, 16], [8, 6, 3, 2, 1])[0]
    while (subgroup_m // 8) * (subgroup_n // 16) * (k_step // 16) > most:
        subgroup_m, subgroup_n = rng.choice([8, 16]), rng.choice([16, 32])
        k_step = rng.choice([16, 16, 32])
    tile = [subgroup_m * subgroups[0], subgroup_n * subgroups[1]]
    m, n = tile[0] * rng.choice([1, 1, 2, 3]), tile[1] * rng.choice([1, 1, 2, 3])
    k = k_step * rng.choice([1, 2, 3, 5])
    if rng.random() < 0.95:  # rows of 64 bytes
        n, k = max(n, 32 // tile[1] * tile[1]), max(k, 32 // k_step * k_step)
    params = {
        "workgroup_m": tile[0],
        "workgroup_n": tile[1],
        "subgroups_m": subgroups[0],
        "subgroups_n": subgroups[1],
        "k_step": k_step,
        "prefetch": rng.choice([0, 1, 1, 2, 3, 5, 64]),
    }
    if _prefetch_is_uneven(params, 2) and rng.random() < 0.8:
        params["prefetch"] = 0
    case = {"m": m, "n": n, "k": k, "dtype": rng.choice(["f16", "bf16"])}
    if rng.random() < 0.2:  # something that does not fit
        if rng.random() < 0.5:
            params[rng.choice(list(params))] = rng.choice([1, 3, 8, 12, 16, 24, 40, 64, 100, 256])
        else:
            case[rng.choice("mnk")] = rng.choice([1, 8, 15, 16, 24, 31, 33, 48, 72, 100, 129])
    if rng.random() < 0.04:
        case["dtype"] = rng.choice(["i8", "f32"])
    return case | {
        "start": rng.choice(["C", "C", 0.0, 0.0, 1.5]),
        "params": params,
        "large": rng.choice([None, None, True, False]),
        "extend": rng.sample(EXTENSIONS, rng.choice([0, 0, 0, 1, 2])),
        "data": rng.choice(["normal", "normal", "integers"]),
    }


def _has_a_sum_of_no_tile(case: dict[str, Any]) -> bool:
    """Whether the walk's loop carries what reads no load, and no store reads it."""
    walk = case["walk"]
    if not walk or xetile_kernel.reads(walk["body"], 0):
        return False
    number = len(xetile_kernel.input_types(case)) - 1
    return not any(xetile_kernel.reads(store["body"], number) for store in case["stores"])


def must_refuse(case: dict[str, Any], narrow: bool = False) -> str:
    """Why check_matmul_tiling refuses a case, "" if it does not; `narrow` also tells what may be refused."""
    p, bytes_ = case["params"], ELEMENT_BYTES[case["dtype"]]
    if case["dtype"] == "f32":
        return "choose_tiling_c4"
    if p["workgroup_m"] % p["subgroups_m"] or p["workgroup_n"] % p["subgroups_n"]:
        return "check_tiling_c3"
    rows, columns = p["workgroup_m"] // p["subgroups_m"], p["workgroup_n"] // p["subgroups_n"]
    if rows % 8 or columns % 16 or p["k_step"] * bytes_ % 32:
        return "check_tiling_c4"
    if not 0 <= p["prefetch"] <= 64:
        return "check_tiling_c1"
    operands = (rows + columns) * p["k_step"] * bytes_
    sums = rows * columns * 4
    if sums > 256 * 64 or p["subgroups_m"] * p["subgroups_n"] > 64:
        return "check_tiling_c5 or c6"
    if narrow and (sums + operands > 128 * 64 or p["subgroups_m"] * p["subgroups_n"] > 32):
        return "near the limits of check_tiling_c5 and c6"
    # With one step there is no loop to prefetch in.
    ahead = p["prefetch"] and case["k"] > p["k_step"]
    may_prefetch = narrow and (p["prefetch"] or "prefetch more" in case["extend"])
    if (ahead or may_prefetch) and _prefetch_is_uneven(p, bytes_):
        return "insert_prefetch_c5"
    return ""


def _prefetch_is_uneven(params: dict[str, int], bytes_: int) -> bool:
    """Whether the subgroups cannot share the blocks of a prefetch evenly: whole rows of at most 64 bytes."""
    count = params["subgroups_m"] * params["subgroups_n"]

    def is_shared(rows: int, columns: int) -> bool:
        width = min(columns, 64 // bytes_)
        across = min(columns // width, count)
        if columns % width or count % across or columns // width % across:
            return False
        along = count // across
        return rows % along == 0 or along % rows == 0

    step = params["k_step"]
    return not (is_shared(params["workgroup_m"], step) and is_shared(step, params["workgroup_n"]))


def _sums(case: dict[str, Any]) -> str:
    """The type of what the products are added to."""
    return "i32" if case["dtype"] == "i8" else "f32"


def _payload(case: dict[str, Any]) -> Any:
    from xetile.mlir import ir

    m, n, k, dtype = (case[key] for key in ("m", "n", "k", "dtype"))
    sums = _sums(case)
    a, b, c = f"tensor<{m}x{k}x{dtype}>", f"tensor<{k}x{n}x{dtype}>", f"tensor<{m}x{n}x{sums}>"
    start, parameters = "%C", f"%A: {a}, %B: {b}, %C: {c}"
    lines = []
    if case["start"] != "C":
        number = f"{float(case['start'])}" if sums == "f32" else str(int(case["start"]))
        start, parameters = "%filled", f"%A: {a}, %B: {b}"
        lines = [
            f"%number = arith.constant {number} : {sums}",
            f"%empty = tensor.empty() : {c}",
            f"%filled = linalg.fill ins(%number : {sums}) outs(%empty : {c}) -> {c}",
        ]
    lines.append(f"%D = linalg.matmul ins(%A, %B : {a}, {b}) outs({start} : {c}) -> {c}")
    body = "\n  ".join(lines)
    with ir.Context():
        return ir.Module.parse(f"func.func @matmul({parameters}) -> {c} {{\n  {body}\n  return %D : {c}\n}}")


def _schedule(case: dict[str, Any]) -> Any:
    from xetile import schedule
    from xetile.mlir.dialects import transform
    from xetile.mlir.dialects.transform import structured

    chosen = schedule.load("matmul").with_params(**case["params"])

    def pass_(name: str) -> Any:
        return lambda module: transform.apply_registered_pass(transform.AnyOpType.get(), module, name)

    def prefetch(module: Any) -> None:
        from xetile.mlir import ir

        any_op = transform.AnyOpType.get()
        loads = structured.structured_match(any_op, module, ops=["xetile.load_tile"])
        i64 = ir.IntegerType.get_signless(64)
        one = transform.param_constant(transform.ParamType.get(i64), ir.IntegerAttr.get(i64, 1))
        ir.Operation.create("transform.xetile.insert_prefetch", results=[any_op], operands=[loads, one])

    steps = {
        "canonicalize": pass_("canonicalize"),
        "cse": pass_("cse"),
        "infer maps": pass_("xetile-infer-wg-map"),
        "distribute": pass_("xetile-wg-to-sg"),
        "hoist": pass_("loop-invariant-code-motion"),
        "annotate": lambda module: transform.annotate(module, "mine.mark"),
        "prefetch more": prefetch,
    }
    for name in sorted(case["extend"], key=EXTENSIONS[::-1].index):
        chosen = chosen.extend(steps[name])
    return chosen


def _smaller_schedules(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for i in range(len(case["extend"])):
        yield case | {"extend": case["extend"][:i] + case["extend"][i + 1 :]}
    plain = {"large": None, "data": "integers", "start": 0.0, "dtype": "f16", "target": "pvc", "builtins": "portable"}
    for key, value in plain.items():
        if case[key] != value:
            yield case | {key: value}
    params = case["params"]
    if params["prefetch"]:
        for less in (0, 1):
            if less < params["prefetch"]:
                yield case | {"params": params | {"prefetch": less}}
    for dim, tile in (("m", "workgroup_m"), ("n", "workgroup_n"), ("k", "k_step")):
        if case[dim] != params[tile]:
            yield case | {dim: params[tile]}
            yield case | {dim: params[tile] * 2}
    for dim, unit in (("m", 8), ("n", 16)):
        count = params[f"subgroups_{dim}"]
        for less in {1, count - 1} - {0, count}:
            size = params[f"workgroup_{dim}"] // count * less
            yield case | {dim: size, "params": params | {f"subgroups_{dim}": less, f"workgroup_{dim}": size}}
        size = unit * count
        if params[f"workgroup_{dim}"] > size:
            yield case | {dim: size, "params": params | {f"workgroup_{dim}": size}}
    if params["k_step"] > 16:
        yield case | {"k": case["k"] // params["k_step"] * 16, "params": params | {"k_step": 16}}


# Kernels


def kernel_arrays(case: dict[str, Any]) -> dict[str, np.ndarray]:
    """The matrices by name; what is stored to holds something else before."""
    rng, arrays = np.random.default_rng(case["seed"]), {}
    for name, matrix in xetile_kernel.operands(case):
        rows, columns = matrix["size"]
        whole = (rows, matrix.get("pitch") or columns)
        if name.startswith("S"):
            poison = np.nan if is_float(matrix["t"]) else -99
            array = np.full(whole, poison, NUMPY[matrix["t"]])
        else:
            array = draw_array(rng, whole, matrix["t"], case["data"])
        arrays[name] = array[:, :columns]
    return arrays


KIND = GpuSchedules()
__all__ = ["KIND", "GpuSchedules"]
