# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of f32, for both machines: payloads, what PyTorch computes for them in f64, and how long cuDNN takes for
the same without tf32."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

KIND, NUMBERS = "f32_convolutions", "f32_convolution_numbers"
ALLOWED = 5e-6
"""Errors of checked kernels, as parts of the largest result."""


@dataclass(frozen=True)
class Convolution:
    """Images of `channels` a group, `padding` zeros before and behind each side; `units` multiply."""

    kind: str
    images: int
    channels: int
    image: tuple[int, ...]
    filters: int
    window: tuple[int, ...]
    stride: int = 1
    dilation: int = 1
    padding: int = 0
    groups: int = 1
    last: bool = False
    units: str = "matrix"
    params: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    schedule: str = "gpu_model"

    @property
    def name(self) -> str:
        sides, taps = "x".join(map(str, self.image)), "x".join(map(str, self.window))
        name = f"{self.images}x{self.channels * self.groups}x{sides}_to_{self.filters * self.groups}_by_{taps}"
        for letter, value, usual in (("s", self.stride, 1), ("d", self.dilation, 1), ("p", self.padding, 0)):
            name += f"_{letter}{value}" if value != usual else ""
        name += f"_groups{self.groups}" if self.groups > 1 else ""
        return name + ("_last" if self.last else "") + (f"_{self.units}" if self.units != "matrix" else "")

    def places(self) -> tuple[int, ...]:
        return tuple(
            (size + 2 * self.padding - (taps - 1) * self.dilation - 1) // self.stride + 1
            for size, taps in zip(self.image, self.window, strict=True)
        )

    def payload(self) -> str:
        """A function on tensors."""
        return _payload(self)


def cases() -> Iterator[Convolution]:
    """Those that are checked, then those that are timed, on either unit."""
    for last in (False, True):
        yield Convolution(NUMBERS, 3, 17, (33, 29), 40, (3, 3), padding=1, last=last)
        yield Convolution(NUMBERS, 2, 33, (57, 61), 130, (5, 3), stride=2, padding=2, last=last)
        yield Convolution(NUMBERS, 2, 16, (45, 50), 64, (3, 3), dilation=3, last=last)
        yield Convolution(NUMBERS, 1, 128, (20, 20), 256, (3, 3), padding=1, last=last)
        yield Convolution(NUMBERS, 2, 12, (9, 14, 15), 24, (3, 3, 3), padding=1, last=last)
        yield Convolution(NUMBERS, 4, 24, (1001,), 48, (7,), padding=3, last=last)
        yield Convolution(NUMBERS, 2, 300, (17, 19), 72, (1, 1), last=last)
    yield Convolution(NUMBERS, 2, 12, (33, 30), 16, (3, 3), padding=1, groups=4)
    yield Convolution(NUMBERS, 3, 3, (97, 95), 64, (7, 7), stride=2, padding=3)
    timed = [
        Convolution(KIND, 32, 3, (224, 224), 64, (7, 7), stride=2, padding=3),
        Convolution(KIND, 32, 64, (56, 56), 64, (3, 3), padding=1),
        Convolution(KIND, 32, 128, (28, 28), 128, (3, 3), padding=1),
        Convolution(KIND, 32, 256, (14, 14), 256, (3, 3), padding=1),
        Convolution(KIND, 32, 512, (7, 7), 512, (3, 3), padding=1),
        Convolution(KIND, 32, 256, (56, 56), 64, (1, 1)),
        Convolution(KIND, 4, 16, (512, 512), 128, (3, 3)),
        Convolution(KIND, 4, 32, (256, 256), 64, (5, 9), dilation=2, padding=2),
        Convolution(KIND, 2, 16, (32, 64, 64), 64, (3, 3, 3)),
        Convolution(KIND, 16, 64, (16384,), 128, (3,)),
        Convolution(KIND, 32, 32, (28, 28), 32, (3, 3), padding=1, groups=8),
        Convolution(KIND, 32, 64, (56, 56), 64, (3, 3), padding=1, last=True),
    ]
    yield from timed
    for case in timed:
        if case.images > 4 and case.window != (1, 1):
            yield Convolution(**(vars(case) | {"units": "vector", "params": {"f32_units": "vector"}}))


def _payload(case: Convolution) -> str:
    def tensor(shape: tuple[int, ...]) -> str:
        return f"tensor<{'x'.join(map(str, shape))}xf32>"

    def ordered(count: int, sides: tuple[int, ...]) -> tuple[int, ...]:
        group = (case.groups,) if case.groups > 1 else ()
        return (case.images, *sides, count) if case.last else (case.images, *group, count, *sides)

    rank = len(case.image)
    wide = tuple(side + 2 * case.padding for side in case.image)
    group = (case.groups,) if case.groups > 1 else ()
    weights = (*case.window, case.channels, case.filters) if case.last else (*group, case.filters, case.channels)
    w = tensor(weights if case.last else (*weights, *case.window))
    x, padded = tensor(ordered(case.channels, case.image)), tensor(ordered(case.channels, wide))
    d = tensor(ordered(case.filters, case.places()))
    firsts = {1: "conv_1d_ncw_fcw", 2: "conv_2d_nchw_fchw", 3: "conv_3d_ncdhw_fcdhw"}
    lasts = {1: "conv_1d_nwc_wcf", 2: "conv_2d_nhwc_hwcf", 3: "conv_3d_ndhwc_dhwcf"}
    name = "conv_2d_ngchw_gfchw" if case.groups > 1 else (lasts if case.last else firsts)[rank]
    zeros = [case.padding] * rank
    ends = [0, *zeros, 0] if case.last else [0, *[0] * len(group), 0, *zeros]
    indices = ", ".join(f"%i{number}: index" for number in range(len(ends)))
    pad = f"""%P = tensor.pad %X low{ends} high{ends} {{
  ^bb0({indices}):
    tensor.yield %zero : f32
  }} : {x} to {padded}"""
    numbers = ", ".join(
        f"{what} = dense<{value}> : tensor<{rank}xi64>"
        for what, value in (("strides", case.stride), ("dilations", case.dilation))
    )
    return f"""func.func @kernel(%X: {x}, %W: {w}) -> {d} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {d}
  %z = linalg.fill ins(%zero : f32) outs(%e : {d}) -> {d}
  {pad if case.padding else ""}
  %D = linalg.{name} {{{numbers}}} ins({"%P" if case.padding else "%X"}, %W : {padded}, {w}) outs(%z : {d}) -> {d}
  return %D : {d}
}}
"""


def run(case: dict[str, Any], kernel: Any, rounds: int, seed: int, guarded: Callable[..., Any]) -> dict[str, Any]:
    """Errors beside f64 as parts of what is allowed; of those that are timed, microseconds of the kernel and of cuDNN,
    and the error of either as a part of the largest result."""
    import torch

    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    rank, groups, last = len(case["image"]), case["groups"], case["last"]
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def random(*shape: int) -> Any:
        return guarded(shape, torch.float32, torch.randn(*shape, device="cuda", generator=generator))[0]

    group = (groups,) if groups > 1 else ()
    n, c, f, image, window = (case[name] for name in ("images", "channels", "filters", "image", "window"))
    x = random(n, *image, c) if last else random(n, *group, c, *image)
    w = random(*window, c, f) if last else random(*group, f, c, *window)
    if case["kind"] == NUMBERS:
        x.view(-1)[5], w.view(-1)[-1] = math.nan, math.inf
    # As PyTorch has them: channels second, whatever the order in memory.
    seen = x.movedim(-1, 1) if last else x.view(n, groups * c, *image)
    weights = w.movedim((-1, -2), (0, 1)) if last else w.view(groups * f, c, *window)
    if last and rank > 1:
        weights = weights.contiguous(memory_format=torch.channels_last if rank == 2 else torch.channels_last_3d)
    convolve = {1: torch.nn.functional.conv1d, 2: torch.nn.functional.conv2d, 3: torch.nn.functional.conv3d}[rank]
    steps = {"stride": case["stride"], "dilation": case["dilation"], "padding": case["padding"], "groups": groups}
    # On the host f64 is slow, on the device without cuDNN.
    with torch.backends.cudnn.flags(enabled=False):
        expected = convolve(seen.double(), weights.double(), **steps)
    places = tuple(expected.shape[2:])
    shape = (n, *places, f) if last else (n, *group, f, *places)
    out, whole = guarded(shape, torch.float32)
    call = kernel.bind(x, w, out)
    call()
    torch.cuda.synchronize()
    kernel.raise_error()
    got = out.movedim(-1, 1) if last else out.view(n, groups * f, *places)
    around = torch.cat((whole[:4096], whole[4096 + out.numel() :]))
    ours = _error(got, expected) if bool(torch.isnan(around).all()) else math.inf
    if case["kind"] == NUMBERS:
        return {"errors": {"special": ours / ALLOWED}}

    def peer() -> Any:
        return convolve(seen, weights, **steps)

    theirs = _error(peer(), expected)
    from triton.testing import do_bench

    times: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(rounds):
        for side, function in (("peer", peer), ("ours", call)):
            times[side].append(do_bench(function, warmup=10, rep=40, return_mode="median") * 1e3)
    taps = math.prod(window) * c
    return {
        "errors": {"random": ours / ALLOWED}, "of_largest": [ours, theirs],
        "operations": 2 * taps * expected.numel(),
    } | {name: statistics.median(values) for name, values in times.items()}  # fmt: skip


def _error(got: Any, expected: Any) -> float:
    """The largest difference as a part of the largest result; infinite where NaNs or infinities differ."""
    import torch

    got = got.double()
    finite = torch.isfinite(expected)
    same = torch.equal(torch.isnan(got), torch.isnan(expected))
    beyond = ~finite & ~torch.isnan(expected)
    if not same or bool((got[beyond] != expected[beyond]).any()) or not bool(torch.isfinite(got[finite]).all()):
        return math.inf
    return float((got[finite] - expected[finite]).abs().max() / expected[finite].abs().max())


def tell(cases: list[dict[str, Any]], results: dict[int, dict[str, Any]]) -> None:
    """The timed ones beside cuDNN, and the geometric mean of each unit."""
    print("| convolution | us | TFLOP/s | of cuDNN | errors, ours and cuDNN's |\n|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {}
    for number, result in sorted(results.items()):
        if "ours" in result:
            ratio, rate = result["peer"] / result["ours"], result["operations"] / result["ours"] * 1e-6
            ratios.setdefault(cases[number]["units"], []).append(ratio)
            ours, theirs = result["of_largest"]
            name = cases[number]["name"]
            print(f"| {name} | {result['ours']:.1f} | {rate:.1f} | {ratio:.2f} | {ours:.1e}, {theirs:.1e} |")
    for units, of_units in ratios.items():
        mean = math.exp(statistics.fmean(map(math.log, of_units)))
        print(f"{units} units: geometric mean of ratios {mean:.3f} of {len(of_units)}")
