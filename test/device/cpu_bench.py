# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A table of matmuls, and layers with PyTorch, on the CPU of a machine that has the wheels: in minutes, in one call.

usage: cpu_bench.py [--threads N ...] [--types T ...] [--random N] [--seed N] [--tree NAME=DIR ...]
                    [--parts matmuls layers] [--layers WORD ...] [--seconds N] [--variants JSON] [--json FILE]

13 sizes that are kept aside and `--random` ones drawn anew, a third of them no multiples of 16, against the faster of
NumPy's BLAS and PyTorch's oneDNN. All sides take turns in one process, on the same arrays, which begin at lines of 64
bytes, and on the same cores (quiet_cores.py), each with many rows at once; the ratio is the median of the rounds'. A
table of all ratios is the last thing that is printed (cpu_tables.py). Kernels are compiled before, on all cores, and
loaded from files: so those of several versions can be compared in one process. A tree is a folder that holds the
package xetile; without one it is what `import xetile` finds. With variants the regret is told: the time of the last
tree's own choice over that of the best.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np
from cpu_tables import OURS, REGRET, models_table, summary, table
from quiet_cores import rank_cores, stay_on

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import deep_tile

ASIDE = (
    (320, 320, 320), (768, 768, 768), (1024, 1024, 1024), (1536, 1536, 1536), (384, 640, 96), (197, 3072, 768),
    (77, 1024, 1280), (2048, 320, 1280), (4, 2048, 2048), (24, 1024, 2048), (1, 4096, 2048), (4096, 64, 256),
    (96, 96, 6144),
)  # fmt: skip
# Of one size of a random shape, and products of all of them: a call takes microseconds to some milliseconds.
SIZES, PRODUCTS = (1, 4096), (1 << 21, 1 << 31)
TYPES = ("f32", "bf16", "s8")
ROUNDS, ROUND_SECONDS, ROWS_AT_ONCE = 9, 0.008, 100
# Threads of another library spin for a while after a product, OpenBLAS's for some 30 ms, and who comes next would share
# their cores: in slices of Linux's scheduler, 8 ms, until it moves threads apart.
IDLE_SECONDS = 0.3
# Cores that were idle are slow at first: on the host of an H200 what came first in a library's turn took 1.2 to 1.5
# times as long, for 0.4 s with 4 threads and 0.8 s with 16. Then they are awake for all of its rows.
WARM_SECONDS, WARM_ROW_SECONDS = 1.0, 0.004
# Who shares a core comes and goes: on that host one call took 15 to 24 ms from second to second. Of one thread nobody
# spins, so sides take turns within milliseconds, with as many parts of a round each.
PARTS_OF_ROUND = 2
LINE = 64
ERRORS = {"f32": 2e-5, "bf16": 2e-5, "s8": 0.0}
PEERS = ("numpy", "torch", "eager", "inductor")

Shape = tuple[int, int, int]
Sides = dict[str, Callable[[], object]]


def random_shapes(count: int, seed: int) -> list[Shape]:
    """The logarithms of sizes are uniform; two of three are multiples of 16."""
    rng = np.random.default_rng(seed)
    shapes: list[Shape] = []
    while len(shapes) < count:
        m, n, k = (int(round(math.exp(rng.uniform(*map(math.log, SIZES))))) for _ in range(3))
        if len(shapes) % 3:
            m, n, k = (max(16, size // 16 * 16) for size in (m, n, k))
        if PRODUCTS[0] <= m * n * k <= PRODUCTS[1]:
            shapes.append((m, n, k))
    return shapes


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy that begins at a line."""
    memory = np.empty(array.nbytes + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


# The part that has a compiler: one process for some of the kernels of a tree.


def compile_all(path: str) -> None:
    """Saves the kernels that a file lists; writes beside each what it was, or why there is none."""
    import xetile
    from xetile import cpu

    for job in json.loads(Path(path).read_text()):
        file = Path(job["file"])
        try:
            module = deep_tile.module((1, *job["shape"]), job["dtype"])
            pack = job["options"].pop("pack", "auto")
            kernel = cpu.compile(module, threads=job["threads"], config=job["options"] or None, pack=pack)
            kernel.save(file)
        except xetile.XeTileError as error:
            file.with_suffix(".failed").write_text(str(error))


def compile_trees(jobs: Sequence[dict[str, Any]], trees: Mapping[str, str], folder: Path) -> None:
    """All cores compile; a process has as many kernels as takes some seconds."""
    part, waiting, running = 6, [], []
    for name, tree in trees.items():
        own = [job for job in jobs if job["tree"] == name]
        for first in range(0, len(own), part):
            listed = folder / f"jobs-{name}-{first}.json"
            listed.write_text(json.dumps(own[first : first + part]))
            waiting.append((listed, tree))
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            listed, tree = waiting.pop(0)
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            if tree:
                environment["PYTHONPATH"] = os.pathsep.join(filter(None, (tree, os.environ.get("PYTHONPATH"))))
            command = [sys.executable, __file__, "--compile", str(listed)]
            running.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
        running = [process for process in running if process.poll() is None]
        time.sleep(0.02)


# The part that measures.


def draw(rng: np.random.Generator, shape: Shape, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """A and B; bf16 as the f32 that have its values."""
    m, n, k = shape
    sizes = ((m, k), (k, n))
    if dtype == "s8":
        a, b = (rng.integers(-128, 128, size).astype(np.int8) for size in sizes)
    else:
        a, b = (rng.uniform(-1, 1, size).astype(np.float32) for size in sizes)
    if dtype == "bf16":
        from ml_dtypes import bfloat16

        a, b = a.astype(bfloat16), b.astype(bfloat16)
    return aligned(a), aligned(b)


def peers_of(a: np.ndarray, b: np.ndarray, dtype: str) -> Sides:
    """NumPy and PyTorch on the memory of `a` and `b`."""
    sides: Sides = {}
    if dtype == "f32":
        out = aligned(np.zeros((a.shape[0], b.shape[1]), np.float32))
        sides["numpy"] = lambda: np.matmul(a, b, out=out)
    try:
        import torch
    except ImportError:
        return sides
    kinds = {"f32": torch.float32, "bf16": torch.bfloat16, "s8": torch.int8}

    def shared(array: np.ndarray) -> Any:
        return torch.from_numpy(array.view(np.int16) if dtype == "bf16" else array).view(kinds[dtype])

    ta, tb = shared(a), shared(b)
    if dtype == "s8":
        whole = torch.empty((a.shape[0], b.shape[1]), dtype=torch.int32)
        sides["torch"] = lambda: torch._int_mm(ta, tb, out=whole)
    else:
        result = torch.empty((a.shape[0], b.shape[1]), dtype=kinds[dtype])
        sides["torch"] = lambda: torch.matmul(ta, tb, out=result)
    try:
        sides["torch"]()
    except RuntimeError:
        del sides["torch"]
    return sides


def rounds_of(
    rows: Sequence[Sides], threads: int, rounds: int = ROUNDS, seconds: float = ROUND_SECONDS
) -> list[dict[str, list[float]]]:
    """Seconds of the best call of each side in each round, for each row. Of one thread the sides of a row take turns,
    otherwise the threads of one library do all rows before those of the next one wake up."""
    times: list[dict[str, list[float]]] = [{name: [] for name in sides} for sides in rows]
    for sides in rows:
        for call in sides.values():
            call()
    if threads == 1:
        for sides, bests in zip(rows, times, strict=True):
            take_turns(sides, bests, rounds * PARTS_OF_ROUND, seconds / PARTS_OF_ROUND)
        return times
    libraries = list(dict.fromkeys(library_of(name) for sides in rows for name in sides))
    for number in range(rounds):
        first = number % max(len(libraries), 1)
        for library in libraries[first:] + libraries[:first]:
            warm = WARM_SECONDS
            time.sleep(IDLE_SECONDS)
            for sides, bests in zip(rows, times, strict=True):
                for name in (name for name in sides if library_of(name) == library):
                    bests[name].append(best_of(sides[name], warm, seconds))
                    warm = min(warm, WARM_ROW_SECONDS)
    return times


def take_turns(sides: Sides, bests: dict[str, list[float]], rounds: int, seconds: float) -> None:
    """A call or more of each turn are not counted: behind another library's, calls of 6 to 46 ms took 1.03 to 1.06 of
    the time of those that follow."""
    names = list(sides)
    for number in range(rounds):
        first = number % max(len(names), 1)
        for name in names[first:] + names[:first]:
            bests[name].append(best_of(sides[name], seconds / 2, seconds))


def library_of(side: str) -> str:
    """By whose threads a side computes: all kernels of this project share theirs, and so do PyTorch's."""
    return side if side == "numpy" else "torch" if side in PEERS else OURS


def best_of(call: Callable[[], object], warm: float, seconds: float) -> float:
    awake = time.perf_counter() + warm
    if warm:
        call()
    while time.perf_counter() < awake:
        call()
    best, start = math.inf, time.perf_counter()
    end = start + seconds
    while best == math.inf or start < end:
        call()
        start, started = time.perf_counter(), start
        best = min(best, start - started)
    return best


def wrong_by(out: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    expected = a.astype(np.float64) @ b.astype(np.float64)
    return float(np.abs(out - expected).max() / max(np.abs(expected).max(), 1e-30))


def measure(path: str) -> None:
    """Prints a JSON object for each row that a file lists, many at once, as the process may be ended."""
    listed = json.loads(Path(path).read_text())
    threads, seed, end = listed["threads"], listed["seed"], listed["end"]
    stay_on(listed["cores"])
    try:
        import torch

        torch.set_num_threads(threads)
    except ImportError:
        pass
    for first in range(0, len(listed["rows"]), ROWS_AT_ONCE):
        some = listed["rows"][first : first + ROWS_AT_ONCE]
        if time.time() > end:
            for row in some:
                print(json.dumps({"left_out": row["shape"], "dtype": row["dtype"], "threads": threads}), flush=True)
            continue
        made = [sides_of(row, seed) for row in some]
        for row, (_, names, failed), times in zip(
            some, made, rounds_of([sides for sides, _, _ in made], threads), strict=True
        ):
            found = {
                "shape": row["shape"], "dtype": row["dtype"], "threads": threads, "peers": names, "failed": failed,
                "us": {name: [round(1e6 * best, 2) for best in bests] for name, bests in times.items()},
            }  # fmt: skip
            print(json.dumps(found), flush=True)


def sides_of(row: Mapping[str, Any], seed: int) -> tuple[Sides, list[str], dict[str, str]]:
    """What to call, which of that are peers, and why others are missing."""
    import xetile

    shape, dtype = tuple(row["shape"]), row["dtype"]
    a, b = draw(np.random.default_rng([seed, *shape]), shape, dtype)
    sides, failed = peers_of(a, b, dtype), {}
    names = list(sides)
    for name, file in row["files"].items():
        if not Path(file).exists():
            reason = Path(file).with_suffix(".failed")
            failed[name] = reason.read_text()[:300] if reason.exists() else "the compiler ended"
            continue
        kernel = xetile.load(file)
        out = aligned(np.zeros((shape[0], shape[1]), np.int32 if dtype == "s8" else np.float32))
        kernel(a, b, out=out)
        if not (error := wrong_by(out, a, b)) <= ERRORS[dtype]:
            failed[name] = f"wrong by {error:.2g}"
            continue
        sides[name] = lambda kernel=kernel, out=out: kernel(a, b, out=out)
    return sides, names, failed


# Layers and models of PyTorch: cpu_models.py in a process for each number of threads.


class Models:
    """All processes compile at once, and measure one by one."""

    def __init__(self, threads: Sequence[int], words: Sequence[str], tree: str, folder: Path, end: float) -> None:
        self.end, self.folder = end, folder
        self.processes: dict[int, subprocess.Popen[str]] = {}
        self.lines: dict[int, list[str]] = {}
        for count in threads:
            environment = environment_of(count)
            if tree:
                environment["PYTHONPATH"] = os.pathsep.join(filter(None, (tree, os.environ.get("PYTHONPATH"))))
            command = [sys.executable, str(Path(__file__).with_name("cpu_models.py")), str(count), str(end), *words]
            with self.log(count).open("w") as errors:
                self.processes[count] = subprocess.Popen(
                    command, env=environment, stdin=PIPE, stdout=PIPE, stderr=errors, text=True
                )

    def log(self, threads: int) -> Path:
        return self.folder / f"models-{threads}.log"

    def wait_until_compiled(self) -> None:
        for threads, process in self.processes.items():
            self.lines[threads] = self.read(process, until="ready")

    def read(self, process: subprocess.Popen[str], until: str = "") -> list[str]:
        """Lines to `until`, or all; the process ends when the time is up."""
        assert process.stdout is not None
        timer = threading.Timer(max(1.0, self.end - time.time() + 15), process.kill)
        timer.start()
        lines = []
        for line in process.stdout:
            if line.strip() == until:
                break
            lines.append(line)
        timer.cancel()
        return lines

    def measure(self) -> list[dict[str, Any]]:
        rows = []
        for threads, process in self.processes.items():
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.write(f"{' '.join(map(str, rank_cores()[:threads]))}\n")
                process.stdin.close()
            found = [json.loads(line) for line in self.lines[threads] + self.read(process) if line.startswith("{")]
            if process.wait() or not found:
                told = self.log(threads).read_text()[-800:] or "its time was up: give --seconds more"
                print(f"models with {threads} threads ended early: {told}")
            rows += found
        return rows


def told_machine() -> str:
    caches = []
    for index in range(5):
        place = Path(f"/sys/devices/system/cpu/cpu0/cache/index{index}")
        if (place / "size").exists():
            caches.append(f"L{(place / 'level').read_text().strip()} {(place / 'size').read_text().strip()}")
    return f"{deep_tile.machine()}; {', '.join(caches)}; load {os.getloadavg()[0]:.1f}"


def environment_of(threads: int) -> dict[str, str]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, str(threads)), "KMP_BLOCKTIME": "10"}


def run_and_collect(command: list[str], threads: int, end: float) -> list[dict[str, Any]]:
    """JSON lines that a process printed until its end, or until the time is up."""
    process = subprocess.Popen(command, env=environment_of(threads), stdout=PIPE, stderr=PIPE, text=True)
    try:
        out, err = process.communicate(timeout=max(1.0, end - time.time() + 15))
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    found = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    if process.returncode and not found:
        print(f"failed: {' '.join(command[1:])}: {err[-800:]}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cores = os.cpu_count() or 1
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, min(4, cores), min(16, cores)}))
    parser.add_argument("--types", nargs="+", choices=TYPES, default=list(TYPES))
    parser.add_argument("--shapes", type=deep_tile.read_size, nargs="+", help="these instead", metavar="MxNxK")
    parser.add_argument("--random", type=int, default=20, metavar="N")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--tree", nargs="+", default=[f"{OURS}="], metavar="NAME=DIR")
    parser.add_argument("--parts", nargs="+", choices=("matmuls", "layers"), default=["matmuls", "layers"])
    parser.add_argument("--layers", nargs="+", default=[], metavar="WORD", help="those whose names have one of them")
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument(
        "--variants",
        type=json.loads,
        default={},
        metavar="JSON",
        help="configurations by names, with 'pack', compiled by the last tree, whose regret is told",
    )
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--compile", help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compile:
        compile_all(options.compile)
        return 0
    if options.measure:
        measure(options.measure)
        return 0
    end = time.time() + options.seconds
    print(told_machine())
    print(f"seed {options.seed}", flush=True)
    trees = dict(entry.split("=", 1) for entry in options.tree)
    shapes = [tuple(size[1:4]) for size in options.shapes or ()] or [
        *ASIDE, *random_shapes(options.random, options.seed)
    ]  # fmt: skip
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        has_layers = "layers" in options.parts
        if "matmuls" in options.parts:
            rows = matmuls(options, shapes, trees, Path(name), end - (options.seconds * 0.4 if has_layers else 0))
        table(rows, list(trees), ASIDE)
        # Behind the matmuls: processes of compilers that wait still take some of the cores' time.
        if has_layers:
            stop = end - options.seconds / 5  # for compilers; the rest is for what they made
            models = Models(options.threads, options.layers, list(trees.values())[-1], Path(name), stop)
            models.wait_until_compiled()
            models.end = end
            found = models.measure()
            models_table(found)
            rows += found
    summary(rows, list(trees)[-1])
    if options.json:
        machine = {"machine": told_machine(), "seed": options.seed, "rows": rows}
        Path(options.json).write_text(json.dumps(machine))
    return 0


def matmuls(
    options: argparse.Namespace,
    shapes: Sequence[Shape],
    trees: Mapping[str, str],
    folder: Path,
    end: float,
) -> list[dict[str, Any]]:
    jobs, rows = [], {threads: [] for threads in options.threads}
    last = list(trees)[-1]
    for threads in options.threads:
        for dtype in options.types:
            for shape in shapes:
                files = {}
                for name, tree, own in [
                    *((name, name, {}) for name in trees),
                    *((f"{REGRET} {name}", last, own) for name, own in options.variants.items()),
                ]:
                    file = folder / f"k{len(jobs)}.so"
                    files[name] = str(file)
                    jobs.append({"tree": tree, "shape": shape, "dtype": dtype, "threads": threads})
                    jobs[-1] |= {"options": own, "file": str(file)}
                rows[threads].append({"shape": shape, "dtype": dtype, "files": files})
    start = time.time()
    compile_trees(jobs, trees, folder)
    print(f"{len(jobs)} kernels compiled in {time.time() - start:.0f} s", flush=True)
    found = []
    for number, threads in enumerate(options.threads):
        listed = folder / f"rows-{threads}.json"
        until = time.time() + (end - time.time()) / (len(options.threads) - number)
        cores = rank_cores()[:threads]
        task = {"threads": threads, "seed": options.seed, "end": until, "cores": cores, "rows": rows[threads]}
        listed.write_text(json.dumps(task))
        found += run_and_collect([sys.executable, __file__, "--measure", str(listed)], threads, until)
    return found


if __name__ == "__main__":
    sys.exit(main())
