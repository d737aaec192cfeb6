# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements that kernels read by indices of any form, tensors without dimensions, and what is returned as it is."""

import numpy as np
import pytest
import xetile
from gpu_programs import BOTH, function, generic, tensor
from xetile.mlir import ir


@pytest.fixture
def run(compile_kernel):
    """Compiles the text of a program as users do and calls it; results start as what would be seen."""

    def run_(text, arrays, expected, target="pvc"):
        with ir.Context(), ir.Location.unknown():
            kernel = compile_kernel(ir.Module.parse(text), target=target, native="off")
        out = tuple(np.frombuffer(b"\xa5" * e.nbytes, e.dtype).reshape(e.shape).copy() for e in expected)
        kernel(*arrays, out=out if len(out) > 1 else out[0])
        for got, right in zip(out, expected, strict=True):
            np.testing.assert_array_equal(got, right)

    return run_


TWICE = "%1 = arith.addf %a0, %a0 : f32\nlinalg.yield %1 : f32\n"


def extraction(kind, result, element, index):
    """Elements of %t at indices that an op's body computes."""
    return (
        f"%y_e = tensor.empty() : {result}\n"
        f'%y = linalg.generic {{indexing_maps = [affine_map<(m) -> (m)>], iterator_types = ["parallel"]}} '
        f"outs(%y_e : {result}) {{\n^bb0(%o: {element}):\n%m = linalg.index 0 : index\n{index}"
        f"%v = tensor.extract %t[%i] : {kind}\nlinalg.yield %v : {element}\n}} -> {result}\n"
    )


REVERSED = "%n = arith.constant 39 : index\n%i = arith.subi %n, %m : index\n"


@pytest.mark.parametrize("form", ["computed", "sliced", "expanded", "collapsed", "constant", "cast"])
def test_what_is_read_by_indices_may_be_computed(run, rng, form):
    x = rng.standard_normal((5, 8, 3)).astype(np.float32)
    flat = "tensor<40xf32>"
    if form == "computed":
        body, t = generic("%t", [("%x", flat)], (40,), "f32", ["(m) -> (m)", "(m) -> (m)"], "p", TWICE), None
        array, t = x[:, :, 0].reshape(40), x[:, :, 0].reshape(40) * 2
    elif form == "sliced":
        body = f"%t = tensor.extract_slice %x[3, 1] [40, 1] [2, 1] : tensor<90x3xf32> to {flat}\n"
        array = rng.standard_normal((90, 3)).astype(np.float32)
        t = array[3:83:2, 1]
    elif form == "expanded":
        body = f"%e = tensor.expand_shape %x [[0, 1]] output_shape [40, 1] : {flat} into tensor<40x1xf32>\n"
        body += generic("%d", [("%e", "tensor<40x1xf32>")], (40, 1), "f32", [BOTH, BOTH], "pp", TWICE)
        body += f"%t = tensor.collapse_shape %d [[0, 1]] : tensor<40x1xf32> into {flat}\n"
        array, t = x[:, :, 0].reshape(40), x[:, :, 0].reshape(40) * 2
    elif form == "collapsed":
        body = generic("%d", [("%x", "tensor<5x8xf32>")], (5, 8), "f32", [BOTH, BOTH], "pp", TWICE)
        body += f"%t = tensor.collapse_shape %d [[0, 1]] : tensor<5x8xf32> into {flat}\n"
        array, t = np.ascontiguousarray(x[:, :, 0]), x[:, :, 0].reshape(40) * 2
    elif form == "constant":
        body, array, t = (
            f"%t = arith.constant dense<7.0> : {flat}\n",
            x[:, :, 0].reshape(40),
            np.full(40, 7, np.float32),
        )
    else:
        body = "%c = arith.truncf %x : tensor<40xf32> to tensor<40xf16>\n"
        body += f"%t = arith.extf %c : tensor<40xf16> to {flat}\n"
        array = x[:, :, 0].reshape(40)
        t = array.astype(np.float16).astype(np.float32)
    array = np.ascontiguousarray(array)
    text = function(
        [("%x", tensor(array.shape, "f32"))], [("%y", flat)], body + extraction(flat, flat, "f32", REVERSED)
    )
    run(text, [array], [t[::-1].copy()])


def test_booleans_are_read_by_indices(run, rng):
    bits = rng.integers(2, size=40).astype(bool)
    kind = "tensor<40xi1>"
    text = function([("%t", kind)], [("%y", kind)], extraction(kind, kind, "i1", REVERSED))
    run(text, [bits], [bits[::-1].copy()])


@pytest.mark.parametrize("form", ["computed", "constant", "boolean"])
def test_what_is_inserted_with_steps_may_be_computed(run, rng, form):
    dtype, element = (bool, "i1") if form == "boolean" else (np.float32, "f32")
    x = rng.integers(0, 2, (4, 5)).astype(dtype)
    small, large = tensor((4, 5), element), tensor((9, 10), element)
    body = {
        "computed": f"%s = arith.addf %x, %x : {small}\n",
        "constant": f"%s = arith.constant dense<3.0> : {small}\n",
        "boolean": f"%s = arith.xori %x, %x : {small}\n",
    }[form]
    zero = "false" if element == "i1" else "0.0 : f32"
    body += f"%z = arith.constant {zero}\n%e = tensor.empty() : {large}\n"
    body += f"%f = linalg.fill ins(%z : {element}) outs(%e : {large}) -> {large}\n"
    body += f"%y = tensor.insert_slice %s into %f[1, 0] [4, 5] [2, 2] : {small} into {large}\n"
    expected = np.zeros((9, 10), dtype)
    expected[1::2, ::2] = {"computed": x.astype(np.float32) * 2, "constant": 3.0, "boolean": False}[form]
    run(function([("%x", small)], [("%y", large)], body), [x], [expected])


def test_what_broadcasts_is_collapsed_by_quotients(run, rng):
    """As torch.kron of booleans: no operand has the shape of what is collapsed."""
    a, c = rng.integers(2, size=(5, 6)).astype(bool), rng.integers(2, size=(7, 4)).astype(bool)
    maps = ["(a, b, c, d) -> (a, c)", "(a, b, c, d) -> (b, d)", "(a, b, c, d) -> (a, b, c, d)"]
    inputs = [("%a", tensor(a.shape, "i1")), ("%c", tensor(c.shape, "i1"))]
    body = generic(
        "%p", inputs, (5, 7, 6, 4), "i1", maps, "pppp", "%1 = arith.andi %a0, %a1 : i1\nlinalg.yield %1 : i1\n"
    )
    body += "%y = tensor.collapse_shape %p [[0, 1], [2, 3]] : tensor<5x7x6x4xi1> into tensor<35x24xi1>\n"
    run(function(inputs, [("%y", "tensor<35x24xi1>")], body), [a, c], [np.kron(a, c)])


@pytest.mark.parametrize("target", ["pvc", "bmg"])
def test_tensors_without_dimensions(run, rng, target):
    """The first and the last element of what is computed, and its sum, as numbers."""
    x = rng.integers(-9, 9, 6).astype(np.float32)
    body = generic("%d", [("%x", "tensor<6xf32>")], (6,), "f32", ["(m) -> (m)", "(m) -> (m)"], "p", TWICE)
    for name, at in (("%f", 0), ("%l", 5)):
        body += f"{name}s = tensor.extract_slice %d[{at}] [1] [1] : tensor<6xf32> to tensor<1xf32>\n"
        body += f"{name} = tensor.collapse_shape {name}s [] : tensor<1xf32> into tensor<f32>\n"
    body += generic(
        "%s",
        [("%d", "tensor<6xf32>")],
        (),
        "f32",
        ["(m) -> (m)", "(m) -> ()"],
        "r",
        "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n",
        "0.0",
    )
    body += "%y = arith.addf %f, %l : tensor<f32>\n%z = arith.subf %s, %y : tensor<f32>\n"
    text = function([("%x", "tensor<6xf32>")], [("%z", "tensor<f32>")], body)
    run(text, [x], [np.array(2 * x[1:-1].sum(), np.float32)], target)


def test_constants_and_arguments_are_returned(run, rng):
    x = rng.standard_normal((4, 5)).astype(np.float32)
    kind = tensor(x.shape, "f32")
    constants = (
        "%c = arith.constant dense<7> : tensor<3x4xi64>\n%b = arith.constant dense<true> : tensor<5xi1>\n"
        "%t = arith.constant dense<[3, 1, 2]> : tensor<3xi32>\n"
    )
    results = [("%c", "tensor<3x4xi64>"), ("%b", "tensor<5xi1>"), ("%t", "tensor<3xi32>")]
    expected = [np.full((3, 4), 7), np.ones(5, bool), np.array([3, 1, 2], np.int32)]
    run(function([("%x", kind)], results, constants), [x], expected)
    reshape = f"%r = tensor.collapse_shape %x [[0, 1]] : {kind} into tensor<20xf32>\n"
    run(function([("%x", kind)], [("%r", "tensor<20xf32>"), ("%x", kind)], reshape), [x], [x.ravel(), x])
    computed = f"%y = arith.addf %x, %x : {kind}\n"
    run(
        function([("%x", kind)], [("%x", kind), ("%y", kind), *results], constants + computed),
        [x],
        [x, 2 * x, *expected],
    )


@pytest.mark.parametrize("length", [1, 40])
def test_powers_of_two_of_integers(run, length):
    x = np.arange(length, dtype=np.int32) - 9
    kind = f"tensor<{length}xi32>"
    text = function(
        [("%x", kind)],
        [("%y", f"tensor<{length}xf32>")],
        f"%f = arith.sitofp %x : {kind} to tensor<{length}xf32>\n%y = math.exp2 %f : tensor<{length}xf32>\n",
    )
    run(text, [x], [np.exp2(x.astype(np.float32))])


@pytest.mark.parametrize("kind", ["maxui", "minui"])
def test_argmax_of_booleans(run, rng, kind):
    bits = rng.integers(2, size=(7, 30)).astype(bool)
    bits[3], bits[4] = True, False
    start, compare = ("false", "ugt") if kind == "maxui" else ("true", "ult")
    text = f"""
      func.func @f(%x: tensor<7x30xi1>) -> tensor<7xi64> {{
        %s = arith.constant {start}
        %z = arith.constant 0 : i64
        %ve = tensor.empty() : tensor<7xi1>
        %v = linalg.fill ins(%s : i1) outs(%ve : tensor<7xi1>) -> tensor<7xi1>
        %ie = tensor.empty() : tensor<7xi64>
        %i = linalg.fill ins(%z : i64) outs(%ie : tensor<7xi64>) -> tensor<7xi64>
        %r:2 = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>,
            affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}}
            ins(%x : tensor<7x30xi1>) outs(%v, %i : tensor<7xi1>, tensor<7xi64>) {{
        ^bb0(%a: i1, %o: i1, %p: i64):
          %n = linalg.index 1 : index
          %c = arith.index_cast %n : index to i64
          %best = arith.{kind} %a, %o : i1
          %better = arith.cmpi {compare}, %a, %o : i1
          %at = arith.select %better, %c, %p : i64
          linalg.yield %best, %at : i1, i64
        }} -> (tensor<7xi1>, tensor<7xi64>)
        return %r#1 : tensor<7xi64>
      }}"""
    run(text, [bits], [bits.argmax(1) if kind == "maxui" else bits.argmin(1)])


def test_numbers_are_folded_and_empty_pieces_dropped(run, rng):
    """As torch-mlir writes arange with a start in f64, and torch.roll by no element."""
    x = rng.standard_normal((5, 6)).astype(np.float32)
    text = """
      #id = affine_map<(m, n) -> (m, n)>
      func.func @f(%x: tensor<5x6xf32>) -> tensor<5x6xf32> {
        %c = arith.constant 2.5 : f64
        %t = arith.truncf %c : f64 to f32
        %nothing = tensor.extract_slice %x[0, 0] [0, 6] [1, 1] : tensor<5x6xf32> to tensor<0x6xf32>
        %whole = tensor.concat dim(0) %x, %nothing : (tensor<5x6xf32>, tensor<0x6xf32>) -> tensor<5x6xf32>
        %e = tensor.empty() : tensor<5x6xf32>
        %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%whole : tensor<5x6xf32>) outs(%e : tensor<5x6xf32>) {
        ^bb0(%a: f32, %o: f32):
          %s = arith.addf %a, %t : f32
          linalg.yield %s : f32
        } -> tensor<5x6xf32>
        return %y : tensor<5x6xf32>
      }"""
    run(text, [x], [x + np.float32(2.5)])


def test_what_reduces_is_not_read_by_indices_in_its_kernel(compile_kernel):
    """A part of the reader's kernel by number, it would be computed for each element."""
    kind = tensor((40, 9), "f32")
    body = generic(
        "%t",
        [("%x", kind)],
        (40,),
        "f32",
        [BOTH, "(m, n) -> (m)"],
        "pr",
        "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n",
        "0.0",
    ) + extraction("tensor<40xf32>", "tensor<40xf32>", "f32", REVERSED)
    text = function([("%x", kind)], [("%y", "tensor<40xf32>")], body)
    with ir.Context(), pytest.raises(xetile.XeTileError, match="read by indices to be in memory"):
        compile_kernel(ir.Module.parse(text), schedule="rows", target="pvc")


def product(a, b, shape, kind="f16"):
    """%p, the product of %a and %b in f32."""
    return (
        f"%z = arith.constant 0.0 : f32\n%e = tensor.empty() : {tensor(shape, 'f32')}\n"
        f"%i = linalg.fill ins(%z : f32) outs(%e : {tensor(shape, 'f32')}) -> {tensor(shape, 'f32')}\n"
        f"%p = linalg.matmul ins({a}, {b} : {tensor((shape[0], 12), kind)}, {tensor((12, shape[1]), kind)}) "
        f"outs(%i : {tensor(shape, 'f32')}) -> {tensor(shape, 'f32')}\n"
    )


def test_a_product_of_what_is_sliced_with_steps(run, rng):
    """No block load takes every other element of a row."""
    x, w = rng.integers(-3, 4, (5, 23)).astype(np.float16), rng.integers(-3, 4, (12, 6)).astype(np.float16)
    body = "%a = tensor.extract_slice %x[0, 0] [5, 12] [1, 2] : tensor<5x23xf16> to tensor<5x12xf16>\n"
    body += product("%a", "%w", (5, 6))
    inputs = [("%x", tensor(x.shape, "f16")), ("%w", tensor(w.shape, "f16"))]
    expected = x[:, ::2].astype(np.float32) @ w.astype(np.float32)
    run(function(inputs, [("%p", "tensor<5x6xf32>")], body), [x, w], [expected])


def test_arithmetic_on_tensors_behind_a_product_and_what_nobody_reads(run, rng):
    a, b = rng.integers(-3, 4, (5, 12)).astype(np.float16), rng.integers(-3, 4, (12, 6)).astype(np.float16)
    c = rng.integers(-9, 9, (5, 6)).astype(np.float32)
    kind = "tensor<5x6xf32>"
    body = product("%a", "%b", (5, 6)) + f"%y = arith.maximumf %p, %c : {kind}\n"
    body += f"%n = arith.mulf %y, %y : {kind}\n"
    body += f"%m = tensor.extract_slice %n[0, 0] [5, 2] [1, 1] : {kind} to tensor<5x2xf32>\n"
    inputs = [("%a", tensor(a.shape, "f16")), ("%b", tensor(b.shape, "f16")), ("%c", kind)]
    expected = np.maximum(a.astype(np.float32) @ b.astype(np.float32), c)
    run(function(inputs, [("%y", kind)], body), [a, b, c], [expected])
