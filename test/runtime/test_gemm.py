# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole matrix products from 2D blocks and matrix_mad, written by hand in OpenCL C."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import pytest
from gpu_runtime import compile_opencl, runtime


@dataclass(frozen=True)
class Recipe:
    """How one element type is loaded and multiplied; one subgroup computes 8 x 16 of C."""

    element: str
    bits: int
    step: int
    load_a: str
    type_a: str
    load_b: str
    mad: str
    types: str

    @property
    def result(self) -> str:
        return "int" if self.element == "i8" else "float"


RECIPES = {
    "f16": Recipe(
        "f16", 16, 16, "16b_8r16x1c", "ushort", "transform_16b_16r16x1c", "f16_f16_matrix_mad_k16", "Dv8_sDv8_iDv8_f"
    ),
    "bf16": Recipe(
        "bf16", 16, 16, "16b_8r16x1c", "ushort", "transform_16b_16r16x1c", "bf16_bf16_matrix_mad_k16", "Dv8_sDv8_iDv8_f"
    ),
    "i8": Recipe("i8", 8, 32, "8b_8r32x1c", "ushort", "transform_8b_32r16x1c", "i8_i8_matrix_mad_k32", "Dv8_sDv8_iS0_"),
    "tf32": Recipe("tf32", 32, 8, "32b_8r8x1c", "uint", "32b_8r16x1c", "tf32_tf32_matrix_mad_k8", "Dv4_fDv8_fS0_"),
}


def kernel_source(recipe: Recipe) -> str:
    letter = {"ushort": "t", "uint": "j"}[recipe.type_a]

    def mangled(name: str, suffix: str) -> str:
        return f"_Z{len(name)}{name}{suffix}"

    block = "PU3AS1viiiDv2_iP"
    read_a = mangled(f"intel_sub_group_2d_block_read_{recipe.load_a}", block + letter)
    read_b = mangled(f"intel_sub_group_2d_block_read_{recipe.load_b}", block + "j")
    read_c = mangled("intel_sub_group_2d_block_read_32b_8r16x1c", block + "j")
    write = mangled("intel_sub_group_2d_block_write_32b_8r16x1c", block + "j")
    mad = mangled(f"intel_sub_group_{recipe.mad}", recipe.types)
    vectors = "float4, float8, float8" if recipe.element == "tf32" else f"short8, int8, {recipe.result}8"
    cast_a, cast_b = ("float4", "float8") if recipe.element == "tf32" else ("short8", "int8")
    count_a = 4 if recipe.element == "tf32" else 8
    size = recipe.bits // 8
    same = read_c in (read_a, read_b)
    return f"""
void read_a(__global void *, int, int, int, int2, __private {recipe.type_a} *) __asm__("{read_a}");
void read_b(__global void *, int, int, int, int2, __private uint *) __asm__("{read_b}");
{"" if same else f'void read_c(__global void *, int, int, int, int2, __private uint *) __asm__("{read_c}");'}
void write_c(__global void *, int, int, int, int2, __private uint *) __asm__("{write}");
{recipe.result}8 mad({vectors}) __asm__("{mad}");

__attribute__((intel_reqd_sub_group_size(16)))
__kernel void gemm(__global void *a, __global void *b, __global void *c, int m, int n, int k, int pitch_a, int pitch_b,
                   int pitch_c) {{
  int x = (get_group_id(0) * get_num_sub_groups() + get_sub_group_id()) * 16, y = get_group_id(1) * 8;
  {recipe.type_a} tile_a[{count_a}];
  uint tile_b[8], tile_c[8];
  {"read_b" if same else "read_c"}(c, n * 4, m, pitch_c, (int2)(x, y), tile_c);
  {recipe.result}8 sum = *({recipe.result}8 *)tile_c;
  for (int i = 0; i < k; i += {recipe.step}) {{
    read_a(a, k * {size}, m, pitch_a, (int2)(i, y), tile_a);
    read_b(b, n * {size}, k, pitch_b, (int2)(x, i), tile_b);
    sum = mad(*({cast_a} *)tile_a, *({cast_b} *)tile_b, sum);
  }}
  *({recipe.result}8 *)tile_c = sum;
  write_c(c, n * 4, m, pitch_c, (int2)(x, y), tile_c);
}}
"""


def bf16_bits(values: np.ndarray) -> np.ndarray:
    """Exact for the small integers used here."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def in_pitch(matrix: np.ndarray, columns: int) -> np.ndarray:
    """The matrix in rows of `columns` elements whose rest is poison."""
    wide = np.full((matrix.shape[0], columns), 0x55, matrix.dtype)
    wide[:, : matrix.shape[1]] = matrix
    return wide


@pytest.mark.parametrize("flavour", ["lockstep", "portable"])
@pytest.mark.parametrize("element", RECIPES)
def test_gemm_with_edges(element, flavour, rng, monkeypatch):
    """Small integers, so every type gives the exact product; sizes that no tile divides."""
    monkeypatch.setenv("XETILE_BUILTINS", flavour)
    recipe = RECIPES[element]
    gpu = runtime()
    module = gpu.load(compile_opencl(kernel_source(recipe)))
    for m, n, k in ((64, 128, 96), (13, 44, 20), (50, 100, 36), (1, 16, 16)):
        a, b = rng.integers(-8, 9, (m, k)), rng.integers(-8, 9, (k, n))
        c = rng.integers(-100, 100, (m, n))
        convert = {
            "f16": lambda v: v.astype(np.float16),
            "bf16": bf16_bits,
            "i8": lambda v: v.astype(np.int8),
            "tf32": lambda v: v.astype(np.float32),
        }
        in_a, in_b = in_pitch(convert[element](a), k + 12), in_pitch(convert[element](b), n + 20)
        out = in_pitch(c.astype(np.int32 if element == "i8" else np.float32), n + 8)
        expected = in_pitch((a @ b + c).astype(out.dtype), n + 8)
        pitches = [ctypes.c_int32(matrix.strides[0]) for matrix in (in_a, in_b, out)]
        groups = (-(-n // 32), -(-m // 8), 1)
        gpu.launch(module, "gemm", groups, (32, 1, 1), [in_a, in_b, out, *map(ctypes.c_int32, (m, n, k)), *pitches])
        np.testing.assert_array_equal(out, expected, f"{element} {m}x{n}x{k}")
    gpu.mgpuModuleUnload(module)
