# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cores of a machine that strangers share: those that compute fastest now, on which all sides of a comparison run.

A virtual core shares its units and caches with another one, of anybody. On the host of an H200 the same loop of
multiply-adds took 1.0 to 2.0 times as long from core to core and from second to second: threads of two libraries that
Linux puts on different cores would be compared by that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Of this size NumPy multiplies with one thread.
SIZE, PASSES, PASS_SECONDS = 60, 4, 0.003


def rank_cores(passes: int = PASSES) -> list[int]:
    """The cores that this thread may use, the fastest first: by the mean of some passes over all of them, as who
    shares a core comes and goes."""
    allowed = os.sched_getaffinity(0)
    a, b, out = (np.ones((SIZE, SIZE), np.float32) for _ in range(3))
    seconds = dict.fromkeys(sorted(allowed), 0.0)
    try:
        for _ in range(passes):
            for core in seconds:
                os.sched_setaffinity(0, {core})
                seconds[core] += seconds_of_product(a, b, out)
    finally:
        os.sched_setaffinity(0, allowed)
    return sorted(seconds, key=seconds.__getitem__)


def seconds_of_product(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> float:
    count, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < PASS_SECONDS:
        np.matmul(a, b, out=out)
        count += 1
    return passed / count


def stay_on(cores: Sequence[int]) -> None:
    """Binds all threads of this process, those of libraries, too, and so what they start later."""
    for task in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(task.name), cores)
        except ProcessLookupError:  # it has ended
            continue
