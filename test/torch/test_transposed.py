# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions of all kinds against PyTorch."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

from compiled import check  # noqa: E402
from xetile.torch.transposed import convolution  # noqa: E402

KINDS = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)


def test_any_sizes_in_eager():
    seed = torch.seed()
    print(f"torch.manual_seed({seed}), random.seed({seed})")
    random.seed(seed)
    aten, tried = torch.ops.aten.convolution.default, 0
    while tried < 150:
        space = random.randint(1, 3)

        def some(low, high, space=space):
            return [random.randint(low, high) for _ in range(space)]

        taps, stride, padding = some(1, 5), some(1, 4), some(0, 4)
        extra = [random.randint(0, s - 1) for s in stride]
        x = torch.randn(2, 3, *some(1, 6), dtype=torch.float64)
        weight = torch.randn(3, 4, *taps, dtype=torch.float64)
        bias = random.choice([None, torch.randn(4, dtype=torch.float64)])
        arguments = (x, weight, bias, stride, padding, [1] * space, True, extra, 1)
        try:
            want = aten(*arguments)
        except RuntimeError:  # no result
            continue
        got = convolution(*arguments)
        if got is not NotImplemented:
            torch.testing.assert_close(got, want)
            tried += 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("space", [1, 2, 3])
@pytest.mark.parametrize(
    "settings", [{"padding": 1, "output_padding": 1}, {"bias": False}, {"groups": 2}, {"dilation": 2}]
)
def test_compiled(space, settings):
    module = KINDS[space - 1](4, 6, 3, stride=2, **settings).eval()
    check(module, torch.randn(2, 4, *(7, 5, 6)[:space]))
