# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the runtime refuses, what it says then, and that nothing happens after."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest
from gpu_runtime import SCALE, assemble, compile_opencl, failure, run_python, runtime


@pytest.fixture(scope="module")
def scale() -> int:
    return runtime().load(compile_opencl(SCALE))


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


def test_memory_that_the_device_has_not_is_refused_with_what_there_is():
    gpu = runtime()
    held = gpu.mgpuMemAlloc(1 << 20, None, 0)
    assert gpu.mgpuMemAlloc(1 << 60, None, 0) is None
    told = failure(gpu.check)
    assert f"allocating {1 << 60} bytes on '" in told
    there, at_once, taken = map(int, re.search(
        r"has (\d+) bytes and hands out at most (\d+) bytes at once; this process has (\d+) bytes of it", told
    ).groups())  # fmt: skip
    assert there >= at_once > 0
    assert (1 << 20) <= taken < 1 << 40
    gpu.mgpuMemFree(held, None)


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


NAMED = """
OpCapability Addresses
OpCapability Kernel
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "{name}"
%void = OpTypeVoid
%type = OpTypeFunction %void
%k = OpFunction %void None %type
%entry = OpLabel
OpReturn
OpFunctionEnd
"""


@pytest.mark.parametrize("name", ["a$(b)", "x\N{LATIN SMALL LETTER E WITH ACUTE}", "../../escape", "a b", "1st", "-"])
def test_kernel_names_that_drivers_abort_on(name):
    message = failure(lambda: runtime().load(assemble(NAMED.format(name=name))))
    assert "drivers do not take this name" in message and message.isascii()


@pytest.mark.parametrize("name", ["matmul.1_kernel", "a$b", "_1", "a-b"])
def test_kernel_names_with_other_characters(name):
    gpu = runtime()
    module = gpu.load(assemble(NAMED.format(name=name)))
    gpu.launch(module, name, (1, 1, 1), (1, 1, 1), [])
    gpu.mgpuModuleUnload(module)
