# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models through torch.compile, without what would hide that they were not compiled."""

from __future__ import annotations

import torch
import xetile.torch


def compiled(module, *, dynamic=False, **options):
    """The model; a graph that cannot be compiled is an error."""
    return torch.compile(module, backend=xetile.torch.backend, options={"strict": True, **options}, dynamic=dynamic)


def close(got, want, tolerance=2e-5):
    """Within `tolerance` of the largest number."""
    assert got.dtype == want.dtype and got.shape == want.shape
    worst = (got.double() - want.double()).abs().max().item()
    assert worst <= tolerance * max(want.double().abs().max().item(), 1.0), worst


def check(module, *inputs, **options):
    """Compares the results of inference, a tensor or a tuple of them, with PyTorch's."""
    with torch.no_grad():
        got, want = compiled(module, **options)(*inputs), module(*inputs)
    for each, expected in zip(*(r if isinstance(r, tuple) else (r,) for r in (got, want)), strict=True):
        torch.testing.assert_close(each, expected, rtol=2e-5, atol=2e-5)
