# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of models on Intel GPUs: narrow ones on the matrix unit, with what is around them, right, no spills."""

import re
import sys

import pytest
import torch
import xetile.torch
from torch import nn
from xetile.system import tools

MODULE = sys.modules[xetile.torch.backend.__module__]
NARROW = {torch.float16: 2e-3, torch.bfloat16: 2e-2}


class Block(nn.Module):
    """Two convolutions of 3x3 with norms and a way around them, by one of 1x1 where it has another shape."""

    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(filters) for _ in range(3))
        self.around = nn.Conv2d(channels, filters, 1, stride, bias=False) if channels != filters else None
        for norm in self.norms:
            nn.init.uniform_(norm.running_mean, -0.5, 0.5)
            nn.init.uniform_(norm.running_var, 0.5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second, around = self.norms
        y = second(self.second(torch.relu(first(self.first(x)))))
        return torch.relu(y + (x if self.around is None else around(self.around(x))))


@pytest.fixture(autouse=True)
def drawn(seed: int) -> None:
    torch.manual_seed(seed)


@pytest.fixture
def kernels(monkeypatch):
    """What is compiled."""
    made = []
    compile_ = MODULE.compiler.compile

    def kept(module, **options):
        made.append(compile_(module, **options))
        return made[-1]

    monkeypatch.setattr(MODULE.compiler, "compile", kept)
    return made


def check(model: nn.Module, x: torch.Tensor, target: str, kernels: list) -> str:
    """The kernels in XeTile. The reference is the model of the same weights in f64."""
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=xetile.torch.backend, options={"target": target, "strict": True})
    with torch.no_grad():
        got, expected = compiled(x), model.double()(x.double())
    assert got.dtype == x.dtype
    error = (got.double() - expected).abs().max() / expected.abs().max()
    assert error < (NARROW.get(x.dtype, 1e-5)), error
    (kernel,) = kernels
    if tools.find_ocloc():
        rows = [line.split() for line in kernel.report().splitlines()[1:]]
        assert [row for row in rows if row[0] != "all" and row[4] != "0"] == [], "registers are spilled"
    return kernel.stages["1-xetile-workgroup"]


def convolutions(text: str) -> list[bool]:
    """Of each kernel with a convolution, whether it is on the matrix unit."""
    kernels = re.split(r"gpu.func @", text)[1:]
    return ["xetile.tile_mma" in each for each in kernels if re.match(r"\w+_convolution_kernel", each)]


@pytest.mark.parametrize(("target", "dtype"), [("pvc", torch.float16), ("bmg", torch.bfloat16)])
def test_a_residual_network_is_on_the_matrix_unit(kernels, dtype, target):
    model = nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Block(64, 64, 1), Block(64, 128, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip
    text = check(model.eval().to(dtype), torch.randn(2, 3, 64, 64).to(dtype), target, kernels)
    # The first one has three channels; the one around the second block is in the kernel of that block's end.
    assert convolutions(text) == [False] + [True] * 4
    assert "memref<2x64x16x16x" not in text.partition("windows_kernel")[2], "channels are first again"


@pytest.mark.parametrize(("target", "channels", "groups"), [("pvc", 64, 1), ("bmg", 256, 8), ("pvc", 48, 1)])
def test_images_in_any_order_are_on_the_matrix_unit(kernels, channels, groups, target):
    """Channels first or last, in groups or not, a stride; with a bias, a norm and an activation."""
    model = nn.Sequential(
        nn.Conv2d(channels, channels, 3, 2, 1, groups=groups), nn.BatchNorm2d(channels), nn.Hardswish()
    ).half().eval()  # fmt: skip
    for order in (torch.contiguous_format, torch.channels_last):
        kernels.clear()
        x = torch.randn(2, channels, 17, 20).half().to(memory_format=order)
        text = check(model.half().to(memory_format=order), x, target, kernels)
        assert convolutions(text) == [True]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_convolution_in_groups_has_what_is_around_it_in_its_kernel(kernels, dtype):
    model = nn.Sequential(nn.Conv2d(24, 24, 3, padding=1, groups=3), nn.ReLU()).to(dtype)
    text = check(model.eval(), torch.randn(2, 24, 9, 10).to(dtype), "pvc", kernels)
    assert text.count("gpu.launch_func") == 1
