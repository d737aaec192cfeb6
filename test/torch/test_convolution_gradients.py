# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of convolutions, whose lists may have one number for all dimensions."""

from __future__ import annotations

import pytest
import torch
from compiled import close, compiled


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("space", [1, 2, 3])
def test_one_number_stands_for_all_dimensions(space, short):
    sizes, count = [5, 6, 4][:space], 1 if short else space
    x, weight = torch.randn(2, 3, *sizes), torch.randn(4, 3, *[3] * space)
    gradient = torch.randn(2, 4, *[(size + 2 - 3) // 2 + 1 for size in sizes])

    def gradients(gradient, x, weight):
        lists = ([2] * count, [1] * count, [1] * count, False, [0] * count)
        return torch.ops.aten.convolution_backward(gradient, x, weight, [4], *lists, 1, [True, True, True])

    for got, want in zip(compiled(gradients)(gradient, x, weight), gradients(gradient, x, weight), strict=True):
        close(got, want)
