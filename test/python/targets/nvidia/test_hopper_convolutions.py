# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of convolutions of f32 as products on the matrix unit of Hopper GPUs, where there is none (ptx_ring)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import xetile
from hopper_kernels import compiled, on_this_cpu, parse, ptx_of

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

ROUNDING = 2e-6
"""Of the largest result: sums of some hundred products in f32."""
EXACT = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"


@dataclass(frozen=True)
class Convolution:
    """`image` are the sides before zeros are added, `padding` before and behind each."""

    image: tuple[int, ...]
    window: tuple[int, ...]
    images: int = 2
    channels: int = 8
    filters: int = 16
    strides: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    padding: tuple[tuple[int, int], ...] = ()
    layout: str = "first"
    groups: int = 0
    after: str = ""

    def along(self, given: Any, usual: Any) -> Any:
        return given or (usual,) * len(self.image)

    @property
    def padded(self) -> tuple[int, ...]:
        return tuple(
            size + sum(zeros) for size, zeros in zip(self.image, self.along(self.padding, (0, 0)), strict=True)
        )

    @property
    def places(self) -> tuple[int, ...]:
        sides = zip(self.padded, self.window, self.along(self.strides, 1), self.along(self.dilations, 1), strict=True)
        return tuple((size - (taps - 1) * apart - 1) // step + 1 for size, taps, step, apart in sides)

    def ordered(self, count: int, sides: tuple[int, ...]) -> tuple[int, ...]:
        group = (self.groups,) if self.groups else ()
        return (self.images, *sides, *group, count) if self.layout == "last" else (self.images, *group, count, *sides)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        group = (self.groups,) if self.groups else ()
        if self.layout == "last":
            weights = (*self.window, self.channels, self.filters)
        else:
            weights = (*group, self.filters, self.channels, *self.window)
        given = [self.ordered(self.channels, self.image), weights]
        units = (1,) * len(self.image) if self.after == "units" else ()
        return [*given, (self.filters, *units)] if self.after else given

    def payload(self) -> str:
        def tensor(shape: tuple[int, ...]) -> str:
            return f"tensor<{'x'.join(map(str, shape))}xf32>"

        rank = len(self.image)
        x, w, *more = map(tensor, self.shapes)
        padded, d = tensor(self.ordered(self.channels, self.padded)), tensor(self.ordered(self.filters, self.places))
        name = {("first", 1): "conv_1d_ncw_fcw", ("first", 2): "conv_2d_nchw_fchw", ("first", 3): "conv_3d_ncdhw_fcdhw",
                ("last", 1): "conv_1d_nwc_wcf", ("last", 2): "conv_2d_nhwc_hwcf",
                ("last", 3): "conv_3d_ndhwc_dhwcf"}[self.layout, rank]  # fmt: skip
        if self.groups:
            name = "conv_2d_ngchw_gfchw"
        lines, image = [], "%X"
        if self.padding:
            zeros = self.along(self.padding, (0, 0))
            ends = [self.ordered(0, tuple(each[side] for each in zeros)) for side in (0, 1)]
            ends = [(0, *end[1:]) if not self.groups else (0, 0, *end[2:]) for end in ends]
            indices = ", ".join(f"%i{number}: index" for number in range(len(ends[0])))
            lines.append(f"""%P = tensor.pad %X low{list(ends[0])} high{list(ends[1])} {{
              ^bb0({indices}):
                tensor.yield %zero : f32
              }} : {x} to {padded}""")
            image = "%P"
        numbers = [
            f"{what} = dense<[{', '.join(map(str, self.along(given, 1)))}]> : tensor<{rank}xi64>"
            for what, given in (("strides", self.strides), ("dilations", self.dilations))
        ]
        lines.append(f"""%D = linalg.{name} {{{", ".join(numbers)}}} ins({image}, %W : {padded}, {w})
              outs(%z : {d}) -> {d}""")
        if self.after:
            all_ = [f"d{number}" for number in range(rank + 2)]
            channel = all_[-1] if self.layout == "last" else all_[1]
            same = f"affine_map<({', '.join(all_)}) -> ({', '.join(all_)})>"
            bias = f"affine_map<({', '.join(all_)}) -> ({channel}{', 0' * (len(more[0].split('x')) - 2)})>"
            lines.append(f"""%R = linalg.generic {{indexing_maps = [{same}, {bias}, {same}],
                iterator_types = [{", ".join(['"parallel"'] * (rank + 2))}]}}
                ins(%D, %bias : {d}, {more[0]}) outs(%e : {d}) {{
              ^bb0(%x: f32, %b: f32, %o: f32):
                %s = arith.addf %x, %b : f32
                %m = arith.maximumf %s, %zero : f32
                linalg.yield %m : f32
              }} -> {d}""")
        bias_argument = f", %bias: {more[0]}" if self.after else ""
        body = "\n".join(lines)
        return f"""func.func @f(%X: {x}, %W: {w}{bias_argument}) -> {d} {{
              %zero = arith.constant 0.0 : f32
              %e = tensor.empty() : {d}
              %z = linalg.fill ins(%zero : f32) outs(%e : {d}) -> {d}
              {body}
              return {"%R" if self.after else "%D"} : {d}
            }}"""

    def expected(self, x: np.ndarray, w: np.ndarray, *more: np.ndarray) -> np.ndarray:
        """By NumPy in f64: for each tap of the window, the products of its channels."""
        rank, groups = len(self.image), max(self.groups, 1)
        x, w = x.astype(np.float64), w.astype(np.float64)
        if self.layout == "last":
            x, w = np.moveaxis(x, -1, 1), np.moveaxis(w, (-1, -2), (0, 1))
        x = x.reshape(self.images, groups, self.channels, *self.image)
        w = w.reshape(groups, self.filters, self.channels, *self.window)
        x = np.pad(x, [(0, 0)] * 3 + list(self.along(self.padding, (0, 0))))
        result = np.zeros((self.images, groups, self.filters, *self.places))
        with np.errstate(all="ignore"):
            for tap in np.ndindex(*self.window):
                part = tuple(
                    slice(at * apart, at * apart + (count - 1) * step + 1, step)
                    for at, apart, count, step in zip(
                        tap, self.along(self.dilations, 1), self.places, self.along(self.strides, 1), strict=True
                    )
                )
                seen = x[(slice(None), slice(None), slice(None), *part)]
                result += np.einsum("ngc...,gfc->ngf...", seen, w[(slice(None), slice(None), slice(None), *tap)])
        if self.after:
            result = np.maximum(result + more[0].reshape(1, 1, -1, *(1,) * rank), 0)
        if not self.groups:
            result = result[:, 0]
        return np.moveaxis(result, 1, -1) if self.layout == "last" else result


@pytest.fixture
def run(driver, tmp_path) -> Callable[..., np.ndarray]:
    """What a convolution gives for arrays, between arrays of NaN."""

    def run_(case: Convolution, *arrays: np.ndarray, **options: Any) -> np.ndarray:
        kernel = compiled(case.payload(), schedule="gpu_model", params={}, **options)
        assert EXACT in ptx_of(kernel)
        assert ptx_of(kernel).count(".entry") == 1
        (result,) = on_this_cpu(kernel, driver, tmp_path, arrays)
        return result

    return run_


def draw(case: Convolution, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape).astype(np.float32) for shape in case.shapes]


def check(got: np.ndarray, right: np.ndarray) -> None:
    assert got.shape == right.shape
    finite = np.isfinite(right)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(right))
    np.testing.assert_array_equal(got[~finite], right[~finite])
    largest = np.abs(right[finite]).max(initial=0)
    assert np.abs(got[finite].astype(np.float64) - right[finite]).max(initial=0) <= ROUNDING * largest


CASES = {
    "2d": Convolution((13, 11), (3, 3)),
    "2d of one image": Convolution((20, 19), (3, 2), images=1, channels=7, filters=33),
    "2d strides": Convolution((23, 21), (3, 5), strides=(2, 3), channels=5, filters=24),
    "2d dilations": Convolution((17, 22), (3, 3), dilations=(2, 3)),
    "2d zeros": Convolution((9, 12), (3, 3), padding=((1, 1), (1, 1))),
    "2d zeros on one side, strides, dilations": Convolution(
        (15, 14), (4, 3), strides=(2, 1), dilations=(1, 2), padding=((2, 0), (0, 3)), channels=3, filters=24
    ),
    "2d of one tap": Convolution((9, 15), (1, 1), channels=68, filters=9),
    "2d last": Convolution((11, 14), (3, 3), layout="last"),
    "2d last zeros strides": Convolution(
        (13, 15), (3, 3), layout="last", strides=(2, 2), padding=((1, 1), (1, 1)), channels=33, filters=65
    ),
    "2d groups": Convolution((10, 11), (3, 3), groups=3, channels=4, filters=10),
    "2d groups zeros": Convolution((10, 9), (3, 3), groups=2, padding=((1, 1), (1, 1)), channels=4, filters=16),
    "1d": Convolution((150,), (5,)),
    "1d last zeros": Convolution((130,), (7,), layout="last", padding=((3, 3),), channels=3, filters=40),
    "3d": Convolution((6, 7, 8), (3, 2, 3), channels=3),
    "3d last strides zeros": Convolution(
        (7, 6, 9), (3, 3, 3), layout="last", strides=(1, 2, 1), padding=((1, 1), (1, 1), (1, 1)), channels=2
    ),
    "bias and relu": Convolution((13, 11), (3, 3), after="bias", filters=70),
    "bias that has dimensions of one element": Convolution((13, 11), (3, 3), after="units"),
    "bias that has a dimension of one element, 1d": Convolution((150,), (5,), after="units"),
    "bias and relu, last": Convolution((13, 11), (3, 3), after="bias", layout="last"),
    "bias and relu, 1d": Convolution((150,), (5,), after="bias", padding=((2, 2),)),
}
LARGE = {
    "tiles of 128 x 128": Convolution((98, 90), (3, 3), channels=2, filters=128, images=1, padding=((1, 1), (0, 2))),
    "tiles of 256 x 64": Convolution((70, 66), (2, 2), channels=4, filters=256, images=1),
    "tiles of 128 x 64, last": Convolution(
        (96, 97), (2, 2), channels=4, filters=64, images=1, layout="last", padding=((1, 0), (1, 1))
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_convolutions_are_exact_products(run, name):
    case = CASES[name]
    arrays = draw(case, 1)
    check(run(case, *arrays), case.expected(*arrays))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LARGE)
def test_larger_tiles(run, name):
    """Of workgroups that walk over several, whose images are several times smaller than their matrices."""
    case = LARGE[name]
    arrays = draw(case, 3)
    check(run(case, *arrays), case.expected(*arrays))


SQUARES = """
    %c0 = tensor.empty() : SHAPE
    %c1 = linalg.generic {indexing_maps = [MAP, MAP], iterator_types = [KINDS]} ins(%given : SHAPE) outs(%c0 : SHAPE) {
    ^bb0(%x: f32, %o: f32):
      %q = arith.mulf %x, %x : f32
      linalg.yield %q : f32
    } -> SHAPE
    %c2 = linalg.generic {indexing_maps = [MAP, MAP, MAP], iterator_types = [KINDS]}
        ins(%c1, %given : SHAPE, SHAPE) outs(%c0 : SHAPE) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %q = arith.subf %x, %y : f32
      linalg.yield %q : f32
    } -> SHAPE"""
_VECTOR, _UNITS = "tensor<16xf32>", "tensor<16x1x1xf32>"
# Of a convolution's bias: what it is when it is computed with, and how it is read.
OF_CHANNELS = {
    "a vector": ("bias", _VECTOR, "", "%c2"),
    "dimensions of one element": ("units", _UNITS, "", "%c2"),
    "a vector that is read with such": (
        "units",
        _VECTOR,
        f"%v = tensor.collapse_shape %bias [[0, 1, 2]] : {_UNITS} into {_VECTOR}",
        f"%u\n%u = tensor.expand_shape %c2 [[0, 1, 2]] output_shape [16, 1, 1] : {_VECTOR} into {_UNITS}",
    ),
}


@pytest.mark.parametrize("name", OF_CHANNELS)
def test_what_is_computed_of_channels_is_computed_where_it_is_read(driver, tmp_path, name):
    """As a norm of batches is: b * b - b for a bias of b."""
    after, shape, before, read = OF_CHANNELS[name]
    case = Convolution((13, 11), (3, 3), after=after)
    rank = shape.count("x")
    dims = ", ".join(f"c{number}" for number in range(rank))
    text = SQUARES.replace("SHAPE", shape).replace("MAP", f"affine_map<({dims}) -> ({dims})>")
    text = text.replace("KINDS", ", ".join(['"parallel"'] * rank)).replace("%given", "%v" if before else "%bias")
    read, _, behind = read.partition("\n")
    payload = case.payload().replace("%R =", f"{before}\n{text}\n{behind}\n%R =").replace("(%D, %bias", f"(%D, {read}")
    kernel = compiled(payload, schedule="gpu_model", params={})
    assert EXACT in ptx_of(kernel) and ptx_of(kernel).count(".entry") == 1
    x, w, bias = draw(case, 4)
    (got,) = on_this_cpu(kernel, driver, tmp_path, [x, w, bias])
    check(got, case.expected(x, w, bias * bias - bias))


def test_nans_and_infinities(run):
    """Zeros around the image are none of its elements: NaNs beside them come from the image alone."""
    case = Convolution((9, 12), (3, 3), padding=((1, 1), (1, 1)))
    x, w = draw(case, 2)
    x[0, 3, 0, 0], x[1, 2, 8, 11], x[1, 0, 4, 5], x[1, 1, 4, 5] = np.nan, np.inf, np.inf, -np.inf
    w[3, 3, 1, 1] = -np.inf
    check(run(case, x, w), case.expected(x, w))


def test_convolutions_stay_on_vector_units_where_that_is_said_or_they_are_small():
    def uses_matrix_unit(case: Convolution, **params: str) -> bool:
        return "mma.sync" in ptx_of(compiled(case.payload(), schedule="gpu_model", params=params))

    assert uses_matrix_unit(CASES["2d"])
    assert not uses_matrix_unit(CASES["2d"], f32_units="vector")
    assert not uses_matrix_unit(Convolution((13, 11), (3, 3), filters=7))
    assert not uses_matrix_unit(Convolution((13, 11), (1, 3), channels=5))
    assert not uses_matrix_unit(Convolution((5, 5), (3, 3)))
    # Few filters and long rows.
    few = {"filters": 15, "images": 4}
    assert not uses_matrix_unit(Convolution((9, 34), (3, 3), **few))
    assert uses_matrix_unit(Convolution((9, 33), (3, 3), **few))
    assert uses_matrix_unit(Convolution((9, 34), (3, 3), layout="last", **few))
    assert uses_matrix_unit(Convolution((9, 34), (3, 3), filters=16))


FEW = {
    "a row": Convolution((5, 258), (3, 3), channels=3, filters=8, images=1),
    "odd rows": Convolution((4, 131), (3, 2), channels=3, filters=7, padding=((1, 1), (0, 1)), after="bias"),
    "strides": Convolution((7, 80), (3, 3), channels=2, filters=11, strides=(2, 2), dilations=(1, 2)),
    "groups": Convolution((4, 60), (2, 3), channels=3, filters=5, groups=2, padding=((1, 0), (1, 1))),
    "1d": Convolution((300,), (20,), channels=2, filters=4),
    "3d": Convolution((3, 3, 40), (2, 2, 3), channels=2, filters=3, images=1),
}


@pytest.mark.parametrize("name", FEW)
def test_few_filters_share_what_threads_load(driver, tmp_path, name):
    case = FEW[name]
    x, w, *more = draw(case, 5)
    x[0, 0].flat[9], x[0, 1].flat[35], w[0].flat[1] = np.nan, np.inf, -np.inf
    kernel = compiled(case.payload(), schedule="gpu_model", params={})
    text = ptx_of(kernel)
    assert "mma.sync" not in text and "fma.rn.f32" in text and ".local" not in text
    (got,) = on_this_cpu(kernel, driver, tmp_path, [x, w, *more])
    check(got, case.expected(x, w, *more))


def test_threads_have_places_of_several_filters():
    text = ptx_of(compiled(FEW["a row"].payload(), schedule="gpu_model", params={}))
    assert ".reqntid 128" in text
    # Two places and eight filters for each of nine windows and three channels, in a loop or not.
    assert text.count("fma.rn.f32") % 16 == 0
    assert text.count("ld.global") * 16 < text.count("fma.rn.f32") * 12


def test_a_convolution_alone_is_compiled_as_one_of_a_program():
    kernel = xetile.compile(parse(CASES["2d"].payload()), target="sm_90a")
    assert EXACT in ptx_of(kernel)
