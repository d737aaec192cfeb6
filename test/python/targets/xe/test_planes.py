# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of planes of rows and columns, as those of group norms: in the registers of one or of some subgroups. Run
on this machine's OpenCL device and compared with NumPy in f64."""

import re

import numpy as np
import pytest
import schedule_cases
from xetile.mlir import ir


@pytest.mark.parametrize(
    ("groups", "channels", "places", "dtype", "target", "layout"),
    [
        (3, 8, 128, "f32", "pvc", ""),
        (2, 4, 256, "f16", "bmg", ""),
        # Rows and columns that are no whole blocks.
        (2, 11, 37, "f32", "bmg", ""),
        (2, 4, 203, "bf16", "pvc", ""),
        (1, 2, 70, "f32", "pvc", ""),
        # Rows one behind the other, of which a store has parts.
        (2, 2, 256, "f32", "bmg", ""),
        (3, 4, 96, "f32", "pvc", ""),
        # Several subgroups share the columns.
        (2, 16, 200, "f32", "bmg", "1, 4"),
        # Three rows would be four.
        (2, 3, 100, "f32", "pvc", None),
    ],
)
def test_groups_are_reduced_in_registers(
    compile_kernel, monkeypatch, rng, groups, channels, places, dtype, target, layout
):
    """The layout of subgroups is "" for one, None where rows are reduced one by one."""
    monkeypatch.setenv("XETILE_BUILTINS", "portable")
    case = schedule_cases.norm(rng, "group", (2, groups), (channels, places), dtype)
    with ir.Context(), ir.Location.unknown():
        kernel = compile_kernel(ir.Module.parse(case.text), schedule="rows", target=target)
    assert not case.difference(np.asarray(kernel(*case.arrays)))
    tiles = kernel.stages["1-xetile-workgroup"]
    layouts = set(re.findall(r"sg_layout = \[([\d, ]*)\]", tiles))
    assert "scf.for" not in tiles
    if layout is not None:
        assert layouts == ({layout} if layout else set())
        # x is read once, a gain and a bias for each channel.
        assert tiles.count("xetile.load_tile") == 3
