# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peer that `make bench` compares with: Intel's builtins in the plainest OpenCL C, linked to the same SPIR-V.

Every lane reads and checks each of its elements by itself, and dpas broadcasts one element at a time. Nothing of the
runtime library is used.

usage: plain_emulation.py KERNEL.spv M N K GROUPS_X GROUPS_Y WORK_ITEMS

The kernel computes C += A * B with f16 inputs; its arguments are C, A and B as memrefs. Prints JSON: "device",
"link_seconds" (compiling and linking), "kernel_seconds" (the fastest run), "max_relative" (error against NumPy).
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import tempfile
import time
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path

import numpy as np

RUNS = 3
COPY_HOST_POINTER, READ_WRITE = 1 << 5, 1 << 0
DEVICE_TYPE_ALL = 0xFFFFFFFF
DEVICE_NAME, BUILD_LOG = 0x102B, 0x1183

ELEMENTS = {"8": "uchar", "16": "ushort", "32": "uint", "64": "ulong"}
SURFACE = "__global void *base, int width, int height, int pitch, int2 at"
LOAD = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define BUILTIN __attribute__((overloadable, noinline))
#define LOAD(T) T load_##T(__global void *base, int width, int height, int pitch, int x, int y) { \\
    if (x < 0 || y < 0 || x * (int)sizeof(T) >= width || y >= height) return 0; \\
    return *(__global T *)((__global char *)base + (long)y * pitch + (long)x * sizeof(T)); }
LOAD(uchar) LOAD(ushort) LOAD(uint) LOAD(ulong)
"""


def builtin(name: str) -> str:
    """OpenCL C for one builtin that a kernel imports."""
    if match := re.fullmatch(r"intel_sub_group_2d_block_read_(\d+)b_(\d+)r16x(\d+)c", name):
        bits, rows, count = match[1], int(match[2]), int(match[3])
        kind = ELEMENTS[bits]
        return f"""BUILTIN void {name}({SURFACE}, __private {kind} *out) {{
  for (int c = 0; c < {count}; c++)
    for (int r = 0; r < {rows}; r++)
      out[c * {rows} + r] =
          load_{kind}(base, width, height, pitch, at.x + c * 16 + (int)get_sub_group_local_id(), at.y + r);
}}"""
    if match := re.fullmatch(r"intel_sub_group_2d_block_read_transform_16b_(\d+)r16x(\d+)c", name):
        rows, count = int(match[1]), int(match[2])
        return f"""BUILTIN void {name}({SURFACE}, __private uint *out) {{
  for (int c = 0; c < {count}; c++)
    for (int r = 0; r < {rows}; r += 2) {{
      int x = at.x + c * 16 + (int)get_sub_group_local_id();
      ushort low = load_ushort(base, width, height, pitch, x, at.y + r);
      ushort high = load_ushort(base, width, height, pitch, x, at.y + r + 1);
      out[(c * {rows} + r) / 2] = as_uint((ushort2)(low, high));
    }}
}}"""
    if match := re.fullmatch(r"intel_sub_group_2d_block_write_(\d+)b_(\d+)r16x1c", name):
        kind, rows = ELEMENTS[match[1]], int(match[2])
        return f"""BUILTIN void {name}({SURFACE}, __private {kind} *in) {{
  int x = at.x + (int)get_sub_group_local_id();
  for (int r = 0; r < {rows}; r++)
    if (x >= 0 && at.y + r >= 0 && x * (int)sizeof({kind}) < width && at.y + r < height)
      *(__global {kind} *)((__global char *)base + (long)(at.y + r) * pitch + (long)x * sizeof({kind})) = in[r];
}}"""
    if name.startswith("intel_sub_group_2d_block_prefetch"):
        return f"BUILTIN void {name}({SURFACE}) {{}}"
    if name == "intel_sub_group_f16_f16_matrix_mad_k16":
        return f"""BUILTIN float8 {name}(short8 a, int8 b, float8 c) {{
  float row[8], column[16], sum[8];
  for (int r = 0; r < 8; r++) {{ row[r] = (float)as_half(((short *)&a)[r]); sum[r] = ((float *)&c)[r]; }}
  for (int i = 0; i < 8; i++) {{
    half2 pair = as_half2(((int *)&b)[i]);
    column[2 * i] = (float)pair.x; column[2 * i + 1] = (float)pair.y;
  }}
  for (int k = 0; k < 16; k++)
    for (int r = 0; r < 8; r++)
      sum[r] = fma(sub_group_broadcast(row[r], k), column[k], sum[r]);
  for (int r = 0; r < 8; r++) ((float *)&c)[r] = sum[r];
  return c;
}}"""
    sys.exit(f"plain_emulation: no plain version of {name}")


def imports(spirv: bytes) -> list[str]:
    """Names of the builtins in a module, which has them mangled."""
    if match := re.search(rb"__builtin_IB_\w+", spirv):
        sys.exit(f"plain_emulation: no plain version of {match[0].decode()}")
    found = re.finditer(rb"_Z(\d+)(intel_sub_group_\w+)", spirv)
    return sorted({match[2][: int(match[1])].decode() for match in found})


class OpenCL:
    """The few calls that this needs; every error ends the process."""

    def __init__(self) -> None:
        driver = os.environ.get("XETILE_OPENCL_RT") or os.path.join(sys.prefix, "lib")
        with tempfile.TemporaryDirectory() as vendors:
            library = Path(driver, "libintelocl.so")
            if library.exists():
                Path(vendors, "intel.icd").write_text(f"{library}\n")
                os.environ["OCL_ICD_VENDORS"] = vendors
            self.library = ctypes.CDLL("libOpenCL.so.1")
            platform, self.device = c_void_p(), c_void_p()
            self.call("clGetPlatformIDs", 1, byref(platform), None)
            self.call("clGetDeviceIDs", platform, c_int64(DEVICE_TYPE_ALL), 1, byref(self.device), None)
        name = ctypes.create_string_buffer(256)
        self.call("clGetDeviceInfo", self.device, DEVICE_NAME, c_size_t(256), name, None)
        self.name = name.value.decode()
        self.context = self.make("clCreateContext", None, 1, byref(self.device), None, None)
        self.queue = self.make("clCreateCommandQueueWithProperties", self.context, self.device, None)

    def call(self, function: str, *arguments: object) -> None:
        if status := getattr(self.library, function)(*arguments):
            sys.exit(f"plain_emulation: {function} failed with status {status}")

    def make(self, function: str, *arguments: object) -> c_void_p:
        """A call that returns a handle and a status."""
        entry, status = getattr(self.library, function), c_int()
        entry.restype = c_void_p
        handle = entry(*arguments, byref(status))
        if status.value:
            sys.exit(f"plain_emulation: {function} failed with status {status.value}")
        return c_void_p(handle)

    def compile(self, program: c_void_p, options: bytes) -> c_void_p:
        arguments = (program, 1, byref(self.device), options, 0, None, None, None, None)
        if status := self.library.clCompileProgram(*arguments):
            log = ctypes.create_string_buffer(1 << 16)
            self.call("clGetProgramBuildInfo", program, self.device, BUILD_LOG, c_size_t(1 << 16), log, None)
            sys.exit(f"plain_emulation: clCompileProgram failed with status {status}\n{log.value.decode()}")
        return program

    def link(self, spirv: bytes, source: str) -> c_void_p:
        text = c_char_p(source.encode())
        library = self.make("clCreateProgramWithSource", self.context, 1, byref(text), None)
        kernel = self.make("clCreateProgramWithIL", self.context, spirv, c_size_t(len(spirv)))
        parts = (c_void_p * 2)(self.compile(kernel, b""), self.compile(library, b"-cl-std=CL3.0"))
        return self.make("clLinkProgram", self.context, 1, byref(self.device), b"", 2, parts, None, None)

    def buffer(self, array: np.ndarray) -> c_void_p:
        flags, size = c_int64(READ_WRITE | COPY_HOST_POINTER), c_size_t(array.nbytes)
        return self.make("clCreateBuffer", self.context, flags, size, c_void_p(array.ctypes.data))


def main(path: str, *numbers: str) -> None:
    m, n, k, groups_x, groups_y, items = map(int, numbers)
    spirv = Path(path).read_bytes()
    opencl = OpenCL()
    start = time.perf_counter()
    program = opencl.link(spirv, LOAD + "\n".join(builtin(name) for name in imports(spirv)))
    link_seconds = time.perf_counter() - start

    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape, np.float32).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    kernel, count = c_void_p(), ctypes.c_uint()
    opencl.call("clCreateKernelsInProgram", program, 1, byref(kernel), byref(count))
    expected = c + a.astype(np.float32) @ b.astype(np.float32)
    seconds = []
    for _ in range(RUNS):
        buffers = [opencl.buffer(array) for array in (c, a, b)]
        number = 0
        for buffer, array in zip(buffers, (c, a, b), strict=True):
            # A memref: allocated and aligned pointer, offset, sizes, strides.
            words = [c_int64(word) for word in (0, *array.shape, array.shape[1], 1)]
            for argument in (buffer, buffer, *words):
                opencl.call("clSetKernelArg", kernel, number, c_size_t(8), byref(argument))
                number += 1
        opencl.call("clFinish", opencl.queue)
        total, group = (c_size_t * 3)(groups_x * items, groups_y, 1), (c_size_t * 3)(items, 1, 1)
        start = time.perf_counter()
        opencl.call("clEnqueueNDRangeKernel", opencl.queue, kernel, 3, None, total, group, 0, None, None)
        opencl.call("clFinish", opencl.queue)
        seconds.append(time.perf_counter() - start)
        result = np.empty_like(c)
        size, place = c_size_t(result.nbytes), c_void_p(result.ctypes.data)
        opencl.call("clEnqueueReadBuffer", opencl.queue, buffers[0], 1, c_size_t(0), size, place, 0, None, None)
        for buffer in buffers:
            opencl.call("clReleaseMemObject", buffer)
    error = float(np.abs(result - expected).max() / np.abs(expected).max())
    figures = {"device": opencl.name, "link_seconds": link_seconds}
    print(json.dumps(figures | {"kernel_seconds": min(seconds), "max_relative": error}))


if __name__ == "__main__":
    if len(sys.argv) != 8:
        sys.exit(__doc__)
    main(*sys.argv[1:])
