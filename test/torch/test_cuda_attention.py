# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions that PyTorch fuses for CUDA tensors: which become kernels of ours, without a GPU."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from xetile.torch import attentions  # noqa: E402
from xetile.torch.importing import decomposition_table  # noqa: E402
from xetile.torch.options import kernel_options  # noqa: E402

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

# The package has its function by that name.
MODULE = sys.modules[xetile.torch.backend.__module__]
TABLE = decomposition_table("cuda")
HEADS = (2, 4, 48, 64)
_aten = torch.ops.aten


def flash(q: Any, k: Any, v: Any, causal: bool = False, **options: Any) -> Any:
    return _aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, **options)


def efficient(q: Any, k: Any, v: Any, causal: bool = False, **options: Any) -> Any:
    return _aten._scaled_dot_product_efficient_attention(q, k, v, None, False, 0.0, causal, **options)


def cudnn(q: Any, k: Any, v: Any, causal: bool = False, **options: Any) -> Any:
    return _aten._scaled_dot_product_cudnn_attention(q, k, v, None, False, 0.0, causal, **options)


def traced(
    function: Callable[..., Any], *shapes: tuple[int, ...], dtype: Any = torch.bfloat16, device: str = "cuda"
) -> Any:
    with FakeTensorMode(), torch.no_grad():
        tensors = [torch.empty(shape, dtype=dtype, device=device) for shape in shapes]
        return make_fx(lambda *args: (function(*args),), decomposition_table=TABLE)(*tensors)


def compiled(graph: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> list[str]:
    """The names of the kernels that a graph becomes."""
    kernels: list[str] = []

    def call_on_gpu(kernel: Any, *_: Any) -> Callable[..., Any]:
        kernels.extend(re.findall(r"\.entry (\w+)", kernel.binaries["ptx"].decode()))
        return lambda inputs: inputs

    monkeypatch.setattr(MODULE, "call_on_gpu", call_on_gpu)
    caplog.set_level(logging.INFO, logger="xetile.torch")
    settings = kernel_options({"target": "sm_90a"})
    MODULE._compile(graph, (), settings=settings, strict=False, device=torch.device("cuda:0"))
    return kernels


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("operation", [flash, efficient, cudnn])
def test_a_fused_attention_is_a_kernel_with_what_is_around_it(operation, dtype, monkeypatch, caplog):
    def model(q: Any, k: Any, v: Any) -> Any:
        return operation(q, k, v, True)[0].transpose(1, 2).reshape(2, 48, 256) * 2

    kernels = compiled(traced(model, *[HEADS] * 3, dtype=dtype), monkeypatch, caplog)
    assert "graph_0_attention_kernel" in kernels
    assert not caplog.records


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_what_is_written_out_computes_the_same(causal, scale, seed):
    torch.manual_seed(seed)
    graph = traced(lambda q, k, v: flash(q, k, v, causal, scale=scale)[0], *[HEADS] * 3, device="cpu")
    written = attentions.written_out(graph, TABLE)
    inputs = [torch.randn(HEADS).bfloat16() for _ in range(3)]
    exact = torch.nn.functional.scaled_dot_product_attention(
        *(each.double() for each in inputs), is_causal=causal, scale=scale
    )
    got = written(*inputs)[0].double()
    assert (got - exact).abs().max() <= 8e-3 * exact.abs().max()


KEPT: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "f32": (lambda q, k, v: efficient(q, k, v)[0], {"dtype": torch.float32}),
    "sums for gradients": (lambda q, k, v: flash(q, k, v)[1], {}),
    "dropout": (lambda q, k, v: _aten._scaled_dot_product_flash_attention(q, k, v, 0.5, False)[0], {}),
    "a mask": (lambda q, k, v: _aten._scaled_dot_product_cudnn_attention(q, k, v, q @ k.mT, False)[0], {}),
    "rows of 20": (lambda q, k, v: flash(*(each.narrow(3, 0, 20) for each in (q, k, v)))[0], {}),
    "many keys of few queries": (
        lambda q, k, v: flash(q, *(each.repeat(1, 1, 30, 1) for each in (k, v)))[0],
        {},
    ),
    "one query": (lambda q, k, v: flash(q.narrow(2, 0, 1), k, v)[0], {}),
    "a mask of other sizes": (lambda q, k, v: flash(q.narrow(2, 0, 16), k, v, True)[0], {}),
}


@pytest.mark.parametrize("name", KEPT)
def test_others_stay_pytorchs(name):
    function, options = KEPT[name]
    assert attentions.written_out(traced(function, *[HEADS] * 3, **options), TABLE) is None


def test_queries_that_are_computed_beside_leave_an_attention_to_pytorch(monkeypatch, caplog):
    """As rotary embeddings are: no kernel has all, and products of f32 between kernels would be slower."""

    def model(q: Any, k: Any, v: Any, c: Any, s: Any) -> Any:
        turned = [each * c + torch.cat((-each.narrow(3, 32, 32), each.narrow(3, 0, 32)), -1) * s for each in (q, k)]
        return cudnn(*turned, v, True)[0] * 2

    kernels = compiled(traced(model, *[HEADS] * 3, *[(48, 64)] * 2), monkeypatch, caplog)
    assert kernels and not any("attention" in name for name in kernels)
    told = [record.getMessage() for record in caplog.records]
    assert any("attention runs in PyTorch: " in each for each in told)
    assert any("cudnn_attention.default runs in PyTorch: PyTorch has kernels" in each for each in told)
