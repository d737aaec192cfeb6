# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions of all kinds against PyTorch."""

from __future__ import annotations

import random
from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile  # noqa: E402
from compiled import check, compiled  # noqa: E402
from xetile.torch import decompositions  # noqa: E402
from xetile.torch.importing import decomposition_table  # noqa: E402
from xetile.torch.transposed import convolution  # noqa: E402

KINDS = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)


ODD = (float("inf"), -float("inf"), float("nan"))


def with_odd_numbers(x, share):
    """`x` with infinities and NaN in the place of `share` of its elements."""
    odd = torch.tensor(ODD, dtype=x.dtype)[torch.randint(0, len(ODD), x.shape)]
    return torch.where(torch.rand(x.shape) < share, odd, x)


def drawn(sizes):
    """Arguments of `aten.convolution` that give a result: 1 to 3 dimensions of up to `sizes` elements."""
    while True:
        space = random.randint(1, 3)

        def some(low, high, space=space):
            return [random.randint(low, high) for _ in range(space)]

        taps, stride, padding = some(1, 5), some(1, 4), some(0, 4)
        dilation, groups = random.choice([[1] * space, some(1, 4)]), random.randint(1, 3)
        extra = [random.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
        x = torch.randn(2, 3 * groups, *some(1, sizes), dtype=torch.float64)
        x = with_odd_numbers(x, random.choice([0, 0.02, 0.3]))
        weight = torch.randn(3 * groups, 4, *taps, dtype=torch.float64)
        bias = random.choice([None, torch.randn(4 * groups, dtype=torch.float64)])
        arguments = (x, weight, bias, stride, padding, dilation, True, extra, groups)
        try:
            want = torch.ops.aten.convolution.default(*arguments)
        except RuntimeError:  # no result
            continue
        if convolution(*arguments) is not NotImplemented:
            return arguments, want


@pytest.mark.parametrize("summed", [False, True])
def test_any_sizes_in_eager(summed):
    seed = torch.seed()
    print(f"torch.manual_seed({seed}), random.seed({seed})")
    random.seed(seed)
    for _ in range(300):
        arguments, want = drawn(6)
        print(arguments[0].shape, arguments[1].shape, arguments[3:])
        torch.testing.assert_close(convolution(*arguments, summed=summed), want, equal_nan=True)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("number", range(4))
def test_any_sizes_compiled(monkeypatch, number, summed):
    operation = torch.ops.aten.convolution.default
    monkeypatch.setitem(decompositions.TABLE, operation, partial(convolution, summed=summed))
    seed = torch.seed()
    print(f"torch.manual_seed({seed}), random.seed({seed})")
    random.seed(seed)
    (x, weight, bias, *lists), want = drawn(5)
    print(x.shape, weight.shape, lists)

    def apply(x, weight, bias):
        return operation(x, weight, bias, *lists)

    single = (x.float(), weight.float(), bias if bias is None else bias.float())
    got = compiled(apply)(*single)
    exact = operation(*(each if each is None else each.double() for each in single), *lists)
    torch.testing.assert_close(got.double(), exact, equal_nan=True, rtol=2e-5, atol=2e-5)
    assert torch.equal(exact.isfinite(), want.isfinite())


def convolutions_of(taps, dtype, **options):
    """Sizes of the filters of plain convolutions that one of stride 2 becomes, and its result."""
    seen, plain = [], torch.ops.aten.convolution.default

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            if operation is plain:
                seen.append((args[1].dtype, tuple(args[1].shape)))
            return operation(*args, **(kwargs or {}))

    x, weight, bias = torch.randn(1, 2, 5, 6), torch.randn(2, 3, taps, taps), torch.randn(3)
    with Watch():
        got = convolution(
            *(each.to(dtype) for each in (x, weight, bias)), [2, 2], [1, 1], [1, 1], True, [0, 0], 1, **options
        )
    return seen, got


@pytest.mark.parametrize(
    ("taps", "counts"),
    [(4, [2]), (3, [1, 2]), (5, [2, 3]), (1, [1]), (2, [1])],
)
def test_no_tap_is_a_zero(taps, counts):
    """At most two numbers of taps for each dimension, one where the stride divides them."""
    seen, _ = convolutions_of(taps, torch.float32)
    assert sorted(shape[2:] for _, shape in seen) == [(a, b) for a in counts for b in counts]


def test_sums_are_of_products_of_f32_that_are_few():
    assert convolutions_of(3, torch.float32, summed=True)[0] == [(torch.float32, (27, 2, 1, 1))]
    seen, got = convolutions_of(3, torch.float16, summed=True)
    assert seen == [(torch.float32, (27, 2, 1, 1))] and got.dtype == torch.float16
    # One convolution is enough; 81 products for each place are many.
    assert [shape for _, shape in convolutions_of(4, torch.float32, summed=True)[0]] == [(12, 2, 2, 2)]
    assert len(convolutions_of(9, torch.float32, summed=True)[0]) == 4
    assert len(convolutions_of(3, torch.float32)[0]) == 4


def test_cuda_tensors_have_sums():
    operation = torch.ops.aten.convolution.default
    options = [getattr(decomposition_table(it)[operation], "keywords", {}) for it in ("cuda", "cpu")]
    assert options == [{"summed": True}, {}]


def test_an_infinity_reaches_its_own_results_alone():
    """Beside the results of an infinity those of other remainders are as without it."""
    module = torch.nn.ConvTranspose2d(8, 6, 3, 2, 1, 1).eval()
    x = torch.randn(1, 8, 6, 7)
    x[0, 3, 0, 2], x[0, 0, 4, 6], x[0, 7, 5, 0] = ODD
    with torch.no_grad():
        got, want = compiled(module)(x), module.double()(x.double())
    torch.testing.assert_close(got.double(), want, equal_nan=True, rtol=2e-5, atol=2e-5)


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
        {"stride": 3, "dilation": 2},
        {"stride": 5, "output_padding": 4},
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
@pytest.mark.parametrize(
    ("stride", "dilation", "summed"),
    [(2, 2, False), ((2, 4, 2), (2, 2, 1), False), (1, 2, False), (2, 1, True)],
    ids=str,
)
def test_three_dimensions_are_as_many_as_kernels_take(monkeypatch, stride, dilation, summed):
    operation = torch.ops.aten.convolution.default
    monkeypatch.setitem(decompositions.TABLE, operation, partial(convolution, summed=summed))
    x = torch.randn(1, 16, 4, 5, 6)
    model = torch.nn.ConvTranspose3d(16, 32, 3, stride=stride, padding=1, dilation=dilation).eval()
    assert "ptx" in xetile.torch.compile(model, (x,), target="sm_90a", schedule="gpu_model").binaries


@pytest.mark.skipif("sm_90a" not in [target.name for target in xetile.targets.available()], reason="built without it")
def test_groups_of_three_dimensions_are_as_many_as_kernels_take():
    """Taps of four remainders in each dimension, besides groups, channels and results."""
    model = torch.nn.ConvTranspose3d(32, 32, 4, 2, 1, groups=2).eval()
    x = torch.randn(1, 32, 4, 5, 6)
    assert "ptx" in xetile.torch.compile(model, (x,), target="sm_90a", schedule="gpu_model").binaries
