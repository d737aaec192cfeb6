# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in the memory of a device, which kernels take where they are: nothing is copied in a call.

What is computed of frozen arguments is in such arrays; see `xetile.codegen.frozen`.
"""

from __future__ import annotations

import itertools
import math
import os
import weakref

import numpy as np

from xetile.kernels import runtime
from xetile.kernels.signature import ArraySpec

__all__ = ["DeviceArray"]


class DeviceArray:
    """Memory of the device that kernels run on now, for an array of static sizes in C order; any numbers at first.

    It is freed when nobody has the object any more. XeTileError where the device has no memory left.
    """

    def __init__(self, spec: ArraySpec) -> None:
        self.shape, self.dtype = spec.shape, spec.numpy_dtype
        self.ndim, self.itemsize = len(spec.shape), self.dtype.itemsize
        sizes = itertools.accumulate(reversed(spec.shape), lambda a, b: a * b, initial=self.itemsize)
        self.strides = tuple(reversed(list(sizes)[:-1]))
        self.nbytes = math.prod(spec.shape) * self.itemsize
        self.address = runtime.allocate(self.nbytes)
        # At the end of the process the driver may be gone before this is.
        weakref.finalize(self, _free, self.address, os.getpid()).atexit = False

    def misfit(self, spec: ArraySpec) -> str | None:
        """The mismatch with a specification ("expected ..., got ..."), or None."""
        if self.shape == spec.shape and self.dtype == spec.numpy_dtype:
            return None
        return f"expected {spec} on the device, got {np.dtype(self.dtype).name}{list(self.shape)}"

    def __repr__(self) -> str:
        return f"<DeviceArray {self.dtype}{list(self.shape)}>"


def _free(address: int, process: int) -> None:
    if os.getpid() == process:  # a child of fork() has no memory of its own there
        runtime.free(address)
