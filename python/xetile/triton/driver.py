# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A driver of Triton's over xetile's runtime: kernels for Intel GPUs run on the device that it selects, a CPU.

Triton's own driver for these GPUs compiles a launcher with SYCL's headers and asks a GPU what it is. Here a table
answers, and the module says what the kernel takes.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import triton.backends
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from xetile.errors import XeTileError
from xetile.kernels.modules import Module
from xetile.triton.arguments import bind
from xetile.triton.cost import Launched, cost_of

__all__ = ["Driver"]

_LIMITS = {"max_work_group_size": 1024, "max_num_sub_groups": 64, "sub_group_sizes": [16, 32]}
_ABLE = (
    "has_fp64",
    "has_subgroup_matrix_multiply_accumulate",
    "has_subgroup_matrix_multiply_accumulate_tensor_float32",
    "has_subgroup_2d_block_io",
    "has_bfloat16_conversions",
)
# Cores of the largest product, and shared memory of a core in bytes: cpp/xetile/Facts has their sources.
_CORES = {"pvc": 128, "bmg": 20}
_SHARED_MEMORY = 128 * 1024
# Bits of the number that a device has for Triton, which keeps kernels by it.
_NUMBERS = tuple(_CORES)


class _Utils:
    """The answers that Triton asks of a driver's utilities."""

    def __init__(self, target: str) -> None:
        self._target = target

    def get_device_properties(self, device: int) -> dict[str, Any]:
        del device
        return {
            "max_shared_mem": _SHARED_MEMORY,
            "multiprocessor_count": _CORES[self._target],
            "sm_clock_rate": 1600,
            "mem_clock_rate": 1,
            "mem_bus_width": 1,
            **_LIMITS,
        }

    def load_binary(self, name: str, binary: bytes, shared: int, flags: str, device: int) -> tuple[Any, Any, int, int]:
        """(module, function, registers, spills); the latter two are `xetile.triton.report`'s."""
        del shared, flags, device
        module = Module(bytes(binary))
        return module, module[name], 0, 0


class _Launcher:
    """Runs one compiled kernel."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._signature, self._metadata = dict(source.signature), metadata
        self._constants = {key if isinstance(key, str) else key[0] for key in getattr(source, "constants", {})}

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: Any,
        function: Any,
        packed: Any,
        metadata: Any,
        enter: Callable[[Any], Any] | None,
        leave: Callable[[Any], Any] | None,
        *arguments: Any,
    ) -> None:
        del stream, packed
        own = self._metadata
        if _recording is not None:
            _recording.append(Launched(function.module.spirv, own.build_flags, x * y * z, own.num_warps))
            return
        if enter is not None:
            enter(metadata)
        if x * y * z:
            values, keep = bind(function, self._signature, self._constants, arguments)
            function.launch((x, y, z), (own.num_warps * own.threads_per_warp, 1, 1), values, own.shared)
            del keep
        if leave is not None:
            leave(metadata)


_recording: list[Launched] | None = None


@contextlib.contextmanager
def _recorded() -> Iterator[list[Launched]]:
    global _recording
    before, _recording = _recording, []
    try:
        yield _recording
    finally:
        _recording = before


class Driver(DriverBase):
    """xetile's runtime as a driver of Triton's. XeTileError for another target than those that Triton compiles for."""

    launcher_cls = _Launcher

    def __init__(self, target: str = "pvc") -> None:
        if target not in _NUMBERS:
            raise XeTileError(f"target: expected one of {', '.join(_NUMBERS)}, got {target!r}")
        self._target = target
        self.utils = _Utils(target)
        compiler = triton.backends.backends["intel"].compiler
        # It would compile a C file against SYCL's headers to read the number of an architecture.
        compiler.__init__.__globals__["compile_module_from_src"] = lambda *_, **__: SimpleNamespace(
            parse_device_arch=lambda _: ""
        )

    @staticmethod
    def is_active() -> bool:
        """Never chosen by Triton itself."""
        return False

    def get_current_target(self) -> Any:
        """The GPU, with what Intel's back end asks of it."""
        properties = {"architecture": 0, "name": self._target, **_LIMITS, **dict.fromkeys(_ABLE, True)}
        return GPUTarget("xpu", properties, 32)

    def get_active_torch_device(self) -> Any:
        """Of tensors that kernels take."""
        import torch

        return torch.device("cpu")

    def get_current_device(self) -> int:
        """A number for each target: Triton keeps compiled kernels by it."""
        return _NUMBERS.index(self._target)

    def set_current_device(self, device: int) -> None:
        """There is one."""

    def get_current_stream(self, device: int) -> int:
        """There is one, and launches wait."""
        del device
        return 0

    def get_device_capability(self, *_: Any) -> tuple[int, int]:
        """NVIDIA's; none here."""
        return 0, 0

    def get_device_interface(self) -> Any:
        """PyTorch's module for tensors that kernels take."""
        import torch

        return torch.cpu

    def get_empty_cache_for_benchmark(self) -> Any:
        """Memory that `triton.testing.do_bench` clears the cache with."""
        import torch

        return torch.empty(1 << 20, dtype=torch.int8)

    def get_benchmarker(self) -> Callable[..., Any]:
        """Compares configurations by their instructions: a kernel's time on a CPU tells nothing of a GPU."""

        def measure(call: Callable[[], Any], *_: Any, quantiles: Sequence[float] | None = None, **__: Any) -> Any:
            with _recorded() as launches:
                call()
            cost = 0.0
            try:
                cost += sum(cost_of(launch, self._target) for launch in launches)
            except XeTileError as error:
                warnings.warn(f"xetile.triton: the first configuration is as good as any: {error}", stacklevel=2)
            return [cost] * len(quantiles) if quantiles else cost

        return measure
