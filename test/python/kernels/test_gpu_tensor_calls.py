# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension module's calls with tensors of a GPU: a framework and a runtime library that are Python's functions."""

from __future__ import annotations

import ctypes

import pytest

_call = pytest.importorskip("xetile._call", reason="a package without extension modules")

CUDA, NUMBER, STREAM = 2, 1, 0x1234
SHAPE = (2, 3)
F32 = ((2, 3), (2, 3), (3, 1), (2, 32), "f32")  # in memory, sizes, strides, DLPack's elements, a type


class View(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = [
        ("data", ctypes.c_uint64),
        ("device", ctypes.c_int32),
        ("number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Tensor:
    def __init__(self, address, number=NUMBER, device=CUDA):
        self.address, self.number, self.device = address, number, device
        self.sizes, self.strides = (ctypes.c_int64 * 2)(*SHAPE), (ctypes.c_int64 * 2)(3, 1)

    def is_neg(self):
        return False


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(View))
def view(tensor, out):
    out[0] = View(tensor.address, tensor.device, tensor.number, 2, 2, 32, 1, tensor.sizes, tensor.strides, 0)
    return 0


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def current_stream(device, number, out):
    out[0] = STREAM
    return int((device, number) != (CUDA, NUMBER))


class Framework(ctypes.Structure):
    """DLPack's table of functions."""

    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("older", ctypes.c_void_p),
        ("others", ctypes.c_void_p * 3),
        ("view", type(view)),
        ("stream", type(current_stream)),
    ]


FRAMEWORK = Framework((1, 0), None, (None, None, None), view, current_stream)
NAME = b"dlpack_exchange_api"
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Library:
    """A runtime library, and a kernel that calls it as host code does."""

    def __init__(self, number=NUMBER, result=0x2000, error=0):
        self.log, self.stream = [], 0
        set_stream = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(self.set_stream)
        take_error = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)(lambda out, size: error)
        kernel = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_int64)] * 2)(self.kernel)
        self.keep = set_stream, take_error, kernel
        address, *entries = (ctypes.cast(each, ctypes.c_void_p).value for each in (kernel, set_stream, take_error))
        exchange = new_capsule(ctypes.addressof(FRAMEWORK), NAME, None)
        make = lambda *what: Tensor(result, number)  # noqa: E731
        place = (CUDA, NUMBER, *entries)
        self.call = _call.TensorFunction(address, 0, False, [F32], [F32], make, [Tensor], exchange, place)

    def set_stream(self, stream):
        before, self.stream = self.stream, stream
        self.log.append(("stream", stream))
        return before

    def kernel(self, argument, result):
        self.log.append(("kernel", self.stream, argument[:7], result[:7]))


def test_kernels_run_on_the_frameworks_stream_and_the_one_before_comes_back():
    library = Library()
    (result,) = library.call([Tensor(0x1000)])
    assert result.address == 0x2000
    words = [[address, address, 0, 2, 3, 3, 1] for address in (0x1000, 0x2000)]
    assert library.log == [("stream", STREAM), ("kernel", STREAM, *words), ("stream", None)]


@pytest.mark.parametrize(
    ("tensor", "options"),
    [
        (Tensor(0x1000, device=1), {}),
        (Tensor(0x1000, number=0), {}),
        (Tensor(0x1008), {}),
        (Tensor(0x1000), {"number": 0}),
    ],
    ids=["of the host", "of another GPU", "within a unit", "the result of another GPU"],
)
def test_what_is_not_as_declared_is_left_to_the_caller(tensor, options):
    library = Library(**options)
    assert library.call([tensor]) is None
    assert not library.log


def test_an_error_of_the_library_is_left_to_the_caller():
    library = Library(error=7)
    assert library.call([Tensor(0x1000)]) is None
    assert library.stream is None
