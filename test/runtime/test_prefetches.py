# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""2D block prefetches, plain and by address payloads: they change nothing; XETILE_CHECK_PREFETCHES tells wrong ones."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from gpu_runtime import SUBGROUP, RuntimeFailure, aligned, compile_opencl, failure, runtime

ROWS, COLUMNS = 48, 96  # of f16 in memory
WIDTH, PITCH = 2 * COLUMNS, 2 * COLUMNS
LIBRARY = "__builtin_IB_subgroup_"
DECLARATIONS = (
    'void plain(__global void *, int, int, int, int2) __asm__("_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2c'
    'PU3AS1viiiDv2_i");\n'
    "__private int *create(long, int, int, int, int, int, int, int, int)"
    f' __asm__("{LIBRARY}createBlock2DAddressPayload");\n'
    f'__private int *copy(__private int *) __asm__("{LIBRARY}copyBlock2DAddressPayload");\n'
    + "".join(
        f'void {verb}_{axis}(__private int *, int) __asm__("{LIBRARY}{verb}Block2DAddressPayloadBlock{axis}");\n'
        for verb in ("add", "set")
        for axis in "XY"
    )
    + "".join(
        f'void set_{field}(__private int *, int) __asm__("{LIBRARY}setBlock2DAddressPayload{field}");\n'
        for field in ("Width", "Heigth", "Pitch")
    )
    + f'void set_Base(__private int *, long) __asm__("{LIBRARY}setBlock2DAddressPayloadBase");\n'
    + f'void fetch(__private int *, int, int, int) __asm__("{LIBRARY}block_read_ap_prefetch_u16_m8k16v2");\n'
)
# base, width, height, pitch are the kernel's parameters a, w, h, p; a block has 32 columns and 8 rows.
CREATE = "create((long)a, w - 1, h - 1, p - 1, {x}, {y}, 16, 8, 2)"


def kernel(body: str) -> bytes:
    head = "__global uchar *a, int w, int h, int p, __global int *done"
    return compile_opencl(
        f"{DECLARATIONS}__attribute__((intel_reqd_sub_group_size({SUBGROUP})))\n"
        f"__kernel void k({head}) {{\n{body}\n  *done = 1;\n}}\n"
    )


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setenv("XETILE_CHECK_PREFETCHES", "1")


def run(body: str, width: int = WIDTH, height: int = ROWS, pitch: int = PITCH, groups: int = 1) -> None:
    """Runs a kernel on device memory of ROWS x COLUMNS f16 that must not change."""
    gpu = runtime()
    module = gpu.load(kernel(body))
    memory = gpu.mgpuMemAlloc(ROWS * PITCH, None, 0)
    before = np.random.default_rng().integers(0, 256, ROWS * PITCH, np.uint8)
    after, done = np.zeros_like(before), np.zeros(1, np.int32)
    gpu.mgpuMemcpy(memory, before.ctypes.data, before.nbytes, None)
    arguments = [ctypes.c_void_p(memory), *map(ctypes.c_int32, (width, height, pitch)), done]
    try:
        gpu.launch(module, "k", (groups, 1, 1), (2 * SUBGROUP, 1, 1), arguments)
        gpu.mgpuMemcpy(after.ctypes.data, memory, after.nbytes, None)
    finally:
        gpu.mgpuMemFree(memory, None)
        gpu.mgpuModuleUnload(module)
    assert done[0] == 1
    np.testing.assert_array_equal(after, before)


LOOPS = {
    "plain": "for (int k = 0; k < 96; k += 32) plain(a, w, h, p, (int2)(k + 32, 8));",
    "add": f"__private int *q = {CREATE.format(x=32, y=8)};\n"
    "for (int k = 0; k < 96; k += 32) { fetch(q, 0, 0, 4); add_X(q, 32); }",
    "set": f"__private int *q = {CREATE.format(x=0, y=0)};\nset_Y(q, 8);\n"
    "for (int k = 0; k < 96; k += 32) { set_X(q, k + 32); fetch(q, 0, 0, 4); }",
    "immediate": f"__private int *q = {CREATE.format(x=0, y=16)};\n"
    "fetch(q, 32, -8, 4); fetch(q, 64, -8, 4); fetch(q, 96, -8, 4);",
    "copies": f"__private int *q = {CREATE.format(x=32, y=0)};\n__private int *r = copy(q);\n"
    "add_Y(r, 8);\nadd_Y(q, 99);\n"
    "for (int k = 0; k < 96; k += 32) { fetch(copy(r), 0, 0, 4); add_X(r, 32); }",
    "fields": "__private int *q = create(0, 63, 7, 63, 32, 8, 16, 8, 2);\n"
    "set_Base(q, (long)a); set_Width(q, w - 1); set_Heigth(q, h - 1); set_Pitch(q, p - 1);\n"
    "for (int k = 0; k < 96; k += 32) { fetch(q, 0, 0, 4); add_X(q, 32); }",
}


@pytest.mark.parametrize("form", LOOPS)
def test_prefetches_change_nothing(form):
    run(LOOPS[form])


@pytest.mark.parametrize("form", LOOPS)
def test_all_forms_of_a_loop_prefetch_the_same(form, checked):
    gpu = runtime()
    run(LOOPS["plain"], groups=3)
    plain = gpu.stats()
    # Three steps of two subgroups in three workgroups; the last step lies behind the right edge.
    assert (plain.prefetches, plain.prefetches_ahead) == (18, 6)
    run(LOOPS[form], groups=3)
    stats = gpu.stats()
    assert (stats.prefetches, stats.prefetches_ahead, stats.prefetch_sum) == (18, 6, plain.prefetch_sum)


def test_another_place_gives_another_sum(checked):
    sums = set()
    for x, y in ((0, 0), (0, 8), (8, 0), (32, 0)):
        run(f"plain(a, w, h, p, (int2)({x}, {y}));")
        sums.add(runtime().stats().prefetch_sum)
    assert len(sums) == 4


WRONG = {
    "left": ("plain(a, w, h, p, (int2)(-16, 0));", {}, "x = -16, y = 0 of a matrix of 48 rows of 192 bytes"),
    "above": ("plain(a, w, h, p, (int2)(0, -1));", {}, "left of it or above it"),
    "corner": ("plain(a, w, h, p, (int2)(96, 48));", {}, "behind its right and bottom edges"),
    "nowhere": ("plain(a, w, h, p, (int2)(96, 0));", {}, "and none lies in it"),
    "payload moved down": (
        f"__private int *q = {CREATE.format(x=96, y=0)};\n"
        "for (int k = 0; k < 9; ++k) { fetch(q, 0, 0, 4); add_Y(q, 8); }",
        {},
        "behind its right and bottom edges",
    ),
    "too tall": ("plain(a, w, h, p, (int2)(0, 0));", {"height": 49}, "needs 9408 bytes, from memory of which 9216"),
    "too wide": (LOOPS["add"], {"pitch": 2 * PITCH}, "needs 18240 bytes, from memory of which 9216"),
    "base behind": ("plain(a + 64, w, h, p, (int2)(0, 0));", {}, "needs 9216 bytes, from memory of which 9152"),
    "no payload": ("fetch(0, 0, 0, 4);", {}, "an address payload that was not created"),
    "shape": (
        "fetch(create((long)a, w - 1, h - 1, p - 1, 0, 0, 16, 16, 2), 0, 0, 4);",
        {},
        "another shape than its address payload has",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_prefetch_is_told(case, monkeypatch):
    body, surface, message = WRONG[case]
    run(body, **surface)
    monkeypatch.setenv("XETILE_CHECK_PREFETCHES", "1")
    said = failure(lambda: run(body, **surface))
    assert message in said
    assert said.startswith("XETILE_CHECK_PREFETCHES: the kernel 'k' prefetches ")
    # It is told once: the record begins anew.
    run(LOOPS["plain"])


def test_another_value_of_the_variable_is_refused(monkeypatch):
    monkeypatch.setenv("XETILE_CHECK_PREFETCHES", "yes")
    with pytest.raises(RuntimeFailure, match="XETILE_CHECK_PREFETCHES='yes' is neither '0' nor '1'"):
        run(LOOPS["plain"])


@pytest.mark.parametrize(
    ("name", "types", "message"),
    [
        ("block_read_ap_prefetch_u16_m8k16v2", "__private int *, int, int", "do not fit"),
        ("block_read_ap_prefetch_u16_m64k16v2", "__private int *, int, int, int", "1 to 32 rows"),
        ("addBlock2DAddressPayloadBlockX", "__private int *, long", "do not fit"),
        ("addBlock2DAddressPayloadWidth", "__private int *, int", "nor this runtime defines"),
    ],
)
def test_functions_that_intel_does_not_have_are_refused(name, types, message):
    call = f"f({', '.join('0' for _ in types.split(','))})"
    declaration = f'void f({types}) __asm__("{LIBRARY}{name}");'
    spirv = compile_opencl(f"{declaration}\n__kernel void k(__global int *x) {{ {call}; *x = 1; }}\n")
    with pytest.raises(RuntimeFailure, match=message):
        runtime().launch(runtime().load(spirv), "k", (1, 1, 1), (1, 1, 1), [aligned(np.zeros(4, np.int32))])
