# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls a saved kernel with a driver whose launches run PTX on this CPU; in a process of its own.

usage: ptx_programs.py KERNEL DRIVER RESULT ARRAY..., arrays as .npy; XETILE_CUDA_DRIVER is DRIVER.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import ml_dtypes
import numpy as np
import ptx_machine
import ptx_ring

HOOK = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_void_p)
)
failed: list[BaseException] = []
parsed: dict[bytes, dict[str, ptx_machine.Entry]] = {}


def allocated(driver: Any) -> ptx_machine.Memory:
    start, size = ctypes.c_uint64(), ctypes.c_uint64()
    pieces, number = [], 0
    while driver.fakeDriverMemory(number, ctypes.byref(start), ctypes.byref(size)):
        if start.value:
            bytes_ = (ctypes.c_uint8 * size.value).from_address(start.value)
            pieces.append((start.value, np.ctypeslib.as_array(bytes_)))
        number += 1
    return ptx_machine.Memory(pieces)


def install(driver: Any) -> Any:
    """The hook, which has to be kept."""

    def launch(ptx: bytes, name: bytes, sizes: Any, parameters: Any) -> None:
        try:
            # Kernels with barriers in memory have a ring of tiles.
            machine = ptx_ring if b"mbarrier" in ptx else ptx_machine
            entries = parsed.setdefault(ptx, machine.parse(ptx.decode()))
            entry = entries[name.decode()]
            values = {
                parameter: ctypes.string_at(parameters[number], size)
                for number, (parameter, size) in enumerate(entry.parameters.items())
            }
            machine.launch(entry, tuple(sizes[:6]), sizes[6], values, allocated(driver))
        except BaseException as error:  # a callback of C gives none further
            failed.append(error)

    hook = HOOK(launch)
    driver.fakeDriverHook(hook)
    return hook


def main() -> None:
    import xetile

    kernel_file, driver_file, result, *files = sys.argv[1:]
    hook = install(ctypes.CDLL(driver_file))
    kernel = xetile.load(kernel_file)
    # NumPy's files have no bf16: their bits go as whole numbers.
    got = kernel(*(np.load(file).view(ml_dtypes.bfloat16) if ".bf16." in file else np.load(file) for file in files))
    if failed:
        raise failed[0]
    results = {}
    for number, array in enumerate(got if isinstance(got, tuple) else (got,)):
        is_bf16 = array.dtype == ml_dtypes.bfloat16
        results[f"{'bf16' if is_bf16 else 'r'}_{number}"] = array.view(np.uint16) if is_bf16 else array
    np.savez(result, **results)
    del hook


if __name__ == "__main__":
    main()
