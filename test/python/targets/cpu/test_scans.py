# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans as loops on tensors, compiled for the CPU: vectors of every machine, odd sizes, threads, what is no scan."""

import numpy as np
import pytest
import xetile
from xetile.mlir import ir

OPS = {
    "addf": (np.cumsum, "0.0", "f64"),
    "mulf": (np.cumprod, "1.0", "f64"),
    "maximumf": (np.maximum.accumulate, "0xFFF0000000000000", "f64"),
    "addi": (np.cumsum, "0", "i32"),
    "muli": (np.cumprod, "1", "i32"),
    "minsi": (np.minimum.accumulate, "2147483647", "i32"),
    "xori": (np.bitwise_xor.accumulate, "0", "i32"),
}


def compiled(source, **options):
    with ir.Context():
        return xetile.compile(ir.Module.parse(source), target="cpu", **options)


def text(op, rows, low, high, size, bits):
    """Rows of `size`, scanned from `low` to `high`; the result's other elements are those of the second argument."""
    _, neutral, wide = OPS[op]
    element = "f32" if wide == "f64" else "i32"
    widened, rounded = ("%wide", "%narrow") if wide == "f64" else ("%e", "%s")
    conversions = ["%wide = arith.extf %e : f32 to f64", "%narrow = arith.truncf %s : f64 to f32"]
    convert, back = conversions if wide == "f64" else ("", "")
    whole = f"tensor<{rows}x{size}x{element}>"
    return f"""
module attributes {{dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "max_vector_width" = {bits} : i32, "L2_cache_size_in_bytes" = 4096 : i32>>}} {{
func.func @scan(%x: {whole}, %any: {whole}) -> ({whole}, tensor<{rows}x{wide}>) {{
  %first = arith.constant {neutral} : {wide}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant {rows} : index
  %low = arith.constant {low} : index
  %high = arith.constant {high} : index
  %none = tensor.empty() : tensor<{rows}x{wide}>
  %all:2 = scf.for %m = %c0 to %rows step %c1
      iter_args(%out = %any, %ends = %none) -> ({whole}, tensor<{rows}x{wide}>) {{
    %row:2 = scf.for %n = %low to %high step %c1 iter_args(%to = %out, %before = %first) -> ({whole}, {wide}) {{
      %e = tensor.extract %x[%m, %n] : {whole}
      {convert}
      %s = arith.{op} {widened}, %before : {wide}
      {back}
      %next = tensor.insert {rounded} into %to[%m, %n] : {whole}
      scf.yield %next, %s : {whole}, {wide}
    }}
    %end = tensor.insert %row#1 into %ends[%m] : tensor<{rows}x{wide}>
    scf.yield %row#0, %end : {whole}, tensor<{rows}x{wide}>
  }}
  return %all#0, %all#1 : {whole}, tensor<{rows}x{wide}>
}}
}}"""


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("size", [1, 3, 8, 29, 1000])
@pytest.mark.parametrize("op", OPS)
def test_values_and_ends(op, size, bits, rng):
    function, _, wide = OPS[op]
    rows = 5
    x = rng.uniform(0.9, 1.1, (rows, size)) if wide == "f64" else rng.integers(-9, 9, (rows, size))
    x = x.astype(np.float32 if wide == "f64" else np.int32)
    high = int(rng.integers(0, size + 1))
    low = int(rng.integers(0, high + 1))
    kernel = compiled(text(op, rows, low, high, size, bits))
    other = np.full_like(x, 77)
    got, ends = kernel(x, other)
    exact = function(x[:, low:high].astype(np.float64 if wide == "f64" else np.int32), axis=1)
    np.testing.assert_array_equal(got[:, :low], other[:, :low])
    np.testing.assert_array_equal(got[:, high:], other[:, high:])
    if wide == "f64":
        np.testing.assert_allclose(got[:, low:high], exact, rtol=1.2e-7)
        if low < high:
            np.testing.assert_allclose(ends, exact[:, -1], rtol=1e-12)
    else:
        np.testing.assert_array_equal(got[:, low:high], exact.astype(np.int32))
        if low < high:
            np.testing.assert_array_equal(ends, exact[:, -1].astype(np.int32))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_rows(threads, rng):
    """Loops over rows that do nothing else; see the text of the test above for the other form."""
    shape = (3, 4, int(rng.integers(500, 600)))
    kind = "x".join(map(str, shape)) + "xf32"
    source = f"""
func.func @scan(%x: tensor<{kind}>) -> tensor<{kind}> {{
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %size = arith.constant {shape[2]} : index
  %any = tensor.empty() : tensor<{kind}>
  %all = scf.for %a = %c0 to %c3 step %c1 iter_args(%outer = %any) -> (tensor<{kind}>) {{
    %part = scf.for %b = %c0 to %c4 step %c1 iter_args(%inner = %outer) -> (tensor<{kind}>) {{
      %row:2 = scf.for %n = %c0 to %size step %c1 iter_args(%to = %inner, %before = %zero) -> (tensor<{kind}>, f64) {{
        %e = tensor.extract %x[%a, %b, %n] : tensor<{kind}>
        %wide = arith.extf %e : f32 to f64
        %s = arith.addf %before, %wide : f64
        %narrow = arith.truncf %s : f64 to f32
        %next = tensor.insert %narrow into %to[%a, %b, %n] : tensor<{kind}>
        scf.yield %next, %s : tensor<{kind}>, f64
      }}
      scf.yield %row#0 : tensor<{kind}>
    }}
    scf.yield %part : tensor<{kind}>
  }}
  return %all : tensor<{kind}>
}}"""
    machine = (
        'module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = '
        '#dlti.target_device_spec<"L2_cache_size_in_bytes" = 4096 : i32>>} {' + source + "}"
    )
    x = rng.standard_normal(shape).astype(np.float32)
    out = np.full_like(x, np.nan)
    kernel = compiled(machine, threads=threads)
    kernel(x, out=out)
    np.testing.assert_allclose(out, np.cumsum(x.astype(np.float64), axis=2), rtol=1e-6, atol=1e-6)
    assert ("omp.parallel" in "".join(kernel.stages.values())) == (threads > 1)
