# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices: what is known of them, how one is chosen, and stock mlir-runner on the default one."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from gpu_runtime import SCALE, compile_opencl, failure, library_path, run_python, runtime, tool


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
