# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launch, a load and checks cost beyond the kernel: the fastest of many, in one process.

usage: python test/bench/launches.py [--triton]      (through xetile.triton, with its Python and XETILE_TRITON)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np
from xetile import runtime, selftest_kernel


def fastest(call: Callable[[], object], times: int) -> float:
    """The seconds of the fastest call."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def by_module() -> None:
    spirv = selftest_kernel.spirv()
    arrays = [np.zeros(shape, dtype) for shape, dtype in (((8, 32), "f2"), ((32, 32), "f2"), ((8, 32), "f4"))]
    module = runtime.Module(spirv)
    kernel = module["gemm"]
    kernel[(2, 1), 16](*arrays, 8, 32, 32)
    call = fastest(lambda: kernel[(2, 1), 16](*arrays, 8, 32, 32), 3000)
    print(f"launch by Module: {(call - runtime.stats().kernel_seconds) * 1e6:.0f} us beyond its kernel")
    load = fastest(lambda: runtime.Module(spirv).load(), 50)
    print(f"load of a module that this process has linked: {load * 1e3:.2f} ms")
    # As another process would find it: the same code under another number of the tool that made it.
    words = np.frombuffer(spirv, "u4").copy()
    loads, linked = [], 0
    for number in range(10):
        words[2] = 0x10000 + number
        before = runtime.stats().disk_cache_hits
        runtime.Module(words.tobytes()).load()
        if runtime.stats().disk_cache_hits > before:
            loads.append(runtime.stats().build_seconds)
        else:
            linked += 1
    if linked:
        print(f"{linked} modules were linked: run again to see what their load from the disk costs")
    else:
        print(f"load of a module that another process has linked: {min(loads) * 1e3:.2f} ms")
    big = [np.zeros(shape, dtype) for shape, dtype in (((512, 512), "f2"), ((512, 512), "f2"), ((512, 512), "f4"))]
    plain = fastest(lambda: kernel[(32, 64), 16](*big, 512, 512, 512), 10)
    os.environ["XETILE_CHECK"] = "1"
    checked = runtime.Module(spirv)["gemm"]
    checked[(32, 64), 16](*big, 512, 512, 512)
    with_checks = fastest(lambda: checked[(32, 64), 16](*big, 512, 512, 512), 10)
    del os.environ["XETILE_CHECK"]
    print(f"checks: {with_checks / plain:.2f} times ({plain * 1e3:.1f} ms without)")


def by_triton() -> None:
    import xetile.triton

    xetile.triton.activate()
    import torch
    import triton

    global tl
    import triton.language as tl

    @triton.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    x = torch.zeros(64)
    add[(1,)](x, x, x, 64, BLOCK=64)
    call = fastest(lambda: add[(1,)](x, x, x, 64, BLOCK=64), 3000)
    beyond = call - runtime.stats().kernel_seconds
    print(f"launch by Triton: {beyond * 1e6:.0f} us beyond its kernel, Triton's part included")


if __name__ == "__main__":
    by_triton() if "--triton" in sys.argv[1:] else by_module()
