# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls libXeTileRuntime.so the way lowered host code does, and makes SPIR-V for it from OpenCL C.

Not a test: the test files of this directory import it.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

SOURCE_ROOT = Path(__file__).resolve().parents[2]
SUBGROUP = 16


@functools.cache
def library_path() -> str:
    """The runtime library: $XETILE_RUNTIME_LIBRARY, else that of the build tree."""
    chosen = os.environ.get("XETILE_RUNTIME_LIBRARY")
    path = Path(chosen) if chosen else SOURCE_ROOT / "build" / "lib" / "libXeTileRuntime.so"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: build the target XeTileRuntime, or set XETILE_RUNTIME_LIBRARY")
    return str(path)


@functools.cache
def tool(name: str) -> str:
    """An LLVM or SPIR-V tool: with the version of scripts/versions.env in its name, on PATH or in LLVM's own prefix."""
    version = next(
        line.split("=", 1)[1].split(".")[0]
        for line in (SOURCE_ROOT / "scripts" / "versions.env").read_text().splitlines()
        if line.startswith("LLVM_VERSION=")
    )
    for candidate in (f"{name}-{version}", name, *glob.glob(f"/usr/lib/llvm-{version}/bin/{name}")):
        if path := shutil.which(candidate):
            return path
    raise FileNotFoundError(f"{name} of LLVM {version} is not installed: run scripts/bootstrap")


def compile_opencl(source: str, extensions: Sequence[str] = (), *, validate: bool = True) -> bytes:
    """OpenCL C to a SPIR-V binary that spirv-val accepts; `validate=False` for extensions that are newer than it."""
    with tempfile.TemporaryDirectory() as directory:
        base = os.path.join(directory, "kernel")
        Path(base + ".cl").write_text(source)
        clang = [tool("clang"), "-target", "spirv64", "-x", "cl", "-cl-std=CL3.0", "-O2", "-emit-llvm", "-c"]
        subprocess.run([*clang, base + ".cl", "-o", base + ".bc"], check=True)
        llc = [tool("llc"), "-march=spirv64", "-filetype=obj", base + ".bc", "-o", base + ".spv"]
        if extensions:
            llc.append("--spirv-ext=" + ",".join("+" + name for name in extensions))
        subprocess.run(llc, check=True)
        if validate:
            subprocess.run([tool("spirv-val"), base + ".spv"], check=True)
        return Path(base + ".spv").read_bytes()


def assemble(text: str) -> bytes:
    """SPIR-V assembly to a binary."""
    run = subprocess.run(
        [tool("spirv-as"), "--target-env", "spv1.4", "-o", "-", "-"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    return run.stdout


class RuntimeFailure(Exception):
    """The message that the runtime recorded."""


class Stats(ctypes.Structure):
    """XeTileRuntimeStats."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "launches",
            "kernel_nanoseconds",
            "build_nanoseconds",
            "programs_built",
            "disk_cache_hits",
            "memory_cache_hits",
            "live_allocations",
            "prefetches",
            "prefetches_ahead",
            "prefetch_sum",
            "kept_uploads",
            "kept_bytes",
            "kept_constants",
        )
    ]


_POINTER, _SIZE, _INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ssize_t
_SIGNATURES = {
    "mgpuModuleLoad": (_POINTER, [ctypes.c_char_p, _SIZE]),
    "mgpuModuleLoadJIT": (_POINTER, [ctypes.c_char_p, ctypes.c_int]),
    "mgpuModuleUnload": (None, [_POINTER]),
    "mgpuModuleGetFunction": (_POINTER, [_POINTER, ctypes.c_char_p]),
    "mgpuLaunchKernel": (
        None,
        [_POINTER, *[_INT] * 6, ctypes.c_int32, _POINTER, ctypes.POINTER(_POINTER), _POINTER, _SIZE],
    ),
    "mgpuStreamCreate": (_POINTER, []),
    "mgpuStreamDestroy": (None, [_POINTER]),
    "mgpuStreamSynchronize": (None, [_POINTER]),
    "mgpuStreamWaitEvent": (None, [_POINTER, _POINTER]),
    "mgpuEventCreate": (_POINTER, []),
    "mgpuEventDestroy": (None, [_POINTER]),
    "mgpuEventSynchronize": (None, [_POINTER]),
    "mgpuEventRecord": (None, [_POINTER, _POINTER]),
    "mgpuMemAlloc": (_POINTER, [ctypes.c_uint64, _POINTER, ctypes.c_int8]),
    "mgpuMemFree": (None, [_POINTER, _POINTER]),
    "mgpuMemcpy": (None, [_POINTER, _POINTER, _SIZE, _POINTER]),
    "mgpuMemset32": (None, [_POINTER, ctypes.c_uint32, _SIZE, _POINTER]),
    "mgpuMemset16": (None, [_POINTER, ctypes.c_uint16, _SIZE, _POINTER]),
    "mgpuMemHostRegister": (None, [_POINTER, ctypes.c_uint64]),
    "mgpuMemHostRegisterMemRef": (None, [ctypes.c_int64, _POINTER, ctypes.c_int64]),
    "mgpuMemHostUnregister": (None, [_POINTER]),
    "mgpuMemHostUnregisterMemRef": (None, [ctypes.c_int64, _POINTER, ctypes.c_int64]),
    "mgpuSetDefaultDevice": (None, [ctypes.c_int32]),
    "xetileRuntimeSetErrorMode": (ctypes.c_int, [ctypes.c_int]),
    "xetileRuntimeTakeError": (_SIZE, [ctypes.c_char_p, _SIZE]),
    "xetileRuntimeListDevices": (_SIZE, [ctypes.c_char_p, _SIZE]),
    "xetileRuntimeSelectedDevice": (_SIZE, [ctypes.c_char_p, _SIZE]),
    "xetileRuntimeGenerateBuiltins": (_SIZE, [ctypes.c_char_p, _SIZE, ctypes.c_int, ctypes.c_char_p, _SIZE]),
    "xetileRuntimeGetStats": (ctypes.c_int, [ctypes.POINTER(Stats)]),
}


class Runtime:
    """The library with typed functions; recorded errors become RuntimeFailure."""

    def __init__(self) -> None:
        library = ctypes.CDLL(library_path())
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.xetileRuntimeSetErrorMode(1)

    def text(self, function, *arguments) -> str:
        """The result of a function that copies text into the caller's buffer."""
        length = function(*arguments, None, 0)
        buffer = ctypes.create_string_buffer(length + 1)
        function(*arguments, buffer, length + 1)
        return buffer.value.decode()

    def check(self) -> None:
        """Raises what was recorded."""
        if message := self.text(self.xetileRuntimeTakeError):
            raise RuntimeFailure(message)

    def stats(self) -> Stats:
        stats = Stats()
        self.xetileRuntimeGetStats(ctypes.byref(stats))
        self.check()
        return stats

    def load(self, spirv: bytes) -> int:
        module = self.mgpuModuleLoad(spirv, len(spirv))
        self.check()
        return module

    def launch(
        self, module: int, name: str, grid: Sequence[int], block: Sequence[int], arguments: Sequence, local: int = 0
    ):
        """Arguments are NumPy arrays (their address is passed) or ctypes values."""
        kernel = self.mgpuModuleGetFunction(module, name.encode())
        self.check()
        values = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments]
        addresses = (ctypes.c_void_p * max(len(values), 1))(*[ctypes.addressof(value) for value in values])
        stream = self.mgpuStreamCreate()
        self.mgpuLaunchKernel(kernel, *grid, *block, local, stream, addresses, None, len(values))
        self.mgpuStreamSynchronize(stream)
        self.mgpuStreamDestroy(stream)
        self.check()


@functools.cache
def runtime() -> Runtime:
    return Runtime()


def aligned(array: np.ndarray, alignment: int = 64) -> np.ndarray:
    """A copy whose first byte is aligned."""
    raw = np.empty(array.nbytes + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def memref(array: np.ndarray) -> list:
    """The kernel arguments of a strided memref: allocated, aligned, offset, sizes, strides (in elements)."""
    strides = [stride // array.itemsize for stride in array.strides]
    return [array, array, *map(ctypes.c_int64, (0, *array.shape, *strides))]


SCALE = "__kernel void scale(__global float *x, float f) { x[get_global_id(0)] *= f; }\n"


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


def portable(spirv: bytes, reversed_: bool = False) -> list[int]:
    """The words that the driver is given, or those of the second run of checks."""
    from xetile.kernels.library import library

    size = library().xetileRuntimePortableSpirv(spirv, len(spirv), reversed_, None, 0)
    out = ctypes.create_string_buffer(size)
    library().xetileRuntimePortableSpirv(spirv, len(spirv), reversed_, out, size)
    return np.frombuffer(out, "u4").tolist()


def instructions(spirv: bytes, reversed_: bool = False) -> list[int]:
    """Numbers of the instructions of portable()."""
    words, at, found = portable(spirv, reversed_), 5, []
    while at < len(words):
        found.append(words[at] & 0xFFFF)
        at += words[at] >> 16
    return found
