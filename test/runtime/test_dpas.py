# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every matrix_mad that exists, against NumPy on matrices spread over the lanes as the OpenCL extensions say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from gpu_runtime import SUBGROUP, compile_opencl, runtime

DEPTH = {"f16": 16, "bf16": 16, "tf32": 8, "i8": 32, "s8": 32, "u8": 32, "i4": 64, "s4": 64, "u4": 64}
ROWS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Variant:
    """One function: element types, accumulator type ("f32", "f16", "bf16", "s32"), rows."""

    a: str
    b: str
    accumulator: str
    rows: int

    @property
    def depth(self) -> int:
        return DEPTH[self.a]

    @property
    def name(self) -> str:
        return f"intel_sub_group_{self.a}_{self.b}_matrix_mad_k{self.depth}"

    @property
    def types(self) -> tuple[str, str, str]:
        """OpenCL C types of A, B and the accumulator."""
        c = vector({"f32": "float", "f16": "half", "bf16": "short", "s32": "int"}[self.accumulator], self.rows)
        if self.a == "tf32":
            return vector("float", (self.rows + 1) // 2), "float8", c
        return vector("short", self.rows), "int8", c

    @property
    def mangled(self) -> str:
        codes, seen = "", []
        for kind in self.types:
            scalar, lanes = kind.rstrip("0123456789"), kind.lstrip("abcdefghijklmnopqrstuvwxyz")
            code = {"float": "f", "half": "Dh", "short": "s", "int": "i"}[scalar]
            if not lanes:
                codes += code
            elif kind in seen:
                codes += "S" + (str(seen.index(kind) - 1) if seen.index(kind) else "") + "_"
            else:
                seen.append(kind)
                codes += f"Dv{lanes}_{code}"
        return f"_Z{len(self.name)}{self.name}{codes}"


def vector(scalar: str, lanes: int) -> str:
    return scalar if lanes == 1 else f"{scalar}{lanes}"


def variants() -> list[Variant]:
    floats = [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("bf16", "bf16"), ("tf32", "f32")]
    pairs = [(a, a, c) for a, c in floats]
    pairs += [(a, b, "s32") for group in (("i8", "u8"), ("i4", "u4")) for a in group for b in group]
    # XeVM's spelling of the signed ones.
    xevm = [
        Variant(a, b, "s32", 8) for group in (("s8", "u8"), ("s4", "u4")) for a in group for b in group if "s" in a + b
    ]
    return [Variant(a, b, c, rows) for a, b, c in pairs for rows in ROWS] + xevm


def kernel_source(all_variants: list[Variant]) -> str:
    text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    for i, variant in enumerate(all_variants):
        a, b, c = variant.types
        text += (
            f'{c} f{i}({a}, {b}, {c}) __asm__("{variant.mangled}");\n'
            f"__attribute__((intel_reqd_sub_group_size({SUBGROUP})))\n"
            f"__kernel void k{i}(__global {a} *a, __global {b} *b, __global {c} *c) {{\n"
            f"  int lane = get_sub_group_local_id();\n  c[lane] = f{i}(a[lane], b[lane], c[lane]);\n}}\n"
        )
    return text


def bf16(values: np.ndarray) -> np.ndarray:
    """float32 rounded to nearest even bf16, as uint16."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def random_matrix(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Raw elements (4-bit ones as uint8 below 16) and their values in float64."""
    if kind == "f16":
        raw = rng.standard_normal(shape).astype(np.float16)
        return raw.view(np.uint16), raw.astype(np.float64)
    if kind == "bf16":
        raw = bf16(rng.standard_normal(shape))
        return raw, from_bf16(raw).astype(np.float64)
    if kind == "tf32":
        raw = rng.standard_normal(shape).astype(np.float32).view(np.uint32)
        return raw, (raw & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    bits = int(kind[1:])
    raw = rng.integers(0, 1 << bits, shape, np.uint8)
    values = raw.astype(np.float64)
    if kind[0] in "is":
        values = np.where(raw >= 1 << (bits - 1), values - (1 << bits), values)
    return raw, values


def packed(raw: np.ndarray, kind: str) -> np.ndarray:
    """The last axis as consecutive bytes, 4-bit elements two to a byte with the first in the lower half."""
    if kind[1:] == "4":
        raw = raw[..., 0::2] | raw[..., 1::2] << 4
    return np.ascontiguousarray(raw).view(np.uint8)


def lanes_of_a(raw: np.ndarray, variant: Variant) -> np.ndarray:
    """[SUBGROUP, bytes of the lane's vector]."""
    rows = variant.rows
    if variant.a == "tf32":
        lanes = np.zeros((SUBGROUP, (rows + 1) // 2), np.uint32)
        for r in range(rows):
            for k in range(8):
                lanes[r % 2 * 8 + k, r // 2] = raw[r, k]
        return lanes.view(np.uint8)
    in_bytes = packed(raw, variant.a).reshape(rows, SUBGROUP, 2)
    return np.ascontiguousarray(in_bytes.transpose(1, 0, 2)).reshape(SUBGROUP, -1)


@pytest.fixture(params=["lockstep", "portable"])
def flavour(request, monkeypatch) -> str:
    monkeypatch.setenv("XETILE_BUILTINS", request.param)
    return request.param


def check(variant: Variant, got: np.ndarray, start: np.ndarray, product: np.ndarray, size: np.ndarray) -> None:
    """`size` bounds the magnitude of the sum's terms."""
    where = f"{variant}"
    if variant.accumulator == "s32":
        wrapped = (start.astype(np.int64) + product.astype(np.int64)).astype(np.uint64).astype(np.uint32).view(np.int32)
        np.testing.assert_array_equal(got, wrapped, where)
        return
    if variant.accumulator == "f32":
        assert np.all(np.abs(got - (start + product)) <= 1e-5 * size), where
        return
    # Rounded once from a nearly exact sum: at most one unit in the last place from the rounded exact sum.
    exact = start.astype(np.float64) + product
    unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-10)))) * 2.0 ** (
        -10 if variant.accumulator == "f16" else -7
    )
    assert np.all(np.abs(got.astype(np.float64) - exact) <= 0.5 * unit + 1e-5 * size), where


def test_all_variants(flavour, rng):
    all_variants = variants()
    if flavour == "portable":
        # They repeat the same statements for each row; A of tf32 alone depends on the number of rows otherwise.
        all_variants = [v for v in all_variants if (v.rows == 8 and "s" not in v.a + v.b) or v.a == "tf32"]
    gpu = runtime()
    module = gpu.load(compile_opencl(kernel_source(all_variants)))
    for i, variant in enumerate(all_variants):
        raw_a, a = random_matrix(variant.a, (variant.rows, variant.depth), rng)
        raw_b, b = random_matrix(variant.b, (variant.depth, SUBGROUP), rng)
        values = rng.standard_normal((variant.rows, SUBGROUP)).astype(np.float32)
        if variant.accumulator == "f32":
            raw_c = start = values
        elif variant.accumulator == "f16":
            raw_c = start = values.astype(np.float16)
        elif variant.accumulator == "bf16":
            raw_c = bf16(values)
            start = from_bf16(raw_c)
        else:
            raw_c = start = rng.integers(-(2**31), 2**31, values.shape, np.int64).astype(np.int32)
        lanes = raw_c.T.copy()
        in_a, in_b = lanes_of_a(raw_a, variant), packed(raw_b.T, variant.b)
        gpu.launch(module, f"k{i}", (1, 1, 1), (SUBGROUP, 1, 1), [in_a, in_b, lanes])
        got = lanes.T
        if variant.accumulator == "bf16":
            got = from_bf16(np.ascontiguousarray(got))
        check(variant, got, start, a @ b, np.abs(start) + np.abs(a) @ np.abs(b))
    gpu.mgpuModuleUnload(module)


def test_not_a_number_stays_one(flavour):
    """A bf16 accumulator keeps a NaN whose payload lies in the bits that are cut off, and infinities."""
    variant = Variant("bf16", "bf16", "bf16", 8)
    gpu = runtime()
    module = gpu.load(compile_opencl(kernel_source([variant])))
    a, b = np.zeros((SUBGROUP, 8), np.uint16), np.zeros((SUBGROUP, 16), np.uint16)
    c = np.zeros((SUBGROUP, 8), np.uint16)
    c[0], c[1], c[2] = 0x7F81, 0xFF80, 0x8000
    gpu.launch(module, "k0", (1, 1, 1), (SUBGROUP, 1, 1), [a, b, c])
    assert np.isnan(from_bf16(c[0])).all()
    assert (c[1] == 0xFF80).all()
    assert (from_bf16(c[2:]) == 0).all()
    gpu.mgpuModuleUnload(module)
