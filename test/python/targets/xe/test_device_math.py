# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exponentials, quotients, maxima and minima of the device on all kinds of numbers, against NumPy."""

import math

import numpy as np
import pytest
from xegpu_programs import run

SEED = int(np.random.default_rng().integers(1 << 30))
SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 3e-39, 1.1754944e-38, 3.4028235e38, -3.4028235e38]
    + [1.0, -1.0, 1.9999999, 8.5e37, 1.7e38, -0.75, 3.0, 1e-30, 1e30, 7e-42, 2.0**126, 2.0**-126],
    np.float32,
)


def lines(name: str, count: int) -> str:
    return f"%{name} = vector.load %m{name}[%c0, %c0] : memref<{count}x16xf32>, vector<{count}x16xf32>"


def random_numbers(count: int, seed: int) -> np.ndarray:
    """Of all exponents, and some special ones."""
    print("seed", SEED)
    generator = np.random.default_rng(SEED + seed)
    values = generator.integers(0, 1 << 32, count * 16, np.uint64).astype(np.uint32).view(np.float32)
    values[generator.integers(0, values.size, values.size // 8)] = generator.choice(SPECIAL, values.size // 8)
    return values.reshape(count, 16)


def assert_near(result: np.ndarray, exact: np.ndarray, units: float) -> None:
    """Within `units` of the last place of `exact`, in f64; the same infinities, NaNs and signs."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = exact.astype(np.float32)
        np.testing.assert_array_equal(np.isnan(result), np.isnan(rounded))
        known = ~np.isnan(rounded)
        np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(rounded[known]))
        place = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, np.float32(3.4e38)))).astype(np.float64)
        bounded = known & np.isfinite(rounded) & np.isfinite(result)
        error = np.abs(result.astype(np.float64) - exact)[bounded] / place[bounded]
    assert error.max(initial=0) <= units
    # Infinite where the largest number is nearly reached, at most.
    other = known & ~bounded & (result != rounded)
    assert (np.abs(exact[other]) > 3.4028e38).all()


def exponential(x: np.ndarray) -> np.ndarray:
    count = len(x)
    r = np.zeros_like(x)
    run(
        "subgroup",
        f"""{lines("a", count)}
        %r = math.exp %a : vector<{count}x16xf32>
        vector.store %r, %mr[%c0, %c0] : memref<{count}x16xf32>, vector<{count}x16xf32>""",
        ma=x,
        mr=r,
    )
    return r


def test_exp():
    generator = np.random.default_rng(SEED)
    print("seed", SEED)
    x = generator.uniform(-110, 95, (8, 16)).astype(np.float32)
    x[0] = [88.72283, 88.7229, 89, 1e30, -1e30, -103.9, -104.1, -87.4, -88, 127, -150, 1e-30, 0, -0.0, np.inf, -np.inf]
    x[1, :2] = np.nan, -np.nan
    x[2] = generator.uniform(-1, 1, 16)
    with np.errstate(over="ignore"):
        assert_near(exponential(x), np.exp(x.astype(np.float64)), 2.5)


FUNCTIONS = {
    "asinh": (np.arcsinh, -50, 50),
    "acosh": (np.arccosh, 1, 50),
    "atanh": (np.arctanh, -1, 1),
    "cbrt": (np.cbrt, -50, 50),
    "expm1": (np.expm1, -5, 5),
    "log1p": (np.log1p, -0.9, 50),
    "erfc": (np.vectorize(math.erfc), -3, 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_opencl(name):
    """Near zero, too, where upstream's differences and sums have no digits left."""
    exact, low, high = FUNCTIONS[name]
    generator = np.random.default_rng(SEED)
    print("seed", SEED)
    x = generator.uniform(low, high, (8, 16)).astype(np.float32)
    if low < 0:
        x[1] = generator.uniform(-1e-4, 1e-4, 16)
        x[2, :4] = 0, -0.0, 1e-30, -1e-30
    x[3, 0] = np.nan
    r = np.zeros_like(x)
    run(
        "subgroup",
        f"""{lines("a", 8)}
        %r = math.{name} %a : vector<8x16xf32>
        vector.store %r, %mr[%c0, %c0] : memref<8x16xf32>, vector<8x16xf32>""",
        ma=x,
        mr=r,
    )
    # OpenCL allows 16 units for erfc, 5 and fewer for the others.
    assert_near(r, exact(x.astype(np.float64)), 16 if name == "erfc" else 5)


@pytest.mark.parametrize("high", [1e-3, 0.6, 3, 12])
def test_tanh(high):
    """On both sides of 0.5625, where a polynomial ends."""
    generator = np.random.default_rng(SEED)
    print("seed", SEED)
    x = generator.uniform(-high, high, (8, 16)).astype(np.float32)
    x[0] = [0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, 1e-40, 0.5625, -0.5625, 0.56249994, 9, -9.1, 1, -88]
    r = np.zeros_like(x)
    run(
        "subgroup",
        f"""{lines("a", 8)}
        %r = math.tanh %a : vector<8x16xf32>
        vector.store %r, %mr[%c0, %c0] : memref<8x16xf32>, vector<8x16xf32>""",
        ma=x,
        mr=r,
    )
    assert_near(r, np.tanh(x.astype(np.float64)), 2.5)


def test_erf():
    generator = np.random.default_rng(SEED)
    print("seed", SEED)
    x = generator.uniform(-5, 5, (8, 16)).astype(np.float32)
    x[0] = [0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, 1e-40, 3.9, -3.9, 4, 0.5, -1, 1, 2]
    x[1] = generator.uniform(-1e-3, 1e-3, 16)
    r = np.zeros_like(x)
    run(
        "subgroup",
        f"""{lines("a", 8)}
        %r = math.erf %a : vector<8x16xf32>
        vector.store %r, %mr[%c0, %c0] : memref<8x16xf32>, vector<8x16xf32>""",
        ma=x,
        mr=r,
    )
    exact = np.array([math.erf(number) for number in x.astype(np.float64).flat]).reshape(x.shape)
    assert_near(r, exact, 8)


@pytest.mark.parametrize("seed", range(4))
def test_quotients_by_one_divisor(seed):
    x, y, s = (random_numbers(8, 3 * seed + i) for i in range(3))
    if seed == 0:
        # Each special number by each.
        pairs = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
        x, s = (np.resize(side, (40, 16)).astype(np.float32) for side in pairs)
        y = x[::-1].copy()
    count = len(x)
    q, r = np.zeros_like(x), np.zeros_like(x)
    kind = f"vector<{count}x16xf32>"
    memory = f"memref<{count}x16xf32>"
    run(
        "subgroup",
        "\n".join(lines(name, count) for name in "xys")
        + f"""
        %q = arith.divf %x, %s : {kind}
        %r = arith.divf %y, %s : {kind}
        vector.store %q, %mq[%c0, %c0] : {memory}, {kind}
        vector.store %r, %mr[%c0, %c0] : {memory}, {kind}""",
        mx=x,
        my=y,
        ms=s,
        mq=q,
        mr=r,
    )
    with np.errstate(all="ignore"):
        for result, dividend in ((q, x), (r, y)):
            # A dividend that is scaled to a subnormal number is rounded then, and the quotient again: by half a place
            # over a divisor of at least a half, and by half a place.
            assert_near(result, dividend.astype(np.float64) / s.astype(np.float64), 1.5)
            # Rounded as NumPy does, where nothing is subnormal: neither is what remains of the division, 24 places
            # below the quotient.
            wanted = dividend / s
            usual = (np.abs(wanted) > 2.0**-100) & (np.abs(wanted) < 1e38) & (np.abs(s) > 1e-37)
            np.testing.assert_array_equal(result[usual], wanted[usual])


def test_quotients_by_a_number():
    x, s = random_numbers(8, 50), np.float32(-0.7)
    r = np.zeros_like(x)
    run(
        "subgroup",
        f"""{lines("x", 8)}
        %s = vector.extract %x[3, 5] : f32 from vector<8x16xf32>
        %t = vector.broadcast %s : f32 to vector<8x16xf32>
        %r = arith.divf %x, %t : vector<8x16xf32>
        vector.store %r, %mr[%c0, %c0] : memref<8x16xf32>, vector<8x16xf32>""",
        mx=(x := np.where(np.arange(128).reshape(8, 16) == 3 * 16 + 5, s, x)),
        mr=r,
    )
    with np.errstate(all="ignore"):
        assert_near(r, x.astype(np.float64) / np.float64(s), 1.5)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("kind", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_trees_of_extremes(kind, dtype):
    numbers = {"f32": np.float32, "f16": np.float16}[dtype]
    count = 4
    generator = np.random.default_rng(SEED)
    print("seed", SEED)
    values = generator.integers(-40, 40, (count, 8, 16)).astype(numbers)
    # In each set of operands any of them is a NaN of either sign, or infinite.
    for at in range(2 * count):
        values[at // 2, at // 4, at] = np.nan if at % 2 else -np.nan
    values[0, 5, :4], values[2, 5, 2:6] = np.inf, -np.inf
    # Magnitudes whose sum is infinite, and two zeros.
    values[:, 6, :8], values[:, 7] = -np.finfo(numbers).max, -0.0
    values[1, 6, 2:5], values[1, 7] = np.finfo(numbers).max, 0.0
    flat = values.reshape(count * 8, 16)
    r = np.zeros((8, 16), numbers)
    kind_of = f"vector<8x16x{dtype}>"
    body = [
        f"""%r{i} = arith.constant {8 * i} : index
        %v{i} = vector.load %mv[%r{i}, %c0] : memref<{count * 8}x16x{dtype}>, {kind_of}"""
        for i in range(count)
    ]
    body += [f"%t{i} = arith.{kind} %{'v0' if i == 1 else f't{i - 1}'}, %v{i} : {kind_of}" for i in range(1, count)]
    body.append(f"vector.store %t{count - 1}, %mr[%c0, %c0] : memref<8x16x{dtype}>, {kind_of}")
    run("subgroup", "\n".join(body), mv=flat, mr=r)
    function = {"maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax, "minnumf": np.fmin}[kind]
    np.testing.assert_array_equal(r, function.reduce(values, axis=0))


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_magnitudes(dtype):
    numbers = {"f32": np.float32, "f16": np.float16}[dtype]
    limits = np.finfo(numbers)
    x = np.resize(
        np.array([0, 1.5, limits.tiny, limits.smallest_subnormal, limits.max, np.inf], numbers), 64
    ) * np.resize(np.array([1, -1, -1, 1, -1], numbers), 64)
    x[60:62] = np.nan, -np.nan
    x, r = x.reshape(8, 8).repeat(2, 1), np.zeros((8, 16), numbers)
    kind = f"vector<8x16x{dtype}>"
    body = f"""%v = vector.load %mx[%c0, %c0] : memref<8x16x{dtype}>, {kind}
        %a = math.absf %v : {kind}
        vector.store %a, %mr[%c0, %c0] : memref<8x16x{dtype}>, {kind}"""
    run("subgroup", body, mx=x, mr=r)
    np.testing.assert_array_equal(r, np.abs(x))
    assert not np.signbit(r[~np.isnan(r)]).any()
