# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of linalg on GPUs' targets against NumPy: some in `make test`, some six hundred as `exhaustive`."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

FOLDER = str(Path(__file__).parent)
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)

import catalog  # noqa: E402
import trying  # noqa: E402
from payloads import Case, exactly, nearly  # noqa: E402

DRAWN = 30


def run(*options: str, seed: int) -> None:
    """In processes of their own: what ends one of them is told with the case."""
    program = [sys.executable, FOLDER, *options, "--jobs", "1", "--seed", str(seed)]
    done = subprocess.run(program, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    # A form that is no more would try nothing.
    assert re.search(r"linalg-ops: \d+ ops, [1-9]\d* cases: [1-9]\d* right, 0 wrong, 0 crashed", done.stdout)


def test_each_registered_op_has_payloads_or_a_reason():
    assert catalog.undecided() == []
    assert len(catalog.registered()) >= 99


def test_an_op_that_nobody_decided_about_is_told(monkeypatch):
    monkeypatch.setattr(catalog, "registered", lambda: {spec.op for spec in catalog.specs()} | {"linalg.new"})
    assert catalog.undecided() == ["linalg.new", "linalg.yield"]


def test_a_kind_of_elementwise_that_nobody_decided_about_is_told(monkeypatch):
    kinds = catalog.elementwise_kinds()
    monkeypatch.setattr(catalog, "elementwise_kinds", lambda: kinds | {"sinh"})
    assert catalog.undecided() == ["linalg.elementwise of kind sinh"]


def test_what_differs_is_told():
    numbers = np.array([1.0, np.nan, np.inf, 4.0])
    floats, integers = nearly(numbers, "f16"), exactly([1, 2], "i8")
    case = Case("", (), (floats, integers))

    def told(x, y):
        return trying.difference(case, (np.array(x, np.float16), np.array(y, np.int8)))

    assert told(numbers, [1, 2]) is None
    assert told([1.001, np.nan, np.inf, 4], [1, 2]) is None
    assert told([1.01, np.nan, np.inf, 4], [1, 2]) == "result 0: 1 of 4 wrong; expected 1.0, got 1.009765625 at (0,)"
    assert "expected nan, got 3.0 at (1,)" in (told([1, 3, np.inf, 4], [1, 2]) or "")
    assert "expected inf, got -inf at (2,)" in (told([1, np.nan, -np.inf, 4], [1, 2]) or "")
    assert "expected inf, got 9.0 at (2,)" in (told([1, np.nan, 9, 4], [1, 2]) or "")
    assert told(numbers, [1, 3]) == "result 1: 1 of 2 wrong; expected 2, got 3 at (1,)"


def test_drawn_cases_are_right(seed):
    run("--draw", str(DRAWN), seed=seed)


def test_no_kernel_ends_the_compiler_of_the_opencl_driver():
    """It had no instruction for a copy between registers of AVX-512 (cpp/runtime/Icd.cpp)."""
    form = "i16 x i16 -> i16"
    run("--op", "conv_2d_ngchw_gfchw", "--form", form, "--shapes", "odd", "--target", "pvc", seed=29112901)


def test_dimensions_of_one_element_are_not_mistaken_for_others():
    """Of a padded dimension of one element each tile sees it, and another one of a size."""
    run("--op", "pack", "--form", "f64 rank 5", "--shapes", "odd", seed=29112902)


@pytest.mark.parametrize("form", ["by code bf16 rank 3", "by code i32 rank 2", "largest and its place f32 rank 3"])
def test_reductions_by_code_of_any_kind_go_in_order(form, seed):
    run("--op", "reduce", "--form", form, seed=seed)


def by_form() -> list[list[catalog.Trial]]:
    """The cases of an op in some types, whatever the ranks, sizes and targets."""

    def form(trial: catalog.Trial) -> tuple[str, str]:
        return trial.op, re.sub(r" rank \d", "", trial.form)

    return [list(group) for _, group in groupby(sorted(catalog.trials(), key=form), key=form)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(40))
def test_a_case_of_every_other_op_and_type_is_right(part, seed):
    drawn = random.Random(seed)
    groups = by_form()[part::40]
    told = [(trial, trying.attempt(trial, seed)) for trial in map(drawn.choice, drawn.sample(groups, len(groups) // 2))]
    found = [f"{each}: {row['state']}: {row['reason']}\n{row['text']}" for each, row in told if row["state"] != "right"]
    assert found == []
