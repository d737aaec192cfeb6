# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of rows for Hopper GPUs, where there is none."""

import re

import pytest
import xetile
from hopper_kernels import compiled, ptx_of

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

SOFTMAX = """func.func @softmax(%A: tensor<512x4096xf32>) -> tensor<512x4096xf32> {
  %e = tensor.empty() : tensor<512x4096xf32>
  %D = linalg.softmax dimension(1) ins(%A : tensor<512x4096xf32>) outs(%e : tensor<512x4096xf32>)
      -> tensor<512x4096xf32>
  return %D : tensor<512x4096xf32>
}"""


def test_rows_are_loaded_by_16_bytes_and_reduced_by_shuffles():
    kernel = compiled(SOFTMAX, schedule="rows", params={})
    ptx = ptx_of(kernel)
    assert len(re.findall(r"ld.global.v4", ptx)) == 4 and len(re.findall(r"st.global.v4", ptx)) == 4
    assert not re.search(r"ld.global.[bf]32", ptx)
    assert len(re.findall("shfl.sync.bfly", ptx)) == 10
    assert 'pipeline = "threads"' in str(kernel.stages["2-ring"])
