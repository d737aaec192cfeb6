# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of CUDA tensors, without a GPU: which device they are for, and calls whose launches run PTX on this CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

sys.path.append(str(Path(__file__).parents[1] / "python" / "targets" / "nvidia"))

import fake_driver  # noqa: E402
import xetile.torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from xetile import Target, XeTileError  # noqa: E402
from xetile.torch import checks, cuda_calls, devices, sizes  # noqa: E402
from xetile.torch.importing import decomposition_table  # noqa: E402
from xetile.torch.layouts import Layout  # noqa: E402
from xetile.torch.options import kernel_options  # noqa: E402

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

HERE = Path(__file__).parent
# The package has its function by that name.
MODULE = sys.modules[xetile.torch.backend.__module__]
MLP = "torch.nn.Sequential(torch.nn.Linear(16, 24), torch.nn.GELU(), torch.nn.Linear(24, 8))"


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Path:
    return fake_driver.built(tmp_path_factory.mktemp("driver"))


def printed_by(code: str, driver: Path | str, log: Path, **environment: str) -> list[list]:
    seed = str(time.time_ns() % 2**31)
    print(f"SEED={seed}")
    environment |= {"XETILE_CUDA_DRIVER": str(driver), "FAKE_DRIVER_LOG": str(log), "SEED": seed}
    command = [sys.executable, "-W", "ignore", HERE / "cuda_stand_in.py", "stand_in()\n" + code]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def tensors(*places: str | tuple[str, tuple[int, ...]]):
    with FakeTensorMode():
        pairs = [place if isinstance(place, tuple) else (place, (3, 4)) for place in places]
        return [torch.empty(shape, device=place) for place, shape in pairs]


NUMBERS = f"""
run("mlp", {MLP}, torch.randn(8, 16))
model = torch.nn.Sequential(torch.nn.Embedding(20, 16), torch.nn.LayerNorm(16))
run("gather", model, torch.randint(0, 20, (2, 5)))
run("frozen", {MLP}.eval(), torch.randn(8, 16), freeze=True)
run("bytes", lambda x: x.float() * 2, torch.randint(0, 255, (9, 33), dtype=torch.uint8))
run("permuted", lambda x: x * 2 + 1, torch.randn(8, 40).t())
function = compiled(lambda x: x.exp())
tell("first", function(x := torch.randn(20, 24)), x.exp())
# Within a unit of 16 bytes, or with gaps: not what the graph was compiled for.
tell("within a unit", function(x := torch.randn(20 * 24 + 1)[1:].view(20, 24)), x.exp())
x = torch.randn(8, 16)
model = {MLP}
got, exact = compiled(model)(x), model(x)
tell("training", got, exact)
ours, theirs = (torch.autograd.grad(y.square().sum(), list(model.parameters())) for y in (got, exact))
for number, pair in enumerate(zip(ours, theirs)):
    tell(f"gradient {{number}}", *pair)
run("norm in training", torch.nn.BatchNorm1d(12).train(), torch.randn(10, 12))
"""


def test_results_and_gradients_are_pytorchs(driver, tmp_path):
    rows = printed_by(NUMBERS, driver, tmp_path / "log")
    assert len(rows) == 13
    assert {name: error for name, error in rows if not error <= 2e-5} == {}


@pytest.mark.parametrize("freeze", [False, True])
def test_tensors_are_read_where_they_are(freeze, driver, tmp_path):
    code = f"""
function, x = compiled({MLP}.eval(), freeze={freeze}), torch.randn(64, 16)
with torch.no_grad():
    for _ in range(3):
        function(x)
"""
    log = tmp_path / "log"
    printed_by(code, driver, log, FAKE_DRIVER_OWNS_MEMORY="1")
    asked = log.read_text().splitlines()
    assert sum(line.startswith("launch") for line in asked) == 6
    assert not [line for line in asked if line.startswith(("copy", "synchronize"))]
    # The first kernel hands it to the second.
    assert len([line for line in asked if line.startswith("allocate")]) == 1
    # One text for both kernels.
    assert len([line for line in asked if line.startswith("load")]) == 1


OTHERWISE = """
import sys
module, made = sys.modules[xetile.torch.backend.__module__], []
make = module.call_on_gpu
module.call_on_gpu = lambda *arguments: made.append(make(*arguments)) or made[-1]
compiled(lambda x, y: x.exp() + y)(torch.randn(20, 24), torch.randn(20, 24))
x, y = torch.randn(24, 20).t(), torch.randn(20, 24)
tell("other strides", made[0]([x, y])[0], x.exp().contiguous() + y)
x = torch.randn(20, 24)
tell("negated when it is read", made[0]([torch._neg_view(x), y])[0], (-x).exp() + y)
x = torch.randn(20, 24, requires_grad=True)
tell("with gradients", made[0]([x.t().contiguous().t(), y])[0], x.detach().exp() + y)
told(lambda: made[0]([x]))
"""


def test_tensors_that_lie_otherwise_than_traced_are_copied_to_where_they_should_be(driver, tmp_path):
    *rows, count = printed_by(OTHERWISE, driver, tmp_path / "log")
    assert [name for name, _ in rows] == ["other strides", "negated when it is read", "with gradients"]
    assert all(error <= 2e-5 for _, error in rows)
    assert "XeTileError: expected 2 tensors, got 1" in count[0]


FALLS_BACK = """
told(lambda: compiled(lambda x: torch.sort(x, dim=1).values * 2)(torch.randn(5, 6)))
function = lambda x: torch.linalg.householder_product(x, x[0]).sin()
told(lambda: compiled(function, strict=False)(torch.randn(8, 4)))
told(lambda: compiled(function, strict=False, dynamic=True)(torch.randn(8, 4)))
table = torch.nn.Embedding(20, 16)
told(lambda: compiled(table)(torch.tensor([[3, 20]])))
"""


def test_what_a_graph_cannot_do_is_told(driver, tmp_path):
    sort, product, of_any_size, index = printed_by(FALLS_BACK, driver, tmp_path / "log")
    assert sort[0] == "fine" and "aten.sort.default runs in PyTorch: linalg has no sorting" in sort[1][0]
    for each in (product, of_any_size):
        assert each[0] == "fine" and "a graph runs in PyTorch: torch-mlir does not import the graph" in each[1][0]
    # As an assertion of CUDA's on a GPU.
    assert "RuntimeError" in index[0] and "aten.embedding.default: an index is not from 0 to 19" in index[0]


SIZES = f"""
model = {MLP}
function = compiled(model, dynamic=True)
for rows in (4, 9, 4):
    x = torch.randn(rows, 16)
    got, exact = function(x), model(x)
    tell(f"{{rows}} rows", got, exact)
    ours, theirs = (torch.autograd.grad(y.square().sum(), list(model.parameters())) for y in (got, exact))
    for number, pair in enumerate(zip(ours, theirs)):
        tell(f"gradient {{number}} of {{rows}} rows", *pair)
function = lambda x: (x.reshape(-1, 4) * 2).sum(1)
tell("joined sizes", compiled(function, dynamic=True)(x := torch.randn(3, 8)), function(x))
function = lambda x: torch.sort(x * 2, dim=1).values + 1
tell("parts", compiled(function, dynamic=True)(x), function(x))
"""


def test_sizes_that_a_run_knows_are_compiled_when_they_come(driver, tmp_path):
    rows = printed_by(SIZES, driver, tmp_path / "log")
    assert len(rows) == 17
    assert {name: error for name, error in rows if not error <= 2e-5} == {}


def test_of_too_many_sizes_pytorch_runs_a_graph(monkeypatch, caplog):
    monkeypatch.setattr(sizes, "_MOST", 1)
    graph = make_fx(lambda x: x * 2, tracing_mode="symbolic")(torch.empty(3, 4))
    assert sizes.has_open_sizes(graph)
    compiled = []
    run = sizes.PerSizes(graph, lambda known: compiled.append(known) or (lambda tensors: known.forward(*tensors)))
    for rows in (2, 2, 5):
        given = [torch.ones(rows, 4)]
        assert torch.equal(run(given), torch.full((rows, 4), 2.0)) and not given
    assert len(compiled) == 1 and not sizes.has_open_sizes(compiled[0])
    assert "a graph runs in PyTorch: it was compiled for 1 kinds of sizes, which is the most" in caplog.messages


def test_results_of_sizes_that_depend_on_data_are_refused():
    layouts = [Layout((3, -1), (), (0, 1), torch.float32)]
    with pytest.raises(XeTileError, match="whose sizes are known when a graph is compiled, got one of"):
        cuda_calls.expect_known_sizes(layouts)


DOUBLES = """
told(lambda: compiled(lambda x: x * 2)(torch.randn(5, 6)))
told(lambda: compiled(lambda x: x * 2, strict=False)(torch.randn(5, 6)))
told(lambda: compiled(lambda x: x * 2, strict=False, target="sm_90a")(torch.randn(5, 6)))
"""


@pytest.mark.parametrize(
    ("has_driver", "capability", "message"),
    [
        (True, "80", "the GPU 'Fake 0' has compute capability 8.0; expected 9.0, an H100 or H200"),
        (False, "90", "no driver of Nvidia's GPUs"),
    ],
    ids=["an older GPU", "no driver"],
)
def test_without_a_hopper_pytorch_runs_graphs_unless_told_otherwise(has_driver, capability, message, driver, tmp_path):
    place = driver if has_driver else tmp_path / "none.so"
    strict, loose, asked = printed_by(DOUBLES, place, tmp_path / "log", FAKE_DRIVER_CAPABILITY=capability)
    assert message in strict[0] and message in asked[0]
    assert loose[0] == "fine" and loose[1][0].startswith("a graph runs in PyTorch: ") and message in loose[1][0]


def test_the_device_of_a_graph_is_that_of_its_tensors():
    assert devices.device_of([]) == torch.device("cpu")
    assert devices.device_of(tensors("cpu")) == torch.device("cpu")
    assert devices.device_of(tensors("cuda:1", ("cpu", ()), "cuda:1")) == torch.device("cuda:1")


@pytest.mark.parametrize("places", [("cuda:0", "cuda:1"), ("cuda:0", "cpu")])
def test_tensors_on_several_devices_are_refused(places):
    with pytest.raises(XeTileError, match="expected tensors on one device, got some on") as error:
        devices.device_of(tensors(*places))
    assert all(place in str(error.value) for place in places)


@pytest.mark.parametrize(
    ("target", "place", "expected"),
    [("sm_90a", "cpu", "cuda"), ("cpu", "cuda:0", "cpu"), ("pvc", "cuda:0", "cpu")],
)
def test_a_target_that_does_not_fit_the_tensors_is_refused(target, place, expected):
    with pytest.raises(
        XeTileError, match=f"target {target}: expected tensors on {expected}, got some on {place}: move"
    ):
        devices.expect_device(Target(target), torch.device(place))


def test_a_target_for_cuda_with_tensors_of_the_cpu_is_an_error_of_the_call():
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="target sm_90a: expected tensors on cuda, got"):
        torch.compile(lambda x: x * 2, backend=xetile.torch.backend, options={"target": "sm_90a"})(torch.ones(3))


def test_other_devices_are_refused():
    with pytest.raises(XeTileError, match="expected tensors on cpu or cuda, got some on meta"):
        devices.target_for(torch.device("meta"))


def test_several_devices_of_a_graph_are_pytorchs_unless_strict(monkeypatch, caplog):
    monkeypatch.setattr(devices, "place_of", lambda tensor: torch.device("cuda", len(tensor.shape)))
    function, inputs = lambda x, y: x + y, (torch.ones(3), torch.ones(2, 3))
    assert torch.equal(torch.compile(function, backend=xetile.torch.backend)(*inputs), torch.full((2, 3), 2.0))
    assert any("a graph runs in PyTorch: expected tensors on one device" in each.message for each in caplog.records)
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="got some on cuda:1, cuda:2: move the model"):
        torch.compile(function, backend=xetile.torch.backend, options={"strict": True})(*inputs)


def test_copies_between_devices_are_pytorchs():
    with FakeTensorMode():
        x = torch.empty(3, 4, device="cuda")
        graph = make_fx(lambda x: (x * 2).to("cpu") + 1)(x)
    found = devices.foreign_nodes(graph, torch.device("cuda:0"))
    assert [node.target.overloadpacket for node in found] == [torch.ops.aten._to_copy, torch.ops.aten.add]
    assert set(found.values()) == {"kernels have tensors on cuda:0 only, it has some on cpu"}
    assert not devices.has_foreign_arguments(graph, torch.device("cuda:0"))
    assert devices.has_foreign_arguments(graph, torch.device("cuda:1"))


def traced(function, *shapes, dtype=torch.float32):
    """The graph of CUDA tensors, as AOTAutograd decomposes it."""
    with FakeTensorMode():
        inputs = [torch.empty(shape, dtype=dtype, device="cuda") for shape in shapes]
        return make_fx(function, decomposition_table=decomposition_table("cuda"))(*inputs)


@pytest.fixture
def kernels(monkeypatch):
    """The kernels of what is compiled, instead of calls."""
    made = []
    monkeypatch.setattr(MODULE, "call_on_gpu", lambda kernel, *rest: made.append(kernel))
    return made


def compile_graph(graph):
    settings = kernel_options({"target": "sm_90a"})
    return MODULE._compile(graph, (), settings=settings, strict=True, device=torch.device("cuda:0"))


def test_numbers_that_a_graph_makes_are_the_kernels(kernels, caplog):
    """A quotient of a number makes it a tensor of the CPU, and a limit one of the GPU."""
    caplog.set_level("INFO", "xetile.torch")
    graph = traced(lambda x: torch.softmax(x, -1).clamp(max=0.5), (8, 40))
    on_cpu = [
        node for node in graph.graph.nodes if getattr(node.meta.get("val"), "device", None) == torch.device("cpu")
    ]
    assert on_cpu and any("device" in node.kwargs for node in graph.graph.nodes if node not in on_cpu)
    compile_graph(graph)
    assert len(kernels) == 1 and not caplog.messages


def test_numbers_of_the_cpu_that_go_elsewhere_are_pytorchs():
    def function(x):
        number = torch.full((), 2.0)
        return x * number, number

    with FakeTensorMode():
        graph = make_fx(function)(torch.empty(3, device="cuda"))
    found = devices.foreign_nodes(graph, torch.device("cuda:0"))
    assert {node.target.overloadpacket for node in found} == {torch.ops.aten.full, torch.ops.aten.mul}


CONVOLUTION = """
model = torch.nn.Sequential(torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU())
run("bf16", model.bfloat16().eval(), torch.randn(2, 8, 9, 12).bfloat16())
"""


def test_convolutions_of_narrow_floats_are_exact_ones_rounded_once(driver, tmp_path):
    ((_, error),) = printed_by(CONVOLUTION, driver, tmp_path / "log")
    assert error <= 2**-7
    log = (tmp_path / "log").read_text()
    # The image as f32, the filter, too; with the norm behind it the product.
    assert log.count("launch") == 3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("filters", "channels", "groups", "is_matrix"),
    [(16, 8, 1, True), (16, 8, 2, False), (8, 8, 8, False), (4, 8, 1, False)],
)
def test_convolutions_of_narrow_floats_are_on_the_matrix_unit(kernels, dtype, filters, channels, groups, is_matrix):
    def function(x, w):
        return torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], groups)

    shapes = (2, channels, 32, 32), (filters, channels // groups, 3, 3)
    compile_graph(traced(function, *shapes, dtype=dtype))
    assert ("mma.sync" in kernels[0].binaries["ptx"].decode()) == is_matrix


def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2), -1) @ v


def test_attentions_that_are_written_out_are_one_kernel(kernels, caplog):
    caplog.set_level("INFO", "xetile.torch")
    compile_graph(traced(attention, *[(4, 8, 512, 64)] * 3, dtype=torch.bfloat16))
    assert len(kernels) == 1 and not caplog.messages


def test_attentions_without_a_kernel_are_pytorchs_products_and_ours_between(kernels, caplog, monkeypatch):
    compile_ = MODULE.compiler.compile

    def compile_others(module, **options):
        if "batch_matmul" in str(module):
            raise XeTileError("not taken")
        return compile_(module, **options)

    monkeypatch.setattr(MODULE.compiler, "compile", compile_others)
    caplog.set_level("INFO", "xetile.torch")
    compile_graph(traced(attention, *[(4, 8, 512, 64)] * 3, dtype=torch.bfloat16))
    assert len(kernels) == 1
    assert len(caplog.messages) == 2 and "aten.bmm.default runs in PyTorch: no kernels of it" in caplog.messages[0]


def test_an_assertion_of_many_indices_says_what_cuda_takes():
    function = lambda x: [sum(x[(x[:, 0] * number).long()] for number in range(9))]  # noqa: E731
    graph = make_fx(function, tracing_mode="fake")(torch.ones(30, 4))
    assert 200 < len(checks.with_flag(graph)) < 255


def test_norms_of_cudnn_are_decomposed_and_attention_is_left():
    table = decomposition_table("cuda")
    assert torch.ops.aten.cudnn_batch_norm.default in table
    assert not [operation for operation in table if "attention" in str(operation)]
    assert [operation for operation in decomposition_table() if "attention" in str(operation)]
