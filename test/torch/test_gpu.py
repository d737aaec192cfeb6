# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models on a GPU's target, their kernels on this machine's OpenCL device, against PyTorch in f64."""

import pytest
import torch
import xetile
from torch import nn
from xetile import XeTileError

SMALL = {
    "mlp": (lambda: nn.Sequential(nn.Linear(40, 64), nn.GELU(), nn.Linear(64, 24), nn.Softmax(-1)), (17, 40)),
    "norms": (lambda: nn.Sequential(nn.LayerNorm(40), nn.Linear(40, 64), nn.SiLU(), nn.LayerNorm(64)), (17, 40)),
    "convolutions": (
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 3)),
        (1, 3, 14, 14),
    ),
    "transposed": (lambda: nn.ConvTranspose2d(4, 6, 3, stride=2), (1, 4, 7, 7)),
    "encoder": (lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), (2, 10, 32)),
}


def close(got, model, inputs, error=1e-5):
    with torch.no_grad():
        exact = model.double()(*(each.double() if each.is_floating_point() else each for each in inputs))
    model.float()
    assert (got.double() - exact).abs().max() <= error * exact.abs().max()


@pytest.mark.parametrize("name", SMALL)
def test_models_of_several_kernels_are_pytorchs(name):
    make, shape = SMALL[name]
    torch.manual_seed(1)
    model, x = make().eval(), torch.randn(shape)
    compiled = torch.compile(model, backend="xetile", options={"target": "pvc", "native": "off", "strict": True})
    with torch.no_grad():
        got = compiled(x)
    close(got, model, (x,))


@pytest.mark.parametrize(
    "layer",
    [
        lambda: nn.ConvTranspose1d(4, 6, 3, stride=2, dilation=3, padding=1),
        lambda: nn.ConvTranspose2d(4, 6, (3, 2), stride=(3, 2), dilation=(1, 2), padding=1, groups=2, bias=False),
        lambda: nn.ConvTranspose3d(4, 8, 2, stride=2, padding=1, output_padding=1, groups=4),
    ],
    ids=["1d", "2d", "3d"],
)
def test_transposed_convolutions_of_all_kinds(layer):
    torch.manual_seed(1)
    model = layer().eval()
    x = torch.randn(2, 4, *[5, 6, 7][: model.weight.ndim - 2])
    compiled = torch.compile(model, backend="xetile", options={"target": "pvc", "native": "off", "strict": True})
    with torch.no_grad():
        got = compiled(x)
    close(got, model, (x,))


SCANS = {
    "cumsum": lambda x: torch.cumsum(x, 1),
    "cumprod": lambda x: torch.cumprod(1 + x / 20, 0),
    "reverse": lambda x: torch.cumsum(x.flip(1), 1).flip(1),
    "exclusive": lambda x: torch.cat((torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)), 1),
    "masked": lambda x: torch.cumsum(x * (x > 0), 1),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", [(7, 30), (3, 2100)], ids=str)
@pytest.mark.parametrize("name", SCANS)
def test_scans_are_pytorchs(name, shape, fresh):
    x = torch.randn(shape)
    options = {"target": "pvc", "native": "off", "strict": True}
    got = torch.compile(SCANS[name], backend="xetile", options=options)(x)
    exact = SCANS[name](x.double())
    assert (got.double() - exact).abs().max() <= 1e-6 * exact.abs().max()


def test_what_is_rolled_has_known_sizes(fresh):
    x = torch.randn(2, 14, 14, 3)
    options = {"target": "pvc", "native": "off", "strict": True}
    roll = lambda x: torch.roll(x, shifts=(-3, 2), dims=(1, 2)) * 2  # noqa: E731
    assert torch.equal(torch.compile(roll, backend="xetile", options=options)(x), roll(x))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool], ids=str)
def test_scans_of_other_types(dtype, fresh):
    x = torch.randn(9, 130).to(dtype) if dtype.is_floating_point else torch.randint(0, 2, (9, 130)).to(dtype)
    options = {"target": "pvc", "native": "off", "strict": True}
    got = torch.compile(SCANS["cumsum"], backend="xetile", options=options)(x)
    expected = SCANS["cumsum"](x)
    assert got.dtype == expected.dtype
    torch.testing.assert_close(got, expected, rtol=1e-2 if dtype == torch.bfloat16 else 1e-3, atol=1e-2)


def test_masks_and_indices():
    def choose(x, index):
        larger = x > 0.5
        return larger, torch.where(larger, x, x[index])

    torch.manual_seed(1)
    x, index = torch.randn(9, 20), torch.randint(0, 9, (9,))
    options = {"target": "pvc", "native": "off", "strict": True}
    compiled = torch.compile(choose, backend="xetile", options=options)
    for got, expected in zip(compiled(x, index), choose(x, index), strict=True):
        assert got.dtype == expected.dtype
        assert torch.equal(got, expected)
    index[3] = 9
    with pytest.raises(IndexError, match="9"):
        compiled(x, index)


def test_a_model_becomes_a_kernel_for_a_gpu():
    model, x = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval(), torch.randn(3, 8)
    kernel = xetile.torch.compile(model, (x,), target="bmg", native="off")
    assert str(kernel.target) == "bmg"
    got = torch.from_numpy(kernel(x))
    close(got, model, (x,))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "tpu"}, "unknown chip 'tpu'"),
        ({"target": "pvc", "threads": 2}, "threads"),
        ({"target": "pvc", "freeze": "yes"}, "freeze: expected True or False"),
    ],
)
def test_options_that_do_not_suit_a_gpu_are_refused(options, message):
    model = nn.Linear(8, 8)
    with pytest.raises(Exception, match=message) as caught:
        torch.compile(model, backend="xetile", options=options)(torch.randn(2, 8))
    assert isinstance(getattr(caught.value, "inner_exception", caught.value), XeTileError)
    with pytest.raises(XeTileError, match=message):
        xetile.torch.compile(model, (torch.randn(2, 8),), **options)


class Attention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, q, k, v, mask=None):
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)


def queries_keys_values(heads, key_heads, dtype=torch.float16):
    return (torch.randn(1, heads, 20, 32, dtype=dtype), *torch.randn(2, 1, key_heads, 48, 32, dtype=dtype))


class Masked(nn.Module):
    """Attention written out, with a mask that is made of ones."""

    def __init__(self, low=-torch.inf, added=False, offset=0):
        super().__init__()
        self.low, self.added, self.offset = low, added, offset

    def forward(self, q, k, v):
        scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        ones = torch.ones(scores.shape[-2:])
        if self.added:
            scores = scores + torch.full_like(ones, self.low).triu(self.offset + 1).to(q.dtype)
        else:
            scores = scores.masked_fill(ones.tril(self.offset) == 0, self.low)
        return scores.softmax(-1) @ v


class Repeated(nn.Module):
    """Heads that share keys, which are repeated before."""

    def forward(self, q, k, v):
        k, v = (each.repeat_interleave(q.shape[1] // k.shape[1], 1) for each in (k, v))
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


ATTENTIONS = {
    "none": lambda: (Attention(), queries_keys_values(2, 2)),
    "causal": lambda: (Attention(is_causal=True), queries_keys_values(2, 2)),
    "causal, as many queries as keys": lambda: (Attention(is_causal=True), tuple(torch.randn(3, 1, 2, 40, 32).half())),
    "lower triangle": lambda: (Masked(), queries_keys_values(2, 2)),
    "lower triangle, keys before the queries": lambda: (Masked(offset=28), queries_keys_values(2, 2)),
    "added upper triangle": lambda: (Masked(added=True), queries_keys_values(2, 2)),
    "lowest number": lambda: (Masked(low=torch.finfo(torch.float16).min), queries_keys_values(2, 2)),
    "repeated keys": lambda: (Repeated(), queries_keys_values(4, 2)),
    "bias": lambda: (Attention(), (*queries_keys_values(2, 2), torch.randn(1, 1, 20, 48, dtype=torch.float16))),
    "mask": lambda: (Attention(), (*queries_keys_values(2, 2), torch.rand(20, 48) < 0.5)),
    "queries that see nothing": lambda: (Attention(), (*queries_keys_values(2, 2), torch.arange(20)[:, None].gt(3))),
    "shared keys": lambda: (Attention(enable_gqa=True), queries_keys_values(4, 2)),
    "bf16": lambda: (Attention(), queries_keys_values(2, 2, torch.bfloat16)),
}


class Two(nn.Module):
    """Two attentions with one mask."""

    def forward(self, *inputs):
        mask = torch.ones(inputs[0].shape[-2], inputs[1].shape[-2], dtype=torch.bool).tril()
        return sum(nn.functional.scaled_dot_product_attention(*inputs[i : i + 3], attn_mask=mask) for i in (0, 3))


def test_attentions_that_share_a_mask_are_a_kernel_each():
    torch.manual_seed(1)
    inputs = tuple(torch.randn(6, 1, 2, 20, 32).half())
    kernel = xetile.torch.compile(Two().eval(), inputs, target="pvc", native="off")
    lines = [line for line in kernel.explain().splitlines() if line[:1].isdigit() and " attention " in line]
    assert len(lines) == 2 and all(line.split()[1] == "attention" for line in lines)
    close(torch.from_numpy(kernel(*(each.numpy() for each in inputs))), Two(), inputs, 2e-3)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_is_one_kernel_and_pytorchs(name):
    torch.manual_seed(1)
    model, inputs = ATTENTIONS[name]()
    explained = xetile.torch.compile(model.eval(), inputs, target="pvc", native="off").explain()
    assert "attention" in explained
    assert explained.count("a subgroup's operations") == 1
    compiled = torch.compile(model, backend="xetile", options={"target": "pvc", "native": "off", "strict": True})
    with torch.no_grad():
        got = compiled(*inputs)
    close(got, model, inputs, 8e-3 if name == "bf16" else 2e-3)
