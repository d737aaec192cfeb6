# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test/device/torch_compile.py takes for right, on tensors of this CPU."""

import math
import runpy
import sys
from pathlib import Path

import pytest
import torch

DEVICE = Path(__file__).parents[1] / "device"
sys.path.append(str(DEVICE))
SCRIPT = runpy.run_path(str(DEVICE / "torch_compile.py"), run_name="script")
errors, is_right = SCRIPT["errors"], SCRIPT["is_right"]


def row(ours, eager, again=None):
    return {"errors": ours, "errors again": ours if again is None else again, "errors eager": eager}


def test_errors_are_parts_of_each_result():
    exact = [torch.tensor([1.0, -4.0]), torch.tensor([0.01, 0.02])]
    got = [torch.tensor([1.0, -4.4]), torch.tensor([0.01, 0.03])]
    assert errors(got, exact) == pytest.approx([0.1, 0.5])


def test_what_is_zero_but_for_rounding_hides_no_other_result():
    """A gradient of 1e-17 that is computed as 1e-9 is no error of 1e8, which would excuse all others."""
    exact = [torch.tensor([1.0], dtype=torch.float64), torch.tensor([1e-17], dtype=torch.float64)]
    off = errors([torch.tensor([1.5]), torch.tensor([1e-9])], exact)
    assert off == pytest.approx([0.5, 1e-6], rel=1e-3)
    assert not is_right("f32", row(off, errors([torch.tensor([1.0]), torch.tensor([1e-9])], exact)))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_no_number_is_no_result(number):
    assert errors([torch.tensor([number])], [torch.tensor([1.0], dtype=torch.float64)]) == [math.inf]


def test_each_result_has_its_own_bound():
    assert is_right("f32", row([1e-5, 3e-4], [0.0, 1.5e-4]))
    assert not is_right("f32", row([3e-4, 1e-5], [0.0, 1.5e-4]))
    assert is_right("bf16", row([7e-3], [0.0])) and not is_right("bf16", row([9e-3], [0.0]))


@pytest.mark.parametrize(
    "bad", [{}, row([], []), row([1e-6], [0.0], again=[1e-3]), {"errors": [0.0], "errors eager": [0.0]}]
)
def test_both_calls_must_be_right(bad):
    assert not is_right("f32", bad)
