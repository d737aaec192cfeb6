# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled function of this process, called with arrays. It knows no compiler: saved kernels are called by it, too.

The function is MLIR's C interface of a host function: `_mlir_ciface_f(argument..., result...)`, each the address of a
descriptor of memory. Where sizes of results are known at run time only there is one parameter before the arguments for
descriptors of what the function allocated. A function with expectations of its data tells which did not hold: behind
these descriptors, or in memory of its own that is the first parameter.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError
from xetile.kernels.arguments import as_number, check_arguments, check_outputs
from xetile.kernels.device import DeviceArray
from xetile.kernels.signature import ArraySpec, Signature

try:
    from xetile import _call
except ImportError:  # a package without extension modules still calls, slower
    _call = None  # type: ignore[assignment]

__all__ = ["CompiledFunction", "descriptor_of"]

# The allocated pointer of globals in MLIR's lowering: they must not be freed.
_NOT_ALLOCATED = 0xDEADBEEF

# Numbers that a function with expectations tells: of which one did not hold, what came, and its bound.
_TOLD = 3

Guard = Callable[[], AbstractContextManager[Any]]


class CompiledFunction:
    """The function of `signature` at `address`.

    `check` is the address of the function that checks sizes, 0 if all are static. `owner` keeps both in memory. Calls
    are made inside of `guard()`, which raises what a device did not do.
    """

    def __init__(
        self, signature: Signature, address: int, check: int = 0, *, owner: Any = None, guard: Guard | None = None
    ) -> None:
        self.signature = signature
        self._address, self._check_address = address, check
        self.owner = owner
        self.guard = guard
        self.failed = False
        """True if the guard raised: the device may have lost the function's state, load it anew."""
        self._results = tuple((spec.shape, spec.numpy_dtype) for spec in signature.results)
        on_device = any(spec.on_device for spec in (*signature.arguments, *signature.results))
        self._on_device = tuple(spec.on_device for spec in signature.results)
        self._reports = bool(signature.expectations)
        self._numbers = tuple(number for number, spec in enumerate(signature.arguments) if spec.scalar)
        self._gives_numbers = any(spec.scalar for spec in signature.results)
        self._direct = None
        # Those that it converts silently include arrays that it may not write to.
        if _call and not signature.returns and not signature.written and not on_device:
            arguments, results = (
                [(spec.numpy_dtype, spec.shape) for spec in specs] for specs in (signature.arguments, signature.results)
            )
            self._direct = _call.Function(address, arguments, results, np.ndarray, check, self._reports)

    @property
    def addresses(self) -> tuple[int, int, bool] | None:
        """The addresses of the function and of its check (0 for none), for who passes it descriptors of memory of the
        signature's sizes, and whether it takes memory before these for what it tells of its data; None where a call
        needs more: a device, or memory that the function allocates."""
        if self.guard is not None or self.signature.returns:
            return None
        return self._address, self._check_address, self._reports

    def __call__(self, values: tuple[Any, ...], out: Any = None) -> Any:
        """See `Kernel.__call__`."""
        results = self._run(self._box(values) if self._numbers else values, out)
        if not self._gives_numbers or out is not None:
            return results
        specs = self.signature.results
        if len(specs) == 1:
            return results[()]
        return tuple(result[()] if spec.scalar else result for spec, result in zip(specs, results, strict=True))

    def _run(self, values: tuple[Any, ...], out: Any) -> Any:
        if self._direct is not None:
            # Calls only with arrays that are exactly what the function takes. The rest of this method converts others,
            # or tells what is wrong with them.
            direct = self._new_results() if out is None else out if isinstance(out, tuple) else (out,)
            if self._direct(values, direct) if self.guard is None else self._guarded(self._direct, values, direct):
                return direct[0] if len(direct) == 1 else direct
        inputs = check_arguments(self.signature, values)
        if self.signature.returns and out is None:
            return self._run_returning(inputs)
        outputs = list(self._new_results()) if out is None else check_outputs(self.signature, out, inputs)
        self._invoke_on([*inputs, *outputs])
        if self.signature.written and not outputs:
            return None
        results = tuple(outputs) if out is None else out if isinstance(out, tuple) else (out,)
        return results[0] if len(results) == 1 else results

    def _guarded(self, call: Callable[..., Any], *arguments: Any) -> Any:
        if self.guard is None:
            return call(*arguments)
        try:
            with self.guard():
                return call(*arguments)
        except BaseException:
            self.failed = True
            raise

    def _new_results(self) -> tuple[Any, ...]:
        if True in self._on_device:
            return tuple(
                DeviceArray(spec) if spec.on_device else np.empty(spec.shape, spec.numpy_dtype)
                for spec in self.signature.results
            )
        return tuple([np.empty(shape, dtype) for shape, dtype in self._results])

    def _box(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Numbers as arrays of rank 0; what is no number, or one that does not fit, is left to the check."""
        boxed = list(values)
        for number in self._numbers:
            if number < len(boxed):
                try:
                    array = as_number(self.signature.arguments[number], boxed[number])
                except XeTileError as error:
                    raise XeTileError(f"@{self.signature.name}: argument {number}: {error.message}") from None
                boxed[number] = boxed[number] if array is None else array
        return tuple(boxed)

    def _check_sizes(self, descriptors: list[Any]) -> None:
        if not self._check_address:
            return
        status = (ctypes.c_int64 * 3)()
        _invoke(self._check_address, [status, *descriptors])
        number, left, right = status
        if number:
            raise XeTileError(f"@{self.signature.name}: {self.signature.conditions[number - 1].told(left, right)}")

    def _number(self, spec: ArraySpec, value: Any) -> NDArray[Any]:
        """A number as an array of rank 0. XeTileError for what is none."""
        array = as_number(spec, value)
        if array is None:
            raise XeTileError(f"expected a number of type {spec}, got {type(value).__name__}")
        return array

    def _invoke_on(self, arrays: list[Any]) -> None:
        """The call itself, on arguments and results as `descriptor_of` takes them."""
        descriptors = [descriptor_of(array) for array in arrays]
        self._check_sizes(descriptors)
        told = [(ctypes.c_int64 * _TOLD)()] if self._reports else []
        self._guarded(_invoke, self._address, [*told, *descriptors])
        if told:
            self._expect(*told[0])

    def _expect(self, number: int, got: int, bound: int) -> None:
        """XeTileError if a call told the number of what did not hold."""
        if number:
            raise XeTileError(f"@{self.signature.name}: {self.signature.expectations[number - 1].told(got, bound)}")

    def _run_returning(self, inputs: list[Any]) -> Any:
        """Results come as descriptors of memory that is ours to free."""
        specs = self.signature.results
        ends = list(itertools.accumulate(3 + 2 * len(spec.shape) for spec in specs))
        returned = (ctypes.c_int64 * (ends[-1] + (_TOLD if self._reports else 0)))()
        descriptors = [descriptor_of(array) for array in inputs]
        self._check_sizes(descriptors)
        self._guarded(_invoke, self._address, [returned, *descriptors])
        arrays, owned = [], set()
        for spec, start, end in zip(specs, [0, *ends], ends, strict=False):
            arrays.append(_copy_of(returned[start:end], spec.numpy_dtype))
            owned.add(returned[start])
        given = {array.ctypes.data for array in inputs if isinstance(array, np.ndarray)}
        for address in owned - given - {0, _NOT_ALLOCATED}:
            _free(ctypes.c_void_p(address))
        if self._reports:
            self._expect(*returned[ends[-1] :])
        return arrays[0] if len(arrays) == 1 else tuple(arrays)


def descriptor_of(array: Any) -> Any:
    """A ranked memref descriptor in 64-bit words: allocated and aligned address, offset, sizes, strides in elements.

    `array` is NumPy's, or one on a device, which has its `address`.
    """
    address = array.ctypes.data if isinstance(array, np.ndarray) else array.address
    size = array.itemsize
    rank = array.ndim
    return _words(3 + 2 * rank)(address, address, 0, *array.shape, *[stride // size for stride in array.strides])


@functools.cache
def _words(count: int) -> Any:
    return ctypes.c_int64 * count


@functools.cache
def _prototype(count: int) -> Any:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)


def _invoke(address: int, descriptors: list[Any]) -> None:
    _prototype(len(descriptors))(address)(*map(ctypes.addressof, descriptors))


def _copy_of(descriptor: list[int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array of a descriptor that the function returned."""
    _, aligned, offset, *rest = descriptor
    rank = len(rest) // 2
    shape, strides = rest[:rank], [stride * dtype.itemsize for stride in rest[rank:]]
    if 0 in shape:
        return np.empty(shape, dtype)
    length = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + dtype.itemsize
    memory = (ctypes.c_char * length).from_address(aligned + offset * dtype.itemsize)
    view: NDArray[Any] = np.ndarray(shape, dtype, memoryview(memory), strides=strides)
    return view.copy()


_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None
