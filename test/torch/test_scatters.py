# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that update rows by their numbers, in kernels, against PyTorch in f64."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

from compiled import compiled  # noqa: E402
from xetile import XeTileError  # noqa: E402

aten = torch.ops.aten
TOLERANCES = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5}
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int8, torch.bool]


def numbers(shape, dtype):
    if dtype == torch.bool:
        return torch.rand(shape) < 0.5
    return torch.randn(shape).to(dtype) if dtype.is_floating_point else torch.randint(-50, 50, shape).to(dtype)


def rows(count, size):
    """Indices with repetitions, negative ones among them."""
    return torch.randint(-size, size, (count,))


def once():
    return torch.stack([torch.randperm(5)[:3] for _ in range(6)])


def places():
    return torch.randint(0, 5, (6, 3))


CASES = {
    "index_add": (
        lambda x, i, u: x.index_add(1, i, u),
        lambda t: (numbers((4, 6), t), rows(7, 6).abs() % 6, numbers((4, 7), t)),
    ),
    "index_put": (
        lambda x, i, u: aten.index_put(x, [i], u, True),
        lambda t: (numbers((6, 5), t), rows(7, 6), numbers((7, 5), t)),
    ),
    "index_put of two": (
        lambda x, i, j, u: aten.index_put(x, [i, j], u, True),
        lambda t: (numbers((6, 5), t), rows(9, 6), rows(9, 5), numbers((9,), t)),
    ),
    "replaced": (lambda x, i, u: x.scatter(1, i, u), lambda t: (numbers((6, 5), t), once(), numbers((6, 5), t))),
    "scatter_add": (
        lambda x, i, u: x.scatter_add(0, i, u),
        lambda t: (numbers((6, 5, 4), t), torch.randint(0, 6, (9, 3, 4)), numbers((9, 5, 4), t)),
    ),
    "amax": (
        lambda x, i, u: x.scatter_reduce(1, i, u, "amax"),
        lambda t: (numbers((6, 5), t), places(), numbers((6, 5), t)),
    ),
    "mean": (
        lambda x, i, u: x.scatter_reduce(1, i, u, "mean"),
        lambda t: (numbers((6, 5), t), places(), numbers((6, 5), t)),
    ),
    "from the end": (
        lambda x, i, u: x.scatter_reduce(-1, i, u, "amax"),
        lambda t: (numbers((6, 5), t), places(), numbers((6, 5), t)),
    ),
    "no dimensions": (
        lambda x, i, u: x.scatter_add(0, i, u),
        lambda t: (numbers((), t), torch.tensor(0), numbers((), t)),
    ),
    "gradient of an embedding": (
        lambda g, i: aten.embedding_dense_backward(g, i, 10, 3, False),
        lambda t: (numbers((3, 4, 8), t), torch.randint(0, 10, (3, 4))),
    ),
    "nothing": (
        lambda x, i, u: x.index_add(0, i, u),
        lambda t: (numbers((6, 5), t), torch.zeros(0, dtype=torch.int64), numbers((0, 5), t)),
    ),
}


def check(name, dtype, target):
    function, make = CASES[name]
    arguments = make(dtype)
    exact = [each.double() if each.is_floating_point() else each for each in arguments]
    try:
        want = function(*exact)
        function(*arguments)
    except (RuntimeError, NotImplementedError, ValueError):
        pytest.skip("PyTorch has no such operation")
    got = compiled(function, target=target)(*arguments)
    tolerance = TOLERANCES.get(dtype, 1e-12)
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), want.double(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_rows_are_updated_on_cpus(fresh, name, dtype):
    check(name, dtype, "cpu")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_rows_are_updated_on_gpus(fresh, name, dtype):
    check(name, dtype, "pvc")


def test_an_index_out_of_bounds_is_an_error_on_cpus(fresh):
    function = compiled(lambda x, i, u: aten.index_put(x, [i], u, True))
    x, updates = torch.randn(6, 5), torch.randn(3, 5)
    function(x, torch.tensor([0, 5, -6]), updates)
    with pytest.raises(XeTileError, match="an index of what is updated is out of bounds"):
        function(x, torch.tensor([0, 6, 1]), updates)


def test_one_update_of_one_number_is_a_kernel(fresh):
    check("no dimensions", torch.float32, "pvc")
