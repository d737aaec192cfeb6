# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that name the lines of their payload: the same instructions, the same numbers."""

import numpy as np
import pytest
import xetile
from xetile.mlir._mlir_libs import _xetile
from xetile.reports import assembly
from xetile.system import tools

TEXT = """
func.func @f(%a: tensor<72x64xf16>, %b: tensor<64x96xf16>, %c: tensor<72x96xf32>) -> tensor<72x96xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<72x64xf16>, tensor<64x96xf16>)
      outs(%c : tensor<72x96xf32>) -> tensor<72x96xf32>
  %e = tensor.empty() : tensor<72x96xf32>
  %t = linalg.exp ins(%d : tensor<72x96xf32>) outs(%e : tensor<72x96xf32>) -> tensor<72x96xf32>
  return %t : tensor<72x96xf32>
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "payload.mlir"
    path.write_text(TEXT)
    return path


def programs(kernel, *, line_tables):
    made = _xetile.run_ocloc(kernel.spirv, "pvc", None, line_tables)
    assert not isinstance(made, str), made
    return [assembly.read(text) for text in made["assembly"]]


@pytest.mark.skipif(tools.find_ocloc() is None, reason="no ocloc: scripts/install-ocloc")
@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_instructions_are_the_same_and_name_lines(source, chip):
    plain = xetile.compile(source, target=chip, native="off")
    lined = xetile.compile(source, target=chip, native="off", line_tables=True)
    assert b"OpenCL.DebugInfo.100" in lined.spirv and b"OpenCL.DebugInfo.100" not in plain.spirv
    before, after = programs(plain, line_tables=False), programs(lined, line_tables=True)
    assert len(before) == len(after) > 0
    for one, other in zip(before, after, strict=True):
        # But for a number of the compilation, which stands behind the end of a kernel.
        texts = [[(code.opcode, code.operands) for code in program.code] for program in (one, other)]
        kept = [[text for text in each if "null<1>:ud" not in text[1]] for each in texts]
        assert kept[0] == kept[1]
        assert one.spill_bytes == other.spill_bytes and one.registers == other.registers
        assert {code.line for code in one.code} == {0}
        assert {code.line for code in other.code if code.kind == "dpas"} == {3}


def test_numbers_are_the_same(source):
    kernel = xetile.compile(source, target="pvc", native="off", line_tables=True)
    rng = np.random.default_rng()
    a, b = (0.1 * rng.standard_normal(shape) for shape in ((72, 64), (64, 96)))
    a, b, c = a.astype(np.float16), b.astype(np.float16), rng.standard_normal((72, 96)).astype(np.float32)
    expected = np.exp(a.astype(np.float64) @ b.astype(np.float64) + c)
    assert np.abs(kernel(a, b, c) - expected).max() < 1e-4 * expected.max()


def test_the_option_is_checked(source):
    with pytest.raises(xetile.XeTileError, match="line_tables: expected True or False, got 1"):
        xetile.compile(source, target="pvc", line_tables=1)
