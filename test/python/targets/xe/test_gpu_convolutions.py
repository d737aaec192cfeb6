# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of f16 and bf16 on the matrix unit, whatever the order of their dimensions, and what is around them.

Numbers are small integers, of which all sums are exact. The order of a tensor's dimensions is a word: n images, g
groups, c channels, f filters, and d, h, w the pixels of an image, of a result, or the taps of a filter.
"""

import random
import re
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
from gpu_matmuls import parse
from gpu_programs import function, tensor

NUMPY = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
PIXELS = "dhw"


@dataclass(frozen=True)
class Layer:
    """A convolution with a bias for each filter, whose results are no less than 0 and narrow again."""

    sizes: dict[str, int]
    """Of n, g, c, f, and pixels of the result."""
    taps: dict[str, int]
    stride: int = 1
    dilation: int = 1
    padding: int = 0
    dtype: str = "f16"
    image: str = "nchw"
    filter: str = "fchw"
    result: str = "nfhw"
    starts: bool = False
    """Sums start from the bias, to which it is added otherwise."""

    def __post_init__(self):
        assert set(self.taps) == set(self.sizes) & set(PIXELS)

    def outer(self, letter: str) -> int:
        """Pixels of the image, with zeros around it."""
        return (self.sizes[letter] - 1) * self.stride + (self.taps[letter] - 1) * self.dilation + 1

    def image_shape(self) -> tuple[int, ...]:
        inner = {letter: self.outer(letter) - 2 * self.padding for letter in self.taps}
        return tuple((self.sizes | inner)[letter] for letter in self.image)

    def filter_shape(self) -> tuple[int, ...]:
        return tuple((self.sizes | self.taps)[letter] for letter in self.filter)

    def result_shape(self) -> tuple[int, ...]:
        return tuple(self.sizes[letter] for letter in self.result)

    def text(self, name: str, image: str, weights: str, bias: str) -> str:
        """Ops that define `name`; of a group each filter has the same bias."""
        loops = [*self.result, "c", *(f"k{letter}" for letter in self.taps)]
        dims = f"({', '.join(loops)})"
        places = [
            f"{letter} * {self.stride} + k{letter} * {self.dilation}" if letter in self.taps else letter
            for letter in self.image
        ]
        filters = [f"k{letter}" if letter in self.taps else letter for letter in self.filter]
        out = ", ".join(self.result)
        maps = ", ".join(f"affine_map<{dims} -> ({each})>" for each in (", ".join(places), ", ".join(filters), out))
        kinds = ", ".join(['"parallel"'] * len(self.result) + ['"reduction"'] * (1 + len(self.taps)))
        padded = tuple(
            self.outer(letter) if letter in self.taps else size
            for letter, size in zip(self.image, self.image_shape(), strict=True)
        )
        zeros = ", ".join(str(self.padding if letter in self.taps else 0) for letter in self.image)
        arguments = ", ".join(f"%{name}i{number}: index" for number in range(len(self.image)))
        x, p = tensor(self.image_shape(), self.dtype), tensor(padded, self.dtype)
        w, y = tensor(self.filter_shape(), self.dtype), tensor(self.result_shape(), "f32")
        narrow = tensor(self.result_shape(), self.dtype)
        each = f"affine_map<({out}) -> ({out})>"
        parallel = ", ".join(['"parallel"'] * len(self.result))
        source = f"%{name}p" if self.padding else image
        kind, others = tensor((self.sizes["f"],), "f32"), [i for i, letter in enumerate(self.result) if letter != "f"]
        start = f"linalg.fill ins(%{name}z : f32) outs(%{name}e : {y}) -> {y}"
        if self.starts:
            start = f"linalg.broadcast ins({bias} : {kind}) outs(%{name}e : {y}) dimensions = {others}"
        pad = f"""
%{name}o = arith.constant 0.0 : {self.dtype}
%{name}p = tensor.pad {image} low[{zeros}] high[{zeros}] {{
^bb0({arguments}):
  tensor.yield %{name}o : {self.dtype}
}} : {x} to {p}"""
        return f"""{pad if self.padding else ""}
%{name}z = arith.constant 0.0 : f32
%{name}e = tensor.empty() : {y}
%{name}s = {start}
%{name}c = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
    ins({source}, {weights} : {p}, {w}) outs(%{name}s : {y}) {{
^bb0(%a: {self.dtype}, %b: {self.dtype}, %o: f32):
  %0 = arith.extf %a : {self.dtype} to f32
  %1 = arith.extf %b : {self.dtype} to f32
  %2 = arith.mulf %0, %1 : f32
  %3 = arith.addf %o, %2 : f32
  linalg.yield %3 : f32
}} -> {y}
%{name}n = tensor.empty() : {narrow}
%{name} = linalg.generic {{indexing_maps = [{each}, affine_map<({out}) -> (f)>, {each}], iterator_types = [{parallel}]}}
    ins(%{name}c, {bias} : {y}, {kind}) outs(%{name}n : {narrow}) {{
^bb0(%a: f32, %b: f32, %o: {self.dtype}):
  %0 = {"arith.addf %a, %b" if not self.starts else "arith.addf %a, %a"} : f32
  %1 = arith.maximumf %0, %{name}z : f32
  %2 = arith.truncf %1 : f32 to {self.dtype}
  linalg.yield %2 : {self.dtype}
}} -> {narrow}
"""

    def reference(self, image: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """In f64, tap by tap, rounded once."""
        pads = [(self.padding, self.padding) if letter in self.taps else (0, 0) for letter in self.image]
        x, w = np.pad(image.astype(np.float64), pads), weights.astype(np.float64)
        total = np.zeros(self.result_shape())
        for at in np.ndindex(*self.taps.values()):
            tap = dict(zip(self.taps, at, strict=True))
            window = [
                slice(tap[each] * self.dilation, tap[each] * self.dilation + (self.sizes[each] - 1) * self.stride + 1,
                      self.stride) if each in tap else slice(None)
                for each in self.image
            ]  # fmt: skip
            factor = w[tuple(tap.get(each, slice(None)) for each in self.filter)]
            letters = "".join(each for each in self.filter if each not in tap)
            total += np.einsum(f"{self.image},{letters}->{self.result}", x[tuple(window)], factor)
        shape = [self.sizes["f"] if each == "f" else 1 for each in self.result]
        return np.maximum((total + bias.reshape(shape)) * (2 if self.starts else 1), 0).astype(NUMPY[self.dtype])


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return rng.integers(-1, 2, shape).astype(NUMPY[dtype])


def program(layers: list[Layer]) -> str:
    """Layers behind each other."""
    kinds, body, image = [("%x", tensor(layers[0].image_shape(), layers[0].dtype))], "", "%x"
    for number, layer in enumerate(layers):
        kinds += [(f"%w{number}", tensor(layer.filter_shape(), layer.dtype))]
        kinds += [(f"%b{number}", tensor((layer.sizes["f"],), "f32"))]
        body += layer.text(f"y{number}", image, f"%w{number}", f"%b{number}")
        image = f"%y{number}"
    return function(kinds, [(image, tensor(layers[-1].result_shape(), layers[-1].dtype))], body)


@pytest.fixture
def check(compile_kernel, rng):
    """Compiles layers, compares their result; the kernels in XeTile as text."""

    def check_(*layers: Layer, target: str = "pvc") -> str:
        kernel = compile_kernel(parse(program(list(layers))), target=target)
        value = numbers(rng, layers[0].image_shape(), layers[0].dtype)
        arrays = [value]
        for layer in layers:
            parameters = [
                numbers(rng, layer.filter_shape(), layer.dtype),
                rng.integers(-2, 3, layer.sizes["f"]).astype(np.float32),
            ]
            arrays += parameters
            value = layer.reference(value, *parameters)
        out = np.frombuffer(b"\xa5" * value.nbytes, value.dtype).reshape(value.shape).copy()
        before = [array.copy() for array in arrays]
        kernel(*arrays, out=out)
        np.testing.assert_array_equal(out.astype(np.float64), value.astype(np.float64))
        for array, was in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, was)
        return kernel.stages["1-xetile-workgroup"]

    return check_


def launches(text: str) -> int:
    return text.count("gpu.launch_func")


def mixed(letters: str, source: random.Random) -> str:
    return "".join(source.sample(letters, len(letters)))


def drawn(source: random.Random) -> Layer:
    rank = source.choice((1, 2, 2, 3))
    pixels = PIXELS[-rank:]
    groups = source.choice((1, 1, 2, 3))
    group = "g" if groups > 1 else ""
    taps = {letter: source.choice((1, 2, 3, 3)) for letter in pixels}
    taps[pixels[-1]] = 3
    limit = {1: 70, 2: 21, 3: 7}[rank]
    sizes = {"n": source.randint(1, 3), "g": groups, "c": source.randint(16, 75), "f": 8 * source.randint(4, 9)}
    sizes |= {letter: source.randint(2, limit) for letter in pixels}
    return Layer(
        sizes,
        taps,
        stride=source.randint(1, 3),
        dilation=source.randint(1, 2),
        padding=source.randint(0, 1),
        dtype=source.choice(("f16", "bf16")),
        image=mixed(f"n{group}c{pixels}", source) if source.random() < 0.3 else f"n{group}c{pixels}",
        filter=mixed(f"{group}fc{pixels}", source) if source.random() < 0.3 else f"{group}fc{pixels}",
        result=mixed(f"n{group}f{pixels}", source) if source.random() < 0.3 else f"n{group}f{pixels}",
        starts=source.random() < 0.5,
    )


@pytest.mark.one_in(6)
@pytest.mark.parametrize("number", range(60))
def test_convolutions_of_any_order_are_products(check, seed, number):
    source = random.Random(f"{seed}/{number}")
    layer = drawn(source)
    print(layer)
    assert "xetile.tile_mma" in check(layer, target=source.choice(("pvc", "bmg")))


SQUARE = {"n": 2, "c": 32, "f": 32, "h": 9, "w": 20}
WINDOW = {"h": 3, "w": 3}


@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(Layer(SQUARE | {"c": 15}, WINDOW), id="few channels"),
        pytest.param(Layer(SQUARE | {"f": 8}, WINDOW), id="few filters"),
        pytest.param(
            Layer(SQUARE | {"f": 16, "g": 2}, WINDOW, image="ngchw", filter="gfchw", result="ngfhw"),
            id="few filters in groups",
        ),
        pytest.param(Layer(SQUARE | {"f": 36}, WINDOW), id="filters that are no multiple of 8"),
    ],
)
def test_others_keep_their_order(check, layer):
    text = check(layer)
    assert launches(text) == 1
    assert not re.search(r"memref<2x9x20x(2x)?\d+xf16>", text), "the result has its channels last"


@pytest.mark.parametrize("filters", [16, 24])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_few_filters_are_products(check, filters, dtype):
    assert "xetile.tile_mma" in check(Layer(SQUARE | {"c": 40, "f": filters}, WINDOW, padding=1, dtype=dtype))


def test_a_filter_of_one_pixel_is_multiplied_with_the_image_as_it_is(check):
    text = check(Layer(SQUARE | {"h": 8}, {"h": 1, "w": 1}))
    assert launches(text) == 1
    assert "xetile.tile_mma" in text


def test_layers_behind_each_other_have_channels_last(check):
    """Only the first image, the filters and the last result are put in another order."""
    first = Layer(SQUARE, WINDOW, padding=1)
    text = check(
        first, Layer(SQUARE | {"f": 40}, WINDOW, padding=1), Layer(SQUARE | {"c": 40, "h": 7, "w": 18}, WINDOW)
    )
    # Two images with zeros around them, the third one has none; filters, convolutions, and the result.
    names = re.findall(r"gpu.func @\w+_\d+_(\w+)_kernel", text)
    assert sorted(names) == ["convolution"] * 3 + ["elementwise"] * (2 + 3 + 2)
    assert text.count("xetile.tile_mma") == 3


def test_channels_that_are_last_stay(check):
    """Nothing is in another order; the image with zeros around it is a kernel of its own."""
    layer = Layer(SQUARE, WINDOW, padding=1, image="nhwc", filter="hwcf", result="nhwf")
    text = check(layer)
    assert launches(text) == 2 and text.count("xetile.tile_mma") == 1


def test_a_row_is_added_behind_the_products(check):
    """Sums that start from a row of numbers for each pixel would be copies of it in registers."""
    text = check(Layer(SQUARE, WINDOW, image="nhwc", filter="hwcf", result="nhwf", starts=True))
    assert launches(text) == 1
    (start, *_) = re.findall(r"scf.for .* iter_args\(%\w+ = (%\w+)\)", text)
    assert f"{start} = arith.constant dense<0.000000e+00>" in text


def test_nan_and_infinities_reach_their_pixels_alone(compile_kernel):
    layer = Layer(SQUARE, WINDOW, padding=1)
    kernel = compile_kernel(parse(program([layer])), target="pvc")
    image = np.zeros(layer.image_shape(), np.float16)
    image[0, 31, 4, 5], image[1, 0, 0, 0] = np.nan, np.inf
    weights, bias = np.ones(layer.filter_shape(), np.float16), np.zeros(32, np.float32)
    out = np.full(layer.result_shape(), 3, np.float16)
    kernel(image, weights, bias, out=out)
    expected = np.zeros(layer.result_shape())
    expected[0, :, 3:6, 4:7], expected[1, :, :2, :2] = np.nan, np.inf
    np.testing.assert_array_equal(out.astype(np.float64), expected)
