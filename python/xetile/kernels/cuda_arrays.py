# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with arrays that are on an Nvidia GPU, as PyTorch's CUDA tensors: read and written where they are.

Any library's arrays with `__dlpack__` will do; results are PyTorch's tensors, or go to `out`. Kernels run on the stream
that PyTorch uses at the moment, else on the default one, and a call returns before they have ended, as PyTorch's own.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xetile.errors import XeTileError
from xetile.kernels import cuda, dlpack
from xetile.kernels.function import CompiledFunction
from xetile.kernels.signature import ArraySpec

__all__ = ["CudaArray", "CudaFunction", "on_device"]

_CUDA = 2  # of DLPack's devices
_DEFAULT_STREAM = 1  # as DLPack numbers it


@dataclass(frozen=True)
class CudaArray:
    """An array on a GPU, as `descriptor_of` takes it; `owner` keeps it."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    dtype: np.dtype[Any]
    device: int
    owner: Any

    @property
    def ndim(self) -> int:
        """Its dimensions."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def in_c_order(self) -> bool:
        """True if its elements are adjacent, the last dimension first."""
        expected = self.dtype.itemsize
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != expected:
                return 0 in self.shape
            expected *= size
        return True

    @property
    def reach(self) -> tuple[int, int]:
        """From the first to behind the last byte of an array in C order."""
        return self.address, self.address + int(np.prod(self.shape, dtype=np.int64)) * self.itemsize


def is_on_cuda(value: Any) -> bool:
    """True for an array of another library on an Nvidia GPU."""
    if not dlpack.is_foreign(value):
        return False
    try:
        return int(value.__dlpack_device__()[0]) == _CUDA
    except Exception:  # noqa: BLE001  another library's; it says it again when it is asked for the array
        return False


class CudaFunction(CompiledFunction):
    """A function whose kernels run on an Nvidia GPU: it takes arrays of the host, or arrays that are there."""

    @property
    def on_gpu(self) -> tuple[int, int, bool] | None:
        """As `addresses`, for who passes it memory of the GPU, one thread at a time and with the stream set
        (`cuda.calling`); None for results of sizes that only a run knows."""
        if self.signature.returns or self.signature.written:
            return None
        return self._address, self._check_address, self._reports

    def __call__(self, values: tuple[Any, ...], out: Any = None) -> Any:
        """See `Kernel.__call__`; with arrays on the GPU, results are tensors there."""
        outputs = out if isinstance(out, tuple) else () if out is None else (out,)
        if not any(is_on_cuda(value) for value in (*values, *outputs)):
            return super().__call__(values, out)
        return self._run_on_cuda(values, out, outputs)

    def _run_on_cuda(self, values: tuple[Any, ...], out: Any, outputs: tuple[Any, ...]) -> Any:
        signature = self.signature
        name = signature.name
        if signature.reason:
            raise XeTileError(f"@{name} cannot be called with arrays: {signature.reason}")
        if signature.returns:
            raise XeTileError(
                f"@{name}: results of sizes known at run time only are in the host's memory: compile it for sizes that "
                "are known, or pass arrays of the host"
            )
        if len(values) != len(signature.arguments):
            raise XeTileError(f"@{name}: expected {len(signature.arguments)} arrays, got {len(values)}")
        device, stream = _place_of((*values, *outputs))
        arrays = [
            self._array(f"argument {number}", spec, value, stream, device)
            for number, (spec, value) in enumerate(zip(signature.arguments, values, strict=True))
        ]
        if out is None:
            outputs = tuple(_new(spec, device, name) for spec in signature.results)
        elif len(outputs) != len(signature.results):
            raise XeTileError(f"@{name}: out: expected {len(signature.results)} arrays, got {len(outputs)}")
        written = [arrays[number] for number in signature.written]
        for number, (spec, value) in enumerate(zip(signature.results, outputs, strict=True)):
            arrays.append(self._array(f"out {number}", spec, value, stream, device, in_place=True))
            written.append(arrays[-1])
        _expect_apart(name, arrays, written)
        with on_device(device), cuda.on_stream(stream):
            self._invoke_on(arrays)
        if signature.written and not outputs:
            return None
        return outputs[0] if len(outputs) == 1 else outputs

    def _array(
        self, what: str, spec: ArraySpec, value: Any, stream: int, device: int, in_place: bool = False
    ) -> CudaArray | np.ndarray[Any, Any]:
        """`value` as the function takes it. XeTileError that says what does not fit."""
        try:
            if spec.scalar:
                return self._number(spec, value)
            if not is_on_cuda(value):
                raise XeTileError(
                    f"expected an array on the GPU as the others are, got {type(value).__name__} elsewhere"
                )
            array = _view(value, stream)
            if array.device != device:
                raise XeTileError(
                    f"expected an array on cuda:{device} as the first one, got one on cuda:{array.device}"
                )
            if array.dtype != spec.numpy_dtype or not spec.takes(array.shape):
                raise XeTileError(f"expected {spec} ({spec.numpy_dtype.name}), got {array.dtype}{list(array.shape)}")
            if array.in_c_order:
                return array
            if in_place or spec.written or not hasattr(value, "contiguous"):
                raise XeTileError("expected an array in C order")
            return _view(value.contiguous(), stream)
        except XeTileError as error:
            raise XeTileError(f"@{self.signature.name}: {what}: {error.message}") from None


def _place_of(values: Sequence[Any]) -> tuple[int, int]:
    """The GPU of the first array that is on one, and the stream that PyTorch uses there; 0 for the default one."""
    first = next(value for value in values if is_on_cuda(value))
    device = int(first.__dlpack_device__()[1])
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(first, torch.Tensor):
        return device, 0
    return device, int(torch.cuda.current_stream(device).cuda_stream)


def _view(value: Any, stream: int) -> CudaArray:
    """An array as another library describes it, ready on the stream."""
    detached = value.detach() if getattr(value, "requires_grad", False) else value
    try:
        capsule = detached.__dlpack__(stream=stream or _DEFAULT_STREAM)
    except Exception as error:  # noqa: BLE001  another library's
        raise XeTileError(f"{type(value).__name__} gives no DLPack view: {error}") from None
    tensor, dtype, _ = dlpack.tensor_of(capsule, value)
    shape = tuple(tensor.shape[: tensor.rank])
    strides = tuple(tensor.strides[: tensor.rank]) if tensor.strides else dlpack.in_c_order(shape)
    address = (tensor.data or 0) + tensor.byte_offset
    # The capsule's own deleter gives the array back.
    return CudaArray(
        address, shape, tuple(stride * dtype.itemsize for stride in strides), dtype, tensor.device_id, (capsule, value)
    )


_TORCH = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i1": "bool", "index": "int64"}
_TORCH |= {"ui8": "uint8", "ui16": "uint16", "ui32": "uint32"}


def _new(spec: ArraySpec, device: int, name: str) -> Any:
    torch = sys.modules.get("torch")
    if torch is None:
        raise XeTileError(f"@{name}: results on a GPU are tensors of PyTorch, which is not imported: pass `out`")
    dtype = getattr(torch, _TORCH.get(spec.dtype, spec.dtype.replace("i", "int")))
    return torch.empty(spec.shape, dtype=dtype, device=f"cuda:{device}")


def _expect_apart(name: str, arrays: list[Any], written: list[Any]) -> None:
    """XeTileError if what is written shares memory with another array."""
    on_gpu = [array for array in arrays if isinstance(array, CudaArray)]
    for target in written:
        for other in on_gpu:
            (start, end), (other_start, other_end) = target.reach, other.reach
            if other is not target and start < other_end and other_start < end:
                raise XeTileError(f"@{name}: an array that is written shares memory with another one; pass a copy")


def on_device(device: int) -> contextlib.AbstractContextManager[Any]:
    """The driver's context is that of this GPU inside, where PyTorch is there to set it."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return contextlib.nullcontext()
    context: contextlib.AbstractContextManager[Any] = torch.cuda.device(device)
    return context
