# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All that schedules are for, by name, by match and from Python: what they give against NumPy in f64, on all chips."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
import schedule_draws
import xetile
from schedule_draws import TARGETS, WORKLOADS
from test_schedule_functions import WRITTEN
from xetile import XeTileError
from xetile.mlir import ir

SHAPES = 10


def drawn(name, shape, target):
    """A draw that stays the same; `make fuzz KIND=schedules` has fresh ones."""
    return schedule_draws.draw(random.Random(f"{name} {shape}"), name) | {"target": target}


def parse(text):
    with ir.Context():
        return ir.Module.parse(text)


def check(compile_kernel, monkeypatch, draw):
    # They link in half of the time.
    monkeypatch.setenv("XETILE_BUILTINS", "portable")
    case = schedule_draws.case_of(draw)
    schedule = WORKLOADS[draw["workload"]].schedule
    kernel = compile_kernel(
        parse(case.text), schedule=schedule, target=draw["target"], params={**draw["params"], **case.params}
    )
    kept = [array.tobytes() for array in case.arrays]
    out = np.asarray(kernel(*case.arrays))
    assert kept == [array.tobytes() for array in case.arrays]
    assert not case.difference(out), draw


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", WORKLOADS)
def test_by_name(compile_kernel, monkeypatch, name):
    number = list(WORKLOADS).index(name)
    check(compile_kernel, monkeypatch, drawn(name, number, TARGETS[number % len(TARGETS)]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", range(SHAPES))
@pytest.mark.parametrize("name", WORKLOADS)
def test_by_name_on_all_chips(compile_kernel, monkeypatch, name, shape, target):
    check(compile_kernel, monkeypatch, drawn(name, shape, target))


def is_filled_up(dtype: str = "", channels: int = 0, filters: int = 0, **_: object) -> bool:
    """True for a convolution on the matrix unit, whose channels and filters get zeros behind them first."""
    return dtype in ("f16", "bf16") and min(channels, filters) >= 16


@pytest.mark.parametrize("name", WORKLOADS)
def test_by_match(name):
    """Where no schedule is named the payload decides: on the same, or on one for programs that has its steps."""
    for shape in range(SHAPES):
        draw = drawn(name, shape, "pvc")
        case = schedule_draws.case_of(draw)
        suggested = xetile.schedule.suggest(parse(case.text))
        # Of scans, those that are not short are cut into blocks; a sum of one product is none.
        program = name == "scan" or draw["sizes"].get("k") == 1 or is_filled_up(**draw["sizes"])
        assert suggested == WORKLOADS[name].by_match or (program and suggested == "gpu_model"), draw


@pytest.mark.parametrize("name", WORKLOADS)
def test_from_python(name):
    """The schedule that is a function makes the kernels of the one that is a file."""
    schedule = WORKLOADS[name].schedule
    for shape in range(3):
        draw = drawn(name, shape, TARGETS[shape % len(TARGETS)])
        case = schedule_draws.case_of(draw)
        params = {**draw["params"], **case.params, "target": draw["target"]}
        made = [
            str(each.with_params(**params).apply(parse(case.text)))
            for each in (WRITTEN[schedule], xetile.schedule.load(schedule))
        ]
        assert made[0] == made[1]


def test_the_table_of_the_readme_is_what_is_tested():
    text = (Path(__file__).parents[3] / "schedules" / "README.md").read_text()
    rows = re.findall(r"^\| ([\w ]+) \| `(\w+)` \| [^|]+ \| `(\w+)` \|$", text, re.MULTILINE)
    assert rows == [(name, workload.schedule, workload.by_match) for name, workload in WORKLOADS.items()]


def test_schedules_that_come_along_are_for_something():
    """All but those that are for CPUs, or for programs; a new one may have its numbers in a test of its own."""
    named = {workload.schedule for workload in WORKLOADS.values()}
    assert named == {
        "attention", "convolution", "elementwise", "gather", "matmul", "mlp", "rows", "scan", "windows"
    }  # fmt: skip
    assert named <= set(xetile.schedule.available()) & set(WRITTEN)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("perceptron", {"hidden": 1048577}, "block = 1048577: expected at most 1048576"),
        ("perceptron", {"hidden": -1}, "hidden: expected 0 or more, got -1"),
        ("perceptron", {"prefetch": 65}, "prefetch: expected 0 to 64, got 65"),
        ("softmax", {"workgroup_m": -1}, "workgroup_m: expected 0 or more, got -1"),
        ("decode", {"split_keys": 1025}, "split_keys: expected 0 to 1024, got 1025"),
    ],
)
def test_knobs_out_of_range_are_refused(name, params, message):
    case = schedule_draws.case_of(drawn(name, 0, "pvc"))
    with pytest.raises(XeTileError) as error:
        xetile.compile(parse(case.text), WORKLOADS[name].schedule, "pvc", {**case.params, **params}, native="off")
    assert message in str(error.value)
