# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that pages are made of, and what a page's data is."""

import json
import re
from pathlib import Path
from typing import Any

import attention_programs

MATMUL = """
func.func @matmul(%a: tensor<40x48xf16>, %b: tensor<48x64xf16>, %c: tensor<40x64xf32>) -> tensor<40x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<40x48xf16>, tensor<48x64xf16>)
      outs(%c : tensor<40x64xf32>) -> tensor<40x64xf32>
  return %d : tensor<40x64xf32>
}
"""
# Two matmuls and a softmax: on a GPU two kernels. The second one reads what the first one writes, and has the softmax.
MODEL = """
func.func @model(%x: tensor<33x48xf16>, %w: tensor<48x64xf16>, %v: tensor<64x32xf16>) -> tensor<33x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<33x64xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<33x64xf32>) -> tensor<33x64xf32>
  %h = linalg.matmul ins(%x, %w : tensor<33x48xf16>, tensor<48x64xf16>)
      outs(%f0 : tensor<33x64xf32>) -> tensor<33x64xf32>
  %eh = tensor.empty() : tensor<33x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<33x64xf32>) outs(%eh : tensor<33x64xf16>) {
  ^bb0(%s: f32, %o: f16):
    %m = arith.maximumf %s, %zero : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<33x64xf16>
  %e1 = tensor.empty() : tensor<33x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<33x32xf32>) -> tensor<33x32xf32>
  %y = linalg.matmul ins(%r, %v : tensor<33x64xf16>, tensor<64x32xf16>)
      outs(%f1 : tensor<33x32xf32>) -> tensor<33x32xf32>
  %e2 = tensor.empty() : tensor<33x32xf32>
  %p = linalg.softmax dimension(1) ins(%y : tensor<33x32xf32>) outs(%e2 : tensor<33x32xf32>) -> tensor<33x32xf32>
  return %p : tensor<33x32xf32>
}
"""
# A kernel in a loop of the host reads what it wrote a turn before.
LOOP = """
func.func @chain(%x: tensor<32x32xf16>, %w: tensor<32x32xf16>) -> tensor<32x32xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f16
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<32x32xf16>) {
    %e = tensor.empty() : tensor<32x32xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x32xf16>) -> tensor<32x32xf16>
    %n = linalg.matmul ins(%v, %w : tensor<32x32xf16>, tensor<32x32xf16>)
        outs(%f : tensor<32x32xf16>) -> tensor<32x32xf16>
    scf.yield %n : tensor<32x32xf16>
  }
  return %r : tensor<32x32xf16>
}
"""
ATTENTION = attention_programs.Attention(heads=2, rows=48, keys=80, inner=64, values=64).text()


def data_of(page: Path) -> dict[str, Any]:
    """What the script of a page reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found
    return json.loads(found[1])


def ops_named(level: dict[str, Any], name: str) -> list[list[Any]]:
    return [op for op in level["ops"] if op[1] == name]
