# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many kernels PyTorch's inductor makes of a model, without compiling them.

Inductor's scheduler decides that when it has fused the nodes of a graph: what is left are generated kernels, calls of
libraries (matmuls, convolutions), and nodes without work. On the 100 problems of KernelBench's level 2 (sizes cut to
60,000 elements, PyTorch 2.11) that count was the number of Triton kernels in the code that inductor wrote for an H100.
Where PyTorch has no GPU the scheduler asks the CPU's backend, which fuses by other rules: of these problems it gave the
same count for 65, one more or one fewer for 21, and a median of 4 where that for the H100 is 3. A library's call counts
as one kernel, whatever it launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest import mock

import torch
from torch._inductor import compile_fx, ir
from torch._inductor.graph import GraphLowering

__all__ = ["count_kernels"]


class _CountedError(Exception):
    """The scheduler is done; no code is wanted."""


def count_kernels(model: torch.nn.Module, inputs: Sequence[Any]) -> dict[str, Any]:
    """`generated` and `library` kernels of all graphs of the model's inference, for `device`, a GPU if there is one."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, inputs = model.to(device), [_to(each, device) for each in inputs]
    found = {"device": device, "generated": 0, "library": 0}

    def codegen(graph: GraphLowering) -> None:
        graph.init_wrapper_code()
        graph._update_scheduler()
        for node in graph.scheduler.nodes:
            inner = getattr(node, "node", None)
            if not isinstance(inner, (ir.MultiOutput, ir.NopKernel)):
                found["library" if node.is_extern() else "generated"] += 1
        raise _CountedError

    def backend(graph: torch.fx.GraphModule, given: Sequence[Any]) -> Any:
        try:
            with mock.patch.object(GraphLowering, "codegen", codegen):
                compile_fx.compile_fx(graph, given)
        except Exception as error:
            if not _is_of_count(error):
                raise
        return graph.forward

    torch._dynamo.reset()
    with torch.no_grad(), torch._inductor.config.patch(fx_graph_cache=False):
        torch.compile(model, backend=backend, dynamic=False)(*inputs)
    return found


def _to(value: Any, device: str) -> Any:
    return value.to(device) if isinstance(value, torch.Tensor) else value


def _is_of_count(error: BaseException | None) -> bool:
    """True if the error, or one that it came of, says that the scheduler is done."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if isinstance(error, _CountedError):
            return True
        seen.append(error)
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__
    return False
