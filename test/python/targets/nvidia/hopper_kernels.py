# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Payloads and calls that tests of kernels for Hopper GPUs have in common."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import xetile

M, N, K = 200, 136, 1000
MATMUL = f"""
func.func @matmul(%A: tensor<{M}x{K}xf16>, %B: tensor<{K}x{N}xf16>, %C: tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32> {{
  %D = linalg.matmul ins(%A, %B : tensor<{M}x{K}xf16>, tensor<{K}x{N}xf16>) outs(%C : tensor<{M}x{N}xf32>)
      -> tensor<{M}x{N}xf32>
  return %D : tensor<{M}x{N}xf32>
}}"""
MATMUL_K = """func.func @f(%A: tensor<1024x{k}xbf16>, %B: tensor<{k}x1024xbf16>, %C: tensor<1024x1024xf32>)
    -> tensor<1024x1024xf32> {{
  %D = linalg.matmul ins(%A, %B : tensor<1024x{k}xbf16>, tensor<{k}x1024xbf16>) outs(%C : tensor<1024x1024xf32>)
      -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}}"""
PARAMS = {"workgroup_m": 128, "workgroup_n": 64, "prefetch": 2}


def compiled(text: str = MATMUL, **options) -> xetile.Kernel:
    return xetile.compile(parse(text), target="sm_90a", **({"params": PARAMS} | options))


def parse(text: str):
    from xetile.mlir import ir

    with ir.Context():
        return ir.Module.parse(text)


def ptx_of(kernel: xetile.Kernel) -> str:
    return kernel.binaries["ptx"].decode()


CALL = """
import ml_dtypes, numpy as np, sys, xetile
from xetile.kernels import cuda
arrays = [np.load(path).view(ml_dtypes.bfloat16) if ".bf16." in path else np.load(path) for path in sys.argv[2:]]
kernel = xetile.load(sys.argv[1])
try:
    print("result", kernel(*arrays).sum(), kernel(*arrays).shape)
    print(cuda.describe_device())
except xetile.XeTileError as error:
    print("error", error)
"""


def on_this_cpu(kernel: xetile.Kernel, driver: Path, folder: Path, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a kernel whose PTX this CPU runs (ptx_programs.py), in a process of its own."""
    kernel.save(folder / "k.so")
    files = []
    for number, array in enumerate(arrays):
        is_bf16 = array.dtype == ml_dtypes.bfloat16
        files.append(folder / f"{number}{'.bf16' if is_bf16 else ''}.npy")
        np.save(files[-1], array.view(np.uint16) if is_bf16 else array)
    environment = os.environ | {"XETILE_CUDA_DRIVER": str(driver), "FAKE_DRIVER_LOG": str(folder / "log")}
    script = Path(__file__).with_name("ptx_programs.py")
    command = [sys.executable, script, folder / "k.so", driver, folder / "r.npz", *files]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    results = np.load(folder / "r.npz")
    return [array.view(ml_dtypes.bfloat16) if name.startswith("bf16") else array for name, array in results.items()]


def call(
    kernel: xetile.Kernel, driver: Path, tmp_path: Path, given: Sequence[np.ndarray], **environment: str
) -> tuple[str, list[str]]:
    """What two calls print, and what the driver was asked for."""
    kernel.save(tmp_path / "k.so")
    paths = []
    for number, array in enumerate(given):
        # NumPy's files have no bf16: their bits go as whole numbers.
        is_bf16 = array.dtype == ml_dtypes.bfloat16
        paths.append(tmp_path / f"{number}{'.bf16' if is_bf16 else ''}.npy")
        np.save(paths[-1], array.view(np.uint16) if is_bf16 else array)
    log = tmp_path / "log"
    log.write_text("")
    environment = os.environ | {"XETILE_CUDA_DRIVER": str(driver), "FAKE_DRIVER_LOG": str(log)} | environment
    run = subprocess.run(
        [sys.executable, "-c", CALL, tmp_path / "k.so", *paths], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    return run.stdout, log.read_text().splitlines()
