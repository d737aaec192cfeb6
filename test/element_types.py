# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's types of MLIR's element types, for all tests."""

import ml_dtypes
import numpy as np

_SCALARS = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}


def scalars(*names: str) -> dict[str, type]:
    """MLIR's name -> the type of NumPy's scalars, as `np.float16`; integers have signs."""
    return {name: _SCALARS[name] for name in names}


def dtypes(*names: str) -> dict[str, np.dtype]:
    """MLIR's name -> `np.dtype`."""
    return {name: np.dtype(_SCALARS[name]) for name in names}
