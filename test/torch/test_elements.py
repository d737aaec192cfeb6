# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors that kernels do not take: PyTorch computes with them, the rest of the graph is compiled."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import torch.nn.functional as F  # noqa: E402
from compiled import compiled  # noqa: E402
from xetile.torch import elements  # noqa: E402

EMPTY = {
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), (0, 8, 3, 3)),
    "unfold": (lambda x: F.unfold(x, 2), (0, 1, 5, 5)),
    "batches of matmuls": (lambda x: torch.ones(3, 4) @ x, (0, 4, 2)),
    "a product along no k": (lambda x: x @ torch.ones(0, 3) + 1, (2, 0)),
    "a sum over nothing": (lambda x: x.sum(1) + 2, (3, 0)),
    "convolution": (lambda x: F.conv2d(x, torch.ones(2, 1, 3, 3)), (0, 1, 5, 5)),
    "max pool": (lambda x: F.max_pool2d(x, 2), (0, 1, 4, 4)),
    "pad": (lambda x: F.pad(x, (1, 1)), (2, 0)),
    "one empty piece": (lambda x: torch.cat([x, torch.ones(2, 3)]) * 2, (0, 3)),
    "softmax": (lambda x: x.softmax(1), (3, 0)),
    "views": (lambda x: x.reshape(4, 0, 3).transpose(0, 1), (0, 12)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_tensors_of_no_elements(name):
    function, shape = EMPTY[name]
    x = torch.zeros(shape)
    torch.testing.assert_close(compiled(function)(x), function(x), rtol=0, atol=0)


def test_complex_numbers_are_pytorchs_and_the_rest_is_compiled(caplog):
    def function(x):
        return torch.view_as_real(torch.complex(x, x + 1) * 2).sin()

    caplog.set_level("INFO", "xetile.torch")
    x = torch.randn(4, 5)
    torch.testing.assert_close(compiled(function)(x), function(x))
    said = " ".join(record.message for record in caplog.records if record.name == "xetile.torch")
    assert "aten.complex.default runs in PyTorch: kernels have no elements of type complex64" in said
    assert "aten.sin" not in said and "aten.add" not in said


def test_arguments_that_kernels_do_not_take_beside_others():
    def function(x, y):
        return x, y * 2, x.shape[0]

    x, y = torch.randn(3, dtype=torch.complex64), torch.randn(4)
    got = compiled(function)(x, y)
    assert got[0] is x and torch.equal(got[1], y * 2) and got[2] == 3


@pytest.mark.parametrize("dtype", ["complex64", "uint64", "float8_e4m3fn", "complex32"])
def test_why_a_type_is_refused(dtype):
    reason = elements.reason_against(torch.empty(3, dtype=getattr(torch, dtype)))
    assert reason == f"kernels have no elements of type {dtype}"


def test_float8_and_uint64_run_in_pytorch():
    x = torch.randn(6)
    assert torch.equal(
        compiled(lambda x: x.to(torch.float8_e4m3fn).float() * 2)(x), x.to(torch.float8_e4m3fn).float() * 2
    )
    big = torch.tensor([1, 2**63 + 5], dtype=torch.uint64)
    assert compiled(lambda x: x.to(torch.int64) + 1)(big).tolist() == (big.to(torch.int64) + 1).tolist()


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
def test_maxima_of_integers_in_three_dimensions_are_pytorchs(dtype):
    x = torch.arange(2 * 3 * 6 * 5).remainder(101).to(dtype).reshape(1, 2, 3, 6, 5)
    assert torch.equal(compiled(lambda x: F.max_pool3d(x, 3, 2) + 1)(x), F.max_pool3d(x, 3, 2) + 1)
