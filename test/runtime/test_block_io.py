# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every 2D block read, write and prefetch that exists, against a NumPy model of SPV_INTEL_2d_block_io."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import pytest
from gpu_runtime import SUBGROUP, compile_opencl, runtime

SCALARS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}
LETTERS = {1: "h", 2: "t", 4: "j", 8: "m"}

# The surface lies inside a larger buffer whose other bytes must be neither read nor written. Bytes.
WIDTH, HEIGHT, PITCH, BEFORE, AFTER = 168, 37, 208, 320, 4096


@dataclass(frozen=True)
class Shape:
    """One function. `kind` is read, read_transform, read_transpose or write; sizes in elements."""

    kind: str
    bits: int
    rows: int
    columns: int
    blocks: int

    @property
    def name(self) -> str:
        return f"intel_sub_group_2d_block_{self.kind}_{self.bits}b_{self.rows}r{self.columns}x{self.blocks}c"

    @property
    def element(self) -> int:
        return self.bits // 8

    @property
    def pointee(self) -> int:
        """Bytes of one element of the lane's array, as the OpenCL extension declares it."""
        if self.kind == "read_transform":
            return 4
        return self.element * max(self.columns // SUBGROUP, 1)

    @property
    def mangled(self) -> str:
        return f"_Z{len(self.name)}{self.name}PU3AS1viiiDv2_iP{LETTERS[self.pointee]}"

    @property
    def lane_bytes(self) -> int:
        """Bytes of the lane's array: whole elements for each block."""
        return self.blocks * -(-self.rows * self.columns // SUBGROUP) * self.element


def read_shapes() -> list[Shape]:
    shapes = []
    for bits, columns in ((8, (4, 8, 16, 32, 64)), (16, (2, 4, 8, 16, 32)), (32, (1, 2, 4, 8, 16)), (64, (1, 2, 4, 8))):
        for width in columns:
            for blocks in (1, 2, 4):
                if width * bits * blocks > 512 or blocks > {8: 4, 16: 4, 32: 2, 64: 1}[bits]:
                    continue
                shapes += [Shape("read", bits, rows, width, blocks) for rows in (1, 2, 4, 8, 16, 32)]
    return shapes


def transform_shapes() -> list[Shape]:
    return [Shape("read_transform", 8, rows, 16, blocks) for rows in (4, 8, 16, 32) for blocks in (1, 2, 4)] + [
        Shape("read_transform", 16, rows, 16, blocks) for rows in (2, 4, 8, 16, 32) for blocks in (1, 2)
    ]


def transpose_shapes() -> list[Shape]:
    return [
        Shape("read_transpose", 32, rows, columns, 1) for rows in (1, 2, 4, 8, 16, 32) for columns in range(1, 9)
    ] + [Shape("read_transpose", 64, 8, columns, 1) for columns in (1, 2, 4)]


def write_shapes() -> list[Shape]:
    return [
        Shape("write", bits, rows, columns, 1)
        for bits, widths in (
            (8, (4, 8, 16, 32, 64)),
            (16, (2, 4, 8, 16, 32)),
            (32, (1, 2, 4, 8, 16)),
            (64, (1, 2, 4, 8)),
        )
        for columns in widths
        for rows in (1, 2, 4, 8)
    ]


def corners(shape: Shape) -> list[tuple[int, int]]:
    """Inside, over each edge and corner, outside on each side, and where 32-bit arithmetic would wrap."""
    across, down = shape.columns * shape.blocks, shape.rows
    right, bottom = WIDTH // shape.element, HEIGHT
    xs = [0, 2, -(across + 1) // 2, right - (across + 1) // 2]
    ys = [0, 3, -(down + 1) // 2, bottom - (down + 1) // 2]
    far = [(-across, 0), (right, 0), (0, -down), (0, bottom), (1 - across, 1 - down), (right - 1, bottom - 1)]
    extreme = [(2**31 - 1, 0), (-(2**31), 1), (0, 2**31 - 1), (1, -(2**31))]
    return [(x, y) for x in xs for y in ys] + far + extreme


def lanes_of(block: np.ndarray) -> np.ndarray:
    """A block [rows, columns] spread over the lanes: [SUBGROUP, elements].

    "If the padded block width is equal to the subgroup size, each invocation is assigned one element of the block row.
    If [...] less [...], multiple rows are assigned to the subgroup. If [...] greater [...], multiple elements of each
    block row are assigned to each invocation."
    """
    rows, columns = block.shape
    padded = 1 << (columns - 1).bit_length()
    block = np.pad(block, ((0, 0), (0, padded - columns)))
    lanes: list[list] = [[] for _ in range(SUBGROUP)]
    if padded >= SUBGROUP:
        share = padded // SUBGROUP
        for row in block:
            for lane in range(SUBGROUP):
                lanes[lane] += list(row[lane * share : (lane + 1) * share])
    else:
        together = SUBGROUP // padded
        for first in range(0, rows, together):
            for lane in range(SUBGROUP):
                row = first + lane // padded
                lanes[lane].append(block[row, lane % padded] if row < rows else 0)
    return np.array(lanes, block.dtype)


def model_read(surface: np.ndarray, shape: Shape, x: int, y: int) -> np.ndarray:
    """The bytes of each lane's array [SUBGROUP, lane_bytes]. `surface` holds elements [rows, columns]."""
    parts = []
    for index in range(shape.blocks):
        block = np.zeros((shape.rows, shape.columns), surface.dtype)
        left = x + index * shape.columns
        for r in range(max(0, -y), min(shape.rows, surface.shape[0] - y)):
            for c in range(max(0, -left), min(shape.columns, surface.shape[1] - left)):
                block[r, c] = surface[y + r, left + c]
        if shape.kind == "read_transform":
            factor = 4 // shape.element
            packed = np.zeros((shape.rows // factor, shape.columns), np.uint32)
            for r in range(shape.rows):
                packed[r // factor] |= block[r].astype(np.uint32) << np.uint32(r % factor * shape.bits)
            block = packed
        elif shape.kind == "read_transpose":
            block = block.T
            if shape.rows == 32:
                # Two registers of 16 lanes for each column: rows 0 to 15, then rows 16 to 31.
                block = block.reshape(-1, 2, SUBGROUP).swapaxes(1, 2).reshape(-1, 32)
        parts.append(lanes_of(block))
    return np.concatenate(parts, axis=1).view(np.uint8)


def kernel_source(shapes: list[Shape]) -> str:
    """Each kernel runs one function at one corner per workgroup; arrays of lanes lie one after another in memory."""
    text = ""
    for i, shape in enumerate(shapes):
        scalar, count = SCALARS[shape.pointee], shape.lane_bytes // shape.pointee
        name = f"f{i}"
        move = (
            f"  for (int e = 0; e < {count}; ++e) own[e] = data[lane * {count} + e];\n"
            f"  {name}(base, {WIDTH}, {HEIGHT}, {PITCH}, corners[group], own);\n"
            if shape.kind == "write"
            else f"  {name}(base, {WIDTH}, {HEIGHT}, {PITCH}, corners[group], own);\n"
            f"  for (int e = 0; e < {count}; ++e) data[(group * {SUBGROUP} + lane) * {count} + e] = own[e];\n"
        )
        text += (
            f'void {name}(__global void *, int, int, int, int2, __private {scalar} *) __asm__("{shape.mangled}");\n'
            f"__attribute__((intel_reqd_sub_group_size({SUBGROUP})))\n"
            f"__kernel void k{i}(__global uchar *base, __global int2 *corners, __global {scalar} *data,\n"
            f"                 int stride)\n{{\n"
            f"  int group = get_group_id(0), lane = get_sub_group_local_id();\n"
            f"  {scalar} own[{count}];\n"
            f"  base += group * (long)stride;\n{move}}}\n"
        )
    return text


@pytest.fixture(params=["lockstep", "portable"])
def flavour(request, monkeypatch) -> str:
    monkeypatch.setenv("XETILE_BUILTINS", request.param)
    return request.param


def surface_buffer(rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Random bytes, and the offset of the surface's first byte: a multiple of 64 from an aligned address."""
    size = BEFORE + HEIGHT * PITCH + AFTER
    raw = rng.integers(0, 256, size + 64, np.uint8)
    return raw, -raw.ctypes.data % 64 + BEFORE


def elements_of(buffer: np.ndarray, start: int, shape: Shape) -> np.ndarray:
    """A view of the surface's elements [HEIGHT, WIDTH / element]."""
    dtype = np.dtype(f"u{shape.element}")
    return np.ndarray((HEIGHT, WIDTH // shape.element), dtype, buffer, start, (PITCH, shape.element))


def some(shapes: list[Shape], flavour: str) -> list[Shape]:
    """All for the whole-subgroup versions, which differ by shape. The others are one text with numbers in it."""
    return shapes if flavour == "lockstep" else [shape for shape in shapes if shape.rows in (1, 4, 8)]


def run_reads(shapes: list[Shape], rng: np.random.Generator) -> None:
    gpu = runtime()
    module = gpu.load(compile_opencl(kernel_source(shapes)))
    for i, shape in enumerate(shapes):
        where = corners(shape)
        buffer, start = surface_buffer(rng)
        before = buffer.copy()
        out = np.full((len(where), SUBGROUP, shape.lane_bytes), 0xA5, np.uint8)
        at = np.array(where, np.int32)
        base = ctypes.c_void_p(buffer.ctypes.data + start)
        gpu.launch(module, f"k{i}", (len(where), 1, 1), (SUBGROUP, 1, 1), [base, at, out, ctypes.c_int32(0)])
        surface = elements_of(buffer, start, shape)
        for (x, y), got in zip(where, out, strict=True):
            np.testing.assert_array_equal(got, model_read(surface, shape, x, y), f"{shape.name} at ({x}, {y})")
        np.testing.assert_array_equal(buffer, before, f"{shape.name} changed memory")
    gpu.mgpuModuleUnload(module)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_plain_reads(bits, flavour, rng):
    run_reads(some([shape for shape in read_shapes() if shape.bits == bits], flavour), rng)


def test_transforming_reads(flavour, rng):
    run_reads(some(transform_shapes(), flavour), rng)


def test_transposing_reads(flavour, rng):
    run_reads(some(transpose_shapes(), flavour), rng)


def test_writes(flavour, rng):
    gpu = runtime()
    shapes = some(write_shapes(), flavour)
    module = gpu.load(compile_opencl(kernel_source(shapes)))
    for i, shape in enumerate(shapes):
        where = corners(shape)
        original, start = surface_buffer(rng)
        size = -(-original.size // 64) * 64
        out = np.zeros((len(where) * size + 64,), np.uint8)
        first = (original.ctypes.data - out.ctypes.data) % 64
        for g in range(len(where)):
            out[first + g * size : first + g * size + original.size] = original
        data = rng.integers(0, 256, (SUBGROUP, shape.lane_bytes), np.uint8)
        at = np.array(where, np.int32)
        base = ctypes.c_void_p(out.ctypes.data + first + start)
        gpu.launch(module, f"k{i}", (len(where), 1, 1), (SUBGROUP, 1, 1), [base, at, data, ctypes.c_int32(size)])
        # The model of a write: the lane that would read an element writes it.
        numbers = np.arange(1, shape.rows * shape.columns + 1).reshape(shape.rows, shape.columns)
        owner = lanes_of(numbers)
        values = data.view(f"u{shape.element}")
        for g, (x, y) in enumerate(where):
            expected = original.copy()
            surface = elements_of(expected, start, shape)
            for lane in range(SUBGROUP):
                for e in range(owner.shape[1]):
                    r, c = divmod(int(owner[lane, e]) - 1, shape.columns)
                    if r >= 0 and 0 <= y + r < surface.shape[0] and 0 <= x + c < surface.shape[1]:
                        surface[y + r, x + c] = values[lane, e]
            got = out[first + g * size : first + g * size + original.size]
            np.testing.assert_array_equal(got, expected, f"{shape.name} at ({x}, {y})")
    gpu.mgpuModuleUnload(module)


def test_prefetches_change_nothing(flavour, rng):
    shapes = [
        (bits, rows, columns, blocks)
        for bits, widths in ((8, (16, 32)), (16, (16,)), (32, (8, 16)))
        for columns in widths
        for rows in (1, 2, 4, 8, 16, 32)
        for blocks in (1, 2, 4, 8)
    ]
    source, calls = "", ""
    for i, (bits, rows, columns, blocks) in enumerate(shapes):
        name = f"intel_sub_group_2d_block_prefetch_{bits}b_{rows}r{columns}x{blocks}c"
        source += f'void p{i}(__global void *, int, int, int, int2) __asm__("_Z{len(name)}{name}PU3AS1viiiDv2_i");\n'
        calls += f"  p{i}(base, {WIDTH}, {HEIGHT}, {PITCH}, (int2)(-3, 35));\n"
    source += (
        "__attribute__((intel_reqd_sub_group_size(16)))\n"
        f"__kernel void k(__global uchar *base, __global int *done) {{\n{calls}  *done = 1;\n}}\n"
    )
    gpu = runtime()
    module = gpu.load(compile_opencl(source))
    buffer, start = surface_buffer(rng)
    before, done = buffer.copy(), np.zeros(1, np.int32)
    gpu.launch(module, "k", (1, 1, 1), (SUBGROUP, 1, 1), [ctypes.c_void_p(buffer.ctypes.data + start), done])
    assert done[0] == 1
    np.testing.assert_array_equal(buffer, before)
    gpu.mgpuModuleUnload(module)


def test_lane_arrays_that_are_not_packed(flavour, rng):
    """The arrays are parts of larger ones: the whole-subgroup versions must not write past a lane's own part."""
    shapes = [
        Shape("read", 16, 8, 16, 1),
        Shape("read", 8, 4, 32, 2),
        Shape("read", 32, 8, 8, 1),
        Shape("read_transform", 16, 16, 16, 2),
        Shape("read_transpose", 32, 16, 8, 1),
        Shape("read_transpose", 32, 8, 3, 1),
        Shape("write", 32, 8, 16, 1),
        Shape("write", 16, 2, 4, 1),
    ]
    source = ""
    for i, shape in enumerate(shapes):
        scalar, count = SCALARS[shape.pointee], shape.lane_bytes // shape.pointee
        total = count + 5
        source += (
            f'void f{i}(__global void *, int, int, int, int2, __private {scalar} *) __asm__("{shape.mangled}");\n'
            f"__attribute__((intel_reqd_sub_group_size({SUBGROUP})))\n"
            f"__kernel void k{i}(__global uchar *base, __global {scalar} *data, int x, int y) {{\n"
            f"  int lane = get_sub_group_local_id();\n  {scalar} own[{total}];\n"
            f"  for (int e = 0; e < {total}; ++e) own[e] = data[lane * {total} + e];\n"
            f"  f{i}(base, {WIDTH}, {HEIGHT}, {PITCH}, (int2)(x, y), own + 3);\n"
            f"  for (int e = 0; e < {total}; ++e) data[lane * {total} + e] = own[e];\n}}\n"
        )
    gpu = runtime()
    module = gpu.load(compile_opencl(source))
    for i, shape in enumerate(shapes):
        for x, y in ((0, 0), (-2, 30)):
            buffer, start = surface_buffer(rng)
            reference = buffer.copy()
            total = (shape.lane_bytes // shape.pointee + 5) * shape.pointee
            data = rng.integers(0, 256, (SUBGROUP, total), np.uint8)
            expected = data.copy()
            own = slice(3 * shape.pointee, 3 * shape.pointee + shape.lane_bytes)
            surface = elements_of(reference, start, shape)
            if shape.kind == "write":
                numbers = lanes_of(np.arange(shape.rows * shape.columns).reshape(shape.rows, shape.columns))
                values = np.ascontiguousarray(data[:, own]).view(f"u{shape.element}")
                for lane, e in np.ndindex(numbers.shape):
                    r, c = divmod(int(numbers[lane, e]), shape.columns)
                    if lane * numbers.shape[1] + e < shape.rows * shape.columns and y + r < HEIGHT and x + c >= 0:
                        surface[y + r, x + c] = values[lane, e]
            else:
                expected[:, own] = model_read(surface, shape, x, y)
            base = ctypes.c_void_p(buffer.ctypes.data + start)
            gpu.launch(module, f"k{i}", (1, 1, 1), (SUBGROUP, 1, 1), [base, data, ctypes.c_int32(x), ctypes.c_int32(y)])
            np.testing.assert_array_equal(data, expected, f"{shape.name} at ({x}, {y})")
            np.testing.assert_array_equal(buffer, reference, f"{shape.name} at ({x}, {y})")
    gpu.mgpuModuleUnload(module)


def test_blocks_in_branches_and_loops(flavour):
    """Subgroups of one workgroup take different branches and trip counts; a skipped call must touch nothing."""
    read, write = Shape("read", 16, 8, 16, 1), Shape("write", 32, 8, 16, 1)
    source = f"""
void read(__global void *, int, int, int, int2, __private ushort *) __asm__("{read.mangled}");
void write(__global void *, int, int, int, int2, __private uint *) __asm__("{write.mangled}");
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void k(__global ushort *a, __global uint *b, __global int *n) {{
  ushort d[8];
  uint e[8];
  int sg = get_sub_group_id();
  for (int i = 0; i < n[sg]; i++) {{
    if (n[4] == sg || n[5] > i) {{
      __global ushort *source = n[6] == sg ? (__global ushort *)0 : a;
      if (n[6] != sg) {{
        read(source, 64, 32, 64, (int2)(0, 8 * sg), d);
        for (int q = 0; q < 8; q++) e[q] = d[q] + i;
        write(b + sg * 16 * 8, 64, 8, 64, (int2)(0, 0), e);
      }}
    }}
  }}
}}
"""
    gpu = runtime()
    module = gpu.load(compile_opencl(source))
    a = np.arange(32 * 32, dtype=np.uint16).reshape(32, 32)
    for plan in ([3, 1, 2, 4, 9, 99, 2], [3, 0, 2, 4, 1, 0, 2], [0, 0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 3, 2, 0]):
        n = np.array(plan, np.int32)
        out = np.full((4, 8, 16), 0xABCD, np.uint32)
        expected = out.copy()
        for sg in range(4):
            for i in range(n[sg]):
                if (n[4] == sg or n[5] > i) and n[6] != sg:
                    expected[sg] = a[8 * sg : 8 * sg + 8, :16] + i
        gpu.launch(module, "k", (1, 1, 1), (64, 1, 1), [a, out, n])
        np.testing.assert_array_equal(out, expected, str(plan))
    gpu.mgpuModuleUnload(module)
