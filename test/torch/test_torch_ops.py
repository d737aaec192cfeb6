# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make torch-ops` itself: that it sees what is wrong, and outlives what crashes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("expecttest", reason="PyTorch's operator database imports it: make test-torch installs it")

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "test" / "torch_ops"), str(ROOT / "test" / "fuzz")]

import checking  # noqa: E402
import comparing  # noqa: E402
import database  # noqa: E402
import pool  # noqa: E402
import reports  # noqa: E402


def test_the_command_prints_a_table_resumes_and_ends_with_zero(tmp_path):
    found = tmp_path / "found.jsonl"
    command = [sys.executable, ROOT / "test" / "torch_ops", "--op", "add", "--type", "float32", "int64"]
    command += ["--seed", "3", "--jobs", "1", "--json", found]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "torch-ops: 1 operators, 2 samples: 2 right" in run.stdout
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True, env=environment)
    assert "0 operators with a type" in again.stdout and len(found.read_text().splitlines()) == 2


def test_operators_are_compiled_for_a_gpu_too(monkeypatch):
    asked, compile_one = [], checking.compiler.compile

    def watched(module, **options):
        asked.append(str(options["target"]))
        return compile_one(module, **options)

    monkeypatch.setattr(checking.compiler, "compile", watched)
    sample = SimpleNamespace(input=torch.rand(3, 5), args=(torch.rand(5),), kwargs={})
    told = checking.check("add", sample, 1, "bmg")
    assert told == {"state": "right", "by": "kernels", "left": []} and asked == ["bmg"]


def test_several_targets_are_one_call_and_a_table(monkeypatch):
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # as workers have them
    kind = pool.Samples(seed=1, count=1, time_limit=60, targets=("pvc", "bmg"))
    assert kind.pairs(["add"], ["int8"], None) == [("add", "int8", "pvc"), ("add", "int8", "bmg")]
    rows = [
        {"target": "pvc", "state": "right", "by": "kernels"},
        {"target": "pvc", "state": "wrong"},
        {"target": "bmg", "state": "right", "by": "PyTorch"},
    ]
    table = reports.targets(rows).splitlines()
    assert " ".join(table[1].split()) == "samples right kernels both PyTorch random wrong crashed refused"
    assert [line.split() for line in table[2:]] == [
        ["pvc", "2", "1", "1", "0", "0", "0", "1", "0", "0"],
        ["bmg", "1", "1", "0", "0", "1", "0", "0", "0", "0"],
    ]


@pytest.mark.parametrize("name", ["exp", "atan2", "sum"])
def test_shapes_have_all_ranks_with_ones_and_zeros(name):
    found = [sample.input.shape for sample in database.samples(name, "float32", 5, shapes=True)]
    assert found == [sample.input.shape for sample in database.samples(name, "float32", 5, shapes=True)]
    assert {len(shape) for shape in found} == set(range(6))
    for rank in range(1, 6):
        mine = [shape for shape in found if len(shape) == rank]
        assert any(0 in shape for shape in mine) and any(set(shape) == {1} for shape in mine)
        assert any(all(size % 2 and size > 1 for size in shape) for shape in mine)
    assert len(database.chosen(name, "float32", 5, 1, shapes=True)) == len(found)
    assert database.pairs([name, "matmul"], ["float32"], shapes=True) == [(name, "float32")]


def test_an_unknown_operator_is_an_error():
    with pytest.raises(ValueError, match="expected names of PyTorch's operator database, got nonsense"):
        database.names(["add", "nonsense"], None, 1)


def test_drawn_operators_and_chosen_samples_depend_on_the_seed_alone():
    assert database.names(None, 5, 7) == database.names(None, 5, 7) != database.names(None, 5, 8)
    first = database.chosen("sum", "float32", 7, 4)
    assert first == database.chosen("sum", "float32", 7, 4) and len(set(first)) == 4


def off_by_one(graph, inputs):
    return lambda *args: tuple(each + 1 if each.dtype.is_floating_point else each for each in graph(*args))


def other_type(graph, inputs):
    return lambda *args: tuple(each.double() for each in graph(*args))


def transposed(graph, inputs):
    return lambda *args: tuple(each.reshape(1, *each.shape) for each in graph(*args))


def writes(graph, inputs):
    def run(*args):
        results = tuple(each.clone() for each in graph(*args))
        args[0].detach().fill_(0.5)
        return results

    return run


def raises(graph, inputs):
    raise RuntimeError("no such thing")


@pytest.mark.parametrize(
    ("backend", "state", "reason"),
    [
        (off_by_one, "wrong", "values"),
        (other_type, "wrong", "expected torch.float32, got torch.float64"),
        (transposed, "wrong", "expected shape"),
        (writes, "wrong", "values"),
        (raises, "refused", "no such thing"),
        ("eager", "right", ""),
    ],
)
def test_a_backend_with_a_fault_is_told(backend, state, reason, monkeypatch):
    monkeypatch.setattr(checking.xetile.torch, "backend", backend)
    sample = SimpleNamespace(input=torch.rand(3, 4), args=(torch.rand(4),), kwargs={})
    row = checking.check("add", sample, 1)
    assert row["state"] == state and reason in row.get("reason", ""), row


def test_gradients_are_compared(monkeypatch):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x.clone()

        @staticmethod
        def backward(context, gradient):
            return 2 * gradient

    monkeypatch.setattr(
        checking, "_compiled", lambda function, backend, options=None: (
            function if backend == "aot_eager" else lambda *args, **kwargs: Doubled.apply(function(*args, **kwargs))
        )
    )  # fmt: skip
    sample = next(database.samples("sin", "float32", 1))
    row = checking.check("sin", sample, 1)
    assert row["state"] == "wrong" and row["reason"].startswith("result 1: values"), row


def test_the_distance_to_f64_decides_where_eager_is_not_near(rng):
    exact = torch.tensor([1.0], dtype=torch.float64)
    eager, ours, far = (torch.tensor([value], dtype=torch.float16) for value in (1.02, 1.0, 1.06))
    assert comparing.difference([ours], [eager], lambda: [exact]) is None
    assert comparing.difference([far], [eager], lambda: [exact]) is not None
    nan = torch.tensor([float("nan")], dtype=torch.float16)
    assert comparing.difference([nan], [eager], lambda: [exact]) is not None
    assert comparing.difference([nan], [nan], lambda: [exact]) is None
    assert comparing.difference([ours], [nan], lambda: [exact]) is None  # f64 has a number there


def test_eager_s_error_is_the_largest_of_arguments_nearby():
    exact = torch.tensor([1.0], dtype=torch.float64)
    eager, ours, far = (torch.tensor([value], dtype=torch.float16) for value in (1.0, 1.01, 1.02))

    def neighbours():
        return [([torch.tensor([value], dtype=torch.float16)], [exact]) for value in (1.0, 1.006, 1.001)]

    assert comparing.difference([ours], [eager], lambda: [exact]) is not None
    assert comparing.difference([ours], [eager], lambda: [exact], neighbours) is None
    assert comparing.difference([far], [eager], lambda: [exact], neighbours) is not None


def other_order(graph, inputs):
    return lambda x, y: tuple(graph(x.flip(1).contiguous(), y.flip(0).contiguous()))


def rounded_terms(graph, inputs):
    return lambda x, y: tuple(graph(x.bfloat16().float(), y))


def without_a_term(graph, inputs):
    return lambda x, y: tuple(graph(x[:, 1:].contiguous(), y[1:].contiguous()))


def in_narrow(graph, inputs):
    return lambda x, y: tuple(each.half().float() for each in graph(x, y))


@pytest.mark.parametrize(
    ("backend", "state"),
    [(other_order, "right"), (rounded_terms, "wrong"), (without_a_term, "wrong"), (in_narrow, "wrong")],
)
def test_another_order_of_a_sum_is_right_and_what_is_lost_is_noticed(backend, state, monkeypatch):
    monkeypatch.setattr(checking.xetile.torch, "backend", backend)
    # Sums whose terms cancel: eager has few digits, too.
    sample = SimpleNamespace(input=torch.randn(40, 300), args=(torch.randn(300, 30),), kwargs={})
    assert checking.check("mm", sample, 1)["state"] == state


class Deadly(pool.Samples):
    """Samples without PyTorch: the second one ends the process, the third hangs."""

    def prepare(self):
        pass

    def value(self, asked):
        if asked[3] is None:
            return [0, 1, 2, 3]
        if asked[3] == 1:
            os.abort()
        while asked[3] == 2:
            time.sleep(0.01) if time.process_time() < 0 else None
        return {"state": "right"}


def test_what_ends_a_process_or_hangs_is_one_sample():
    rows = list(
        pool.checked(Deadly(seed=1, count=4, time_limit=1.0), [("one", "int8", None), ("two", "int8", None)], 2)
    )
    states = {(row["op"], row["sample"]): (row["state"], row.get("reason", "")) for row in rows}
    assert len(states) == 8
    for name in ("one", "two"):
        assert [states[name, number][0] for number in range(4)] == ["right", "crashed", "crashed", "right"]
        assert "died by SIGABRT" in states[name, 1][1] and "takes longer than" in states[name, 2][1]
