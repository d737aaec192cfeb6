# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move and fold elements of a subgroup's vectors, against NumPy."""

import numpy as np
import pytest
from xegpu_programs import DTYPES, assert_same, numbers, run

SEED = int(np.random.default_rng().integers(1 << 30))


def vector(shape: tuple[int, ...], dtype: str) -> str:
    return f"vector<{'x'.join(map(str, (*shape, dtype)))}>"


def transform(
    middle: str, out_shape: tuple[int, ...], out: str | None = None, /, extra: str = "", **inputs
) -> np.ndarray:
    """What `middle` makes %r of: %a, %b are vectors that hold the inputs. Loaded and stored element by element."""
    lines = []
    for name, array in inputs.items():
        dtype = next(key for key, value in DTYPES.items() if value == array.dtype)
        kind = f"memref<{'x'.join(map(str, array.shape))}x{dtype}>"
        at = ", ".join(["%c0"] * array.ndim)
        lines.append(f"%{name} = vector.load %m{name}[{at}] : {kind}, {vector(array.shape, dtype)}")
    out = out or next(key for key, value in DTYPES.items() if value == next(iter(inputs.values())).dtype)
    kind = f"memref<{'x'.join(map(str, out_shape))}x{out}>"
    at = ", ".join(["%c0"] * len(out_shape))
    lines += [middle, f"vector.store %r, %mr[{at}] : {kind}, {vector(out_shape, out)}"]
    result = numbers(out, *out_shape, seed=SEED + 1)
    run("subgroup", "\n".join(lines), extra=extra, **{f"m{k}": v for k, v in inputs.items()}, mr=result)
    return result


def given(dtype: str, *shape: int) -> np.ndarray:
    print("seed", SEED)
    return numbers(dtype, *shape, seed=SEED)


@pytest.mark.parametrize("shape", [(8, 16), (16, 16), (32, 8), (3, 16), (24, 64), (5, 7), (1, 32)])
@pytest.mark.parametrize("dtype", ["f16", "f32", "i8"])
def test_transpose(shape, dtype):
    a = given(dtype, *shape)
    r = transform(
        f"%r = vector.transpose %a, [1, 0] : {vector(shape, dtype)} to {vector(shape[::-1], dtype)}", shape[::-1], a=a
    )
    assert_same(r, np.ascontiguousarray(a.T))


def test_transpose_of_three_dimensions():
    a = given("i32", 4, 6, 16)
    r = transform("%r = vector.transpose %a, [2, 0, 1] : vector<4x6x16xi32> to vector<16x4x6xi32>", (16, 4, 6), a=a)
    assert_same(r, np.ascontiguousarray(a.transpose(2, 0, 1)))


@pytest.mark.parametrize(
    ("source", "target"),
    [((16,), (8, 16)), ((8, 1), (8, 16)), ((1, 16), (24, 16)), ((1,), (3, 5)), ((4, 1, 16), (4, 8, 16))],
)
def test_broadcast(source, target):
    a = given("f32", *source)
    r = transform(f"%r = vector.broadcast %a : {vector(source, 'f32')} to {vector(target, 'f32')}", target, a=a)
    assert_same(r, np.ascontiguousarray(np.broadcast_to(a, target)))


KINDS = {
    "add": ("i32", np.add),
    "mul": ("i32", np.multiply),
    "minsi": ("i32", np.minimum),
    "maxsi": ("i32", np.maximum),
    "and": ("i32", np.bitwise_and),
    "or": ("i32", np.bitwise_or),
    "xor": ("i32", np.bitwise_xor),
    "minimumf": ("f32", np.minimum),
    "maximumf": ("f32", np.maximum),
    "minnumf": ("f16", np.minimum),
    "maxnumf": ("f16", np.maximum),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("kind", [*KINDS, "add of f32"])
@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1)])
def test_multi_reduction(kind, dims):
    dtype, function = KINDS.get(kind, ("f32", np.add))
    a = given(dtype, 24, 32)
    kept = tuple(size for dim, size in enumerate(a.shape) if dim not in dims)
    b = numbers(dtype, *(kept or (1,)), seed=SEED + 2)
    name, whole = kind.split()[0], vector(a.shape, dtype)
    if kept:
        middle = f"%r = vector.multi_reduction <{name}>, %a, %b {list(dims)} : {whole} to {vector(kept, dtype)}"
    else:
        middle = f"""%s = vector.extract %b[0] : {dtype} from vector<1x{dtype}>
          %t = vector.multi_reduction <{name}>, %a, %s [0, 1] : {whole} to {dtype}
          %r = vector.broadcast %t : {dtype} to vector<1x{dtype}>"""
    expected = b.copy()
    with np.errstate(over="ignore"):
        expected = function(expected, function.reduce(a, axis=dims, dtype=a.dtype)).astype(a.dtype)
    assert_same(transform(middle, b.shape, a=a, b=b), expected)


# What lanes send to each other is packed in words, of which the last may not be full.
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 16, 24])
@pytest.mark.parametrize("dtype", ["i8", "i16", "f16", "bf16"])
def test_rows_of_narrow_elements(dtype, rows):
    a, b = given(dtype, rows, 32), numbers(dtype, rows, seed=SEED + 2)
    kind = "maxsi" if dtype.startswith("i") else "maxnumf"
    types = f"{vector((rows, 32), dtype)} to {vector((rows,), dtype)}"
    result = transform(f"%r = vector.multi_reduction <{kind}>, %a, %b [1] : {types}", (rows,), a=a, b=b)
    assert_same(result, np.maximum(a.max(1), b))


@pytest.mark.parametrize("count", [16, 24, 64, 7])
def test_reduction_of_one_dimension(count):
    a = given("i32", count)
    middle = f"""%s = vector.reduction <add>, %a : vector<{count}xi32> into i32
      %r = vector.broadcast %s : i32 to vector<16xi32>"""
    assert_same(transform(middle, (16,), a=a), np.full(16, a.sum(), np.int32))


# Lanes that are reduced by OpenCL's functions, whose NaN are the driver's choice, and by shuffles.
@pytest.mark.parametrize("nans", ["none", "some", "all"])
@pytest.mark.parametrize("start", ["0xFF800000", "0x7FC00000", "%b"])
@pytest.mark.parametrize("kind", ["maxnumf", "minnumf", "maximumf", "add"])
def test_nan_in_lanes(kind, start, nans):
    function = {"maxnumf": np.fmax, "minnumf": np.fmin, "maximumf": np.maximum, "add": np.add}[kind]
    a, b = given("f32", 32), numbers("f32", 1, seed=SEED + 2)
    a[{"none": [], "some": [3, 17, 19, 31], "all": slice(None)}[nans]] = np.nan
    number = "%s = vector.extract %b[0] : f32 from vector<1xf32>"
    if start != "%b":
        number = f"%s = arith.constant {start} : f32"
        b = np.array([int(start, 16)], np.uint32).view(np.float32)
    middle = f"""{number}
      %t = vector.reduction <{kind}>, %a, %s : vector<32xf32> into f32
      %r = vector.broadcast %t : f32 to vector<16xf32>"""
    with np.errstate(invalid="ignore"):
        expected = function(function.reduce(a.astype(np.float64)), b[0]).astype(np.float32)
    inputs = {"a": a, "b": b} if start == "%b" else {"a": a}
    np.testing.assert_allclose(transform(middle, (16,), **inputs), np.full(16, expected), rtol=1e-5)


# A tree of few maxima is tested for NaN by a sum of squares, of f64 by compares: infinities, what overflows as a square
# and what is zero as one are numbers.
@pytest.mark.parametrize("kind", ["maximumf", "minimumf"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "f64"])
@pytest.mark.parametrize("leaves", [3, 4, 9])
def test_trees_of_maxima_keep_nan(kind, dtype, leaves):
    info = np.finfo(DTYPES[dtype])
    special = [np.nan, np.inf, -np.inf, info.max, -info.max, info.tiny, -info.tiny, 0.0]
    inputs = {}
    for i, name in enumerate("abcdefghi"[:leaves]):
        inputs[name] = numbers(dtype, 8, 16, seed=SEED + i)
        where = np.random.default_rng(SEED + i).choice(128, 24, replace=False)
        inputs[name].flat[where] = np.resize(special, 24).astype(DTYPES[dtype])
    inputs["a"][0, :4] = np.inf
    inputs["b"][0, :4] = [-np.inf, np.nan, np.inf, 0]
    lines, last = [], "%a"
    for name in list(inputs)[1:]:
        result = "%r" if name == list(inputs)[-1] else f"%to_{name}"
        lines.append(f"{result} = arith.{kind} {last}, %{name} : {vector((8, 16), dtype)}")
        last = result
    function = np.maximum if kind == "maximumf" else np.minimum
    expected = function.reduce(list(inputs.values()))
    print("seed", SEED)
    np.testing.assert_array_equal(transform("\n".join(lines), (8, 16), **inputs), expected)


def test_sum_over_middle_dimension():
    a = given("f32", 8, 6, 16)
    b = numbers("f32", 8, 16, seed=SEED + 2)
    middle = "%r = vector.multi_reduction <add>, %a, %b [1] : vector<8x6x16xf32> to vector<8x16xf32>"
    assert_same(transform(middle, b.shape, a=a, b=b), a.sum(1) + b)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ((8, 16), (128,)),
        ((8, 16), (2, 4, 16)),
        ((24, 64), (24, 4, 16)),
        ((6, 16), (3, 32)),
        ((16,), (16, 1)),
        ((32, 8), (8, 32)),
    ],
)
def test_shape_cast(source, target):
    a = given("f16", *source)
    r = transform(f"%r = vector.shape_cast %a : {vector(source, 'f16')} to {vector(target, 'f16')}", target, a=a)
    assert_same(r, a.reshape(target))


@pytest.mark.parametrize(
    ("source", "target", "shape"),
    [
        ("i32", "i16", (8, 16)),
        ("i16", "i32", (8, 32)),
        ("f32", "i8", (4, 16)),
        ("i8", "i32", (3, 64)),
        ("i8", "f16", (8, 16)),
        # One element in a lane, before or behind.
        ("f32", "i16", (1, 16)),
        ("i16", "f32", (1, 32)),
        ("i64", "f16", (1, 16)),
        ("i32", "i8", (16,)),
        ("i8", "i64", (2, 64)),
    ],
)
def test_bitcast(source, target, shape):
    a = given(source, *shape)
    expected = a.view(DTYPES[target])
    middle = f"%r = vector.bitcast %a : {vector(shape, source)} to {vector(expected.shape, target)}"
    assert_same(transform(middle, expected.shape, target, a=a), expected)


def test_slices():
    a, b = given("f32", 24, 64), numbers("f32", 24, 64, seed=SEED + 2)
    middle = """%s = vector.extract_strided_slice %a {offsets = [3, 17], sizes = [9, 20], strides = [1, 1]}
        : vector<24x64xf32> to vector<9x20xf32>
      %r = vector.insert_strided_slice %s, %b {offsets = [5, 40], strides = [1, 1]}
        : vector<9x20xf32> into vector<24x64xf32>"""
    expected = b.copy()
    expected[5:14, 40:60] = a[3:12, 17:37]
    assert_same(transform(middle, (24, 64), a=a, b=b), expected)


def test_extract_and_insert():
    a, b = given("i32", 4, 8, 16), numbers("i32", 8, 16, seed=SEED + 2)
    middle = """%m = vector.extract %a[2] : vector<8x16xi32> from vector<4x8x16xi32>
      %row = vector.extract %a[1, 3] : vector<16xi32> from vector<4x8x16xi32>
      %x = vector.extract %a[3, 7, 11] : i32 from vector<4x8x16xi32>
      %s = arith.addi %m, %b : vector<8x16xi32>
      %t = vector.insert %row, %s [5] : vector<16xi32> into vector<8x16xi32>
      %r = vector.insert %x, %t [0, 9] : i32 into vector<8x16xi32>"""
    expected = a[2] + b
    expected[5] = a[1, 3]
    expected[0, 9] = a[3, 7, 11]
    assert_same(transform(middle, (8, 16), a=a, b=b), expected)


def test_extract_and_insert_where_the_run_says():
    a = given("i32", 24)
    middle = """%c1 = arith.constant 1 : index
      %c24 = arith.constant 24 : index
      %c23 = arith.constant 23 : index
      %zero = arith.constant dense<0> : vector<24xi32>
      %r = scf.for %i = %c0 to %c24 step %c1 iter_args(%v = %zero) -> vector<24xi32> {
        %x = vector.extract %a[%i] : i32 from vector<24xi32>
        %to = arith.subi %c23, %i : index
        %w = vector.insert %x, %v [%to] : i32 into vector<24xi32>
        scf.yield %w : vector<24xi32>
      }"""
    assert_same(transform(middle, (24,), a=a), a[::-1].copy())


def test_interleave_and_deinterleave():
    a, b = given("i16", 8, 16), numbers("i16", 8, 16, seed=SEED + 2)
    middle = """%i = vector.interleave %a, %b : vector<8x16xi16> -> vector<8x32xi16>
      %e, %o = vector.deinterleave %i : vector<8x32xi16> -> vector<8x16xi16>
      %d = arith.subi %e, %o : vector<8x16xi16>
      %r = vector.interleave %d, %o : vector<8x16xi16> -> vector<8x32xi16>"""
    expected = np.stack([a - b, b], axis=-1).reshape(8, 32)
    assert_same(transform(middle, (8, 32), a=a, b=b), expected)


def test_shuffle():
    a, b = given("f32", 16), numbers("f32", 16, seed=SEED + 2)
    mask = np.random.default_rng(SEED).integers(0, 32, 32)
    middle = f"%r = vector.shuffle %a, %b {mask.tolist()} : vector<16xf32>, vector<16xf32>"
    assert_same(transform(middle, (32,), a=a, b=b), np.concatenate([a, b])[mask])


@pytest.mark.parametrize("dtype", ["i8", "i16", "i64"])
def test_constants_of_any_width(dtype):
    a = given(dtype, 3, 16)
    table = np.random.default_rng(SEED).integers(-99, 99, (3, 16)).astype(a.dtype)
    middle = f"""%k = arith.constant dense<{table.tolist()}> : {vector(a.shape, dtype)}
      %r = arith.subi %a, %k : {vector(a.shape, dtype)}"""
    assert_same(transform(middle, a.shape, a=a), a - table)


def test_constants_steps_and_masks():
    a = given("i32", 3, 16)
    table = np.random.default_rng(SEED).integers(-99, 99, (3, 16)).astype(np.int32)
    middle = f"""%k = arith.constant dense<{table.tolist()}> : vector<3x16xi32>
      %step = vector.step : vector<16xindex>
      %i = arith.index_cast %step : vector<16xindex> to vector<16xi32>
      %w = vector.broadcast %i : vector<16xi32> to vector<3x16xi32>
      %c2 = arith.constant 2 : index
      %c11 = arith.constant 11 : index
      %mask = vector.create_mask %c2, %c11 : vector<3x16xi1>
      %fixed = vector.constant_mask [3, 5] : vector<3x16xi1>
      %s = arith.addi %a, %k : vector<3x16xi32>
      %t = arith.muli %s, %w : vector<3x16xi32>
      %u = arith.select %mask, %t, %a : vector<3x16xi1>, vector<3x16xi32>
      %r = arith.select %fixed, %k, %u : vector<3x16xi1>, vector<3x16xi32>"""
    inside = np.zeros((3, 16), bool)
    inside[:2, :11] = True
    expected = np.where(inside, (a + table) * np.arange(16, dtype=np.int32), a)
    expected[:, :5] = table[:, :5]
    assert_same(transform(middle, (3, 16), a=a), expected)


def test_control_flow_carries_vectors():
    a = given("f32", 8, 16)
    middle = """%c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %two = arith.constant 2.0 : f32
      %limit = arith.constant 1000.0 : f32
      %ones = arith.constant dense<1.0> : vector<8x16xf32>
      %s = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %a) -> vector<8x16xf32> {
        %odd = arith.remui %i, %two_i : index
        %is = arith.cmpi eq, %odd, %c1 : index
        %w = scf.if %is -> vector<8x16xf32> {
          %x = arith.addf %v, %v : vector<8x16xf32>
          scf.yield %x : vector<8x16xf32>
        } else {
          %x = arith.addf %v, %ones : vector<8x16xf32>
          scf.yield %x : vector<8x16xf32>
        }
        scf.yield %w : vector<8x16xf32>
      }
      %r:2 = scf.while (%v = %s, %n = %two) : (vector<8x16xf32>, f32) -> (vector<8x16xf32>, f32) {
        %more = arith.cmpf olt, %n, %limit : f32
        scf.condition(%more) %v, %n : vector<8x16xf32>, f32
      } do {
      ^bb0(%v: vector<8x16xf32>, %n: f32):
        %m = arith.mulf %n, %two : f32
        %x = arith.addf %v, %ones : vector<8x16xf32>
        scf.yield %x, %m : vector<8x16xf32>, f32
      }"""
    middle = middle.replace("%two = ", "%two_i = arith.constant 2 : index\n      %two = ").replace("%r:2", "%q:2")
    middle += "\n%r = arith.addf %q#0, %ones : vector<8x16xf32>"
    expected = a.copy()
    for i in range(5):
        expected = expected + expected if i % 2 else expected + 1
    assert_same(transform(middle, (8, 16), a=a), (expected + 9 + 1).astype(np.float32))


def test_helper_function():
    a = given("f32", 24, 16)
    helper = """func.func @twice(%x: vector<24x16xf32>, %s: f32) -> vector<24x16xf32> {
      %k = vector.broadcast %s : f32 to vector<24x16xf32>
      %y = arith.mulf %x, %k : vector<24x16xf32>
      return %y : vector<24x16xf32>
    }"""
    middle = """%s = arith.constant 3.0 : f32
      %r = func.call @twice(%a, %s) : (vector<24x16xf32>, f32) -> vector<24x16xf32>"""
    assert_same(transform(middle, (24, 16), extra=helper, a=a), a * np.float32(3))


def test_softmax_of_rows():
    a = given("f32", 16, 64)
    middle = """%low = arith.constant dense<-1.0e30> : vector<16xf32>
      %zero = arith.constant dense<0.0> : vector<16xf32>
      %max = vector.multi_reduction <maximumf>, %a, %low [1] : vector<16x64xf32> to vector<16xf32>
      %col = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
      %maxs = vector.broadcast %col : vector<16x1xf32> to vector<16x64xf32>
      %d = arith.subf %a, %maxs : vector<16x64xf32>
      %e = math.exp %d : vector<16x64xf32>
      %sum = vector.multi_reduction <add>, %e, %zero [1] : vector<16x64xf32> to vector<16xf32>
      %scol = vector.shape_cast %sum : vector<16xf32> to vector<16x1xf32>
      %sums = vector.broadcast %scol : vector<16x1xf32> to vector<16x64xf32>
      %r = arith.divf %e, %sums : vector<16x64xf32>"""
    e = np.exp(a - a.max(1, keepdims=True))
    np.testing.assert_allclose(transform(middle, a.shape, a=a), e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i8", "i64", "f64"])
def test_many_elements_move_through_memory(dtype):
    order = np.random.default_rng(SEED).permutation(256)
    a = given(dtype, 256)
    middle = f"%r = vector.shuffle %a, %a {order.tolist()} : {vector((256,), dtype)}, {vector((256,), dtype)}"
    assert_same(transform(middle, (256,), a=a), a[order])


@pytest.mark.parametrize("to", [40, 33, 63, 5])
def test_row_of_one_message_among_those_of_another(to):
    # Two loads of 32 rows; the first has what is put into a block of the second.
    a, r = given("f32", 64, 32), np.zeros((64, 32), np.float32)
    tile, kind = "!xegpu.tensor_desc<64x32xf32>", vector((64, 32), "f32")
    body = f"""%t = xegpu.create_nd_tdesc %a : memref<64x32xf32> -> {tile}
      %v = xegpu.load_nd %t[0, 0] : {tile} -> {kind}
      %row = vector.extract %v[3] : vector<32xf32> from {kind}
      %w = vector.insert %row, %v [{to}] : vector<32xf32> into {kind}
      vector.store %w, %r[%c0, %c0] : memref<64x32xf32>, {kind}"""
    run("subgroup", body, a=a, r=r)
    a[to] = a[3]
    assert_same(r, a)


@pytest.mark.parametrize("steps", [1, 3])
def test_subgroups_have_memory_of_their_own(steps):
    # A loop uses it again; subgroups are at different steps then.
    orders = [np.random.default_rng(SEED + i).permutation(256) for i in range(2)]
    a, r = given("i32", 4, 256), np.zeros((4, 256), np.int32)
    body = f"""%number = gpu.subgroup_id : index
      %c1 = arith.constant 1 : index
      %end = arith.constant {steps} : index
      %v = vector.load %a[%number, %c0] : memref<4x256xi32>, vector<256xi32>
      %w = scf.for %i = %c0 to %end step %c1 iter_args(%x = %v) -> (vector<256xi32>) {{
        %y = vector.shuffle %x, %x {orders[0].tolist()} : vector<256xi32>, vector<256xi32>
        %z = vector.shuffle %y, %y {orders[1].tolist()} : vector<256xi32>, vector<256xi32>
        scf.yield %z : vector<256xi32>
      }}
      vector.store %w, %r[%number, %c0] : memref<4x256xi32>, vector<256xi32>"""
    expected = a
    for _ in range(steps):
        expected = expected[:, orders[0]][:, orders[1]]
    run("subgroup", body, subgroups=4, a=a, r=r)
    assert_same(r, np.ascontiguousarray(expected))


LAYOUTS = [((1, 16), (1, 1)), ((8, 2), (1, 2)), ((2, 8), (1, 4)), ((4, 4), (2, 1)), ((2, 8), (4, 2)), ((16, 1), (1, 4))]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.parametrize("source", LAYOUTS)
def test_conversions_between_layouts_of_lanes(source, target):
    rows = 48
    a, r = given("f32", rows, 32), np.zeros((rows, 32), np.float32)
    of = [f"#xegpu.layout<lane_layout = {list(lanes)}, lane_data = {list(data)}>" for lanes, data in (source, target)]
    kind = f"vector<{rows}x32xf32>"
    body = f"""%v = vector.load %a[%c0, %c0] {{layout_result_0 = {of[0]}}} : memref<{rows}x32xf32>, {kind}
      %w = xegpu.convert_layout %v <{{input_layout = {of[0]}, target_layout = {of[1]}}}> : {kind}
      vector.store %w, %r[%c0, %c0] : memref<{rows}x32xf32>, {kind}"""
    run("subgroup", body, a=a, r=r)
    assert_same(r, a)


@pytest.mark.parametrize(("count", "dtype"), [(32, "i8"), (5, "i32"), (24, "f32"), (12, "f16"), (7, "i64")])
def test_element_of_a_long_vector_that_only_a_run_knows(rng: np.random.Generator, count: int, dtype: str):
    # SPIR-V has vectors of 2, 3, 4, 8 and 16 elements: the vector is in pieces.
    x = given(dtype, 16, count)
    index = rng.integers(0, count, 16).astype(np.int64)
    result = numbers(dtype, 16, seed=SEED + 1)
    run(
        "lane",
        f"""%lane = gpu.lane_id
        %v = vector.load %x[%lane, %c0] : memref<16x{count}x{dtype}>, vector<{count}x{dtype}>
        %i = memref.load %index[%lane] : memref<16xi64>
        %e = llvm.extractelement %v[%i : i64] : vector<{count}x{dtype}>
        memref.store %e, %result[%lane] : memref<16x{dtype}>""",
        x=x,
        index=index,
        result=result,
    )
    assert result.tobytes() == x[np.arange(16), index].tobytes()
