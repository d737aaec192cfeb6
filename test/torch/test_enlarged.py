# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enlarged images against PyTorch."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from compiled import check  # noqa: E402
from xetile.torch.enlarged import nearest  # noqa: E402

MODULE = sys.modules[xetile.torch.backend.__module__]
CASES = [
    ((2, 3, 7), {"scale_factor": 3}),
    ((2, 3, 5, 7), {"scale_factor": 2}),
    ((1, 2, 5, 3), {"scale_factor": (1, 4)}),
    ((1, 2, 5, 3), {"size": (10, 9)}),
    ((1, 2, 3, 4, 5), {"scale_factor": (2, 1, 3)}),
]
OTHERS = [
    ((1, 2, 5, 3), {"scale_factor": 1.5}),
    ((1, 2, 5, 3), {"size": (7, 9)}),
    ((1, 2, 6, 4), {"scale_factor": 0.5}),
]


def arguments(shape, settings):
    x = torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape)
    factors = settings.get("scale_factor")
    spread = [factors] * (len(shape) - 2) if isinstance(factors, (int, float)) else factors
    return x, settings.get("size"), spread and [float(each) for each in spread]


@pytest.mark.parametrize(("shape", "settings"), CASES, ids=str)
def test_whole_factors_repeat_elements(shape, settings):
    x, size, factors = arguments(shape, settings)
    x.view(-1)[1] = torch.nan
    got = nearest(x, size, factors)
    torch.testing.assert_close(got, torch.nn.functional.interpolate(x, **settings), rtol=0, atol=0, equal_nan=True)
    check(torch.nn.Upsample(**settings), torch.randn(shape))


@pytest.mark.parametrize(("shape", "settings"), OTHERS, ids=str)
def test_other_factors_are_left(shape, settings):
    assert nearest(*arguments(shape, settings)) is NotImplemented
    check(torch.nn.Upsample(**settings), torch.randn(shape))


def test_all_factors_take_what_pytorch_takes():
    for factor in range(1, 200):
        x = torch.arange(7.0).reshape(1, 1, 7)
        got = nearest(x, None, [float(factor)])
        if got is not NotImplemented:
            assert torch.equal(got, torch.nn.functional.interpolate(x, scale_factor=factor)), factor


def test_a_compiled_graph_has_no_gathers_and_channels_stay_last(monkeypatch):
    made = []
    compile_ = MODULE.compiler.compile
    monkeypatch.setattr(MODULE.compiler, "compile", lambda *a, **o: made.append(str(a[0])) or compile_(*a, **o))
    x = torch.randn(2, 3, 5, 7)
    layer = torch.nn.Upsample(scale_factor=2)
    torch._dynamo.reset()
    compiled = torch.compile(layer, backend=xetile.torch.backend, options={"strict": True})
    assert torch.equal(compiled(x), layer(x))
    assert "tensor.extract" not in made[0]
    last = x.to(memory_format=torch.channels_last)
    assert compiled(last).stride() == layer(last).stride()
    sharp = torch.nn.Upsample(scale_factor=2, mode="bilinear")
    torch.testing.assert_close(torch.compile(sharp, backend=xetile.torch.backend)(x), sharp(x))
