# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What DLPack's structures say, field by field, as a library that is not NumPy may fill them."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest
from xetile import XeTileError
from xetile.kernels import dlpack

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6


class Giver:
    """`memory`, described by hand: `strides` in elements or None, `offset` in bytes from the pointer, `flags`."""

    def __init__(
        self,
        memory: np.ndarray,
        shape: tuple[int, ...],
        *,
        kind: int = INT,
        bits: int | None = None,
        lanes: int = 1,
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
        flags: int = 0,
        version: tuple[int, int] | None = (1, 0),
        device: tuple[int, int] = (1, 0),
    ) -> None:
        self.memory, self.device, self.version = memory, device, version
        self.asked: list[object] = []
        rank = len(shape)
        self.shape = (ctypes.c_int64 * max(rank, 1))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * max(rank, 1))(*strides)
        tensor = dlpack._Tensor(
            data=memory.ctypes.data,
            device_type=device[0],
            device_id=device[1],
            rank=rank,
            kind=kind,
            bits=memory.itemsize * 8 if bits is None else bits,
            lanes=lanes,
            shape=self.shape,
            strides=self.strides,
            byte_offset=offset,
        )
        self.given = tensor
        if version is not None:
            self.given = dlpack._Versioned(major=version[0], minor=version[1], flags=flags, tensor=tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: object) -> object:
        self.asked.append(options)
        if self.version is None and options:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        name = b"dltensor" if self.version is None else b"dltensor_versioned"
        return _new(ctypes.addressof(self.given), name, None)


@pytest.fixture
def memory() -> np.ndarray:
    return np.arange(24, dtype=np.int32)


@pytest.mark.parametrize("version", [None, (1, 0), (1, 9)])
def test_elements_begin_byte_offset_after_the_pointer(memory, version):
    seen = dlpack.as_numpy(Giver(memory, (2, 3), offset=5 * 4, version=version))
    np.testing.assert_array_equal(seen, memory[5:11].reshape(2, 3))
    seen[1, 2] = -1
    assert memory[10] == -1  # no copy


def test_what_is_given_as_read_only_cannot_be_written_to(memory):
    seen = dlpack.as_numpy(Giver(memory, (4,), flags=1))
    assert not seen.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 7
    # The second flag says that it is a copy, which anyone may write to.
    assert dlpack.as_numpy(Giver(memory, (4,), flags=2)).flags.writeable
    assert dlpack.as_numpy(Giver(memory, (4,), version=None)).flags.writeable


def test_strides_count_elements_and_may_be_missing_zero_or_negative(memory):
    def seen(*arguments, **options) -> np.ndarray:
        return dlpack.as_numpy(Giver(memory, *arguments, **options))

    np.testing.assert_array_equal(seen((2, 3, 4)), memory.reshape(2, 3, 4))
    np.testing.assert_array_equal(seen((3, 2), strides=(1, 4)), [[0, 4], [1, 5], [2, 6]])
    np.testing.assert_array_equal(seen((3,), strides=(-2,), offset=9 * 4), [9, 7, 5])
    np.testing.assert_array_equal(seen((2, 2), strides=(-4, 1), offset=6 * 4), [[6, 7], [2, 3]])
    np.testing.assert_array_equal(seen((2, 3), strides=(0, 1)), [[0, 1, 2]] * 2)
    assert seen(()) == 0 and seen(()).shape == ()
    assert seen((0, 3)).shape == (0, 3)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        *((INT, dtype) for dtype in ("i1", "i2", "i4", "i8")),
        *((UINT, dtype) for dtype in ("u1", "u2", "u4", "u8")),
        *((FLOAT, dtype) for dtype in ("f2", "f4", "f8")),
        (BFLOAT, ml_dtypes.bfloat16),
        (BOOL, "?"),
        (COMPLEX, "c8"),
    ],
)
def test_kinds_of_elements_and_their_signs(kind, dtype):
    expected = np.array([0, 1, 1, 0, 1], dtype)
    if kind == COMPLEX:
        with pytest.raises(XeTileError, match="DLPack's type 5 with 64 bits are none"):
            dlpack.as_numpy(Giver(expected, (5,), kind=kind))
        return
    seen = dlpack.as_numpy(Giver(expected, (5,), kind=kind))
    assert seen.dtype == expected.dtype
    np.testing.assert_array_equal(seen, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lanes": 4}, "DLPack's type 0 with 32 bits are none of NumPy's"),
        ({"bits": 24}, "DLPack's type 0 with 24 bits"),
        ({"kind": BOOL, "bits": 1}, "DLPack's type 6 with 1 bits"),
        ({"kind": BFLOAT, "bits": 32}, "DLPack's type 4 with 32 bits"),
        ({"kind": 3}, "DLPack's type 3 with 32 bits"),
        ({"version": (2, 0)}, r"expected DLPack 1\.x, got 2\.0"),
        ({"device": (2, 1)}, "expected an array in the host's memory, got one on cuda:1; copy it"),
        ({"device": (77, 0)}, "got one on DLPack's number 77:0"),
    ],
)
def test_what_numpy_has_not_is_refused(memory, options, message):
    with pytest.raises(XeTileError, match=message):
        dlpack.as_numpy(Giver(memory, (4,), **options))


def test_memory_of_a_device_that_the_host_reaches_is_read(memory):
    for device in (3, 11, 13):  # pinned and managed
        np.testing.assert_array_equal(dlpack.as_numpy(Giver(memory, (4,), device=(device, 0))), memory[:4])


def test_versions_are_asked_for_first_and_not_of_older_libraries(memory):
    old, new = Giver(memory, (4,), version=None), Giver(memory, (4,))
    for giver in (old, new):
        dlpack.as_numpy(giver)
    assert new.asked == [{"max_version": (1, 1)}] and old.asked == [{"max_version": (1, 1)}, {}]


def test_the_view_keeps_its_memory_alive():
    memory = np.arange(1 << 20, dtype=np.int32)
    part = dlpack.as_numpy(memory_giver := _OfNumPy(memory))[5:10]
    del memory, memory_giver
    other = [np.full(1 << 20, -1, np.int32) for _ in range(4)]
    np.testing.assert_array_equal(part, range(5, 10))
    assert other


class _OfNumPy:
    """Gives NumPy's own capsule, whose deleter gives memory back."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)


def test_other_capsules_and_errors_of_the_library_are_told(memory):
    class Wrong(Giver):
        def __dlpack__(self, **options: object) -> object:
            return _new(1, b"something", None)

    class Raises(Giver):
        def __dlpack__(self, **options: object) -> object:
            raise BufferError("it needs a gradient")

    with pytest.raises(XeTileError, match=r"Wrong.__dlpack__ gave no DLPack capsule"):
        dlpack.as_numpy(Wrong(memory, (4,)))
    with pytest.raises(XeTileError, match="Raises gives no DLPack view: it needs a gradient"):
        dlpack.as_numpy(Raises(memory, (4,)))
