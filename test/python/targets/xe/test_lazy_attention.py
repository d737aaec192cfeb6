# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions that take a new maximum only where a sum of powers becomes too large, against NumPy in f64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from attention_programs import Attention
from xetile.errors import XeTileError
from xetile.mlir import ir

ERROR = {"f16": 2e-3, "bf16": 8e-3}
SMALL = Attention(heads=1, rows=20, keys=37, inner=32, values=32)
CASES = {
    "odd lengths": (SMALL, "pvc"),
    "causal": (replace(SMALL, rows=37, mask="causal"), "bmg"),
    "causal, queries that see none": (replace(SMALL, rows=50, keys=48, mask="causal", offset=-5), "lnl"),
    "a window": (replace(SMALL, rows=40, keys=60, mask="window", first=-20, offset=3), "pvc"),
    "a mask that selects": (replace(SMALL, keys=50, mask="selected"), "lnl"),
    "bf16, heads that share keys": (replace(SMALL, heads=2, key_heads=1, keys=50, dtype="bf16"), "bmg"),
    "heads of 128": (replace(SMALL, keys=35, inner=128, values=128), "pvc"),
}


@pytest.fixture
def run(compile_kernel):
    """Compiles an attention and calls it."""

    def run_(case, arrays, target="pvc", **params):
        with ir.Context(), ir.Location.unknown():
            kernel = compile_kernel(
                ir.Module.parse(case.text()), schedule="attention", target=target,
                params={"keys": 16, "subgroups_m": 2, "split_keys": 1, "lazy": 60, **params},
            )  # fmt: skip
        if params.get("lazy", 60):
            assert "scf.while" in str(kernel.stages["2-xetile-subgroup"])
        out = np.full((*arrays[0].shape[:-1], case.values), np.nan, np.float32)
        kernel(*arrays, out=out)
        return out

    return run_


@pytest.mark.one_in(8)
@pytest.mark.parametrize("size", [1.0, 60.0])
@pytest.mark.parametrize("name", CASES)
def test_lazy_maxima_give_what_numpy_does(run, name, size):
    case, target = CASES[name]
    arrays = case.arrays(7, size)
    expected = case.reference(arrays)
    np.testing.assert_allclose(run(case, arrays, target), expected, atol=ERROR[case.dtype])


def test_scores_that_grow_are_taken_up_again_and_again(run):
    """Each block of keys has larger scores than all before: every step is done twice."""
    case = replace(SMALL, keys=96)
    arrays = case.arrays(3, 1.0)
    arrays[0][:] = 1.0
    arrays[1][:] = (np.arange(96, dtype=np.float32) * 4).astype(np.float16)[:, None]
    lazy, exact = run(case, arrays), run(case, arrays, lazy=0)
    np.testing.assert_allclose(lazy, case.reference(arrays), rtol=0, atol=ERROR["f16"])
    np.testing.assert_allclose(lazy, exact, rtol=0, atol=ERROR["f16"])


def test_nan_and_infinities_are_those_of_exact_maxima(run):
    """A sum that is no number does not end in a step that is done for ever."""
    case = replace(SMALL, keys=50)
    arrays = case.arrays(5, 1.0)
    arrays[0][..., 3, :] = np.nan
    arrays[0][..., 5, 0], arrays[1][..., 40, 0] = np.inf, 1.0
    lazy, exact = run(case, arrays), run(case, arrays, lazy=0)
    np.testing.assert_array_equal(np.isnan(lazy), np.isnan(exact))
    assert np.isnan(lazy[..., 3, :]).all()
    assert np.isfinite(lazy[..., [0, 1, 2, 4], :]).all()
    np.testing.assert_allclose(lazy, exact, rtol=0, atol=ERROR["f16"])


@pytest.mark.parametrize(
    ("case", "params", "message"),
    [
        (SMALL, {"lazy": 29}, "a step of 16 powers of one could pass 2\\^29 again .*; expected at least 30"),
        (
            replace(SMALL, dtype="bf16"),
            {"lazy": 64},
            "sums up to 2\\^64 of powers times values of as many binary digits could overflow f32; expected at most 63",
        ),
        (replace(SMALL, mask="added"), {}, "lazy: expected scores that are products of f16 or bf16"),
        (replace(SMALL, dtype="f32"), {}, "lazy: expected scores that are products of f16 or bf16"),
    ],
)
def test_refusals(run, case, params, message):
    with pytest.raises(XeTileError, match=message):
        run(case, case.arrays(1, 1.0), **params)
