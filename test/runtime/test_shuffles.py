# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shuffles whose results one branch alone uses: the driver for CPUs may not move them into it."""

import shutil
import subprocess

import numpy as np
import pytest
from xetile import runtime

NUMBERS = {
    "char": "i1",
    "ushort": "u2",
    "short": "i2",
    "int": "i4",
    "long": "i8",
    "half": "f2",
    "float": "f4",
    "double": "f8",
}
SHUFFLES = {
    "": (lambda lane, lanes: (lane * 5 + 3) % lanes, "(lane * 5u + 3u) % LANESu"),
    "_xor": (lambda lane, lanes: lane ^ 5, "5u"),
    "_up": (lambda lane, lanes: lane - 3, "3u"),
    "_down": (lambda lane, lanes: lane + 3, "3u"),
}
PAIR = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__attribute__((intel_reqd_sub_group_size(LANES))) kernel void moved(global NUMBER *out, global const NUMBER *x) {
  uint lane = get_sub_group_local_id();
  size_t i = get_local_id(0);
  NUMBER v = sub_group_shuffleKIND(x[i], PLACE);
  if (lane % 2 == 0) out[i] = v;
}
"""
LEAST = """
__attribute__((intel_reqd_sub_group_size(32))) kernel void least(global int *out, global const int *x) {
  int v = x[get_local_id(0)];
  for (uint d = 16; d > 0; d >>= 1) v = min(v, sub_group_shuffle_xor(v, d));
  if (get_local_id(0) == 0) out[0] = v;
}
"""
pytestmark = pytest.mark.skipif(not shutil.which("clang-22"), reason="no clang-22: scripts/bootstrap installs it")


def compiled(source: str, folder) -> runtime.Module:
    (folder / "k.cl").write_text(source)
    command = ["clang-22", "--target=spirv64", "-cl-std=CL3.0", "-O2", "-w", "-c", "k.cl", "-o", "k.spv"]
    subprocess.run(command, cwd=folder, check=True)
    return runtime.Module(folder / "k.spv")


def test_a_minimum_that_one_lane_stores(tmp_path, rng):
    module = compiled(LEAST, tmp_path)
    assert any("OpGroupNonUniformShuffle" in note for note in module.notes)
    for _ in range(3):
        x, out = rng.integers(-99, 99, 32).astype("i4"), np.full(1, 7, "i4")
        module["least"][1, 32](out, x)
        assert out[0] == x.min()


@pytest.mark.parametrize("lanes", [16, 32])
@pytest.mark.parametrize("kind", SHUFFLES)
def test_each_shuffle_and_number(tmp_path, rng, kind, lanes):
    source_of, place = SHUFFLES[kind]
    for number, dtype in NUMBERS.items():
        text = PAIR.replace("KIND", kind).replace("PLACE", place)
        module = compiled(text.replace("LANES", str(lanes)).replace("NUMBER", number), tmp_path)
        x, out = rng.integers(-90, 90, 2 * lanes).astype(dtype), np.full(2 * lanes, 7, dtype)
        module["moved"][1, 2 * lanes](out, x)
        lane = np.arange(2 * lanes) % lanes
        source = source_of(lane, lanes)
        there = (source >= 0) & (source < lanes)
        expected = np.where(lane % 2, np.asarray(7, dtype), x[(np.arange(2 * lanes) - lane + source) % (2 * lanes)])
        checked = there | (lane % 2 == 1)
        assert (out[checked] == expected[checked]).all(), number
