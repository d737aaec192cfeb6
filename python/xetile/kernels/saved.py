# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that were saved, in a process without a compiler: see `xetile.load`.

What is read was written by `xetile.codegen.saving`; nothing in the file runs before its description has been read and
fits, and its digest is that of its bytes.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import platform
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xetile.errors import XeTileError, expect
from xetile.kernels import cuda, runtime
from xetile.kernels.cuda_arrays import CudaFunction
from xetile.kernels.function import CompiledFunction
from xetile.kernels.kernel import Kernel, NativeBinary
from xetile.kernels.signature import Signature
from xetile.system import files
from xetile.system.elf import find_symbol, read_symbol
from xetile.system.surroundings import PACKAGE, mapped

__all__ = [
    "BINARY",
    "DESCRIPTION",
    "DIGEST",
    "DIGEST_BYTES",
    "FORMAT",
    "REFUSED",
    "SavedCode",
    "cpu_features",
    "load",
    "with_digest",
]

FORMAT = 4
"""Of the description; others are refused."""
DESCRIPTION = "xetile_kernel"
BINARY = "xetile_binary_"
DIGEST = "xetile_digest"
"""A constant of DIGEST_BYTES: SHA-256 of the file, these bytes taken as zeros."""
DIGEST_BYTES = 32

REFUSED = "xetile_refused"
"""Of code: a variable that points to what its constructors did not get from the system, or null."""

_ON_HOST = ("cpu",)
_BY_CUDA = ("sm_90a",)
_OPENMP = "libomp.so.5"


def load(path: str | PathLike[str], *, check_digest: bool = True) -> Kernel:
    """The kernel that `Kernel.save` or `xetile compile -o KERNEL.so` wrote. Loads neither MLIR nor LLVM.

    It is called, explained and saved like the one that was compiled, and has its signature and binaries; `stages` are
    empty. XeTileError for a file that is no kernel, or for another machine, and for one that cannot be loaded.

    `check_digest`  compares the file's SHA-256 with the one in it, which takes 1 to 2 ms per MB: XeTileError
                    for a file of which any bit changed since it was written. Without, such a file may compute wrong
                    numbers or end the process; leave it out only for files that something else has checked.
    """
    expect("check_digest", check_digest, bool, "True or False")
    place = files.path_of(path, "cannot load a kernel")
    data = files.read(place, "the kernel")
    description = _describe(place, data)
    if check_digest:
        _check_digest(place, data)
    try:
        signature = Signature.from_json(json.dumps(description["signature"]))
        target = str(description["target"])
        missing = sorted(set(map(str, description["cpu_features"])) - set(cpu_features()))
        sizes = {str(name): int(size) for name, size in description["binaries"].items()}
        native = {
            str(chip): (int(facts["spill_bytes"]), int(facts["registers"]))
            for chip, facts in description["native"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise XeTileError(f"cannot load {place}: its description is damaged: {error}") from None
    if missing:
        raise XeTileError(
            f"cannot load {place}: it was compiled for a CPU with {', '.join(missing)}, which this one has not; "
            "compile and save it here"
        )
    return Kernel(signature, target, SavedCode(place, data, signature, target, sizes, native))


def with_digest(data: bytes) -> bytes:
    """The shared object with its digest, where it has room for one, as kernels that `describe` described have."""
    place = find_symbol(data, DIGEST)
    return data if place is None else data[: place.start] + _digest(data, place) + data[place.stop :]


def _digest(data: bytes, place: slice) -> bytes:
    """SHA-256 of all bytes, those of `place` as zeros."""
    view = memoryview(data)
    found = hashlib.sha256(view[: place.start])
    found.update(bytes(place.stop - place.start))
    found.update(view[place.stop :])
    return found.digest()


def _check_digest(place: Path, data: bytes) -> None:
    try:
        found = find_symbol(data, DIGEST)
    except ValueError as error:
        raise XeTileError(f"cannot load {place}: {error}") from None
    if found is None or data[found] != _digest(data, found):
        raise XeTileError(
            f"cannot load {place}: it is damaged, or was changed since it was written: its digest is not that of its "
            "bytes; save it again, or load it with check_digest=False if the change was meant"
        )


def _describe(place: Path, data: bytes) -> Mapping[str, Any]:
    try:
        text = read_symbol(data, DESCRIPTION)
    except ValueError as error:
        raise XeTileError(f"cannot load {place}: {error}") from None
    if text is None:
        raise XeTileError(f"cannot load {place}: it is no kernel of xetile's: it has no {DESCRIPTION}")
    try:
        description = json.loads(text.rstrip(b"\0"))
        form = description["format"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise XeTileError(f"cannot load {place}: its description is damaged: {error}") from None
    if form != FORMAT:
        raise XeTileError(f"cannot load {place}: expected format {FORMAT}, got {form}; save it with this version")
    if not isinstance(description, dict):
        raise XeTileError(f"cannot load {place}: its description is damaged")
    return description


class SavedCode:
    """A file that `xetile.codegen.saving` wrote."""

    def __init__(
        self,
        place: Path,
        data: bytes,
        signature: Signature,
        target: str,
        sizes: Mapping[str, int],
        native: Mapping[str, tuple[int, int]],
    ) -> None:
        self._place, self._data, self._signature, self._target = place.absolute(), data, signature, target
        self._sizes, self._native_facts = sizes, native

    def load(self) -> CompiledFunction:
        """The function, ready to be called. XeTileError if this machine lacks what it needs."""
        if self._target in _ON_HOST:
            return self._open()
        guard = cuda.launching if self._target in _BY_CUDA else runtime.launching
        with guard():
            return self._open(guard)

    def _open(self, guard: Any = None) -> CompiledFunction:
        try:
            # Its constructor loads the kernel on the device. A process that loads two kernels of one name keeps both.
            library = _open_library(self._place, with_threads=guard is None)
            address = _address(library, f"_mlir_ciface_{self._signature.name}")
            check = _address(library, f"_mlir_ciface_{self._signature.name}_check") if self._signature.conditions else 0
        except (OSError, AttributeError) as error:
            advice = ""
            if "libomp" in str(error):
                advice = (
                    "; install xetile-runtime from its wheel, or LLVM's OpenMP runtime (Debian: libomp5-22) where the "
                    "system finds it, as by LD_LIBRARY_PATH"
                )
            raise XeTileError(f"cannot load {self._place}: {error}{advice}") from None
        if refused := _refusal(library):
            raise XeTileError(f"cannot load {self._place}: {refused}")
        # OpenMP's threads outlive a call: what they run is never unloaded.
        owner = _Library(library) if guard else library
        make = CudaFunction if self._target in _BY_CUDA else CompiledFunction
        return make(self._signature, address, check, owner=owner, guard=guard)

    def binaries(self) -> Mapping[str, bytes]:
        """The binaries in the file, by name. XeTileError if one is damaged."""
        found = {}
        for name, size in self._sizes.items():
            try:
                data = read_symbol(self._data, BINARY + name)
            except ValueError as error:
                raise XeTileError(f"{self._place}: {error}") from None
            if data is None or len(data) < size:
                raise XeTileError(f"{self._place} is damaged: expected {size} bytes of the binary {name!r}")
            found[name] = data[:size]
        return MappingProxyType(found or {"shared object": self._data})

    def native(self) -> Mapping[str, NativeBinary]:
        """The machine code of each chip that it was compiled for."""
        binaries = self.binaries()
        return MappingProxyType(
            {chip: NativeBinary(chip, binaries[chip], *facts) for chip, facts in self._native_facts.items()}
        )

    def save(self, path: Path) -> None:
        """Writes the same file again."""
        files.write(path, self._data, executable=True)

    def explain(self) -> str:
        """XeTileError: a saved kernel has no levels."""
        raise XeTileError(f"{self._place} does not tell how it was compiled: compile the payload to explain it")

    def report(self) -> str:
        """XeTileError: a saved kernel has no machine code of its own to count."""
        raise XeTileError(
            f"{self._place} was compiled before: report on its binaries, as kernel.spirv, or compile again"
        )


def _open_library(place: Path, with_threads: bool) -> ctypes.CDLL:
    # A kernel looks for OpenMP where it was when it was compiled, but first takes what the process has by that name.
    own = PACKAGE / "_lib" / _OPENMP
    if with_threads and own.is_file() and not any(Path(path).name == _OPENMP for path in mapped()):
        ctypes.CDLL(str(own))
    return ctypes.CDLL(str(place))


def _refusal(library: ctypes.CDLL) -> str | None:
    try:
        text = ctypes.c_char_p.in_dll(library, REFUSED).value
    except ValueError:
        return None
    return text.decode() if text else None


class _Library:
    """Unloads a library when nobody needs it: a constructor that failed runs again when it is loaded again."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._handle = library._handle

    def __del__(self) -> None:
        _close(ctypes.c_void_p(self._handle))


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


_close = ctypes.CDLL(None).dlclose
_close.argtypes = [ctypes.c_void_p]


@functools.cache
def cpu_features() -> list[str]:
    """The CPU features that compiled code may use, by Linux's names; the architecture first."""
    features = [platform.machine()]
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return features + sorted(flag for flag in value.split() if flag.startswith(_USED))
    return features


_USED = ("sse", "ssse3", "avx", "amx", "fma", "f16c", "bmi", "abm", "movbe", "popcnt", "vaes", "vpclmul", "gfni", "sha")
