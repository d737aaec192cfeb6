# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs snippets of XeTile of one subgroup, to be compared with NumPy.

"blocked": cut into blocks by `xetile-blocking` and run on the host by the operations' meaning;
"device": SPIR-V for pvc, run by one subgroup on the CPU's OpenCL device.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from workgroups import launched, run_launched
from xetile.mlir import ir
from xetile.mlir.execution_engine import ExecutionEngine
from xetile_programs import _narrow_floats, _pack, lower_on_host

TYPES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int8": "i8",
    "int32": "i32",
    "int64": "i64",
}
STAGES = ["blocked", "device"]
each_stage = pytest.mark.parametrize("stage", STAGES)


def memref(array: np.ndarray) -> str:
    """The memref of an array, with a layout only where rows are not packed."""
    shape = "x".join(map(str, array.shape))
    strides = [stride // array.itemsize for stride in array.strides]
    layout = "" if array.flags.c_contiguous else f", strided<[{', '.join(map(str, strides))}]>"
    return f"memref<{shape}x{TYPES[array.dtype.name]}{layout}>"


def tile(rows: int, columns: int, dtype: str, **attributes: str) -> str:
    inner = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    return f"!xetile.tile<{rows}x{columns}x{dtype}{f', #xetile.tile_attr<{inner}>' if inner else ''}>"


def run_stage(stage: str, body: str, *arguments: np.ndarray | int, types: dict[int, str] | None = None) -> None:
    """Runs `body` on arguments %0, %1, ...: arrays are memrefs (`types` replaces some), whole numbers indices."""
    kinds = [memref(argument) if isinstance(argument, np.ndarray) else "index" for argument in arguments]
    for number, kind in (types or {}).items():
        kinds[number] = kind
    parameters = ", ".join(f"%{number}: {kind}" for number, kind in enumerate(kinds))
    keep = [_pack(argument) for argument in arguments]
    with ir.Context(), ir.Location.unknown():
        if stage == "device":
            text = launched(body, {str(number): kind for number, kind in enumerate(kinds)}, subgroups=1)
            run_launched(ir.Module.parse(text), "pvc", keep)
            return
        assert stage == "blocked"
        text = f"func.func @f({parameters}) attributes {{llvm.emit_c_interface}} {{\n{body}\nreturn\n}}"
        module = ir.Module.parse(text)
        lower_on_host(module, "xetile-blocking{chip=pvc},canonicalize,cse,")
        engine = ExecutionEngine(module, opt_level=1, shared_libs=_narrow_floats())
        engine.invoke("f", *keep)


def poisoned(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """What a kernel leaves out cannot pass for a result."""
    kind = {name: code for code, name in TYPES.items()}[dtype]
    number = np.dtype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)
    return np.full(shape, -99 if dtype.startswith("i") else np.nan, number)
