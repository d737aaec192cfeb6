# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's kernels for Intel GPUs on this CPU, against PyTorch in f64: pointers, blocks, dots, softmax, norms, scans,
atomics, assertions, prints, autotuning, reports."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
import triton_gemm
import xetile.triton
from triton_gemm import gemm
from xetile import XeTileError
from xetile.system import tools


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(out, x, stride, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + i, v / tl.sum(v, 0), mask=i < columns)


@triton.jit
def by_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + k + rk, mask=(rm[:, None] < M) & (k + rk < K), other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn, mask=((k + rk)[:, None] < K) & (rn < N), other=0.0)
        sums += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn, sums, mask=(rm[:, None] < M) & (rn < N))


@triton.jit
def layer_norm(x, out, weight, bias, columns, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    d = tl.where(i < columns, v - tl.sum(v, 0) / columns, 0.0)
    scale = tl.rsqrt(tl.sum(d * d, 0) / columns + eps)
    v = d * scale * tl.load(weight + i, mask=i < columns) + tl.load(bias + i, mask=i < columns)
    tl.store(out + row * columns + i, v, mask=i < columns)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + i, mask=i < n, other=0), 1.0, mask=i < n)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def checked(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.device_assert(v > 0, "x is positive")
    tl.store(out + i, v)


@triton.jit
def printed(x, BLOCK: tl.constexpr):
    tl.device_print("value", tl.load(x + tl.arange(0, BLOCK)))


def near(got: torch.Tensor, expected: torch.Tensor, error: float) -> None:
    assert got.isfinite().all()
    assert (got.double() - expected).abs().max() <= error * expected.abs().max()


def test_masked_sums(seed):
    n = 1000
    x, y, out = torch.randn(n), torch.randn(n), torch.full((1024,), torch.nan)
    add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    assert torch.equal(out[:n], x + y)
    assert out[n:].isnan().all()


def test_views_begin_where_they_begin(seed):
    x, out = torch.randn(64, 8), torch.zeros(512)
    add[(1,)](x[3:], x[5:], out[17:], 24, BLOCK=32)
    assert torch.equal(out[17:41], (x[3:6] + x[5:8]).flatten())
    assert not out[:17].any()
    assert not out[41:].any()


def test_tensors_of_other_types_are_the_same_memory():
    """PyTorch computes little with unsigned integers: Triton wraps tensors of signed ones."""
    x = torch.arange(-32, 32, dtype=torch.int32)
    out = torch.zeros(64, dtype=torch.int32)
    add[(1,)](*(triton.reinterpret(t, tl.uint32) for t in (x, x, out)), 64, BLOCK=64)
    assert torch.equal(out, 2 * x)


def test_softmax_by_shared_memory(seed):
    x = torch.randn(20, 300)
    out = torch.full_like(x, torch.nan)
    softmax[(20,)](out, x, 300, 300, BLOCK=512)
    near(out, x.double().softmax(1), 1e-6)


@pytest.mark.parametrize(("kernel", "grid"), [(by_pointers, (2, 2)), (gemm, (4,))])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_matmul_over_the_edges(kernel, grid, dtype, seed):
    m, n, k = 100, 96, 80
    a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
    c = torch.full((m, n), torch.nan)
    kernel[grid](a, b, c, m, n, k, BM=64, BN=64, BK=32)
    near(c, a.double() @ b.double(), 1e-6)


def test_layer_norm(seed):
    x, weight, bias = torch.randn(9, 500), torch.randn(500), torch.randn(500)
    out = torch.full_like(x, torch.nan)
    layer_norm[(9,)](x, out, weight, bias, 500, 1e-5, BLOCK=512)
    expected = torch.nn.functional.layer_norm(x.double(), (500,), weight.double(), bias.double())
    near(out, expected, 1e-6)


def test_atomics(seed):
    x, out = torch.randint(10, (5000,), dtype=torch.int32), torch.zeros(10)
    histogram[(20,)](x, out, 5000, BLOCK=256)
    assert torch.equal(out, torch.bincount(x, minlength=10).float())


def test_scan(seed):
    x, out = torch.randn(256), torch.full((256,), torch.nan)
    scan[(1,)](x, out, BLOCK=256)
    near(out, x.double().cumsum(0), 1e-6)


def test_assertions_and_prints(capfd):
    x, out = torch.arange(1, 65.0), torch.zeros(64)
    checked[(1,)](x, out, BLOCK=64, debug=True)
    assert torch.equal(x, out)
    x[40] = -1
    with pytest.raises(
        XeTileError, match=r"'checked' failed an assertion: x is positive, at .*test_triton_kernels.py:\d+"
    ):
        checked[(1,)](x, out, BLOCK=64, debug=True)
    printed[(1,)](x, BLOCK=64)
    assert "value: -1.0" in capfd.readouterr().out


@triton.jit
def unmasked(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v)


def test_checks_name_the_line_of_the_source(seed, monkeypatch):
    monkeypatch.setenv("XETILE_CHECK", "1")
    x, out, small = torch.randn(1000), torch.zeros(1024), torch.zeros(1000)
    unmasked[(4,)](x, out, 1000, BLOCK=256)
    assert torch.equal(out[:1000], x)
    line = 2 + next(
        n for n, text in enumerate(Path(__file__).read_text().splitlines()) if "v = tl.load(x + i, mask" in text
    )
    with pytest.raises(XeTileError, match=rf"writes to offset \d+ of argument 1.*, at {re.escape(__file__)}:{line}\."):
        unmasked[(4,)](x, small, 1000, BLOCK=256)
    a, b, c = torch.randn(128, 64).half(), torch.randn(60, 128).half(), torch.zeros(128, 128)
    with pytest.raises(
        XeTileError, match=rf"needs 16384 bytes, and behind its base are 15360, at {re.escape(triton_gemm.__file__)}:"
    ):
        gemm[(16,)](a, b, c, 128, 128, 64, BM=32, BN=32, BK=32)


@triton.jit
def raced(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i % 16, tl.load(x + i))


def test_checks_find_subgroups_that_write_to_one_place(seed, monkeypatch):
    monkeypatch.setenv("XETILE_CHECK", "1")
    x, out = torch.randn(256), torch.zeros(16)
    with pytest.raises(XeTileError, match=r"'raced' leaves other results in argument 1.* other order: \d+ of 64 bytes"):
        raced[(1,)](x, out, BLOCK=256)
    raced[(1,)](x, out, BLOCK=16, num_warps=1)
    assert torch.equal(out, x[:16])


def test_tensors_of_other_devices_and_other_things_are_refused():
    meta = torch.empty(64, device="meta")
    with pytest.raises(XeTileError, match="argument 'x': expected a tensor of the CPU, got one on meta"):
        add[(1,)](meta, meta, meta, 64, BLOCK=64)
    with pytest.raises(XeTileError, match="target: expected one of pvc, bmg, got 'sm_90a'"):
        xetile.triton.activate("sm_90a")


def test_an_empty_grid_runs_nothing():
    out = torch.zeros(64)
    add[(0,)](out + 1, out + 1, out, 64, BLOCK=64)
    assert not out.any()


@pytest.mark.skipif(tools.find_ocloc() is None, reason="there is no ocloc")
def test_reports_and_autotuning_count_instructions(seed):
    n = 4096
    x, y, out = torch.randn(n), torch.randn(n), torch.zeros(n)
    kernels = xetile.triton.statistics(add, x, y, out, n, BLOCK=256)
    assert [(kernel.kernel, kernel.chip, kernel.spill_bytes) for kernel in kernels] == [
        ("add", "pvc", 0),
        ("add", "bmg", 0),
    ]
    assert "add on bmg, all of its messages" in xetile.triton.report(add, x, y, out, n, BLOCK=256)
    assert not out.any()  # it is compiled, not run
    configs = [triton.Config({"BLOCK": block}, num_warps=4) for block in (128, 2048)]
    tuned = triton.autotune(configs, key=["n"])(add)
    tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n)
    assert torch.equal(out, x + y)
    # A row of four elements costs few instructions more than one.
    assert tuned.best_config.kwargs["BLOCK"] == 2048


def test_torch_compile_is_left_alone(seed):
    x = torch.randn(100)
    compiled = torch.compile(lambda x: (x * 2 + 1).relu(), backend="eager")
    assert torch.equal(compiled(x), (x * 2 + 1).relu())


@pytest.mark.parametrize(
    ("triton_folder", "message"),
    [
        ("/nowhere", "XETILE_TRITON=/nowhere: expected a folder with triton-xpu in it"),
        ("", "has no back end for Intel GPUs, it has nvidia; install triton-xpu"),
    ],
)
def test_without_intels_triton_it_says_what_to_install(triton_folder, message, tmp_path):
    # As PyTorch's wheels for CUDA bring it: without Intel's back end.
    (tmp_path / "triton" / "backends").mkdir(parents=True)
    (tmp_path / "triton" / "__init__.py").touch()
    (tmp_path / "triton" / "backends" / "__init__.py").write_text("backends = {'nvidia': None}\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", "import xetile.triton; xetile.triton.activate()"],
        env={**os.environ, "PYTHONPATH": path, "XETILE_TRITON": triton_folder},
        capture_output=True,
        text=True,
    )
    assert run.returncode != 0
    assert message in run.stderr
