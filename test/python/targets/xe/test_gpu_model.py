# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of several kernels (`schedules/gpu_model.mlir`), run on the OpenCL device and compared with NumPy."""

import re

import ml_dtypes
import numpy as np
import pytest
import xetile
from gpu_programs import BOTH, COLUMN, EXP, ROW, function, generic, tensor
from xetile.errors import XeTileError
from xetile.mlir import ir

CHIPS = ("pvc", "bmg")


def parse(text):
    with ir.Context(), ir.Location.unknown():
        return ir.Module.parse(text)


def kernels_of(kernel):
    return len(re.findall("gpu.launch_func", kernel.stages["1-xetile-workgroup"]))


def random(shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def call(kernel, arrays, *results):
    """Results start as what would be seen."""
    out = tuple(np.frombuffer(b"\xa5" * r.nbytes, r.dtype).reshape(r.shape).copy() for r in results)
    kernel(*arrays, out=out if len(out) > 1 else out[0])
    return out


def matmul(result, a, b, shape, dtype="f16"):
    (m, k), n = shape[0], shape[1]
    c = tensor((m, n), "f32")
    return (
        f"{result}_z = arith.constant 0.0 : f32\n{result}_e = tensor.empty() : {c}\n"
        f"{result}_i = linalg.fill ins({result}_z : f32) outs({result}_e : {c}) -> {c}\n"
        f"{result} = linalg.matmul ins({a}, {b} : {tensor((m, k), dtype)}, {tensor((k, n), dtype)}) "
        f"outs({result}_i : {c}) -> {c}\n"
    )


def softmax_of(result, value, shape):
    kind = tensor(shape, "f32")
    return (
        f"{result}_e = tensor.empty() : {kind}\n"
        f"{result} = linalg.softmax dimension(1) ins({value} : {kind}) outs({result}_e : {kind}) -> {kind}\n"
    )


RELU = (
    "%z = arith.constant 0.0 : f32\n%1 = arith.maximumf %a0, %z : f32\n%2 = arith.truncf %1 : f32 to f16\n"
    "linalg.yield %2 : f16\n"
)
NARROW = {"f16": (np.float16, 2e-3), "bf16": (ml_dtypes.bfloat16, 2e-2)}


def mlp(dtype, m=37, k=40, n=72, p=33):
    """softmax(relu(x w) v), relu's result of the narrow type."""
    kinds = [tensor(shape, dtype) for shape in ((m, k), (k, n), (n, p))]
    return function(
        list(zip(("%x", "%w", "%v"), kinds, strict=True)),
        [("%y", tensor((m, p), "f32"))],
        matmul("%h", "%x", "%w", ((m, k), n), dtype)
        + generic("%r", [("%h", tensor((m, n), "f32"))], (m, n), dtype, [BOTH, BOTH], "pp", RELU.replace("f16", dtype))
        + matmul("%g", "%r", "%v", ((m, n), p), dtype)
        + softmax_of("%y", "%g", (m, p)),
    )


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("dtype", NARROW)
def test_matmuls_take_what_follows_and_a_softmax_of_short_rows(compile_kernel, dtype, target):
    kernel = compile_kernel(parse(mlp(dtype)), target=target)
    assert kernel.schedule.name == "gpu_model"
    assert kernels_of(kernel) == 2
    scalar, error = NARROW[dtype]
    x, w, v = (random(s, scalar, i) for i, s in enumerate(((37, 40), (40, 72), (72, 33))))
    (y,) = call(kernel, (x, w, v), np.empty((37, 33), np.float32))
    hidden = np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0).astype(scalar).astype(np.float64)
    scores = hidden @ v.astype(np.float64)
    e = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=error * 20, atol=error)


@pytest.mark.parametrize("target", CHIPS)
def test_reductions_of_one_element_are_part_of_the_chain(compile_kernel, target):
    """y = x + logsumexp of the sums of its rows, of which each row has one."""
    m, n = 37, 70
    kind, column, line = tensor((m, n), "f32"), tensor((m, 1), "f32"), tensor((m,), "f32")
    one = "(m, n) -> (m, 0)"
    plus = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    most = "%1 = arith.maximumf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    power = "%1 = arith.subf %a0, %a1 : f32\n%2 = math.exp %1 : f32\nlinalg.yield %2 : f32\n"
    log = "%1 = math.log %a0 : f32\n%2 = arith.addf %1, %a1 : f32\nlinalg.yield %2 : f32\n"
    text = function(
        [("%x", kind)],
        [("%y", kind)],
        generic("%s", [("%x", kind)], (m, 1), "f32", [BOTH, one], "pr", plus, "0.0")
        + generic("%t", [("%s", column)], (m,), "f32", [BOTH, COLUMN], "pr", most, "0xFF800000")
        + generic("%e", [("%s", column), ("%t", line)], (m, 1), "f32", [BOTH, COLUMN, BOTH], "pp", power)
        + generic("%l", [("%e", column)], (m,), "f32", [BOTH, COLUMN], "pr", plus, "0.0")
        + generic("%z", [("%l", line), ("%t", line)], (m,), "f32", ["(m) -> (m)"] * 3, "p", log)
        + generic(
            "%y", [("%x", kind), ("%z", line)], (m, n), "f32", [BOTH, COLUMN, BOTH], "pp",
            "%1 = arith.addf %a0, %a1 : f32\nlinalg.yield %1 : f32\n",
        ),
    )  # fmt: skip
    kernel = compile_kernel(parse(text), schedule="gpu_model", target=target)
    assert kernels_of(kernel) == 1
    x = random((m, n))
    x[3, 4], x[7, 0], x[9] = np.nan, np.inf, -0.0
    (y,) = call(kernel, (x,), np.empty((m, n), np.float32))
    with np.errstate(all="ignore"):
        sums = x.astype(np.float64).sum(1, keepdims=True)
        # As a logsumexp of one infinity, whose difference from itself is NaN.
        expected = x + np.log(np.exp(sums - sums)) + sums
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", CHIPS)
def test_cheap_ops_of_few_elements_are_no_kernels(compile_kernel, target):
    """Which of some numbers are 7: a row for each, and how many there are."""
    m, n = 19, 40
    numbers, bits, rows = tensor((m,), "i64"), tensor((m,), "i1"), tensor((m, n), "f32")
    line = "(m) -> (m)"
    text = function(
        [("%i", numbers), ("%x", rows)],
        [("%y", rows), ("%c", "tensor<i64>")],
        generic(
            "%b", [("%i", numbers)], (m,), "i1", [line, line], "p",
            "%seven = arith.constant 7 : i64\n%1 = arith.cmpi eq, %a0, %seven : i64\nlinalg.yield %1 : i1\n",
        )
        + generic(
            "%y", [("%x", rows), ("%b", bits)], (m, n), "f32", [BOTH, COLUMN, BOTH], "pp",
            "%z = arith.constant 0.0 : f32\n%1 = arith.select %a1, %a0, %z : f32\nlinalg.yield %1 : f32\n",
        )
        + generic(
            "%c", [("%b", bits)], (), "i64", [line, "(m) -> ()"], "r",
            "%1 = arith.extui %a0 : i1 to i64\n%2 = arith.addi %1, %o : i64\nlinalg.yield %2 : i64\n", "0",
        ),
    )  # fmt: skip
    kernel = compile_kernel(parse(text), schedule="gpu_model", target=target)
    assert kernels_of(kernel) == 2
    i, x = np.random.default_rng(3).integers(6, 9, m), random((m, n))
    x[:, 5] = np.nan
    y, c = call(kernel, (i, x), np.empty((m, n), np.float32), np.empty((), np.int64))
    np.testing.assert_array_equal(y, np.where(i[:, None] == 7, x, 0))
    assert c == (i == 7).sum()


def test_what_one_kernel_writes_for_the_next_stays_on_the_device(compile_kernel):
    """Three arguments and the result are copied, each once."""
    copies = compile_kernel(parse(mlp("f16")), target="pvc").stages["5-xevm"]
    # Three arguments there, the result back: what the caller passes for it has no contents.
    assert len(re.findall(r"gpu\.memcpy", copies)) == 4
    assert len(re.findall(r"gpu\.alloc ", copies)) == len(re.findall(r"gpu\.dealloc ", copies)) == 1
    assert len(re.findall(r"gpu\.launch_func", copies)) == 2


def test_a_tensor_that_several_kernels_read_stays_as_it_is(compile_kernel):
    """h is read by a second matmul, a softmax and the caller."""
    m, k, n = 21, 32, 48
    f32 = tensor((m, n), "f32")
    text = function(
        [("%x", tensor((m, k), "f16")), ("%w", tensor((k, n), "f16"))],
        [("%h", f32), ("%s", f32), ("%d", tensor((m,), "f32"))],
        matmul("%h", "%x", "%w", ((m, k), n))
        + softmax_of("%s", "%h", (m, n))
        + generic(
            "%d", [("%h", f32), ("%s", f32)], (m,), "f32", [BOTH, BOTH, COLUMN], "pr",
            "%1 = arith.mulf %a0, %a1 : f32\n%2 = arith.addf %1, %o : f32\nlinalg.yield %2 : f32\n", "0.0",
        ),
    )  # fmt: skip
    kernel = compile_kernel(parse(text), target="pvc")
    x, w = random((m, k), np.float16), random((k, n), np.float16, 1)
    h, s, d = call(kernel, (x, w), *(np.empty(shape, np.float32) for shape in ((m, n), (m, n), (m,))))
    reference = x.astype(np.float64) @ w.astype(np.float64)
    np.testing.assert_allclose(h, reference, rtol=1e-5, atol=1e-5)
    e = np.exp(reference - reference.max(1, keepdims=True))
    np.testing.assert_allclose(s, e / e.sum(1, keepdims=True), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(d, (reference * e / e.sum(1, keepdims=True)).sum(1), rtol=1e-4, atol=1e-4)


def test_results_of_different_shapes_are_several_kernels(compile_kernel):
    kind = tensor((9, 50), "f32")
    total = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    text = function(
        [("%x", kind)],
        [("%s", tensor((9,), "f32")), ("%t", tensor((50,), "f32")), ("%e", kind)],
        generic("%e", [("%x", kind)], (9, 50), "f32", [BOTH, BOTH], "pp", EXP)
        + generic("%s", [("%e", kind)], (9,), "f32", [BOTH, COLUMN], "pr", total, "0.0")
        + generic("%t", [("%e", kind)], (50,), "f32", [BOTH, ROW], "rp", total, "0.0"),
    )
    kernel = compile_kernel(parse(text), target="pvc")
    assert kernels_of(kernel) == 3
    x = random((9, 50))
    s, t, e = call(kernel, (x,), *(np.empty(shape, np.float32) for shape in ((9,), (50,), (9, 50))))
    reference = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(e, reference, rtol=1e-6)
    np.testing.assert_allclose(s, reference.sum(1), rtol=1e-5)
    np.testing.assert_allclose(t, reference.sum(0), rtol=1e-5)


def test_a_mask_goes_from_one_kernel_to_two_others_as_bytes(compile_kernel):
    kind, bits = tensor((9, 50), "f32"), tensor((9, 50), "i1")
    larger = "%z = arith.constant 0.5 : f32\n%1 = arith.cmpf ogt, %a0, %z : f32\nlinalg.yield %1 : i1\n"
    count = "%1 = arith.extui %a0 : i1 to i32\n%2 = arith.addi %1, %o : i32\nlinalg.yield %2 : i32\n"
    text = function(
        [("%x", kind)],
        [("%s", tensor((9,), "i32")), ("%t", tensor((50,), "i32"))],
        generic("%m", [("%x", kind)], (9, 50), "i1", [BOTH, BOTH], "pp", larger)
        + generic("%s", [("%m", bits)], (9,), "i32", [BOTH, COLUMN], "pr", count, "0")
        + generic("%t", [("%m", bits)], (50,), "i32", [BOTH, ROW], "rp", count, "0"),
    )
    kernel = compile_kernel(parse(text), target="pvc")
    x = random((9, 50))
    s, t = call(kernel, (x,), np.empty(9, np.int32), np.empty(50, np.int32))
    np.testing.assert_array_equal(s, (x > 0.5).sum(1))
    np.testing.assert_array_equal(t, (x > 0.5).sum(0))


def test_nan_and_infinities_go_through_all_kernels(compile_kernel):
    kernel = compile_kernel(parse(mlp("f16")), target="pvc")
    x, w, v = (random(s, np.float16, i) for i, s in enumerate(((37, 40), (40, 72), (72, 33))))
    x[3, 5], x[7, 0] = np.nan, np.inf
    (y,) = call(kernel, (x, w, v), np.empty((37, 33), np.float32))
    rest = np.delete(np.arange(37), [3, 7])
    assert np.isnan(y[3]).all() and np.isnan(y[7]).all()
    assert np.isfinite(y[rest]).all()


def test_kernels_of_a_program_are_saved_reported_and_loaded_together(tmp_path):
    kernel = xetile.compile(parse(mlp("f16")), target="pvc", native="off")
    kernel.save(tmp_path / "mlp.so")
    x, w, v = (random(s, np.float16, i) for i, s in enumerate(((37, 40), (40, 72), (72, 33))))
    loaded = xetile.load(tmp_path / "mlp.so")
    np.testing.assert_array_equal(loaded(x, w, v), kernel(x, w, v))


def test_two_kernels_become_one_by_hand(compile_kernel):
    """exp's two readers, of other sizes, are kernels; with one number all three are one, with results of one shape."""
    kind = tensor((9, 50), "f32")
    low = "%1 = arith.minimumf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    text = function(
        [("%x", kind)],
        [("%s", tensor((9,), "f32")), ("%t", tensor((9,), "f32"))],
        generic("%e", [("%x", kind)], (9, 50), "f32", [BOTH, BOTH], "pp", EXP)
        + generic("%s", [("%e", kind)], (9,), "f32", [BOTH, COLUMN], "pr", low.replace("minimumf", "addf"), "0.0")
        + f"%f = tensor.extract_slice %e[0, 10] [9, 40] [1, 1] : {kind} to {tensor((9, 40), 'f32')}\n"
        + generic("%t", [("%f", tensor((9, 40), "f32"))], (9,), "f32", [BOTH, COLUMN], "pr", low, "0x7F800000"),
    )
    apart = compile_kernel(parse(text), target="pvc")
    assert kernels_of(apart) == 3
    numbered = re.sub(
        r"(outs\(%\w+ : tensor<9[x0-9]*xf32>\)) \{\n",
        r'\1 attrs = {xetile.kernel = 0, xetile.schedule = "rows"} {\n',
        text,
    )
    merged = compile_kernel(parse(numbered), schedule="gpu_model", target="pvc")
    assert kernels_of(merged) == 1
    x = random((9, 50))
    for kernel in (apart, merged):
        s, t = call(kernel, (x,), np.empty(9, np.float32), np.empty(9, np.float32))
        np.testing.assert_allclose(s, np.exp(x.astype(np.float64)).sum(1), rtol=1e-5)
        np.testing.assert_allclose(t, np.exp(x.astype(np.float64))[:, 10:].min(1), rtol=1e-6)


def test_a_schedule_that_leaves_an_op_alone_lists_it(tmp_path, compile_kernel):
    """A copy of gpu_model.mlir without assign_kernels: the payload's own numbers are all that there is."""
    text = (xetile.schedule._SCHEDULES / "gpu_model.mlir").read_text()
    left = "    transform.xetile.assign_kernels %fused chip = %target : !transform.any_op, !transform.any_param\n"
    assert left in text
    (tmp_path / "mine.mlir").write_text(text.replace(left, ""))
    with pytest.raises(XeTileError, match="expected the number of a kernel") as caught:
        compile_kernel(parse(mlp("f16")), schedule=tmp_path / "mine.mlir", target="pvc")
    assert "linalg.matmul is in no kernel" in str(caught.value)


SUM = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
SQUARES = "%1 = arith.mulf %a0, %a0 : f32\n%2 = arith.addf %1, %o : f32\nlinalg.yield %2 : f32\n"
TWICE = "%1 = arith.addf %a0, %a0 : f32\nlinalg.yield %1 : f32\n"


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("shape", [(37, 45), (1, 300), (64, 1)])
def test_kernels_beside_each_other_are_one_and_right(compile_kernel, shape, target):
    """Sums of rows and of squares are a kernel, two chains another one, and nothing else."""
    kind, line = tensor(shape, "f32"), tensor(shape[:1], "f32")
    text = function(
        [("%x", kind), ("%z", kind)],
        [("%s", line), ("%t", line), ("%a", kind), ("%b", kind)],
        generic("%s", [("%x", kind)], shape[:1], "f32", [BOTH, COLUMN], "pr", SUM, "0.0")
        + generic("%t", [("%x", kind)], shape[:1], "f32", [BOTH, COLUMN], "pr", SQUARES, "0.0")
        + generic("%a", [("%x", kind)], shape, "f32", [BOTH, BOTH], "pp", EXP)
        + generic("%b", [("%z", kind)], shape, "f32", [BOTH, BOTH], "pp", TWICE),
    )
    kernel = compile_kernel(parse(text), target=target)
    assert kernels_of(kernel) == 2
    x, z = random(shape), random(shape, seed=1)
    wide = x.astype(np.float64)
    expected = wide.sum(1), (wide**2).sum(1), np.exp(wide), 2.0 * z
    for got, right in zip(call(kernel, (x, z), *(each.astype(np.float32) for each in expected)), expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=2e-6, atol=2e-6 * np.abs(wide).sum(1).max())


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize(("count", "kernels"), [(13, 1), (40, 3)])
def test_concatenations_of_many_tensors_are_several_kernels(compile_kernel, count, kernels, target):
    """A kernel takes 255 arguments: forty tensors of four dimensions would be 440."""
    widths = [1 + number % 3 for number in range(count)]
    kinds = [tensor((2, 3, width, 2), "f32") for width in widths]
    whole = tensor((2, 3, sum(widths), 2), "f32")
    names = [f"%x{number}" for number in range(count)]
    text = function(
        list(zip(names, kinds, strict=True)),
        [("%y", whole)],
        f"%y = tensor.concat dim(2) {', '.join(names)} : ({', '.join(kinds)}) -> {whole}\n",
    )
    kernel = compile_kernel(parse(text), schedule="gpu_model", target=target)
    assert kernels_of(kernel) == kernels
    arrays = [random((2, 3, width, 2), seed=number) for number, width in enumerate(widths)]
    expected = np.concatenate(arrays, 2)
    (y,) = call(kernel, arrays, expected)
    np.testing.assert_array_equal(y, expected)


def test_chains_that_read_many_tensors_are_several_kernels(compile_kernel):
    """Sums of thirty arrays of four dimensions."""
    count, shape = 30, (2, 3, 4, 5)
    kind = tensor(shape, "f32")
    maps = ["(a, b, c, d) -> (a, b, c, d)"] * 3
    plus = "%1 = arith.addf %a0, %a1 : f32\nlinalg.yield %1 : f32\n"
    body = "".join(
        generic(
            f"%s{i}", [("%x0" if i == 1 else f"%s{i - 1}", kind), (f"%x{i}", kind)], shape, "f32", maps, "pppp", plus
        )
        for i in range(1, count)
    )
    text = function([(f"%x{i}", kind) for i in range(count)], [(f"%s{count - 1}", kind)], body)
    kernel = compile_kernel(parse(text), schedule="gpu_model", target="pvc")
    assert kernels_of(kernel) == 2
    arrays = [random(shape, seed=i) for i in range(count)]
    expected = arrays[0]
    for array in arrays[1:]:
        expected = expected + array
    (y,) = call(kernel, arrays, expected)
    np.testing.assert_array_equal(y, expected)


def test_results_are_back_before_the_memory_of_the_device_goes(compile_kernel):
    """Both are copied from the inside of one allocation, which is freed right behind."""
    shape = (37, 45)
    kind = tensor(shape, "f32")
    text = function(
        [("%x", kind), ("%z", kind)],
        [("%a", kind), ("%b", kind)],
        generic("%a", [("%x", kind)], shape, "f32", [BOTH, BOTH], "pp", EXP)
        + generic("%b", [("%z", kind)], shape, "f32", [BOTH, BOTH], "pp", TWICE),
    )
    kernel = compile_kernel(parse(text), target="pvc")
    x, z = random(shape), random(shape, seed=1)
    others = []
    for number in range(4000):
        # Memory that moves about finds what nobody waited for.
        others = [*others[-20:], np.empty(1 + number * 7919 % 200000, np.uint8)]
        a, b = kernel(x, z)
        np.testing.assert_array_equal(b, z + z)
        np.testing.assert_allclose(a, np.exp(x), rtol=1e-5)


def test_small_kernels_are_one_as_far_as_arguments_go(compile_kernel):
    """Thirty chains of their own inputs and results would be one kernel of 420 arguments; a function takes 255."""
    kind = tensor((3, 5), "f32")
    inputs, results = [(f"%x{i}", kind) for i in range(30)], [(f"%y{i}", kind) for i in range(30)]
    chains = "".join(generic(f"%y{i}", [inputs[i]], (3, 5), "f32", [BOTH, BOTH], "pp", TWICE) for i in range(30))
    kernel = compile_kernel(parse(function(inputs, results, chains)), target="pvc")
    assert 2 <= kernels_of(kernel) <= 3
    arrays = [random((3, 5), seed=i) for i in range(30)]
    outs = [np.full((3, 5), 77, np.float32) for _ in range(30)]
    for got, x in zip(call(kernel, arrays, *outs), arrays, strict=True):
        np.testing.assert_array_equal(got, 2 * x)


def exponentials(shape):
    kind = tensor(shape, "f32")
    body = generic("%y", [("%x", kind)], shape, "f32", [BOTH, BOTH], "pp", EXP)
    return function([("%x", kind)], [("%y", kind)], body)


@pytest.mark.parametrize("target", CHIPS)
def test_a_program_whose_results_have_no_elements_has_no_kernel(tmp_path, target):
    kernel = xetile.compile(parse(exponentials((3, 0))), target=target, native="off")
    x = np.empty((3, 0), np.float32)
    assert kernels_of(kernel) == 0 and kernel(x).shape == (3, 0)
    assert dict(kernel.binaries) == {} and "no kernels" in kernel.report()
    with pytest.raises(XeTileError, match="has no SPIR-V; its binaries: none"):
        _ = kernel.spirv
    kernel.save(tmp_path / "nothing.so")
    loaded = xetile.load(tmp_path / "nothing.so")
    assert loaded(x).shape == (3, 0) and "spirv" not in loaded.binaries


def test_the_command_line_tells_of_a_program_without_a_kernel(tmp_path, capfd):
    from xetile.cli import main

    (tmp_path / "nothing.mlir").write_text(exponentials((0, 5)))
    compiled = ["compile", str(tmp_path / "nothing.mlir"), "--target", "pvc", "-o"]
    assert main([*compiled, str(tmp_path / "nothing.spv")]) != 0
    assert "has no kernel, as its results have no elements" in capfd.readouterr().err
    assert main([*compiled, str(tmp_path / "nothing.so")]) == 0


def test_what_has_elements_is_computed_beside_what_has_none(compile_kernel):
    """Sums of nothing are what they start from; a kernel writes them."""
    kind, line = tensor((4, 0), "f32"), tensor((4,), "f32")
    total = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    body = generic("%s", [("%x", kind)], (4,), "f32", [BOTH, COLUMN], "pr", total, "2.0")
    body += generic("%y", [("%x", kind)], (4, 0), "f32", [BOTH, BOTH], "pp", EXP)
    kernel = compile_kernel(parse(function([("%x", kind)], [("%s", line), ("%y", kind)], body)), target="pvc")
    x = np.empty((4, 0), np.float32)
    sums, powers = call(kernel, [x], np.empty(4, np.float32), x)
    np.testing.assert_array_equal(sums, np.full(4, 2, np.float32))
    assert powers.shape == (4, 0)
