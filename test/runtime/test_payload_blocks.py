# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""2D block loads and stores by address payloads, on a device that has none: as plain ones, against NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from gpu_runtime import SUBGROUP, RuntimeFailure, aligned, compile_opencl, runtime

LIBRARY, CREATE_NAME = "__builtin_IB_subgroup_", "createBlock2DAddressPayload"
ROWS, BYTES = 21, 192  # of the matrix
# Of stores: bits, columns, a lane's vector of 8 rows.
SHAPES = {"u8_m8k32v1": (8, 32, "short8"), "u8_m8k64v1": (8, 64, "int8"), "u16_m8k16v1": (16, 16, "short8"),
          "u16_m8k32v1": (16, 32, "int8"), "u32_m8k16v1": (32, 16, "int8")}  # fmt: skip


# Of loads: bits, rows, columns, blocks, a lane's vector.
LOADS = {
    f"u{bits}_m{rows}k{columns}v{blocks}": (bits, rows, columns, blocks, f"{kind}{rows * blocks}")
    for bits, columns, kind in ((8, 32, "short"), (8, 64, "int"), (16, 16, "short"), (16, 32, "int"), (32, 16, "int"))
    for rows in (2, 4, 8, 16)
    for blocks in (1, 2)
    if rows * blocks in (4, 8, 16) and columns * bits * blocks <= 512
}


def kernel(shape: str, body: str) -> bytes:
    """`value` is the lane's; `store` and `create` are Intel's; a, w, h, p the matrix."""
    vector = SHAPES[shape][2]
    return compile_opencl(f"""
__private int *create(long, int, int, int, int, int, int, int, int) __asm__("{LIBRARY}{CREATE_NAME}");
__private int *copy(__private int *) __asm__("{LIBRARY}copyBlock2DAddressPayload");
void add_Y(__private int *, int) __asm__("{LIBRARY}addBlock2DAddressPayloadBlockY");
void store(__private int *, int, int, {vector}, int) __asm__("{LIBRARY}block_write_ap_{shape}");
__attribute__((intel_reqd_sub_group_size({SUBGROUP})))
__kernel void k(__global uchar *a, int w, int h, int p, __global {vector} *values, int x, int y) {{
  {vector} value = values[get_sub_group_local_id()];
  {body}
}}
""")


@pytest.fixture(params=["lockstep", "portable"])
def flavour(request, monkeypatch):
    monkeypatch.setenv("XETILE_BUILTINS", request.param)


def run(shape: str, body: str, x: int, y: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrix before and after, and the block of all lanes."""
    bits, columns, _ = SHAPES[shape]
    element = np.dtype(f"u{bits // 8}")
    rng = np.random.default_rng()
    block = rng.integers(0, 256, (8, columns * bits // 8), np.uint8)
    # Lane by lane: what it has of each row.
    lanes = np.ascontiguousarray(block.reshape(8, SUBGROUP, -1).swapaxes(0, 1))
    before = rng.integers(0, 256, (ROWS, BYTES), np.uint8)
    after = np.zeros_like(before)
    gpu = runtime()
    module = gpu.load(kernel(shape, body))
    memory, values = gpu.mgpuMemAlloc(before.nbytes, None, 0), gpu.mgpuMemAlloc(lanes.nbytes, None, 0)
    try:
        gpu.mgpuMemcpy(memory, before.ctypes.data, before.nbytes, None)
        gpu.mgpuMemcpy(values, lanes.ctypes.data, lanes.nbytes, None)
        numbers = [*map(ctypes.c_int32, (BYTES, ROWS, BYTES))], [*map(ctypes.c_int32, (x, y))]
        arguments = [ctypes.c_void_p(memory), *numbers[0], ctypes.c_void_p(values), *numbers[1]]
        gpu.launch(module, "k", (1, 1, 1), (SUBGROUP, 1, 1), arguments)
        gpu.mgpuMemcpy(after.ctypes.data, memory, after.nbytes, None)
    finally:
        gpu.mgpuMemFree(memory, None)
        gpu.mgpuMemFree(values, None)
        gpu.mgpuModuleUnload(module)
    return before.view(element), after.view(element), block.view(element)


# Inside, over the right edge, over the bottom one, over the left and upper ones, behind.
PLACES = [(4, 3), (-4, 17), (-8, -5), (1000, 0)]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", [*PLACES, "right"])
def test_stores_by_payloads_write_what_lies_inside(shape, place, flavour):
    bits, columns, _ = SHAPES[shape]
    x, y = (BYTES * 8 // bits - columns // 2, 2) if place == "right" else place
    create = f"create((long)a, w - 1, h - 1, p - 1, x - 8, y + 2, {columns}, 8, 1)"
    before, after, block = run(shape, f"store({create}, 8, -2, value, 0);", x, y)
    want = before.copy()
    for row in range(max(0, -y), min(8, ROWS - y)):
        for column in range(max(0, -x), min(columns, want.shape[1] - x)):
            want[y + row, x + column] = block[row, column]
    np.testing.assert_array_equal(after, want)


CREATE = "__private int *q = create((long)a, w - 1, h - 1, p - 1, x, y, 16, 8, 1); "


@pytest.mark.parametrize("body", [CREATE + "add_Y(q, 8); store(q, 0, 0, value, 0);",
                                  CREATE + "store(copy(q), 0, 0, value, 0);", "store(0, 0, 0, value, 0);"])  # fmt: skip
def test_payloads_that_change_are_refused(body):
    with pytest.raises(RuntimeFailure, match="copied, updated or passed on, which this runtime does not follow"):
        run("u32_m8k16v1", body, 0, 0)


@pytest.mark.parametrize(
    ("name", "types", "message"),
    [
        ("block_write_ap_u32_m8k16v1", "__private int *, int, int, int4, int", "do not fit"),
        ("block_write_ap_u32_m16k16v1", "__private int *, int, int, int16, int", "rows must be a power of two up to 8"),
    ],
)
def test_functions_that_no_gpu_has_are_refused(name, types, message):
    vector = types.split(", ")[3]
    text = (
        f'void f({types}) __asm__("{LIBRARY}{name}");\n'
        f'__private int *create(long, int, int, int, int, int, int, int, int) __asm__("{LIBRARY}{CREATE_NAME}");\n'
        "__kernel void k(__global int *x) {\n"
        f"  f(create(0, 63, 7, 63, 0, 0, 16, 8, 1), 0, 0, ({vector})0, 0);\n"
        "  *x = 1;\n}\n"
    )
    with pytest.raises(RuntimeFailure, match=message):
        runtime().launch(runtime().load(compile_opencl(text)), "k", (1, 1, 1), (1, 1, 1), [ctypes.c_void_p(0)])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("shape", LOADS)
@pytest.mark.parametrize("place", [*PLACES, "right"])
def test_loads_by_payloads_read_what_lies_inside(shape, place, flavour):
    bits, rows, columns, blocks, vector = LOADS[shape]
    x, y = (BYTES * 8 // bits - columns // 2, 2) if place == "right" else place
    rng = np.random.default_rng()
    memory = rng.integers(0, 256, (ROWS, BYTES), np.uint8).view(f"u{bits // 8}")
    block = np.zeros((blocks, rows, columns), memory.dtype)
    for index in np.ndindex(*block.shape):
        row, column = y + index[1], x + index[0] * columns + index[2]
        if 0 <= row < ROWS and 0 <= column < memory.shape[1]:
            block[index] = memory[row, column]
    # Lane by lane: its share of each row of each block.
    want = block.reshape(blocks, rows, SUBGROUP, -1).transpose(2, 0, 1, 3).reshape(SUBGROUP, -1)
    out = np.zeros_like(np.ascontiguousarray(want))
    spirv = compile_opencl(f"""
__private int *create(long, int, int, int, int, int, int, int, int) __asm__("{LIBRARY}{CREATE_NAME}");
{vector} load(__private int *, int, int, int) __asm__("{LIBRARY}block_read_ap_{shape}");
__attribute__((intel_reqd_sub_group_size({SUBGROUP})))
__kernel void k(__global uchar *a, int w, int h, int p, __global {vector} *out, int x, int y) {{
  __private int *q = create((long)a, w - 1, h - 1, p - 1, x + 4, y - 3, {columns}, {rows}, {blocks});
  out[get_sub_group_local_id()] = load(q, -4, 3, 0);
}}
""")
    gpu = runtime()
    module = gpu.load(spirv)
    there = gpu.mgpuMemAlloc(memory.nbytes, None, 0)
    try:
        gpu.mgpuMemcpy(there, memory.ctypes.data, memory.nbytes, None)
        numbers = [*map(ctypes.c_int32, (BYTES, ROWS, BYTES))], [*map(ctypes.c_int32, (x, y))]
        gpu.launch(
            module,
            "k",
            (1, 1, 1),
            (SUBGROUP, 1, 1),
            [ctypes.c_void_p(there), *numbers[0], aligned_out := aligned(out), *numbers[1]],
        )
    finally:
        gpu.mgpuMemFree(there, None)
        gpu.mgpuModuleUnload(module)
    np.testing.assert_array_equal(aligned_out, want)
