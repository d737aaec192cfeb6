# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions of few queries, whose keys workgroups share: a kernel of parts and one that puts them together.

Against f64; f16 within 2e-3, bf16 within 8e-3. Sizes that no tile divides.
"""

import numpy as np
import pytest
import xetile
from attention_programs import Attention
from gpu_matmuls import parse
from xetile import XeTileError, report

CHIPS = ["pvc", "bmg", "lnl"]
# An attention, and parts of its keys; 0 leaves them to the compiler.
CASES = [
    (Attention(rows=1, heads=3, keys=520), 0),
    (Attention(rows=1, heads=2, keys=256, dtype="bf16"), 4),
    (Attention(rows=1, heads=6, key_heads=2, keys=290), 3),
    (Attention(rows=5, heads=2, keys=277, mask="causal", offset=272), 3),
    (Attention(rows=1, heads=2, keys=300, mask="window", offset=299, first=130), 3),
    (Attention(rows=3, heads=2, keys=155, mask="added"), 2),
]


def name(case) -> str:
    attention, parts = case
    return f"{attention.rows}x{attention.keys}-{attention.dtype}-{attention.mask}-{parts}"


def run(compile_kernel, attention, parts, chip, size=1.0, *, rng, schedule="attention"):
    params = {} if parts is None else {"split_keys": parts}
    kernel = compile_kernel(parse(attention.text()), schedule=schedule, target=chip, params=params)
    arrays = attention.arrays(int(rng.integers(2**31)), size)
    with np.errstate(invalid="ignore"):
        expected = attention.reference(arrays)
    out = np.full(expected.shape, 77, kernel.signature.results[0].numpy_dtype)
    return kernel, kernel(*arrays, out=out).astype(np.float64), expected


def launches(kernel: xetile.Kernel) -> int:
    """In the host code."""
    return str(kernel.stages["1-xetile-workgroup"]).count("gpu.launch_func")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("case", CASES, ids=name)
def test_parts_are_put_together(compile_kernel, rng, case, chip):
    attention, parts = case
    # Scores of 60: exponents that only a maximum makes small.
    kernel, result, expected = run(compile_kernel, attention, parts, chip, size=4.0, rng=rng)
    assert launches(kernel) == 2
    np.testing.assert_allclose(result, expected, rtol=0, atol=8e-3 if attention.dtype == "bf16" else 2e-3)


def test_a_part_that_no_query_sees_adds_nothing(compile_kernel, rng):
    # The window begins behind the first part, and ends before the last.
    attention = Attention(rows=2, heads=2, keys=400, mask="window", offset=150, first=120)
    kernel, result, expected = run(compile_kernel, attention, 4, "pvc", rng=rng)
    assert launches(kernel) == 2
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-3)


def test_queries_that_see_no_key_are_nan_and_others_are_not(compile_kernel, rng):
    # The first queries see keys below zero.
    attention = Attention(rows=4, heads=2, keys=160, mask="causal", offset=-2)
    _, result, expected = run(compile_kernel, attention, 2, "pvc", rng=rng)
    assert np.isnan(expected).any() and not np.isnan(expected).all()
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-3)


@pytest.mark.parametrize("schedule", [None, "gpu_model"])
def test_one_query_is_found_and_split(compile_kernel, rng, schedule):
    """By default, and as a part of a program."""
    attention = Attention(rows=1, heads=2, keys=530)
    kernel, result, expected = run(compile_kernel, attention, None, "pvc", rng=rng, schedule=schedule)
    text = str(kernel.stages["1-xetile-workgroup"])
    assert launches(kernel) == 2 and text.count("xetile.tile_mma") >= 2
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-3)


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_steps_of_one_query_are_not_unrolled_in_pairs(chip):
    """An even number of steps: those of two would spill on bmg."""
    attention = Attention(rows=1, heads=16, keys=4096)
    kernel = xetile.compile(parse(attention.text()), "attention", chip, native="off")
    first = report.statistics(kernel.spirv, chip)[0]
    assert first.spill_bytes == 0
    # Of 64 keys: 16 for scores, 16 for values and 4 that sum powers.
    assert first.loop.counts["dpas"] == 36


@pytest.mark.parametrize("parts", [0, 1])
def test_few_keys_of_one_query_are_one_part(compile_kernel, rng, parts):
    attention = Attention(rows=1, heads=2, keys=70, mask="causal", offset=40)
    kernel, result, expected = run(compile_kernel, attention, parts, "pvc", rng=rng)
    assert "xetile.tile_mma" in str(kernel.stages["1-xetile-workgroup"])
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-3)


def test_products_of_an_attention_are_no_matmuls_to_split():
    text = Attention(rows=8, heads=2, keys=4200).text()
    kernel = xetile.compile(parse(text), "gpu_model", "pvc", native="off")
    assert launches(kernel) == 2
    assert "_matmul" not in str(kernel.stages["1-xetile-workgroup"])


def test_many_queries_are_one_kernel():
    kernel = xetile.compile(parse(Attention(rows=2048, heads=32).text()), "attention", "bmg", native="off")
    assert launches(kernel) == 1


def test_parts_that_the_keys_do_not_have_are_refused_with_the_nearest_number():
    with pytest.raises(
        XeTileError, match=r"split_keys = 8: 100 keys in parts of 16, .* are 7; expected split_keys = 7"
    ):
        xetile.compile(parse(Attention(rows=2, keys=100).text()), "attention", "pvc", {"split_keys": 8})
