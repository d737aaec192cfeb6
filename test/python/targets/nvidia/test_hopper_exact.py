# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of products of f32 on the matrix unit of Hopper GPUs, as three of tf32, where there is none (ptx_ring)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xetile
from hopper_kernels import compiled, on_this_cpu, ptx_of

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

SMALL = {"workgroup_m": 64, "workgroup_n": 64}
ROUNDING = 2e-6
"""Of the largest result: sums of some hundred products in f32."""


@pytest.fixture
def run(driver, tmp_path) -> Callable[..., np.ndarray]:
    """What a payload gives for arrays, between arrays of NaN."""

    def run_(text: str, *arrays: np.ndarray, schedule: str = "matmul", params: Any = SMALL, **options: Any) -> Any:
        kernel = compiled(text, schedule=schedule, params=params, **options)
        assert "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" in ptx_of(kernel)
        (result,) = on_this_cpu(kernel, driver, tmp_path, arrays)
        return result

    return run_


def product(m: int, n: int, k: int, transposed: str = "", batch: int = 0) -> str:
    batches, d = (f"{batch}x", "z, ") if batch else ("", "")
    a = f"tensor<{batches}{k}x{m}xf32>" if "a" in transposed else f"tensor<{batches}{m}x{k}xf32>"
    b = f"tensor<{batches}{n}x{k}xf32>" if "b" in transposed else f"tensor<{batches}{k}x{n}xf32>"
    c = f"tensor<{batches}{m}x{n}xf32>"
    of_a, of_b = "k, m" if "a" in transposed else "m, k", "n, k" if "b" in transposed else "k, n"
    maps = ", ".join(f"affine_map<({d}m, n, k) -> ({d}{of})>" for of in (of_a, of_b, "m, n"))
    op = "linalg.batch_matmul" if batch else "linalg.matmul"
    return f"""func.func @f(%A: {a}, %B: {b}, %C: {c}) -> {c} {{
      %D = {op} indexing_maps = [{maps}] ins(%A, %B : {a}, {b}) outs(%C : {c}) -> {c}
      return %D : {c}
    }}"""


def draw(seed: int, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape).astype(np.float32) for shape in shapes]


def expected(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return a.astype(np.float64) @ b.astype(np.float64) + c


def check(got: np.ndarray, right: np.ndarray, allowed: float = ROUNDING) -> None:
    finite = np.isfinite(right)
    got, right = got.astype(np.float64), right.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(right))
    np.testing.assert_array_equal(got[~finite], right[~finite])
    assert np.abs(got[finite] - right[finite]).max(initial=0) <= allowed * np.abs(right[finite]).max(initial=0)


@pytest.mark.parametrize("pipeline", ["simple", "specialized"])
@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
def test_products_of_either_order(run, transposed, pipeline):
    """With edges of all sides, in rows that TMA takes."""
    m, n, k = 92, 100, 76
    a, b, c = draw(1, (m, k), (k, n), (m, n))
    given = [a.T.copy() if "a" in transposed else a, b.T.copy() if "b" in transposed else b, c]
    check(run(product(m, n, k, transposed), *given, pipeline=pipeline), expected(a, b, c))


@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
def test_products_whose_rows_tma_does_not_take(run, transposed):
    m, n, k = 65, 71, 67
    a, b, c = draw(2, (m, k), (k, n), (m, n))
    given = [a.T.copy() if "a" in transposed else a, b.T.copy() if "b" in transposed else b, c]
    check(run(product(m, n, k, transposed), *given), expected(a, b, c))


@pytest.mark.parametrize("tile", [(256, 64, 2), (128, 128, 2), (128, 64, 2), (64, 128, 1), (128, 64, 1)])
@pytest.mark.parametrize("transposed", ["a", "b"])
def test_tiles(run, tile, transposed):
    """Of one and of two blocks of 64 rows for each warpgroup; two rows of shared memory in a step of k."""
    m, n, k = 140, 68, 100
    a, b, c = draw(3, (m, k), (k, n), (m, n))
    given = [a.T.copy() if transposed == "a" else a, b.T.copy() if transposed == "b" else b, c]
    params = dict(zip(("workgroup_m", "workgroup_n", "subgroups_m"), tile, strict=True))
    params |= {"k_step": 64, "prefetch": 1} if tile[2] == 1 else {"prefetch": 2}
    check(run(product(m, n, k, transposed), *given, params=params), expected(a, b, c))


@pytest.mark.parametrize("pipeline", ["simple", "specialized"])
def test_batches(run, pipeline):
    a, b, c = draw(4, (3, 40, 36), (3, 36, 72), (3, 40, 72))
    check(run(product(40, 72, 36, batch=3), a, b, c, pipeline=pipeline), expected(a, b, c))


@pytest.mark.parametrize("transposed", ["", "ab"])
def test_parts_of_k(run, transposed):
    """Workgroups share k; a second kernel adds up."""
    m, n, k = 40, 72, 1024
    a, b, c = draw(9, (m, k), (k, n), (m, n))
    given = [a.T.copy() if transposed else a, b.T.copy() if transposed else b, c]
    check(run(product(m, n, k, transposed), *given, params=SMALL | {"split_k": 4}), expected(a, b, c))


def test_k_is_split_where_tiles_are_few():
    def kernels(m: int, n: int, k: int, schedule: str, **params: str) -> int:
        return ptx_of(compiled(product(m, n, k), schedule=schedule, params=params)).count(".entry")

    for schedule in ("matmul", "gpu_model"):
        assert kernels(64, 4096, 4096, schedule) == 2
        assert kernels(2048, 768, 50304, schedule) == 2
        assert kernels(1024, 1024, 1024, schedule) == 1
        assert kernels(64, 4096, 4099, schedule) == 1  # no parts of whole steps


@pytest.mark.parametrize(
    ("shape", "tile", "threads"),
    [((4096, 4096, 4096), "256x64", 256), ((1024, 1024, 1024), "128x64", 256), ((4095, 4097, 1023), "128x128", 384)],
)
def test_tiles_that_are_chosen(shape, tile, threads):
    """By what they reach on the device: others where tiles are few, and where threads load 4 bytes at a time."""
    ring = compiled(product(*shape), params={}).stages["2-ring"]
    assert f"vector<{tile}xf32>" in ring and f"threads = {threads}" in ring


def test_nans_and_infinities(run):
    """As a sum of products in f32 has them: none comes of a part that an infinity does not have."""
    m, n, k = 64, 64, 64
    a, b, c = draw(5, (m, k), (k, n), (m, n))
    a[3, 5], a[7, 9], a[11, 2], a[11, 40] = np.nan, np.inf, np.inf, -np.inf
    b[33, 8], b[34, 9] = -np.inf, np.nan
    a[20, 33] = 1.0  # its low part is zero
    a[21, 33], c[22, 1] = 0.0, np.inf
    check(run(product(m, n, k), a, b, c), expected(a, b, c))


@pytest.mark.parametrize("exponents", [(127, -100), (-110, 100), (60, 60), (-70, -70), (-135, 120), (100, -130)])
def test_the_ends_of_the_range(run, exponents):
    """Numbers whose rounding would be infinite, denormal ones, products close to the least and the largest. What is
    below 2**-136 of a number is no part of it, as tf32 has no smaller ones."""
    m, n, k = 64, 64, 32
    a, b, _ = draw(6, (m, k), (k, n), (1,))
    a = np.ldexp(np.clip(a, -1.9999999, 1.9999999), exponents[0]).astype(np.float32)
    b, c = np.ldexp(b, exponents[1]).astype(np.float32), np.zeros((m, n), np.float32)
    if exponents[0] == 127:
        a[:, 0] = np.finfo(np.float32).max
    got, right = run(product(m, n, k), a, b, c), expected(a, b, c)
    assert np.isfinite(got).all()
    largest = [np.abs(array.astype(np.float64)).max() for array in (a, b)]
    lost = k * 2.0**-136 * sum(largest) + k * 2.0**-149
    assert np.abs(got - right).max() <= ROUNDING * np.abs(right).max() + lost


def test_long_sums_of_one_sign_are_as_exact_as_others(run):
    """The matrix unit cuts its sums: those of 1024, one behind the other, would be off by 2e-5."""
    a, b = (np.abs(array) for array in draw(7, (8, 1024), (1024, 8)))
    c = np.zeros((8, 8), np.float32)
    check(run(product(8, 8, 1024), a, b, c), expected(a, b, c), 1e-6)


GELU = """
func.func @f(%A: tensor<68x100xf32>, %B: tensor<100x72xf32>, %bias: tensor<72xf32>) -> tensor<68x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<68x72xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<68x72xf32>) -> tensor<68x72xf32>
  %D = linalg.matmul ins(%A, %B : tensor<68x100xf32>, tensor<100x72xf32>) outs(%z : tensor<68x72xf32>)
      -> tensor<68x72xf32>
  %G = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                        affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%D, %bias : tensor<68x72xf32>, tensor<72xf32>) outs(%e : tensor<68x72xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.707106769 : f32
    %s = arith.addf %x, %b : f32
    %scaled = arith.mulf %s, %root : f32
    %erf = math.erf %scaled : f32
    %more = arith.addf %erf, %one : f32
    %product = arith.mulf %s, %more : f32
    %gelu = arith.mulf %product, %half : f32
    linalg.yield %gelu : f32
  } -> tensor<68x72xf32>
  return %G : tensor<68x72xf32>
}"""


@pytest.mark.parametrize("schedule", ["matmul", "gpu_model"])
def test_what_follows_on_a_product(run, schedule):
    a, b, bias = draw(8, (68, 100), (100, 72), (72,))
    params = SMALL if schedule == "matmul" else {}
    sums = expected(a, b, bias[None, :].astype(np.float64))
    right = sums / 2 * (1 + np.vectorize(math.erf)(sums / math.sqrt(2)))
    check(run(GELU, a, b, bias, schedule=schedule, params=params), right)


def test_products_of_a_program_stay_on_vector_units_where_that_is_said_or_they_are_small():
    def uses_matrix_unit(text: str, **params: str) -> bool:
        return "mma.sync" in ptx_of(compiled(text, schedule="gpu_model", params=params))

    assert uses_matrix_unit(GELU)
    assert not uses_matrix_unit(GELU, f32_units="vector")
    assert uses_matrix_unit(product(8, 256, 64))
    assert not uses_matrix_unit(product(7, 256, 256))
    assert not uses_matrix_unit(product(256, 7, 256))
    assert not uses_matrix_unit(product(256, 256, 15))
    assert not uses_matrix_unit(product(8, 256, 63))


def test_tf32_is_rounded_where_it_is_allowed():
    kernel = compiled(product(128, 128, 128, "b"), params=SMALL | {"precision": "tf32"})
    assert "wgmma" in ptx_of(kernel) and "mma.sync.aligned.m16n8k8" not in ptx_of(kernel)


def test_tiles_whose_parts_do_not_fit_in_registers_are_refused():
    with pytest.raises(xetile.XeTileError, match=r"128 x 128 sums of f32 take 128 registers .* parts of f32 96"):
        compiled(product(512, 512, 512), params={"workgroup_m": 256, "workgroup_n": 128, "subgroups_m": 2})
