# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of SPIR-V that Intel's CPU driver refuses: dropped where no result needs them, else named. Every row of the
tables is tried on the device."""

from __future__ import annotations

import numpy as np
import pytest
import spirv_words as spirv
from xetile import XeTileError, runtime

# Operands that the execution modes want.
OPERANDS = {4459: [32], 4460: [32], 4461: [32], 4462: [32], 4463: [32], 5893: [8, 1, 1], 5895: [], 6462: [1]}


def run(module: bytes) -> tuple[str, ...]:
    """Runs the kernel of spirv_words; the notes of its module."""
    loaded = runtime.Module(module)
    out = np.zeros(16, "u4")
    loaded["k"][1, 16](out)
    assert out[0] == 7
    return loaded.notes


def examine(module: bytes, what: str, name: str, fate: str) -> None:
    if fate == "Refused":
        with pytest.raises(XeTileError, match=rf"the SPIR-V {what} {name} \(\d+\), which does not run here: \w"):
            runtime.Module(module)
        return
    notes = run(module)
    if fate == "Dropped":
        assert [note for note in notes if note.startswith(f"dropped {what} {name}: ")] != []
    else:
        assert notes == ()


@pytest.mark.parametrize(("number", "name", "fate"), spirv.rows("capabilities"))
def test_capabilities(number, name, fate):
    examine(spirv.with_capability(number), "capability", name, fate)


@pytest.mark.parametrize(("number", "name", "fate"), spirv.rows("executionModes"))
def test_execution_modes(number, name, fate):
    examine(spirv.with_mode(number, *OPERANDS.get(number, [1])), "execution mode", name, fate)


@pytest.mark.parametrize(("number", "name", "fate"), [row for row in spirv.rows("decorations") if row[2] == "Dropped"])
def test_decorations(number, name, fate):
    examine(spirv.with_decoration(number, 0, 1), "decoration", name, fate)


@pytest.mark.parametrize(
    ("number", "name", "fate"), [row for row in spirv.rows("instructions") if row[2] in ("Refused", "Dropped")]
)
def test_instructions_that_are_refused_or_dropped(number, name, fate):
    examine(spirv.with_instruction(number, 1, 1), "instruction", name, fate)


@pytest.mark.parametrize("name", ["SPV_INTEL_of_tomorrow", *spirv.extensions()])
def test_extensions(name):
    """The driver ends the process at names that it does not know."""
    assert run(spirv.with_extension(name)) == ()


def test_unknown_decorations_are_dropped():
    # The driver ends the process at this one, whose operand is a string.
    (note,) = run(spirv.with_decoration(5625))
    assert note == "dropped decoration 5625: it is unknown to the driver"


@pytest.mark.parametrize(
    ("what", "module"),
    {
        "capability 9999": spirv.with_capability(9999),
        "execution mode 9999": spirv.with_mode(9999),
        "instruction 9999": spirv.with_instruction(9999, 1, 1),
    }.items(),
)
def test_what_nobody_knows_is_named(what, module):
    with pytest.raises(XeTileError, match=f"the SPIR-V {what}, which neither the OpenCL driver for CPUs nor"):
        runtime.Module(module)


@pytest.mark.parametrize("version", [0x10000, 0x10500, 0x10600])
def test_versions(version):
    assert run(spirv.with_version(version)) == ()


def test_modules_for_vulkan_are_told_from_kernels():
    with pytest.raises(XeTileError, match="is SPIR-V for Vulkan or OpenGL .* Expected a kernel for OpenCL"):
        runtime.Module(spirv.with_capability(1))
    physical32 = spirv.BASE.replace("Physical64", "Physical32")
    with pytest.raises(XeTileError, match="addressing model 1 .* Expected Physical64"):
        runtime.Module(spirv.assemble(physical32))


@pytest.mark.parametrize("length", [1, 2])
def test_instructions_that_are_cut_short_are_refused(length):
    for opcode in (6143, 6231, 6235, 6237):
        with pytest.raises(XeTileError, match="not a valid SPIR-V module: instruction .* is too short"):
            runtime.Module(spirv.with_instruction(opcode, *[1] * length))


def test_shapes_that_are_no_constants_are_refused():
    with pytest.raises(XeTileError, match="OpSubgroup2DBlockLoadINTEL whose shape is no constant"):
        runtime.Module(spirv.with_instruction(6231, *[1] * 10))
