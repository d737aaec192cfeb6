# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls whose rows are reduced behind them: one kernel where a workgroup has whole rows, against NumPy in f64."""

import re

import element_types
import numpy as np
import pytest
import xetile
from gpu_programs import BOTH, COLUMN, ROW, function, generic, tensor
from xetile import report
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile

SCALARS = element_types.scalars("f16", "bf16", "f32")
TARGETS = ("pvc", "bmg", "lnl")
ONE = "(m) -> (m)"
PLUS, MOST = "%r = arith.addf %a0, %o : f32\n", "%r = arith.maximumf %a0, %o : f32\n"
ADD, SUBTRACT, DIVIDE = (f"%r = arith.{name} %a0, %a1 : f32\n" for name in ("addf", "subf", "divf"))
POWER = "%d = arith.subf %a0, %a1 : f32\n%r = math.exp %d : f32\n"
LOG = "%l = math.log %a0 : f32\n%r = arith.addf %l, %a1 : f32\n"


def parse(text):
    with ir.Context(), ir.Location.unknown():
        return ir.Module.parse(text)


def kernels_of(kernel):
    return len(re.findall("gpu.launch_func", kernel.stages["1-xetile-workgroup"]))


def product(m, n, k, dtype, *, right="k, n", batch=(), result="%h", operands=("%x", "%w")):
    """h = x w, of f32; `right` is the order of w's dimensions, which lacks those of `batch`."""
    outer = "b, " if batch else ""
    maps = [f"affine_map<({outer}m, n, k) -> ({each})>" for each in (f"{outer}m, k", right, f"{outer}m, n")]
    c, a = tensor((*batch, m, n), "f32"), tensor((*batch, m, k), dtype)
    b = tensor([{"n": n, "k": k}[each] for each in right.split(", ")], dtype)
    loops = ", ".join(f'"{kind}"' for kind in ["parallel"] * (2 + len(batch)) + ["reduction"])
    widen = "" if dtype == "f32" else "".join(f"%{v}w = arith.extf %{v} : {dtype} to f32\n" for v in "ab")
    wide = "" if dtype == "f32" else "w"
    return (
        f"{result}z = arith.constant 0.0 : f32\n{result}e = tensor.empty() : {c}\n"
        f"{result}i = linalg.fill ins({result}z : f32) outs({result}e : {c}) -> {c}\n"
        f"{result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{loops}]}}\n"
        f"ins({operands[0]}, {operands[1]} : {a}, {b}) outs({result}i : {c}) {{\n"
        f"^bb0(%a: {dtype}, %b: {dtype}, %s: f32):\n{widen}%p = arith.mulf %a{wide}, %b{wide} : f32\n"
        f"%q = arith.addf %s, %p : f32\nlinalg.yield %q : f32\n}} -> {c}\n"
    )


def step(result, inputs, shape, maps, iterators, body, init=None):
    """An op on f32, whose inputs are (name, shape)."""
    named = [(name, tensor(dims, "f32")) for name, dims in inputs]
    return generic(result, named, shape, "f32", maps, iterators, body + "linalg.yield %r : f32\n", init)


def by_rows(result, value, line, shape, body):
    return step(result, [(value, shape), (line, shape[:1])], shape, [BOTH, COLUMN, BOTH], "pp", body)


def reduced(result, value, shape, body, init):
    return step(result, [(value, shape)], shape[:1], [BOTH, COLUMN], "pr", body, init)


def powers(value, shape):
    """%p, the powers of what lies below the maxima %t of rows, and their sums %u."""
    return (
        reduced("%t", value, shape, MOST, "0xFF800000")
        + by_rows("%p", value, "%t", shape, POWER)
        + reduced("%u", "%p", shape, PLUS, "0.0")
    )


def biased(shape):
    return step("%g", [("%h", shape), ("%bias", shape[1:])], shape, [BOTH, ROW, BOTH], "pp", ADD)


def softmax(shape):
    return biased(shape) + powers("%g", shape) + by_rows("%y", "%p", "%u", shape, DIVIDE)


def log_sum_exp(shape):
    return powers("%h", shape) + step("%y", [("%u", shape[:1]), ("%t", shape[:1])], shape[:1], [ONE] * 3, "p", LOG)


def layer_norm(shape):
    n = shape[1]
    mean = f"%n = arith.constant {float(n)} : f32\n%r = arith.divf %a0, %n : f32\n"
    root = f"%n = arith.constant {float(n)} : f32\n%d = arith.divf %a0, %n : f32\n%e = arith.constant 1.0e-5 : f32\n"
    root += "%f = arith.addf %d, %e : f32\n%r = math.rsqrt %f : f32\n"
    square = "%sq = arith.mulf %a0, %a0 : f32\n%r = arith.addf %sq, %o : f32\n"
    return (
        reduced("%s", "%h", shape, PLUS, "0.0")
        + step("%mean", [("%s", shape[:1])], shape[:1], [ONE, ONE], "p", mean)
        + by_rows("%off", "%h", "%mean", shape, SUBTRACT)
        + reduced("%v", "%off", shape, square, "0.0")
        + step("%root", [("%v", shape[:1])], shape[:1], [ONE, ONE], "p", root)
        + by_rows("%even", "%off", "%root", shape, "%r = arith.mulf %a0, %a1 : f32\n")
        + step("%y", [("%even", shape), ("%bias", shape[1:])], shape, [BOTH, ROW, BOTH], "pp", ADD)
    )


def shares(shape):
    return reduced("%s", "%h", shape, PLUS, "0.0") + by_rows("%y", "%h", "%s", shape, DIVIDE)


def scaled_maxima(shape):
    """The maxima of rows, each times a number of its row that is an operand."""
    scale = [("%h", shape), ("%scale", (shape[0], 1))]
    maps = [BOTH, "(m, n) -> (m, 0)", BOTH]
    return step("%g", scale, shape, maps, "pp", "%r = arith.mulf %a0, %a1 : f32\n") + reduced(
        "%y", "%g", shape, MOST, "0xFF800000"
    )


def exponentials(h):
    return np.exp(h - h.max(1, keepdims=True))


def expected_layer_norm(h, bias, _scale):
    return (h - h.mean(1, keepdims=True)) / np.sqrt(h.var(1, keepdims=True) + 1e-5) + bias


# Each: ops behind the product, what NumPy says, whether the result has columns.
PROGRAMS = {
    "softmax": (
        softmax,
        lambda h, bias, _scale: exponentials(h + bias) / exponentials(h + bias).sum(1, keepdims=True),
        True,
    ),
    "logsumexp": (log_sum_exp, lambda h, _bias, _scale: np.log(exponentials(h).sum(1)) + h.max(1), False),
    "layer norm": (layer_norm, expected_layer_norm, True),
    "shares": (shares, lambda h, _bias, _scale: h / h.sum(1, keepdims=True), True),
    "maxima": (scaled_maxima, lambda h, _bias, scale: (h * scale).max(1), False),
}


def program(name, m, n, k, dtype, right="k, n", behind="", results=()):
    ops, _, hasColumns = PROGRAMS[name]
    weight = (k, n) if right == "k, n" else (n, k)
    return function(
        [
            ("%x", tensor((m, k), dtype)),
            ("%w", tensor(weight, dtype)),
            ("%bias", tensor((n,), "f32")),
            ("%scale", tensor((m, 1), "f32")),
        ],
        [("%y", tensor((m, n) if hasColumns else (m,), "f32")), *results],
        product(m, n, k, dtype, right=right) + ops((m, n)) + behind,
    )


def numbers(m, n, k, dtype, right="k, n"):
    rng = np.random.default_rng(m * n + k)
    # Sums of rows are not about zero.
    x, w = (rng.uniform(-0.5, 1, each).astype(SCALARS[dtype]) for each in ((m, k), (k, n)))
    bias, scale = (rng.standard_normal(each).astype(np.float32) for each in ((n,), (m, 1)))
    h = x.astype(np.float64) @ w.astype(np.float64)
    return (x, w if right == "k, n" else np.ascontiguousarray(w.T), bias, scale), h


def check(compile_kernel, name, shape, dtype, target, right="k, n", kernels=1):
    m, n, _ = shape
    kernel = compile_kernel(parse(program(name, *shape, dtype, right)), target=target)
    assert kernels_of(kernel) == kernels
    arrays, h = numbers(*shape, dtype, right)
    expected = PROGRAMS[name][1](h, arrays[2].astype(np.float64), arrays[3].astype(np.float64))
    out = np.full(expected.shape, np.nan, np.float32)
    kernel(*arrays, out=out)
    np.testing.assert_allclose(out, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.one_in(15)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", SCALARS)
@pytest.mark.parametrize("shape", [(37, 61, 75), (16, 48, 32), (9, 17, 33)], ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_product_and_what_follows_on_its_rows_are_one_kernel(compile_kernel, name, shape, dtype, target):
    check(compile_kernel, name, shape, dtype, target)


@pytest.mark.one_in(24)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("n", [256, 100])
@pytest.mark.parametrize("name", ["maxima", "layer norm", "logsumexp", "softmax"])
def test_subgroups_share_rows_that_are_wider(compile_kernel, name, n, dtype, target):
    check(compile_kernel, name, (9, n, 40), dtype, target)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("target", ["pvc", "bmg"])
@pytest.mark.parametrize(("n", "k"), [(48, 64), (37, 35)])
@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_weights_may_be_transposed(compile_kernel, dtype, n, k, target):
    check(compile_kernel, "shares", (13, n, k), dtype, target, right="n, k")


def explained(text):
    """Of each op its kernel, schedule and reason."""
    with ir.Context(), ir.Location.unknown():
        ops, _ = _xetile.explain_kernels(ir.Module.parse(text))
        return [tuple(each) for _, *each in ops]


def schedules(text):
    return sorted({(kernel, schedule) for kernel, schedule, _ in explained(text)})


ONE_KERNEL = [(0, "matmul_rows")]


def test_it_is_explained():
    ops = explained(program("shares", 24, 40, 32, "f16"))
    assert {(kernel, schedule) for kernel, schedule, _ in ops} == set(ONE_KERNEL)
    assert ops[0][2] == "its readers' workgroups have whole rows of the product in registers"


@pytest.mark.parametrize(
    ("dtype", "n", "kernels"),
    [("f16", 256, ONE_KERNEL), ("f16", 257, [(0, "matmul"), (1, "rows")]), ("f32", 64, ONE_KERNEL),
     ("f32", 65, [(0, "rows"), (1, "rows")])],
)  # fmt: skip
def test_rows_that_no_workgroup_has_are_another_kernels(dtype, n, kernels):
    assert schedules(program("shares", 24, n, 32, dtype)) == kernels


def test_a_product_that_the_caller_reads_too_is_another_kernel():
    shape = (24, 40)
    text = program("shares", *shape, 32, "f16", results=[("%h", tensor(shape, "f32"))])
    assert schedules(text) == [(0, "matmul"), (1, "rows")]


def test_reductions_along_columns_are_another_kernel():
    m, n, k = 24, 40, 32
    text = function(
        [("%x", tensor((m, k), "f16")), ("%w", tensor((k, n), "f16"))],
        [("%y", tensor((n,), "f32"))],
        product(m, n, k, "f16") + step("%y", [("%h", (m, n))], (n,), [BOTH, ROW], "rp", PLUS, "0.0"),
    )
    assert schedules(text) == [(0, "matmul"), (1, "rows")]


def test_kernels_that_were_given_by_number_stay():
    text = program("shares", 24, 40, 32, "f16")
    numbered = re.sub(r"(outs\(%hi : \S+\)) \{", r"\1 attrs = {xetile.kernel = 7} {", text)
    assert numbered != text
    assert [schedule for _, schedule in schedules(numbered)] == ["matmul", "rows"]


def test_columns_that_only_a_run_knows_are_another_kernel():
    text = program("shares", 24, 1234567, 32, "f16")
    body = text.replace("x1234567x", "x?x").replace("<1234567x", "<?x")
    sized = body.replace(
        "{\n", "{\n%one = arith.constant 1 : index\n%size = tensor.dim %w, %one : tensor<32x?xf16>\n", 1
    )
    sized = re.sub(r"tensor\.empty\(\) : tensor<24x\?", "tensor.empty(%size) : tensor<24x?", sized)
    assert schedules(sized) == [(0, "matmul"), (1, "rows")]


@pytest.mark.parametrize("rows", [9, 40])
def test_rows_may_be_as_many_as_a_run_has(compile_kernel, rows):
    n, k = 24, 32
    body = program("shares", 1234567, n, k, "f16").replace("1234567", "?")
    sized = body.replace(
        "{\n", "{\n%zero = arith.constant 0 : index\n%size = tensor.dim %x, %zero : tensor<?x32xf16>\n", 1
    )
    sized = re.sub(r"tensor\.empty\(\) : tensor<\?", "tensor.empty(%size) : tensor<?", sized)
    kernel = compile_kernel(parse(sized), target="pvc")
    assert kernels_of(kernel) == 1
    arrays, h = numbers(rows, n, k, "f16")
    np.testing.assert_allclose(kernel(*arrays), h / h.sum(1, keepdims=True), rtol=2e-4)


def test_batches_of_products(compile_kernel):
    b, m, n, k = 3, 10, 24, 40
    shape, maps = (b, m, n), ["(b, m, n) -> (b, m, n)", "(b, m, n) -> (b, m)"]
    text = function(
        [("%x", tensor((b, m, k), "f16")), ("%w", tensor((k, n), "f16"))],
        [("%y", tensor(shape, "f32"))],
        product(m, n, k, "f16", batch=(b,))
        + step("%s", [("%h", shape)], (b, m), maps, "ppr", PLUS, "0.0")
        + step("%y", [("%h", shape), ("%s", (b, m))], shape, [*maps, maps[0]], "ppp", DIVIDE),
    )
    kernel = compile_kernel(parse(text), target="pvc")
    assert kernels_of(kernel) == 1
    rng = np.random.default_rng(1)
    x, w = (rng.uniform(0, 1, each).astype(np.float16) for each in ((b, m, k), (k, n)))
    out = np.empty(shape, np.float32)
    kernel(x, w, out=out)
    h = x.astype(np.float64) @ w.astype(np.float64)
    np.testing.assert_allclose(out, h / h.sum(2, keepdims=True), rtol=2e-4)


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_nothing_is_spilled(chip):
    spirv = xetile.compile(parse(program("softmax", 1024, 256, 512, "f16")), target=chip, native="off").spirv
    (kernel,) = report.statistics(spirv, chip)
    assert kernel.spill_bytes == 0


def test_chips_with_tiles_of_their_own_keep_two_kernels():
    kernel = xetile.compile(parse(program("softmax", 128, 64, 64, "f16")), "gpu_model", "sm_90a")
    names = re.findall(r"gpu\.func @program_\d_(\w+)_kernel", kernel.stages["1-xetile-workgroup"])
    assert names == ["matmul", "rows"]
