# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models by torch.compile(backend="xetile") on a Hopper GPU, beside eager PyTorch and inductor; needs the wheels.

    python3 torch_compile.py [--only WORD ..] [--rounds 3] [--limit 60] [--seconds 140] [--seed N]

Results are compared with the model in f64, and the three are timed in turns. Each model has a time limit, in a process
that is killed at its end; none begins after --seconds. The table has microseconds of the GPU, of the host for a call
that does not wait, and of that what a kernel's own call takes; errors as parts of the largest number of the result that
is furthest off, ours and eager's. Each result may have twice eager's error besides what rounding takes.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import logging
import math
import operator
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from supervised import supervise, told_gpu

HOST_CALLS, FEW_CALLS, LONG = 40, 5, 300  # fewer where a call takes so many microseconds: a queue has 1024 launches
WAITING = 0.2  # seconds between what the host measures
ALLOWED = {"f32": 2e-5, "bf16": 8e-3}  # beside twice the error of eager PyTorch


def why_not() -> str | None:
    """Why nothing can run here."""
    try:
        ctypes.CDLL(os.environ.get("XETILE_CUDA_DRIVER", "libcuda.so.1"))
    except OSError as error:
        return f"no driver of Nvidia's GPUs: {error}"
    try:
        import torch
        import torch_mlir  # noqa: F401
        import xetile.torch  # noqa: F401
    except ImportError as error:
        return f"not installed: {error}"
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        return "no Hopper GPU (H100, H200)"
    return None


def models() -> dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, ...]], bool]]:
    """Name -> what makes a model, what makes its inputs, both in f32 on the CPU; True for a step of training."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Block(nn.Module):
        def __init__(self, size: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.norm, self.after = nn.LayerNorm(size), nn.LayerNorm(size)
            self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
            self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

        def forward(self, x: Any) -> Any:
            batch, length, size = x.shape
            heads = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, size // self.heads)
            q, k, v = heads.permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, size))
            return x + self.down(F.gelu(self.up(self.after(x))))

    class Gpt(nn.Module):
        def __init__(self, size: int = 512, layers: int = 4, words: int = 8192) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(words, size), nn.Embedding(512, size)
            self.blocks = nn.Sequential(*[Block(size, 8) for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, words, bias=False)

        def forward(self, words: Any) -> Any:
            x = self.words(words) + self.places(torch.arange(words.shape[1], device=words.device))
            return self.head(self.norm(self.blocks(x)))

    class Written(nn.Module):
        """Attention in products and a softmax, without PyTorch's function for it."""

        def forward(self, q: Any, k: Any, v: Any) -> Any:
            return torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v

    class Gather(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.norm = nn.Embedding(4096, 768), nn.RMSNorm(768)

        def forward(self, at: Any, x: Any) -> Any:
            return self.norm(self.table(at)) + x[at[:, 0] % 64][:, None]

    class Chain(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return torch.sigmoid(x * 1.5 + y) * torch.tanh(y) - x.abs().clamp(max=2)

    def mlp(*sizes: int) -> Any:
        layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.GELU())]
        return nn.Sequential(*layers[:-1])

    def net() -> Any:
        layers: list[Any] = []
        for a, b in ((3, 32), (32, 64), (64, 128)):
            layers += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 100))

    randn = torch.randn
    words = lambda: (torch.randint(0, 8192, (4, 512)),)  # noqa: E731
    heads = lambda: tuple(randn(4, 8, 512, 64) for _ in range(3))  # noqa: E731
    norms = lambda: nn.Sequential(nn.LayerNorm(1024), nn.SiLU(), nn.RMSNorm(1024))  # noqa: E731
    return {
        "one kernel": (lambda: nn.ReLU(), lambda: (randn(256, 256),), False),
        "linear": (lambda: nn.Linear(1024, 1024), lambda: (randn(1024, 1024),), False),
        "MLP": (lambda: mlp(1024, 4096, 1024), lambda: (randn(2048, 1024),), False),
        "norms": (norms, lambda: (randn(8192, 1024),), False),
        "softmax": (lambda: nn.Softmax(-1), lambda: (randn(8192, 2048),), False),
        "chain": (Chain, lambda: (randn(4096, 4096), randn(4096, 4096)), False),
        "gathers": (Gather, lambda: (torch.randint(0, 4096, (64, 128)), randn(64, 768)), False),
        "attention, written": (Written, heads, False),
        "transformer layer": (lambda: Block(768, 12), lambda: (randn(4, 512, 768),), False),
        "GPT of 4 layers": (Gpt, words, False),
        "conv net": (net, lambda: (randn(16, 3, 64, 64),), False),
        "MLP, training": (lambda: mlp(512, 2048, 512), lambda: (randn(1024, 512),), True),
        "conv net, training": (net, lambda: (randn(16, 3, 64, 64),), True),
    }


def cases() -> list[tuple[str, str]]:
    """Names and types. Everything in both, but what has one kernel."""
    return [(name, dtype) for name in models() for dtype in ("f32", "bf16") if (name, dtype) != ("one kernel", "bf16")]


class Heard(logging.Handler):
    """What the backend tells."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


class Calls:
    """The kernels that graphs call, with the inputs that they had first."""

    def __init__(self) -> None:
        from xetile.torch import backend, cuda_calls

        # The package has its function by that name.
        module = sys.modules[backend.__module__]
        self.made: list[tuple[Any, list[list[Any]]]] = []
        self.others = 0
        make, slow = module.call_on_gpu, cuda_calls.CudaCall._call_with_others

        def call_on_gpu(*arguments: Any) -> Any:
            call, seen = make(*arguments), []
            self.made.append((call, seen))

            def run(inputs: list[Any]) -> Any:
                if not seen:
                    seen.append(list(inputs))
                return call(inputs)

            return run

        def call_with_others(this: Any, inputs: list[Any]) -> Any:
            self.others += 1
            return slow(this, inputs)

        module.call_on_gpu = call_on_gpu  # type: ignore[attr-defined]
        cuda_calls.CudaCall._call_with_others = call_with_others


def results_of(run: Callable[..., Any], model: Any, inputs: tuple[Any, ...], trains: bool) -> list[Any]:
    """What a call gives, or a step of training: its result and the gradients."""
    import torch

    if not trains:
        with torch.no_grad():
            return [run(*inputs)]
    model.zero_grad()
    result = run(*inputs)
    result.square().mean().backward()
    return [result.detach(), *(parameter.grad.clone() for parameter in model.parameters())]


def errors(got: list[Any], exact: list[Any]) -> list[float]:
    """The largest difference of each result, as a part of its largest number.

    What is zero but for rounding, as gradients of a bias in front of a norm, has a thousandth of the largest result's.
    """
    sizes = [float(theirs.abs().max()) for theirs in exact]
    least = max(1e-3 * max(sizes), 1e-30)
    found = [
        float((ours.double() - theirs).abs().max()) / max(size, least)
        for ours, theirs, size in zip(got, exact, sizes, strict=True)
    ]
    return [each if math.isfinite(each) else math.inf for each in found]


def host_time(call: Callable[[], Any], calls: int) -> float:
    """Microseconds until a call returns that does not wait; the least of some rounds of so many."""
    import torch

    best = math.inf
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls * 1e6)
    torch.cuda.synchronize()
    return best


def measure(name: str, dtype: str, rounds: int, seed: int) -> dict[str, Any]:
    """A row of the table."""
    import copy

    import torch
    from triton.testing import do_bench

    torch._dynamo.reset()
    torch.manual_seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    make, make_inputs, trains = models()[name]
    kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    as_kind = lambda leaf, kind=kind: leaf.to(kind) if leaf.is_floating_point() else leaf  # noqa: E731
    model = make().to(kind).cuda().train(trains)
    inputs = tuple(as_kind(each).cuda() for each in make_inputs())
    wide = copy.deepcopy(model).double()
    exact = results_of(wide, wide, tuple(as_kind(each, torch.float64) for each in inputs), trains)
    eager = results_of(model, model, inputs, trains)
    del wide
    heard, calls = Heard(), Calls()
    logging.getLogger("xetile.torch").addHandler(heard)
    logging.getLogger("xetile.torch").setLevel(logging.INFO)
    row: dict[str, Any] = {"errors eager": errors(eager, exact)}
    start = time.perf_counter()
    ours = torch.compile(model, backend="xetile", dynamic=False)
    row["errors"] = errors(results_of(ours, model, inputs, trains), exact)
    row["compiled"] = time.perf_counter() - start
    row["kernels"], row["said"] = len(calls.made), heard.said
    row["errors again"] = errors(results_of(ours, model, inputs, trains), exact)
    row["by arrays"] = calls.others
    print("HALF " + json.dumps(row), flush=True)
    sides = {"eager": model, "ours": ours}
    start = time.perf_counter()
    try:
        inductor = torch.compile(copy.deepcopy(model), dynamic=False)
        row["errors inductor"] = errors(results_of(inductor, inductor, inputs, trains), exact)
        sides["inductor"] = inductor
    except Exception as problem:  # noqa: BLE001  its compiler's may be any
        row["inductor said"] = f"{type(problem).__name__}: {problem}"[:300]
    row["inductor compiled"] = time.perf_counter() - start
    runs = {side: lambda run=run: results_of(run, run, inputs, trains) for side, run in sides.items()}
    times: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, run in runs.items():
            times[side].append(do_bench(run, warmup=10, rep=40, return_mode="median") * 1e3)
    row |= {side: statistics.median(values) for side, values in times.items()}
    time.sleep(WAITING)
    count = HOST_CALLS if row["ours"] < LONG else FEW_CALLS
    row |= {f"host {side}": host_time(run, count) for side, run in runs.items()}
    if len(calls.made) == 1 and calls.made[0][1]:
        call, (given,) = calls.made[0]
        row["host call"] = host_time(lambda: call(given), count)
    return row


def work(numbers: list[int], rounds: int, seed: int) -> None:
    for number in numbers:
        print(f"BEGIN {number}", flush=True)
        try:
            row = measure(*cases()[number], rounds, seed)
        except Exception as problem:  # noqa: BLE001  told in the table
            row = {"failed": f"{type(problem).__name__}: {str(problem)[:1500]}"}
        print("END " + json.dumps(row), flush=True)


COLUMNS = ("ours", "eager", "inductor", "host ours", "host eager", "host inductor", "host call")


def is_right(dtype: str, row: dict[str, Any]) -> bool:
    """True if no result is further off than allowed, of either call."""
    bounds = [2 * each + ALLOWED[dtype] for each in row.get("errors eager", [])]
    calls = [row.get("errors", []), row.get("errors again", [])]
    return all(call and all(map(operator.le, call, bounds)) for call in calls)


def tell(number: int, row: dict[str, Any]) -> None:
    """A row of the table, and what the backend said."""
    name, dtype = cases()[number]
    cells = [f"{row[column]:.1f}" if column in row else "" for column in COLUMNS]
    gain = row["inductor"] / row["ours"] if "inductor" in row and "ours" in row else math.nan
    errors_told = ", ".join(f"{max(row.get(key, [math.nan])):.1e}" for key in ("errors", "errors eager"))
    kernels = f"{row.get('kernels', 0)}" + (f", {row['by arrays']} by arrays" if row.get("by arrays") else "")
    right = "right" if is_right(dtype, row) else "WRONG"
    compiled = f"{row.get('compiled', math.nan):.1f}, {row.get('inductor compiled', math.nan):.1f}"
    print(f"| {name}, {dtype} | {' | '.join(cells)} | {gain:.2f} | {errors_told} | {right} | {kernels} | {compiled} |")
    for said in dict.fromkeys(row.get("said", [])):
        print(f"    {said[:400]}")
    for key in ("failed", "inductor said"):
        if key in row:
            print(f"    {key}: {row[key]}")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="words of the names of models, as MLP or bf16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds that a model may say nothing")
    parser.add_argument("--seconds", type=float, default=140, help="after which no model begins")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 2**31)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work([int(number) for number in options.work.split(",")], options.rounds, options.seed)
        return 0
    if reason := why_not():
        print(f"skipped: {reason}")
        return 0

    print(f"{told_gpu()}\nseed {options.seed}")
    heads = ", ".join(COLUMNS)
    print(
        f"us of {heads}; times as fast as inductor; errors, ours and eager's; kernels' calls; seconds to compile, ours"
    )
    print("| model | " + " | ".join(COLUMNS) + " | of inductor | errors | | graphs | compile |\n" + "|---" * 13 + "|")
    start = time.perf_counter()
    chosen = [
        number
        for number, case in enumerate(cases())
        if not options.only or any(word.lower() in ", ".join(case).lower() for word in options.only)
    ]
    command = [sys.executable, "-W", "ignore", __file__, "--rounds", str(options.rounds), "--seed", str(options.seed)]
    results = supervise(chosen, [*command, "--work"], options.limit, time.monotonic() + options.seconds, tell)
    wrong = [number for number in chosen if number in results and not is_right(cases()[number][1], results[number])]
    gains = [row["inductor"] / row["ours"] for row in results.values() if "inductor" in row and "ours" in row]
    mean = math.exp(statistics.fmean(map(math.log, gains))) if gains else math.nan
    print(
        f"{len(results) - len(wrong)} of {len(chosen)} models are right; {mean:.3f} of inductor in the geometric mean"
    )
    print(f"{time.perf_counter() - start:.0f} s")
    return 1 if wrong or len(results) != len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
