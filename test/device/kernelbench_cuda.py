# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""KernelBench on a Hopper GPU by torch.compile(backend="xetile"), beside eager PyTorch and inductor; needs the wheels.

    python3 kernelbench_cuda.py CHECKOUT [--level 1 2] [--only 1 20 ..] [--elements 8000000] [--workers 14]
        [--limit 100] [--seconds 400]

Sizes are halved until no tensor has more than --elements elements. Workers compile beside one another, and one at a
time measures. Results are compared with the model in f64, where it takes that, as `torch_compile.py` does; tf32 is off.
The table has microseconds of do_bench, graphs that are compiled by xetile, and what the backend left to PyTorch.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import logging
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "kernelbench"))  # beside this file where it travels alone

from checkout import problems  # noqa: E402
from supervised import supervise, told_gpu  # noqa: E402
from torch_compile import Calls, Heard, errors, why_not  # noqa: E402

ALLOWED = 2e-5  # beside twice the error of eager PyTorch
LOCK = Path(tempfile.gettempdir()) / "kernelbench_cuda.lock"


@contextmanager
def alone() -> Iterator[None]:
    """No other worker measures meanwhile."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def tensors(value: Any) -> list[Any]:
    """The floating-point tensors of results, and what else is a tensor as f64."""
    import torch
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def exact_results(model: Any, inputs: list[Any], eager: list[Any]) -> list[Any]:
    """What the model gives in f64, or eager's results, where it takes no f64."""
    import copy

    import torch
    from torch.utils._pytree import tree_map

    def wide(leaf: Any) -> Any:
        return leaf.double() if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf

    try:
        with torch.no_grad():
            found = tensors(copy.deepcopy(model).double()(*tree_map(wide, inputs)))
        if [each.shape for each in found] == [each.shape for each in eager]:
            return [each.double() for each in found]
    except Exception:  # noqa: BLE001  a model may make tensors of f32 itself
        pass
    return [each.double() for each in eager]


def measure(source: Path, elements: int, rounds: int) -> dict[str, Any]:
    """A row of the table."""
    import copy

    import torch
    from problem import Problem
    from torch.utils._pytree import tree_map
    from triton.testing import do_bench

    torch._dynamo.reset()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch._dynamo.config.allow_rnn = True
    problem = Problem(source)
    if elements:
        problem = problem.shrunk(elements)
    model, inputs = problem.make(seed=1)
    model = model.cuda()
    inputs = tree_map(lambda leaf: leaf.cuda() if isinstance(leaf, torch.Tensor) else leaf, inputs)
    with torch.no_grad():
        eager = tensors(model(*inputs))
    exact = exact_results(model, inputs, eager)
    heard, calls = Heard(), Calls()
    logging.getLogger("xetile.torch").addHandler(heard)
    logging.getLogger("xetile.torch").setLevel(logging.INFO)
    row: dict[str, Any] = {"errors eager": errors(eager, exact)}
    sides: dict[str, Any] = {"eager": model}
    for side, backend in (("ours", "xetile"), ("inductor", "inductor")):
        start = time.perf_counter()
        try:
            function = torch.compile(copy.deepcopy(model), backend=backend, dynamic=False)
            with torch.no_grad():
                row[f"errors {side}"] = errors(tensors(function(*inputs)), exact)
            sides[side] = function
        except Exception as problem_:  # noqa: BLE001  a compiler's may be any; told in the table
            row[f"failed {side}"] = f"{type(problem_).__name__}: {str(problem_)[:600]}"
        row[f"compiled {side}"] = time.perf_counter() - start
        print("HALF " + json.dumps(row), flush=True)
    row["kernels"], row["said"] = len(calls.made), heard.said
    times: dict[str, list[float]] = {side: [] for side in sides}
    with alone(), torch.no_grad():
        for _ in range(rounds):
            for side, function in sides.items():
                run = lambda function=function: function(*inputs)  # noqa: E731
                times[side].append(do_bench(run, warmup=5, rep=20, return_mode="median") * 1e3)
    row |= {side: statistics.median(values) for side, values in times.items()}
    row["errors again"] = row.get("errors ours", [])
    if "ours" in sides:
        with torch.no_grad():
            row["errors again"] = errors(tensors(sides["ours"](*inputs)), exact)
    return row


def is_right(row: dict[str, Any]) -> bool:
    """True if no result of either call is further off than allowed."""
    bounds = [2 * each + ALLOWED for each in row.get("errors eager", [])]
    found = [row.get("errors ours", []), row.get("errors again", [])]
    return all(len(each) == len(bounds) > 0 and all(map(float.__le__, each, bounds)) for each in found)


def work(sources: list[Path], numbers: list[int], options: argparse.Namespace) -> None:
    for number in numbers:
        print(f"BEGIN {number}", flush=True)
        try:
            row = measure(sources[number], options.elements, options.rounds)
        except Exception as problem:  # noqa: BLE001  told in the table
            row = {"failed": f"{type(problem).__name__}: {str(problem)[:600]}"}
        print("END " + json.dumps(row), flush=True)


def tell(name: str, row: dict[str, Any]) -> None:
    cells = [f"{row[side]:.1f}" if side in row else "" for side in ("ours", "eager", "inductor")]
    others = ("eager", "inductor")
    gains = [f"{row[side] / row['ours']:.2f}" if "ours" in row and side in row else "" for side in others]
    worst = [max(row.get(key, []), default=math.nan) for key in ("errors ours", "errors eager")]
    told = ", ".join(f"{each:.1e}" for each in worst)
    seconds = ", ".join(f"{row.get(f'compiled {side}', math.nan):.1f}" for side in ("ours", "inductor"))
    right = "right" if is_right(row) else "WRONG"
    print(f"| {name} | {' | '.join(cells + gains)} | {told} | {right} | {row.get('kernels', 0)} | {seconds} |")
    for said in dict.fromkeys(row.get("said", [])):
        print(f"    {said[:300]}")
    for key in ("failed", "failed ours", "failed inductor"):
        if key in row:
            print(f"    {key}: {row[key]}")
    sys.stdout.flush()


def summary(level: str, rows: list[dict[str, Any]], count: int) -> None:
    right = [row for row in rows if is_right(row)]
    by_us = [row for row in right if row.get("kernels")]
    parts = [f"{level}: {len(right)} of {count} problems are right, {len(by_us)} of them with kernels of ours"]
    for side in ("eager", "inductor"):
        gains = [row[side] / row["ours"] for row in right if side in row and "ours" in row]
        if gains:
            mean = math.exp(statistics.fmean(map(math.log, gains)))
            parts.append(f"{mean:.3f} of {side} in the geometric mean of {len(gains)}")
    print("; ".join(parts))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--level", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", type=int, nargs="+")
    parser.add_argument("--elements", type=int, default=8_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--limit", type=float, default=100, help="seconds that a problem may say nothing")
    parser.add_argument("--seconds", type=float, default=400, help="after which no problem begins")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sources = [file for level in options.level for file in problems(options.checkout, level, options.only)]
    if options.work:
        work(sources, [int(number) for number in options.work.split(",")], options)
        return 0
    if reason := why_not():
        print(f"skipped: {reason}")
        return 0

    print(told_gpu())
    heads = "ours, us | eager | inductor | of eager | of inductor | errors, ours and eager's | | graphs | s"
    print(f"| problem | {heads} |")
    print("|---" * 10 + "|")
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    command = [sys.executable, "-W", "ignore", __file__, str(options.checkout), "--rounds", str(options.rounds)]
    command += ["--elements", str(options.elements), "--level", *map(str, options.level)]
    command += ["--only", *map(str, options.only)] if options.only else []
    end = time.monotonic() + options.seconds
    start = time.perf_counter()
    names = [f"{source.parent.name[5:]}-{source.stem}" for source in sources]

    def share(numbers: list[int]) -> dict[int, dict[str, Any]]:
        told = lambda number, row: tell(names[number], row)  # noqa: E731
        return supervise(numbers, [*command, "--work"], options.limit, end, told)

    shares = [list(range(first, len(sources), options.workers)) for first in range(options.workers)]
    with ThreadPoolExecutor(options.workers) as pool:
        parts = pool.map(share, [each for each in shares if each])
        results = {number: row for part in parts for number, row in part.items()}
    for level in options.level:
        chosen = [number for number, source in enumerate(sources) if source.parent.name == f"level{level}"]
        summary(f"level {level}", [results[number] for number in chosen if number in results], len(chosen))
    print(f"{time.perf_counter() - start:.0f} s; not reached: {len(sources) - len(results)}")
    return 0 if all(map(is_right, results.values())) and len(results) == len(sources) else 1


if __name__ == "__main__":
    sys.exit(main())
