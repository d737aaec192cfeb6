# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""1D block reads and writes, which are instructions of the device, and prefetches, which are imported functions."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from gpu_runtime import SUBGROUP, RuntimeFailure, compile_opencl, runtime

SCALARS = {"c": "uchar", "s": "ushort", "i": "uint", "l": "ulong"}
LETTERS = {"c": "h", "s": "t", "i": "j", "l": "m"}
BYTES = {"c": 1, "s": 2, "i": 4, "l": 8}


def linear_names(kind: str) -> list[tuple[str, str, int]]:
    """(name, letter of the type, elements per lane)"""
    names = [
        (f"intel_sub_group_block_{kind}_u{letter}{'' if lanes == 1 else lanes}", letter, lanes)
        for letter in SCALARS
        for lanes in (1, 2, 4, 8, 16)
        if lanes < 16 or letter == "c"
    ]
    # The extension's first version: unsigned int without a suffix.
    return names + [
        (f"intel_sub_group_block_{kind}{'' if lanes == 1 else lanes}", "i", lanes) for lanes in (1, 2, 4, 8)
    ]


def linear_source(kind: str, space: str) -> str:
    text = ""
    for i, (name, letter, lanes) in enumerate(linear_names(kind)):
        scalar = SCALARS[letter]
        vector = scalar if lanes == 1 else f"{scalar}{lanes}"
        code = LETTERS[letter]
        address = {"global": "1", "local": "3"}[space]
        value = code if lanes == 1 else f"Dv{lanes}_{code}"
        mangled = f"_Z{len(name)}{name}PU3AS{address}{code}{value if kind == 'write' else ''}"
        if kind == "read":
            declaration, call = f"{vector} f{i}(const __{space} {scalar} *)", f"out[l] = f{i}(at);"
        else:
            declaration, call = f"void f{i}(__{space} {scalar} *, {vector})", f"f{i}(at, out[l]);"
        head = f"__global {scalar} *memory, __global {vector} *out"
        if space == "global":
            body = f"  __global {scalar} *at = memory;\n  {call}\n"
        else:
            head += f", __local {scalar} *at"
            loop = f"for (int i = l; i < {lanes * SUBGROUP}; i += {SUBGROUP})"
            fence = "  barrier(CLK_LOCAL_MEM_FENCE);\n"
            body = f"  {loop} at[i] = memory[i];\n{fence}  {call}\n{fence}  {loop} memory[i] = at[i];\n"
        text += (
            f'{declaration} __asm__("{mangled}");\n'
            f"__attribute__((intel_reqd_sub_group_size({SUBGROUP}))) __kernel void k{i}({head}) {{\n"
            f"  int l = get_sub_group_local_id();\n{body}}}\n"
        )
    return text


@pytest.mark.parametrize("space", ["global", "local"])
@pytest.mark.parametrize("kind", ["read", "write"])
def test_linear_blocks(kind, space, rng):
    gpu = runtime()
    module = gpu.load(compile_opencl(linear_source(kind, space), ["SPV_INTEL_subgroups"]))
    for i, (name, letter, lanes) in enumerate(linear_names(kind)):
        dtype = f"u{BYTES[letter]}"
        limit = np.iinfo(dtype).max
        memory = rng.integers(0, limit, (lanes, SUBGROUP), dtype, endpoint=True)
        per_lane = rng.integers(0, limit, (SUBGROUP, lanes), dtype, endpoint=True)
        expected = (memory.copy(), memory.T.copy()) if kind == "read" else (per_lane.T.copy(), per_lane.copy())
        gpu.launch(module, f"k{i}", (1, 1, 1), (SUBGROUP, 1, 1), [memory, per_lane], local=1024)
        np.testing.assert_array_equal(memory, expected[0], name)
        np.testing.assert_array_equal(per_lane, expected[1], name)
    gpu.mgpuModuleUnload(module)


def test_linear_blocks_as_imports_are_refused():
    source = (
        'uint f(const __global uint *) __asm__("_Z30xntel_sub_group_block_read_ui1PU3AS1j");\n'
        "__kernel void k(__global uint *x) { x[0] = f(x); }\n"
    )
    gpu = runtime()
    spirv = compile_opencl(source).replace(b"xntel_", b"intel_")
    assert gpu.mgpuModuleLoad(spirv, len(spirv)) is None
    with pytest.raises(RuntimeFailure, match="SPV_INTEL_subgroups"):
        gpu.check()


def test_prefetch_of_an_address():
    source = """
void touch(const __global char *, ulong) __asm__("_Z12intel_dummyxPU3AS1Kcm");
__kernel void k(__global int *x) { touch((__global char *)x + 4, 1); *x = 5; }
"""
    # The name that XeVM emits, in a string of the same length so that the module's words stay in place.
    spirv = compile_opencl(source).replace(b"_Z12intel_dummyxPU3AS1Kcm", b"_Z8prefetchPU3AS1Kcm\0\0\0\0\0")
    gpu = runtime()
    module = gpu.load(spirv)
    x = np.zeros(2, np.int32)
    gpu.launch(module, "k", (1, 1, 1), (1, 1, 1), [x])
    np.testing.assert_array_equal(x, [5, 0])
    gpu.mgpuModuleUnload(module)


def bf16_source(lanes: int) -> str:
    n = "" if lanes == 1 else str(lanes)
    return (
        f'short{n} round_(float{n}) __asm__("__builtin_IB_ftobf_{lanes}");\n'
        f"__kernel void k(__global float{n} *x, __global short{n} *y) {{\n"
        f"  int i = get_global_id(0);\n  y[i] = round_(x[i]);\n}}\n"
    )


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
def test_f32_is_rounded_to_bf16_with_ties_to_even_and_nan_stays_nan(lanes, rng):
    gpu = runtime()
    module = gpu.load(compile_opencl(bf16_source(lanes)))
    bits = rng.integers(0, 1 << 32, 4096, np.uint32)
    # Ties, the largest numbers, subnormals, infinities, NaN with bits that rounding would cut off.
    special = [0x3F808000, 0x3F818000, 0x7F7FFFFF, 0xFF7FFFFF, 1, 0x80008000, 0x7F800000, 0xFF800000, 0x7F800001,
               0xFFFFFFFF, 0x7FFFFFFF, 0, 0x80000000]  # fmt: skip
    bits[: len(special)] = special
    x, y = bits.view(np.float32), np.full(4096, 0x7777, np.uint16)
    gpu.launch(module, "k", (4096 // lanes, 1, 1), (1, 1, 1), [x, y])
    with np.errstate(all="ignore"):
        expected = x.astype(ml_dtypes.bfloat16)
    nan = np.isnan(x)
    np.testing.assert_array_equal(y[~nan], expected.view(np.uint16)[~nan])
    assert np.isnan(y.view(ml_dtypes.bfloat16)[nan].astype(np.float32)).all()
    gpu.mgpuModuleUnload(module)


def test_a_rounding_that_no_library_has_is_refused():
    gpu = runtime()
    spirv = compile_opencl(bf16_source(16).replace("ftobf_16", "ftobf_32"))
    assert gpu.mgpuModuleLoad(spirv, len(spirv)) is None
    with pytest.raises(RuntimeFailure, match="it rounds 1, 2, 4, 8 or 16 numbers"):
        gpu.check()
