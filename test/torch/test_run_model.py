# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile run model.py:Model`."""

from __future__ import annotations

import re

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

from xetile import cli  # noqa: E402

LAYER = """\
import torch

class Model(torch.nn.Module):
    def __init__(self, n, wide=False):
        super().__init__()
        self.layer = torch.nn.Linear(n, n + 3, dtype=torch.float32)
        self.drop = torch.nn.Dropout(0.5)
        self.wide = wide

    def forward(self, x):
        return self.drop(torch.relu(self.layer(x))), x.sum(1)

def half():
    return torch.nn.Linear(24, 5, dtype=torch.bfloat16)

plain = torch.nn.Softmax(1)

def get_init_inputs():
    return [24]

def get_inputs():
    return [torch.rand(7, 24)]
"""


@pytest.fixture
def run(tmp_path, capsys):
    """The command on a file with such text: its status, what it printed, what it complained of."""

    def run_(text: str, *arguments: str, name: str = "") -> tuple[int, str, str]:
        path = tmp_path / "model.py"
        path.write_text(text)
        status = cli.main(["run", f"{path}{name}", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err.replace(str(path), "model.py")

    return run_


@pytest.mark.parametrize("name", ["", ":Model"])
def test_a_model_is_compared_with_pytorch(run, name):
    status, out, err = run(LAYER, "--check", "--repeat", "3", "--target", "cpu", "--set", "threads=1", name=name)
    assert (status, err) == (0, "")
    assert re.search(r"^model\(7x24xf32\) -> \(7x27xf32, 7xf32\) for cpu", out)
    assert re.search(r"call \d+\.\d{3} ms; PyTorch \d+\.\d{3} ms, \d+\.\d\d times as long", out)
    differences = [float(number) for number in re.findall(r"result \d: max\|d - ref\| / max\|ref\| = (\S+),", out)]
    assert len(differences) == 2 and max(differences) < 1e-5


def test_a_seed_repeats_a_run(run):
    outputs = [run(LAYER, "--seed", "5", name=":Model")[1].splitlines()[2:] for _ in range(2)]
    assert outputs[0] == outputs[1]
    assert all(line.endswith("PyTorch's, seed 5") for line in outputs[0])


def test_names_of_models_and_their_arguments(run):
    assert run(LAYER, "--check", name=":plain")[0] == 0
    text = LAYER.replace("return [24]", "return [[24], {'wide': True}]")
    assert run(text, "--check")[0] == 0
    text = LAYER.replace("return [24]", "return []").replace("torch.rand(7, 24)", "torch.rand(7, 24).bfloat16()")
    assert run(text, "--check", name=":half")[0] == 0


def test_stages_are_written(run, tmp_path):
    assert run(LAYER, "--dump-stages", str(tmp_path / "stages"))[0] == 0
    names = sorted(path.name for path in (tmp_path / "stages").iterdir())
    assert names == ["0-linalg.mlir", "1-tiled.mlir", "2-memory.mlir", "3-llvm.mlir"]


WRONG = [
    ("x = 1", "", "model.py: expected Model, the model: a class, or a function that makes one; it defines nothing"),
    (
        LAYER,
        ":Models",
        "model.py: expected Models, the model: a class, or a function that makes one; it defines Model, ",
    ),
    (
        LAYER.replace("get_inputs", "inputs"),
        "",
        "model.py: expected get_inputs, example inputs; it defines Model, half",
    ),
    (LAYER + "Model = 3\n", "", "model.py: Model: expected a class or a function that makes a model, got int"),
    (LAYER + "Model = dict\n", "", "model.py: Model() fails: TypeError: "),
    (LAYER + "def Model(n):\n    return n\n", "", "model.py: Model: expected a torch.nn.Module, got int"),
    (
        LAYER.replace("[torch.rand(7, 24)]", "torch.rand(7, 24)"),
        "",
        "get_inputs(): expected a list or tuple, got Tensor",
    ),
    (LAYER.replace("torch.rand(7, 24)", "1 / 0"), "", "model.py:22: get_inputs() fails: ZeroDivisionError: division"),
    (LAYER.replace("n + 3", "n + 'x'"), "", "model.py:6: Model() fails: TypeError: "),
    ("import nowhere", "", "model.py:1: reading it fails: ModuleNotFoundError: No module named 'nowhere'"),
    ("x = (", "", "model.py:1: reading it fails: SyntaxError: "),
    ("exit(3)", "", "model.py:1: reading it fails: SystemExit: 3"),
]


@pytest.mark.parametrize(("text", "name", "message"), WRONG)
def test_what_is_wrong_with_a_file(run, text, name, message):
    status, out, err = run(text, name=name)
    assert (status, out) == (1, "")
    assert message in err and "internal error" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--schedule", "matmul"], "--schedule: expected none for a PyTorch model"),
        (["--target", "tpu"], "target: unknown chip 'tpu'"),
        (["--target", "pvc", "--set", "threads=2"], "threads"),
        (["--set", "threads=two"], "--set threads=two: expected an integer, got 'two'"),
    ],
)
def test_options_that_do_not_go_with_models(run, arguments, message):
    status, _, err = run(LAYER, *arguments)
    assert status == 1 and message in err


def test_a_model_runs_as_a_kernel_for_a_gpu(run):
    status, out, err = run(LAYER, "--check", "--repeat", "1", "--target", "pvc")
    assert (status, err) == (0, "")
    assert " for pvc, on " in out and "this CPU" not in out.splitlines()[0]


def test_a_file_that_is_not_there(capsys, tmp_path):
    assert cli.main(["run", str(tmp_path / "none.py:Model")]) == 1
    assert "none.py: there is no such file" in capsys.readouterr().err
