# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="xetile") against PyTorch itself."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from compiled import close, compiled  # noqa: E402
from models import MODELS  # noqa: E402

SLOW = [pytest.param(name, marks=pytest.mark.exhaustive) for name in MODELS if name != "mlp"]


@pytest.mark.parametrize("name", ["mlp", *SLOW])
def test_models_give_what_pytorch_gives(name):
    model = MODELS[name]
    module = model.make().eval()
    function = compiled(module)
    with torch.no_grad():
        for batch in (3, 3, 5):
            inputs = model.inputs(batch)
            close(function(*inputs), module(*inputs))


@pytest.mark.parametrize("name", ["mlp", *SLOW])
def test_training_changes_parameters_and_buffers_as_pytorch_does(name):
    model = MODELS[name]
    module = model.make().train()
    expected = copy.deepcopy(module)
    function = compiled(module)
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (module, expected)]
    for _ in range(2):
        inputs = model.inputs(4)
        weights = torch.randn_like(expected(*inputs))
        expected.load_state_dict(module.state_dict())
        for run, optimizer in zip((function, expected), optimizers, strict=True):
            optimizer.zero_grad()
            (run(*inputs) * weights).sum().backward()
            optimizer.step()
        scale = max(parameter.grad.abs().max().item() for parameter in expected.parameters())
        for got, want in zip(module.parameters(), expected.parameters(), strict=True):
            assert (got.grad - want.grad).abs().max().item() <= 5e-5 * scale
        for got, want in zip(module.state_dict().values(), expected.state_dict().values(), strict=True):
            close(got, want, 5e-5)


@pytest.mark.parametrize("name", ["mlp", *SLOW])
def test_autocast_to_bf16(name):
    model = MODELS[name]
    module = model.make().eval()
    function = compiled(module)
    # Graphs of ATen's operations may give another type than the model itself, in PyTorch, too.
    expected = torch.compile(module, backend="aot_eager")
    inputs = model.inputs(3)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        close(function(*inputs), expected(*inputs), 0.05)


def test_what_results_are_beside_tensors_that_are_computed():
    def function(x, y):
        z = x @ y
        return z, x, z, None, z.shape[0], y + 1, (z > 0)

    x, y = torch.randn(5, 4), torch.randn(4, 6)
    got, want = compiled(function)(x, y), function(x, y)
    close(got[0], want[0])
    assert got[1] is x and got[2] is got[0] and got[3] is None and got[4] == 5
    assert torch.equal(got[5], want[5]) and torch.equal(got[6], want[6])


def test_a_result_that_is_given_twice_and_kept_for_gradients():
    def function(x):
        y = x.exp()
        return y, y.sin(), y

    x = torch.randn(3, requires_grad=True)
    got, want = compiled(function)(x), function(x)
    for ours, theirs in zip(got, want, strict=True):
        close(ours.detach(), theirs.detach())
    weights = [torch.randn(each.shape) for each in want]
    close(*(torch.autograd.grad(results, x, weights)[0] for results in (got, want)))


def test_pytorch_finds_the_backend_by_its_name():
    code = (
        "import torch; print(torch.compile(lambda x: x + 1, backend='xetile', options={'strict': True})(torch.ones(3)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "tensor([2., 2., 2.])\n", done.stderr


def test_what_cannot_be_compiled_runs_in_pytorch(caplog):
    def function(x):
        return torch.linalg.householder_product(x, x[0]).sin() * 2

    x = torch.randn(8, 4)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="torch-mlir does not import the graph"):
        compiled(function)(x)
    torch._dynamo.reset()
    close(compiled(function, strict=False)(x), function(x))
    assert any("a graph runs in PyTorch: " in record.message for record in caplog.records)


def test_operations_that_pytorch_computes_cut_the_graph(caplog):
    def function(x, w):
        y = torch.sort((x @ w).relu(), dim=1).values
        return (y * 2).cumsum(1) + torch.rand(5, 6) * 0

    caplog.set_level("INFO", "xetile.torch")
    x, w = torch.randn(5, 4), torch.randn(4, 6)
    close(compiled(function)(x, w), function(x, w))
    said = " ".join(record.message for record in caplog.records if record.name == "xetile.torch")
    assert "aten.sort.default runs in PyTorch: linalg has no sorting" in said
    assert "aten.rand.default runs in PyTorch: random numbers are those of PyTorch's generator" in said


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"strict": 1}, "strict: expected True or False, got 1"),
        ({"thread": 2}, "thread"),
        ({"threads": 0}, "threads: expected an integer from 1 to 2147483647, got 0"),
    ],
)
def test_options(options, told):
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=told):
        torch.compile(lambda x: x @ x, backend=xetile.torch.backend, options=options)(torch.eye(3))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize(("dtype", "allowed"), [(torch.float32, 3e-6), (torch.bfloat16, 1e-2)])
def test_linear_layers_with_gelu_are_one_matmul_with_a_tail(approximate, dtype, allowed):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(96, 80), torch.nn.GELU(approximate)).to(dtype).eval()
    x = (2 * torch.randn(33, 96)).to(dtype)
    kernel = xetile.torch.compile(model, (x,), threads=1)
    with torch.no_grad():
        expected = copy.deepcopy(model).double()(x.double())
    error = (torch.from_numpy(kernel(x).astype("f8")) - expected).abs().max() / expected.abs().max()
    assert error <= allowed
    # The matmul reads what is in memory, and one op follows it, or each of the blocks in which AMX's tiles take it.
    tiled = kernel.stages["1-tiled"]
    assert "linalg.transpose" not in tiled
    sums = tiled.count('"parallel", "reduction"')
    assert tiled.count("linalg.generic") - sums == max(1, sums)
