# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans on GPUs (`schedules/scan.mlir`, and in blocks `gpu_model.mlir`), run on the OpenCL device, against NumPy."""

import re

import element_types
import numpy as np
import pytest
import xetile
from gpu_programs import function, tensor
from xetile.errors import XeTileError
from xetile.mlir import ir

# Of an op: NumPy's, the start, the type of elements and the one that they are combined in.
OPS = {
    "f32": ("addf", np.cumsum, "0.0", "f64"),
    "f32_products": ("mulf", np.cumprod, "1.0", "f64"),
    "f32_maxima": ("maximumf", np.maximum.accumulate, "0xFF800000", "f32"),
    "f16": ("addf", np.cumsum, "0.0", "f32"),
    "bf16": ("addf", np.cumsum, "0.0", "f32"),
    "f64": ("addf", np.cumsum, "0.0", "f64"),
    "i64": ("addi", np.cumsum, "0", "i64"),
    "i32_products": ("muli", np.cumprod, "1", "i32"),
    "i8_minima": ("minsi", np.minimum.accumulate, "127", "i8"),
    "i16_bits": ("xori", np.bitwise_xor.accumulate, "0", "i16"),
}
SCALARS = element_types.scalars("f16", "bf16", "f32", "f64")
SCALARS |= {f"i{bits}": np.dtype(f"int{bits}").type for bits in (8, 16, 32, 64)}
EPS = {"f16": 2**-11, "bf16": 2**-8, "f32": 2**-24, "f64": 2**-53}
SHAPES = [((1,), 0), ((7,), 0), ((5, 33), 1), ((33, 5), 0), ((3, 70, 9), 1), ((2, 3, 4, 129), 3), ((4, 3, 5, 6), 0)]
SHAPES += [((3, 8, 1), 1), ((1001,), 0), ((2, 2100), 1), ((40, 600), 1), ((600, 40), 0), ((37, 300, 2), 1)]


def scan(result, value, shape, dim, name, start=None):
    """A scan along `dim`, and the linalg that it is written in."""
    op, _, neutral, wide = OPS[name]
    narrow = name.partition("_")[0]
    axes = "abcd"[: len(shape)]
    kept = [axis for number, axis in enumerate(axes) if number != dim]
    last = tensor([size for number, size in enumerate(shape) if number != dim], wide)
    kinds = ", ".join('"reduction"' if number == dim else '"parallel"' for number in range(len(shape)))
    whole, left = ", ".join(axes), ", ".join(kept)
    widen, rounds = "", ""
    element = rounded = "%e"
    if wide != narrow:
        widen, element = f"%w = arith.extf %e : {narrow} to {wide}\n", "%w"
        rounds, rounded = f"%r = arith.truncf %s : {wide} to {narrow}\n", "%r"
    else:
        rounded = "%s"
    kind = tensor(shape, narrow)
    return (
        f"{result}_c = arith.constant {start or neutral} : {wide}\n{result}_e = tensor.empty() : {last}\n"
        f"{result}_i = linalg.fill ins({result}_c : {wide}) outs({result}_e : {last}) -> {last}\n"
        f"{result}_a = tensor.empty() : {kind}\n"
        f"{result}, {result}_l = linalg.generic {{indexing_maps = [affine_map<({whole}) -> ({whole})>, "
        f"affine_map<({whole}) -> ({whole})>, affine_map<({whole}) -> ({left})>], iterator_types = [{kinds}]}} "
        f"ins({value} : {kind}) outs({result}_a, {result}_i : {kind}, {last}) {{\n"
        f"^bb0(%e: {narrow}, %_: {narrow}, %b: {wide}):\n{widen}"
        f"%s = arith.{op} %b, {element} : {wide}\n{rounds}linalg.yield {rounded}, %s : {narrow}, {wide}\n"
        f"}} -> ({kind}, {last})\n"
    )


def chain(result, value, shape, dtype, body):
    """An elementwise op, whose body reads %e and yields %o."""
    axes, kinds = ", ".join("abcd"[: len(shape)]), ", ".join(['"parallel"'] * len(shape))
    kind, same = tensor(shape, dtype), f"affine_map<({axes}) -> ({axes})>"
    return (
        f"{result}_e = tensor.empty() : {kind}\n"
        f"{result} = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{kinds}]}} "
        f"ins({value} : {kind}) outs({result}_e : {kind}) {{\n"
        f"^bb0(%e: {dtype}, %_: {dtype}):\n{body}\nlinalg.yield %o : {dtype}\n}} -> {kind}\n"
    )


def program(shape, dtype, body, result="%y"):
    kind = tensor(shape, dtype)
    return function([("%x", kind)], [(result, kind)], body)


@pytest.fixture
def run(compile_kernel):
    def run_(text, x, schedule=None, target="pvc"):
        with ir.Context(), ir.Location.unknown():
            kernel = compile_kernel(ir.Module.parse(text), schedule=schedule, target=target)
        out = np.frombuffer(b"\xa5" * x.nbytes, x.dtype).reshape(x.shape).copy()
        before = x.copy()
        kernel(x, out=out)
        assert x.tobytes() == before.tobytes()
        return out, kernel

    return run_


def draw(rng, shape, name):
    narrow = name.partition("_")[0]
    if narrow[0] == "i":
        return rng.integers(-9, 10, shape).astype(SCALARS[narrow])
    # Products neither vanish nor overflow.
    values = 1 + 0.05 * rng.standard_normal(shape) if "products" in name else rng.standard_normal(shape)
    return values.astype(SCALARS[narrow])


def assert_close(got, x, dim, name):
    """Rounded once; what is combined on the way in the wide type."""
    _, function_, _, wide = OPS[name]
    narrow = name.partition("_")[0]
    if narrow[0] == "i":
        np.testing.assert_array_equal(got, function_(x, axis=dim, dtype=x.dtype))
        return
    exact = function_(x.astype(np.longdouble), axis=dim)
    reach = np.abs(exact) if function_ is not np.cumsum else np.cumsum(np.abs(x.astype(np.longdouble)), axis=dim)
    bound = EPS[narrow] * np.abs(exact) * (1 + 1e-3) + 2 * x.shape[dim] * EPS[wide] * reach
    assert (np.abs(got.astype(np.longdouble) - exact) <= bound).all()


def launches(kernel):
    return re.findall(r"gpu.launch_func +@\w+::@(\w+)_kernel", kernel.stages["1-xetile-workgroup"])


@pytest.mark.parametrize("target", ["pvc", "bmg"])
@pytest.mark.parametrize("shape,dim", [((3, 17), 1), ((2, 1000), 1), ((40, 9), 0)], ids=str)
def test_exclusive_scans_are_scans_of_what_is_padded(compile_kernel, rng, shape, dim, target):
    """What is before a scan is one of its elements. What blocks read twice is stored with it."""
    wide = tuple(size + (number == dim) for number, size in enumerate(shape))
    first = tensor(tuple(1 if number == dim else size for number, size in enumerate(shape)), "f32")
    body = scan("%s", "%x", shape, dim, "f32") + (
        f"%first = arith.constant dense<0.0> : {first}\n%y = tensor.concat dim({dim}) %first, %s : "
        f"({first}, {tensor(shape, 'f32')}) -> {tensor(wide, 'f32')}\n"
    )
    text = function([("%x", tensor(shape, "f32"))], [("%y", tensor(wide, "f32"))], body)
    plain = program(wide, "f32", scan("%y", "%x", wide, dim, "f32"))
    with ir.Context(), ir.Location.unknown():
        kernel = compile_kernel(ir.Module.parse(text), schedule="gpu_model", target=target)
        other = compile_kernel(ir.Module.parse(plain), schedule="gpu_model", target=target)
    assert len(launches(kernel)) <= len(launches(other)) + (len(launches(other)) > 1)
    x = rng.standard_normal(shape).astype(np.float32)
    x[1, 2] = np.inf
    want = np.insert(np.cumsum(x.astype(np.float64), dim), 0, 0, axis=dim)
    np.testing.assert_allclose(kernel(x), want, rtol=2**-24, atol=1e-12)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("shape,dim", SHAPES, ids=str)
def test_each_element_is_combined_with_those_before(run, rng, shape, dim, name):
    x = draw(rng, shape, name)
    target = rng.choice(["pvc", "bmg"])
    got, _ = run(program(shape, name.partition("_")[0], scan("%y", "%x", shape, dim, name)), x, target=str(target))
    assert_close(got, x, dim, name)


@pytest.mark.parametrize("size", [150_000, 150_011])
def test_sums_of_many_blocks_are_scanned_in_blocks(run, rng, size):
    x = draw(rng, (size,), "f32")
    got, kernel = run(program((size,), "f32", scan("%y", "%x", (size,), 0, "f32")), x)
    assert_close(got, x, 0, "f32")
    assert sum("scan" in each for each in launches(kernel)) == 2


@pytest.mark.parametrize("dim", [0, 1])
def test_what_surrounds_a_scan_is_in_its_kernel(run, rng, dim):
    shape = (23, 30)
    body = chain("%a", "%x", shape, "f32", "%o = arith.mulf %e, %e : f32")
    body += scan("%t", "%a", shape, dim, "f32")
    body += chain("%y", "%t", shape, "f32", "%o = math.sqrt %e : f32")
    x = draw(rng, shape, "f32")
    got, kernel = run(program(shape, "f32", body), x)
    np.testing.assert_allclose(got, np.sqrt(np.cumsum(x.astype(np.float64) ** 2, axis=dim)), rtol=1e-6)
    assert kernel.schedule.name == "scan"
    assert len(launches(kernel)) == 1


def test_a_scan_of_a_scan_is_two_kernels(run, rng):
    shape = (23, 30)
    x = draw(rng, shape, "f64")
    text = program(shape, "f64", scan("%t", "%x", shape, 0, "f64") + scan("%y", "%t", shape, 1, "f64"))
    got, kernel = run(text, x)
    np.testing.assert_allclose(got, np.cumsum(np.cumsum(x, axis=0), axis=1), rtol=1e-12, atol=1e-12)
    assert len(launches(kernel)) == 2


@pytest.mark.parametrize("size", [30, 1000])
def test_a_nan_and_infinities_stay_from_their_place_on(run, rng, size):
    x = draw(rng, (4, size), "f32")
    x[0, 7], x[1, 9], x[2, 3], x[2, 20] = np.inf, np.nan, np.inf, -np.inf
    got, _ = run(program(x.shape, "f32", scan("%y", "%x", x.shape, 1, "f32")), x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(got, np.cumsum(x.astype(np.float64), axis=1), rtol=1e-6, atol=1e-6)


def test_a_scan_may_start_from_another_number(run, rng):
    x = draw(rng, (9, 70), "f64")
    got, _ = run(program(x.shape, "f64", scan("%y", "%x", x.shape, 1, "f64", start="3.0")), x)
    np.testing.assert_allclose(got, 3 + np.cumsum(x, axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("arith.addf %b, %e", "arith.subf %e, %b"), "or a scan"),
        (lambda text: text.replace("linalg.yield %s, %s", "linalg.yield %e, %s"), "or a scan"),
    ],
)
def test_what_is_no_scan_is_refused(compile_kernel, change, message):
    text = program((9, 30), "f64", scan("%y", "%x", (9, 30), 1, "f64"))
    changed = change(text)
    assert changed != text
    with ir.Context(), ir.Location.unknown(), pytest.raises(XeTileError, match=message):
        compile_kernel(ir.Module.parse(changed), schedule="rows", target="pvc")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (scan("%y", "%t", (30, 30), 1, "f64"), "expected one scan in a kernel"),
        (
            "%e = tensor.empty() : tensor<30x30xf64>\n%y = linalg.transpose ins(%t : tensor<30x30xf64>) "
            "outs(%e : tensor<30x30xf64>) permutation = [1, 0]\n",
            None,
        ),
        (
            "%y = tensor.pad %t low[0, 0] high[0, 0] { ^bb0(%i: index, %j: index): %p = arith.constant 0.0 : f64\n "
            "tensor.yield %p : f64 } : tensor<30x30xf64> to tensor<30x30xf64>\n",
            "in the order of its dimensions",
        ),
    ],
    ids=["two", "transposed", "pad"],
)
def test_what_one_kernel_cannot_read_of_a_scan_is_refused(run, rng, other, message):
    text = program((30, 30), "f64", scan("%t", "%x", (30, 30), 0, "f64") + other)
    x = draw(rng, (30, 30), "f64")
    if message is None:
        got, _ = run(text, x, schedule="scan")
        np.testing.assert_allclose(got, np.cumsum(x, axis=0).T, rtol=1e-12, atol=1e-12)
        return
    with pytest.raises(XeTileError, match=message):
        run(text, x, schedule="scan")


def test_xetile_suggests_the_schedule():
    def suggested(size):
        with ir.Context(), ir.Location.unknown():
            return xetile.schedule.suggest(
                ir.Module.parse(program((5, size), "f32", scan("%y", "%x", (5, size), 1, "f32")))
            )

    assert suggested(20) == "scan"
    assert suggested(20_000) == "gpu_model"
