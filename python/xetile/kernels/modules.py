# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of any SPIR-V module for Intel GPUs, called with arrays: `Module(spirv)["name"][grid, block](a, b, n)`.

OpenCL C, SYCL and Triton compile to such modules. What their kernels take is read from the module; where the device is
no GPU, the runtime brings what it lacks (cpp/runtime/PortableSpirv.h).
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xetile.errors import XeTileError, told
from xetile.kernels.launches import Bound, Memory, Parameter, convert
from xetile.kernels.library import launching, library, text

__all__ = ["Launch", "Module", "Parameter", "SpirvKernel"]


class Module(Mapping[str, "SpirvKernel"]):
    """A SPIR-V module for OpenCL or Level Zero: its bytes, or the path of a file. A mapping of its kernels by name.

    `notes` tells what is dropped or rewritten on a device that is no GPU, `defined` has the functions that the
    runtime brings there. XeTileError for what is no module, is one for Vulkan, or has an instruction that does not run
    here, named.
    """

    def __init__(self, spirv: bytes | bytearray | memoryview | str | Path) -> None:
        if isinstance(spirv, (str, Path)):
            path = Path(spirv)
            try:
                spirv = path.read_bytes()
            except OSError as error:
                raise XeTileError(f"{path}: {error.strerror}") from None
        if not isinstance(spirv, (bytes, bytearray, memoryview)):
            raise XeTileError(f"spirv: expected a SPIR-V module as bytes, or its path, got {told(spirv)}")
        self.spirv = bytes(spirv)
        described = json.loads(text(library().xetileRuntimeDescribeModule, self.spirv, len(self.spirv)))
        self.notes: tuple[str, ...] = tuple(described["notes"])
        self.defined: tuple[str, ...] = tuple(described["defined"])
        self._kernels = {entry["name"]: SpirvKernel(self, entry) for entry in described["kernels"]}
        self._handle: int | None = None

    def __getitem__(self, name: str) -> SpirvKernel:
        try:
            return self._kernels[name]
        except (KeyError, TypeError):
            raise XeTileError(f"the module has no kernel {name!r}; it has {', '.join(map(repr, self))}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __contains__(self, name: object) -> bool:
        return name in self._kernels

    def __repr__(self) -> str:
        return f"Module({', '.join(map(str, self._kernels.values()))})"

    def load(self) -> int:
        """Links the module for the device, or finds it linked; the library's handle. XeTileError if that fails."""
        if self._handle is None:
            with launching():
                self._handle = library().mgpuModuleLoad(self.spirv, len(self.spirv))
        assert self._handle
        return self._handle

    def __del__(self) -> None:
        # At the end of the process the library may be gone, and nobody needs the memory.
        if getattr(self, "_handle", None) and library is not None:
            library().mgpuModuleUnload(self._handle)


class SpirvKernel:
    """A kernel of a module: `kernel[grid, block](*arguments, local=bytes)`.

    `subgroup_size` and `local_size` (x, y, z) are what the module requires, None where it requires none. On a CPU a
    kernel without a required size runs in subgroups of the driver's choice, which a GPU may choose otherwise.
    `may_differ` has a sentence for each reason why a GPU may give another result than a CPU.
    """

    def __init__(self, module: Module, described: Mapping[str, Any]) -> None:
        self.module, self.name = module, str(described["name"])
        self.parameters = tuple(Parameter(**entry) for entry in described["parameters"])
        self.subgroup_size: int | None = described["subgroup_size"] or None
        size = tuple(described["local_size"])
        self.local_size: tuple[int, ...] | None = size if any(size) else None
        reasons = []
        if self.subgroup_size is None:
            reasons.append("the kernel requires no subgroup size: a GPU may choose another one, and results may differ")
        if described["atomics"]:
            reasons.append("the kernel has atomics: a GPU does them in another order, and results may differ")
        self.may_differ: tuple[str, ...] = tuple(reasons)
        self._handle: int | None = None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    def __repr__(self) -> str:
        return f"SpirvKernel({self})"

    def __getitem__(self, sizes: Any) -> Launch:
        """A launch of `grid` workgroups of `block` work-items: numbers, or up to three of them in the order x, y, z."""
        if not isinstance(sizes, tuple) or len(sizes) != 2:
            raise XeTileError(f"kernel {self.name!r}: expected kernel[grid, block], got kernel[{told(sizes)}]")
        return Launch(self, _three(self.name, "grid", sizes[0]), _three(self.name, "block", sizes[1]))

    def launch(self, grid: Sequence[int], block: Sequence[int], values: Sequence[Bound], local: int) -> None:
        """Runs the kernel with values that fit its parameters; each that is local memory has `local` bytes."""
        count = sum(parameter.kind == "local" for parameter in self.parameters)
        sizes = (ctypes.c_size_t * count)(*[max(local, 1)] * count)
        _launch(self, (ctypes.c_int64 * 3)(*grid), (ctypes.c_int64 * 3)(*block), values, sizes)

    def handle(self) -> int:
        """The library's handle of the kernel on the device."""
        if self._handle is None:
            module = self.module.load()
            with launching():
                self._handle = library().mgpuModuleGetFunction(module, self.name.encode())
        assert self._handle
        return self._handle


def _launch(kernel: SpirvKernel, grid: Any, block: Any, values: Sequence[Bound], local: Any) -> None:
    handle = kernel.handle()
    with Memory(kernel.name, values) as memory, launching():
        library().xetileRuntimeLaunch(
            handle,
            grid,
            block,
            local,
            len(local),
            memory.addresses,
            len(values),
            memory.blocks,
            memory.block_count,
        )


def _three(kernel: str, what: str, size: Any) -> tuple[int, int, int]:
    parts = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    try:
        whole = tuple(part.__index__() for part in parts)
    except AttributeError:
        whole = ()
    if not 1 <= len(whole) <= 3 or any(not 1 <= part < 2**31 for part in whole):
        raise XeTileError(f"kernel {kernel!r}: {what}: expected one to three positive integers, got {told(size)}")
    return (*whole, 1, 1)[:3]


class Launch:
    """A kernel with its grid and block; calling it runs the kernel and waits for it.

    Arrays are NumPy's, or have `__dlpack__` (PyTorch's tensors); kernels write to them where they are. The kernel gets
    the address of the first element and sees no strides. An array that may not be written to is one for a parameter
    that the kernel only reads. None is a null pointer. Numbers are Python's or NumPy's, tuples of them for vectors,
    bytes for structs. `local` has the bytes of each parameter that is local memory, in their order; one number is for
    all. XeTileError for what does not fit, for a failed assertion and for what the device says.
    """

    def __init__(self, kernel: SpirvKernel, grid: tuple[int, ...], block: tuple[int, ...]) -> None:
        self.kernel = kernel
        self._grid, self._block = (ctypes.c_int64 * 3)(*grid), (ctypes.c_int64 * 3)(*block)

    def __call__(self, *arguments: Any, local: int | Sequence[int] = 0) -> None:
        """Runs the kernel; see the class."""
        kernel = self.kernel
        wanted = [parameter for parameter in kernel.parameters if parameter.kind != "local"]
        sizes = self._local_sizes(len(kernel.parameters) - len(wanted), local)
        if len(arguments) != len(wanted):
            raise XeTileError(
                f"kernel {kernel.name!r}: expected {len(wanted)} arguments ({', '.join(map(str, wanted)) or 'none'}), "
                f"got {len(arguments)}"
            )
        bound: list[Bound] = []
        for number, (parameter, value) in enumerate(zip(wanted, arguments, strict=True)):
            try:
                bound.append(convert(parameter, value))
            except XeTileError as error:
                name = f" ({parameter.name!r})" if parameter.name else ""
                raise XeTileError(f"kernel {kernel.name!r}: argument {number}{name}: {error.message}") from None
            bound[-1].name = parameter.name
        _launch(kernel, self._grid, self._block, bound, sizes)

    def _local_sizes(self, count: int, local: int | Sequence[int]) -> Any:
        given: list[Any] = list(local) if isinstance(local, (tuple, list)) else [local] * count
        name = self.kernel.name
        if not count and local:
            raise XeTileError(f"kernel {name!r}: local: no parameter is local memory, got {told(local)}")
        if len(given) != count or any(isinstance(size, bool) or not hasattr(size, "__index__") for size in given):
            raise XeTileError(
                f"kernel {name!r}: local: expected the bytes of {count} parameters that are local memory, got "
                f"{told(local)}"
            )
        if count and any(size <= 0 for size in given):
            raise XeTileError(
                f"kernel {name!r}: local: {count} of its parameters are local memory: expected their bytes, "
                f"local=..., got {told(local)}"
            )
        return (ctypes.c_size_t * count)(*given)
