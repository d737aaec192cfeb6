# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms and softmax in blocks of rows, on the CPU against NumPy, with caches so small that there are several blocks."""

from __future__ import annotations

import numpy as np
import pytest
from xetile import cpu
from xetile.mlir import ir

SMALL = '#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L2_cache_size_in_bytes" = 4096 : i32>>'
SHAPES = [(1, 3000), (7, 137), (64, 5), (96, 64), (13, 1), (33, 100), (2, 1031), (0, 4), (512, 3)]


def compile_rows(body: str, shape: tuple[int, int], threads: int, dynamic: bool = False) -> cpu.Kernel:
    """A function of a matrix %x and a vector %w, with the maps of rows and columns."""
    m, n = ("?", "?") if dynamic else shape
    types = {"MN": f"tensor<{m}x{n}xf32>", "M": f"tensor<{m}xf32>", "N": f"tensor<{n}xf32>"}
    sizes = ("%m, %n", "%m", "%n") if dynamic else ("", "", "")
    text = f"""
#both = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
#one = affine_map<(m) -> (m)>
#reduce = {{indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}}
module attributes {{dlti.target_system_spec = {SMALL}}} {{
func.func @f(%x: {types["MN"]}, %w: {types["N"]}) -> {types["MN"]} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %m = tensor.dim %x, %c0 : {types["MN"]}
  %n = tensor.dim %x, %c1 : {types["MN"]}
  %ni = arith.index_cast %n : index to i64
  %count = arith.sitofp %ni : i64 to f32
  %all = tensor.empty({sizes[0]}) : {types["MN"]}
  %any = tensor.empty({sizes[1]}) : {types["M"]}
  %zeros = linalg.fill ins(%zero : f32) outs(%any : {types["M"]}) -> {types["M"]}
  %lows = linalg.fill ins(%lowest : f32) outs(%any : {types["M"]}) -> {types["M"]}
{body}
  return %y : {types["MN"]}
}}
}}"""
    for name, kind in types.items():
        text = text.replace(f"!{name}!", kind)
    with ir.Context():
        return cpu.compile(ir.Module.parse(text), threads=threads)


def generic(result: str, maps: str, ins: str, in_types: str, out: str, out_type: str, body: str, kinds: str) -> str:
    arguments = ", ".join(f"%a{number}: f32" for number in range(in_types.count("!") // 2))
    return f"""  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({ins} : {in_types}) outs({out} : {out_type}) {{
  ^bb0({arguments}, %o: f32):
    {body}
    linalg.yield %r : f32
  }} -> {out_type}"""


ROWS, ALL = '"parallel", "reduction"', '"parallel", "parallel"'
SOFTMAX = "\n".join(
    [
        generic("%max", "#both, #row", "%x", "!MN!", "%lows", "!M!", "%r = arith.maximumf %a0, %o : f32", ROWS),
        generic(
            "%exp",
            "#both, #row, #both",
            "%x, %max",
            "!MN!, !M!",
            "%all",
            "!MN!",
            "%d = arith.subf %a0, %a1 : f32 %r = math.exp %d : f32",
            ALL,
        ),
        generic("%sum", "#both, #row", "%exp", "!MN!", "%zeros", "!M!", "%r = arith.addf %a0, %o : f32", ROWS),
        generic(
            "%y",
            "#both, #row, #both",
            "%exp, %sum",
            "!MN!, !M!",
            "%all",
            "!MN!",
            "%r = arith.divf %a0, %a1 : f32",
            ALL,
        ),
    ]
)
LAYER_NORM = "\n".join(
    [
        generic("%sum", "#both, #row", "%x", "!MN!", "%zeros", "!M!", "%r = arith.addf %a0, %o : f32", ROWS),
        generic("%mean", "#one, #one", "%sum", "!M!", "%any", "!M!", "%r = arith.divf %a0, %count : f32", '"parallel"'),
        generic(
            "%far",
            "#both, #row, #both",
            "%x, %mean",
            "!MN!, !M!",
            "%all",
            "!MN!",
            "%r = arith.subf %a0, %a1 : f32",
            ALL,
        ),
        generic(
            "%squares",
            "#both, #row",
            "%far",
            "!MN!",
            "%zeros",
            "!M!",
            "%s = arith.mulf %a0, %a0 : f32 %r = arith.addf %s, %o : f32",
            ROWS,
        ),
        generic(
            "%y",
            "#both, #row, #column, #both",
            "%far, %squares, %w",
            "!MN!, !M!, !N!",
            "%all",
            "!MN!",
            "%v = arith.divf %a1, %count : f32 %e = arith.constant 1.0e-5 : f32 %u = arith.addf %v, %e : f32 "
            "%s = math.rsqrt %u : f32 %t = arith.mulf %a0, %s : f32 %r = arith.mulf %t, %a2 : f32",
            ALL,
        ),
    ]
)


def softmax(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(1, keepdims=True)


def layer_norm(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    far = x - x.mean(1, keepdims=True)
    return far / np.sqrt((far * far).mean(1, keepdims=True) + 1e-5) * w


CASES = {"softmax": (SOFTMAX, softmax), "layer norm": (LAYER_NORM, layer_norm)}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_rows_are_as_in_numpy_on_any_number_of_threads(rng, name, shape, dynamic):
    body, function = CASES[name]
    x = rng.uniform(-3, 3, shape).astype("f4")
    w = rng.uniform(-1, 1, shape[1]).astype("f4")
    expected = function(x.astype("f8"), w.astype("f8"))
    results = [compile_rows(body, shape, threads, dynamic)(x, w) for threads in (1, 2, 3)]
    np.testing.assert_allclose(results[0], expected, rtol=1e-4, atol=1e-5)
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def test_explain_tells_of_matmuls_and_of_what_is_beside_them():
    big, row = "tensor<300x500xf32>", "tensor<300xf32>"
    text = f"""func.func @f(%a: tensor<300x40xf32>, %b: tensor<40x500xf32>, %c: {big}, %s: {row}) -> {row} {{
  %d = linalg.matmul ins(%a, %b : tensor<300x40xf32>, tensor<40x500xf32>) outs(%c : {big}) -> {big}
  %e = math.absf %d : {big}
  %f = math.exp %c : {big}
  %g = arith.mulf %f, %c : {big}
  %h = arith.mulf %e, %e : {big}
  %r = linalg.reduce {{ arith.addf }} ins(%h : {big}) outs(%s : {row}) dimensions = [1]
  %q = linalg.reduce {{ arith.addf }} ins(%g : {big}) outs(%r : {row}) dimensions = [1]
  return %q : {row}
}}"""
    module = f"module attributes {{dlti.target_system_spec = {SMALL.replace('4096', '65536')}}} {{\n{text}\n}}"
    with ir.Context():
        said = cpu.explain(ir.Module.parse(module), threads=1)
    matmul, *others = [line for line in said.splitlines() if not line.startswith(" ")]
    assert '"MBlock": ' in matmul
    # The absolute values and their squares are in the matmul's loops; the second sum takes the rest along.
    assert [other.partition(": ")[2] for other in others] == ["rows: 75 blocks of 4x500, each through 3 ops"]
