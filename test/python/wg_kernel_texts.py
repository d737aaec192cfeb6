# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels at workgroup level whose maps are drawn at random: their loads and stores, and the check of a stage."""

from __future__ import annotations

import numpy as np
import pytest
from workgroups import COLUMNS, Kernel, mapped_tile, plain_type
from xetile_programs import assert_same, vector

each_column = pytest.mark.parametrize("column", COLUMNS)
# Unlucky maps give a subgroup so many pieces of a transpose that the OpenCL driver compiles for up to a minute.
SLOW = {"device": pytest.mark.exhaustive}
most_columns = pytest.mark.parametrize("column", [pytest.param(name, marks=SLOW.get(name, ())) for name in COLUMNS])


def check(kernel: Kernel, column: str, rng: np.random.Generator, **expected: np.ndarray) -> None:
    print(kernel.body)
    arrays = COLUMNS[column](kernel, rng)
    for name, array in expected.items():
        assert_same(np.ascontiguousarray(arrays[name]), np.ascontiguousarray(array))


def loaded(name: str, memref: str, array: np.ndarray, dtype: str, map_: str | None = None) -> str:
    """All of a memref as vector %`name`."""
    tile, kind = mapped_tile(array.shape, dtype, map_), plain_type(array)
    return (
        f"%{name}_tile = xetile.init_tile %{memref}[0, 0] : {kind} -> {tile}\n"
        f"%{name} = xetile.load_tile %{name}_tile : {tile} -> {vector(array.shape, dtype)}\n"
    )


def stored(name: str, memref: str, array: np.ndarray, dtype: str, map_: str | None = None) -> str:
    tile, kind = mapped_tile(array.shape, dtype, map_), plain_type(array)
    return (
        f"%{memref}_tile = xetile.init_tile %{memref}[0, 0] : {kind} -> {tile}\n"
        f"xetile.store_tile %{name}, %{memref}_tile : {vector(array.shape, dtype)}, {tile}\n"
    )


def through(
    op: str, x: np.ndarray, y: np.ndarray, dtypes: tuple[str, str], maps: tuple[str, str], **more: int
) -> Kernel:
    """Y = op(X): X loaded under the first map, Y stored under the second. `op` makes %y of %x."""
    body = loaded("x", "X", x, dtypes[0], maps[0]) + op + "\n" + stored("y", "Y", y, dtypes[1], maps[1])
    return Kernel(body, {"X": x, "Y": y}, **more)


SHAPES = [(48, 64), (64, 32), (1, 96), (80, 1), (24, 24)]
SUBGROUPS = [4, 6, 8]
AXES = [(0,), (1,), (0, 1)]


def drawn(rng: np.random.Generator, most: int = 1 << 20) -> tuple[tuple[int, int], int]:
    """A shape of a vector, of `most` elements, and how many subgroups share it."""
    shapes = [shape for shape in SHAPES if shape[0] * shape[1] <= most]
    return shapes[rng.integers(len(shapes))], int(rng.choice(SUBGROUPS))
