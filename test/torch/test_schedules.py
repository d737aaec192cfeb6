# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models under schedules of their own, on this CPU and on GPUs, against PyTorch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile  # noqa: E402
import xetile.torch  # noqa: E402
from compiled import check  # noqa: E402
from models import MODELS  # noqa: E402
from torch import nn  # noqa: E402
from xetile.errors import XeTileError  # noqa: E402
from xetile.torch.arrays import array_of, tensor_of  # noqa: E402

# On the CPU


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"lstm"}))
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_cpu_model_makes_what_the_compiler_makes_without_it(name, kind):
    model = MODELS[name].make().eval().to(kind)
    inputs = tuple(x.to(kind) if x.is_floating_point() else x for x in MODELS[name].inputs(2))
    module = xetile.torch.export(model, inputs)
    for threads in (1, 2):
        own = xetile.compile(module, target="cpu", threads=threads)
        kernel = xetile.compile(module, "cpu_model", "cpu", {"threads": threads})
        assert kernel.stages["2-memory"] == own.stages["2-memory"]


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"lstm"}))
def test_torch_compile_takes_a_schedule(name):
    check(MODELS[name].make().eval(), *MODELS[name].inputs(3), schedule="cpu_model", params={"rows": 2})


def test_a_model_takes_a_schedule_and_threads():
    model, x = nn.Sequential(nn.Linear(20, 30), nn.Softmax(-1)), torch.randn(7, 20)
    loaded = xetile.schedule.load("cpu_model")
    for options in ({"threads": 2}, {"params": {"threads": 2}}, {}):
        kernel = xetile.torch.compile(model, (x,), schedule=loaded, **options)
        expected = 2 if options else torch.get_num_threads()
        assert kernel.schedule.params["threads"].value == expected
        torch.testing.assert_close(tensor_of(kernel(x)), model(x).detach(), rtol=1e-5, atol=1e-6)
    kernel = xetile.torch.compile(model, (x,), schedule=loaded.with_params(threads=torch.get_num_threads() + 1))
    assert kernel.schedule.params["threads"].value == torch.get_num_threads() + 1
    with pytest.raises(XeTileError, match="expected no config, threads, pack, fuse, attention or tune beside it"):
        xetile.torch.compile(model, (x,), schedule=loaded, pack="never")
    with pytest.raises(Exception, match="no schedule 'nope'"):  # PyTorch's, around ours
        torch.compile(model, backend=xetile.torch.backend, options={"schedule": "nope"})(x)


# On GPUs: the very SPIR-V on an OpenCL device


class Layer(nn.Module):
    def __init__(self, activation=None, bias=True):
        super().__init__()
        self.linear, self.activation = nn.Linear(40, 72, bias=bias), activation

    def forward(self, x):
        y = self.linear(x)
        return self.activation(y) if self.activation else y


class Product(nn.Module):
    def __init__(self, transposed=False):
        super().__init__()
        self.transposed = transposed

    def forward(self, a, b):
        return a @ (b.mT if self.transposed else b)


F = nn.functional
ACTIVATIONS = {
    "none": None,
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}
ERRORS = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def check_on_gpu(model, *inputs):
    """The results in f32 are those of PyTorch, rounded once."""
    kind = inputs[0].dtype
    module = xetile.torch.export(model, inputs)
    kernel = xetile.compile(module, target="pvc", native="off")
    arguments = [*inputs, *(parameter.detach() for parameter in model.parameters())]
    got = tensor_of(kernel(*map(array_of, arguments)))
    assert got.dtype == kind
    with torch.no_grad():
        want = model.float()(*(x.float() for x in inputs))
    torch.testing.assert_close(got.float(), want, rtol=ERRORS[kind], atol=ERRORS[kind])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
@pytest.mark.parametrize("kind", sorted(ERRORS, key=str))
def test_a_layer_is_one_kernel(name, kind):
    check_on_gpu(Layer(ACTIVATIONS[name]).to(kind), torch.randn(33, 40, dtype=kind))


@pytest.mark.parametrize("kind", sorted(ERRORS, key=str))
def test_layers_without_bias_and_with_more_dimensions(kind):
    check_on_gpu(Layer(bias=False).to(kind), torch.randn(33, 40, dtype=kind))
    check_on_gpu(Layer().to(kind), torch.randn(3, 11, 40, dtype=kind))


def test_activations_whose_numbers_are_f16():
    check_on_gpu(Layer(F.leaky_relu).half(), torch.randn(33, 40).half())


@pytest.mark.parametrize("kind", sorted(ERRORS, key=str))
@pytest.mark.parametrize("transposed", [False, True])
def test_products(kind, transposed):
    for sizes in ((), (3,)):
        a = torch.randn(*sizes, 33, 40, dtype=kind) / 4
        b = torch.randn(*sizes, *((24, 40) if transposed else (40, 24)), dtype=kind) / 4
        check_on_gpu(Product(transposed), a, b)


PROGRAMS = {
    "softmax": (lambda: nn.Softmax(-1), (4, 33)),
    "softmax along columns": (lambda: nn.Softmax(1), (2, 33, 5)),
    "log softmax": (lambda: nn.LogSoftmax(-1), (4, 33)),
    "layer norm": (lambda: nn.LayerNorm(50), (3, 7, 50)),
    "max pooling": (lambda: nn.MaxPool2d(2), (2, 3, 9, 10)),
    "average pooling": (lambda: nn.AvgPool2d(3, 1, 1), (2, 3, 9, 10)),
    "convolution": (lambda: nn.Conv2d(3, 8, 3, padding=1), (1, 3, 8, 9)),
    "gelu": (lambda: nn.GELU(), (4, 33)),
    "silu": (lambda: nn.SiLU(), (300,)),
}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs_without_a_matmul_are_one_kernel(name):
    make, shape = PROGRAMS[name]
    check_on_gpu(make().half().eval(), torch.randn(shape).half())


REFUSED = {
    "two layers": (
        lambda: nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 16)),
        (4, 32),
        ["expected exactly one linalg.matmul, found 2", "or all of it for the target cpu"],
        2,
    ),
    "a layer and a softmax": (
        lambda: nn.Sequential(nn.Linear(32, 16), nn.Softmax(-1)),
        (4, 32),
        [
            "2 ops are not part of a matmul's kernel",
            "arith.addf: reductions other than a matmul's are kernels of the schedule 'rows'",
        ],
        2,
    ),
    "a layer and a norm": (
        lambda: nn.Sequential(nn.Linear(32, 16), nn.LayerNorm(16)),
        (4, 32),
        [
            "2 ops are not part of a matmul's kernel",
            "arith.addf: reductions other than a matmul's are kernels of the schedule 'rows'",
        ],
        2,
    ),
    "an activation of another view": (
        lambda: nn.Sequential(nn.Linear(32, 16), nn.ReLU()),
        (2, 4, 32),
        ["an op is not part of a matmul's kernel", "arith.cmpf, arith.select: it is beside the matmul"],
        1,
    ),
    "a pooling behind a layer": (
        lambda: nn.Sequential(nn.Linear(32, 16), nn.MaxPool1d(2)),
        (2, 4, 32),
        ["convolutions and poolings are kernels of the schedule 'rows'"],
        1,
    ),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_one_kernel_around_a_matmul_does_not_take_is_refused_by_name(name):
    make, shape, words, least = REFUSED[name]
    module = xetile.torch.export(make().half().eval(), (torch.randn(shape).half(),))
    with pytest.raises(XeTileError) as refused:
        xetile.compile(module, schedule="matmul", target="pvc", native="off")
    text = str(refused.value)
    for word in words:
        assert word in text
    # Each at its line of PyTorch's or of the model.
    notes = [line for line in text.splitlines() if "note: linalg" in line or "note: tensor" in line]
    assert len(notes) >= least and all(".py:" in note for note in notes), text


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"lstm"}))
def test_whole_models_are_kernels_for_a_gpu(name):
    model = MODELS[name].make().eval()
    inputs = MODELS[name].inputs(2)
    kernel = xetile.torch.compile(model, inputs, target="pvc", native="off")
    got = kernel(*inputs)
    with torch.no_grad():
        exact = model.double()(*(each.double() if each.is_floating_point() else each for each in inputs)).numpy()
    assert abs(got - exact).max() <= 1e-5 * abs(exact).max()
