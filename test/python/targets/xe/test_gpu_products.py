# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that tiles of the matrix unit do not take as they are, and what follows on products: against NumPy."""

import numpy as np
import pytest
import xetile
from xetile.mlir import ir


def run(text, *arrays, **options):
    with ir.Context(), ir.Location.unknown():
        kernel = xetile.compile(ir.Module.parse(text), native="off", **{"target": "pvc", **options})
    return kernel(*arrays)


def zero(name, kind, number="0.0"):
    element = kind.rstrip(">").rpartition("x")[2]
    return (
        f"%{name}n = arith.constant {number} : {element}\n%{name}e = tensor.empty() : {kind}\n"
        f"%{name} = linalg.fill ins(%{name}n : {element}) outs(%{name}e : {kind}) -> {kind}\n"
    )


def product(sizes, inputs, dtype="f16", *, operands=("%a", "%b"), head=""):
    """c[b, m, n], summed over k of 5, of `inputs` by their dimensions as "bmk"."""
    every = "bmnk"
    names = [name for name in every if any(name in each for each in inputs)]
    maps = [f"affine_map<({', '.join(names)}) -> ({', '.join(each)})>" for each in (*inputs, "bmn")]
    kinds = [f"tensor<{'x'.join(str(sizes[name]) for name in each)}x{dtype}>" for each in inputs]
    result = f"tensor<{'x'.join(str(sizes[name]) for name in 'bmn')}xf32>"
    loops = ", ".join(f'"{"reduction" if name == "k" else "parallel"}"' for name in names)
    body = (
        f"%p = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{loops}]}}\n"
        f"    ins({', '.join(operands)} : {', '.join(kinds)}) outs(%z : {result}) {{\n"
        f"^bb0(%x: {dtype}, %y: {dtype}, %s: f32):\n%xw = arith.extf %x : {dtype} to f32\n"
        f"%yw = arith.extf %y : {dtype} to f32\n%m = arith.mulf %xw, %yw : f32\n%r = arith.addf %s, %m : f32\n"
        f"linalg.yield %r : f32\n}} -> {result}\n"
    )
    return head + zero("z", result) + body, kinds, result


@pytest.mark.one_in(5)
@pytest.mark.parametrize("target", ["pvc", "bmg"])
@pytest.mark.parametrize(
    "order", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=lambda order: "".join(map(str, order))
)
@pytest.mark.parametrize("sizes", [(2, 2, 2, 1), (3, 20, 37, 5)], ids=lambda sizes: "x".join(map(str, sizes)))
def test_products_of_a_batch_are_written_in_any_order(sizes, order, target):
    """With the batch innermost, no tile of rows and columns is contiguous."""
    b, m, n, k = sizes
    body, kinds, result = product(dict(zip("bmnk", sizes, strict=True)), ("bmk", "bkn"))
    shape = [(b, m, n)[dim] for dim in order]
    moved = f"tensor<{'x'.join(map(str, shape))}xf32>"
    text = f"""func.func @f(%a: {kinds[0]}, %b: {kinds[1]}, %o: {moved}) -> {moved} {{
{body}
%e = tensor.empty() : {moved}
%t = linalg.transpose ins(%p : {result}) outs(%e : {moved}) permutation = [{", ".join(map(str, order))}]
%q = linalg.add ins(%t, %o : {moved}, {moved}) outs(%e : {moved}) -> {moved}
return %q : {moved}
}}
"""
    rng = np.random.default_rng(sum(sizes))
    left, right = (rng.standard_normal(each).astype(np.float16) for each in ((b, m, k), (b, k, n)))
    other = rng.standard_normal(shape).astype(np.float32)
    expected = (left.astype(np.float64) @ right.astype(np.float64)).transpose(order) + other
    assert np.abs(run(text, left, right, other, target=target) - expected).max() < 1e-4


@pytest.mark.parametrize("number", ["0.0", "1.5"])
@pytest.mark.parametrize("how", ["fill", "computed", "slice"])
def test_one_factor_may_be_a_number(how, number):
    sizes = dict(zip("bmnk", (3, 20, 37, 5), strict=True))
    kind = "tensor<3x20x5xf16>"
    head = zero("c", kind, number)
    if how == "computed":
        head = head.replace("%c = ", "%c0 = ") + (
            f"%ce2 = tensor.empty() : {kind}\n"
            f"%c = linalg.add ins(%c0, %c0 : {kind}, {kind}) outs(%ce2 : {kind}) -> {kind}\n"
        )
    elif how == "slice":
        head = zero("c0", "tensor<6x20x9xf16>", number) + (
            f"%c = tensor.extract_slice %c0[1, 0, 2] [3, 20, 5] [1, 1, 1] : tensor<6x20x9xf16> to {kind}\n"
        )
    body, kinds, result = product(sizes, ("bmk", "bkn"), operands=("%c", "%b"), head=head)
    right = np.random.default_rng(7).standard_normal((3, 5, 37)).astype(np.float16)
    factor = float(number) * (2 if how == "computed" else 1)
    expected = np.broadcast_to(factor * right.astype(np.float64).sum(1, keepdims=True), (3, 20, 37))
    got = run(f"func.func @f(%b: {kinds[1]}) -> {result} {{\n{body}\nreturn %p : {result}\n}}", right)
    assert np.abs(got - expected).max() < 1e-4


@pytest.mark.parametrize(
    ("source", "offsets", "sizes"), [((65, 1, 65), (0, 0, 50), (65, 1, 1)), ((9, 33), (2, 7), (5, 1))]
)
def test_a_factor_may_be_a_column_of_a_larger_array(source, offsets, sizes):
    """Dropped with the row's other elements, it has no contiguous dimension."""
    rows, columns = sizes[0], 21
    wide = f"tensor<{'x'.join(map(str, source))}xi8>"
    narrow = f"tensor<{rows}x1xi8>"
    places = ", ".join(map(str, offsets)), ", ".join(map(str, sizes)), ", ".join("1" * len(sizes))
    text = f"""func.func @f(%x: {wide}, %b: tensor<{columns}x1xi8>) -> tensor<{rows}x{columns}xi32> {{
{zero("z", f"tensor<{rows}x{columns}xi32>", "0")}
%a = tensor.extract_slice %x[{places[0]}] [{places[1]}] [{places[2]}]
    : {wide} to {narrow}
%p = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
    affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%a, %b : {narrow}, tensor<{columns}x1xi8>) outs(%z : tensor<{rows}x{columns}xi32>) {{
^bb0(%u: i8, %v: i8, %s: i32):
  %uw = arith.extsi %u : i8 to i32
  %vw = arith.extsi %v : i8 to i32
  %m = arith.muli %uw, %vw : i32
  %r = arith.addi %s, %m : i32
  linalg.yield %r : i32
}} -> tensor<{rows}x{columns}xi32>
return %p : tensor<{rows}x{columns}xi32>
}}
"""
    rng = np.random.default_rng(rows)
    x = rng.integers(-100, 100, source, np.int8)
    b = rng.integers(-100, 100, (columns, 1), np.int8)
    taken = x[tuple(slice(start, start + size) for start, size in zip(offsets, sizes, strict=True))].reshape(rows, 1)
    np.testing.assert_array_equal(run(text, x, b), taken.astype(np.int32) @ b.T.astype(np.int32))


def test_a_product_that_nothing_needs_is_not_computed():
    """x - x, where x is computed twice."""
    body, kinds, result = product(dict(zip("bmnk", (1, 20, 37, 5), strict=True)), ("bmk", "bkn"))
    whole = result.replace("f32", "i32")
    text = f"""#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @f(%a: {kinds[0]}, %b: {kinds[1]}) -> {whole} {{
{body}
%e = tensor.empty() : {whole}
%q = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
    ins(%p : {result}) outs(%e : {whole}) {{
^bb0(%x: f32, %o: i32):
  %u = arith.fptosi %x : f32 to i32
  %v = arith.fptosi %x : f32 to i32
  %d = arith.subi %u, %v : i32
  linalg.yield %d : i32
}} -> {whole}
return %q : {whole}
}}
"""
    left, right = (np.ones(shape, np.float16) for shape in ((1, 20, 5), (1, 5, 37)))
    np.testing.assert_array_equal(run(text, left, right), np.zeros((1, 20, 37), np.int32))


@pytest.mark.parametrize("kind", ["sum", "softmax", "scan"])
def test_what_was_reduced_may_be_seen_with_fewer_dimensions(kind):
    x = np.random.default_rng(5).standard_normal((3, 7, 5)).astype(np.float32)
    wide, narrow, flat = "tensor<3x7x5xf32>", "tensor<3x7x5xf32>", "tensor<21x5xf32>"
    groups = "[[0, 1], [2]]"
    if kind == "sum":
        narrow, flat, groups = "tensor<3x7xf32>", "tensor<21xf32>", "[[0, 1]]"
        op = f"linalg.reduce {{ arith.addf }} ins(%x : {wide}) outs(%z : {narrow}) dimensions = [2]\n"
        expected = x.astype(np.float64).sum(2).reshape(21)
    elif kind == "softmax":
        op = f"linalg.softmax dimension(2) ins(%x : {wide}) outs(%z : {narrow}) -> {narrow}\n"
        powers = np.exp(x.astype(np.float64))
        expected = (powers / powers.sum(2, keepdims=True)).reshape(21, 5)
    else:
        op = (
            "linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, "
            "affine_map<(b, i, j, k) -> (b, i, j)>],"
            '    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}'
            f" ins(%x : {wide}) outs(%z : {narrow}) {{\n^bb0(%a: f32, %o: f32):\n"
            "%j = linalg.index 2 : index\n%k = linalg.index 3 : index\n%in = arith.cmpi ule, %k, %j : index\n"
            "%n = arith.constant 0.0 : f32\n%v = arith.select %in, %a, %n : f32\n%r = arith.addf %o, %v : f32\n"
            f"linalg.yield %r : f32\n}} -> {narrow}\n"
        )
        expected = x.astype(np.float64).cumsum(2).reshape(21, 5)
    text = f"""func.func @f(%x: {wide}) -> {flat} {{
{zero("z", narrow)}
%y = {op}
%c = tensor.collapse_shape %y {groups} : {narrow} into {flat}
return %c : {flat}
}}
"""
    assert np.abs(run(text, x) - expected).max() < 1e-5
