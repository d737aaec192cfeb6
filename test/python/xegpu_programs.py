# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XeGPU by hand on one subgroup, lowered by `xetile-lower-xegpu-to-binary` and run on the device."""

import ctypes

import element_types
import numpy as np
from xetile import passes, runtime
from xetile.mlir import ir
from xetile.mlir.execution_engine import ExecutionEngine

DTYPES = element_types.dtypes("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64")
NAMES = {dtype: name for name, dtype in DTYPES.items()} | {np.dtype(np.uint8): "i8"}
BODY = """
module attributes {{gpu.container_module}} {{
  gpu.module @device {{
    {extra}
    gpu.func @kernel({parameters}) {attributions} kernel
        attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      {body}
      gpu.return
    }}
  }}
  func.func @main({parameters}) attributes {{llvm.emit_c_interface}} {{
    %one = arith.constant 1 : index
    %threads = arith.constant {threads} : index
    gpu.launch_func @device::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args({arguments})
    return
  }}
}}"""


def run(
    level: str,
    body: str,
    extra: str = "",
    attributions: str = "",
    subgroups: int = 1,
    kinds: dict[str, str] | None = None,
    chip: str = "pvc",
    **arrays: np.ndarray,
) -> None:
    """Runs `body` on the subgroups of one workgroup; memrefs are `arrays` by name, written in place.

    `level` "xetile" takes XeTile; `kinds` replaces types of memrefs.
    """
    types = {name: f"memref<{'x'.join(map(str, a.shape))}x{NAMES[a.dtype]}>" for name, a in arrays.items()}
    types |= kinds or {}
    text = BODY.format(
        extra=extra,
        attributions=attributions,
        body=body,
        threads=16 * subgroups,
        parameters=", ".join(f"%{name}: {kind}" for name, kind in types.items()),
        arguments=", ".join(f"%{name} : {kind}" for name, kind in types.items()),
    )
    options = f"chip={chip} native=off"
    pipeline = (
        f"xetile-lower-to-binary{{{options}}}"
        if level == "xetile"
        else f"xetile-lower-xegpu-to-binary{{{options} xegpu-op-level={level}}}"
    )
    with ir.Context():
        module = ir.Module.parse(text)
        passes.run(module, pipeline)
        with runtime.checked():
            engine = ExecutionEngine(module, opt_level=2, shared_libs=[str(runtime.library_path())])
            engine.initialize()
            memrefs = [
                np.array([a.ctypes.data, a.ctypes.data, 0, *a.shape, *(s // a.itemsize for s in a.strides)], np.int64)
                for a in arrays.values()
            ]
            addresses = [ctypes.c_void_p(memref.ctypes.data) for memref in memrefs]
            engine.lookup("main")((ctypes.c_void_p * len(addresses))(*map(ctypes.addressof, addresses)))


def numbers(dtype: str, *shape: int, seed: int = 0) -> np.ndarray:
    """Small numbers that are exact in every type; no two neighbours alike."""
    values = np.random.default_rng(seed).integers(-31, 32, shape)
    return values.astype(DTYPES[dtype])


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal to the bit."""
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual.view(f"i{actual.itemsize}"), expected.view(f"i{actual.itemsize}"))
