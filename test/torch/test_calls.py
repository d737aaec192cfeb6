# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of compiled graphs: which tensors are passed on as they are, what is converted, what is refused."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

from compiled import compiled  # noqa: E402
from xetile.errors import XeTileError  # noqa: E402
from xetile.torch import calls  # noqa: E402
from xetile.torch.layouts import Layout  # noqa: E402

HAS_TABLE = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
no_table = pytest.mark.skipif(not HAS_TABLE, reason="this PyTorch has no table of DLPack's functions")


@pytest.fixture
def made(monkeypatch):
    """The kernels' calls that were made, and how many of them took the direct way."""

    class Recorded(calls.TensorCall):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            found.append(self)
            self.direct, inner = 0, self._direct

            def count(inputs):
                results = inner(inputs)
                self.direct += results is not None
                return results

            self._direct = count if inner is not None else None

    found = []
    monkeypatch.setattr(calls, "TensorCall", Recorded)
    return found


def close(got, want):
    torch.testing.assert_close(got, want, rtol=2e-5, atol=2e-5)


ORDERS = {
    "plain": lambda: torch.randn(5, 7, 3, 4),
    "channels last": lambda: torch.randn(5, 7, 3, 4).to(memory_format=torch.channels_last),
    "transposed": lambda: torch.randn(7, 5, 4, 3).permute(1, 0, 3, 2),
    "a part": lambda: torch.randn(5, 7, 3, 9)[..., 2:6],
    "every second": lambda: torch.randn(5, 7, 3, 8)[..., ::2],
    "backwards": lambda: torch.randn(5, 7, 3, 4).flip(1),
    "behind others": lambda: torch.randn(6, 7, 3, 4)[1:],
    "repeated": lambda: torch.randn(5, 1, 3, 1).expand(5, 7, 3, 4),
    "ones": lambda: torch.randn(1, 7, 1, 4).transpose(0, 2),
    "nothing": lambda: torch.randn(5, 0, 3, 4).transpose(1, 2),
}


@pytest.mark.parametrize("order", ORDERS)
def test_results_lie_in_memory_as_pytorchs_do(order, made):
    def function(x):
        return (x * 2).relu()

    x = ORDERS[order]()
    with torch.no_grad():
        for _ in range(2):
            got, want = compiled(function)(x), function(x)
            close(got, want)
            sizes = [dim for dim in range(4) if want.shape[dim] != 1]
            if want.numel():
                assert [got.stride(dim) for dim in sizes] == [want.stride(dim) for dim in sizes]
    if HAS_TABLE and made:
        copied = order in ("a part", "every second", "repeated")
        assert made[0].direct == (0 if copied else 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64", "bool"])
def test_elements_of_each_type(dtype, made):
    dtype = getattr(torch, dtype)
    x = torch.randn(9, 5).mul(4).to(dtype)
    with torch.no_grad():
        got = compiled(lambda x: torch.where(x > 0, x, torch.zeros_like(x)))(x)
    assert torch.equal(got, torch.where(x > 0, x, torch.zeros_like(x)))
    assert not HAS_TABLE or made[0].direct == 1


@pytest.mark.parametrize("transposed", [False, True])
def test_matmuls_read_operands_in_their_order(transposed, made):
    a, b = torch.randn(33, 20), torch.randn(20, 17)
    if transposed:
        a, b = a.t().contiguous().t(), b.t().contiguous().t()
    with torch.no_grad():
        close(compiled(torch.mm)(a, b), a @ b)
    assert not HAS_TABLE or made[0].direct == 1


def test_convolutions_of_images_with_channels_last(made):
    model = torch.nn.Conv2d(6, 8, 3, padding=1).eval().to(memory_format=torch.channels_last)
    x = torch.randn(2, 6, 9, 11).to(memory_format=torch.channels_last)
    with torch.no_grad():
        got, want = compiled(model)(x), model(x)
    close(got, want)
    assert got.stride() == want.stride()
    assert not HAS_TABLE or made[0].direct == 1


def call_of(function, made, *inputs):
    """The graph's kernel, which no guard protects."""
    with torch.no_grad():
        compiled(function)(*inputs)
    return made[-1]


def test_a_call_checks_what_guards_promise(made):
    x = torch.randn(6, 4)
    call = call_of(lambda x: x + 1, made, x)
    for other in (torch.randn(6, 8)[:, ::2], torch.randn(4, 6).t(), x._neg_view(), torch.randn(6, 1).expand(6, 4)):
        close(call([other])[0], other + 1)
    with pytest.raises(XeTileError, match=r"expected 6x4xf32 \(float32\), got float32\[4, 6\]"):
        call([torch.randn(4, 6)])
    with pytest.raises(XeTileError, match=r"expected 6x4xf32 \(float32\), got float64"):
        call([torch.randn(6, 4, dtype=torch.float64)])
    with pytest.raises(XeTileError, match="expected tensors on the device cpu, got one on meta"):
        call([torch.empty(6, 4, device="meta")])
    with pytest.raises(XeTileError, match="expected dense tensors, got one of layout torch.sparse_coo"):
        call([torch.randn(6, 4).to_sparse()])
    with pytest.raises(XeTileError, match="expected 1 arrays, got 2"):
        call([x, x])


def test_a_call_checks_sizes_of_transposed_tensors(made):
    x = torch.randn(6, 4).t()
    call = call_of(lambda x: x + 1, made, x)
    for other in (torch.randn(4, 6), torch.randn(6, 8)[:, ::2].t(), torch.nn.Parameter(torch.randn(4, 6))):
        close(call([other])[0], (other + 1).detach())
    # It has the sizes of the memory.
    with pytest.raises(XeTileError, match=r"expected a tensor of sizes \[4, 6\], got \[6, 4\]"):
        call([torch.randn(6, 4)])


@no_table
def test_functions_of_many_tensors(made):
    inputs = [torch.randn(3, 5) for _ in range(70)]

    def function(*tensors):
        return [x + y for x, y in zip(tensors[:35], tensors[35:], strict=True)]

    with torch.no_grad():
        for got, want in zip(compiled(function)(*inputs), function(*inputs), strict=True):
            assert torch.equal(got, want)
    assert made[0].direct == 1


@pytest.mark.parametrize("without", ["table", "module"])
def test_calls_without_what_makes_them_fast(without, made, monkeypatch):
    if without == "module":
        monkeypatch.setattr(calls, "_call", None)
    elif HAS_TABLE:
        monkeypatch.delattr(torch.Tensor, "__dlpack_c_exchange_api__")
    x, y = torch.randn(6, 4).t(), torch.randn(4, 6).to(torch.bfloat16)
    with torch.no_grad():
        got = compiled(lambda x, y: (x * 2, y + y))(x, y)
    assert made[0]._direct is None
    close(got[0], x * 2)
    assert torch.equal(got[1], y + y) and got[0].stride() == x.stride()


def test_results_of_many_bytes_are_fresh(made):
    x = torch.randn(1 << 21)
    function = compiled(lambda x: x + 1)
    with torch.no_grad():
        first, second = function(x), function(x)
    assert first.data_ptr() != second.data_ptr()
    assert torch.equal(first, x + 1) and torch.equal(second, x + 1)


def test_views_of_arguments_are_no_copies(made):
    """A linear layer's gradient needs its weight transposed, which is the weight's own memory."""
    layer = torch.nn.Linear(12, 7)
    x = torch.randn(5, 12, requires_grad=True)
    compiled(layer)(x).square().sum().backward()
    got = [x.grad, layer.weight.grad, layer.bias.grad]
    x.grad = layer.weight.grad = layer.bias.grad = None
    layer(x).square().sum().backward()
    for each, want in zip(got, (x.grad, layer.weight.grad, layer.bias.grad), strict=True):
        close(each, want)
    assert [len(call._results) for call in made] == [1, 3]


def test_layouts_of_tensors():
    assert Layout.of(torch.empty(2, 3, 4).permute(2, 0, 1)).order == (1, 2, 0)
    assert Layout.of(torch.empty(2, 3, 4).permute(2, 0, 1)).shape == (2, 3, 4)
    assert Layout.of(torch.empty(2, 3)[:, :2]).is_plain
    assert Layout.of(torch.empty(1, 3).t()).is_plain
