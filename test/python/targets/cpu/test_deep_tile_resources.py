# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What deep-tiled matmuls take: memory of a kernel, and the work of choosing a configuration."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from deep_tile_cases import ROWS, Problem, blocked, compare
from xetile import cpu, passes
from xetile.kernels.kernel import Stage, Stages
from xetile.mlir import ir
from xetile.targets import CpuTarget

F32, BF16, LOW = ("f32", "f32", "f32"), ("bf16", "bf16", "f32"), ("bf16", "bf16", "bf16")
BYTES = {"f32": 4, "bf16": 2}

COUNTER = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { void *address; size_t size; } slots[SLOTS];
static size_t live, peak;

void *counted_malloc(size_t size) {
  void *address = malloc(size);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < SLOTS; ++i)
    if (!slots[i].address) {
      slots[i].address = address;
      slots[i].size = size;
      break;
    }
  live += size;
  if (live > peak) peak = live;
  pthread_mutex_unlock(&lock);
  return address;
}

void counted_free(void *address) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < SLOTS; ++i)
    if (slots[i].address == address) {
      slots[i].address = NULL;
      live -= slots[i].size;
      break;
    }
  pthread_mutex_unlock(&lock);
  free(address);
}

size_t counted_peak(void) { return peak; }
size_t counted_live(void) { return live; }
/* What callers freed by themselves is forgotten, too. */
void counted_reset(void) {
  memset(slots, 0, sizeof slots);
  live = peak = 0;
}
"""


@pytest.fixture(scope="session")
def counter(tmp_path_factory) -> ctypes.CDLL:
    """Counts the bytes that kernels allocate; `counted` makes kernels call it."""
    directory = tmp_path_factory.mktemp("counter")
    (directory / "counter.c").write_text(COUNTER)
    compiler = next(filter(None, map(shutil.which, ("clang-22", "clang", "cc"))), None)
    assert compiler, "clang is missing: scripts/bootstrap installs it"
    command = [compiler, "-O1", "-shared", "-fPIC", "-pthread", "-o", "counter.so", "counter.c"]
    subprocess.run(command, cwd=directory, check=True)
    library = ctypes.CDLL(str(directory / "counter.so"), mode=ctypes.RTLD_GLOBAL)
    library.counted_peak.restype = library.counted_live.restype = ctypes.c_size_t
    return library


def counted(kernel: cpu.Kernel) -> cpu.Kernel:
    """The same kernel with another malloc and free."""
    text = re.sub(r"@(malloc|free)\b", r"@counted_\1", kernel.stages["3-llvm"])
    with ir.Context():
        levels = {name: ir.Module.parse(kernel.stages[name]) for name in kernel.stages} | {
            "3-llvm": ir.Module.parse(text)
        }
    stages = Stages([Stage(name, 0.0, module.operation) for name, module in levels.items()])
    plan = CpuTarget("cpu").plan(None, {}, {})
    return cpu.Kernel(kernel.signature, "cpu", plan.code(stages, kernel.signature))


def packed_bytes(size: int, config: dict[str, int], workers: int) -> int:
    """Of every worker one block of A and one of B, in whole panels, vectors and odd numbers of cache lines."""

    def up(value: int, step: int) -> int:
        return -(-value // step) * step

    m, n, k = (config[f"{dim}Block"] for dim in "MNK")
    line = 64 // size
    rows = max(m * (up(k, line) + 2 * line), k * (up(m, line) + 2 * line))
    panels = up(n, config["innermostNBlock"]) * up(k, 2 * 16)
    # MLIR makes room to align each of them.
    return workers * ((rows + panels) * size + 2 * 64)


CASES = {
    "f32": (Problem("plain", blocked("plain", 300, 400, 500), F32, fill=True), {}),
    "bf16": (Problem("plain", blocked("plain", 300, 400, 500), BF16, fill=True), {}),
    "sums of C": (Problem("plain", blocked("plain", 300, 400, 500), F32), {}),
    "transposed": (Problem("both transposed", blocked("both transposed", 300, 400, 500), F32), {}),
    "batch": (Problem("batch", blocked("batch", 130, 140, 150, batch=5), BF16, fill=True), {}),
    "batch of one": (Problem("batch", blocked("batch", 130, 140, 150, batch=1), F32), {"MThreads": 1, "NThreads": 1}),
    "blocked": (Problem("blocked", blocked("blocked", 160, 160, 160), BF16, fill=True), {}),
    "one thread": (
        Problem("plain", blocked("plain", 300, 400, 500), F32),
        {"MThreads": 1, "NThreads": 1, "KThreads": 1},
    ),
    "K threads": (Problem("plain", blocked("plain", 64, 64, 8192), F32, fill=True), {"KThreads": 2}),
    "K threads, narrow": (Problem("plain", blocked("plain", 64, 64, 8192), LOW), {"KThreads": 2}),
    "narrow result": (Problem("plain", blocked("plain", 300, 400, 500), LOW, fill=True), {"KBlock": 64, "KThreads": 1}),
    "dynamic": (Problem("plain", blocked("plain", 300, 400, 500), F32, dynamic="m"), {}),
    "dynamic, one thread": (
        Problem("plain", blocked("plain", 5000, 40, 50), BF16, dynamic="m"),
        {"MThreads": 1, "NThreads": 1},
    ),
    "dynamic batch": (Problem("batch", blocked("batch", 130, 140, 150, batch=3), F32, fill=True, dynamic="m"), {}),
    "dynamic blocks": (Problem("blocked", blocked("blocked", 160, 160, 160), F32, dynamic=ROWS["blocked"]), {}),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("pack", ["auto", "always", "never"])
def test_memory_is_packed_copies_and_sums(rng, counter, name, pack):
    """Peak of what a kernel allocates, besides arguments and results of static sizes, which callers pass:

    a result of a size known at run time, one block of A and of B for each thread at work, one partial result for each
    thread of k, and in f32 the sums of results that are narrower. Nothing of it is left.
    """
    problem, given = CASES[name]
    threads = 2
    explained = cpu.explain(problem.module(), config=given, threads=threads)
    chosen = json.loads(re.search(r"{.*?}", explained)[0])
    kernel = counted(cpu.compile(problem.module(), config=given, threads=threads, pack=pack))
    arrays = problem.arrays(rng, kernel)
    counter.counted_reset()
    result = kernel(*arrays)
    peak, live = counter.counted_peak(), counter.counted_live()
    compare(problem, arrays, result)

    returned = result.nbytes + 64 if problem.dynamic else 0
    workers = min(
        os.cpu_count() or 1, int(np.prod([chosen[f"{dim}Threads"] for dim in "MNK"])) * problem.sizes.get("b", 1)
    )
    split = chosen["KThreads"] if chosen["KThreads"] > 1 else 0
    narrow = result.itemsize < 4
    sums = (split or (1 if narrow else 0)) * result.size * 4 + 64 * (split + workers)
    # Without an instruction that adds several products of them, narrow elements are widened while they are copied.
    copied = BYTES[problem.types[0]] if "k in groups of" in explained else max(4, BYTES[problem.types[0]])
    packed = 0 if pack == "never" else packed_bytes(copied, chosen, workers)
    bound = returned + packed + (sums if split or narrow else 0)
    print(f"{peak} bytes of at most {bound}; {chosen}")
    assert peak <= bound
    # Results are left to the caller; nothing else is.
    assert 0 <= returned - live <= 64


MACHINE = """module attributes {{dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "num_threads" = {cores} : i64, "L1_cache_size_in_bytes" = 49152 : i64, "L2_cache_size_in_bytes" = 2097152 : i64,
    "L3_cache_size_in_bytes" = 67108864 : i64, "max_vector_width" = 512 : i64>>}} {{
  func.func @f(%a: tensor<{m}x{k}xf32>, %b: tensor<{k}x{n}xf32>, %c: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
    %d = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%c : tensor<{m}x{n}xf32>)
        -> tensor<{m}x{n}xf32>
    return %d : tensor<{m}x{n}xf32>
  }}
}}"""


@pytest.mark.parametrize(("cores", "most"), [(2, 10), (56, 1000), (256, 5000), (2**31 - 1, 25000)])
@pytest.mark.parametrize("shape", [(4096, 4096, 4096), (1000, 1001, 65537), (2**21, 2**21, 2**21)])
def test_the_heuristic_looks_at_few_candidates(cores, most, shape):
    """Of thread counts that leave the busiest thread the same work only the smallest counts are scored."""
    m, n, k = shape
    with ir.Context():
        module = ir.Module.parse(MACHINE.format(cores=cores, m=m, n=n, k=k))
    remark, *_ = passes.run(module, "deep-tile-matmul{machine=dlti explain}")
    config = json.loads(remark.message)
    [terms] = [note.message for note in remark.notes if note.message.startswith("threads")]
    candidates = int(re.search(r"best of (\d+)", terms)[1])
    assert 1 < candidates <= most
    assert config["MThreads"] * config["NThreads"] * config["KThreads"] <= cores


@pytest.mark.parametrize("given", [{"MThreads": 2}, {"NThreads": 2}, {"KThreads": 2}, {"KThreads": 3}])
def test_the_heuristic_leaves_room_for_given_threads(given):
    problem = Problem("plain", blocked("plain", 512, 512, 8192), F32)
    config = json.loads(re.search(r"{.*?}", cpu.explain(problem.module(), config=given, threads=4))[0])
    assert config["MThreads"] * config["NThreads"] * config["KThreads"] <= 4


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_blocks_of_a_large_matmul_fit_the_caches(dtype):
    """4096 x 4096 x 4096 on the machine above with 16 cores: one parallel loop, blocks that share the caches."""
    text = MACHINE.format(cores=16, m=4096, n=4096, k=4096)
    # The sums stay f32.
    text = re.sub(r"(%[ab]: tensor<4096x4096x)f32", rf"\1{dtype}", text)
    text = text.replace(
        "ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>)",
        f"ins(%a, %b : tensor<4096x4096x{dtype}>, tensor<4096x4096x{dtype}>)",
    )
    with ir.Context():
        module = ir.Module.parse(text)
    config = json.loads(passes.run(module, "deep-tile-matmul{machine=dlti explain}")[0].message)
    size, m, n, k = BYTES[dtype], *(config[f"{dim}Block"] for dim in "MNK")
    assert config["innermostMBlock"] * k * size <= 49152
    assert m * k * size <= 2097152
    assert n * k * size <= 67108864
    threads = [config[f"{dim}Threads"] for dim in "MNK"]
    assert np.prod(threads) == 16
    passes.run(module, "deep-tile-matmul{machine=dlti}, canonicalize")
    loops = str(module)
    bounds = ", ".join(str(count) for count in threads if count > 1)
    assert loops.count("scf.forall (") == 1 and f"in ({bounds}) shared_outs" in loops
    # Over blocks of a thread's part and innermost ones of n and m, where there are several; more are in the copies.
    shares = [4096 // count for count in threads]
    several = [share > block for share, block in zip(shares, (m, n, k), strict=True)]
    several += [min(shares[0], m) > config["innermostMBlock"], min(shares[1], n) > config["innermostNBlock"]]
    assert loops.count("scf.for ") >= sum(several) >= 4
