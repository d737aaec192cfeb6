# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What schedules are for: programs on tensors of any sizes, with arrays for them and what they give in f64.

`CASES` has them by name, each a function of sizes that a generator draws, or of those that are given. Tests of all
schedules, `make fuzz KIND=schedules` and the table of `schedules/README.md` go over the same names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from attention_programs import Attention
from gpu_programs import DTYPES, function, generic, tensor

Array = np.ndarray[Any, Any]
NARROW = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 4e-6}
SUM = "%r = arith.addf %a0, %o : f32\nlinalg.yield %r : f32\n"


@dataclass(frozen=True)
class Case:
    """One program: its text, its arguments, what it gives in f64 and how far results may be from that.

    `close` is a share of the largest result, and an absolute distance for those around one.
    """

    text: str
    arrays: list[Array]
    expected: Array
    close: float
    params: Mapping[str, int | str] = field(default_factory=dict)

    def difference(self, got: Array) -> str:
        """How `got` differs from what is expected, "" where it is as close as it has to be."""
        wide = got.astype(np.float64)
        if wide.shape != self.expected.shape:
            return f"expected shape {self.expected.shape}, got {wide.shape}"
        scale = np.nanmax(np.abs(self.expected), initial=1.0, where=np.isfinite(self.expected))
        with np.errstate(invalid="ignore"):
            far = ~np.isclose(wide, self.expected, rtol=0, atol=self.close * scale, equal_nan=True)
        if not far.any():
            return ""
        at = tuple(int(each) for each in np.argwhere(far)[0])
        return f"{far.sum()} of {far.size} differ, the first at {at}: {wide[at]}, expected {self.expected[at]}"


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, size: float = 1.0) -> Array:
    return (rng.standard_normal(shape) * size).astype(np.float32).astype(DTYPES[dtype])


def wide(array: Array) -> Array:
    return array.astype(np.float64)


def contraction(
    name: str, a: tuple[str, str, str], b: tuple[str, str, str], shape: tuple[int, ...], to: str, k: str
) -> str:
    """Products of two tensors (name, type, dimensions) summed in f32 along `k`; dimensions are letters."""
    dims = ", ".join([*to, *k])
    maps = [f"({dims}) -> ({', '.join(each)})" for each in (a[2], b[2], to)]
    body = ""
    for i, (_, kind, _) in enumerate((a, b)):
        element = kind.rsplit("x", 1)[-1].strip(">")
        if element != "f32":
            body += f"%w{i} = arith.extf %a{i} : {element} to f32\n"
    x, y = (f"%w{i}" if f"%w{i} =" in body else f"%a{i}" for i in range(2))
    body += f"%p = arith.mulf {x}, {y} : f32\n%r = arith.addf %o, %p : f32\nlinalg.yield %r : f32\n"
    return generic(name, [a[:2], b[:2]], shape, "f32", maps, "p" * len(to) + "r" * len(k), body, "0.0")


def identity(rank: int) -> str:
    dims = ", ".join(f"d{i}" for i in range(rank))
    return f"({dims}) -> ({dims})"


# Matmuls.


def matmul(
    rng: np.random.Generator, m: int, n: int, k: int, dtype: str = "f16", form: str = "nn", batch: int = 0,
    then: str = "none", strided: bool = False, parts: int = 0,
) -> Case:  # fmt: skip
    """A * B; `form` says which operands are transposed, `then` what is computed of it, `strided` that batches are
    between rows and columns."""
    a_dims, b_dims = ("mk", "km")[form[0] == "t"], ("kn", "nk")[form[1] == "t"]
    to = "mn"
    if batch:
        a_dims, b_dims, to = (
            (each[0] + "b" + each[1] if strided and each is a_dims else "b" + each) for each in (a_dims, b_dims, to)
        )
    sizes = {"m": m, "n": n, "k": k, "b": batch}

    def shape_of(dims: str) -> tuple[int, ...]:
        return tuple(sizes[each] for each in dims)

    size = 1 / math.sqrt(k)
    a, b = numbers(rng, shape_of(a_dims), dtype, size), numbers(rng, shape_of(b_dims), dtype)
    shape = shape_of(to)
    kinds = [tensor(a.shape, dtype), tensor(b.shape, dtype)]
    body = contraction("%p", ("%a", kinds[0], a_dims), ("%b", kinds[1], b_dims), shape, to, "k")
    arguments, arrays = [("%a", kinds[0]), ("%b", kinds[1])], [a, b]
    expected = np.einsum(f"{a_dims},{b_dims}->{to}", wide(a), wide(b))
    product, out = tensor(shape, "f32"), "%p"
    same, line = identity(len(shape)), f"({', '.join(f'd{i}' for i in range(len(shape)))}) -> (d{len(shape) - 1})"
    if then != "none":
        body += {
            "relu": lambda: generic(
                "%y", [("%p", product)], shape, "f32", [same, same], "p" * len(shape),
                "%z = arith.constant 0.0 : f32\n%r = arith.maximumf %a0, %z : f32\nlinalg.yield %r : f32\n",
            ),
            "bias": lambda: generic(
                "%y", [("%p", product), ("%c", tensor((n,), "f32"))], shape, "f32", [same, line, same],
                "p" * len(shape), "%r = arith.addf %a0, %a1 : f32\nlinalg.yield %r : f32\n",
            ),
            "residual": lambda: generic(
                "%y", [("%p", product), ("%c", product)], shape, "f32", [same, same, same],
                "p" * len(shape), "%q = math.tanh %a0 : f32\n%r = arith.addf %q, %a1 : f32\nlinalg.yield %r : f32\n",
            ),
        }[then]()  # fmt: skip
        out = "%y"
        if then != "relu":
            more = numbers(rng, (n,) if then == "bias" else shape, "f32")
            arguments.append(("%c", tensor(more.shape, "f32")))
            arrays.append(more)
        expected = {
            "relu": lambda: np.maximum(expected, 0),
            "bias": lambda: expected + arrays[2],
            "residual": lambda: np.tanh(expected) + arrays[2],
        }[then]()
    text = function(arguments, [(out, product)], body)
    return Case(text, arrays, expected, NARROW["f32"], {"split_k": parts} if parts else {})


def mlp(
    rng: np.random.Generator, m: int, inner: int, hidden: int, n: int, dtype: str = "f16", gated: bool = False
) -> Case:
    """relu(X W) V, or with a gate X W / (1 + exp(-X W)) * (X U) V; hidden values are of the operands' type."""
    x = numbers(rng, (m, inner), dtype)
    w = [numbers(rng, (inner, hidden), dtype, 1 / math.sqrt(inner)) for _ in range(1 + gated)]
    v = numbers(rng, (hidden, n), dtype, 1 / math.sqrt(hidden))
    kinds = {"%x": tensor(x.shape, dtype), "%w": tensor(w[0].shape, dtype), "%v": tensor(v.shape, dtype)}
    wide_kind, narrow_kind = tensor((m, hidden), "f32"), tensor((m, hidden), dtype)
    body = contraction("%s", ("%x", kinds["%x"], "mk"), ("%w", kinds["%w"], "kn"), (m, hidden), "mn", "k")
    inputs = [("%s", wide_kind)]
    if gated:
        kinds["%u"] = kinds["%w"]
        body += contraction("%g", ("%x", kinds["%x"], "mk"), ("%u", kinds["%u"], "kn"), (m, hidden), "mn", "k")
        inputs.append(("%g", wide_kind))
        text = (
            "%one = arith.constant 1.0 : f32\n%n = arith.negf %a0 : f32\n%e = math.exp %n : f32\n"
            "%d = arith.addf %e, %one : f32\n%q = arith.divf %a0, %d : f32\n%t = arith.mulf %q, %a1 : f32\n"
        )
    else:
        text = "%z = arith.constant 0.0 : f32\n%t = arith.maximumf %a0, %z : f32\n"
    narrow = f"%r = arith.truncf %t : f32 to {dtype}\nlinalg.yield %r : {dtype}\n"
    both = "(m, n) -> (m, n)"
    body += generic("%h", inputs, (m, hidden), dtype, [both] * (len(inputs) + 1), "pp", text + narrow)
    body += contraction("%y", ("%h", narrow_kind, "mk"), ("%v", kinds["%v"], "kn"), (m, n), "mn", "k")
    arguments = [(name, kinds[name]) for name in ("%x", "%w", *(["%u"] if gated else []), "%v")]
    first = wide(x) @ wide(w[0])
    with np.errstate(over="ignore"):
        made = first / (1 + np.exp(-first)) * (wide(x) @ wide(w[1])) if gated else np.maximum(first, 0)
    return Case(function(arguments, [("%y", tensor((m, n), "f32"))], body), [x, *w, v], made @ wide(v), NARROW[dtype])


# Rows.


def in_f32(dtype: str, name: str = "%x", shape: tuple[int, ...] = ()) -> str:
    """%xw, the argument %x in f32."""
    if dtype == "f32":
        return ""
    return generic(
        f"{name}w", [(name, tensor(shape, dtype))], shape, "f32", [identity(len(shape))] * 2, "p" * len(shape),
        f"%r = arith.extf %a0 : {dtype} to f32\nlinalg.yield %r : f32\n",
    )  # fmt: skip


def softmax(rng: np.random.Generator, m: int, n: int, dtype: str = "f32", axis: int = 1, size: float = 1.0) -> Case:
    x = numbers(rng, (m, n), dtype, size)
    name = "%x" if dtype == "f32" else "%xw"
    kind = tensor((m, n), "f32")
    body = in_f32(dtype, "%x", (m, n))
    body += f"%e = tensor.empty() : {kind}\n"
    body += f"%y = linalg.softmax dimension({axis}) ins({name} : {kind}) outs(%e : {kind}) -> {kind}\n"
    powers = np.exp(wide(x) - wide(x).max(axis, keepdims=True))
    text = function([("%x", tensor((m, n), dtype))], [("%y", kind)], body)
    return Case(text, [x], powers / powers.sum(axis, keepdims=True), NARROW["f32"])


def norm(
    rng: np.random.Generator, kind: str, outer: tuple[int, ...], inner: tuple[int, ...], dtype: str = "f32",
    residual: bool = False,
) -> Case:  # fmt: skip
    """Of `inner` dimensions: "layer" about the mean, "rms" about zero, "group" with weights for each of the last outer
    dimensions; with a residual that is added before."""
    shape = outer + inner
    rank, count = len(shape), math.prod(inner)
    x = numbers(rng, shape, dtype) + DTYPES[dtype](0.5)
    dims = [f"d{i}" for i in range(rank)]
    all_, out = identity(rank), f"({', '.join(dims)}) -> ({', '.join(dims[: len(outer)])})"
    # Groups have a weight a channel, which is their first inner dimension.
    own = dims[len(outer) - 1 : len(outer) + 1] if kind == "group" else dims[len(outer) :]
    weight_shape = shape[len(outer) - 1 : len(outer) + 1] if kind == "group" else inner
    weights = f"({', '.join(dims)}) -> ({', '.join(own)})"
    w, b = numbers(rng, weight_shape, "f32"), numbers(rng, weight_shape, "f32")
    full, row, side = tensor(shape, "f32"), tensor(outer, "f32"), tensor(weight_shape, "f32")
    body, name, value = in_f32(dtype, "%x", shape), "%x" if dtype == "f32" else "%xw", wide(x)
    arguments, arrays = [("%x", tensor(shape, dtype)), ("%w", side), ("%b", side)], [x, w, b]
    if residual:
        more = numbers(rng, shape, "f32")
        arguments.append(("%more", full))
        arrays.append(more)
        body += generic(
            "%h", [(name, full), ("%more", full)], shape, "f32", [all_] * 3, "p" * rank,
            "%r = arith.addf %a0, %a1 : f32\nlinalg.yield %r : f32\n",
        )  # fmt: skip
        name, value = "%h", value + more
    iterators, share = "p" * len(outer) + "r" * len(inner), f"%k = arith.constant {1 / count:.17f} : f32\n"
    axes = tuple(range(len(outer), rank))
    inputs, maps, mean = [(name, full)], [all_], np.zeros(1)
    if kind != "rms":
        body += generic("%s", [(name, full)], outer, "f32", [all_, out], iterators, SUM, "0.0")
        inputs.append(("%s", row))
        maps.append(out)
        mean = value.mean(axes, keepdims=True)
    centre = f"{share}%m = arith.mulf %a1, %k : f32\n%c = arith.subf %a0, %m : f32\n" if kind != "rms" else ""
    c = "%c" if centre else "%a0"
    body += generic(
        "%v", inputs, outer, "f32", [*maps, out], iterators,
        f"{centre}%q = arith.mulf {c}, {c} : f32\n%r = arith.addf %q, %o : f32\nlinalg.yield %r : f32\n", "0.0",
    )  # fmt: skip
    i = len(inputs)
    body += generic(
        "%y", [*inputs, ("%v", row), ("%w", side), ("%b", side)], shape, "f32", [*maps, out, weights, weights, all_],
        "p" * rank,
        f"{centre or share}%e = arith.constant 1.0e-5 : f32\n%n = arith.mulf %a{i}, %k : f32\n"
        f"%f = arith.addf %n, %e : f32\n%g = math.rsqrt %f : f32\n%t = arith.mulf {c}, %g : f32\n"
        f"%u = arith.mulf %t, %a{i + 1} : f32\n%r = arith.addf %u, %a{i + 2} : f32\nlinalg.yield %r : f32\n",
    )  # fmt: skip
    centred = value - mean
    spread = np.sqrt((centred**2).mean(axes, keepdims=True) + 1e-5)
    lead = (1,) * (len(outer) - 1 if kind == "group" else len(outer))
    fit = lead + weight_shape + (1,) * (rank - len(lead) - len(weight_shape))
    expected = centred / spread * wide(w).reshape(fit) + wide(b).reshape(fit)
    return Case(function(arguments, [("%y", full)], body), arrays, expected, 1e-5)


def turn(name: str, x: Array, dtype: str) -> tuple[str, Array]:
    """%NAMEq, the heads of %NAME turned by the angles of their places: its text, and what it is."""
    heads, rows, size = x.shape
    half = size // 2
    kind, part, table = tensor(x.shape, dtype), tensor((heads, rows, half), dtype), tensor((rows, size), "f32")
    at = f"[{heads}, {rows}, {half}] [1, 1, 1] : {kind} to {part}\n"
    body = (
        f"{name}l = tensor.extract_slice {name}[0, 0, 0] {at}{name}h = tensor.extract_slice {name}[0, 0, {half}] {at}"
    )
    body += f"{name}m = arith.negf {name}h : {part}\n"
    body += f"{name}t = tensor.concat dim(2) {name}m, {name}l : ({part}, {part}) -> {kind}\n"
    all_ = identity(3)
    body += generic(
        f"{name}q", [(name, kind), (f"{name}t", kind), (f"{name}cos", table), (f"{name}sin", table)], x.shape, dtype,
        [all_, all_, "(d0, d1, d2) -> (d1, d2)", "(d0, d1, d2) -> (d1, d2)", all_], "ppp",
        f"%x0 = arith.extf %a0 : {dtype} to f32\n%x1 = arith.extf %a1 : {dtype} to f32\n"
        "%c = arith.mulf %x0, %a2 : f32\n%s = arith.mulf %x1, %a3 : f32\n%t = arith.addf %c, %s : f32\n"
        f"%r = arith.truncf %t : f32 to {dtype}\nlinalg.yield %r : {dtype}\n",
    )  # fmt: skip
    cos, sin = angles(rows, size)
    turned = np.concatenate([-wide(x)[..., half:], wide(x)[..., :half]], -1)
    return body, wide(x) * cos + turned * sin


def angles(rows: int, size: int) -> tuple[Array, Array]:
    """Cosines and sines for each place and each element of a head."""
    half = size // 2
    each = np.arange(rows)[:, None] / 100.0 ** (np.arange(half) / half)
    both = np.concatenate([each, each], 1)
    return np.cos(both).astype(np.float32), np.sin(both).astype(np.float32)


def rotary(
    rng: np.random.Generator, heads: int, rows: int, size: int, dtype: str = "f16", keys: int = 0, values: int = 0
) -> Case:
    """x cos + turned x sin for heads of an even `size`; with `keys`, then its product with as many turned keys, and
    with `values`, an attention with these."""
    table = tensor((rows, size), "f32")
    x = numbers(rng, (heads, rows, size), dtype)
    kind = tensor(x.shape, dtype)
    body, expected = turn("%x", x, dtype)
    arguments = [("%x", kind), ("%xcos", table), ("%xsin", table)]
    arrays = [x, *angles(rows, size)]
    if not keys:
        return Case(function(arguments, [("%xq", kind)], body), arrays, expected, NARROW[dtype] / 2)
    k = numbers(rng, (heads, keys, size), dtype, 1 / math.sqrt(size))
    more, turned = turn("%k", k, dtype)
    key, key_table = tensor(k.shape, dtype), tensor((keys, size), "f32")
    arguments += [("%k", key), ("%kcos", key_table), ("%ksin", key_table)]
    arrays += [k, *angles(keys, size)]
    shape, score = (heads, rows, keys), tensor((heads, rows, keys), "f32")
    body += more + contraction("%y", ("%xq", kind, "hmk"), ("%kq", key, "hnk"), shape, "hmn", "k")
    expected = np.einsum("hmk,hnk->hmn", expected, turned)
    if not values:
        return Case(function(arguments, [("%y", score)], body), arrays, expected, 2 * NARROW[dtype])
    v = numbers(rng, (heads, keys, values), dtype)
    value, power = tensor(v.shape, dtype), tensor(shape, dtype)
    body += f"%scores = tensor.empty() : {score}\n"
    body += f"%powers = linalg.softmax dimension(2) ins(%y : {score}) outs(%scores : {score}) -> {score}\n"
    body += generic(
        "%narrow", [("%powers", score)], shape, dtype, [identity(3)] * 2, "ppp",
        f"%r = arith.truncf %a0 : f32 to {dtype}\nlinalg.yield %r : {dtype}\n",
    )  # fmt: skip
    body += contraction("%z", ("%narrow", power, "hmn"), ("%v", value, "hnk"), (heads, rows, values), "hmk", "n")
    powers = np.exp(expected - expected.max(-1, keepdims=True))
    expected = np.einsum("hmn,hnk->hmk", powers / powers.sum(-1, keepdims=True), wide(v))
    result = [("%z", tensor((heads, rows, values), "f32"))]
    return Case(function([*arguments, ("%v", value)], result, body), [*arrays, v], expected, 2 * NARROW[dtype])


def convolution(
    rng: np.random.Generator, images: int, height: int, width: int, channels: int, filters: int, dtype: str = "f16",
    stride: int = 1, dilation: int = 1,
) -> Case:  # fmt: skip
    """3 x 3, channels last, of an image that was padded before; sums in f32."""
    span = 2 * dilation + 1
    x = numbers(rng, (images, (height - 1) * stride + span, (width - 1) * stride + span, channels), dtype)
    k = numbers(rng, (3, 3, channels, filters), dtype, 1 / math.sqrt(9 * channels))
    shape = (images, height, width, filters)
    kinds = [tensor(x.shape, dtype), tensor(k.shape, dtype), tensor(shape, "f32")]
    body = f"""%e = tensor.empty() : {kinds[2]}
%zero = arith.constant 0.0 : f32
%i = linalg.fill ins(%zero : f32) outs(%e : {kinds[2]}) -> {kinds[2]}
%y = linalg.conv_2d_nhwc_hwcf {{dilations = dense<{dilation}> : tensor<2xi64>,
                                strides = dense<{stride}> : tensor<2xi64>}}
  ins(%x, %k : {kinds[0]}, {kinds[1]}) outs(%i : {kinds[2]}) -> {kinds[2]}
"""
    expected = np.zeros(shape)
    for row in range(3):
        for column in range(3):
            at = [
                slice(tap * dilation, tap * dilation + (count - 1) * stride + 1, stride)
                for tap, count in ((row, height), (column, width))
            ]
            expected += np.einsum("bhwc,cf->bhwf", wide(x)[:, at[0], at[1]], wide(k[row, column]))
    text = function([("%x", kinds[0]), ("%k", kinds[1])], [("%y", kinds[2])], body)
    return Case(text, [x, k], expected, NARROW["f32"] * 2)


def pool(
    rng: np.random.Generator, planes: int, height: int, width: int, dtype: str = "f32", window: int = 2,
    stride: int = 1,
) -> Case:  # fmt: skip
    """Maxima of windows, planes one after the other; `height` and `width` are the results'."""
    x = numbers(rng, (1, planes, (height - 1) * stride + window, (width - 1) * stride + window), dtype)
    kind, result = tensor(x.shape, dtype), tensor((1, planes, height, width), dtype)
    body = f"""%e = tensor.empty() : {result}
%w = tensor.empty() : tensor<{window}x{window}x{dtype}>
%low = arith.constant {"0xFF800000" if dtype == "f32" else "0xFC00"} : {dtype}
%i = linalg.fill ins(%low : {dtype}) outs(%e : {result}) -> {result}
%y = linalg.pooling_nchw_max {{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}
  ins(%x, %w : {kind}, tensor<{window}x{window}x{dtype}>) outs(%i : {result}) -> {result}
"""
    places = np.ix_(*(np.arange(count) * stride for count in (height, width)))
    taps = [(row, column) for row in range(window) for column in range(window)]
    expected = np.max([wide(x)[..., places[0] + row, places[1] + column] for row, column in taps], axis=0)
    return Case(function([("%x", kind)], [("%y", result)], body), [x], expected, 0.0)


def embedding(rng: np.random.Generator, rows: int, places: int, size: int, dtype: str = "f32") -> Case:
    """Rows of a table, by `places` indices."""
    table, at = numbers(rng, (rows, size), dtype), rng.integers(0, rows, places)
    names = [("%at", tensor((places,), "i64")), ("%table", tensor((rows, size), dtype))]
    body = (
        "%i = arith.index_cast %a0 : i64 to index\n%j = linalg.index 1 : index\n"
        f"%r = tensor.extract %table[%i, %j] : {names[1][1]}\nlinalg.yield %r : {dtype}\n"
    )
    maps = ["(m, n) -> (m)", "(m, n) -> (m, n)"]
    text = generic("%y", names[:1], (places, size), dtype, maps, "pp", body)
    result = [("%y", tensor((places, size), dtype))]
    return Case(function(names, result, text), [at, table], wide(table)[at], 0.0)


def transpose(rng: np.random.Generator, shape: tuple[int, ...], order: tuple[int, ...], dtype: str = "f32") -> Case:
    x = numbers(rng, shape, dtype)
    kind, turned = tensor(shape, dtype), tensor([shape[i] for i in order], dtype)
    body = f"%e = tensor.empty() : {turned}\n"
    body += f"%y = linalg.transpose ins(%x : {kind}) outs(%e : {turned}) permutation = {list(order)}\n"
    return Case(function([("%x", kind)], [("%y", turned)], body), [x], wide(x).transpose(order), 0.0)


def chain(rng: np.random.Generator, m: int, n: int, dtype: str = "f32") -> Case:
    """exp(x) * r + c, with a row and a column."""
    x, r, c = numbers(rng, (m, n), dtype), numbers(rng, (n,), dtype), numbers(rng, (m,), dtype)
    names = [("%x", tensor((m, n), dtype)), ("%r", tensor((n,), dtype)), ("%c", tensor((m,), dtype))]
    maps = ["(m, n) -> (m, n)", "(m, n) -> (n)", "(m, n) -> (m)", "(m, n) -> (m, n)"]
    body = "".join(f"%x{i} = arith.extf %a{i} : {dtype} to f32\n" for i in range(3)) if dtype != "f32" else ""
    first, second, third = (f"%x{i}" if body else f"%a{i}" for i in range(3))
    body += (
        f"%p = math.exp {first} : f32\n%q = arith.mulf %p, {second} : f32\n%t = arith.addf %q, {third} : f32\n"
        "linalg.yield %t : f32\n"
    )
    text = generic("%y", names, (m, n), "f32", maps, "pp", body)
    expected = np.exp(wide(x)) * wide(r) + wide(c)[:, None]
    return Case(function(names, [("%y", tensor((m, n), "f32"))], text), [x, r, c], expected, NARROW["f32"])


def scan(rng: np.random.Generator, m: int, n: int, axis: int = 1) -> Case:
    """Running sums of f32 along an axis."""
    x = numbers(rng, (m, n), "f32")
    kind, line = tensor((m, n), "f32"), tensor(((m, n)[1 - axis],), "f32")
    last = f"(d0, d1) -> (d{1 - axis})"
    kinds = ", ".join('"reduction"' if dim == axis else '"parallel"' for dim in range(2))
    body = f"""%e = tensor.empty() : {kind}
%l = tensor.empty() : {line}
%zero = arith.constant 0.0 : f32
%i = linalg.fill ins(%zero : f32) outs(%l : {line}) -> {line}
%y, %s = linalg.generic {{indexing_maps = [affine_map<{identity(2)}>, affine_map<{identity(2)}>, affine_map<{last}>],
  iterator_types = [{kinds}]}} ins(%x : {kind}) outs(%e, %i : {kind}, {line}) {{
^bb0(%a: f32, %b: f32, %c: f32):
  %t = arith.addf %c, %a : f32
  linalg.yield %t, %t : f32, f32
}} -> ({kind}, {line})
"""
    return Case(function([("%x", kind)], [("%y", kind)], body), [x], np.cumsum(wide(x), axis), NARROW["f32"])


def attention(rng: np.random.Generator, parts: int = 0, size: float = 1.0, **sizes: Any) -> Case:
    """`attention_programs.Attention` of these sizes; scores of about `size`."""
    case = Attention(**sizes)
    arrays = case.arrays(int(rng.integers(2**31)), size)
    with np.errstate(invalid="ignore"):
        expected = case.reference(arrays)
    close = {"f16": 2e-3, "bf16": 8e-3, "f32": 1e-5}[case.dtype]
    return Case(case.text(), arrays, expected, close, {"split_keys": parts} if parts else {})


MAKERS: dict[str, Callable[..., Case]] = {
    each.__name__: each
    for each in (
        attention, chain, convolution, embedding, matmul, mlp, norm, pool, rotary, scan, softmax, transpose
    )
}  # fmt: skip
