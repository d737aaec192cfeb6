# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Narrow and unsigned integers, whose signs a module does not have: exactly PyTorch's results, of PyTorch's types."""

from __future__ import annotations

import re

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from compiled import compiled  # noqa: E402
from xetile.errors import XeTileError  # noqa: E402
from xetile.torch import elements  # noqa: E402

TYPES = [torch.uint8, torch.int8, torch.int16, torch.uint16, torch.uint32]
GROUPS = {
    "arithmetic": "x + y, x - y, x * y, x * 3, -x, x.abs(), torch.rsub(x, y, alpha=2)",
    "divisions": "x / 100, x // 3, x % 7, x // (y | 1), x * 0.5, torch.div(x, 3, rounding_mode='trunc'), x.fmod(5)",
    "bits": "~x, x & y, x | 5, x ^ 3, x | y, x ^ y, x << 1, x >> 1, x << 3",
    "comparisons": "x == 100, x < y, x.max(), x.argmax(), x.clamp(2, 9), torch.where(x > 2, x, y)",
    "sums": "x.sum(), x[:3].prod(), x.cumsum(0), x.sum(dtype=x.dtype), x.float().mean()",
    "conversions": "x.float(), x.bool(), x.to(torch.int8), x.to(torch.uint8), x.long() * 2, (x * 0.4).to(x.dtype)",
    "shapes": "x.view(2, 3).amax(1), x.view(2, 3).t() + 1, torch.cat([x, y]), torch.ones_like(x) - x, x.flip(0), x",
    "other types": "x + y.to(torch.int16), x * torch.arange(6), x + y.float(), x + y.to(torch.int32), x + 1.5",
    "matmul": "x.view(2, 3) @ y.view(3, 2), x.view(2, 3).float() @ y.view(3, 2).float()",
    "left to PyTorch": "x**2, x + 300, x == 300, x.view(torch.int8), x + torch.tensor(100, dtype=x.dtype)",
    "numbers of other signs": "x == -1, x > -1, x == -200, x < -200, x.clamp(-200, 9), x & -2, x - -1",
}


def values(dtype):
    """The smallest and the largest, and others."""
    info = torch.iinfo(dtype)
    rest = torch.randint(info.min, info.max + 1, (4,))
    return torch.cat([torch.tensor([info.min, info.max]), rest]).to(dtype)


def close(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape
    if got.dtype.is_floating_point:
        torch.testing.assert_close(got, want, rtol=2e-6, atol=0, equal_nan=True)
    else:
        assert got.tolist() == want.tolist()


def works(code, x, y):
    try:
        eval(code, {"x": x, "y": y, "torch": torch})
    except (RuntimeError, TypeError):  # PyTorch has few operations of wide unsigned types
        return False
    return True


def cases():
    """All groups of bytes, one of each other type."""
    for dtype in TYPES:
        for group in GROUPS:
            first = dtype in (torch.uint8, torch.int8) or group == "arithmetic"
            yield pytest.param(dtype, group, id=f"{dtype}-{group}", marks=() if first else pytest.mark.exhaustive)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("dtype", "group"), cases())
def test_results_are_pytorchs(dtype, group):
    x, y = values(dtype), values(dtype)[[4, 0, 5, 1, 3, 2]]
    codes = [code for code in re.split(r", (?![^(\[]*[)\]])", GROUPS[group]) if works(code, x, y)]
    assert codes or dtype in (torch.uint16, torch.uint32)
    function = eval(f"lambda x, y: [{', '.join(codes)}]", {"torch": torch})
    for code, got, want in zip(codes, compiled(function)(x, y), function(x, y), strict=True):
        print(code, x.tolist(), y.tolist())
        close(got, want)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8], ids=str)
@pytest.mark.parametrize("number", [1000, -1, 200])
def test_tensors_without_dimensions_are_of_the_others_type_first(dtype, number):
    """Before a maximum, a comparison or a quotient, not after; where one of the two is chosen, too."""

    def function(x, n):
        chosen = torch.where(x > 2, x, n), torch.where(x > 2, n, x)
        bounds = torch.maximum(x, n), torch.minimum(n, x), x.clamp(min=n)
        rest = x * n, x - n, torch.div(x, n, rounding_mode="floor"), x == n, n < x, x & n
        return [each.long() for each in (*chosen, *bounds, *rest)]

    x, n = values(dtype), torch.tensor(number)
    for got, want in zip(compiled(function)(x, n), function(x, n), strict=True):
        close(got, want)


def test_images_are_compiled_and_not_left_to_pytorch(caplog):
    def function(image):
        return (image.permute(2, 0, 1)[None] / 255 - 0.45) / 0.225

    caplog.set_level("INFO", "xetile.torch")
    image = torch.randint(0, 256, (17, 13, 3), dtype=torch.uint8)
    close(compiled(function)(image), function(image))
    assert not [record for record in caplog.records if record.name == "xetile.torch"]


def test_images_are_made(caplog):
    def function(x):
        return (x * 255).round().clamp(0, 255).to(torch.uint8)

    caplog.set_level("INFO", "xetile.torch")
    x = torch.randn(3, 9, 7).transpose(0, 2)
    close(compiled(function)(x), function(x))
    assert compiled(function)(x).stride() == function(x).stride()
    assert not [record for record in caplog.records if record.name == "xetile.torch"]


def test_strides_and_sizes_of_the_run():
    def function(x):
        return x * 3 + x.shape[0]

    for rows in (3, 5):
        x = torch.randint(0, 256, (rows, 8), dtype=torch.uint8)[:, ::2]
        close(compiled(function, dynamic=True)(x), function(x))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_models_without_torch_compile(dtype):
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.cat([x[3:], x[:3]])

    x = values(dtype)
    kernel = xetile.torch.compile(Model(), (x,))
    assert str(kernel.results[0]) == str(kernel.arguments[0])
    assert kernel.results[0].numpy_dtype == x.numpy().dtype
    close(torch.from_numpy(kernel(x)), Model()(x))
    close(torch.from_numpy(kernel(x.numpy())), Model()(x))
    other = x.view({torch.int8: torch.uint8}.get(dtype, elements.MEMORY.get(dtype, torch.uint16)))
    with pytest.raises(XeTileError, match=f"expected .*{x.numpy().dtype}.*, got {other.numpy().dtype}"):
        kernel(other)


def test_why_pytorch_computes_with_narrow_integers(caplog):
    caplog.set_level("INFO", "xetile.torch")
    x = torch.arange(4, dtype=torch.uint8)
    compiled(lambda x: x.view(torch.int8))(x)
    compiled(lambda x: x + 300)(x)
    compiled(lambda x: x**3)(x)
    said = " ".join(record.message for record in caplog.records if record.name == "xetile.torch")
    assert "aten.view.dtype runs in PyTorch: the bits of narrow integers are read as another type" in said
    assert "aten.add.Tensor runs in PyTorch: a number is none of the integers' type" in said
    assert "aten.pow.Tensor_Scalar runs in PyTorch: torch-mlir has no powers of integers, nor" in said
