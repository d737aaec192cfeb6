# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products for Hopper GPUs whose k several workgroups share, where there is none."""

import numpy as np
import pytest
import xetile
from hopper_kernels import MATMUL_K, call, compiled

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)


@pytest.mark.parametrize(("split", "parts"), [(4, 4), (0, 2)])
def test_a_long_k_is_split_and_summed_by_a_second_kernel(split, parts):
    text = MATMUL_K.format(k=32768)
    kernel = compiled(text, params={"split_k": split})
    host = str(kernel.stages["5-llvm"])
    assert f"{parts}x1024x1024xf32" in str(kernel.stages["2-ring"])
    assert host.count("llvm.call @xetileCudaLaunch") == 2 and "xetileCudaAllocate" in host


def test_parts_stay_on_the_device_in_memory_that_the_next_call_takes(driver, tmp_path):
    text = MATMUL_K.format(k=2048).replace("1024", "64").replace("bf16", "f16")
    kernel = compiled(text, params={"split_k": 4})
    given = [np.ones((64, 2048), np.float16), np.ones((2048, 64), np.float16), np.ones((64, 64), np.float32)]
    _, log = call(kernel, driver, tmp_path, given, FAKE_DRIVER_OWNS_MEMORY="1")
    assert len([line for line in log if line.startswith("launch")]) == 4  # of two calls
    assert len([line for line in log if line.startswith(f"allocate {4 * 64 * 64 * 4},")]) == 1
    # Rows of A are behind its parts: a box has one of these, and 64 rows.
    assert any("rank 3 sizes 512 x 4" in line and "box 64 x 1" in line for line in log)


def test_parts_of_k_have_one_size():
    with pytest.raises(xetile.XeTileError, match="expected a divisor of k / 64"):
        compiled(MATMUL_K.format(k=32768), params={"split_k": 3})
