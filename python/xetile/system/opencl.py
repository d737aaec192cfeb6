# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""OpenCL C to SPIR-V, by Intel's offline compiler."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from xetile.errors import XeTileError
from xetile.system import files
from xetile.system.tools import require_ocloc

__all__ = ["to_spirv"]


def to_spirv(path: str, device: str, lines: bool = False) -> bytes:
    """The SPIR-V of a file in OpenCL C for a device of ocloc's, with debug lines if `lines`. XeTileError with its log
    for what it refuses."""
    source = Path(files.path_of(path, "OpenCL C"))
    if not source.is_file():
        raise XeTileError(f"{source}: there is no such file")
    with tempfile.TemporaryDirectory() as folder:
        command = [require_ocloc(), "compile", "-file", source.resolve(), "-device", device, "-spv_only"]
        command += ["-output", "kernel", "-output_no_suffix", "-out_dir", folder]
        command += ["-options", f'-cl-std=CL3.0{" -g" * lines} -I "{source.resolve().parent}"']
        try:
            run = subprocess.run(
                list(map(str, command)), cwd=folder, capture_output=True, text=True, errors="replace", timeout=300
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise XeTileError(f"ocloc does not run: {error}") from None
        made = sorted(Path(folder).glob("*.spv"))
        if run.returncode or not made:
            raise XeTileError(f"{source}: ocloc does not compile it:\n{(run.stdout + run.stderr).strip()}")
        return made[0].read_bytes()
