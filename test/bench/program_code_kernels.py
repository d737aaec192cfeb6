# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that program_code.py compares: each as linalg for us, as options of a file in OpenCL C for the peer.

What is not elementwise is computed in f32 on both sides. maxnumf and minnumf are fmax and fmin of OpenCL C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xetile.schedule import figures

SIDE = 1024  # of matrices; a row of a softmax
ODD = (1031, 1021)  # rows and columns
LONG = (64, 98304)  # of rows that fit no registers
MANY = (65536, 1024)  # more rows than a GPU has hardware threads, by far
SQUARE = (SIDE, SIDE)
PLANES, POOLED = 32, 32  # of a pooling: planes, and rows and columns of its results
IMAGES, PIXELS, CHANNELS = (
    4,
    32,
    64,
)  # of a convolution: images, rows and columns of its results, channels of both sides
SIZE = 4096  # of a matmul's matrices
HEADS, QUERIES = 16, 1024  # of an attention: heads, queries and keys of each
CACHED = 4096  # keys of one query
LAYER = (4096, 256, 64)  # rows of a perceptron, hidden values, inputs and results
SCHEDULES = Path(__file__).parents[2] / "schedules"
ROWS_BY_HAND = "hand_written_rows.cl"
ROW, COLUMN, BOTH = "(m, n) -> (n)", "(m, n) -> (m)", "(m, n) -> (m, n)"

# Instructions that ours have at most, of all kernels of a row: on pvc, on bmg. More are a loss that `make bench` tells.
MOST = figures.most_of_programs()


@dataclass(frozen=True)
class Bench:
    """One kernel: our payload, and what the preprocessor of `source` is told.

    The kernel's `elements` are counted in units of `each`, called `work`; by hand it has so many `subgroups`, or 0
    where a loop of it is counted. One that keeps NaN has `keeping` of them, where the other by hand drops it. Of `rows`
    a subgroup computes as many in turn as the loop of its code has rounds, each of which counts. Other loops have
    `turns`, 0 if that is not known.
    """

    name: str
    dtype: str
    payload: str
    defines: str
    elements: int
    subgroups: int
    each: int = 16
    work: str = "16 elements"
    large: bool = False
    schedule: str | None = None
    params: Mapping[str, int] = field(default_factory=dict)
    keeping: int = 0
    rows: int = 0
    turns: int = 0
    source: str = "hand_written_products.cl"

    @property
    def by_hand(self) -> str:
        """Options of ocloc."""
        large = "-ze-opt-large-register-file " if self.large else ""
        return f"-cl-std=CL3.0 {large}-D TYPE={self.dtype[1:]} {self.defines}"


def tensor(shape: Sequence[int], dtype: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"


def generic(
    name: str,
    inputs: Sequence[tuple[str, Sequence[int], str, str]],
    result: tuple[Sequence[int], str, str],
    body: Sequence[str],
    init: str = "",
) -> str:
    """A linalg.generic of two loops: inputs are (name, shape, type, map), the result (shape, type, map).

    The body computes %r of %a0, %a1, ..; with the number `init` it is a reduction along n that has %o so far.
    """
    shape, dtype, to = result
    out = tensor(shape, dtype)
    maps = ", ".join(f"affine_map<{each}>" for each in [*(kind for *_, kind in inputs), to])
    kinds = '"parallel", "reduction"' if init else '"parallel", "parallel"'
    start = f"%{name}e = tensor.empty() : {out}\n"
    if init:
        start += f"%{name}n = arith.constant {init} : {dtype}\n"
        start += f"%{name}i = linalg.fill ins(%{name}n : {dtype}) outs(%{name}e : {out}) -> {out}\n"
    arguments = ", ".join([*(f"%a{i}: {kind}" for i, (_, _, kind, _) in enumerate(inputs)), f"%o: {dtype}"])
    operands = ", ".join(f"%{each}" for each, *_ in inputs)
    types = ", ".join(tensor(shape, kind) for _, shape, kind, _ in inputs)
    lines = "\n".join(body)
    return f"""{start}%{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
  ins({operands} : {types}) outs(%{name}{"i" if init else "e"} : {out}) {{
^bb0({arguments}):
{lines}
linalg.yield %r : {dtype}
}} -> {out}
"""


def function(
    arguments: Sequence[tuple[str, Sequence[int], str]], result: tuple[str, Sequence[int], str], body: str
) -> str:
    """A function of tensors, each (name, shape, type)."""
    parameters = ", ".join(f"%{name}: {tensor(shape, dtype)}" for name, shape, dtype in arguments)
    name, shape, dtype = result
    kind = tensor(shape, dtype)
    return f"func.func @program({parameters}) -> {kind} {{\n{body}return %{name} : {kind}\n}}\n"


def in_f32(dtype: str, body: Sequence[str], inputs: int = 1, narrow: bool = True) -> list[str]:
    """The body on %x0, %x1, .. in f32, of the first inputs; its %w, in the type of the tensors if `narrow`, is %r."""
    lines = list(body)
    if dtype == "f32":
        names = {f"%x{i}": f"%a{i}" for i in range(inputs)}
    else:
        names = {}
        lines = [f"%x{i} = arith.extf %a{i} : {dtype} to f32" for i in range(inputs)] + lines
        if narrow:
            return [*lines, f"%r = arith.truncf %w : f32 to {dtype}"]
    names["%w"] = "%r"
    for old, new in names.items():
        lines = [line.replace(old, new) for line in lines]
    return lines


def chain(dtype: str, shape: tuple[int, int]) -> str:
    """y = min(max(x * r + c - 0.5, 0), 6) * x with a row r and a column c: six operations."""
    m, n = shape
    body = [
        f"%half = arith.constant 0.5 : {dtype}",
        f"%zero = arith.constant 0.0 : {dtype}",
        f"%six = arith.constant 6.0 : {dtype}",
        f"%1 = arith.mulf %a0, %a1 : {dtype}",
        f"%2 = arith.addf %1, %a2 : {dtype}",
        f"%3 = arith.subf %2, %half : {dtype}",
        f"%4 = arith.maxnumf %3, %zero : {dtype}",
        f"%5 = arith.minnumf %4, %six : {dtype}",
        f"%r = arith.mulf %5, %a0 : {dtype}",
    ]
    inputs = [("x", shape, dtype, BOTH), ("row", (n,), dtype, ROW), ("col", (m,), dtype, COLUMN)]
    arguments = [("x", shape, dtype), ("row", (n,), dtype), ("col", (m,), dtype)]
    return function(arguments, ("y", shape, dtype), generic("y", inputs, (shape, dtype, BOTH), body))


def softmax(dtype: str, powers_of_2: bool, shape: tuple[int, int] = SQUARE) -> str:
    """Of each row. Powers of 2 of what was scaled before, of long rows of what is after, and a factor in place of a
    quotient, or exp as it is."""
    column = (shape[0],)
    x, top = ("x", shape, dtype, BOTH), ("top", column, "f32", COLUMN)
    if powers_of_2:
        exp = [
            "%log = arith.constant 1.44269504 : f32",
            "%n = arith.mulf %a1, %log : f32",
            "%b = arith.negf %n : f32",
            "%d = math.fma %x0, %log, %b : f32",
            "%w = math.exp2 %d : f32",
        ]
        if shape == LONG:
            exp = [exp[0], "%f = arith.subf %x0, %a1 : f32", "%d = arith.mulf %f, %log : f32", exp[-1]]
        scale = ["%one = arith.constant 1.0 : f32", "%q = arith.divf %one, %a1 : f32", "%w = arith.mulf %a0, %q : f32"]
    else:
        exp = ["%d = arith.subf %x0, %a1 : f32", "%w = math.exp %d : f32"]
        scale = ["%w = arith.divf %a0, %a1 : f32"]
    most = "maxnumf" if powers_of_2 else "maximumf"
    body = generic(
        "top",
        [x],
        (column, "f32", COLUMN),
        in_f32(dtype, [f"%w = arith.{most} %x0, %o : f32"], narrow=False),
        "0xFF800000",
    )
    body += generic("e", [x, top], (shape, "f32", BOTH), in_f32(dtype, exp, narrow=False))
    e, s = ("e", shape, "f32", BOTH), ("s", column, "f32", COLUMN)
    body += generic("s", [e], (column, "f32", COLUMN), ["%r = arith.addf %a0, %o : f32"], "0.0")
    body += generic("y", [e, s], (shape, dtype, BOTH), in_f32(dtype, scale, inputs=0))
    return function([("x", shape, dtype)], ("y", shape, dtype), body)


def layer_norm(dtype: str, shape: tuple[int, int] = SQUARE) -> str:
    """Of each row, with a gain and a bias for each column."""
    column, row = (shape[0],), (shape[1],)
    x = ("x", shape, dtype, BOTH)
    share = [f"%share = arith.constant {1 / shape[1]:.17f} : f32"]
    body = generic(
        "s", [x], (column, "f32", COLUMN), in_f32(dtype, ["%w = arith.addf %x0, %o : f32"], narrow=False), "0.0"
    )
    centre = [*share, "%mean = arith.mulf %a1, %share : f32", "%w = arith.subf %x0, %mean : f32"]
    body += generic("d", [x, ("s", column, "f32", COLUMN)], (shape, "f32", BOTH), in_f32(dtype, centre, narrow=False))
    d = ("d", shape, "f32", BOTH)
    squares = ["%2 = arith.mulf %a0, %a0 : f32", "%r = arith.addf %2, %o : f32"]
    body += generic("v", [d], (column, "f32", COLUMN), squares, "0.0")
    scale = [
        *share,
        "%little = arith.constant 1.0e-5 : f32",
        "%var = arith.mulf %a3, %share : f32",
        "%3 = arith.addf %var, %little : f32",
        "%4 = math.rsqrt %3 : f32",
        "%5 = arith.mulf %a2, %4 : f32",
        "%6 = arith.mulf %5, %x0 : f32",
        "%w = arith.addf %6, %x1 : f32",
    ]
    inputs = [("g", row, dtype, ROW), ("b", row, dtype, ROW), d, ("v", column, "f32", COLUMN)]
    body += generic("y", inputs, (shape, dtype, BOTH), in_f32(dtype, scale, inputs=2))
    return function([("x", shape, dtype), ("g", row, dtype), ("b", row, dtype)], ("y", shape, dtype), body)


def row_sum(dtype: str) -> str:
    """Of each row; of f16 in f32, then rounded."""
    shape, column = (SIDE, SIDE), (SIDE,)
    add = in_f32(dtype, ["%w = arith.addf %x0, %o : f32"], narrow=False)
    body = generic("s", [("x", shape, dtype, BOTH)], (column, "f32", COLUMN), add, "0.0")
    if dtype == "f32":
        return function([("x", shape, dtype)], ("s", column, dtype), body)
    out = tensor(column, dtype)
    body += f"""%e = tensor.empty() : {out}
%y = linalg.generic {{indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}}
  ins(%s : {tensor(column, "f32")}) outs(%e : {out}) {{
^bb0(%a: f32, %o: {dtype}):
%r = arith.truncf %a : f32 to {dtype}
linalg.yield %r : {dtype}
}} -> {out}
"""
    return function([("x", shape, dtype)], ("y", column, dtype), body)


def transpose(dtype: str) -> str:
    kind = tensor((SIDE, SIDE), dtype)
    body = (
        f"%e = tensor.empty() : {kind}\n%y = linalg.transpose ins(%x : {kind}) outs(%e : {kind}) permutation = [1, 0]\n"
    )
    return function([("x", (SIDE, SIDE), dtype)], ("y", (SIDE, SIDE), dtype), body)


def convolution(dtype: str, stride: int) -> str:
    """3 x 3, channels last, the image padded before; sums in f32."""
    side = (PIXELS - 1) * stride + 3
    image, kernel = (IMAGES, side, side, CHANNELS), (3, 3, CHANNELS, CHANNELS)
    result = (IMAGES, PIXELS, PIXELS, CHANNELS)
    x, k, y = tensor(image, dtype), tensor(kernel, dtype), tensor(result, "f32")
    body = f"""%e = tensor.empty() : {y}
%zero = arith.constant 0.0 : f32
%i = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
%y = linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}
  ins(%x, %k : {x}, {k}) outs(%i : {y}) -> {y}
"""
    return function([("x", image, dtype), ("k", kernel, dtype)], ("y", result, "f32"), body)


def layer(dtype: str) -> str:
    """The same of an image that a kernel pads, with a bias and relu: channels first, as PyTorch has them."""
    outer, result = PIXELS + 2, (IMAGES, CHANNELS, PIXELS, PIXELS)
    image, padded, kernel = result, (IMAGES, CHANNELS, outer, outer), (CHANNELS, CHANNELS, 3, 3)
    x, p, k = (tensor(shape, dtype) for shape in (image, padded, kernel))
    y, narrow = tensor(result, "f32"), tensor(result, dtype)
    body = f"""%e = tensor.empty() : {y}
%zero = arith.constant 0.0 : f32
%none = arith.constant 0.0 : {dtype}
%p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {{
^bb0(%i: index, %j: index, %l: index, %m: index):
tensor.yield %none : {dtype}
}} : {x} to {p}
%s = linalg.broadcast ins(%b : {tensor((CHANNELS,), "f32")}) outs(%e : {y}) dimensions = [0, 2, 3]
%c = linalg.conv_2d_nchw_fchw {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}}
  ins(%p, %k : {p}, {k}) outs(%s : {y}) -> {y}
%n = tensor.empty() : {narrow}
%y = linalg.generic {{indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>,
  affine_map<(n, f, h, w) -> (n, f, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
  ins(%c : {y}) outs(%n : {narrow}) {{
^bb0(%a: f32, %o: {dtype}):
%r = arith.maximumf %a, %zero : f32
%t = arith.truncf %r : f32 to {dtype}
linalg.yield %t : {dtype}
}} -> {narrow}
"""
    return function([("x", image, dtype), ("k", kernel, dtype), ("b", (CHANNELS,), "f32")], ("y", result, dtype), body)


def max_pool(dtype: str) -> str:
    """2 x 2 with stride 2, planes one after the other."""
    image, result = (1, PLANES, 2 * POOLED, 2 * POOLED), (1, PLANES, POOLED, POOLED)
    x, y = tensor(image, dtype), tensor(result, dtype)
    low = {"f32": "0xFF800000", "f16": "0xFC00"}[dtype]
    body = f"""%e = tensor.empty() : {y}
%w = tensor.empty() : tensor<2x2x{dtype}>
%low = arith.constant {low} : {dtype}
%i = linalg.fill ins(%low : {dtype}) outs(%e : {y}) -> {y}
%y = linalg.pooling_nchw_max {{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}}
  ins(%x, %w : {x}, tensor<2x2x{dtype}>) outs(%i : {y}) -> {y}
"""
    return function([("x", image, dtype)], ("y", result, dtype), body)


def attention(size: int) -> str:
    """softmax(Q K^T / 8) V for heads of `size` elements; scores and sums in f32."""
    text = (SCHEDULES / "payloads" / "attention_f16.mlir").read_text()
    return text.replace("x64x", f"x{size}x")


def decode() -> str:
    """softmax(q K^T / 8) V of one query a head, whose keys workgroups share."""
    text = attention(64)
    for old, new in (
        (f"{QUERIES}x{QUERIES}x", f"1x{CACHED}x"),
        (f"%Q: tensor<{HEADS}x{QUERIES}x", f"%Q: tensor<{HEADS}x1x"),
        (f"tensor<{HEADS}x{QUERIES}x64xf32>", f"tensor<{HEADS}x1x64xf32>"),
        (f"ins(%Q, %T : tensor<{HEADS}x{QUERIES}x", f"ins(%Q, %T : tensor<{HEADS}x1x"),
        (f"x{QUERIES}", f"x{CACHED}"),
    ):
        text = text.replace(old, new)
    return text


def matmul(size: int) -> str:
    """C = A B + C."""
    a, c = tensor((size, size), "f16"), tensor((size, size), "f32")
    return f"""
      func.func @matmul(%a: {a}, %b: {a}, %c: {c}) -> {c} {{
        %d = linalg.matmul ins(%a, %b : {a}, {a}) outs(%c : {c}) -> {c}
        return %d : {c}
      }}"""


def benches() -> list[Bench]:
    """All rows of the table."""
    rows, side = [], f"-D M={SIDE} -D N={SIDE}"
    results = IMAGES * PIXELS * PIXELS * CHANNELS
    for dtype in ("f32", "f16"):

        def matrix(name: str, payload: str, defines: str, subgroups: int = SIDE, dtype: str = dtype) -> Bench:
            return Bench(name, dtype, payload, f"-D {defines} {side}", SIDE * SIDE, subgroups, source=ROWS_BY_HAND)

        odd = -(-ODD[0] // 8) * -(-ODD[1] // 64)
        rows += [
            matrix("chain of 6", chain(dtype, (SIDE, SIDE)), "CHAIN", SIDE * SIDE // 512),
            Bench(
                "chain of 6, odd pitch", dtype, chain(dtype, ODD), f"-D CHAIN_ODD -D M={ODD[0]} -D N={ODD[1]}",
                ODD[0] * ODD[1], odd, source=ROWS_BY_HAND,
            ),
            matrix("row softmax", softmax(dtype, False), "SOFTMAX"),
            matrix("row softmax, exp2", softmax(dtype, True), "SOFTMAX -D POWERS_OF_2"),
            matrix("layer norm", layer_norm(dtype), "LAYER_NORM"),
            Bench(
                "layer norm of many rows", dtype, layer_norm(dtype, MANY), f"-D LAYER_NORM {side}", MANY[0] * MANY[1],
                MANY[0], rows=MANY[0], source=ROWS_BY_HAND,
            ),
            matrix("sum of rows", row_sum(dtype), "ROW_SUM"),
            *(
                Bench(
                    name, dtype, payload, f"-D {define} -D N={LONG[1]}", LONG[0] * LONG[1], LONG[0] * LONG[1] // SIDE,
                    source=ROWS_BY_HAND,
                )
                for name, payload, define in (
                    ("softmax of long rows, exp2", softmax(dtype, True, LONG), "LONG_SOFTMAX"),
                    ("layer norm of long rows", layer_norm(dtype, LONG), "LONG_NORM"),
                )
            ),
            matrix("transpose", transpose(dtype), "TRANSPOSE", SIDE * SIDE // 256),
        ]  # fmt: skip
        size = f"-D H={PIXELS} -D W={PIXELS} -D C={CHANNELS} -D F={CHANNELS}"
        rows += [
            Bench(
                f"convolution, stride {stride}", dtype, convolution(dtype, stride),
                f"-D CONVOLUTION -D STRIDE={stride} {size}", results * 9 * CHANNELS, 0, 2048, "2048 products", True,
            )
            for stride in (1, 2)
        ]  # fmt: skip
        if dtype == "f16":
            rows.append(
                Bench(
                    "convolution, channels first, bias, relu", dtype, layer(dtype),
                    f"-D CONVOLUTION -D STRIDE=1 {size}", results * 9 * CHANNELS, 0, 2048, "2048 products", True,
                )
            )  # fmt: skip
        pooled = PLANES * POOLED * POOLED
        rows.append(
            Bench(
                "max pool 2x2",
                dtype,
                max_pool(dtype),
                f"-D MAX_POOL -D H={POOLED} -D W={POOLED}",
                pooled,
                pooled // 128,
                keeping=pooled // 256,
                source=ROWS_BY_HAND,
            )
        )
    # Queries of a subgroup, keys of a step: the same on both sides.
    for width, queries, keys in ((64, 16, 64), (128, 8, 128)):
        tiles = f"-D N={QUERIES} -D C={width} -D ROWS={queries} -D KEYS={keys}"
        products = 2 * HEADS * QUERIES * QUERIES * width
        rows.append(
            Bench(
                f"attention, heads of {width}", "f16", attention(width), f"-D ATTENTION {tiles}",
                products, HEADS * QUERIES // queries, 2048, "2048 products", True, turns=QUERIES // keys,
            )
        )  # fmt: skip
    rows.append(
        Bench(
            "attention with lazy maxima, heads of 64, by hand exact", "f16", attention(64),
            f"-D ATTENTION -D N={QUERIES} -D C=64 -D ROWS=16 -D KEYS=64",
            2 * HEADS * QUERIES * QUERIES * 64, HEADS * QUERIES // 16, 2048, "2048 products", True,
            "attention", {"lazy": 60}, turns=QUERIES // 64,
        )
    )  # fmt: skip
    rows.append(
        Bench(
            "attention of bf16, heads of 128, by hand of f16", "f16", attention(128).replace("f16", "bf16"),
            f"-D ATTENTION -D N={QUERIES} -D C=128 -D ROWS=8 -D KEYS=64",
            2 * HEADS * QUERIES * QUERIES * 128, HEADS * QUERIES // 8, 2048, "2048 products", True, turns=QUERIES // 64,
        )
    )  # fmt: skip
    rows.append(
        Bench(
            "perceptron in one kernel", "f16", (SCHEDULES / "payloads" / "mlp_f16.mlir").read_text(),
            f"-D PERCEPTRON -D M={LAYER[0]} -D N={LAYER[1]} -D C={LAYER[2]} -D ROWS=16 -D KEYS=64",
            2 * LAYER[0] * LAYER[1] * LAYER[2], LAYER[0] // 16, 2048, "2048 products", True, "mlp",
            turns=LAYER[1] // 64,
        )
    )  # fmt: skip
    # The part of the keys that a subgroup has: its loop, of 8 rows, is the matrix unit's work for one query.
    rows.append(
        Bench(
            "attention of one query", "f16", decode(), f"-D ATTENTION -D N={CACHED} -D C=64 -D ROWS=8 -D KEYS=64",
            2 * HEADS * CACHED * 64, 0, 2048, "2048 products", True,
        )
    )  # fmt: skip
    rows.append(
        Bench(
            "matmul through shared memory", "f16", matmul(SIZE), f"-D STAGED_MATMUL -D N={SIZE}",
            2 * SIZE**3, 0, 2048, "2048 products", True, "matmul", {"slm_buffers": 2},
        )
    )  # fmt: skip
    return rows
