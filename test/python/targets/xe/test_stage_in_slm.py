# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls whose operands go through rings in shared local memory, on this machine's OpenCL device against NumPy.

Inputs are small integers, so that sums are exact in any order and results equal NumPy's. Outputs are poisoned, and
kernels run again with the subgroups of a workgroup in the other order (XETILE_CHECK): a barrier that lacks is a wrong
number.
"""

import numpy as np
import pytest
import schedule_cases
import xetile
from gpu_matmuls import NUMPY, assert_batch_is_right, batch_behind_which_comes_relu, call, parse, small, tensor

CHIPS = ["pvc", "bmg", "lnl"]
TILE = {"workgroup_m": 32, "workgroup_n": 64, "subgroups_m": 2, "subgroups_n": 2, "k_step": 32}
SMALL = {"workgroup_m": 16, "workgroup_n": 32, "subgroups_m": 2, "subgroups_n": 1, "k_step": 16}
# (m, n, k), types, parameters. Tiles divide few of these sizes; k has turns of the ring, a rest, or less than one.
CASES = [
    ((40, 72, 200), "f16", "f32", {"slm_buffers": 2}),
    ((33, 65, 288), "bf16", "f32", {"slm_buffers": 3}),
    ((32, 64, 64), "f16", "f32", {"slm_buffers": 4}),
    ((17, 35, 67), "f16", "f16", {"slm_buffers": 2, "prefetch": 0, **SMALL}),
    ((40, 72, 224), "f16", "f32", {"slm_buffers": 2, "split_k": 2}),
    ((18, 48, 321), "i8", "i32", {"slm_buffers": 2, **SMALL, "k_step": 32}),
    ((25, 66, 72), "f32", "f32", {"slm_buffers": 2, "k_step": 16}),
    ((50, 40, 96), "f16", "f32", {"slm_buffers": 2, "subgroups_m": 4}),
    ((20, 150, 160), "f16", "f32", {"slm_buffers": 2, "workgroup_m": 16, "workgroup_n": 128, "subgroups_n": 4}),
    ((27, 31, 113), "bf16", "f32", {"slm_buffers": 4, "k_step": 16}),
]


@pytest.fixture(autouse=True)
def both_orders(monkeypatch):
    monkeypatch.setenv("XETILE_CHECK", "1")


def staged(compile_kernel, payload, params, chip="pvc", **more):
    kernel = compile_kernel(payload, schedule="matmul", target=chip, params={**TILE, **params}, **more)
    assert "memref.alloca()" in str(kernel.stages["1-xetile-workgroup"])
    return kernel


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("case", "chip"), [(case, CHIPS[number % 3]) for number, case in enumerate(CASES)] + [(CASES[0], "lnl")]
)
def test_products_are_exact(compile_kernel, rng, case, chip):
    (m, n, k), dtype, result, params = case
    if dtype == "f32":
        params = {**params, "precision": "tf32"}
    kernel = staged(compile_kernel, xetile.matmul(m, n, k, dtype, result), params, chip)
    a, b = small(rng, (m, k), NUMPY[dtype]), small(rng, (k, n), NUMPY[dtype])
    c = small(rng, (m, n), NUMPY[result])
    expected = (a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)).astype(NUMPY[result])
    np.testing.assert_array_equal(call(kernel, a, b, c), expected)


def test_registers_lie_in_memory_as_they_are(compile_kernel):
    """Each access to shared memory moves a block of the matrix unit: rows of A, of B a column to each lane in words."""
    kernel = staged(compile_kernel, xetile.matmul(256, 256, 256), {"slm_buffers": 2})
    code = str(kernel.stages["4-xegpu"])
    accesses = [line for line in code.splitlines() if "xegpu.load_matrix" in line or "xegpu.store_matrix" in line]
    assert accesses
    assert all(("subgroup_block_io" in line) != ("stride = [1, 16]" in line) for line in accesses)
    assert "memref.reinterpret_cast" not in code
    lanes = str(kernel.stages["5-xevm"])
    shared = [
        line for line in lanes.splitlines() if "!llvm.ptr<3>" in line and ("llvm.load" in line or "llvm.store" in line)
    ]
    assert shared
    assert all("vector<8xi32>" in line for line in shared)


def test_infinities_and_nan_stay_in_their_rows(compile_kernel, rng):
    kernel = staged(compile_kernel, xetile.matmul(34, 70, 130), {"slm_buffers": 2})
    a, b = small(rng, (34, 130), np.float16), small(rng, (130, 70), np.float16)
    a[2, 129], a[30, 65], b[129, :] = np.inf, np.nan, 1
    # What stands behind the end of the row before, where the last slice hangs over.
    a[7, :8] = np.nan
    c = small(rng, (34, 70), np.float32)
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    np.testing.assert_array_equal(call(kernel, a, b, c), expected)


def test_sizes_that_only_a_run_knows(compile_kernel, rng):
    a, b, c = (tensor((None, None), kind) for kind in ("f16", "f16", "f32"))
    text = f"""
      func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
        %d = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
        return %d : {c}
      }}"""
    kernel = staged(compile_kernel, parse(text), {"slm_buffers": 2, **SMALL})
    for m, n, k in [(20, 50, 52), (16, 32, 33), (1, 17, 15), (18, 32, 64)]:
        a, b, c = small(rng, (m, k), np.float16), small(rng, (k, n), np.float16), small(rng, (m, n), np.float32)
        np.testing.assert_array_equal(call(kernel, a, b, c), a.astype(np.float64) @ b.astype(np.float64) + c)


def test_batches_transposed_operands_and_what_follows(compile_kernel, rng):
    kernel = staged(compile_kernel, parse(batch_behind_which_comes_relu(82)), {"slm_buffers": 2, **SMALL}, "bmg")
    assert_batch_is_right(kernel, rng, 82)


def test_matmuls_of_a_program_are_staged(rng):
    """Each of both has rings of A and B."""
    case = schedule_cases.mlp(rng, m=8, inner=70, hidden=72, n=16)
    kernel = xetile.compile(parse(case.text), "gpu_model", "pvc", {"slm_buffers": 2}, native="off")
    assert str(kernel.stages["1-xetile-workgroup"]).count("memref.alloca()") == 4


@pytest.mark.exhaustive
def test_a_program_whose_matmuls_are_staged_is_right(rng):
    case = schedule_cases.mlp(rng, m=8, inner=64, hidden=64, n=16)
    kernel = xetile.compile(parse(case.text), "gpu_model", "pvc", {"slm_buffers": 2}, native="off")
    assert not case.difference(kernel(*case.arrays))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"slm_buffers": 1}, "buffers = 1: expected 0 to stage nothing, or 2 to 8"),
        (
            {"slm_buffers": 5},
            r"a step's tiles need k_step \* \(workgroup_m \* 2 \+ workgroup_n \* 2\) = .* = 32768 bytes, "
            "5 x 32768 = 163840, more than the 131072 bytes .*; the most buffers are 4",
        ),
        (
            {"slm_buffers": 2, "k_step": 128},
            "2 x 131072 = 262144, more than the 131072 bytes .*; two buffers need k_step of at most 64",
        ),
    ],
)
def test_refusals(params, message):
    with pytest.raises(xetile.XeTileError, match=message):
        xetile.compile(xetile.matmul(1024, 1024, 1024), "matmul", "pvc", params, native="off")
