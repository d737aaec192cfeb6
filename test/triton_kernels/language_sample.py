# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every STEP-th of Triton's own language tests, as a plugin of pytest: they come from its sources, not from here.

Of the commit of March 10, 2025 of github.com/intel/intel-xpu-backend-for-triton, in its folder python/test/unit:
    STEP=46 XETILE_TRITON=.triton-xpu PYTHONPATH=HERE/build/python_packages:HERE/test/triton_kernels python -m pytest \\
      -c /dev/null --rootdir . -p language_sample --device cpu language/test_{core,standard,block_pointer}.py
Left out are those that parse IR with layouts of another version.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

_LEFT_OUT = "convert2d layout local_load_store mma2mma convert_mma scan_layouts reduce_layouts histogram_layout"


def pytest_configure() -> None:
    import xetile.triton

    xetile.triton.activate("pvc")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    kept = [item for item in items if not any(name in item.name for name in _LEFT_OUT.split())]
    items[:] = kept[int(os.environ.get("FIRST", "7")) :: int(os.environ.get("STEP", "60"))]
