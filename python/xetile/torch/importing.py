# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of ATen operations as modules of linalg on tensors, by torch-mlir."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from torch import fx
from torch._decomp import get_decompositions
from torch_mlir import compiler_utils
from torch_mlir import fx as torch_mlir
from torch_mlir import ir as their_ir
from torch_mlir.dialects.torch import register_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter

from xetile import passes
from xetile.codegen.frozen import FROZEN
from xetile.errors import XeTileError
from xetile.kernels.signature import public_function
from xetile.mlir import ir
from xetile.passes.diagnostics import Heard
from xetile.torch import decompositions, extremes, integers, narrow, norms, ranges, scalars, sums, views
from xetile.torch.transposed import convolution

__all__ = ["NotImportedError", "decomposition_table", "import_graph"]

# Norms of CUDA tensors are operations of their own.
_OF_CUDA = [torch.ops.aten.cudnn_batch_norm, torch.ops.aten.cudnn_batch_norm_backward]
_ONLY_THEIRS = ("tm_tensor.", "torch.", "torch_c.")
_CONVERTED = ("tm_tensor.scan", "tm_tensor.scatter", "tm_tensor.yield")
_MAX_ERRORS = 4


class NotImportedError(XeTileError):
    """torch-mlir made nothing of a graph that MLIR of our version has."""


def decomposition_table(device: str = "cpu") -> dict[Any, Callable[..., Any]]:
    """torch-mlir's, and ours for operations that it lowers to dialects which nobody else has or to other numbers.
    For tensors of another device PyTorch chooses which operation an attention is, and transposed convolutions are sums
    of products: GPUs read an image once instead of for each of several convolutions."""
    table = {**get_decomposition_table(), **get_decompositions(_OF_CUDA), **decompositions.TABLE}
    table |= {**norms.TABLE, **ranges.TABLE}
    for operation, ours in {**extremes.TABLE, **sums.TABLE}.items():
        table[operation] = _first(ours, table.get(operation))
    if device != "cpu":
        table = {operation: function for operation, function in table.items() if "attention" not in str(operation)}
        table[torch.ops.aten.convolution.default] = functools.partial(convolution, summed=True)
    return table


def _first(ours: Callable[..., Any], theirs: Callable[..., Any] | None) -> Callable[..., Any]:
    """`ours`, and `theirs` for arguments that it leaves alone."""

    def decompose(*arguments: Any, **options: Any) -> Any:
        result = ours(*arguments, **options)
        return theirs(*arguments, **options) if result is NotImplemented and theirs is not None else result

    return decompose


def import_graph(graph: fx.GraphModule, name: str, frozen: Collection[int] = (), *, asserts: bool = False) -> ir.Module:
    """The module with the function `name`, whose arguments and results are those of the graph, in a context of its own.
    `frozen` lists arguments that do not change between calls. With `asserts` the function asserts that indices of rows
    that it updates are in bounds, as CPUs can.

    NotImportedError for a graph with operations that torch-mlir does not lower, with their lines of the model, and for
    what MLIR of our version does not read.
    """
    context = their_ir.Context()
    register_dialect(context)
    said: list[str] = []
    handler = context.attach_diagnostic_handler(functools.partial(_hear, said))
    try:
        imported = torch_mlir.stateless_fx_import(
            _as_torch_mlir_takes_it(graph),
            output_type="linalg-on-tensors",
            model_name=name,
            fx_importer=FxImporter(context=context),
        ).operation
    except (compiler_utils.TorchMlirCompilerError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        told = said or [line.strip() for line in str(error).splitlines() if line.strip()]
        raise NotImportedError("\n  ".join(["torch-mlir does not import the graph:", *told[:_MAX_ERRORS]])) from None
    finally:
        handler.detach()
    converts = False
    for op in _inner(imported):
        converts |= op.name in _CONVERTED
        if op.name.startswith(_ONLY_THEIRS) and op.name not in _CONVERTED:
            raise NotImportedError(
                f"torch-mlir makes {op.name} of an operation, which only it knows{_place(op.location)}"
            )
    # Its bytecode is of a newer MLIR, its text can be read; what only it knows in the generic form.
    text = imported.get_asm(enable_debug_info=True, print_generic_op_form=converts)
    with ir.Context() as ours, Heard(ours) as heard:
        ours.allow_unregistered_dialects = converts
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError:
            raise NotImportedError("MLIR does not read what torch-mlir wrote", heard.errors[:_MAX_ERRORS]) from None
    if converts:
        pipeline = f"convert-tm-tensor-to-linalg{{asserts={str(asserts).lower()}}},canonicalize"
        passes.run(module, pipeline, action="import scans and scatters")
        ours.allow_unregistered_dialects = False
    if frozen:
        with ours:
            _freeze(module, frozen)
    return module


def _as_torch_mlir_takes_it(graph: fx.GraphModule) -> fx.GraphModule:
    graph = scalars.with_wide_numbers(ranges.with_known_ranges(graph))
    return views.with_plain_sizes(integers.with_signs(narrow.with_single_rounding(graph)))


def _freeze(module: ir.Module, frozen: Collection[int]) -> None:
    function = public_function(module)
    marks = [
        ir.DictAttr.get({FROZEN: ir.UnitAttr.get()} if i in frozen else {}) for i in range(len(function.arguments))
    ]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)


def _inner(op: Any) -> Iterator[Any]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _inner(inner.operation)


def _place(location: Any) -> str:
    """The line of the model that an operation comes from, where it is known."""
    places = re.findall(r'"([^"]+\.py)":(\d+)', str(location))
    return f", at {places[-1][0]}:{places[-1][1]}" if places else ""


def _hear(said: list[str], diagnostic: Any) -> bool:
    """Keeps an error, in one line, instead of what prints it."""
    if diagnostic.severity == their_ir.DiagnosticSeverity.ERROR:
        said.append(f"{str(diagnostic.message).splitlines()[0]}{_place(diagnostic.location)}")
    return True
