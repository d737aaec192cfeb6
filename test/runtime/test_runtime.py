"""Modules, arguments, memory, streams and devices through the mgpu* functions; what is refused and how."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gpu_runtime import RuntimeFailure, assemble, compile_opencl, library_path, memref, runtime, tool

SCALE = "__kernel void scale(__global float *x, float f) { x[get_global_id(0)] *= f; }\n"


@pytest.fixture(scope="module")
def scale() -> int:
    return runtime().load(compile_opencl(SCALE))


def failure(action) -> str:
    """The message of the RuntimeFailure that `action` must raise."""
    with pytest.raises(RuntimeFailure) as raised:
        action()
    return str(raised.value)


def run_python(source: str, **environment: str) -> subprocess.CompletedProcess:
    """A fresh process that has `gpu` (Runtime) and this directory's helpers."""
    head = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom gpu_runtime import *\ngpu = runtime()\n"
    )
    env = {**os.environ, "XETILE_RUNTIME_LIBRARY": library_path(), **environment}
    return subprocess.run([sys.executable, "-c", head + source], capture_output=True, text=True, env=env)


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


# What is refused.


def test_unknown_kernel_names_the_known(scale):
    message = failure(lambda: runtime().launch(scale, "skale", (1, 1, 1), (1, 1, 1), []))
    assert "'skale'" in message and "'scale'" in message


def test_wrong_argument_count(scale):
    x = np.ones(16, np.float32)
    message = failure(lambda: runtime().launch(scale, "scale", (1, 1, 1), (16, 1, 1), [x]))
    assert "takes 2 arguments" in message and "passed 1" in message
    assert (x == 1).all()


@pytest.mark.parametrize(
    ("grid", "block"), [((0, 1, 1), (16, 1, 1)), ((1, 1, 1), (1 << 20, 1 << 20, 1 << 30)), ((1, 1, 1), (-4, 1, 1))]
)
def test_impossible_sizes(scale, grid, block):
    x = np.ones(16, np.float32)
    message = failure(lambda: runtime().launch(scale, "scale", grid, block, [x, ctypes.c_float(2)]))
    assert "work-items" in message
    assert (x == 1).all()


def test_group_size_other_than_compiled():
    gpu = runtime()
    module = gpu.load(
        compile_opencl("__attribute__((reqd_work_group_size(32, 1, 1))) __kernel void k(__global int *x) { *x = 1; }\n")
    )
    x = np.zeros(1, np.int32)
    message = failure(lambda: gpu.launch(module, "k", (1, 1, 1), (16, 1, 1), [x]))
    assert "32x1x1" in message and "16x1x1" in message
    gpu.launch(module, "k", (1, 1, 1), (32, 1, 1), [x])
    assert x[0] == 1
    gpu.mgpuModuleUnload(module)


def test_unknown_import_is_named():
    source = "float mystery(float); __kernel void k(__global float *x) { *x = mystery(*x); }\n"
    assert "'mystery'" in failure(lambda: runtime().load(compile_opencl(source)))


@pytest.mark.parametrize(
    ("name", "declaration", "call", "reason"),
    [
        (
            "intel_sub_group_2d_block_read_16b_8r12x1c",
            "void f(__global void *, int, int, int, int2, __private ushort *)",
            "ushort own[8]; f(x, 64, 8, 64, (int2)(0, 0), own); x[0] = own[0]",
            "power of two",
        ),
        (
            "intel_sub_group_2d_block_write_16b_16r16x1c",
            "void f(__global void *, int, int, int, int2, __private ushort *)",
            "ushort own[16] = {1}; f(x, 64, 8, 64, (int2)(0, 0), own)",
            "up to 8",
        ),
        (
            "intel_sub_group_2d_block_read_32b_8r16x2c",
            "void f(__global void *, int, int, int, int2, __private uint *)",
            "uint own[16]; f(x, 64, 8, 64, (int2)(0, 0), own); x[0] = own[0]",
            "512 bits",
        ),
        (
            "intel_sub_group_2d_block_read_16b_8r16x1c",
            "void f(__global void *, int, int, __private ushort *)",
            "ushort own[8]; f(x, 64, 8, own); x[0] = own[0]",
            "its parameters",
        ),
        (
            "intel_sub_group_f16_bf16_matrix_mad_k16",
            "float8 f(short8, int8, float8)",
            "x[0] = f((short8)1, (int8)1, (float8)1).s0",
            "both be",
        ),
        (
            "intel_sub_group_i8_i8_matrix_mad_k16",
            "int8 f(short8, int8, int8)",
            "x[0] = f((short8)1, (int8)1, (int8)1).s0",
            "k must be 32",
        ),
        (
            "intel_sub_group_f16_f16_matrix_mad_k16",
            "float4 f(short8, int8, float4)",
            "x[0] = f((short8)1, (int8)1, (float4)1).s0",
            "A is an i16",
        ),
    ],
)
def test_functions_that_no_gpu_has(name, declaration, call, reason):
    source = (
        f'{declaration} __asm__("_Z{len(name)}{name}v");\n'
        f"__attribute__((intel_reqd_sub_group_size(16))) __kernel void k(__global ushort *x) {{ {call}; }}\n"
    )
    message = failure(lambda: runtime().load(compile_opencl(source)))
    assert name in message and reason in message


def test_builtins_need_the_subgroup_size():
    name = "_Z41intel_sub_group_2d_block_read_16b_8r16x1cPU3AS1viiiDv2_iPt"
    source = (
        f'void f(__global void *, int, int, int, int2, __private ushort *) __asm__("{name}");\n'
        "__kernel void k(__global ushort *x) { ushort own[8]; f(x, 64, 8, 64, (int2)(0, 0), own); x[0] = own[0]; }\n"
    )
    message = failure(lambda: runtime().load(compile_opencl(source)))
    assert "intel_reqd_sub_group_size = 16" in message and "'k'" in message


GARBAGE = {
    "nothing": b"",
    "text": b"; SPIR-V\n               OpCapability Kernel\n",
    "native": b"\x7fELF" + bytes(60),
    "other byte order": bytes.fromhex("07230203") + bytes(40),
    "header only": bytes.fromhex("03022307") + bytes(16),
    "odd size": bytes.fromhex("03022307") + bytes(19),
    "zero length instruction": bytes.fromhex("03022307") + bytes(24),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_instead_of_spirv(what):
    gpu = runtime()
    message = failure(lambda: gpu.load(GARBAGE[what]))
    assert "kernel binary" in message


def test_truncated_and_damaged_modules_are_refused_or_parsed(rng):
    """Only parsed, not built: a driver may be less careful."""
    gpu = runtime()
    spirv = compile_opencl(SCALE)
    for _ in range(300):
        damaged = bytearray(spirv[: rng.integers(0, len(spirv))])
        for at in rng.integers(0, max(len(damaged), 1), 4):
            if at < len(damaged):
                damaged[at] = rng.integers(0, 256)
        gpu.xetileRuntimeGenerateBuiltins(bytes(damaged), len(damaged), 1, None, 0)
        gpu.xetileRuntimeTakeError(ctypes.create_string_buffer(1), 1)


def test_spirv_that_the_driver_refuses_brings_its_log():
    text = """
               OpCapability Addresses
               OpCapability Kernel
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %f "f"
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
       %uint = OpTypeInt 32 0
          %f = OpFunction %void None %fn
      %entry = OpLabel
          %x = OpIAdd %uint %void %void
               OpReturn
               OpFunctionEnd
"""
    probe = f"""
try:
    gpu.load({assemble(text)!r})
except RuntimeFailure as error:
    assert "spirv-val" in str(error), error
    print("refused")
"""
    # In its own process: a driver may end it. Then at least nothing ran.
    run = run_python(probe)
    assert run.stdout.strip() == "refused" or run.returncode != 0, run.stderr


def test_text_modules_are_refused():
    gpu = runtime()
    assert gpu.mgpuModuleLoadJIT(b"; SPIR-V", 2) is None
    assert "format 'bin'" in failure(gpu.check)


def test_calls_after_an_error_are_harmless(scale):
    gpu = runtime()
    x = np.ones(16, np.float32)
    gpu.mgpuModuleLoad(b"garbage", 7)
    module = gpu.mgpuModuleLoad(b"more garbage", 12)
    assert module is None and gpu.mgpuModuleGetFunction(module, b"scale") is None
    pointer = gpu.mgpuMemAlloc(64, None, 0)
    ctypes.memset(pointer, 1, 64)
    gpu.mgpuMemcpy(pointer, x.ctypes.data, 64, None)
    stream = gpu.mgpuStreamCreate()
    gpu.mgpuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, stream, None, None, 0)
    gpu.mgpuStreamSynchronize(stream)
    gpu.mgpuMemFree(pointer, stream)
    gpu.mgpuStreamDestroy(stream)
    gpu.mgpuModuleUnload(module)
    assert "7 bytes" in failure(gpu.check), "the first message is the one that counts"
    gpu.check()
    gpu.launch(scale, "scale", (1, 1, 1), (16, 1, 1), [x, ctypes.c_float(2)])
    assert (x == 2).all()


def test_errors_end_the_process_by_default():
    run = run_python(
        "gpu.xetileRuntimeSetErrorMode(0)\nprint('before', flush=True)\ngpu.mgpuModuleLoad(b'x', 1)\nprint('after')\n"
    )
    assert run.returncode == 1
    assert run.stdout == "before\n"
    assert run.stderr.startswith("xetile runtime: error: the kernel binary has 1 bytes")


# Devices.


def test_devices_are_described():
    gpu = runtime()
    devices = json.loads(gpu.text(gpu.xetileRuntimeListDevices))
    gpu.check()
    selected = [device for device in devices if device["selected"]]
    assert len(selected) == 1
    assert selected[0]["name"] == gpu.text(gpu.xetileRuntimeSelectedDevice)
    assert selected[0]["spirv"] and 16 in selected[0]["subgroup_sizes"]
    assert [device["index"] for device in devices] == list(range(len(devices)))


def test_device_choice(monkeypatch):
    gpu = runtime()
    devices = json.loads(gpu.text(gpu.xetileRuntimeListDevices))
    for device in devices:
        for choice in (str(device["index"]), device["name"].upper()):
            monkeypatch.setenv("XETILE_DEVICE", choice)
            assert gpu.text(gpu.xetileRuntimeSelectedDevice) == device["name"]
    monkeypatch.setenv("XETILE_DEVICE", "cpu")
    assert gpu.text(gpu.xetileRuntimeSelectedDevice) in [d["name"] for d in devices if d["type"] == "cpu"]
    gpu.check()


@pytest.mark.parametrize("choice", ["nosuch", "999", "99999999999999999999"])
def test_no_such_device(choice, monkeypatch):
    gpu = runtime()
    monkeypatch.setenv("XETILE_DEVICE", choice)
    message = failure(lambda: gpu.load(compile_opencl(SCALE)))
    assert f"XETILE_DEVICE='{choice}'" in message
    monkeypatch.delenv("XETILE_DEVICE")
    assert gpu.text(gpu.xetileRuntimeSelectedDevice) in json.dumps(json.loads(gpu.text(gpu.xetileRuntimeListDevices)))


def test_set_default_device():
    run = run_python(
        "gpu.mgpuSetDefaultDevice(0)\ngpu.check()\nprint(gpu.text(gpu.xetileRuntimeSelectedDevice) != '')\n"
        "gpu.mgpuSetDefaultDevice(1000)\n"
        "try:\n    gpu.check()\nexcept RuntimeFailure as error:\n    print('no OpenCL device 1000' in str(error))\n"
    )
    assert run.stdout == "True\nTrue\n", run.stderr


def test_unknown_flavour(monkeypatch):
    monkeypatch.setenv("XETILE_BUILTINS", "quick")
    assert "XETILE_BUILTINS='quick'" in failure(lambda: runtime().load(compile_opencl(SCALE)))


def test_under_mlir_runner(tmp_path):
    """Stock mlir-opt lowers, stock mlir-runner runs, with this library and no settings."""
    (tmp_path / "in.mlir").write_text("""
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @triple(%x: memref<64xi32>, %f: i32) kernel {
      %b = gpu.block_id x
      %t = gpu.thread_id x
      %d = gpu.block_dim x
      %o = arith.muli %b, %d : index
      %i = arith.addi %o, %t : index
      %v = memref.load %x[%i] : memref<64xi32>
      %w = arith.muli %v, %f : i32
      memref.store %w, %x[%i] : memref<64xi32>
      gpu.return
    }
  }
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %three = arith.constant 3 : i32
    %zero = arith.constant 0 : i32
    %host = memref.alloc() : memref<64xi32>
    scf.for %i = %c0 to %c64 step %c1 {
      %n = arith.index_cast %i : index to i32
      memref.store %n, %host[%i] : memref<64xi32>
    }
    %device = gpu.alloc () : memref<64xi32>
    gpu.memcpy %device, %host : memref<64xi32>, memref<64xi32>
    gpu.launch_func @kernels::@triple blocks in (%c4, %c1, %c1) threads in (%c16, %c1, %c1)
      args(%device : memref<64xi32>, %three : i32)
    gpu.memcpy %host, %device : memref<64xi32>, memref<64xi32>
    gpu.dealloc %device : memref<64xi32>
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%s = %zero) -> i32 {
      %v = memref.load %host[%i] : memref<64xi32>
      %next = arith.addi %s, %v : i32
      scf.yield %next : i32
    }
    return %sum : i32
  }
}
""")
    low = str(tmp_path / "low.mlir")
    pipeline = "--gpu-lower-to-xevm-pipeline=xegpu-op-level=lane zebin-chip=pvc binary-format=bin"
    subprocess.run([tool("mlir-opt"), str(tmp_path / "in.mlir"), pipeline, "-o", low], check=True)
    command = [tool("mlir-runner"), low, "-e", "main", "--entry-point-result=i32", f"--shared-libs={library_path()}"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == 3 * 63 * 64 // 2
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XETILE_DEVICE": "nosuch"})
    assert run.returncode == 1
    assert "xetile runtime: error: XETILE_DEVICE='nosuch'" in run.stderr
