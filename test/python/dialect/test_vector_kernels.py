# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of upstream's vectors, through convert-vector-to-xetile to the device, against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest
import xetile
from xetile import passes
from xetile.mlir import ir

ORDERS = {"mk": "(m, k)", "km": "(k, m)", "kn": "(k, n)", "nk": "(n, k)", "mn": "(m, n)", "nm": "(n, m)"}


def compiled(chip: str, arguments: dict[str, str], body: str) -> xetile.Kernel:
    """A kernel of one subgroup."""
    names = ", ".join(f"%{name} : {kind}" for name, kind in arguments.items())
    typed = ", ".join(f"%{name}: {kind}" for name, kind in arguments.items())
    text = f"""
    module attributes {{gpu.container_module}} {{
      gpu.module @kernels {{
        gpu.func @kernel({typed}) kernel attributes {{known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
          %c0 = arith.constant 0 : index
          {body}
          gpu.return
        }}
      }}
      func.func @run({typed}) {{
        %one = arith.constant 1 : index
        %threads = arith.constant 16 : index
        gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args({names})
        return
      }}
    }}"""  # noqa: E501
    with ir.Context():
        module = ir.Module.parse(text)
        passes.run(module, "gpu.module(convert-vector-to-xetile,canonicalize)")
        return xetile.compile(module, target=chip, native="off")


def read(name: str, shape: tuple[int, ...], dtype: str) -> str:
    sizes = "x".join(map(str, shape))
    indices, inside = ", ".join(["%c0"] * len(shape)), ", ".join(["true"] * len(shape))
    return (
        f"%pad{name} = arith.constant 0.0 : {dtype}\n"
        f"%{name.lower()} = vector.transfer_read %{name}[{indices}], %pad{name}"
        f" {{in_bounds = [{inside}]}} : memref<{sizes}x{dtype}>, vector<{sizes}x{dtype}>"
    )


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
@pytest.mark.parametrize(
    ("a", "b", "c"), [("mk", "nk", "mn"), ("km", "kn", "mn"), ("km", "nk", "nm"), ("mk", "kn", "nm")]
)
def test_products_in_any_order_of_dimensions(rng, chip, a, b, c):
    sizes = {"m": 32, "n": 48, "k": 64}
    shapes = [tuple(sizes[dim] for dim in dims) for dims in (a, b, c)]
    kinds = [f"{s[0]}x{s[1]}x{t}" for s, t in zip(shapes, ("f16", "f16", "f32"), strict=True)]
    maps = ", ".join(f"affine_map<(m, n, k) -> {ORDERS[dims]}>" for dims in (a, b, c))
    body = f"""
      {read("A", shapes[0], "f16")}
      {read("B", shapes[1], "f16")}
      {read("C", shapes[2], "f32")}
      %d = vector.contract {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"],
          kind = #vector.kind<add>}} %a, %b, %c : vector<{kinds[0]}>, vector<{kinds[1]}> into vector<{kinds[2]}>
      vector.transfer_write %d, %C[%c0, %c0] {{in_bounds = [true, true]}} : vector<{kinds[2]}>, memref<{kinds[2]}>"""
    kernel = compiled(chip, dict(zip("ABC", (f"memref<{kind}>" for kind in kinds), strict=True)), body)
    arrays = [rng.standard_normal(shape).astype(t) for shape, t in zip(shapes, ("f2", "f2", "f4"), strict=True)]
    expected = arrays[2] + np.einsum(f"{a},{b}->{c}", *(x.astype(np.float64) for x in arrays[:2]))
    kernel(*arrays)
    np.testing.assert_allclose(arrays[2], expected, atol=1e-4)


@pytest.mark.parametrize(("chip", "rows", "columns"), [("pvc", 16, 64), ("bmg", 8, 48), ("lnl", 5, 33)])
def test_a_softmax_with_a_gain_and_the_sums_of_columns(rng, chip, rows, columns):
    """Rows are reduced to vectors of one dimension, and repeated by a broadcast and a transpose, as upstream has it."""
    full, flipped = f"vector<{rows}x{columns}xf32>", f"vector<{columns}x{rows}xf32>"
    row, column = f"vector<{rows}xf32>", f"vector<{columns}xf32>"

    def repeated(name: str, value: str) -> str:
        return (
            f"%{name}w = vector.broadcast %{value} : {row} to {flipped}\n"
            f"%{name} = vector.transpose %{name}w, [1, 0] : {flipped} to {full}"
        )

    body = f"""
      {read("X", (rows, columns), "f32")}
      {read("G", (columns,), "f32")}
      %low = arith.constant dense<-1.0e30> : {row}
      %none = arith.constant dense<0.0> : {row}
      %zero = arith.constant dense<0.0> : {column}
      %start = arith.constant 1.0 : f32
      %m = vector.multi_reduction <maximumf>, %x, %low [1] : {full} to {row}
      {repeated("mm", "m")}
      %d = arith.subf %x, %mm : {full}
      %p = math.exp %d : {full}
      %s = vector.multi_reduction <add>, %p, %none [1] : {full} to {row}
      {repeated("ss", "s")}
      %y = arith.divf %p, %ss : {full}
      %gg = vector.broadcast %g : {column} to {full}
      %w = arith.mulf %y, %gg : {full}
      vector.transfer_write %w, %Y[%c0, %c0] {{in_bounds = [true, true]}} : {full}, memref<{rows}x{columns}xf32>
      %t = vector.multi_reduction <add>, %y, %zero [0] : {full} to {column}
      %all = vector.multi_reduction <add>, %y, %start [0, 1] : {full} to f32
      %each = vector.broadcast %all : f32 to {column}
      %u = arith.addf %t, %each : {column}
      vector.transfer_write %u, %T[%c0] {{in_bounds = [true]}} : {column}, memref<{columns}xf32>"""
    matrix, line = f"memref<{rows}x{columns}xf32>", f"memref<{columns}xf32>"
    kernel = compiled(chip, {"X": matrix, "G": line, "Y": matrix, "T": line}, body)
    x, g = rng.standard_normal((rows, columns)).astype("f4") * 4, rng.standard_normal(columns).astype("f4")
    y, t = np.full_like(x, np.nan), np.full_like(g, np.nan)
    kernel(x, g, y, t)
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    expected = powers / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(y, expected * g, atol=1e-6)
    np.testing.assert_allclose(t, expected.sum(0) + 1 + rows, rtol=1e-5)
