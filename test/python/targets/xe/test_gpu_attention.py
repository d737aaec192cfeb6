# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the schedule `attention`, run on this machine's OpenCL device and compared with NumPy in f64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from attention_programs import Attention
from xetile.errors import XeTileError
from xetile.mlir import ir

ERROR = {"f16": 2e-3, "bf16": 8e-3, "f32": 1e-5}
SMALL = Attention(heads=1, rows=20, keys=37, inner=32, values=32)
# Steps of few keys: the code of a step is short then, as linking it for a CPU takes long.
CASES = {
    "odd lengths": (SMALL, "pvc"),
    "causal": (replace(SMALL, rows=37, mask="causal"), "bmg"),
    "causal, keys before the queries": (replace(SMALL, keys=53, mask="causal", offset=33), "pvc"),
    "causal, queries that see none": (replace(SMALL, rows=50, keys=48, mask="causal", offset=-5), "lnl"),
    "a window": (replace(SMALL, rows=70, keys=90, mask="window", first=-20, offset=3), "pvc"),
    "a window that some queries are behind": (
        replace(SMALL, rows=40, keys=21, mask="window", first=-5, offset=0),
        "bmg",
    ),
    "a window of no key": (replace(SMALL, rows=33, keys=33, mask="window", first=5, offset=2), "pvc"),
    "a window without an end": (replace(SMALL, rows=40, keys=60, mask="window", first=10, offset=99), "lnl"),
    "a mask that is added": (replace(SMALL, keys=50, mask="added"), "lnl"),
    "a mask that selects": (replace(SMALL, keys=50, mask="selected"), "pvc"),
    "heads share keys": (replace(SMALL, batch=2, heads=4, key_heads=2, keys=32, values=48), "pvc"),
    "bf16, odd sizes of heads": (replace(SMALL, keys=50, inner=40, values=24, dtype="bf16"), "bmg"),
    "heads of 96": (replace(SMALL, inner=96, values=96, mask="causal", offset=17), "pvc"),
    "heads of 128": (replace(SMALL, rows=37, keys=69, inner=128, values=128, mask="causal", offset=32), "bmg"),
    "heads of 128, bf16": (replace(SMALL, keys=35, inner=128, values=128, dtype="bf16"), "bmg"),
    "heads of 256": (replace(SMALL, rows=9, keys=21, inner=256, values=256), "pvc"),
    "f32": (replace(SMALL, inner=16, values=16, dtype="f32", mask="causal"), "pvc"),
}
LONG = {
    "whole blocks": (Attention(rows=128, keys=128), "pvc"),
    "heads of 128": (Attention(rows=70, keys=150, inner=128, values=128, mask="causal"), "bmg"),
    "heads of 256": (Attention(heads=1, rows=33, keys=70, inner=256, values=256, dtype="bf16"), "pvc"),
}


@pytest.fixture
def run(compile_kernel):
    """Compiles an attention and calls it."""

    def run_(case, arrays, target="pvc", schedule="attention", **options):
        with ir.Context(), ir.Location.unknown():
            kernel = compile_kernel(ir.Module.parse(case.text()), schedule=schedule, target=target, **options)
        out = np.full((*arrays[0].shape[:-1], case.values), np.nan, np.float32)
        kernel(*arrays, out=out)
        return out

    return run_


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", CASES)
def test_attention_is_as_in_numpy(run, name):
    case, target = CASES[name]
    arrays = case.arrays()
    got = run(case, arrays, target, params={"keys": 16, "subgroups_m": 2})
    np.testing.assert_allclose(got, case.reference(arrays), atol=ERROR[case.dtype])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LONG)
def test_attention_with_the_sizes_that_are_chosen(run, name):
    case, target = LONG[name]
    arrays = case.arrays()
    np.testing.assert_allclose(run(case, arrays, target), case.reference(arrays), atol=ERROR[case.dtype])


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_fewer_keys_than_a_step_and_no_multiple_of_16(run, mask):
    case = replace(SMALL, rows=40, keys=40, mask=mask)
    arrays = case.arrays()
    got = run(case, arrays, params={"subgroups_m": 2})
    np.testing.assert_allclose(got, case.reference(arrays), atol=ERROR["f16"])


def test_values_of_all_keys_in_a_step_of_a_loop_need_no_registers_but_those_of_a_slice(run):
    case = Attention(heads=1, rows=3, keys=45, inner=2, values=128, dtype="bf16", mask="window", first=1, offset=1)
    arrays = case.arrays()
    np.testing.assert_allclose(run(case, arrays), case.reference(arrays), atol=ERROR["bf16"])


def test_scores_of_sixty(run):
    case = replace(SMALL, keys=64)
    arrays = case.arrays(size=30.0)
    got = run(case, arrays, params={"keys": 32, "subgroups_m": 2})
    np.testing.assert_allclose(got, case.reference(arrays), atol=ERROR["f16"])


def test_blocks_and_rows_that_are_masked_as_a_whole_and_scores_that_are_nan(run):
    case = replace(SMALL, keys=48, mask="added")
    arrays = case.arrays()
    arrays[3][0, :16] = -np.inf  # a first block of nothing
    arrays[3][1, 16:] = -np.inf
    arrays[3][2, :47] = -np.inf  # all but one
    arrays[3][3] = -np.inf  # all: PyTorch's softmax gives NaN
    arrays[3][4, 20] = np.nan
    arrays[3][5, :16] = np.finfo(np.float32).min  # as some models mask, one of all keys the mean of all values
    arrays[3][6] = np.finfo(np.float32).min
    got = run(case, arrays, params={"keys": 16, "subgroups_m": 2})
    with np.errstate(all="ignore"):
        expected = case.reference(arrays)
    # What f32 cannot tell from the lowest number is the lowest number.
    expected[:, :, :, 6] = arrays[2].astype(np.float64).mean(axis=2)[:, :, None]
    np.testing.assert_allclose(got, expected, atol=ERROR["f16"])
    assert np.isnan(got[0, 0, 0, 3:5]).all() and not np.isnan(got[0, 0, 0, [0, 1, 2, 5, 6]]).any()


def test_blocks_and_rows_that_a_mask_hides_as_a_whole(run):
    case = replace(SMALL, keys=48, mask="selected")
    arrays = case.arrays()
    arrays[3][0, :16] = 0
    arrays[3][1, :47] = 0
    arrays[3][2] = 0
    got = run(case, arrays, params={"keys": 16, "subgroups_m": 2})
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, case.reference(arrays), atol=ERROR["f16"])
    assert np.isnan(got[0, 0, 0, 2]).all() and not np.isnan(got[0, 0, 0, :2]).any()


def test_keys_that_a_causal_mask_hides_from_a_workgroup_are_not_read(run):
    case = replace(SMALL, rows=48, keys=64, mask="causal")
    arrays = case.arrays()
    # Workgroups have 32 queries, steps 16 keys.
    arrays[1][..., 32:, :] = arrays[2][..., 32:, :] = np.nan
    got = run(case, arrays, params={"keys": 16, "subgroups_m": 2})
    seen = [each[..., :32, :] for each in arrays[1:3]]
    whole = replace(case, rows=32, keys=32)
    expected = whole.reference([arrays[0][..., :32, :], *seen])
    np.testing.assert_allclose(got[..., :32, :], expected, atol=ERROR["f16"])
    assert np.isnan(got[..., 32:, :]).all()


def test_keys_outside_of_a_window_are_not_read(run):
    case = replace(SMALL, rows=96, keys=96, mask="window", first=-10, offset=0)
    arrays = case.arrays()
    # Workgroups have 32 queries, steps 16 keys: queries from 64 on see keys from 54 on, in steps from 48 on.
    arrays[1][..., :48, :] = arrays[2][..., :48, :] = np.nan
    got = run(case, arrays, params={"keys": 16, "subgroups_m": 2})
    clean = [np.where(np.isnan(each), np.zeros((), each.dtype), each) for each in arrays]
    np.testing.assert_allclose(got[..., 64:, :], case.reference(clean)[..., 64:, :], atol=ERROR["f16"])
    assert np.isnan(got[..., :58, :]).all()


def test_the_middle_of_a_wide_window_has_no_mask(compile_kernel):
    def comparisons(case):
        with ir.Context(), ir.Location.unknown():
            kernel = compile_kernel(
                ir.Module.parse(case.text()), schedule="attention", target="pvc", params={"keys": 16, "subgroups_m": 2}
            )
        loops = kernel.stages["1-xetile-workgroup"].split("scf.for")[1:]
        return [loop.partition("scf.yield")[0].count("arith.cmpi") for loop in loops]

    window = replace(SMALL, rows=96, keys=96, mask="window", first=-70, offset=-5)
    assert [count > 0 for count in comparisons(window)] == [True, False, True]
    assert [count > 0 for count in comparisons(replace(window, mask="causal"))] == [False, True]


# Of the first queries all keys are hidden alike: the mean of all values.
@pytest.mark.parametrize("low", [-65504.0, -3.0e38])
def test_masks_of_numbers_that_are_low_but_finite(run, low):
    case = replace(SMALL, keys=48, mask="causal", offset=-5, low=low)
    arrays = case.arrays()
    got = run(case, arrays, params={"keys": 16, "subgroups_m": 2})
    np.testing.assert_allclose(got, case.reference(arrays), atol=ERROR["f16"])


@pytest.mark.parametrize(
    "params,message",
    [
        ({"keys": -1}, "keys"),
        (
            {"workgroup_m": 30, "subgroups_m": 4},
            "tile of 30 x 32 elements: expected a multiple of 4 rows, the same for each subgroup: 28 or 32",
        ),
    ],
)
def test_knobs_that_do_not_fit_are_refused(run, params, message):
    with pytest.raises(XeTileError, match=message):
        run(SMALL, SMALL.arrays(), params=params)


def test_a_program_with_an_attention_is_one_kernel(compile_kernel):
    case = replace(SMALL, heads=2, rows=64, keys=64)
    with ir.Context(), ir.Location.unknown():
        kernel = compile_kernel(ir.Module.parse(case.text()), schedule="gpu_model", target="pvc")
    assert kernel.explain().count("attention: its scores stay in registers") > 0
    assert "rows" not in kernel.explain()
