# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of kernels after what is done to their counters, prefetches and steps: results, prefetches, machine code."""

import numpy as np
import pytest
import xetile
from xegpu_programs import run
from xetile import report, runtime

# A loop whose result needs every value of the counter, in order.
LOOP = """
  %end32 = memref.load %n[%c0] : memref<3x{bits}>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %start32 = memref.load %n[%c1] : memref<3x{bits}>
  %end = arith.index_cast %end32 : {bits} to index
  %start = arith.index_cast %start32 : {bits} to index
  %step = arith.constant {step} : index
  %zero = arith.constant 7 : i32
  %factor = arith.constant 31 : i32
  %r = scf.for %k = {start} to {end} step %step iter_args(%s = %zero) -> (i32) {{
    %low = arith.index_cast %k : index to i32
    %t = arith.muli %s, %factor : i32
    %u = arith.xori %t, %low : i32
    scf.yield %u : i32
  }}
  memref.store %r, %out[%c0] : memref<1xi32>
"""


def folded(start: int, end: int, step: int) -> int:
    value = 7
    for k in range(start, end, step):
        value = value * 31 & 0xFFFFFFFF ^ k & 0xFFFFFFFF
    return value


@pytest.mark.parametrize("bits", ["i32", "i64"])
@pytest.mark.parametrize("step", [1, 7, 32])
def test_loops_of_every_length_that_the_run_knows(bits, step):
    for start, end in [(0, 0), (0, -5), (0, 1), (0, 31), (0, 32), (0, 33), (0, 64), (0, 65), (5, 4090), (-64, 96)]:
        out = np.full(1, -1, np.int32)
        n = np.array([end, start, 0], np.dtype(f"int{bits[1:]}"))
        run("subgroup", LOOP.format(bits=bits, step=step, start="%start", end="%end"), n=n, out=out)
        assert out.view(np.uint32)[0] == folded(start, end, step), (start, end)


@pytest.mark.parametrize(("end", "step"), [(1, 1), (64, 32), (65, 32), (96, 32), (4072, 32), (4096, 32), (100, 33)])
def test_loops_of_lengths_that_are_known(end, step):
    out, n = np.full(1, -1, np.int32), np.zeros(3, np.int32)
    body = f"%known = arith.constant {end} : index\n" + LOOP.format(bits="i32", step=step, start="%c0", end="%known")
    run("subgroup", body, n=n, out=out)
    assert out.view(np.uint32)[0] == folded(0, end, step)


def test_a_loop_in_a_loop_whose_length_the_outer_one_tells():
    body = """
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %zero = arith.constant 7 : i32
      %factor = arith.constant 31 : i32
      %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %zero) -> (i32) {
        %b = scf.for %k = %c0 to %i step %c1 iter_args(%s = %a) -> (i32) {
          %low = arith.index_cast %k : index to i32
          %t = arith.muli %s, %factor : i32
          %u = arith.xori %t, %low : i32
          scf.yield %u : i32
        }
        scf.yield %b : i32
      }
      memref.store %r, %out[%c0] : memref<1xi32>
    """
    out = np.full(1, -1, np.int32)
    run("subgroup", body, out=out)
    value = 7
    for i in range(9):
        for k in range(i):
            value = value * 31 & 0xFFFFFFFF ^ k
    assert out.view(np.uint32)[0] == value


# Steps of 32: an even number (two of them become one on chips whose messages carry offsets), an odd one, two, one.
@pytest.mark.one_in(5)
@pytest.mark.parametrize("k", [256, 160, 64, 32])
@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_both_forms_prefetch_the_same_and_multiply_alike(chip, k, monkeypatch):
    monkeypatch.setenv("XETILE_CHECK_PREFETCHES", "1")
    rng = np.random.default_rng(seed := np.random.default_rng().integers(1 << 30))
    print("seed", seed)
    payload = xetile.matmul(256, 512, k)
    found = []
    for payloads in (True, False):
        kernel = xetile.compile(payload, target=chip, native="off", prefetch_payloads=payloads)
        assert (b"block_read_ap_prefetch" in kernel.spirv) == (payloads and k > 32)
        assert (b"block_write_ap" in kernel.spirv) == payloads
        a, b, c = (
            rng.integers(-4, 5, shape).astype(dtype)
            for shape, dtype in [((256, k), np.float16), ((k, 512), np.float16), ((256, 512), np.float32)]
        )
        result = kernel(a, b, c)
        np.testing.assert_array_equal(result, a.astype(np.float32) @ b.astype(np.float32) + c)
        stats = runtime.stats()
        found.append((stats.prefetches, stats.prefetches_ahead, stats.prefetch_sum))
    assert found[0] == found[1]
    # 2 workgroups of 32 subgroups, two prefetches in each step and in up to three before them; none of a single step.
    steps = k // 32
    assert found[0][0] == (2 * 32 * 2 * (steps + min(3, steps)) if steps > 1 else 0)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
# Steps: 128, an odd number of 127, a part of the last one of 128, two.
@pytest.mark.parametrize("k", [4096, 4064, 4072, 64])
def test_machine_code_of_the_k_loop(dtype, k):
    """Instructions per dpas on ocloc 26.27; docs/machine-code.md names them."""
    most = {"pvc": (0.25, 0.70), "bmg": (0.10, 0.48)}
    payload = xetile.matmul(4096, 4096, k, dtype)
    for chip, (mov, other) in most.items():
        spirv = xetile.compile(payload, target=chip, native="off").spirv
        (kernel,) = report.statistics(spirv, chip)
        assert kernel.spill_bytes == 0
        assert round(kernel.loop.per_dpas("load"), 3) == 0.094
        assert round(kernel.loop.per_dpas("mov"), 2) <= mov, kernel.purposes
        assert round(kernel.loop.per_dpas("other"), 2) <= other, kernel.purposes
        # No operand of a dpas is moved.
        assert kernel.purposes.get("copy", 0) == 0
        assert kernel.bytes_per_dpas == 192


def test_an_option_that_is_no_truth_value_is_refused():
    with pytest.raises(xetile.XeTileError, match="prefetch_payloads: expected True or False, got 1"):
        xetile.compile(xetile.matmul(256, 256, 64), target="pvc", prefetch_payloads=1)


def test_the_form_without_payloads_names_no_function_of_intels_library():
    kernel = xetile.compile(xetile.matmul(256, 256, 256), target="pvc", native="off", prefetch_payloads=False)
    assert b"__builtin_IB" not in kernel.spirv
    assert b"2d_block_prefetch" in kernel.spirv
