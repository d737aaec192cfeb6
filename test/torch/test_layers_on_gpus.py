# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of models on Intel GPUs: right, and of what ocloc makes of them no spills and no more code than there was."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from torch import nn  # noqa: E402
from xetile.system import tools  # noqa: E402

MODULE = sys.modules[xetile.torch.backend.__module__]
ERRORS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


@dataclass(frozen=True)
class Layer:
    """A layer, what it is called with, and the most kernels and instructions that it may have on pvc."""

    module: nn.Module
    shape: tuple[int, ...]
    dtype: torch.dtype
    kernels: int
    instructions: int
    unit: bool = False  # products are on the matrix unit
    last: bool = False  # channels are last in memory


class SelfAttention(nn.Module):
    """Queries, keys and values are projected at once, and taken apart."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(256, 8, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


def layers() -> dict[str, Layer]:
    image, half, single = (2, 64, 32, 32), torch.float16, torch.float32
    strided = nn.Sequential(nn.Conv2d(64, 128, 3, 2, 1), nn.ReLU())
    gelu = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256))
    return {
        "convolution of f32": Layer(nn.Sequential(nn.Conv2d(64, 128, 3, 1, 1), nn.ReLU()), image, single, 4, 3500),
        "convolution of f32, stride 2": Layer(strided, image, single, 4, 3750),
        "the same, channels last": Layer(strided, image, single, 4, 2550, last=True),
        "transposed convolution": Layer(nn.ConvTranspose2d(64, 32, 4, 2, 1), (2, 64, 16, 16), half, 6, 2250, unit=True),
        "transposed convolution of f32": Layer(nn.ConvTranspose2d(64, 32, 4, 2, 1), (2, 64, 16, 16), single, 7, 2750),
        "transposed convolution, odd taps": Layer(
            nn.ConvTranspose2d(64, 32, 3, 2, 1, 1), (1, 64, 16, 16), half, 7, 3700, True
        ),
        "transposed convolution of f32, odd taps": Layer(
            nn.ConvTranspose2d(64, 32, 3, 2, 1, 1), (1, 64, 16, 16), single, 7, 7300
        ),
        "transposed convolution of few filters": Layer(
            nn.ConvTranspose2d(32, 16, 3, 2, 1), (1, 32, 9, 9), torch.bfloat16, 8, 4000, True
        ),
        "convolution of few filters": Layer(nn.Conv2d(32, 16, 3, 1, 1), (1, 32, 16, 16), half, 4, 2000, True),
        "one pixel": Layer(nn.Sequential(nn.Conv2d(64, 128, 1), nn.ReLU()), image, half, 1, 1080, unit=True),
        "one pixel of f32": Layer(nn.Sequential(nn.Conv2d(64, 128, 1), nn.ReLU()), image, single, 1, 1520),
        "one pixel, stride 2": Layer(nn.Conv2d(64, 128, 1, 2), image, half, 4, 850, unit=True),
        "one pixel of odd images": Layer(nn.Conv2d(64, 128, 1), (2, 64, 9, 9), half, 4, 1600, unit=True),
        "one pixel, channels last": Layer(nn.Conv2d(64, 128, 1), image, half, 3, 1200, unit=True, last=True),
        "patches": Layer(nn.Conv2d(3, 384, 16, 16), (2, 3, 64, 64), half, 3, 780, unit=True),
        "patches of f32": Layer(nn.Conv2d(3, 96, 4, 4), (2, 3, 65, 66), single, 3, 540),
        "transposed convolution, taps of one": Layer(
            nn.ConvTranspose2d(64, 32, 2, 2), (2, 64, 9, 9), half, 5, 1350, True
        ),
        "transposed convolution in groups": Layer(
            nn.ConvTranspose2d(128, 128, 3, 2, 1, groups=2), (2, 128, 16, 16), half, 11, 6200, True
        ),
        "upsample": Layer(nn.Upsample(scale_factor=2), image, half, 1, 1950),
        "linear and GELU": Layer(gelu, (64, 256), torch.bfloat16, 2, 5200, unit=True),
        "average pool": Layer(nn.AvgPool2d(3, 2, 1), (2, 64, 33, 33), half, 1, 1200),
        "average pool, stride 1": Layer(nn.AvgPool2d(3, 1, 1), image, half, 1, 1380),
        "average pool of even images": Layer(nn.AvgPool2d(3, 2, 1), (1, 64, 112, 112), half, 1, 1200),
        "max pool of f32": Layer(nn.MaxPool2d(3, 2, 1), (2, 64, 33, 33), single, 1, 1350),
        "self-attention": Layer(SelfAttention(), (2, 100, 256), half, 7, 5050, unit=True),
        "instance norm": Layer(nn.InstanceNorm2d(64), image, half, 1, 620),
        "group norm": Layer(nn.GroupNorm(8, 64), image, half, 1, 870),
    }


@pytest.mark.parametrize("name", layers())
def test_a_layer_spills_nothing_and_is_short(monkeypatch, name, seed):
    torch.manual_seed(seed)
    layer = layers()[name]
    order = torch.channels_last if layer.last else torch.contiguous_format
    model = layer.module.eval().to(layer.dtype, memory_format=order)
    x = torch.randn(*layer.shape).to(layer.dtype, memory_format=order)
    made = []
    compile_ = MODULE.compiler.compile
    monkeypatch.setattr(MODULE.compiler, "compile", lambda *a, **o: made.append(compile_(*a, **o)) or made[-1])
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=xetile.torch.backend, options={"target": "pvc", "strict": True})
    with torch.no_grad():
        got, expected = compiled(x), model.double()(x.double())
    error = (got.double() - expected).abs().max() / expected.abs().max()
    assert error < ERRORS[layer.dtype]
    (kernel,) = made
    text = kernel.stages["1-xetile-workgroup"]
    assert ("xetile.tile_mma" in text) == layer.unit
    assert text.count("gpu.func @") <= layer.kernels
    if tools.find_ocloc():
        rows = [line.split() for line in kernel.report().splitlines()[1:]]
        rows = [row for row in rows if row[0] != "all"]
        assert [row for row in rows if row[4] != "0"] == [], "registers are spilled"
        assert sum(int(row[5]) for row in rows) <= layer.instructions
