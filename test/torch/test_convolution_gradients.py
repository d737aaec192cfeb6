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


def test_a_filter_s_gradient_has_the_digits_that_large_products_leave():
    x, weight = torch.randn(1, 1, 10, 11, 12) * 4, torch.randn(1, 1, 1, 2, 5)
    gradient = torch.randn(1, 1, 10, 11, 12)

    def of_filter(gradient, x, weight):
        weight = weight.detach().requires_grad_()
        y = torch.nn.functional.conv3d(x, weight, padding="same", dilation=2)
        return torch.autograd.grad(y, weight, gradient)[0]

    got = compiled(of_filter)(gradient, x, weight)
    exact = of_filter(*(each.double() for each in (gradient, x, weight)))
    # Sums of f32 are some units in the last place of the largest partial sum away.
    assert ((got.double() - exact).abs() <= torch.finfo(torch.float32).eps * exact.abs()).all()
