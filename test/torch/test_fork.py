# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models in the workers of a DataLoader, which are children of fork()."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile  # noqa: E402
import xetile.torch  # noqa: E402


class Mapped(torch.utils.data.Dataset):
    """Item i is what `function` makes of a tensor of i."""

    def __init__(self, function):
        self.function = function

    def __len__(self):
        return 6

    def __getitem__(self, number):
        with torch.no_grad():
            return self.function(torch.full((3, 16), float(number)))


@pytest.fixture
def model():
    return torch.nn.Sequential(torch.nn.Linear(16, 7), torch.nn.ReLU()).eval()


def loaded(function):
    """Six items that two workers make; RuntimeError if there is none for a minute."""
    loader = torch.utils.data.DataLoader(
        Mapped(function), batch_size=None, num_workers=2, multiprocessing_context="fork", timeout=60
    )
    return torch.stack(list(loader))


def check(found, model, tolerance=1e-5):
    with torch.no_grad():
        expected = model.double()(torch.stack([torch.full((3, 16), float(number)) for number in range(6)]).double())
    torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("threads", [1, 2])
def test_workers_call_a_kernel_that_was_called_before(model, threads):
    kernel = xetile.torch.compile(model, (torch.zeros(3, 16),), threads=threads)
    kernel(torch.zeros(3, 16).numpy())
    check(loaded(lambda x: torch.from_numpy(kernel(x.numpy()))), model)


@pytest.mark.parametrize("called", [False, True], ids=["first called there", "called before"])
def test_workers_call_a_compiled_model(model, called):
    compiled = torch.compile(model, backend=xetile.torch.backend)
    if called:
        with torch.no_grad():
            compiled(torch.zeros(3, 16))
    check(loaded(compiled), model)


def test_workers_call_a_kernel_of_the_device(model):
    """The layer of the model, as PyTorch exports it: its weights are arguments."""
    layer = model[0].half()
    module = xetile.torch.export(layer, (torch.zeros(3, 16).half(),))
    kernel = xetile.compile(module, target="pvc", native="off")
    weights = {parameter.shape: parameter.detach().numpy() for parameter in layer.parameters()}

    def call(x):
        values = [weights.get(torch.Size(spec.shape), x.half().numpy()) for spec in kernel.arguments]
        return torch.from_numpy(kernel(*values)).float()

    call(torch.zeros(3, 16))
    check(loaded(call), layer, 1e-3)
