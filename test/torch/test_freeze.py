# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights that are packed once: results, changes that are seen, what is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from compiled import close, compiled  # noqa: E402
from models import MODELS  # noqa: E402
from xetile.errors import XeTileError  # noqa: E402
from xetile.torch import calls  # noqa: E402

SLOW = [pytest.param(name, marks=pytest.mark.exhaustive) for name in MODELS if name != "mlp"]


@pytest.fixture
def packings(monkeypatch):
    """What was packed in which call: a list of lists of tensors for each kernel."""
    found = []

    class Recorded(calls._FrozenCall):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made, freeze = [], self._freeze
            found.append(made)

            def count(inputs):
                results = freeze(inputs)
                made.append(results)
                return results

            self._freeze = count

    monkeypatch.setattr(calls, "_FrozenCall", Recorded)
    return found


@pytest.mark.parametrize("name", ["mlp", *SLOW])
def test_models_give_what_pytorch_gives(name):
    model = MODELS[name]
    module = model.make().eval()
    function = compiled(module, freeze=True)
    with torch.no_grad():
        for batch in (3, 3, 5):
            inputs = model.inputs(batch)
            close(function(*inputs), module(*inputs))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize(("rows", "k", "n"), [(1, 65, 50), (5, 64, 33), (33, 127, 96), (40, 300, 17), (7, 1, 5)])
def test_linear_layers_of_any_size(rows, k, n, dtype, packings):
    module = torch.nn.Linear(k, n).to(dtype).eval()
    x = torch.randn(rows, k).to(dtype)
    function = compiled(module, freeze=True, threads=2)
    with torch.no_grad():
        for _ in range(2):
            close(function(x), module(x), {torch.bfloat16: 2e-2, torch.float16: 2e-3}.get(dtype, 2e-5))
    assert sum(map(len, packings)) <= 1


@pytest.mark.parametrize("transposed", [False, True])
def test_matmuls_with_a_parameter_on_either_side(transposed):
    class Left(torch.nn.Module):
        def __init__(self):
            super().__init__()
            w = torch.randn(60, 70)
            self.w = torch.nn.Parameter(w.t() if transposed else w)

        def forward(self, x):
            w = self.w.t() if transposed else self.w
            return (w @ x).relu() + x @ w.t()[:, :20].sum()

    module, x = Left().eval(), torch.randn(70, 45)
    module.forward = lambda x: ((module.w.t() if transposed else module.w) @ x).relu()
    with torch.no_grad():
        close(compiled(module, freeze=True)(x), module(x))


def change_in_place(module):
    module.weight.add_(1.0)


def change_by_optimizer(module):
    module.weight.grad = torch.ones_like(module.weight)
    torch.optim.SGD([module.weight], lr=0.5).step()


def load_other_state(module):
    module.load_state_dict(torch.nn.Linear(96, 80).state_dict())


def replace_parameter(module):
    module.weight = torch.nn.Parameter(torch.randn(80, 96))


def give_other_memory(module):
    module.weight.data = torch.randn(80, 96)


@pytest.mark.parametrize(
    "change", [change_in_place, change_by_optimizer, load_other_state, replace_parameter, give_other_memory]
)
def test_changed_weights_are_packed_anew(change, packings):
    module, x = torch.nn.Linear(96, 80).eval(), torch.randn(40, 96)
    function = compiled(module, freeze=True)
    with torch.no_grad():
        close(function(x), module(x))
        before = module(x)
        change(module)
        for _ in range(2):
            close(function(x), module(x))
        assert not torch.allclose(before, module(x))
    assert sum(map(len, packings)) == 2


def test_equal_calls_pack_once_and_keep_no_more_than_the_weights_again(packings):
    module = torch.nn.Sequential(torch.nn.Linear(200, 300), torch.nn.ReLU(), torch.nn.Linear(300, 100)).eval()
    x = torch.randn(64, 200)
    function = compiled(module, freeze=True)
    with torch.no_grad():
        for _ in range(3):
            close(function(x), module(x))
    (made,) = packings
    assert len(made) == 1
    assert sum(t.nbytes for t in made[0]) <= 1.2 * sum(p.nbytes for p in module.parameters())


def test_a_weight_that_two_layers_share():
    first, second = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)
    second.weight = first.weight
    module, x = torch.nn.Sequential(first, torch.nn.Tanh(), second).eval(), torch.randn(48, 64)
    function = compiled(module, freeze=True)
    with torch.no_grad():
        close(function(x), module(x))
        first.weight.mul_(-1)
        close(function(x), module(x))


def test_autocast_rounds_weights_once(packings):
    module, x = torch.nn.Linear(128, 96).eval(), torch.randn(64, 128)
    function = compiled(module, freeze=True)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for _ in range(2):
            close(function(x), torch.compile(module, backend="aot_eager")(x), 0.05)
    (made,) = packings
    assert len(made) == 1
    # Machines without products of bf16 pack it as f32; it is rounded all the same.
    assert all(torch.equal(t.bfloat16().to(t.dtype), t) for t in made[0])
    assert not torch.equal(module.weight.bfloat16().float(), module.weight)


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_with_batch_norm(groups):
    module = torch.nn.Sequential(
        torch.nn.Conv2d(8, 16, 3, padding=1, groups=groups), torch.nn.BatchNorm2d(16), torch.nn.ReLU()
    )
    module(torch.randn(9, 8, 10, 11))  # statistics
    module.eval()
    function = compiled(module, freeze=True)
    x = torch.randn(3, 8, 10, 11)
    with torch.no_grad():
        close(function(x), module(x))
        module[1].running_mean.add_(2.0)
        close(function(x), module(x))
        module[0].weight.mul_(3.0)
        close(function(x), module(x))


def test_graphs_that_are_cut(caplog):
    class Cut(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(40, 60), torch.nn.Linear(60, 30)

        def forward(self, x):
            return self.second(torch.sort(self.first(x), dim=1).values)

    module, x = Cut().eval(), torch.randn(33, 40)
    function = compiled(module, freeze=True)
    with torch.no_grad():
        close(function(x), module(x))
        module.second.weight.add_(1.0)
        close(function(x), module(x))


def test_graph_breaks(packings):
    class Broken(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(40, 60), torch.nn.Linear(60, 30)

        def forward(self, x):
            x = self.first(x)
            torch._dynamo.graph_break()
            return self.second(x)

    module, x = Broken().eval(), torch.randn(33, 40)
    function = compiled(module, freeze=True)
    with torch.no_grad():
        for _ in range(2):
            close(function(x), module(x))
    assert [len(made) for made in packings] == [1, 1]


def test_buffers_that_the_model_changes_are_read_in_each_call_and_nothing_is_packed_anew(packings):
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(40, 60)
            self.register_buffer("sum", torch.zeros(60))
            self.register_buffer("weight", torch.randn(60, 70))

        def forward(self, x):
            y = self.linear(x)
            z = y @ self.weight
            self.sum.add_(y.sum(0))
            self.weight.mul_(0.5)
            return y + self.sum, z

    module, x = Counting().eval(), torch.randn(33, 40)
    expected = copy.deepcopy(module)
    function = compiled(module, freeze=True)
    with torch.no_grad():
        for _ in range(3):
            for got, want in zip(function(x), expected(x), strict=True):
                close(got, want, 1e-4)
    assert [len(made) for made in packings] == [1]


def test_sizes_that_the_run_knows():
    module = torch.nn.Linear(40, 60).eval()
    function = compiled(module, freeze=True, dynamic=True)
    with torch.no_grad():
        for rows in (3, 7, 5):
            x = torch.randn(rows, 40)
            close(function(x), module(x))
        module.weight.add_(1.0)
        close(function(x), module(x))


def test_parameters_of_inference_mode():
    with torch.inference_mode():
        module, x = torch.nn.Linear(40, 60).eval(), torch.randn(33, 40)
        function = compiled(module, freeze=True)
        for _ in range(2):
            close(function(x), module(x))


def test_a_schedule_of_ones_own_is_refused():
    x = torch.randn(4, 8)
    with pytest.raises(XeTileError, match="schedule: expected no arguments that are xetile.frozen"):
        xetile.torch.compile(torch.nn.Linear(8, 5).eval(), (x,), freeze=True, schedule="cpu_model")


def test_training_is_refused():
    module, x = torch.nn.Linear(40, 60), torch.randn(33, 40)
    function = compiled(module, freeze=True)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="freeze: expected inference, got a graph with"):
        function(x)


def test_options():
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="freeze: expected True or False, got 1"):
        compiled(torch.nn.Linear(4, 4), freeze=1)(torch.eye(4))
    with pytest.raises(XeTileError, match="freeze: expected True or False, got 'yes'"):
        xetile.torch.compile(torch.nn.Linear(4, 4), (torch.eye(4),), freeze="yes")


def test_kernels_of_models(tmp_path):
    module, x = torch.nn.Linear(96, 80).eval(), torch.randn(40, 96)
    kernel = xetile.torch.compile(module, (x,), freeze=True, threads=1)
    out = np.empty((40, 80), "f4")
    with torch.no_grad():
        for change in (change_in_place, change_by_optimizer, load_other_state, give_other_memory):
            close(torch.from_numpy(kernel(x)), module(x))
            kernel(x.numpy(), out=out)
            close(torch.from_numpy(out), module(x))
            change(module)
        close(torch.from_numpy(kernel(x)), module(x))
    with pytest.raises(XeTileError, match="expected 1 inputs of the model, got 2"):
        kernel(x, x)
    with pytest.raises(XeTileError, match=r"argument 0: expected 40x96xf32 \(float32\), got float32\[96, 40\]"):
        kernel(x.numpy().T)
    with pytest.raises(XeTileError, match="cannot write .*: a file would not have the model's 2 parameters"):
        kernel.save(tmp_path / "kernel.so")


def test_a_call_checks_its_tensors():
    module, x = torch.nn.Linear(96, 80).eval(), torch.randn(40, 96)
    made = []
    inner = calls._FrozenCall.__init__

    def record(self, *arguments):
        inner(self, *arguments)
        made.append(self)

    with torch.no_grad(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls._FrozenCall, "__init__", record)
        compiled(module, freeze=True)(x)
    tensors = [each if isinstance(each, torch.Tensor) else x for each in (module.weight, module.bias, x)]
    close(made[0](tensors)[0], module(x).detach())
    with pytest.raises(XeTileError, match=r"expected 80x96xf32 \(float32\), got float32\[96, 80\]"):
        made[0]([torch.randn(96, 80), *tensors[1:]])
    with pytest.raises(XeTileError, match="expected 3 tensors, got 2"):
        made[0](tensors[1:])
