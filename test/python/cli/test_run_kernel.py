# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile run K.spv`: arguments from the command line, results told and saved, refusals."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from xetile.cli import main
from xetile.system import tools

sys.path.append(str(Path(__file__).resolve().parents[2] / "runtime"))
import spirv_words  # noqa: E402
from gpu_runtime import compile_opencl  # noqa: E402

SOURCE = """
__attribute__((reqd_work_group_size(32, 1, 1))) kernel void axpy(global float *y, global const float *x, float a) {
  int i = get_global_id(0);
  y[i] += a * x[i];
}
kernel void turn(global short *x, local short *t) {
  int i = get_local_id(0);
  t[i] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[i] = t[get_local_size(0) - 1 - i];
}
"""

FOREIGN = """
#define OVERLOAD __attribute__((overloadable))
void OVERLOAD intel_sub_group_2d_block_prefetch_16b_8r16x1c(global void *, int, int, int, int2);
void OVERLOAD __spirv_ControlBarrierArriveINTEL(int, int, int);
void OVERLOAD __spirv_ControlBarrierWaitINTEL(int, int, int);
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global ushort *a) {
  intel_sub_group_2d_block_prefetch_16b_8r16x1c(a, 64, 8, 64, (int2)(0, 0));
  __spirv_ControlBarrierArriveINTEL(2, 2, 0x108);
  a[get_global_id(0)] = 1;
  __spirv_ControlBarrierWaitINTEL(2, 2, 0x104);
}
"""


@pytest.fixture(scope="module")
def spirv(tmp_path_factory):
    path = tmp_path_factory.mktemp("kernel") / "k.spv"
    path.write_bytes(compile_opencl(SOURCE))
    return str(path)


def test_arguments_of_every_kind(spirv, tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.arange(64, dtype="f4"))
    arguments = ["--arg", "f32:64:ones", "--arg", f"f32:64:{tmp_path / 'x.npy'}", "--arg", "f32:0.5"]
    out = ["--out", f"0={tmp_path / 'y.npy'}", "--out", "1"]
    assert main(["run", spirv, "--kernel", "axpy", "--grid", "2", *arguments, *out, "--repeat", "2"]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), 1 + np.arange(64) / 2)
    printed = capsys.readouterr().out
    assert "axpy(an array, an array, f32) on " in printed
    assert "argument 0: float32[64]: 1 to 32.5, mean 16.75; begins 1 1.5 2 2.5" in printed
    assert "argument 1: float32[64]: 0 to 63" in printed
    assert "note: the kernel requires no subgroup size: a GPU may choose another one" in printed


def test_local_memory_and_integers(spirv, capsys):
    command = ["run", spirv, "--kernel", "turn", "--grid", "1", "--block", "16", "--arg", "i16:4x4:iota"]
    assert main([*command, "--arg", "local:32", "--out", "0"]) == 0
    assert "argument 0: int16[4, 4]: 0 to 15, mean 7.5; begins 15 14 13 12" in capsys.readouterr().out


def test_what_is_rewritten_and_defined_is_explained(tmp_path, capsys):
    """Halves of a barrier become one, the message of a 2D block is the runtime's."""
    file = tmp_path / "k.spv"
    file.write_bytes(compile_opencl(FOREIGN, ["SPV_INTEL_split_barrier"], validate=False))
    assert main(["explain", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "k(an array): subgroups of 16, workgroups of any size\n" in printed
    assert "\n  rewritten OpControlBarrierArriveINTEL, OpControlBarrierWaitINTEL: a barrier at the wait\n" in printed
    assert printed.endswith("\n  defined intel_sub_group_2d_block_prefetch_16b_8r16x1c\n")


def test_what_is_dropped_is_explained_with_the_reason(tmp_path, capsys):
    file = tmp_path / "k.spv"
    file.write_bytes(spirv_words.with_capability(6441))
    assert main(["explain", str(file)]) == 0
    assert "\n  dropped capability CacheControlsINTEL: caches change no result\n" in capsys.readouterr().out


def test_a_kernel_that_every_device_takes_is_said_to_be_one(spirv, capsys):
    assert main(["explain", spirv]) == 0
    printed = capsys.readouterr().out
    assert "axpy(an array, an array, f32): subgroups of any size, workgroups of 32x1x1\n" in printed
    assert "  the kernel requires no subgroup size" in printed
    assert printed.endswith("\ntaken as it is\n")
    assert main(["explain", spirv, "--set", "a=1"]) == 1
    assert "--set" in capsys.readouterr().err


def test_the_seed_is_told_and_gives_the_same_numbers(spirv, capsys):
    command = ["run", spirv, "--kernel", "axpy", "--grid", "1", "--seed", "5", "--arg", "f32:32:random"]
    command += ["--arg", "f32:32:random", "--arg", "f32:2", "--out", "0"]
    told = []
    for _ in range(2):
        assert main(command) == 0
        told.append(capsys.readouterr().out.splitlines()[-1])
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("--kernel: expected one of axpy, turn", []),
        ("has no kernel 'nothing'", ["--kernel", "nothing"]),
        ("--grid: expected the number of workgroups", ["--kernel", "axpy"]),
        ("--grid: expected one to three positive integers", ["--kernel", "axpy", "--grid", "0"]),
        ("--block: the kernel requires no size", ["--kernel", "turn", "--grid", "1"]),
        ("--arg 0 'f31:4:zeros': expected a type", ["--kernel", "axpy", "--grid", "1", "--arg", "f31:4:zeros"]),
        ("expected a shape such as", ["--kernel", "axpy", "--grid", "1", "--arg", "f32:4x:zeros"]),
        ("expected a FILL of random", ["--kernel", "axpy", "--grid", "1", "--arg", "i32:4:0.5"]),
        ("nowhere.npy", ["--kernel", "axpy", "--grid", "1", "--arg", "i32:4:nowhere.npy"]),
        ("expected local:BYTES", ["--kernel", "axpy", "--grid", "1", "--arg", "local:x"]),
        ("--out: expected the number of an array, one of none", ["--kernel", "axpy", "--grid", "1", "--out", "0"]),
        ("expected 3 arguments", ["--kernel", "axpy", "--grid", "1"]),
        ("--schedule, --set, --dump-stages: expected none", ["--kernel", "axpy", "--set", "a=1"]),
    ],
)
def test_refusals(message, arguments, spirv, capsys):
    assert main(["run", spirv, *arguments]) == 1
    assert message in capsys.readouterr().err


def test_options_of_kernels_are_for_kernels(tmp_path, capsys):
    assert main(["run", str(tmp_path / "k.mlir"), "--grid", "1"]) == 1
    assert "--grid: expected none but for a kernel in SPIR-V or OpenCL C" in capsys.readouterr().err


def test_check_tells_what_leaves_an_array(spirv, tmp_path, capsys):
    command = ["check", spirv, "--kernel", "axpy", "--arg", "f32:64:ones", "--arg", "f32:64:iota", "--arg", "f32:1"]
    assert main([*command, "--grid", "2"]) == 0
    assert "checked: arrays, rules of 2D blocks, the order of subgroups" in capsys.readouterr().out
    assert main([*command, "--grid", "3"]) == 1
    message = capsys.readouterr().err
    assert "XETILE_CHECK: the kernel 'axpy'" in message
    assert re.search(r"which has 256 bytes: \d+ bytes behind it", message)
    assert main(["check", str(tmp_path / "k.mlir")]) == 1
    assert "expected a kernel, K.spv or K.cl" in capsys.readouterr().err


@pytest.mark.skipif(tools.find_ocloc() is None, reason="there is no ocloc")
def test_check_of_opencl_c_names_the_line(tmp_path, capsys):
    (tmp_path / "k.cl").write_text(SOURCE)
    command = ["check", str(tmp_path / "k.cl"), "--kernel", "axpy", "--arg", "f32:64:ones", "--arg", "f32:96:iota"]
    assert main([*command, "--arg", "f32:1", "--grid", "3"]) == 1
    # Which lanes of the subgroup touch the guard page first is the driver's matter.
    assert re.search(rf"\d+ bytes behind it, at {re.escape(str(tmp_path / 'k.cl'))}:4\. ", capsys.readouterr().err)
