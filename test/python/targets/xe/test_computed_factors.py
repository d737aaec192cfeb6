# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of what is computed element by element, as turned heads: the matrix unit multiplies them, and their halves
are read where they are. Run on this machine's OpenCL device and compared with NumPy in f64."""

import numpy as np
import pytest
import schedule_cases
from gpu_programs import function, generic, tensor
from xetile import XeTileError
from xetile.mlir import ir


@pytest.fixture
def compile_case(compile_kernel, monkeypatch):
    """A kernel of a program's text, and the XeTile that it went through."""
    # They link in half of the time.
    monkeypatch.setenv("XETILE_BUILTINS", "portable")

    def compile_(text, target="pvc", **params):
        with ir.Context(), ir.Location.unknown():
            kernel = compile_kernel(ir.Module.parse(text), schedule="rows", target=target, params=params)
        return kernel, kernel.stages["1-xetile-workgroup"]

    return compile_


@pytest.mark.parametrize(
    ("rows", "keys", "size", "dtype", "target", "products"),
    [
        # Halves are whole blocks of the matrix unit: a product for each.
        (21, 69, 32, "f16", "pvc", 2),
        (7, 13, 64, "bf16", "bmg", 2),
        # Halves that end within a block are put together element by element.
        pytest.param(9, 35, 40, "f16", "bmg", 1, marks=pytest.mark.exhaustive),
    ],
)
def test_turned_heads_are_multiplied_on_the_matrix_unit(compile_case, rng, rows, keys, size, dtype, target, products):
    case = schedule_cases.rotary(rng, heads=2, rows=rows, size=size, keys=keys, dtype=dtype)
    kernel, tiles = compile_case(case.text, target)
    assert tiles.count("xetile.tile_mma") == products
    assert "load_gather" not in tiles
    # Halves that are read where they are need no element of both.
    assert ("arith.select" in tiles) == (products == 1)
    assert not case.difference(np.asarray(kernel(*case.arrays)))


@pytest.mark.parametrize(("size", "rows_each"), [(64, 32), (128, 16), (256, 8)])
def test_a_subgroup_has_as_many_rows_as_its_registers_hold_of_turned_heads(compile_case, rng, size, rows_each):
    """Each subgroup computes all columns that it multiplies: with half of the rows that is done twice as often."""
    case = schedule_cases.rotary(rng, heads=1, rows=256, size=size, keys=16)
    _, tiles = compile_case(case.text)
    assert f"sg_data = [{rows_each}, 16]" in tiles


def test_tiles_and_subgroups_may_be_given(compile_case, rng):
    case = schedule_cases.rotary(rng, heads=1, rows=40, size=32, keys=50)
    kernel, tiles = compile_case(case.text, workgroup_m=32, workgroup_n=32, subgroups_m=2, subgroups_n=2)
    assert "sg_layout = [2, 2]" in tiles
    assert not case.difference(np.asarray(kernel(*case.arrays)))


def test_more_subgroups_than_rows_are_refused(compile_case, rng):
    """Where the right operand is computed, too, its times are counted by rows of a subgroup."""
    case = schedule_cases.rotary(rng, heads=3, rows=45, size=24, keys=3, dtype="bf16")
    with pytest.raises(XeTileError, match=r"does not divide the tile of 48 x 2 elements"):
        compile_case(case.text, workgroup_m=48, workgroup_n=2, subgroups_m=100, subgroups_n=3)


def test_subgroups_that_do_not_divide_k_have_all_of_it(compile_case, rng):
    case = schedule_cases.rotary(rng, heads=1, rows=20, size=24, keys=50)
    kernel, tiles = compile_case(case.text, workgroup_n=48, subgroups_n=3)
    assert "sg_layout = [1, 3], sg_data = [24, 32]" in tiles
    assert not case.difference(np.asarray(kernel(*case.arrays)))


@pytest.mark.parametrize("k", [23, 300])
def test_one_operand_may_be_computed_and_what_follows_joins(compile_case, rng, k):
    """(|a| b + c)^2; all of a long k does not fit the registers, and is summed in blocks."""
    m, n = 19, 37
    a, b = (rng.standard_normal(shape).astype(np.float16) / 4 for shape in ((m, k), (k, n)))
    c = rng.standard_normal(n).astype(np.float32)
    same, result = "(m, n) -> (m, n)", tensor((m, n), "f32")
    body = generic(
        "%d", [("%a", tensor(a.shape, "f16"))], a.shape, "f16", [same, same], "pp",
        "%r = math.absf %a0 : f16\nlinalg.yield %r : f16\n",
    )  # fmt: skip
    body += schedule_cases.contraction(
        "%p", ("%d", tensor(a.shape, "f16"), "mk"), ("%b", tensor(b.shape, "f16"), "kn"), (m, n), "mn", "k"
    )
    body += generic(
        "%q", [("%p", result), ("%c", tensor((n,), "f32"))], (m, n), "f32", [same, "(m, n) -> (n)", same], "pp",
        "%s = arith.addf %a0, %a1 : f32\n%r = arith.mulf %s, %s : f32\nlinalg.yield %r : f32\n",
    )  # fmt: skip
    arguments = [("%a", tensor(a.shape, "f16")), ("%b", tensor(b.shape, "f16")), ("%c", tensor((n,), "f32"))]
    kernel, tiles = compile_case(function(arguments, [("%q", result)], body))
    assert ("xetile.tile_mma" in tiles) == (k < 256)
    expected = (np.abs(a.astype(np.float64)) @ b.astype(np.float64) + c) ** 2
    np.testing.assert_allclose(np.asarray(kernel(a, b, c)), expected, rtol=2e-3, atol=2e-3)


def test_the_schedule_of_programs_makes_one_kernel_of_turned_heads_and_their_product(compile_kernel, rng):
    case = schedule_cases.rotary(rng, heads=2, rows=21, size=32, keys=69)
    with ir.Context(), ir.Location.unknown():
        kernel = compile_kernel(ir.Module.parse(case.text), target="pvc", schedule="gpu_model", native="off")
    assert kernel.stages["1-xetile-workgroup"].count("gpu.func @") == 1
    assert not case.difference(np.asarray(kernel(*case.arrays)))
