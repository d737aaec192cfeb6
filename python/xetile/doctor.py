# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile doctor`: what is installed, which devices and tools were found, what to do about the rest.

Each part is looked at on its own, so that one that is broken does not hide the others.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xetile.errors import XeTileError
from xetile.system import tools
from xetile.system.surroundings import (
    explain,
    foreign_libraries,
    is_installed,
    mapped,
    parts_missing,
    reinstall,
    version,
)

__all__ = ["Finding", "examine", "main"]

_OCLOC_ADVICE = "for native binaries: scripts/install-ocloc of the sources, or set XETILE_OCLOC to an ocloc"


@dataclass(frozen=True)
class Finding:
    """One part: is it there, what was found, and what to do if it is not. Nothing works without an `essential` one."""

    name: str
    found: bool
    detail: str
    advice: str = ""
    essential: bool = False

    @property
    def mark(self) -> str:
        """ok, MISSING (essential) or missing."""
        return "ok" if self.found else "MISSING" if self.essential else "missing"


def examine() -> Iterator[Finding]:
    """All findings, one by one: some parts take a second to answer."""
    for part in (
        _package,
        _bindings,
        _runtime,
        _devices,
        _ocloc,
        _linker,
        _spirv_val,
        _mlir_opt,
        _tools,
        _process,
        _cache,
    ):
        try:
            yield from part()
        except Exception as error:  # noqa: BLE001  a broken installation fails in any way; the others are still told
            yield Finding(part.__name__.strip("_"), False, f"{type(error).__name__}: {error}", reinstall(), True)


def main() -> int:
    """Prints the findings as a table; 1 if something essential is missing, else 0."""
    status = 0
    for finding in examine():
        first, *rest = finding.detail.splitlines() or [""]
        print(f"{finding.mark:8} {finding.name:14} {first}")
        if not finding.found and finding.advice:
            rest.append(f"-> {finding.advice}")
        for line in rest:
            print(f"{'':8} {'':14} {line}")
        if finding.essential and not finding.found:
            status = 1
    return status


def _package() -> Iterator[Finding]:
    glibc = " ".join(platform.libc_ver()) or "another C library than glibc"
    detail = f"{version()}, {Path(__file__).parent}\nPython {platform.python_version()}, {sys.executable}; {glibc}"
    yield Finding("xetile", True, detail)


def _bindings() -> Iterator[Finding]:
    if parts_missing():
        yield Finding("compiler", False, "xetile-runtime alone: it loads kernels", f"pip install xetile=={version()}")
        return
    try:
        from xetile.mlir import ir
        from xetile.targets import available

        with ir.Context():
            ir.Module.parse("module {}")
        targets = ", ".join(f"{target.name} ({target.description})" for target in available())
    except ImportError as error:
        yield Finding("bindings", False, explain(error), "", True)
        return
    except Exception as error:  # noqa: BLE001  whatever keeps the extension modules from working
        yield Finding("bindings", False, f"xetile.mlir: {error}", reinstall(), True)
        return
    library = _mapped("libMLIR.so")
    yield Finding("bindings", True, f"xetile.mlir on {library}", essential=True)
    yield Finding("LLVM and MLIR", True, _llvm_version() or "of unknown version")
    yield Finding("targets", True, targets)


def _mapped(name: str) -> str:
    """The file of a library in this process."""
    return next((path for path in mapped() if Path(path).name.startswith(name)), name)


def _llvm_version() -> str | None:
    numbers = [ctypes.c_uint() for _ in range(3)]
    try:
        ctypes.CDLL(_mapped("libLLVM")).LLVMGetVersion(*map(ctypes.byref, numbers))
    except (OSError, AttributeError):
        return None
    return ".".join(str(number.value) for number in numbers)


def _runtime() -> Iterator[Finding]:
    from xetile.kernels import runtime

    try:
        runtime.describe_drivers()
        yield Finding("runtime", True, str(runtime.library_path()), essential=True)
    except XeTileError as error:
        yield Finding("runtime", False, str(error), reinstall("xetile-runtime"), True)


def _devices() -> Iterator[Finding]:
    from xetile.kernels import runtime

    advice = "pip install 'xetile-runtime[run]' for an OpenCL device on this CPU, or install a GPU's OpenCL driver"
    if not is_installed():
        advice = "pip install intel-opencl-rt intel-cmplr-lib-rt tbb, or install a GPU's OpenCL driver"
    try:
        devices = runtime.devices()
    except XeTileError as error:
        yield Finding("devices", False, str(error), advice, True)
        return
    if not devices:
        yield Finding("devices", False, f"no OpenCL device\n{runtime.describe_drivers()}", advice, True)
        return
    lines = []
    for device in devices:
        builtins = {
            (True, True): "Intel's builtins",
            (False, False): "builtins emulated",
        }.get((device.native_block_io, device.native_dpas), "builtins partly emulated")
        chosen = " (selected)" if device.selected else ""
        lines.append(f"{device.index}: {device.name}{chosen}: {device.type}, {device.compute_units} units, {builtins}")
    yield Finding("devices", True, "\n".join(lines), essential=True)
    try:
        runtime.selected_device()
    except XeTileError as error:
        yield Finding("XETILE_DEVICE", False, str(error), "unset it, or set it to one of the above", True)


def _ocloc() -> Iterator[Finding]:
    if parts_missing():
        return
    try:
        path = tools.require_ocloc()
        limit = f"at most {os.environ.get('XETILE_OCLOC_TIMEOUT') or 600} s for a kernel (XETILE_OCLOC_TIMEOUT)"
        yield Finding("ocloc", True, f"{tools.ocloc_version(path)}, {path}\n{limit}")
    except XeTileError as error:
        yield Finding("ocloc", False, str(error), _OCLOC_ADVICE)


def _linker() -> Iterator[Finding]:
    """The linker of `kernel.save`."""
    if parts_missing():
        return
    found = next(filter(None, map(shutil.which, ("cc", "clang", "clang-22", "gcc"))), None) or tools.find_linker()
    yield Finding("linker", bool(found), str(found or "no cc, clang or gcc on PATH"), "to save kernels: install one")


def _spirv_val() -> Iterator[Finding]:
    advice = "not needed, the compiler validates what it emits; to look at SPIR-V: apt-get install spirv-tools"
    path = shutil.which("spirv-val")
    if not path:
        yield Finding("spirv-val", False, "not on PATH", advice)
        return
    run = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", timeout=60)
    version = (run.stdout or run.stderr).partition("\n")[0]
    yield Finding("spirv-val", run.returncode == 0, f"{version}, {path}", advice)


def _mlir_opt() -> Iterator[Finding]:
    if parts_missing():
        return
    major = (_llvm_version() or "22").partition(".")[0]
    path = shutil.which(f"mlir-opt-{major}")
    advice = f"not needed; to run the plugin in MLIR's own tool: apt-get install mlir-{major}-tools"
    yield Finding("mlir-opt", path is not None, path or f"no mlir-opt-{major} on PATH", advice)


def _tools() -> Iterator[Finding]:
    """xetile-opt and the plugin."""
    if parts_missing():
        return
    for name in ("xetile-opt", "plugin"):
        path = tools.path_of_part(name)
        yield Finding(name, path.is_file(), str(path), f"not needed by the package; {reinstall()}")


def _process() -> Iterator[Finding]:
    """Of this process: another LLVM beside ours."""
    if foreign := foreign_libraries():
        yield Finding(
            "other LLVMs", False, "\n".join(foreign), "works as a rule; if not, keep what loads them in another process"
        )


def _cache() -> Iterator[Finding]:
    directory = tools.cache_dir()
    sizes = [path.stat().st_size for path in directory.rglob("*") if path.is_file() and not path.is_symlink()]
    detail = f"{directory}, {sum(sizes) / 2**20:.0f} MiB in {len(sizes)} files"
    place = next(path for path in (directory, *directory.parents) if path.exists())
    try:
        with tempfile.TemporaryDirectory(dir=place):
            yield Finding("cache", True, detail)
    except OSError as error:
        advice = "not needed, but kernels are linked anew in each process: set XETILE_CACHE to a folder of yours"
        yield Finding("cache", False, f"{detail}; {place} cannot be written: {error.strerror}", advice)


if __name__ == "__main__":
    sys.exit(main())
