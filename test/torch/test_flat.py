# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on elements behind linear layers of batches, which become those of the layers' matrices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from xetile.torch.flat import with_flat_elementwise  # noqa: E402
from xetile.torch.importing import decomposition_table  # noqa: E402
from xetile.torch.options import kernel_options  # noqa: E402

# The package has its function by that name.
MODULE = sys.modules[xetile.torch.backend.__module__]
SHAPES = {"x": (2, 6, 16), "w": (16, 16), "b": (16,), "r": (2, 6, 16), "o": (2, 1, 16), "t": (6, 2, 16)}


def traced(function: Callable[..., Any], *names: str, dtype: Any = torch.float32, device: str = "cpu") -> Any:
    with FakeTensorMode(), torch.no_grad():
        tensors = [torch.empty(SHAPES[name], dtype=dtype, device=device) for name in names]
        return make_fx(function, decomposition_table=decomposition_table("cuda"))(*tensors)


def linear(x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.linear(x, w, b)


def gelu(x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.gelu(linear(x, w, b))


def residual(x: Any, w: Any, b: Any, r: Any) -> Any:
    return r + linear(x, w, b) * b


def chain(x: Any, w: Any, b: Any, r: Any) -> Any:
    y = r + torch.nn.functional.silu(linear(x, w, b))
    return torch.nn.functional.layer_norm(y + linear(y, w, b), (16,))


def operations(graph: Any, dims: int) -> int:
    """Those on elements of results of so many dimensions."""
    nodes = [node for node in graph.graph.nodes if torch.Tag.pointwise in getattr(node.target, "tags", ())]
    return len([node for node in nodes if node.meta["val"].ndim == dims])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("function", "names"), [(gelu, "xwb"), (residual, "xwbr"), (chain, "xwbr")])
def test_matrices_give_the_same_numbers(function, names, dtype):
    graph = traced(function, *names, dtype=dtype)
    inputs = [torch.randn(SHAPES[name]).to(dtype) for name in names]
    expected = graph(*inputs)
    before = operations(graph, 3)
    with_flat_elementwise(graph)
    graph.graph.lint()
    graph.recompile()
    assert operations(graph, 3) < max(before, 1)
    got = graph(*inputs)
    assert got.shape == expected.shape and torch.equal(got, expected)


KEPT: dict[str, tuple[Callable[..., Any], str]] = {
    "no product": (lambda x, r: (x + r).exp(), "xr"),
    "a row of each batch": (lambda x, w, b, o: linear(x, w, b) + o, "xwbo"),
    "heads": (lambda x, w, b: linear(x, w, b).view(2, 6, 4, 4).exp(), "xwb"),
    "an operand in another order": (lambda x, w, b, t: linear(x, w, b) + t.transpose(0, 1), "xwbt"),
}


@pytest.mark.parametrize("name", KEPT)
def test_others_stay(name):
    function, names = KEPT[name]
    graph = traced(function, *names)
    nodes = [node.target for node in graph.graph.nodes]
    with_flat_elementwise(graph)
    assert [node.target for node in graph.graph.nodes] == nodes


@pytest.mark.skipif(
    "sm_90a" not in [target.name for target in xetile.targets.available()], reason="built without the target sm_90a"
)
@pytest.mark.parametrize(("function", "names"), [(gelu, "xwb"), (residual, "xwbr")])
def test_a_layer_with_what_follows_is_one_kernel(function, names, monkeypatch):
    kernels: list[Any] = []
    monkeypatch.setattr(MODULE, "call_on_gpu", lambda kernel, *rest: kernels.append(kernel))
    graph = traced(lambda *args: (function(*args),), *names, dtype=torch.bfloat16, device="cuda")
    settings = kernel_options({"target": "sm_90a"})
    MODULE._compile(graph, (), settings=settings, strict=True, device=torch.device("cuda:0"))
    assert len(kernels) == 1 and kernels[0].binaries["ptx"].decode().count(".entry") == 1
