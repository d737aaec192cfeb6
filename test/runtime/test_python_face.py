# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xetile.runtime: devices, counters and errors of the library as Python values."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from gpu_runtime import compile_opencl
from xetile import XeTileError, runtime


def test_library_is_found():
    path = runtime.library_path()
    assert isinstance(path, Path)
    assert path.name == "libXeTileRuntime.so"


def test_devices_and_selection():
    (selected,) = [device for device in runtime.devices() if device.selected]
    assert selected.name == runtime.selected_device()
    assert 16 in selected.subgroup_sizes
    assert "platform" in runtime.describe_drivers()


def test_no_device_raises(monkeypatch):
    monkeypatch.setenv("XETILE_DEVICE", "nosuch")
    with pytest.raises(XeTileError, match="XETILE_DEVICE='nosuch'"):
        runtime.selected_device()
    assert not any(device.selected for device in runtime.devices())


def test_errors_of_host_code_are_raised():
    library = ctypes.CDLL(str(runtime.library_path()))
    with pytest.raises(XeTileError, match="has 7 bytes"), runtime.checked():
        library.mgpuModuleLoad(b"garbage", ctypes.c_size_t(7))
    with runtime.checked():
        pass


def test_an_exception_gives_way_to_the_recorded_error():
    library = ctypes.CDLL(str(runtime.library_path()))
    with pytest.raises(XeTileError, match="has 7 bytes") as raised, runtime.checked():
        library.mgpuModuleLoad(b"garbage", ctypes.c_size_t(7))
        raise RuntimeError("what came of it")
    assert isinstance(raised.value.__cause__, RuntimeError)
    with pytest.raises(RuntimeError, match="alone"), runtime.checked():
        raise RuntimeError("alone")


def test_stats_start_with_counters():
    stats = runtime.stats()
    assert stats.launches >= 0
    assert stats.kernel_seconds >= 0


def test_builtins_can_be_read():
    name = "_Z41intel_sub_group_2d_block_read_16b_8r16x1cPU3AS1viiiDv2_iPt"
    spirv = compile_opencl(
        f'void f(__global void *, int, int, int, int2, __private ushort *) __asm__("{name}");\n'
        "__attribute__((intel_reqd_sub_group_size(16))) __kernel void k(__global ushort *x) {\n"
        "  ushort own[8]; f(x, 64, 8, 64, (int2)(0, 0), own); x[0] = own[0];\n}\n"
    )
    lockstep, portable = runtime.generate_builtins(spirv), runtime.generate_builtins(spirv, lockstep=False)
    assert f"void {name}(" in lockstep and f"void {name}(" in portable
    assert "__builtin_shufflevector" in lockstep and "__builtin_shufflevector" not in portable
    with pytest.raises(XeTileError, match="not SPIR-V"):
        runtime.generate_builtins(b"x" * 24)
