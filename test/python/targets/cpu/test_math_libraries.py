# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where functions of the math dialect come from: libraries that lack them, shared objects, names that are taken."""

from __future__ import annotations

import ctypes
import os
import subprocess

import numpy as np
import pytest
from test_math_ops import COLUMNS, ROWS, WIDE, compiled, errors, generic
from xetile import XeTileError, cpu
from xetile.mlir import ir
from xetile.targets import cpu as cpu_target

UNDEFINED = """
func.func private @there_is_no_such_function(f32) -> f32
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = func.call @there_is_no_such_function(%x) : (f32) -> f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""


def test_missing_function_is_an_error_of_compile():
    with ir.Context():
        module = ir.Module.parse(UNDEFINED)
        with pytest.raises(XeTileError, match="calls functions that no library has: there_is_no_such_function"):
            cpu.compile(module)


def test_shared_object_with_a_missing_function_is_refused(tmp_path, monkeypatch):
    """As compile refuses such kernels, the linker's part is looked at with compile's check switched off."""
    monkeypatch.setattr(cpu_target.CpuCode, "load", lambda code: None)
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(UNDEFINED))
    with pytest.raises(XeTileError, match="there_is_no_such_function"):
        kernel.save(tmp_path / "kernel.so")
    assert not (tmp_path / "kernel.so").exists()


def test_shared_object_calls_vector_functions(rng, tmp_path):
    """It is linked with all that it needs: a process that has nothing else loaded can load it."""
    kernel = compiled(generic("%r = math.sinh %x : T", "f32", 1, "alone"))
    kernel.write_shared_object(tmp_path / "kernel.so")
    ctypes.CDLL(str(tmp_path / "kernel.so"), mode=os.RTLD_NOW)
    subprocess.run(["python3", "-c", f"import ctypes; ctypes.CDLL('{tmp_path}/kernel.so', 2)"], check=True)


def test_without_libmvec_elements_call_libm(rng, monkeypatch):
    monkeypatch.setattr(cpu_target, "_load_libmvec", lambda: False)
    x = rng.uniform(-8, 8, (ROWS, COLUMNS)).astype(np.float32)
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(generic("%r = math.sinh %x : T", "f32", 1, "alone")))
    assert "@sinhf" in kernel.stages["3-llvm"] and "@_ZGV" not in kernel.stages["3-llvm"]
    # glibc's manual says 2 ULP of the rounded result.
    assert errors(kernel(x), np.sinh(x.astype(WIDE)), "f32").max() <= 2.5


def test_kernel_named_as_a_function_that_it_calls_is_refused():
    text = generic("%r = math.sin %x : T", "f32", 1, "against the grain").replace("@main", "@sinf")
    with ir.Context(), pytest.raises(XeTileError, match="expected no other @sinf in the module; rename it"):
        cpu.compile(ir.Module.parse(text))
