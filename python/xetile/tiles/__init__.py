# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language of kernels by hand, which `xetile.kernel` builds: tiles of arrays, vectors of their elements, loops.

    from xetile import tiles

    rows = tiles.wg_map(sg_layout=(8, 1), sg_data=(4, 256))     # 8 subgroups, of 4 rows of 256 columns each

    @xetile.kernel("4096x256xf32", "4096x256xf32", grid=(128,))
    def softmax(x: tiles.Array, y: tiles.Array) -> None:
        at = (tiles.workgroup_id(0) * 32, 0)
        values = x.tile((32, 256), at, map=rows).load()
        powers = tiles.exp(values - values.fmax(1))
        y.tile((32, 256), at).store(powers / powers.sum(1))

    kernel = xetile.compile(softmax, target="pvc")              # a xetile.Kernel, of the package xetile.kernels
    kernel(x, y)                                                # writes to y

The function runs once, when it is built: what Python computes in it are constants, its own loops are unrolled.
"""

from xetile.tiles.decorator import TileKernel, kernel
from xetile.tiles.functions import (
    abs,
    arange,
    ceil,
    erf,
    exp,
    exp2,
    floor,
    fma,
    fmax,
    fmin,
    full,
    log,
    log2,
    maximum,
    minimum,
    mma,
    rsqrt,
    sqrt,
    tanh,
    where,
    workgroup_id,
    zeros,
)
from xetile.tiles.loops import Loop, range
from xetile.tiles.memory import Array, Tile
from xetile.tiles.types import WgMap, wg_map
from xetile.tiles.values import Scalar, Vector

__all__ = [
    "Array",
    "Loop",
    "Scalar",
    "Tile",
    "TileKernel",
    "Vector",
    "WgMap",
    "abs",
    "arange",
    "ceil",
    "erf",
    "exp",
    "exp2",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "full",
    "kernel",
    "log",
    "log2",
    "maximum",
    "minimum",
    "mma",
    "range",
    "rsqrt",
    "sqrt",
    "tanh",
    "wg_map",
    "where",
    "workgroup_id",
    "zeros",
]
