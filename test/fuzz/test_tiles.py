# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A workgroup kernel, or a function of a subgroup, that computes wrongly is a finding."""

from __future__ import annotations

import subgroup_functions
import workgroup_kernels
from xetile import XeTileError

MATRIX = {"size": [8, 16], "pitch": 16, "order": [1, 0]}
ACCESS = {"id": 1, "op": "load", "shape": [8, 16], "t": "f32", "matrix": MATRIX, "at": [0, 0]}
MAP = [[1, 2], [8, 8]]
WORKGROUP = {
    "grid": [1, 1], "subgroups": 2, "data": "integers", "seed": 1, "stage": "subgroup", "chip": "pvc",
    "nodes": [
        {**ACCESS, "map": MAP, "padding": None, "prefetch": None, "by": [0, 0], "carried": False},
        {"id": 2, "op": "transpose", "in": [1], "shape": [16, 8], "t": "f32", "map": [[2, 1], [8, 8]]},
        {"id": 3, "op": "store", "in": [2], "shape": [16, 8], "t": "f32", "map": [[2, 1], [8, 8]], "at": [0, 0],
         "matrix": {"size": [16, 8], "pitch": 8, "order": [1, 0]}},
    ],
}  # fmt: skip
PLAIN = {"by": "nd", "turned": False, "padding": 0}
SUBGROUP = {
    "data": "integers", "seed": 1, "chip": "pvc",
    "nodes": [
        {**ACCESS, **PLAIN, "matrix": {"size": [8, 16], "pitch": 16}},
        {"id": 2, "op": "transpose", "in": [1], "shape": [16, 8], "t": "f32", "order": [1, 0]},
        {"id": 3, "op": "store", "in": [2], "shape": [16, 8], "t": "f32", "at": [0, 0], **PLAIN,
         "matrix": {"size": [16, 8], "pitch": 8}},
    ],
}  # fmt: skip


def test_a_wrong_stage_is_named(monkeypatch):
    kind = workgroup_kernels.WorkgroupKernels()
    kind.prepare()
    for stage in workgroup_kernels.STAGES:
        assert kind.check(WORKGROUP | {"stage": stage}) is None
    right = kind.workgroups.COLUMNS["subgroup"]

    def wrong(kernel, rng):
        arrays = right(kernel, rng)
        arrays["M3"][3, 5] += 1
        return arrays

    monkeypatch.setitem(kind.workgroups.COLUMNS, "subgroup", wrong)
    for stage in ("subgroup", "blocked"):
        monkeypatch.setitem(kind.workgroups.COLUMNS, "blocked", wrong)
        found = kind.check(WORKGROUP | {"stage": stage})
        assert found.startswith("wrong result at stage subgroup: f32\nmatrix M3: 1 of 128 elements"), found


def test_a_wrong_function_is_a_finding(monkeypatch):
    kind = subgroup_functions.SubgroupFunctions()
    kind.prepare()
    assert kind.check(SUBGROUP) is None
    right = kind.programs.run

    def wrong(*arguments, **arrays):
        right(*arguments, **arrays)
        arrays["M3"][2, 7] += 1

    monkeypatch.setattr(kind.programs, "run", wrong)
    assert kind.check(SUBGROUP).startswith("wrong result: f32\nmatrix M3: 1 of 128 elements")


def test_an_unknown_refusal_is_a_finding(monkeypatch):
    def refuse(*arguments, **arrays):
        raise XeTileError("cannot")

    functions = subgroup_functions.SubgroupFunctions()
    functions.prepare()
    monkeypatch.setattr(functions.programs, "run", refuse)
    assert functions.check(SUBGROUP).startswith("refused: cannot")
    kernels = workgroup_kernels.WorkgroupKernels()
    kernels.prepare()
    monkeypatch.setitem(kernels.workgroups.COLUMNS, "device", refuse)
    assert kernels.check(WORKGROUP | {"stage": "device"}).startswith("refused at stage device: cannot")
