# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls a kernel's shared object on arrays of exactly the right sizes; run under AddressSanitizer's runtime.

usage: call_sanitized.py DIRECTORY

DIRECTORY has kernel.so, call.json and the arguments' bytes, `0`, `1` and so on; results are written beside them.
"""

import ctypes
import json
import sys
from pathlib import Path

import numpy as np


def descriptor(data: np.ndarray, shape: list[int]) -> ctypes.Array:
    strides = [int(np.prod(shape[dim + 1 :])) for dim in range(len(shape))]
    return (ctypes.c_int64 * (3 + 2 * len(shape)))(data.ctypes.data, data.ctypes.data, 0, *shape, *strides)


def main() -> None:
    directory = Path(sys.argv[1])
    call = json.loads((directory / "call.json").read_text())
    function = ctypes.CDLL(str(directory / "kernel.so"))._mlir_ciface_f
    # Each array is an allocation of its own: AddressSanitizer knows where it starts and ends.
    arrays = [np.fromfile(directory / str(number), np.uint8) for number in range(len(call["shapes"]))]
    descriptors = [descriptor(array, shape) for array, shape in zip(arrays, call["shapes"], strict=True)]
    if call["returns"]:
        shape = call["shapes"][-1]
        returned = descriptor(arrays[-1], shape)
        function(ctypes.byref(returned), *map(ctypes.byref, descriptors))
        size = arrays[-1].size
        result = np.frombuffer((ctypes.c_char * size).from_address(returned[1]), np.uint8) if size else arrays[-1]
    else:
        result = np.full(arrays[-1].size, 0xFF, np.uint8)
        function(*map(ctypes.byref, [*descriptors, descriptor(result, call["shapes"][-1])]))
    result.tofile(directory / "result")


if __name__ == "__main__":
    main()
