# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The XeTile dialect: one class per operation, generated from its definition, its types and its attributes.

tile = TileType.get([64, 32], ir.F16Type.get(), TileAttr.get(order=[0, 1]))
load = LoadTileOp(init.tile)                      # the result's type follows from the tile
"""

from .._mlir_libs._xetileTypes import TileAttr as TileAttr
from .._mlir_libs._xetileTypes import TileType as TileType
from .._mlir_libs._xetileTypes import WgMapAttr as WgMapAttr
from ._xetile_ops_gen import *  # noqa: F403
from ._xetile_ops_gen import _Dialect as _Dialect
