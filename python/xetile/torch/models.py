# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models as modules and kernels, without torch.compile: inference, one graph.

The function has the model's tensor inputs as its first arguments, in the order in which the model takes them, then its
parameters, buffers and constants. Its results are the model's tensors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.nn.attention import SDPBackend, sdpa_kernel

from xetile.codegen.frozen import FrozenFunction
from xetile.compiling import compiler
from xetile.errors import XeTileError, expect
from xetile.kernels.kernel import Kernel, NativeBinary
from xetile.kernels.signature import ArraySpec, Signature
from xetile.mlir import ir
from xetile.torch import checks, graphs
from xetile.torch.arrays import array_of
from xetile.torch.elements import MEMORY
from xetile.torch.freezing import Seen
from xetile.torch.importing import decomposition_table, import_graph
from xetile.torch.options import kernel_options

__all__ = ["compile", "export"]


def export(
    model: torch.nn.Module,
    inputs: Sequence[Any],
    *,
    named: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> ir.Module:
    """The model as a module at level 0: one function, linalg on tensors, parameters as arguments behind the inputs.

    `inputs`, `named`  example inputs, positional and by name: tensors, or what holds tensors
    `dynamic_shapes`   which sizes are known at run time only, as `torch.export.export` takes it

    XeTileError for a model that is no single graph, changes its buffers (call its `eval()`), or has operations that
    cannot be imported; the message has their lines of the model.
    """
    return _Exported.of(model, inputs, named or {}, dynamic_shapes, checked=False).module


def compile(
    model: torch.nn.Module,
    inputs: Sequence[Any],
    *,
    named: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    freeze: bool = False,
    **options: Any,
) -> Kernel:
    """The model as a kernel, called with the model's tensors, or arrays, in order; it gives arrays.

    The parameters are those of the model now; the kernel reads them where they are, so that it sees what changes them
    in place. With `freeze` it packs them in its first call, and when PyTorch counts that one changed; they must not be
    written to through `tensor.data` or arrays then, and such a kernel cannot be saved. `inputs`, `named` and
    `dynamic_shapes` are those of `export`, `options` those of `xetile.compile`, `schedule` and `params` too; `target`
    is "cpu" by default (a GPU's kernel runs on the device that XETILE_DEVICE chooses; frozen parameters stay in its
    memory), `threads` what PyTorch uses. XeTileError as for `export`, and for whatever cannot be compiled.
    """
    expect("freeze", freeze, bool, "True or False")
    settings = kernel_options(options)
    exported = _Exported.of(model, inputs, named or {}, dynamic_shapes, freeze)
    return _bind(compiler.compile(exported.module, **settings), exported)


@dataclass(frozen=True)
class _Exported:
    """`weights` are the arguments behind the inputs; `types` are those of the inputs and of the results, of which the
    module does not have the signs, None for numbers; with `checks` the last results are what they look at."""

    module: ir.Module
    weights: tuple[torch.Tensor, ...]
    types: tuple[tuple[torch.dtype | None, ...], tuple[torch.dtype | None, ...]]
    checks: tuple[checks.Check, ...] = ()

    @classmethod
    def of(
        cls,
        model: Any,
        inputs: Sequence[Any],
        named: Mapping[str, Any],
        dynamic_shapes: Any,
        freeze: bool = False,
        checked: bool = True,
    ) -> _Exported:
        if not isinstance(model, torch.nn.Module):
            raise XeTileError(f"expected a torch.nn.Module, got {type(model).__name__}")
        if isinstance(inputs, torch.Tensor) or not isinstance(inputs, Sequence):
            raise XeTileError(f"inputs: expected a tuple of what the model takes, got {type(inputs).__name__}")
        with sdpa_kernel(SDPBackend.MATH), torch.no_grad():
            try:
                program = torch.export.export(model, tuple(inputs), dict(named), dynamic_shapes=dynamic_shapes)
                program = program.run_decompositions(decomposition_table())
            except Exception as error:  # PyTorch's have no common base
                raise XeTileError(f"the model is no single graph of PyTorch's: {error}") from error
        _expect_no_changes(program)
        graph = program.graph_module
        weights = _weights_last(program)
        eager = graphs.eager_nodes(graph)
        if eager:
            reasons = "".join(f"\n  {node.target}: {reason}" for node, reason in eager.items())
            raise XeTileError(
                f"the model has operations that only PyTorch computes; torch.compile(backend='xetile') does:{reasons}"
            )
        outputs = graphs.split_outputs(graph)
        if None in outputs.places or outputs.places != tuple(range(len(outputs.places))):
            raise XeTileError("expected a model that gives tensors which it computes, each once")
        name = re.sub(r"\W", "_", type(model).__name__).lower()
        arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
        given = len(arguments) - len(weights)
        frozen = range(given, len(arguments)) if freeze else ()
        types = tuple(map(_type_of, arguments[:given])), tuple(map(_type_of, graphs.output_of(outputs.kernel)))
        looked_at = tuple(checks.with_checks(outputs.kernel)) if checked else ()
        return cls(import_graph(outputs.kernel, name, frozen), weights, types, looked_at)


def _type_of(node: torch.fx.Node) -> torch.dtype | None:
    return getattr(node.meta.get("val"), "dtype", None)


def _expect_no_changes(program: ExportedProgram) -> None:
    for output in program.graph_signature.output_specs:
        if output.kind != OutputKind.USER_OUTPUT:
            raise XeTileError(
                f"the model changes {output.target} when it runs: call its eval(), or use "
                "torch.compile(backend='xetile')"
            )


def _weights_last(program: ExportedProgram) -> tuple[torch.Tensor, ...]:
    """Moves what the model has itself behind its inputs, and returns it."""
    places = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    last = next(reversed(places.values()), None)
    weights = []
    for spec in program.graph_signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            continue
        if spec.kind not in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
            raise XeTileError(f"expected a model of tensors, it has {spec.kind.name.lower()} {spec.target}")
        node = places[spec.arg.name]
        if last is not None and node is not last:
            last.append(node)
        last = node
        held = program.state_dict if spec.target in program.state_dict else program.constants
        weights.append(held[spec.target])
    return tuple(weights)


class _BoundCode:
    """A kernel's code with its last arguments given."""

    def __init__(self, kernel: Kernel, exported: _Exported, signature: Signature) -> None:
        self._kernel, self._exported, self._signature = kernel, exported, signature
        self._weights = exported.weights

    def load(self) -> Any:
        return _BoundFunction(self._kernel, self._exported, self._signature)

    def binaries(self) -> Mapping[str, bytes]:
        return self._kernel.binaries

    def native(self) -> Mapping[str, NativeBinary]:
        return self._kernel.native

    def save(self, path: Any) -> None:
        raise XeTileError(
            f"cannot write {path}: a file would not have the model's {len(self._weights)} parameters; save "
            f"xetile.compile(xetile.torch.export(model, inputs), target='{self._kernel.target}') and pass them behind "
            "the inputs"
        )

    def explain(self) -> str:
        return self._kernel.explain()

    def report(self) -> str:
        return self._kernel.report()


class _BoundFunction:
    """A kernel's function with bound arguments: arrays or tensors are given for the others."""

    addresses = None

    def __init__(self, kernel: Kernel, exported: _Exported, signature: Signature) -> None:
        weights = exported.weights
        self._kernel, self._tensors, self._signature = kernel, weights, signature
        self._checks = exported.checks
        # The same memory: what changes a parameter in place changes the array.
        self._weights: tuple[Any, ...] = tuple(map(_memory_of, weights))
        self._inputs = len(kernel.arguments) - len(weights)
        self._packed: tuple[Seen, Any, tuple[Any, ...]] | None = None
        self.failed = False

    def __call__(self, values: tuple[Any, ...], out: Any = None) -> Any:
        if len(values) != self._inputs:
            raise XeTileError(f"@{self._kernel.name}: expected {self._inputs} inputs of the model, got {len(values)}")
        named = enumerate(zip(values, self._signature.arguments, strict=True))
        inputs = [self._memory_of(f"argument {number}", array_of(value), spec) for number, (value, spec) in named]
        arrays = (*inputs, *self._weights)
        memory = self._memory_of_out(out) if out is not None else None
        function = self._kernel.function()
        if isinstance(function, FrozenFunction):
            try:
                got = function.call(self._with_packed(function, arrays), memory)
            except XeTileError:
                # The kernel makes itself anew when it is called; so does this, of the same kernel.
                self.failed = function.failed
                if self.failed:
                    self._kernel.restart()
                raise
        else:
            got = self._kernel(*arrays, out=memory)
        several = got if isinstance(got, tuple) else (got,)
        if self._checks:
            checks.expect_in_range(self._checks, several[-checks.count_results(self._checks) :])
        typed = tuple(
            array.view(spec.numpy_dtype) if spec.dtype.startswith("ui") else array
            for array, spec in zip(several, self._signature.results, strict=False)
        )
        return typed if len(typed) > 1 else typed[0]

    def _memory_of(self, what: str, array: Any, spec: ArraySpec) -> Any:
        """The array as the kernel takes it, which knows no signs."""
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu" or spec.dtype == "bf16":
            return array
        if array.dtype != spec.numpy_dtype:
            raise XeTileError(
                f"@{self._kernel.name}: {what}: expected {spec} ({spec.numpy_dtype.name}), got "
                f"{array.dtype}{list(array.shape)}"
            )
        return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array

    def _memory_of_out(self, out: Any) -> Any:
        several = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if len(several) != len(self._signature.results):
            return out  # the kernel says what is wrong
        named = enumerate(zip(several, self._signature.results, strict=True))
        made = tuple(self._memory_of(f"out {number}", array, spec) for number, (array, spec) in named)
        if self._checks:
            looked_at = self._kernel.results[-checks.count_results(self._checks) :]
            return *made, *(np.empty(result.shape, np.int64) for result in looked_at)
        return made if isinstance(out, (tuple, list)) else made[0]

    def _with_packed(self, function: FrozenFunction, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        packed, place = self._packed, function.place()
        if packed is None or packed[1] != place or not packed[0].are(self._tensors):
            self._packed = None
            seen = Seen.of(self._tensors)
            # A parameter may have other memory by now.
            self._weights = tuple(map(_memory_of, self._tensors))
            arrays = (*arrays[: self._inputs], *self._weights)
            packed = self._packed = seen, place, function.pack(arrays)
        return (*(arrays[number] for number in function.parts.taken), *packed[2])


def _memory_of(weight: torch.Tensor) -> Any:
    """The array of a weight as the kernel takes it, which knows no signs."""
    array = array_of(weight)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def _bind(kernel: Kernel, exported: _Exported) -> Kernel:
    """The kernel without its last arguments, which are the weights, with the signs of its integers."""
    given, made = exported.types
    signature = replace(
        kernel.signature,
        arguments=tuple(map(_signed, kernel.arguments, given)),
        results=tuple(_signed(spec, dtype) for spec, dtype in zip(kernel.results, made, strict=False)),
    )
    code = _BoundCode(kernel, exported, signature)
    return Kernel(signature, kernel.target.name, code, kernel.stages, kernel.schedule, shown=kernel)


def _signed(spec: ArraySpec, dtype: torch.dtype | None) -> ArraySpec:
    return replace(spec, dtype=f"u{spec.dtype}") if dtype in MEMORY else spec
