# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension module _xetile: what it gives to Python."""

import pytest
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


def test_a_cloned_module_outlives_the_original_and_keeps_its_locations():
    module = parse('module { func.func @f() { return } loc("here") }')
    copy = _xetile.clone_module(module.operation)
    module.body.operations[0].operation.erase()
    del module
    assert isinstance(copy, ir.Module)
    assert str(copy.body.operations[0].location) == 'loc("here")'


def test_only_a_module_is_cloned():
    function = parse("func.func @f() { return }").body.operations[0].operation
    with pytest.raises(ValueError, match=r"expected a builtin\.module to clone, got func\.func"):
        _xetile.clone_module(function)
