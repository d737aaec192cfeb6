# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules, arguments, memory, streams and counters through the mgpu* functions."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from gpu_runtime import SCALE, compile_opencl, failure, memref, runtime


@pytest.fixture(scope="module")
def scale() -> int:
    return runtime().load(compile_opencl(SCALE))


def test_arguments_of_every_size(rng):
    source = """
struct Out { char c; short s; int i; long l; float f; double d; float4 v; long2 w; int4 t; };
__kernel void store(__global struct Out *out, char c, short s, int i, long l, float f, double d, float4 v, long2 w,
                    int3 t) {
  out->c = c; out->s = s; out->i = i; out->l = l; out->f = f; out->d = d; out->v = v; out->w = w; out->t.xyz = t;
}
"""
    gpu = runtime()
    module = gpu.load(compile_opencl(source))
    dtype = np.dtype(
        [
            ("c", "i1"),
            ("s", "i2"),
            ("i", "i4"),
            ("l", "i8"),
            ("f", "f4"),
            ("d", "f8"),
            ("v", "f4", 4),
            ("w", "i8", 2),
            ("t", "i4", 4),
        ],
        align=True,
    )
    # OpenCL aligns vectors to their size; NumPy's align does not know them.
    offsets = dict(zip(dtype.names, (0, 2, 4, 8, 16, 24, 32, 48, 64), strict=True))
    dtype = np.dtype(
        {
            "names": dtype.names,
            "formats": [dtype[n] for n in dtype.names],
            "offsets": list(offsets.values()),
            "itemsize": 80,
        }
    )
    out = np.zeros(1, dtype)
    values = {
        "c": ctypes.c_int8(int(rng.integers(-128, 128))),
        "s": ctypes.c_int16(int(rng.integers(-(2**15), 2**15))),
        "i": ctypes.c_int32(int(rng.integers(-(2**31), 2**31))),
        "l": ctypes.c_int64(int(rng.integers(-(2**63), 2**63))),
        "f": ctypes.c_float(rng.standard_normal()),
        "d": ctypes.c_double(rng.standard_normal()),
        "v": (ctypes.c_float * 4)(*rng.standard_normal(4)),
        "w": (ctypes.c_int64 * 2)(-5, 2**40),
        "t": (ctypes.c_int32 * 4)(1, -2, 3, 0),
    }
    gpu.launch(module, "store", (1, 1, 1), (1, 1, 1), [out, *values.values()])
    for name, value in values.items():
        expected = value.value if hasattr(value, "value") else list(value)
        np.testing.assert_array_equal(out[0][name], expected, name)
    gpu.mgpuModuleUnload(module)


def test_memref_arguments_and_views(rng):
    source = """
__kernel void copy(__global float *to0, __global float *to, long to_offset, long rows, long columns, long to_row,
                   long to_column, __global float *from0, __global float *from, long from_offset, long r, long c,
                   long from_row, long from_column) {
  long i = get_global_id(1), j = get_global_id(0);
  to[to_offset + i * to_row + j * to_column] = from[from_offset + i * from_row + j * from_column];
}
"""
    gpu = runtime()
    module = gpu.load(compile_opencl(source))
    big, out = rng.standard_normal((40, 50)).astype(np.float32), np.zeros((8, 16), np.float32)
    view = big[3:35:4, 5:37:2]
    gpu.launch(module, "copy", (1, 8, 1), (16, 1, 1), memref(out) + memref(view))
    np.testing.assert_array_equal(out, view)
    gpu.mgpuModuleUnload(module)


def test_dynamic_local_memory():
    source = """
__kernel void reverse(__global int *x, __local int *scratch) {
  int i = get_local_id(0), n = get_local_size(0);
  scratch[i] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[i] = scratch[n - 1 - i];
}
"""
    gpu = runtime()
    module = gpu.load(compile_opencl(source))
    x = np.arange(64, dtype=np.int32)
    gpu.launch(module, "reverse", (1, 1, 1), (64, 1, 1), [x], local=256)
    np.testing.assert_array_equal(x, np.arange(64)[::-1])
    assert "dynamic_shared_memory_size" in failure(lambda: gpu.launch(module, "reverse", (1, 1, 1), (64, 1, 1), [x]))
    gpu.mgpuModuleUnload(module)


def test_device_memory_round_trip(scale, rng):
    gpu = runtime()
    host = rng.standard_normal(64).astype(np.float32)
    live = gpu.stats().live_allocations
    stream = gpu.mgpuStreamCreate()
    device = gpu.mgpuMemAlloc(host.nbytes, stream, 0)
    shared = gpu.mgpuMemAlloc(host.nbytes, stream, 1)
    assert device % 64 == 0 and shared % 64 == 0
    assert gpu.stats().live_allocations == live + 2
    gpu.mgpuMemcpy(device, host.ctypes.data, host.nbytes, stream)
    gpu.mgpuMemcpy(shared, device, host.nbytes, stream)
    gpu.mgpuStreamSynchronize(stream)
    # An address inside an allocation is as good as its first one.
    gpu.launch(scale, "scale", (3, 1, 1), (16, 1, 1), [ctypes.c_void_p(device + 64), ctypes.c_float(2)])
    gpu.launch(scale, "scale", (4, 1, 1), (16, 1, 1), [ctypes.c_void_p(shared), ctypes.c_float(3)])
    back = np.zeros_like(host)
    gpu.mgpuMemcpy(back.ctypes.data, device, host.nbytes, None)
    in_place = np.ctypeslib.as_array((ctypes.c_float * 64).from_address(shared)).copy()
    gpu.mgpuMemFree(device, stream)
    gpu.mgpuMemFree(shared, None)
    gpu.mgpuStreamDestroy(stream)
    gpu.check()
    np.testing.assert_array_equal(back, np.concatenate([host[:16], host[16:] * np.float32(2)]))
    np.testing.assert_array_equal(in_place, host * np.float32(3))
    assert gpu.stats().live_allocations == live


def test_memset():
    gpu = runtime()
    device = gpu.mgpuMemAlloc(64, None, 0)
    gpu.mgpuMemset32(device, 0xDEADBEEF, 16, None)
    gpu.mgpuMemset16(device + 8, 0x1234, 3, None)
    out = np.zeros(16, np.uint32)
    gpu.mgpuMemcpy(out.ctypes.data, device, 64, None)
    gpu.mgpuMemFree(device, None)
    gpu.check()
    np.testing.assert_array_equal(out[:5], [0xDEADBEEF, 0xDEADBEEF, 0x12341234, 0xDEAD1234, 0xDEADBEEF])


def test_empty_allocations_and_copies():
    gpu = runtime()
    assert gpu.mgpuMemAlloc(0, None, 0) is None
    gpu.mgpuMemFree(None, None)
    gpu.mgpuMemcpy(None, None, 0, None)
    gpu.mgpuMemset32(None, 0, 0, None)
    gpu.check()


def test_freeing_twice_is_an_error():
    gpu = runtime()
    pointer = gpu.mgpuMemAlloc(64, None, 0)
    gpu.mgpuMemFree(pointer, None)
    gpu.check()
    gpu.mgpuMemFree(pointer, None)
    assert "gpu.dealloc" in failure(gpu.check)


def test_copying_from_null_is_an_error():
    gpu = runtime()
    out = np.zeros(4, np.float32)
    gpu.mgpuMemcpy(out.ctypes.data, None, 16, None)
    assert "null pointer" in failure(gpu.check)


def test_events_order_streams(scale):
    gpu = runtime()
    x = np.ones(1 << 16, np.float32)
    first, second, event = gpu.mgpuStreamCreate(), gpu.mgpuStreamCreate(), gpu.mgpuEventCreate()
    kernel = gpu.mgpuModuleGetFunction(scale, b"scale")
    pointer, factor = ctypes.c_void_p(x.ctypes.data), ctypes.c_float(2)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(pointer), ctypes.addressof(factor))
    gpu.mgpuStreamWaitEvent(second, event)  # not recorded yet: nothing to wait for
    gpu.mgpuLaunchKernel(kernel, 1 << 12, 1, 1, 16, 1, 1, 0, first, arguments, None, 2)
    gpu.mgpuEventRecord(event, first)
    gpu.mgpuStreamWaitEvent(second, event)
    gpu.mgpuLaunchKernel(kernel, 1 << 12, 1, 1, 16, 1, 1, 0, second, arguments, None, 2)
    gpu.mgpuEventRecord(event, second)
    gpu.mgpuEventSynchronize(event)
    gpu.check()
    assert (x == 4).all()
    gpu.mgpuEventDestroy(event)
    for stream in (first, second):
        gpu.mgpuStreamDestroy(stream)


def test_launches_are_counted_and_timed(scale):
    gpu = runtime()
    x = np.ones(64, np.float32)
    before = gpu.stats().launches
    gpu.launch(scale, "scale", (4, 1, 1), (16, 1, 1), [x, ctypes.c_float(5)])
    stats = gpu.stats()
    assert stats.launches == before + 1
    assert 0 < stats.kernel_nanoseconds < 10**9


def test_the_same_module_is_linked_once():
    gpu = runtime()
    spirv = compile_opencl("__kernel void once(__global int *x) { *x = 7; }\n")
    before = gpu.stats()
    modules = [gpu.load(spirv), gpu.load(spirv)]
    for module in modules:
        gpu.mgpuModuleUnload(module)
    again = gpu.load(spirv)
    x = np.zeros(1, np.int32)
    gpu.launch(again, "once", (1, 1, 1), (1, 1, 1), [x])
    after = gpu.stats()
    gpu.mgpuModuleUnload(again)
    assert x[0] == 7
    assert after.memory_cache_hits == before.memory_cache_hits + 2
    assert after.programs_built + after.disk_cache_hits == before.programs_built + before.disk_cache_hits + 1
