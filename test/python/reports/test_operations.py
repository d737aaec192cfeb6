# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of contractions and convolutions, which reports and pages count."""

import pytest
from xetile.mlir import ir
from xetile.reports import operations

MAPS = ", ".join(f"affine_map<(b, m, n, k) -> ({places})>" for places in ("b, m, k", "b, k, n", "b, m, n"))
KINDS = '["parallel", "parallel", "parallel", "reduction"]'
GENERIC = f"""linalg.generic {{indexing_maps = [{MAPS}], iterator_types = {KINDS}}}
    ins(%a, %b : tensor<2x3x4xi8>, tensor<2x4x5xi8>) outs(%c : tensor<2x3x5xi32>) {{
^bb0(%x: i8, %y: i8, %s: i32):
  %v = arith.extsi %x : i8 to i32
  %w = arith.extsi %y : i8 to i32
  %p = arith.muli %v, %w : i32
  %t = arith.addi %s, %p : i32
  linalg.yield %t : i32
}} -> tensor<2x3x5xi32>"""
CONVOLUTION = """linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>}
    ins(%a, %b : tensor<1x3x9x9xf16>, tensor<4x3x3x3xf16>) outs(%c : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>"""
MATMUL = (
    """linalg.matmul ins(%a, %b : tensor<7x5xf16>, tensor<5x3xf16>) outs(%c : tensor<7x3xf32>) -> tensor<7x3xf32>"""
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MATMUL, (7 * 3 * 5, "f16")),
        (MATMUL.replace("7x", "?x"), None),
        (GENERIC, (2 * 3 * 5 * 4, "i8")),
        (GENERIC.replace("arith.muli", "arith.addi"), None),
        (CONVOLUTION, (4 * 4 * 4 * 3 * 3 * 3, "f16")),
    ],
)
def test_products(text, expected):
    kinds = text.partition("ins(%a, %b : ")[2].replace(") outs(%c : ", ", ").partition(")")[0].split(", ")
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in zip("abc", kinds, strict=True))
    with ir.Context():
        module = ir.Module.parse(f"func.func @f({arguments}) {{ %r = {text}\nreturn }}")
        op = module.body.operations[0].regions[0].blocks[0].operations[0].operation
        assert operations.products(op) == expected
