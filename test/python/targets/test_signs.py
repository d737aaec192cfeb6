# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of bytes whose signs differ, by every way that a program has to a kernel, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import xetile
from xetile.mlir import ir

EXTENSION = {np.int8: "extsi", np.uint8: "extui"}
SIGNS = [(a, b) for a in EXTENSION for b in EXTENSION]
# Whole tiles; edges of all three loops; a batch.
SHAPES = [(1, 64, 32, 64), (1, 37, 29, 83), (3, 17, 16, 40)]
WAYS = {
    "cpu": {"target": "cpu"},
    "cpu in threads, packed": {"target": "cpu", "threads": 2, "pack": "always"},
    "cpu_matmul": {"target": "cpu", "schedule": "cpu_matmul"},
    "cpu_model": {"target": "cpu", "schedule": "cpu_model"},
    "matmul on pvc": {"target": "pvc", "schedule": "matmul", "native": "off"},
    "matmul on bmg": {"target": "bmg", "schedule": "matmul", "native": "off"},
    "pvc": {"target": "pvc", "native": "off"},
}


def product(batch: int, m: int, n: int, k: int, signs: tuple[type, type], between: str = "") -> ir.Module:
    """c + a * b; `between` computes on the bytes %p of an element-wise op before the product, if it is not empty."""
    kinds = [f"tensor<{batch}x{rows}x{columns}xi8>" for rows, columns in ((m, k), (k, n))]
    result = f"tensor<{batch}x{m}x{n}xi32>"
    both = "affine_map<(b, m, n) -> (b, m, n)>"
    first = (
        f"""%e = tensor.empty() : {kinds[0]}
        %x = linalg.generic {{indexing_maps = [{both}, {both}], iterator_types = ["parallel", "parallel", "parallel"]}}
            ins(%a : {kinds[0]}) outs(%e : {kinds[0]}) {{
        ^bb0(%p: i8, %q: i8):
          {between}
          linalg.yield %r : i8
        }} -> {kinds[0]}"""
        if between
        else ""
    )
    casts = [EXTENSION[sign] for sign in signs]
    with ir.Context():
        return ir.Module.parse(f"""
      func.func @f(%a: {kinds[0]}, %b: {kinds[1]}, %c: {result}) -> {result} {{
        {first}
        %d = linalg.generic {{indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
            affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
            iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
            ins({"%x" if between else "%a"}, %b : {kinds[0]}, {kinds[1]}) outs(%c : {result}) {{
        ^bb0(%p: i8, %q: i8, %o: i32):
          %s = arith.{casts[0]} %p : i8 to i32
          %t = arith.{casts[1]} %q : i8 to i32
          %u = arith.muli %s, %t : i32
          %v = arith.addi %o, %u : i32
          linalg.yield %v : i32
        }} -> {result}
        return %d : {result}
      }}""")


def check(
    rng: np.random.Generator, module: ir.Module, shape: tuple[int, ...], signs, change=lambda a: a, **way
) -> None:
    batch, m, n, k = shape
    a, b = (
        rng.integers(np.iinfo(sign).min, np.iinfo(sign).max, sizes, sign, endpoint=True)
        for sign, sizes in zip(signs, ((batch, m, k), (batch, k, n)), strict=True)
    )
    c = rng.integers(-1000, 1000, (batch, m, n)).astype(np.int32)
    expected = c + change(a).astype(np.int32) @ b.astype(np.int32)
    out = np.full_like(c, 0x55555555)
    xetile.compile(module, **way)(a.view(np.int8), b.view(np.int8), c, out=out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("way", WAYS)
def test_signs_survive_every_way(rng, way, signs, shape):
    check(rng, product(*shape, signs), shape, signs, **WAYS[way])


# What computes the bytes is fused into the product: what folds an extension there must keep its sign.
BETWEEN = {
    "sum": ("%one = arith.constant 1 : i8\n%r = arith.addi %p, %one : i8", lambda a: a + a.dtype.type(1)),
    "low half": (
        "%h = arith.trunci %p : i8 to i4\n%r = arith.extui %h : i4 to i8",
        lambda a: (a.view(np.uint8) & 15).view(a.dtype),
    ),
    "low half, signed": (
        "%h = arith.trunci %p : i8 to i4\n%r = arith.extsi %h : i4 to i8",
        lambda a: ((a.view(np.uint8) << 4).view(np.int8) >> 4).view(a.dtype),
    ),
    "constant": ("%r = arith.constant 200 : i8", lambda a: np.full_like(a, np.uint8(200).astype(a.dtype))),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("way", ["cpu", "cpu_model", "matmul on pvc"])
def test_signs_survive_what_computes_the_bytes(rng, way, between, signs):
    text, change = BETWEEN[between]
    shape = (1, 33, 32, 64)
    check(rng, product(*shape, signs, text), shape, signs, change, **WAYS[way])
