# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launch, a load and checks cost beyond the kernel, in one process: the fastest of many; of checks, the median
of rounds that compare them with launches without.

usage: python test/bench/launches.py [--triton]      (through xetile.triton, with its Python and XETILE_TRITON)
"""

from __future__ import annotations

import functools
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from xetile import runtime, selftest_kernel

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from gpu_runtime import compile_opencl  # noqa: E402


def fastest(call: Callable[[], object], times: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """The seconds of the fastest call."""
    best = float("inf")
    for _ in range(times):
        start = clock()
        call()
        best = min(best, clock() - start)
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
    loads, busy, linked = [], [], 0
    for number in range(20):
        words[2] = 0x10000 + number
        module = runtime.Module(words.tobytes())
        before, start = runtime.stats().disk_cache_hits, time.process_time()
        module.load()
        if runtime.stats().disk_cache_hits > before:
            busy.append(time.process_time() - start)
            loads.append(runtime.stats().build_seconds)
        else:
            linked += 1
    if linked:
        print(f"{linked} modules were linked: run again to see what their load from the disk costs")
    else:
        print(
            f"load of a module that another process has linked: {min(loads) * 1e3:.2f} ms, "
            f"of the processor {min(busy) * 1e3:.2f}, half of them below {statistics.median(busy) * 1e3:.2f}"
        )
    big = [np.zeros(shape, dtype) for shape, dtype in (((512, 512), "f2"), ((512, 512), "f2"), ((512, 512), "f4"))]
    checks("GEMM 512^3 by 2D blocks", spirv, lambda module: module["gemm"][(32, 64), 16](*big, 512, 512, 512))
    rows = compile_opencl(ROWS)
    x, y = (np.ones((4000, 1000), "f4") for _ in range(2))
    checks("softmax of 4000 rows of 1000", rows, lambda module: module["softmax"][4000, 16](y, x, 1000))
    for kib in (64, 256, 1024, 4096, 16384, 65536):
        a, b, c = (np.ones(256 * kib, "f4") for _ in range(3))
        name = f"sum, arrays of {kib} KiB"
        checks(name, rows, lambda module, *arrays: module["add"][arrays[0].size // 256, 256](*arrays, 1 << 30), a, b, c)
        checks(
            f"{name}, another number each time",  # so that no launch knows what an earlier one showed
            rows,
            lambda module, numbers, *arrays: module["add"][arrays[0].size // 256, 256](*arrays, next(numbers)),
            itertools.count(1 << 30),
            a,
            b,
            c,
        )
        checks(
            f"{name}, another number each time, a proof by a run",
            rows,
            lambda module, numbers, *arrays: module["add_behind"][arrays[0].size // 256, 256](*arrays, next(numbers)),
            itertools.count(1 << 30),
            a,
            b,
            c,
        )


ROWS = """#define SG16 __attribute__((intel_reqd_sub_group_size(16)))
SG16 kernel void softmax(global float *to, global const float *from, int n) {
  size_t row = get_group_id(0) * n, l = get_local_id(0);
  float most = -INFINITY, sum = 0;
  for (int i = l; i < n; i += 16) most = max(most, from[row + i]);
  most = sub_group_reduce_max(most);
  for (int i = l; i < n; i += 16) sum += exp(from[row + i] - most);
  sum = sub_group_reduce_add(sum);
  for (int i = l; i < n; i += 16) to[row + i] = exp(from[row + i] - most) / sum;
}
SG16 kernel void add(global float *to, global const float *a, global const float *b, int most) {
  int i = get_global_id(0);
  if (i < most) to[i] = a[i] + b[i];
}
SG16 kernel void add_behind(global float *to, global const float *a, global const float *b, int most) {
  int i = get_global_id(0), at = i + (popcount(most) >> 6);  // by 0, which no range of numbers tells
  if (i < most) to[at] = a[at] + b[at];
}
"""


def checks(name: str, spirv: bytes, launch: Callable[..., object], *arguments: object) -> None:
    """The ratio of a launch under XETILE_CHECK=1 to one without, in time and in the processor's, which others that use
    the machine change less: the median of rounds of both, and the quarters around it."""
    calls = []
    for value in "01":
        os.environ["XETILE_CHECK"] = value
        calls.append(functools.partial(launch, runtime.Module(spirv), *arguments))
        for _ in range(3):
            calls[-1]()
    os.environ["XETILE_CHECK"] = "0"
    times = max(1, int(0.01 / fastest(calls[0], 5)))
    rounds = []
    for _ in range(31):
        figures = []
        for value, call in zip("01", calls, strict=True):
            os.environ["XETILE_CHECK"] = value
            start, busy = time.perf_counter(), time.process_time()
            for _ in range(times):
                call()
            figures += [(time.perf_counter() - start) / times, (time.process_time() - busy) / times]
        rounds.append(figures)
    del os.environ["XETILE_CHECK"]
    seconds, busy_seconds, _, _ = np.median(rounds, axis=0)
    low, middle, high = np.quantile([figures[3] / figures[1] for figures in rounds], (0.25, 0.5, 0.75))
    print(
        f"checks: {name}: of the processor {middle:.2f} times ({low:.2f} to {high:.2f}; {busy_seconds * 1e3:.2f} ms "
        f"without), {statistics.median(figures[2] / figures[0] for figures in rounds):.2f} times as long "
        f"({seconds * 1e3:.2f} ms)"
    )


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
