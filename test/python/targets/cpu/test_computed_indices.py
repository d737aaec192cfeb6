# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices that bodies of operations compute from data: right numbers in range, an error that names them elsewhere."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xetile
from deep_tile_cases import compile_text
from xetile import XeTileError

WRONG = [-1, -(2**62), 10, 10**12, 2**62]


def body(index: str, extract: str, *, table: str = "10xf32", ints: str = "?xi64", outs: str = "?xf32") -> str:
    """A gather of as many numbers as there are indices: `index` makes %x of %a, `extract` %v."""
    return f"""
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<{ints}>
  %e = tensor.empty(%n) : tensor<{outs}>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]}} ins(%i : tensor<{ints}>) outs(%e : tensor<{outs}>) {{
  ^bb0(%a: i64, %o: f32):
    {index}
    {extract}
    linalg.yield %v : f32
  }} -> tensor<{outs}>
  return %r : tensor<{outs}>"""


CAST = "%x = arith.index_cast %a : i64 to index"
PLAIN = "%v = tensor.extract %t[%x] : tensor<10xf32>"
SIGNATURE = "(%t: tensor<10xf32>, %i: tensor<?xi64>) -> tensor<?xf32>"
TABLE = np.arange(10, dtype="f4") + 100


def places(*numbers: int) -> np.ndarray:
    return np.array(numbers, "i8")


def expect(kernel, message: str, *arrays, out=None) -> None:
    # Later calls go another way.
    for _ in range(3):
        with pytest.raises(XeTileError, match=message):
            kernel(*arrays, out=out)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("wrong", WRONG)
def test_an_index_out_of_range_is_told_with_its_bound_and_line(wrong, threads):
    kernel = compile_text(body(CAST, PLAIN), SIGNATURE, threads=threads)
    assert np.array_equal(kernel(TABLE, places(9, 0, 3)), TABLE[[9, 0, 3]])
    expect(
        kernel,
        rf"@f: tensor.extract in line \d+: expected an index within dimension 0, from 0 to 9, got {wrong}$",
        TABLE,
        places(3, wrong, 4),
    )
    assert np.array_equal(kernel(TABLE, places(9)), TABLE[[9]])
    assert kernel(TABLE, places()).shape == (0,)


ROWS = """
  %e = tensor.empty() : tensor<300x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]} ins(%i : tensor<300xi32>) outs(%e : tensor<300x64xf32>) {
  ^bb0(%a: i32, %o: f32):
    %x = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%x, %j] : tensor<50x64xf32>
    linalg.yield %v : f32
  } -> tensor<300x64xf32>
  return %r : tensor<300x64xf32>"""
OF_ROWS = "(%t: tensor<50x64xf32>, %i: tensor<300xi32>) -> tensor<300x64xf32>"


def rows(rng) -> tuple[np.ndarray, np.ndarray]:
    return rng.random((50, 64), dtype="f4"), rng.integers(0, 50, 300).astype("i4")


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_a_table(rng, threads):
    kernel = compile_text(ROWS, OF_ROWS, threads=threads)
    table, indices = rows(rng)
    for _ in range(3):
        assert np.array_equal(kernel(table, indices), table[indices])
    # The index of the other dimension is known.
    assert [text.text for text in kernel.signature.expectations] == ["expected an index within dimension 0"]
    for wrong in (-1, 50, 2**31 - 1, -(2**31)):
        indices[rng.integers(300)] = wrong
        expect(kernel, f"got {wrong}$", table, indices, out=np.empty((300, 64), "f4"))
        indices[indices == wrong] = 0


def test_threads_that_call_one_kernel_are_told_their_own(rng):
    kernel = compile_text(ROWS, OF_ROWS, threads=1)
    table, right = rows(rng)
    wrong = right.copy()
    wrong[7] = 77

    def call(number: int) -> bool:
        try:
            return np.array_equal(kernel(table, right if number % 2 else wrong), table[right]) and number % 2 == 1
        except XeTileError as error:
            return "got 77" in str(error) and number % 2 == 0

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(400)))


@pytest.mark.parametrize(
    ("index", "signature"),
    [
        ("%x = arith.constant 3 : index", "10xf32"),
        ("%c = arith.constant 9 : i64\n%z = arith.constant 0 : i64\n%y = arith.maxsi %a, %z : i64\n"
         "%w = arith.minsi %y, %c : i64\n%x = arith.index_cast %w : i64 to index", "10xf32"),
        ("%b = arith.trunci %a : i64 to i3\n%x = arith.index_castui %b : i3 to index", "10xf32"),
        ("%z = arith.constant 0 : i64\n%c = arith.constant 5 : i64\n%m = arith.remsi %a, %c : i64\n"
         "%s = arith.addi %m, %c : i64\n%n0 = arith.cmpi slt, %m, %z : i64\n%w = arith.select %n0, %s, %m : i64\n"
         "%x = arith.index_cast %w : i64 to index", "10xf32"),
    ],
)  # fmt: skip
def test_what_is_known_to_be_in_range_is_not_looked_at(index, signature):
    kernel = compile_text(body(index, PLAIN), SIGNATURE, threads=1)
    assert kernel.signature.expectations == ()
    assert np.isin(kernel(TABLE, places(*WRONG)), TABLE).all()


def test_indices_that_were_clamped_before_are_known_to_be_in_range():
    clamped = """
  %low = arith.constant 0 : i64
  %high = arith.constant 9 : i64
  %ie = tensor.empty() : tensor<4xi64>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%i : tensor<4xi64>) outs(%ie : tensor<4xi64>) {
  ^bb0(%a: i64, %o: i64):
    %b = arith.maxsi %a, %low : i64
    %d = arith.minsi %b, %high : i64
    linalg.yield %d : i64
  } -> tensor<4xi64>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%c : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: i64, %o: f32):
    %x = arith.index_cast %a : i64 to index
    %v = tensor.extract %t[%x] : tensor<10xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>"""
    kernel = compile_text(clamped, "(%t: tensor<10xf32>, %i: tensor<4xi64>) -> tensor<4xf32>", threads=1)
    assert kernel.signature.expectations == ()
    assert np.array_equal(kernel(TABLE, places(-5, 3, 9, 10**12)), TABLE[[0, 3, 9, 9]])


def test_a_branch_is_looked_at_where_it_is_taken():
    # Indices from 5 on are not used.
    text = """%c5 = arith.constant 5 : i64
    %b = arith.cmpi slt, %a, %c5 : i64
    %v = scf.if %b -> f32 {
      %w = tensor.extract %t[%x] : tensor<10xf32>
      scf.yield %w : f32
    } else {
      %z = arith.constant 0.0 : f32
      scf.yield %z : f32
    }"""
    kernel = compile_text(body(CAST, text), SIGNATURE, threads=1)
    assert np.array_equal(kernel(TABLE, places(4, 5, 10**12)), [104, 0, 0])
    expect(kernel, "from 0 to 9, got -3$", TABLE, places(4, -3, 10**12))


def test_a_loop_in_a_body_is_looked_at():
    text = """%c1 = arith.constant 1 : index
    %z = arith.constant 0.0 : f32
    %v = scf.for %k = %c0 to %x step %c1 iter_args(%s = %z) -> f32 {
      %p = arith.muli %k, %x : index
      %w = tensor.extract %t[%p] : tensor<10xf32>
      %y = arith.addf %s, %w : f32
      scf.yield %y : f32
    }"""
    kernel = compile_text(body(CAST, text), SIGNATURE, threads=1)
    assert np.array_equal(kernel(TABLE, places(0, 1, 2, 3)), [0, 100, 202, 309])
    expect(kernel, "from 0 to 9, got 12$", TABLE, places(4))


def test_indices_of_indices():
    text = """%y = tensor.extract %i[%x] : tensor<?xi64>
    %w = arith.index_cast %y : i64 to index
    %v = tensor.extract %t[%w] : tensor<10xf32>"""
    kernel = compile_text(body(CAST, text), SIGNATURE, threads=1)
    assert np.array_equal(kernel(TABLE, places(1, 2, 0)), TABLE[[2, 0, 1]])
    expect(kernel, "from 0 to 2, got 3$", TABLE, places(1, 3, 0))
    expect(kernel, "from 0 to 9, got 10$", TABLE, places(*range(1, 11), 0))


def test_an_empty_table():
    text = "%v = tensor.extract %t[%x] : tensor<?xf32>"
    kernel = compile_text(body(CAST, text), "(%t: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<?xf32>", threads=1)
    assert np.array_equal(kernel(TABLE, places(2)), TABLE[[2]])
    expect(kernel, "dimension 0, which is empty, got 0$", TABLE[:0], places(0))
    assert kernel(TABLE[:0], places()).shape == (0,)


def test_what_is_computed_for_no_element_is_not_looked_at():
    text = """
  %e = tensor.empty(%m) : tensor<3x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]} ins(%i : tensor<3xi64>) outs(%e : tensor<3x?xf32>) {
  ^bb0(%a: i64, %o: f32):
    %x = arith.index_cast %a : i64 to index
    %v = tensor.extract %t[%x] : tensor<10xf32>
    linalg.yield %v : f32
  } -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>"""
    kernel = compile_text(text, "(%t: tensor<10xf32>, %i: tensor<3xi64>, %m: index) -> tensor<3x?xf32>", threads=1)
    assert kernel(TABLE, places(1, 10, 2), 0).shape == (3, 0)
    expect(kernel, "got 10$", TABLE, places(1, 10, 2), 1)


def test_other_bodies():
    generate = """
  %r = tensor.generate {
  ^bb0(%k: index):
    %a = tensor.extract %i[%k] : tensor<4xi64>
    %x = arith.index_cast %a : i64 to index
    %v = tensor.extract %t[%x] : tensor<10xf32>
    tensor.yield %v : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>"""
    mapped = """
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map ins(%i : tensor<4xi64>) outs(%e : tensor<4xf32>) (%a: i64, %o: f32) {
    %x = arith.index_cast %a : i64 to index
    %v = tensor.extract %t[%x] : tensor<10xf32>
    linalg.yield %v : f32
  }
  return %r : tensor<4xf32>"""
    for text in (generate, mapped):
        kernel = compile_text(text, "(%t: tensor<10xf32>, %i: tensor<4xi64>) -> tensor<4xf32>", threads=1)
        assert np.array_equal(kernel(TABLE, places(4, 3, 2, 1)), TABLE[4:0:-1])
        expect(kernel, "tensor.extract.* from 0 to 9, got -7$", TABLE, places(4, -7, 2, 1))


def test_a_sum_over_what_is_found():
    text = """
  %z = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%i : tensor<4xi64>) outs(%z : tensor<f32>) {
  ^bb0(%a: i64, %o: f32):
    %x = arith.index_cast %a : i64 to index
    %v = tensor.extract %t[%x] : tensor<10xf32>
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>"""
    kernel = compile_text(text, "(%t: tensor<10xf32>, %i: tensor<4xi64>) -> tensor<f32>", threads=2)
    assert kernel(TABLE, places(4, 3, 2, 1)) == 410
    expect(kernel, "from 0 to 9, got 11$", TABLE, places(4, 11, 2, 1))


def test_in_a_loop_of_the_function():
    text = f"""
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %start = tensor.empty() : tensor<4xf32>
  %r = scf.for %k = %zero to %three step %one iter_args(%before = %start) -> tensor<4xf32> {{
    %row = tensor.extract_slice %i[%k, 0] [1, 4] [1, 1] : tensor<3x4xi64> to tensor<4xi64>
    %g = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%row : tensor<4xi64>) outs(%before : tensor<4xf32>) {{
    ^bb0(%a: i64, %o: f32):
      {CAST}
      {PLAIN}
      linalg.yield %v : f32
    }} -> tensor<4xf32>
    scf.yield %g : tensor<4xf32>
  }}
  return %r : tensor<4xf32>"""
    kernel = compile_text(text, "(%t: tensor<10xf32>, %i: tensor<3x4xi64>) -> tensor<4xf32>", threads=2)
    indices = np.arange(12).reshape(3, 4) % 10
    assert np.array_equal(kernel(TABLE, indices), TABLE[indices[2]])
    indices[1, 2] = 10**12
    expect(kernel, "got 1000000000000$", TABLE, indices)


@pytest.mark.parametrize(("base", "at"), [("10xf32", "%c0"), ("2x5xf32", "%c1, %c0")])
def test_gathers_of_vectors(base, at):
    text = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %mask = arith.constant dense<[true, true, true, false]> : vector<4xi1>
  %pass = arith.constant dense<7.0> : vector<4xf32>
  %x = vector.transfer_read %i[%c0], %c0 {{in_bounds = [true]}} : tensor<4xindex>, vector<4xindex>
  %g = vector.gather %t[{at}] [%x], %mask, %pass
    : tensor<{base}>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %r = vector.transfer_write %g, %e[%c0] {{in_bounds = [true]}} : vector<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>"""
    kernel = compile_text(text, f"(%t: tensor<{base}>, %i: tensor<4xindex>) -> tensor<4xf32>", threads=1)
    start = 5 if "x5x" in base else 0
    table = TABLE.reshape([int(size) for size in base.split("x")[:-1]])
    # What is masked is not read.
    assert np.array_equal(kernel(table, places(4, 0, 3, 10**12)), [*TABLE[start:][[4, 0, 3]], 7])
    for wrong in (10 - start, -1 - start, 10**12):
        expect(kernel, f"vector.gather in line .* from 0 to 9, got {wrong + start}$", table, places(4, wrong, 3, 0))


def test_an_index_that_the_operation_sums_up_is_refused():
    text = """
  %z = arith.constant dense<0> : tensor<i64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%i : tensor<4xi64>) outs(%z : tensor<i64>) {
  ^bb0(%a: i64, %o: i64):
    %x = arith.index_cast %o : i64 to index
    %v = tensor.extract %i[%x] : tensor<4xi64>
    linalg.yield %v : i64
  } -> tensor<i64>
  return %r : tensor<i64>"""
    with pytest.raises(XeTileError, match="tensor.extract.*depends on what the operation around it sums up"):
        compile_text(text, "(%i: tensor<4xi64>) -> tensor<i64>", threads=1)


def test_saved_kernels_tell_too(tmp_path, rng):
    kernel = compile_text(ROWS, OF_ROWS, threads=2)
    kernel.save(tmp_path / "rows.so")
    loaded = xetile.load(tmp_path / "rows.so")
    assert loaded.signature == kernel.signature
    table, indices = rows(rng)
    assert np.array_equal(loaded(table, indices), table[indices])
    indices[100] = 50
    expect(loaded, "from 0 to 49, got 50$", table, indices)
    any_size = compile_text(body(CAST, PLAIN), SIGNATURE, threads=1)
    any_size.save(tmp_path / "any.so")
    loaded = xetile.load(tmp_path / "any.so")
    assert np.array_equal(loaded(TABLE, places(9, 0)), TABLE[[9, 0]])
    expect(loaded, "from 0 to 9, got 10$", TABLE, places(9, 10))


PROGRAM = r"""
#include <stdio.h>
#include "f.h"
static float table[10];
int main(void) {
  int64_t indices[4] = {9, 0, 3, 4};
  xetile_memref1d t = xetile_dense1d(table, 10), i = xetile_dense1d(indices, 4);
  for (int n = 0; n < 10; ++n)
    table[n] = n;
  CALL
}
"""
STATIC = r"""
  float found[4];
  xetile_memref1d r = xetile_dense1d(found, 4);
  int64_t told[3];
  printf("%d %g\n", f_checked(&t, &i, &r) == 0, found[0]);
  indices[2] = -8;
  puts(f_checked(&t, &i, &r));
  _mlir_ciface_f(told, &t, &i, &r);
  printf("%ld %ld %ld\n", (long)told[0], (long)told[1], (long)told[2]);
"""
DYNAMIC = r"""
  f_results r;
  printf("%d %g\n", f_checked(&r, &t, &i) == 0, *(float *)r.r0.aligned);
  indices[2] = -8;
  puts(f_checked(&r, &t, &i));
  _mlir_ciface_f(&r, &t, &i);
  printf("%ld %ld %ld\n", (long)r.told[0], (long)r.told[1], (long)r.told[2]);
"""


@pytest.mark.parametrize(("size", "call"), [("4", STATIC), ("?", DYNAMIC)])
def test_c_is_told(tmp_path, size, call):
    text = body(CAST, PLAIN, ints=f"{size}xi64", outs=f"{size}xf32")
    if size != "?":
        text = text.replace("tensor.empty(%n)", "tensor.empty()")
    signature = SIGNATURE.replace("?", size)
    kernel = compile_text(text, signature, threads=1)
    kernel.save(tmp_path / "f.so")
    (tmp_path / "f.h").write_text(kernel.header())
    (tmp_path / "main.c").write_text(PROGRAM.replace("CALL", call))
    program = str(tmp_path / "main")
    command = ["clang-22", "-Wall", "-Werror", "-o", program, str(tmp_path / "main.c"), str(tmp_path / "f.so")]
    subprocess.run([*command, f"-Wl,-rpath,{tmp_path}"], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    assert said[0] == "1 9"
    assert "@f: tensor.extract in line" in said[1] and said[1].endswith("expected an index within dimension 0")
    assert said[2] == "1 -8 10"
    assert "// told 1: tensor.extract in line" in kernel.header()
