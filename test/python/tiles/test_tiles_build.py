# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules that `xetile.kernel` builds: types, lines, loops; and the errors, at the line of the function."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xetile
from xetile import XeTileError, tiles
from xetile.mlir import ir

MAP = tiles.wg_map((2, 1), (8, 16))


def built(body: Callable[[tiles.Array, tiles.Array], None], *specs: str) -> tiles.TileKernel:
    def function(a: tiles.Array, b: tiles.Array) -> None:
        body(a, b)

    return xetile.kernel(*(specs or ("32x16xf32", "32x16xf16")), grid=(2,))(function)


def copy(a: tiles.Array, b: tiles.Array) -> None:
    at = (tiles.workgroup_id(0) * 16, 0)
    value = a.tile((16, 16), at, MAP).load()
    b.tile((16, 16), at, MAP).store(value.to("f16"))


def test_the_module_is_a_kernel_and_its_launch():
    kernel = built(copy)
    assert (kernel.name, kernel.grid, kernel.subgroups) == ("function", (2, 1, 1), 2)
    text = str(kernel)
    assert text == str(kernel.module) and repr(kernel) == "<TileKernel function: 2 x 1 x 1 workgroups of 2 subgroups>"
    assert "known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 2, 1, 1>" in text
    assert "gpu.launch_func  @function_kernels::@function" in text
    assert "arith.truncf %2 : vector<16x16xf32> to vector<16x16xf16>" in text
    with ir.Context():
        assert str(ir.Module.parse(text)) == text


def test_operations_are_at_the_functions_lines():
    text = built(copy).module.operation.get_asm(enable_debug_info=True)
    first = inspect.getsourcelines(copy)[1]
    names = dict(re.findall(r"^(#loc\d*) = (loc\(.*\))$", text, flags=re.M))
    for op, line in (("gpu.block_id", 1), ("xetile.load_tile", 2), ("arith.truncf", 3), ("xetile.store_tile", 3)):
        (found,) = re.findall(rf"{op} .*loc\((#loc\d*)\)$", text, flags=re.M)
        assert f'{__file__}":{first + line}:' in names[found], op


def test_python_computes_what_it_knows():
    """Its own loops are unrolled, numbers become constants of the other operand's type."""

    def body(a: tiles.Array, b: tiles.Array) -> None:
        value = a.tile((8, 16)).load()
        for number in range(3):
            value = value + number * 2.5
        a.tile((8, 16), (8, 0)).store(value)

    text = str(built(body))
    assert text.count("arith.addf") == 3 and "scf.for" not in text
    assert "dense<5.000000e+00> : vector<8x16xf32>" in text


def test_a_loop_carries_what_it_is_given():
    def body(a: tiles.Array, b: tiles.Array) -> None:
        tile = a.tile((8, 16))
        loop = tiles.range(0, 32, 8, carry=(tile, tiles.zeros((8, 16), "f32"), tiles.workgroup_id(0)))
        for _, (at, total, count) in loop:
            loop.carry(at.move(8, 0), total + at.load(), count + 1)
        for row in tiles.range(0, loop.results[2], 8):
            a.tile((8, 16), (row, 0)).store(loop.results[1])

    text = str(built(body))
    assert "-> (!xetile.tile<8x16xf32>, vector<8x16xf32>, index)" in text
    assert re.search(r"scf.for %\w+ = %\w+ to %\d#2 step", text)


def test_vectors_broadcast_as_numpys():
    def body(a: tiles.Array, b: tiles.Array) -> None:
        value = a.tile((8, 16)).load()
        outer = value.sum(1) * value.max(0)
        assert (outer.shape, outer.dtype) == ((8, 16), "f32")
        assert (value > 0).dtype == "i1" and value.T.shape == (16, 8)
        assert tiles.where(value.sum(1) > 0, 1.0, value.sum(0)).shape == (8, 16)
        a.tile((8, 16)).store(tiles.where(tiles.workgroup_id(0) == 0, outer, value))

    assert "xetile.tile_broadcast" in str(built(body))


def test_compiled_kernels_have_another_type_in_another_package():
    from xetile.kernels.kernel import Kernel

    assert xetile.kernel is tiles.kernel and xetile.Kernel is Kernel
    kernel = xetile.compile(built(copy), target="lnl", native="off")
    assert isinstance(kernel, xetile.Kernel) and kernel.signature.written == (1,)


# Bodies that are refused, and what is said, at the line where the body is written.
REFUSED: list[tuple[Callable, str]] = [
    (lambda a, b: a.tile((8, 16)).load() + b.tile((8, 16)).load(), 'got 8x16xf32, 8x16xf16; convert with .to("f32")'),
    (lambda a, b: a.tile((8, 16)).load() + a.tile((4, 16)).load(), "or 1, in dimension 0; got 8x16xf32, 4x16xf32"),
    (lambda a, b: a.tile((8, 16)).store(a.tile((8, 8)).load()), "store: expected a vector of 8x16xf32, as the tile is"),
    (lambda a, b: b.tile((8, 16)).store(a.tile((8, 16)).load()), 'got 8x16xf32; convert with .to("f16")'),
    (lambda a, b: a.tile((8, 16)).store(1.0), "got 1.0; tiles.full makes one of a number"),
    (
        lambda a, b: tiles.mma(b.tile((8, 16)).load(), b.tile((8, 16)).load()),
        "mma: expected as many columns of a as rows",
    ),
    (lambda a, b: tiles.mma(*[b.tile((16, 16)).load()] * 3), None),
    (lambda a, b: tiles.mma(*[b.tile((16, 16)).load()] * 2, a.tile((8, 16)).load()), "mma: c: expected 16x16xf32"),
    (
        lambda a, b: tiles.mma(*[a.tile((16, 16)).load().to("i32")] * 2),
        "expected elements of f16, bf16, f32, i8; got i32",
    ),
    (lambda a, b: a.tile((8, 16), map=tiles.wg_map((2, 1), (3, 16))), "sg_data"),
    (
        lambda a, b: (a.tile((8, 16), map=MAP), a.tile((8, 16), map=tiles.wg_map((4, 1), (2, 16)))),
        "for 4 subgroups, others",
    ),
    (lambda a, b: a.tile((8, 16), map=(2, 1)), "map: expected a tiles.wg_map(sg_layout, sg_data), got tuple (2, 1)"),
    (lambda a, b: tiles.wg_map((2,), (8, 16)), "wg_map: sg_layout: expected 2 whole numbers from 1 on, got tuple (2,)"),
    (lambda a, b: a.tile((8, 0)), "tile: shape: expected 2 whole numbers from 1 on, got tuple (8, 0)"),
    (lambda a, b: a.tile((8, 16), (0.5, 0)), "tile: at: expected a whole number, of Python or of the kernel; got 0.5"),
    (lambda a, b: a.tile((8, 16), 3), "tile: at: expected a row and a column, got 3"),
    (lambda a, b: a[0].tile((8, 16)), "tile: expected a matrix, got 16xf32"),
    (lambda a, b: a[40], "index 40 is not in dimension 0 of 32x16xf32"),
    (lambda a, b: a[0, 0], "expected 1 to 1 indices of 32x16xf32, got 2"),
    (lambda a, b: a.tile((8, 16)).load().sum(2), "sum: expected the axis 0 or 1, got 2"),
    (lambda a, b: a.tile((8, 16)).load() // 2, "//: there is none of f32; floats have /"),
    (lambda a, b: tiles.arange(8, 0) / 2, "/: there is none of i32; whole numbers have //"),
    (lambda a, b: a.tile((8, 16)).load() & 1, "&: there is none of f32"),
    (lambda a, b: tiles.exp(tiles.arange(8, 0)), 'exp: expected floats, got i32; convert with .to("f32")'),
    (lambda a, b: b.tile((8, 16)).load() + 1e6, "expected a number of f16, at most 65504; got 1000000.0"),
    (lambda a, b: tiles.arange(8, 0, "i8") + 200, "expected a number of i8, -128 to 127; got 200"),
    (lambda a, b: tiles.arange(8, 0) + 0.5, "expected a whole number of i32, got 0.5"),
    (lambda a, b: tiles.arange(8, 2), "arange: expected the axis 0 or 1, got 2"),
    (lambda a, b: tiles.full((8, 16), 0, "f8"), "expected an element type, one of bf16, f16"),
    (lambda a, b: a.tile((8, 16)).load().to("i1"), "to: expected another type than i1: compare"),
    (lambda a, b: a.tile((8, 16)).load() + "x", "+: expected vectors and numbers, got 'x'"),
    (
        lambda a, b: tiles.maximum(1, 2),
        "maximum: expected a vector or a number of the kernel, got numbers of Python alone",
    ),
    (
        lambda a, b: tiles.where(True, a.tile((8, 16)).load(), 0),
        "where: expected a condition, as x < y gives it; got True",
    ),
    (lambda a, b: 1 if a.tile((8, 16)).load() > 0 else 2, "is known when that runs only: expected no `if`"),
    (lambda a, b: tiles.workgroup_id(3), "workgroup_id: expected a dimension of the grid, 0 to 2; got 3"),
    (lambda a, b: a.tile((8, 16)).prefetch(4), "prefetch: expected a locality from 0 to 3, got 4"),
    (
        lambda a, b: a.tile((8, 16)).atomic("mul", a.tile((8, 16)).load()),
        "atomic: expected one of add, max, min; got 'mul'",
    ),
    (lambda a, b: a.tile((8, 16), (tiles.workgroup_id(0).to("i32"), 0)), 'convert with .to("index")'),
    (lambda a, b: tiles.range(0, 8, 0), "range: expected a step of at least 1, got 0"),
    (lambda a, b: tiles.range(0, 8, 1, carry=0.0), "expected vectors, numbers and tiles of the kernel, one or a tuple"),
    (
        lambda a, b: tiles.range(0, 8, 1, carry=tiles.zeros((8, 16), "f32")).results,
        "results: expected it behind the loop",
    ),
    (lambda a, b: a.tile((2**31, 1)), "tile: shape: expected numbers below 2147483648, got tuple (2147483648, 1)"),
    (lambda a, b: tiles.full((2**16, 2**16), 0, "f32"), "full: shape: expected fewer than 2^31 elements"),
    (lambda a, b: tiles.arange(2**31, 0), "arange: expected numbers below 2147483648"),
    (
        lambda a, b: a.tile((8, 16), (2**70, 0)),
        "tile: at: expected a number between -2^62 and 2^62, got 1180591",
    ),
    (lambda a, b: a.tile((8, 16)).move(0, -(2**70)), "move: expected a number between -2^62 and 2^62"),
    (lambda a, b: tiles.full((8, 16), 10**400, "f64"), "expected a number of f64, got an integer beyond floats"),
    (lambda a, b: a.tile((8, 16), map=tiles.wg_map((2**27, 1), (1, 1))), "expected fewer than 134217728"),
    (lambda a, b: a.tile((8, 1)).load().broadcast((8,)), "broadcast: expected 2 whole numbers from 1 on"),
    (lambda a, b: a.tile((8, 16)).load() ** 2, "**: expected products"),
    (lambda a, b: a.tile((8, 16)).load() @ a.tile((16, 8)).load(), "@: expected tiles.mma(a, b)"),
    (
        lambda a, b: a.tile((8, 16)).load()[0:4],
        "v[..]: expected a slice of rows and one of columns, or two numbers, got",
    ),
    (lambda a, b: a.tile((8, 16)).load()[8, 0], "v[..]: expected a place below 8, got 8"),
    (lambda a, b: a.tile((8, 16)).load()[4:4, :], "v[..]: expected a slice of at least one of 8 places, with step 1"),
    (lambda a, b: a.tile((8, 16)).load()[:, ::2], "v[..]: expected a slice of at least one of 16 places, with step 1"),
    (
        lambda a, b: a.tile((8, 16)).load()[tiles.workgroup_id(0) :, :],
        "v[..]: expected slices of numbers that are known when the kernel is built",
    ),
    (lambda a, b: a.tile((8, 16)), "expected a function that returns nothing"),
]


@pytest.mark.parametrize(("body", "message"), [case for case in REFUSED if case[1]])
def test_what_does_not_fit_is_refused_at_its_line(body, message):
    def function(a: tiles.Array, b: tiles.Array) -> None:
        return body(a, b)

    with pytest.raises(XeTileError) as error:
        xetile.kernel("32x16xf32", "32x16xf16", grid=(2,))(function)
    (said,) = error.value.diagnostics
    assert message in said.message
    assert error.value.message == "the kernel function cannot be built"
    if "returns nothing" not in message:
        line = body.__code__.co_firstlineno
        assert said.location.startswith(f"{__file__}:{line}:")


def test_a_product_of_f16_adds_up_in_f16_too():
    """Of the list above, what is right."""
    built(lambda a, b: b.tile((16, 16)).store(tiles.mma(*[b.tile((16, 16)).load()] * 3)))


# Loops: a line of the body that is marked is where the error is.
def forgets(a: tiles.Array, b: tiles.Array) -> None:
    for _, _ in tiles.range(0, 8, carry=tiles.zeros((8, 16), "f32")):  # here
        pass


def breaks(a: tiles.Array, b: tiles.Array) -> None:
    for _ in tiles.range(0, 8):  # here
        break


def uses_behind(a: tiles.Array, b: tiles.Array) -> None:
    for row in tiles.range(0, 8):
        value = a.tile((8, 16), (row, 0)).load()
    a.tile((8, 16)).store(value)  # here


def changes_type(a: tiles.Array, b: tiles.Array) -> None:
    loop = tiles.range(0, 8, carry=tiles.zeros((8, 16), "f32"))
    for _, total in loop:
        loop.carry(total.to("f16"))  # here


def carries_twice(a: tiles.Array, b: tiles.Array) -> None:
    loop = tiles.range(0, 8, carry=tiles.zeros((8, 16), "f32"))
    for _, total in loop:
        loop.carry(total)
        loop.carry(total)  # here


def carries_less(a: tiles.Array, b: tiles.Array) -> None:
    loop = tiles.range(0, 8, carry=(tiles.zeros((8, 16), "f32"), tiles.workgroup_id(0)))
    for _, (total, _) in loop:
        loop.carry(total)  # here


def carries_inside(a: tiles.Array, b: tiles.Array) -> None:
    loop = tiles.range(0, 8, carry=tiles.zeros((8, 16), "f32"))
    for _, total in loop:
        for _ in tiles.range(0, 8):
            loop.carry(total)  # here


def goes_twice(a: tiles.Array, b: tiles.Array) -> None:
    loop = tiles.range(0, 8)
    for _ in loop:
        pass
    for _ in loop:  # here
        pass


LOOPS = {
    forgets: "the loop carries values: expected a call of its `carry` in the body",
    breaks: "the loop was left by break, return or continue",
    uses_behind: "a value that was made in the loop at",
    changes_type: "carry: value 0: expected vector<8x16xf32> as at the start, got vector<8x16xf16>",
    carries_twice: "carry: expected one call in the body, got another one",
    carries_less: "carry: expected 2 values, as at the start, got 1",
    carries_inside: "carry: expected it in the body of its own loop, outside of others",
    goes_twice: "a loop was gone through before: expected a tiles.range for each `for`",
}


@pytest.mark.parametrize("body", LOOPS, ids=lambda body: body.__name__)
def test_loops_that_are_none_are_refused_at_their_line(body):
    with pytest.raises(XeTileError) as error:
        built(body)
    (said,) = error.value.diagnostics
    assert LOOPS[body] in said.message
    lines, first = inspect.getsourcelines(body)
    marked = first + next(number for number, line in enumerate(lines) if "# here" in line)
    assert said.location.startswith(f"{__file__}:{marked}:")


def test_values_stay_in_their_kernel():
    kept: list[tiles.Vector] = []
    built(lambda a, b: kept.append(a.tile((8, 16)).load()))
    with pytest.raises(XeTileError, match="a value of the kernel function is used outside of it"):
        built(lambda a, b: a.tile((8, 16)).store(kept[0]))
    with pytest.raises(XeTileError, match="expected this inside of a function that xetile.kernel builds"):
        tiles.zeros((8, 16), "f32")
    for call in (lambda: tiles.arange(8, 0), lambda: tiles.workgroup_id(0), lambda: tiles.range(0, 8)):
        with pytest.raises(XeTileError, match="expected this inside of a function"):
            call()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"arrays": ("32x16",)}, "array 0: expected sizes and an element type, as"),
        ({"arrays": ("f32",)}, "array 0: expected sizes and an element type"),
        ({"arrays": ("32x16xf8",)}, "expected an element type, one of"),
        ({"arrays": ("1" + "0" * 30 + "x1xf32",) * 2}, "array 0: expected fewer than 1152921504606846976 elements"),
        ({"arrays": ("9" * 200 + "xf32",) * 2}, "array 0: expected fewer than 1152921504606846976 elements"),
        ({"grid": (2**31,)}, "grid: expected numbers below 2147483648"),
        ({"arrays": (np.float32,)}, "array 0: expected sizes and an element type, as"),
        ({"arrays": ("8x8xf32",) * 3}, "expected a function of 3 arguments, one for each array; got function(a"),
        ({"grid": 4}, "grid: expected one to three numbers of workgroups, got 4"),
        ({"grid": (4, 0)}, "grid: expected 2 whole numbers from 1 on, got tuple (4, 0)"),
        ({"function": print}, "kernel: expected a function, got"),
        ({"function": lambda a, b: None}, "expected a function with a name of letters, digits and _, got <lambda>"),
    ],
)
def test_what_is_no_kernel_is_refused(arguments, message):
    def function(a: tiles.Array, b: tiles.Array) -> None:
        pass

    given = {"arrays": ("32x16xf32",) * 2, "grid": (1,), "function": function} | arguments
    with pytest.raises(XeTileError) as error:
        xetile.kernel(*given["arrays"], grid=given["grid"])(given["function"])
    assert message in str(error.value)


def test_errors_of_pythons_own_pass_through():
    with pytest.raises(ZeroDivisionError):
        built(lambda a, b: a.tile((8 // 0, 16)))
    built(copy)  # the one that failed is not in its way


def test_a_call_before_compiling_says_what_lacks():
    with pytest.raises(
        XeTileError, match=re.escape("expected a call of what xetile.compile(function, target=...) gives")
    ):
        built(copy)(np.zeros(4), np.zeros(4))


def test_a_missing_map_is_an_error_at_the_line():
    def body(a: tiles.Array, b: tiles.Array) -> None:
        a.tile((8, 16), (0, 0), tiles.wg_map((2, 1), (4, 16))).prefetch()
        value = b.tile((8, 16), (8, 0)).load()
        b.tile((8, 16)).store(value)

    kernel = built(body)
    with pytest.raises(XeTileError) as error:
        xetile.compile(kernel, target="pvc", native="off")
    first = inspect.getsourcelines(body)[1]
    assert re.search(rf"{re.escape(__file__)}:{first + 2}:\d+: error: .*wg_map", str(error.value))


def test_the_pages_programs_are_built(capsys):
    text = (Path(__file__).parents[3] / "docs" / "tiles.md").read_text()
    blocks = re.findall(r"<!-- test: python -->\n```python\n(.*?)```", text, flags=re.DOTALL)
    variables: dict = {}
    for block in blocks:
        exec(block, variables)
    assert len(blocks) == 2
    assert isinstance(variables["kernel"], xetile.Kernel) and "xetile.load_tile" in capsys.readouterr().out
    assert variables["matmul"].subgroups == 8


def test_infinities_are_numbers():
    assert "0xFC00" in str(built(lambda a, b: b.tile((8, 16)).store(tiles.full((8, 16), -math.inf, "f16"))))
