# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices out of range and integers divided by 0: exceptions that name the operation and the index, as PyTorch has."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import torch.nn.functional as F  # noqa: E402
import xetile.torch  # noqa: E402
from compiled import compiled  # noqa: E402
from xetile.errors import XeTileError  # noqa: E402
from xetile.torch.checks import IndexRangeError, IntegerDivisionError  # noqa: E402

# Of 4 rows and 3 columns: indices that are right, and wrong ones with what is said.
INDEXED = {
    "x[i]": (
        lambda x, i: x[i],
        [-4, 3, 0],
        {4: "aten.index.Tensor: expected indices from -4 to 3", -5: "from -4 to 3"},
    ),
    "x[:, i]": (lambda x, i: x[:, i], [-3, 2, 0], {3: "expected indices from -3 to 2", -(10**12): "from -3 to 2"}),
    "x[i, i]": (lambda x, i: x[i, i], [-3, 2, 0], {3: "expected indices from -3 to 2"}),
    "embedding": (lambda x, i: F.embedding(i, x), [3, 0, 1], {4: "aten.embedding.default: expected .* 0 to 3", -1: ""}),
    "gather": (lambda x, i: x.gather(0, i[None]), [3, 0, 1], {4: "aten.gather.default: expected", -1: "from 0 to 3"}),
    "index_select": (lambda x, i: x.index_select(1, i), [2, 0, 1], {3: "aten.index_select.default", 10**12: "0 to 2"}),
    "take": (lambda x, i: x.take(i), [11, 0, -12], {12: "expected indices from -12 to 11", -13: ""}),
    "nll_loss": (lambda x, i: F.nll_loss(x[:3], i), [2, 0, -100], {3: "expected indices from 0 to 2", -7: ""}),
    "cross_entropy": (lambda x, i: F.cross_entropy(x[:3], i), [2, 0, -100], {3: "expected indices from 0 to 2"}),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices(name):
    function, right, wrong = INDEXED[name]
    x, run = torch.randn(4, 3), compiled(function)
    right = torch.tensor(right)
    torch.testing.assert_close(run(x, right), function(x, right))
    for index, told in wrong.items():
        with pytest.raises(IndexRangeError, match=f"{told}.*, got {index}"):
            run(x, torch.tensor([0, index, 1]))
        with pytest.raises((IndexError, RuntimeError)):
            function(x, torch.tensor([0, index, 1]))
    # The next call is as if nothing had been.
    torch.testing.assert_close(run(x, right), function(x, right))


DIVIDED = {
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "fmod": torch.fmod,
}


@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
def test_integers_divided_by_0(name, dtype):
    function = DIVIDED[name]
    x, y, run = torch.tensor([7, 8, 9], dtype=dtype), torch.tensor([2, 3, 4], dtype=dtype), compiled(function)
    assert run(x, y).tolist() == function(x, y).tolist()
    y[1] = 0
    with pytest.raises(IntegerDivisionError, match="an integer is divided by 0"):
        run(x, y)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        function(x, y)


def test_division_by_0_of_floats_is_none():
    x, y = torch.tensor([1.0, -1.0, 0.0]), torch.zeros(3)
    torch.testing.assert_close(compiled(torch.div)(x, y), x / y, equal_nan=True)


def test_models_without_torch_compile():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(5, 3)

        def forward(self, i):
            return self.table(i) * 2

    model, i = Model().eval(), torch.tensor([0, 4])
    kernel = xetile.torch.compile(model, (i,))
    assert len(kernel.results) == 1
    out = torch.full((2, 3), float("nan"))
    for given in (None, out.numpy()):
        got = kernel(i, out=given)
        torch.testing.assert_close(torch.from_numpy(got), model(i).detach())
    torch.testing.assert_close(out, model(i).detach())
    with pytest.raises(XeTileError, match="aten.embedding.default: expected indices from 0 to 4, got 5"):
        kernel(torch.tensor([0, 5]))


def test_gradients_of_embeddings():
    table = torch.nn.Embedding(5, 3)
    run = compiled(table)
    run(torch.tensor([1, 4, 1])).sum().backward()
    assert table.weight.grad[:, 0].tolist() == [0, 2, 0, 0, 1]
    with pytest.raises(IndexRangeError, match="got 5"):
        run(torch.tensor([1, 5]))


def test_sizes_of_the_run():
    run = compiled(lambda x, i: x[i] * 2, dynamic=True)
    for rows in (4, 6):
        x, i = torch.randn(rows, 3), torch.tensor([rows - 1, -rows])
        torch.testing.assert_close(run(x, i), x[i] * 2)
        with pytest.raises((IndexError, RuntimeError)):
            run(x, torch.tensor([0, rows]))
