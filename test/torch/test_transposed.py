# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions of all kinds against PyTorch."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile  # noqa: E402
from compiled import check  # noqa: E402
from xetile.torch.transposed import convolution  # noqa: E402

KINDS = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)


def test_any_sizes_in_eager():
    seed = torch.seed()
    print(f"torch.manual_seed({seed}), random.seed({seed})")
    random.seed(seed)
    aten, tried = torch.ops.aten.convolution.default, 0
    while tried < 200:
        space = random.randint(1, 3)

        def some(low, high, space=space):
            return [random.randint(low, high) for _ in range(space)]

        taps, stride, padding = some(1, 5), some(1, 4), some(0, 4)
        dilation, groups = random.choice([[1] * space, some(1, 4)]), random.randint(1, 3)
        extra = [random.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
        x = torch.randn(2, 3 * groups, *some(1, 6), dtype=torch.float64)
        weight = torch.randn(3 * groups, 4, *taps, dtype=torch.float64)
        bias = random.choice([None, torch.randn(4 * groups, dtype=torch.float64)])
        arguments = (x, weight, bias, stride, padding, dilation, True, extra, groups)
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
    "settings",
    [
        {"padding": 1, "output_padding": 1},
        {"bias": False},
        {"groups": 2},
        {"dilation": 2},
        {"dilation": 3, "groups": 2, "padding": 2},
        {"stride": 1, "groups": 2},
        {"stride": 4, "dilation": 2, "groups": 2},
    ],
)
def test_compiled(space, settings):
    module = KINDS[space - 1](4, 6, 3, **{"stride": 2, **settings}).eval()
    check(module, torch.randn(2, 4, *(7, 5, 6)[:space]))


@pytest.mark.skipif("sm_90a" not in [target.name for target in xetile.targets.available()], reason="built without it")
def test_those_in_groups_are_on_the_matrix_unit_of_sm_90a():
    x = torch.randn(2, 32, 9, 7)
    model = torch.nn.ConvTranspose2d(32, 24, (3, 5), stride=(2, 3), dilation=(2, 1), groups=4).eval()
    kernel = xetile.torch.compile(model, (x,), target="sm_90a", schedule="gpu_model")
    assert "xetile.tile_mma" in kernel.stages["1-xetile-workgroup"]


@pytest.mark.skipif("sm_90a" not in [target.name for target in xetile.targets.available()], reason="built without it")
@pytest.mark.parametrize(("stride", "dilation"), [(2, 2), ((2, 4, 2), (2, 2, 1)), (1, 2)], ids=str)
def test_three_dimensions_are_as_many_as_kernels_take(stride, dilation):
    x = torch.randn(1, 16, 4, 5, 6)
    model = torch.nn.ConvTranspose3d(16, 32, 3, stride=stride, padding=1, dilation=dilation).eval()
    assert "ptx" in xetile.torch.compile(model, (x,), target="sm_90a", schedule="gpu_model").binaries
