# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules with integers of odd numbers of bits that are refused, cut short, or have none of them."""

from __future__ import annotations

import contextlib

import pytest
import spirv_words
from gpu_runtime import assemble
from odd_kernels import Kernel
from xetile import XeTileError, runtime

REFUSED = {
    "149 on integers of odd numbers of bits": "%r = OpIAddCarry %pair %a %b",
    "203 on integers of 11": "%r = OpBitFieldUExtract %odd %a %scope %scope",
    "61 on vectors of integers of 11": "%r = OpLoad %pair_of %vector Aligned 8",
    "62 on vectors of integers of 11": "OpStore %vector %v Aligned 8",
    "124 on integers of 11": "%r = OpBitcast %byte %a",
    "12 on integers of 11": "%r = OpExtInst %odd %std s_clamp %a %b %a",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_rule_is_refused_by_number(what):
    types = """%pair = OpTypeStruct %odd %odd
        %byte = OpTypeInt 8 0
        %pair_of = OpTypeVector %odd 2
        %scope = OpConstant %uint 3
        %ppair = OpTypePointer CrossWorkgroup %pair_of"""
    kernel = Kernel(11, types)
    kernel.lines += ["%vector = OpBitcast %ppair %out", "%v = OpCompositeConstruct %pair_of %a %b", REFUSED[what]]
    with pytest.raises(XeTileError, match=f"instruction {what}.* no rule. Compute it with integers of 8, 16, 32 or 64"):
        runtime.Module(kernel.binary())


def test_more_than_64_bits_are_refused():
    with pytest.raises(XeTileError, match="integers of 65 bits. Expected 64 at most"):
        runtime.Module(Kernel(65).binary())


def test_vectors_of_millions_are_refused():
    with pytest.raises(XeTileError, match="vectors of 5000000 elements .* Expected 4096"):
        runtime.Module(Kernel(11, "%many = OpTypeVector %odd 5000000").binary())


@pytest.mark.parametrize("opcode", [1, 43, 79, 124, 251, 61, 62, 12, 113, 128, 195, 204])
def test_instructions_that_are_cut_short_end_no_process(opcode):
    """Of each length; the driver is not asked."""
    kernel = Kernel(11)
    kernel.lines += ["%r = OpIAdd %odd %a %b"]
    words = list(spirv_words.words(kernel.binary()))
    at = next(i for i in range(5, len(words)) if words[i] == 5 << 16 | 128)
    for length in range(1, 5):
        short = [length << 16 | opcode, *words[at + 1 : at + length]]
        cut = spirv_words.binary([*words[:at], *short, *words[at + 5 :]])
        with contextlib.suppress(XeTileError):
            runtime.Module(cut)


def test_modules_without_them_stay_as_they_are():
    base = spirv_words.BASE.replace("OpCapability Linkage", "OpCapability Linkage\nOpCapability BitInstructions")
    assert runtime.Module(assemble(base)).notes == ()
