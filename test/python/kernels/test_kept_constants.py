# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants of kernels for GPUs are on the device once: what the runtime counts, also for saved kernels."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest
import xetile
from xetile import runtime
from xetile.mlir import ir


def dense(array):
    return f"dense<{array.tolist()}>"


def program(w, b, rows=21):
    """relu(x w + b) v of constants w, b and v = w^T w."""
    k, n = w.shape
    x, y = f"tensor<{rows}x{k}xf32>", f"tensor<{rows}x{n}xf32>"
    with ir.Context():
        return ir.Module.parse(f"""
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @f(%x: {x}) -> {y} {{
  %w = arith.constant {dense(w)} : tensor<{k}x{n}xf32>
  %b = arith.constant {dense(b)} : tensor<{n}xf32>
  %v = arith.constant {dense(w.T @ w)} : tensor<{n}x{n}xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {y}
  %zeros = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %m = linalg.matmul ins(%x, %w : {x}, tensor<{k}x{n}xf32>) outs(%zeros : {y}) -> {y}
  %r = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%m, %b : {y}, tensor<{n}xf32>) outs(%e : {y}) {{
  ^bb0(%p: f32, %q: f32, %unused: f32):
    %s = arith.addf %p, %q : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  }} -> {y}
  %y = linalg.matmul ins(%r, %v : {y}, tensor<{n}x{n}xf32>) outs(%zeros : {y}) -> {y}
  return %y : {y}
}}""")


@pytest.fixture(scope="module")
def case():
    seed = random.SystemRandom().randrange(2**32)
    print("seed", seed)
    rng = np.random.default_rng(seed)
    w = rng.integers(-2, 3, (19, 13)).astype("f4")
    b = rng.integers(-2, 3, 13).astype("f4")
    x = rng.integers(-2, 3, (21, 19)).astype("f4")
    return program(w, b), x, np.maximum(x @ w + b, 0) @ (w.T @ w)


def counts():
    gc.collect()
    now = runtime.stats()
    return now.kept_uploads, now.kept_constants, now.live_allocations


def test_constants_are_uploaded_in_the_first_call_and_freed_with_the_kernel(case):
    module, x, expected = case
    before = counts()
    kernel = xetile.compile(module, target="pvc", native="off")
    kernel.function()
    assert counts() == before  # nothing before the first call
    for _ in range(30):
        np.testing.assert_array_equal(kernel(x), expected)
    assert counts() == (before[0] + 3, before[1] + 3, before[2] + 3)
    del kernel
    assert counts() == (before[0] + 3, *before[1:])


def test_no_call_copies_a_constant(case):
    module, _, _ = case
    host = xetile.compile(module, target="pvc", native="off").stages["5-xevm"]
    body = host[host.index("func.func @f(") : host.index("gpu.module")]
    copies = [line for line in body.splitlines() if "gpu.memcpy" in line]
    assert len(copies) == 2 and "%arg0" in copies[0] and "%arg1" in copies[1]  # what came, and the result
    assert body.count("call @xetileRuntimeKeep") == 3


def test_a_saved_kernel_keeps_its_own_and_frees_them_when_it_is_unloaded(case, tmp_path):
    module, x, expected = case
    xetile.compile(module, target="pvc", native="off").save(tmp_path / "kernel.so")
    before = counts()
    first = xetile.load(tmp_path / "kernel.so")
    (tmp_path / "other.so").write_bytes((tmp_path / "kernel.so").read_bytes())
    second = xetile.load(tmp_path / "other.so")
    for _ in range(3):
        np.testing.assert_array_equal(first(x), expected)
        np.testing.assert_array_equal(second(x), expected)
    assert counts() == (before[0] + 6, before[1] + 6, before[2] + 6)
    del first
    assert counts()[1:] == (before[1] + 3, before[2] + 3)
    np.testing.assert_array_equal(second(x), expected)
    del second
    assert counts()[1:] == before[1:]


def test_threads_that_call_at_once_upload_once(case):
    module, x, expected = case
    kernel = xetile.compile(module, target="pvc", native="off")
    before, start, wrong = counts(), threading.Barrier(4), []

    def call():
        start.wait()
        for _ in range(5):
            if not np.array_equal(kernel(x), expected):
                wrong.append(True)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert counts()[0] == before[0] + 3


def test_a_process_that_ends_with_a_loaded_kernel_ends_well(case, tmp_path):
    module, x, expected = case
    xetile.compile(module, target="pvc", native="off").save(tmp_path / "kernel.so")
    np.save(tmp_path / "x.npy", x)
    script = (
        "import sys, numpy as np, xetile\n"
        f"kernel = xetile.load({str(tmp_path / 'kernel.so')!r})\n"
        f"y = kernel(np.load({str(tmp_path / 'x.npy')!r}))\n"
        f"np.save({str(tmp_path / 'y.npy')!r}, y)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), expected)
