# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights that stay in a GPU's memory: what is uploaded when, changes that are seen, what is computed once."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from compiled import close, compiled  # noqa: E402
from xetile import runtime  # noqa: E402
from xetile.errors import XeTileError  # noqa: E402
from xetile.kernels.device import DeviceArray  # noqa: E402

GPU = {"target": "pvc", "native": "off"}


class Model(torch.nn.Module):
    """Layers with a norm of known statistics, of which scale and shift are computed."""

    def __init__(self, dtype=torch.float32):
        super().__init__()
        self.first, self.norm, self.second = torch.nn.Linear(21, 19), torch.nn.BatchNorm1d(19), torch.nn.Linear(19, 13)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)
        self.to(dtype).eval()

    def forward(self, x):
        return self.second(torch.relu(self.norm(self.first(x))))


class Frozen:
    """A model with its kernel, and how often its weights were uploaded."""

    def __init__(self, dtype=torch.float32):
        self.model, self.x, self.freezings = Model(dtype), torch.randn(17, 21).to(dtype), 0
        self.kernel = xetile.torch.compile(self.model, (self.x,), freeze=True, **GPU)
        self.inner = self.kernel.function()._kernel.function()
        pack = self.inner.pack

        def count(values):
            self.freezings += 1
            return pack(values)

        self.inner.pack = count

    def check(self, tolerance=2e-5):
        with torch.no_grad():
            close(torch.from_numpy(self.kernel(self.x).astype("f4")), self.model(self.x).float(), tolerance)


@pytest.fixture(scope="module")
def frozen():
    return Frozen()


def test_many_calls_upload_once_and_are_right(frozen):
    frozen.check()
    before = frozen.freezings, runtime.stats().live_allocations
    for _ in range(20):
        frozen.x.normal_()
        frozen.check()
    assert (frozen.freezings, runtime.stats().live_allocations) == before


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_narrow_types(dtype):
    frozen = Frozen(dtype)
    for _ in range(3):
        frozen.check(2e-2)
    assert frozen.freezings == 1


def test_calls_copy_no_weight_and_compute_nothing_of_weights_alone(frozen):
    host = frozen.kernel.stages["5-xevm"]
    call = host[host.index("func.func @model(") : host.index("func.func @model_freeze(")]
    copies = [line for line in call.splitlines() if "gpu.memcpy" in line]
    assert len(copies) == 2  # x, and the result
    assert call.count("gpu.launch_func") == 2
    rest = host[host.index("func.func @model_freeze(") : host.index("gpu.module")]
    assert rest.count("gpu.launch_func") == 3  # two transposes, and 1/sqrt(variance + eps)


def change_in_place(module):
    module.first.weight.add_(1.0)


def change_by_optimizer(module):
    module.second.weight.grad = torch.ones_like(module.second.weight)
    torch.optim.SGD([module.second.weight], lr=0.5).step()
    module.second.weight.grad = None


def change_a_buffer(module):
    module.norm.running_var.mul_(3.0)


def load_other_state(module):
    module.load_state_dict(Model().state_dict())


def give_other_memory(module):
    module.second.bias.data = torch.randn(13)


CHANGES = [change_in_place, change_by_optimizer, change_a_buffer, load_other_state, give_other_memory]


@pytest.mark.parametrize("change", CHANGES)
def test_changed_weights_are_uploaded_anew(frozen, change):
    frozen.check()
    before = frozen.freezings, frozen.model(frozen.x).detach()
    with torch.no_grad():
        change(frozen.model)
    for _ in range(3):
        frozen.check()
    assert frozen.freezings == before[0] + 1
    assert not torch.allclose(before[1], frozen.model(frozen.x))


def test_another_device_uploads_anew(frozen, monkeypatch):
    frozen.check()
    before = frozen.freezings
    monkeypatch.setattr(frozen.inner, "place", lambda: "elsewhere")
    for _ in range(2):
        frozen.check()
    assert frozen.freezings == before + 1


def test_the_backend_sees_changes_and_keeps_no_more():
    model, x = Model(), torch.randn(17, 21)
    function = compiled(model, freeze=True, **GPU)
    with torch.no_grad():
        close(function(x), model(x))
        live = runtime.stats().live_allocations
        for change in (change_in_place, change_a_buffer):
            change(model)
            for _ in range(2):
                close(function(x), model(x))
            assert runtime.stats().live_allocations == live


def test_memory_is_freed_with_the_kernel():
    gc.collect()
    live = runtime.stats().live_allocations
    frozen = Frozen()
    frozen.check()
    assert runtime.stats().live_allocations > live
    del frozen
    gc.collect()
    assert runtime.stats().live_allocations == live


def test_what_does_not_fit_is_refused(frozen, tmp_path):
    with pytest.raises(XeTileError, match="cannot write .*: a file would not have the model's"):
        frozen.kernel.save(tmp_path / "kernel.so")
    call, x = frozen.inner.call, frozen.x.numpy()
    arrays = [DeviceArray(spec) if spec.on_device else x for spec in call.signature.arguments]
    with pytest.raises(XeTileError, match=r"argument 1: expected 21x19xf32 on the device, a DeviceArray, got ndarray"):
        call((x, x, *arrays[2:]))
    with pytest.raises(XeTileError, match=r"argument 1: expected 21x19xf32 on the device, got float32\[19\]"):
        call((x, arrays[2], *arrays[2:]))


class Masked(torch.nn.Module):
    """Bits, integers and numbers that are frozen, one of no dimension; a table that is read at frozen places."""

    def __init__(self):
        super().__init__()
        self.table, self.scale = torch.nn.Embedding(11, 6), torch.nn.Parameter(torch.tensor(0.5))
        self.register_buffer("mask", torch.tril(torch.ones(9, 9)).bool())
        self.register_buffer("places", torch.randint(11, (9,)))
        self.register_buffer("shift", torch.randn(9).half())

    def forward(self, x):
        scores = x @ self.table(self.places).T
        return (scores.masked_fill(~self.mask, -torch.inf) * self.scale).softmax(-1) + self.shift


def test_weights_of_other_types():
    model, x = Masked().eval(), torch.randn(9, 6)
    kernel = xetile.torch.compile(model, (x,), freeze=True, **GPU)
    with torch.no_grad():
        for _ in range(2):
            close(torch.from_numpy(kernel(x)), model(x))
        model.mask[3, 5] = True
        model.places[2] = 7
        model.scale.mul_(2)
        close(torch.from_numpy(kernel(x)), model(x))
