# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Interleaved dimensions on Hopper GPUs, as of pixel shuffles, where there is none (ptx_programs)."""

import numpy as np
import pytest
import xetile
from hopper_kernels import compiled, on_this_cpu, parse, ptx_of

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

SHUFFLE = """
func.func @f(%X: tensor<{n}x{c}x{s}x{t}x{h}x{w}xf32>) -> tensor<{n}x{c}x{ch}x{cw}xf32> {{
  %e = tensor.empty() : tensor<{n}x{c}x{h}x{s}x{w}x{t}xf32>
  %t = linalg.transpose ins(%X : tensor<{n}x{c}x{s}x{t}x{h}x{w}xf32>) outs(%e : tensor<{n}x{c}x{h}x{s}x{w}x{t}xf32>)
      permutation = [0, 1, 4, 2, 5, 3]
  %y = tensor.collapse_shape %t [[0], [1], [2, 3], [4, 5]]
      : tensor<{n}x{c}x{h}x{s}x{w}x{t}xf32> into tensor<{n}x{c}x{hs}x{wt}xf32>
  %z = tensor.extract_slice %y[0, 0, 1, 0] [{n}, {c}, {ch}, {cw}] [1, 1, 1, 1]
      : tensor<{n}x{c}x{hs}x{wt}xf32> to tensor<{n}x{c}x{ch}x{cw}xf32>
  return %z : tensor<{n}x{c}x{ch}x{cw}xf32>
}}"""


@pytest.mark.parametrize("sizes", [(2, 3, 2, 2, 7, 9), (1, 2, 3, 5, 5, 33), (2, 1, 1, 2, 4, 50)], ids=str)
def test_interleaved_images_are_one_kernel_of_long_rows(driver, tmp_path, sizes):
    n, c, s, t, h, w = sizes
    text = SHUFFLE.format(n=n, c=c, s=s, t=t, h=h, w=w, hs=h * s, wt=w * t, ch=h * s - 1, cw=w * t - 1)
    kernel = xetile.compile(parse(text), target="sm_90a", schedule="gpu_model")
    assert ptx_of(kernel).count(".entry") == 1
    x = np.random.default_rng(1).standard_normal(sizes).astype(np.float32)
    x.flat[3], x.flat[5] = np.nan, np.inf
    (got,) = on_this_cpu(kernel, driver, tmp_path, [x])
    right = x.transpose(0, 1, 4, 2, 5, 3).reshape(n, c, h * s, w * t)
    np.testing.assert_array_equal(got, right[:, :, 1:, : w * t - 1])


def test_a_workgroup_has_some_hundred_elements_of_an_interleaved_image():
    text = SHUFFLE.format(n=2, c=16, s=2, t=2, h=33, w=32, hs=66, wt=64, ch=64, cw=64)
    kernel = compiled(text, schedule="gpu_model", params={})
    assert ".reqntid 128" in ptx_of(kernel)
    assert "vector<8x64xf32>" in kernel.stages["1-xetile-workgroup"]
