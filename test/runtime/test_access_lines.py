# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of XETILE_CHECK=1 name the source line of a module with debug lines: those of OpLine, as Triton and Intel's
compilers write them with -g, and of NonSemantic.Shader.DebugInfo."""

from __future__ import annotations

import functools
import re
import subprocess

import numpy as np
import pytest
from gpu_runtime import aligned, compile_opencl, instructions, tool
from xetile import XeTileError, runtime

pytestmark = pytest.mark.usefixtures("checks")

SOURCE = """
#define OVERLOAD __attribute__((overloadable))
#define SG16 __attribute__((intel_reqd_sub_group_size(16)))
void OVERLOAD intel_sub_group_2d_block_read_8b_8r16x1c(global void *, int, int, int, int2, private uchar *);
int OVERLOAD __spirv_AtomicIAdd(global int *, int, int, int);
ushort8 OVERLOAD intel_sub_group_block_read_us8(const global ushort *);
SG16 kernel void load(global float *to, global float *from, int offset) {
  if (get_local_id(0) == 3) to[0] = from[7] + from[offset];
}
SG16 kernel void store(global float *to, global float *from, int offset) {
  if (get_local_id(0) == 3) { to[1] = 2; to[offset] = from[0]; }
}
SG16 kernel void add(global int *to, global int *from, int offset) {
  if (get_local_id(0) == 3) to[1] = __spirv_AtomicIAdd(from + offset, 1, 0, 1);
}
SG16 kernel void three(global float *to, global float *from, int offset) {
  if (get_local_id(0) == 3) vstore3(vload3(offset, from), 0, to);
}
SG16 kernel void give(global float *to, global float *from, int offset) {
  if (get_local_id(0) == 3) vstore3(vload3(0, from), offset, to);
}
SG16 kernel void wide(global ushort *to, global ushort *from, int offset) {
  ushort8 v = intel_sub_group_block_read_us8(from + offset);
  to[get_local_id(0)] = v.s0 + v.s7;
}
SG16 kernel void block(global uchar *to, global uchar *from, int height, int x) {
  uchar v[8];
  intel_sub_group_2d_block_read_8b_8r16x1c(from, 64, 16, 64, (int2)(16, 0), v);
  uchar first = v[0];
  intel_sub_group_2d_block_read_8b_8r16x1c(from, 64, height, 64, (int2)(x, 0), v);
  to[get_local_id(0)] = first + v[1];
}
"""
ACCESSES = re.compile(
    r"Op(Load %float|Store|AtomicIAdd|SubgroupBlockReadINTEL|FunctionCall|ExtInst %v3float|ExtInst %void)"
)
HEAD = {"OpLine": [], "DebugLine": ['%names = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"']}


@functools.cache
def module(form: str, source: str = SOURCE) -> tuple[runtime.Module, tuple[str, ...]]:
    """The module, each access in a line of its own of the file "k.cl", and these lines' instructions."""
    spirv = compile_opencl(source, ["SPV_INTEL_subgroups"], validate=False)
    text = subprocess.run([tool("spirv-dis"), "-"], input=spirv, capture_output=True, check=True).stdout.decode()
    out: list[str] = []
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if "OpMemoryModel" in line:
            out += [*HEAD[form], line]
            continue
        if not inside and re.search(r"Op(Source|Name) ", line) and '%file = OpString "k.cl"' not in out:
            out.append('%file = OpString "k.cl"')
        inside |= "= OpFunction " in line
        if inside and ACCESSES.search(line):
            lines.append(line)
            number = len(lines)
            if form == "OpLine":
                out.append(f"OpLine %file {number} 1")
            else:
                out.append(f"%line{number} = OpExtInst %void %names DebugLine %source %n{number} %n{number} %n1 %n1")
        out.append(line)
    if form == "DebugLine":
        at = next(number for number, line in enumerate(out) if "= OpFunction " in line)
        constants = [f"%n{number} = OpConstant %uint {number}" for number in range(1, len(lines) + 1)]
        out[at:at] = [*constants, "%source = OpExtInst %void %names DebugSource %file"]
        at = next(number for number, line in enumerate(out) if "OpExtInstImport" in line)
        out.insert(at, 'OpExtension "SPV_KHR_non_semantic_info"')
    command = [tool("spirv-as"), "--target-env", "spv1.4", "-o", "-", "-"]
    run = subprocess.run(command, input="\n".join(out).encode(), capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return runtime.Module(run.stdout), tuple(lines)


def told(form: str, name: str, *arguments: object, source: str = SOURCE) -> str:
    """The instruction in the line that the error names."""
    built, lines = module(form, source)
    with pytest.raises(XeTileError) as raised:
        built[name][1, 16](*arguments)
    found = re.search(r", at k\.cl:(\d+)[.:] ", str(raised.value))
    assert found, str(raised.value)
    return lines[int(found[1]) - 1]


@pytest.mark.parametrize("form", HEAD)
@pytest.mark.parametrize(
    ("name", "dtype", "offset", "instruction"),
    [
        ("load", "f4", 5000, "OpLoad %float"),
        ("load", "f4", -9, "OpLoad %float"),
        ("store", "f4", 1000, "OpStore"),
        ("add", "i4", 4096, "OpAtomicIAdd"),
        ("three", "f4", 400, "vloadn"),
        ("give", "f4", 400, "vstoren"),
        ("wide", "u2", 1024, "OpSubgroupBlockReadINTEL"),
    ],
)
def test_the_line_of_an_access_outside_is_told(form, name, dtype, offset, instruction):
    x, y = np.zeros(1000, dtype), np.zeros(1000, dtype)
    assert instruction in told(form, name, y, x, offset)


@pytest.mark.parametrize("form", HEAD)
def test_of_two_accesses_the_one_outside_is_told(form):
    x, y = np.zeros(1000, "f4"), np.zeros(1000, "f4")
    line = told(form, "load", y, x, 5000)
    loads = [one for one in module(form)[1] if "OpLoad %float" in one]
    assert line == loads[1]


@pytest.mark.parametrize("form", HEAD)
@pytest.mark.parametrize("offset", [1008, 5000, -9, -5000])
def test_the_line_of_an_access_outside_is_told_by_a_proof(form, offset):
    """Behind launches whose copies take longer than a run; of 4032 bytes, which have guards on one side at a time."""
    source = SOURCE[: SOURCE.index("SG16 kernel void add")]  # where messages of blocks are checked, nothing is proven
    big = [np.zeros(1 << 20, "f4") for _ in range(2)]
    for _ in range(2):
        module(form, source)[0]["load"][1, 16](*big, 8)
    line = told(form, "load", np.zeros(1008, "f4"), np.zeros(1008, "f4"), offset, source=source)
    assert line == [one for one in module(form, source)[1] if "OpLoad %float" in one][1]


@pytest.mark.parametrize("form", HEAD)
@pytest.mark.parametrize(("height", "x"), [(40, 0), (16, 3)])
def test_the_line_of_a_block_message_is_told(form, height, x):
    a, out = aligned(np.zeros((16, 64), "u1")), np.zeros(16, "u1")
    line = told(form, "block", out, a, height, x)
    calls = [one for one in module(form)[1] if "OpFunctionCall" in one]
    assert line == calls[1]


def test_modules_without_lines_name_none():
    plain = runtime.Module(compile_opencl(SOURCE, ["SPV_INTEL_subgroups"], validate=False))
    with pytest.raises(XeTileError, match=r"16000 bytes behind it\. Its results are not to be used"):
        plain["load"][1, 16](np.zeros(1000, "f4"), np.zeros(1000, "f4"), 5000)


@pytest.mark.parametrize("form", HEAD)
def test_the_driver_is_given_no_lines(form):
    line, import_of_instructions, extended = 8, 11, 12
    given = instructions(module(form)[0].spirv)
    assert line not in given
    assert given.count(import_of_instructions) == 1  # OpenCL's
    assert given.count(extended) == instructions(module("OpLine")[0].spirv).count(extended)
