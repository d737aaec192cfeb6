# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Means, norms and losses of narrow floats whose sums are more than their type has, against PyTorch in f64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from compiled import compiled

_FUNCTIONS = {
    "mean": lambda x: x.mean(),
    "mean of rows": lambda x: x.mean(-1),
    "mean of columns": lambda x: x.mean((0, 1), keepdim=True),
    "norm": lambda x: x.norm(),
    "norm of rows": lambda x: torch.linalg.vector_norm(x, 2, -1),
    "norm 3": lambda x: torch.linalg.vector_norm(x, 3),
    "norm of its type": lambda x: torch.linalg.vector_norm(x, 3, -1, dtype=x.dtype),
    "distance": lambda x: F.pairwise_distance(x, -x, 5.0),
    "var": lambda x: x.var(-1),
    "std": lambda x: x.std(),
    "average of all": lambda x: F.adaptive_avg_pool2d(x, 1),
    "average of windows": lambda x: F.avg_pool2d(x, 129, 2),
    "logsumexp": lambda x: x.logsumexp(-1),
    "mse": lambda x: F.mse_loss(x, -x),
    "l1": lambda x: F.l1_loss(x, -x),
    "smooth l1": lambda x: F.smooth_l1_loss(x, -x),
    "huber": lambda x: F.huber_loss(x, -x),
    "soft margin": lambda x: F.soft_margin_loss(x, -x),
    "hinge": lambda x: F.hinge_embedding_loss(x, -x),
    "cosine": lambda x: F.cosine_similarity(x, x + 1, dim=-1),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_sums_of_narrow_floats_are_not_rounded_before_they_are_used(dtype):
    seed = torch.random.seed() % 2**31
    torch.manual_seed(seed)
    x = (4 + torch.rand(2, 3, 131, 143)).to(dtype)

    def each(x):
        return tuple(function(x) for function in _FUNCTIONS.values())

    torch._dynamo.reset()
    step = torch.finfo(dtype).eps
    for name, got, want in zip(_FUNCTIONS, compiled(each)(x), each(x.double()), strict=True):
        assert got.dtype == dtype, name
        worst = ((got.double() - want).abs() / want.abs()).max().item()
        assert worst <= 4 * step, f"{name}: {worst / step} steps away, seed {seed}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("correction", [0, 1, 4, 5, 7])
def test_a_variance_of_too_few_numbers_is_pytorchs(correction, dtype):
    x = torch.randn(5, 3).to(dtype)

    def moments(x):
        return (*torch.var_mean(x, 0, correction=correction), torch.var(x, 0, correction=correction))

    for got, want in zip(compiled(moments)(x), moments(x), strict=True):
        torch.testing.assert_close(got, want, equal_nan=True)
