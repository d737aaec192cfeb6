# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host code of this process."""

import ctypes

import numpy as np
import pytest
import xetile
from xetile.codegen import engines
from xetile.mlir import ir

DOUBLED = """func.func @f(%x: tensor<37xf32>) -> tensor<37xf32> {
  %e = tensor.empty() : tensor<37xf32>
  %y = linalg.add ins(%x, %x : tensor<37xf32>, tensor<37xf32>) outs(%e : tensor<37xf32>) -> tensor<37xf32>
  return %y : tensor<37xf32>
}
"""


class Bases(ctypes.Structure):
    _fields_ = (("text", ctypes.c_void_p), ("data", ctypes.c_void_p), ("function", ctypes.c_void_p))


def table_for_unwinding(address):
    """The entry that unwinders find for an address, None if there is none: _Unwind_Find_FDE of libgcc."""
    find = ctypes.CDLL("libgcc_s.so.1")._Unwind_Find_FDE
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.POINTER(Bases))
    return find(address, ctypes.byref(Bases()))


@pytest.mark.parametrize("target", ["cpu", "pvc"])
def test_no_unwinder_finds_tables_of_host_code(target, monkeypatch):
    """libgcc from 13 on keeps those of engines that are gone, and reads them at the next C++ exception."""
    found = []
    load = engines.load

    def kept(*arguments, **options):
        found.append(load(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(engines, "load", kept)
    with ir.Context(), ir.Location.unknown():
        kernel = xetile.compile(
            ir.Module.parse(DOUBLED), target=target, **({} if target == "cpu" else {"native": "off"})
        )
        x = np.arange(37, dtype=np.float32)
        np.testing.assert_array_equal(kernel(x), 2 * x)
    assert found
    for function in found:
        assert table_for_unwinding(function._address) is None
    malloc = ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value
    assert table_for_unwinding(malloc) is not None


def test_what_llvm_refuses_is_an_error():
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse('"test.unknown"() : () -> ()')
        with pytest.raises(xetile.XeTileError, match="compile the loops failed"):
            engines.engine(module, [], 2, action="compile the loops")
