# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend "xetile" of torch.compile: graphs forwards and backwards become kernels, for where their tensors are.

AOTAutograd hands over graphs of ATen operations without side effects; what a model writes to its buffers, and
gradients, are results of such graphs. A graph that cannot be compiled runs as PyTorch runs it, and so do the operations
that `xetile.torch.graphs.EAGER` lists; the logger "xetile.torch" tells.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch.nn.attention import SDPBackend, sdpa_kernel

from xetile.compiling import compiler
from xetile.errors import XeTileError
from xetile.torch import attentions, checks, devices, flat, graphs, narrow
from xetile.torch.calls import call_of
from xetile.torch.cuda_calls import call_on_gpu, expect_known_sizes
from xetile.torch.enlarged import keep_enlarged
from xetile.torch.freezing import static_inputs
from xetile.torch.importing import decomposition_table, import_graph
from xetile.torch.layouts import in_memory_order
from xetile.torch.options import kernel_options
from xetile.torch.recurrent import keep_whole
from xetile.torch.sizes import PerSizes, has_open_sizes

__all__ = ["backend"]

_LOG = logging.getLogger("xetile.torch")
_NAME = "graph"


def backend(
    graph: fx.GraphModule, inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None, mode: str | None = None
) -> Callable[..., Any]:
    """The backend of torch.compile, called for each graph: `torch.compile(model, backend="xetile", options={...})`.

    A graph of tensors in the CPU's memory is compiled for this CPU, one of CUDA tensors for their GPU, a Hopper:
    results are new CUDA tensors, on the current stream, parameters are read where they are. `options` are those of
    `xetile.compile(..., target="cpu")`, or of "sm_90a" for CUDA tensors, and
    `target`   a GPU of Intel's to compile for instead, as "pvc", with its options; the model's tensors stay in the
               CPU's memory, kernels run on the device that XETILE_DEVICE chooses;
    `threads`  by default as many as PyTorch uses when the graph is compiled (`torch.set_num_threads`);
    `schedule`, `params`   what tiles and fuses instead, as "cpu_model" or a file of one's own, and its parameters;
    `strict`   whether a graph that cannot be compiled is an error; by default PyTorch runs it and a warning says why;
    `freeze`   whether parameters and buffers are packed in the first call, and when PyTorch counts that they changed,
               instead of in each call; for a GPU: copied to its memory, where they stay, with what depends on them
               alone. For inference; they must not be written to through `tensor.data` or arrays. CUDA tensors are
               read where they are with it, too.

    XeTileError for options that do not exist or fit, as a target whose kernels do not take the tensors. `mode` has no
    meaning here.
    """
    settings = dict(options or {})
    strict, freeze = settings.pop("strict", False), settings.pop("freeze", False)
    for name, value in (("strict", strict), ("freeze", freeze)):
        if not isinstance(value, bool):
            raise XeTileError(f"{name}: expected True or False, got {value!r}")
    if mode not in (None, "default"):
        raise XeTileError(f"mode: expected none, got {mode!r}; `options` has what can be chosen")
    asked = settings.get("target") is not None
    try:
        device = devices.device_of(devices.tensors_of_graph(graph, inputs))
        if not asked:
            settings["target"] = devices.target_for(device)
    except XeTileError as error:
        if strict or asked:
            raise
        _LOG.warning("a graph runs in PyTorch: %s", error)
        return graph.forward
    settings = kernel_options(settings)  # an option that is wrong is no reason to run a graph in PyTorch
    if asked:
        devices.expect_device(settings["target"], device)
    compile_graph = functools.partial(_compile, settings=settings, strict=strict, device=device)
    compiled = aot_autograd(
        fw_compiler=_refuse_training if freeze else compile_graph,
        inference_compiler=functools.partial(compile_graph, freeze=freeze),
        decompositions=decomposition_table(device.type),
    )
    # Attention in ATen's operations, with their gradients. The fused one of CPUs would keep its forward part only;
    # those for CUDA have gradients and stay PyTorch's.
    with sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else contextlib.nullcontext():
        return compiled(keep_enlarged(keep_whole(graph, inputs)), inputs)


def _refuse_training(graph: fx.GraphModule, inputs: Sequence[Any]) -> Any:
    raise XeTileError(
        "freeze: expected inference, got a graph with gradients; call the model under torch.no_grad() or compile it "
        "without freeze"
    )


def _compile(
    graph: fx.GraphModule,
    inputs: Sequence[Any],
    *,
    settings: Mapping[str, Any],
    strict: bool,
    device: torch.device,
    freeze: bool = False,
) -> Any:
    del inputs  # nodes know their types
    if device.type != "cpu" and has_open_sizes(graph):
        known = functools.partial(_compile, inputs=(), settings=settings, strict=strict, device=device, freeze=freeze)
        return _as_boxed(PerSizes(graph, known))
    # CUDA tensors are where kernels read them.
    frozen = static_inputs() if freeze and device.type == "cpu" else frozenset()
    if device.type != "cpu" and (written := attentions.written_out(graph, decomposition_table(device.type))):
        try:
            return _compile_known(written, settings, True, device, frozen)
        except XeTileError as error:
            _LOG.info("attention runs in PyTorch: %s", error)
    return _compile_known(graph, settings, strict, device, frozen)


def _compile_known(
    graph: fx.GraphModule, settings: Mapping[str, Any], strict: bool, device: torch.device, frozen: frozenset[int]
) -> Any:
    """The boxed callable of a graph of known sizes, or sizes that the target takes."""
    eager = graphs.eager_nodes(graph)
    eager |= devices.foreign_nodes(graph, device, eager)
    if not eager and not graphs.has_foreign_arguments(graph) and not devices.has_foreign_arguments(graph, device):
        return _boxed(_function(graph, settings, strict, device, frozen))
    return make_boxed_func(_in_parts(graph, eager, settings, strict, device, frozen))


def _in_parts(
    graph: fx.GraphModule,
    eager: dict[fx.Node, str],
    settings: Mapping[str, Any],
    strict: bool,
    device: torch.device,
    frozen: frozenset[int],
) -> Callable[..., Any]:
    """The callable of a graph of which PyTorch computes the operations in `eager`, told why, and kernels the others."""
    for node, reason in eager.items():
        _LOG.info("%s runs in PyTorch: %s%s", node.target, reason, _line(node))
    whole, calls = graphs.partition(graph, eager)
    arguments = [node for node in whole.graph.nodes if node.op == "placeholder"]
    weights = {arguments[number] for number in frozen}
    for call in calls:
        part = frozenset(number for number, node in enumerate(call.args) if node in weights)
        setattr(whole, call.target, _Call(_function(getattr(whole, call.target), settings, strict, device, part)))
    return whole.forward


class _Call(torch.nn.Module):
    """A function in the place of a submodule."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *inputs: Any) -> Any:
        return self._function(*inputs)


def _function(
    graph: fx.GraphModule, settings: Mapping[str, Any], strict: bool, device: torch.device, frozen: frozenset[int]
) -> Callable[..., Any]:
    """The callable of the graph: a kernel, or PyTorch. `frozen` are the arguments that are packed once."""
    single = not isinstance(graphs.output_of(graph), (list, tuple))
    attends = attentions.has_attentions(graph)
    try:
        outputs = graphs.split_outputs(graph)
        if all(place is None for place in outputs.places):
            return graph.forward  # nothing is computed
        on_cpu = device.type == "cpu"
        looked_at = checks.with_checks(outputs.kernel) if on_cpu else checks.with_flag(outputs.kernel)
        kernel_graph, arguments, results = in_memory_order(outputs.kernel)
        if not on_cpu:
            expect_known_sizes(results)
            kernel_graph = narrow.with_wide_convolutions(devices.without_devices(kernel_graph))
            kernel_graph = flat.with_flat_elementwise(kernel_graph)
        module = import_graph(kernel_graph, _NAME, frozen, asserts=settings["target"].name == "cpu")
        kernel = compiler.compile(module, **settings)
        if attends and not attentions.is_fused(kernel):
            raise XeTileError("no kernel computes it whole: its queries, keys or values are computed beside it")
        call = call_of(kernel, arguments, results) if on_cpu else call_on_gpu(kernel, arguments, results, device)
    except XeTileError as error:
        # Attentions are one kernel, which a GPU's units may not take; between products they are several.
        if attends:
            raise
        if device.type != "cpu" and (products := graphs.batched_products(graph, f"no kernels of it: {error}")):
            return _in_parts(graph, products, settings, strict, device, frozen)
        if strict:
            raise
        _LOG.warning("a graph runs in PyTorch: %s", error)
        return graph.forward
    return _KernelCall(call, outputs, single, looked_at)


class _KernelCall:
    """The graph's function of tensors and numbers."""

    def __init__(
        self, call: Callable[..., Any], outputs: graphs.Outputs, single: bool, looked_at: Sequence[checks.Check] | str
    ) -> None:
        self._call, self._outputs, self._single, self._checks = call, outputs, single, looked_at
        self._only_kernel = outputs.places == tuple(range(len(outputs.places)))

    def __call__(self, *inputs: Any) -> Any:
        results = self.run(list(inputs))
        return results[0] if self._single else results

    def run(self, inputs: list[Any]) -> list[Any]:
        """All results. XeTileError for indices that are out of range, and divisions by 0; on a GPU its assertion, as
        PyTorch's own kernels have."""
        tensors = self._call(inputs)
        if isinstance(self._checks, str):
            if self._checks:
                torch._assert_async(tensors.pop(), self._checks)
        elif self._checks:
            own = len(tensors) - checks.count_results(self._checks)
            checks.expect_in_range(self._checks, tensors[own:])
            del tensors[own:]
        if self._only_kernel:
            return tensors
        rest = self._outputs.rest(*inputs) if self._outputs.rest is not None else [None] * len(self._outputs.places)
        return [
            other if place is None else tensors[place] for place, other in zip(self._outputs.places, rest, strict=True)
        ]


def _boxed(function: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """A function of one list, as AOTAutograd calls them, which is emptied."""
    if not isinstance(function, _KernelCall):
        return make_boxed_func(function)

    def run(inputs: list[Any], run: Callable[[list[Any]], list[Any]] = function.run) -> list[Any]:
        results = run(inputs)
        inputs.clear()
        return results

    return _as_boxed(run)


def _as_boxed(call: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """AOTAutograd's mark on a function of one list; it keeps those of functions only."""
    run = call if isinstance(call, types.FunctionType) else lambda inputs: call(inputs)
    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _line(node: fx.Node) -> str:
    """Where the model asks for it."""
    trace = node.meta.get("stack_trace")
    return f"\n{trace}" if trace else ""
