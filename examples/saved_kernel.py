# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel as a file: compiled and saved once, then loaded and called by a process that has no compiler.

python examples/saved_kernel.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import xetile

# What a user of the kernel runs: NumPy, and of xetile only what loads and calls. "matmul.so" came with the program.
USER = """
import sys
import numpy as np
import xetile

kernel = xetile.load(sys.argv[1])
print(kernel)

rng = np.random.default_rng(0)
a = rng.standard_normal((256, 64)).astype(np.float16)
b = rng.standard_normal((64, 256)).astype(np.float16)
c = np.zeros((256, 256), np.float32)
d = np.empty_like(c)
kernel(a, b, c, out=d)

expected = a.astype(np.float64) @ b.astype(np.float64)
error = np.abs(d - expected).max() / np.abs(expected).max()
compiler = [name for name in ("libMLIR", "libLLVM") if name in open("/proc/self/maps").read()]
print(f"largest error {error:.1e} of the largest element; compiler libraries in the process: {compiler or 'none'}")
if error > 1e-5 or compiler:
    raise SystemExit("that is wrong")
"""

with tempfile.TemporaryDirectory() as directory:
    for target in ("pvc", "cpu"):
        path = Path(directory, f"matmul_{target}.so")
        xetile.compile(xetile.matmul(256, 256, 64), target=target).save(path)
        print(f"{path.name}: {path.stat().st_size} bytes")
        subprocess.run([sys.executable, "-c", USER, path], check=True)
