# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers of 11 bits and the like in other compilers' SPIR-V, which optimizers make: computed as Python's integers
would be, cut to their bits."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
import spirv_words
from gpu_runtime import portable, tool
from odd_kernels import LANES, Kernel, expect, numbers
from xetile import runtime

WIDTHS = [2, 3, 7, 11, 13, 17, 24, 31, 33, 40, 48, 57, 63]


# Expressions on the odd integers %a and %b, %d which is odd besides, and %s below the width; the same
# of Python's integers without signs a, b, d, s and with them A, B, D, of w bits.
VALUES = {
    "OpIAdd %odd %a %b": "a + b",
    "OpISub %odd %a %b": "a - b",
    "OpIMul %odd %a %b": "a * b",
    "OpSNegate %odd %a": "-a",
    "OpNot %odd %a": "~a",
    "OpUDiv %odd %a %d": "a // d",
    "OpUMod %odd %a %d": "a % d",
    "OpSDiv %odd %a %d": "quotient(A, D)",
    "OpSRem %odd %a %d": "A - quotient(A, D) * D",
    "OpSMod %odd %a %d": "A % D",
    "OpBitwiseAnd %odd %a %b": "a & b",
    "OpBitwiseOr %odd %a %b": "a | b",
    "OpBitwiseXor %odd %a %b": "a ^ b",
    "OpShiftLeftLogical %odd %a %s": "a << s",
    "OpShiftRightLogical %odd %a %s": "a >> s",
    "OpShiftRightArithmetic %odd %a %s": "A >> s",
    "OpBitReverse %odd %a": "int(f'{a:0{w}b}'[::-1], 2)",
    "OpBitCount %odd %a": "a.bit_count()",
    "OpCopyObject %odd %a": "a",
    "OpSelect %odd %true %a %b": "a",
    "OpBitwiseXor %odd %a %most": "~a",
    "OpFunctionCall %odd %same %a": "a",
    "OpExtInst %odd %std u_max %a %b": "max(a, b)",
    "OpExtInst %odd %std u_min %a %b": "min(a, b)",
    "OpExtInst %odd %std s_max %a %b": "max(A, B)",
    "OpExtInst %odd %std s_min %a %b": "min(A, B)",
    "OpExtInst %odd %std s_abs %a": "abs(A)",
    "OpExtInst %odd %std u_abs %a": "a",
    "OpExtInst %odd %std u_add_sat %a %b": "min(a + b, (1 << w) - 1)",
    "OpExtInst %odd %std u_sub_sat %a %b": "max(a - b, 0)",
    "OpExtInst %odd %std s_add_sat %a %b": "saturated(A + B, w)",
    "OpExtInst %odd %std s_sub_sat %a %b": "saturated(A - B, w)",
    "OpExtInst %odd %std rotate %a %b": "(a << b % w) | (a >> (w - b % w))",
    "OpExtInst %odd %std clz %a": "w - a.bit_length()",
    "OpExtInst %odd %std ctz %a": "(a & -a).bit_length() - 1 if a else w",
    "OpExtInst %odd %std popcount %a": "a.bit_count()",
    "OpUConvert %odd %ua": "a",
    "OpSConvert %odd %sa": "a",
    "OpConvertFToU %odd %fs": "s",
    "OpConvertFToS %odd %fm": "-s",
}
TO_LONG = {
    "OpUConvert %ulong %a": "a",
    "OpSConvert %ulong %a": "A",
    "OpConvertFToU %ulong %ufloat": "s",
    "OpConvertFToS %ulong %sfloat": "signed(s, w)",
    "OpBitCount %ulong %wide": "a.bit_count()",
}
COMPARES = {
    "OpIEqual": "a == b",
    "OpINotEqual": "a != b",
    "OpUGreaterThan": "a > b",
    "OpUGreaterThanEqual": "a >= b",
    "OpULessThan": "a < b",
    "OpULessThanEqual": "a <= b",
    "OpSGreaterThan": "A > B",
    "OpSGreaterThanEqual": "A >= B",
    "OpSLessThan": "A < B",
    "OpSLessThanEqual": "A <= B",
}

COMMON = [
    "%bits = OpUConvert %odd %width",
    "%unit = OpUConvert %odd %one",
    "%d = OpBitwiseOr %odd %b %unit",
    "%masked = OpUConvert %ulong %b",
    "%ls = OpUMod %ulong %masked %width",
    "%s = OpUConvert %odd %ls",
    "%ua = OpUConvert %ulong %a",
    "%wide = OpUConvert %ulong %a",
    "%sa = OpSConvert %ulong %a",
    "%fs = OpConvertUToF %double %ls",
    "%fm = OpFNegate %double %fs",
    "%ufloat = OpConvertUToF %double %s",
    "%sfloat = OpConvertSToF %double %s",
]


@pytest.mark.parametrize("width", WIDTHS)
def test_numbers(rng, width):
    most = (1 << width) - 1
    kernel = Kernel(width, f"%most = OpConstant %odd {most}")
    kernel.lines += COMMON
    a, b = numbers(rng, width)
    for expression in VALUES:
        kernel.store_odd(expression)
    for expression in TO_LONG:
        kernel.lines.append(f"%value{kernel.results} = {expression}")
        kernel.store(f"%value{kernel.results}")
    for compare in COMPARES:
        n = kernel.results
        kernel.lines += [f"%is{n} = {compare} %bool %a %b", f"%value{n} = OpSelect %ulong %is{n} %one %zero"]
        kernel.store(f"%value{n}")
    names = [*VALUES, *TO_LONG, *COMPARES]
    expect(kernel.run(a, b), names, [*VALUES.values(), *TO_LONG.values(), *COMPARES.values()], a, b, width)


def test_vectors_and_bits_as_elements_of_others(rng):
    """Little-endian, as memory would have it."""
    types = """%byte = OpTypeInt 8 0
        %short = OpTypeInt 16 0
        %half_odd = OpTypeInt 12 0
        %pair_of = OpTypeVector %odd 2
        %four_of = OpTypeVector %odd 4
        %byte3 = OpTypeVector %byte 3
        %halves = OpTypeVector %half_odd 2
        %halves4 = OpTypeVector %half_odd 4
        %bytes6 = OpTypeVector %byte 6
        %eight = OpConstant %odd 8
        %eights = OpConstantComposite %pair_of %eight %eight
        %no = OpUndef %pair_of"""
    kernel = Kernel(24, types)
    kernel.lines += [
        "%v = OpCompositeConstruct %pair_of %a %b",
        "%sum = OpIAdd %pair_of %v %v",
        "%right = OpShiftRightArithmetic %pair_of %v %eights",
        "%back = OpBitReverse %pair_of %v",
        "%four = OpVectorShuffle %four_of %v %no 1 4294967295 0 2",
        "%low = OpUConvert %ulong %b",
        "%which = OpBitwiseAnd %ulong %low %one",
        "%bytes = OpBitcast %byte3 %a",
        "%turned = OpVectorShuffle %byte3 %bytes %bytes 2 1 0",
        "%two = OpBitcast %halves %a",
        "%more = OpBitcast %halves4 %v",
        "%all = OpBitcast %bytes6 %v",
        "%second = OpVectorShuffle %byte3 %all %all 3 4 5",
    ]
    expressions = {
        "OpCompositeExtract %odd %sum 1": "b + b",
        "OpCompositeExtract %odd %right 0": "A >> 8",
        "OpCompositeExtract %odd %back 1": "int(f'{b:024b}'[::-1], 2)",
        "OpVectorExtractDynamic %odd %v %which": "b if b & 1 else a",
        "OpCompositeExtract %odd %four 0": "b",
        "OpCompositeExtract %odd %four 2": "a",
        "OpBitcast %odd %turned": "int.from_bytes(a.to_bytes(3, 'little'), 'big')",
        "OpBitcast %odd %two": "a",
        "OpBitcast %odd %second": "b",
    }
    for expression in expressions:
        kernel.store_odd(expression)
    for value, kind, i in (("%two", "%half_odd", 0), ("%two", "%half_odd", 1), ("%more", "%half_odd", 3)):
        n = kernel.results
        kernel.lines += [f"%part{n} = OpCompositeExtract {kind} {value} {i}", f"%long{n} = OpUConvert %ulong %part{n}"]
        kernel.store(f"%long{n}")
    # A number that is nobody's, too, has no more than its bits.
    kernel.lines += ["%any = OpCompositeExtract %odd %four 1", "%long = OpUConvert %ulong %any"]
    kernel.lines += ["%above = OpShiftRightLogical %ulong %long %width"]
    kernel.store("%above")
    a, b = numbers(rng, 24)
    parts = ["a & 0xfff", "a >> 12", "b >> 12", "0"]
    expect(kernel.run(a, b), [*expressions, *parts], [*expressions.values(), *parts], a, b, 24)


def test_f16_in_an_integer_of_48_bits(rng):
    types = """%short = OpTypeInt 16 0
        %half = OpTypeFloat 16
        %half3 = OpTypeVector %half 3
        %shorts = OpTypeVector %short 3"""
    kernel = Kernel(48, types)
    kernel.lines += [
        "%h = OpBitcast %half3 %a",
        "%turned = OpVectorShuffle %half3 %h %h 2 1 0",
        "%bits = OpBitcast %shorts %h",
        "%middle = OpCompositeExtract %short %bits 1",
        "%second = OpUConvert %ulong %middle",
    ]
    expression = "OpBitcast %odd %turned"
    kernel.store_odd(expression)
    kernel.store("%second")
    a, b = numbers(rng, 48)
    turned = "a >> 32 | a & 0xffff0000 | (a & 0xffff) << 32"
    expect(kernel.run(a, b), [expression, "second"], [turned, "a >> 16 & 0xffff"], a, b, 48)


@pytest.mark.parametrize("width", [5, 11, 17, 24, 27, 40, 50, 61])
def test_memory(rng, width):
    """A number has the bytes that its bits need: what lies behind them stays, what lies above its bits is not read."""
    types = """%podd = OpTypePointer CrossWorkgroup %odd
        %own = OpTypePointer Function %odd"""
    kernel = Kernel(width, types)
    kernel.lines += [
        "%own_lane = OpInBoundsPtrAccessChain %ptr %out %lane",
        "%to = OpBitcast %podd %own_lane",
        "%from = OpBitcast %podd %px",
        "OpStore %variable %a",
        "%loaded = OpLoad %odd %from Aligned 8",
        "%again = OpLoad %odd %variable Aligned 8",
        "OpStore %to %b Aligned 8",
    ]
    kernel.results = 1
    kernel.store_odd("OpCopyObject %odd %loaded")
    kernel.store_odd("OpCopyObject %odd %again")
    kernel.variables = "%variable = OpVariable %own Function"
    a, b = numbers(rng, width)
    out = kernel.run(a, b)
    bits = (width + 7) // 8 * 8
    stored = f"b | 0xdeadbeef12345678 >> {bits} << {bits}"
    expect(out, ["stored", "%odd", "%odd"], [stored, "a", "a"], a, b, width)


def test_branches_tables_indices_and_shuffles(rng):
    """%a of 3 bits chooses; an index has a sign; other lanes' numbers."""
    types = """%scope = OpConstant %uint 3
        %seven = OpConstant %uint 7
        %minus = OpConstant %odd 7
        %short = OpTypeInt 16 0
        %eleven = OpTypeInt 11 0
        %pshort = OpTypePointer Function %short
        %peleven = OpTypePointer Function %eleven
        %wider = OpTypeInt 5 0
        %undef = OpUndef %odd"""
    kernel = Kernel(3, types)
    kernel.lines += [
        "OpSelectionMerge %join None",
        "OpSwitch %a %default 7 %seventh 2 %second",
        "%seventh = OpLabel",
        "%t7 = OpIAdd %odd %a %b",
        "OpBranch %join",
        "%second = OpLabel",
        "OpBranch %join",
        "%default = OpLabel",
        "OpBranch %join",
        "%join = OpLabel",
        "%chosen = OpPhi %odd %t7 %seventh %b %second %a %default",
        "%next = OpInBoundsPtrAccessChain %ptr %py %one",
        "%previous = OpInBoundsPtrAccessChain %ptr %next %minus",
        "%element = OpLoad %ulong %previous Aligned 8",
        "%wide = OpSConvert %wider %a",
        "%eleventh = OpSConvert %eleven %wide",
        "%unsigned = OpUConvert %eleven %wide",
        "%short1 = OpSConvert %short %eleventh",
        "%short2 = OpUConvert %short %unsigned",
        "%v1 = OpUConvert %ulong %short1",
        "%v2 = OpUConvert %ulong %short2",
        "%v3 = OpUConvert %ulong %undef",
        "%v4 = OpShiftRightLogical %ulong %v3 %width",
    ]
    for value in ("%element", "%v1", "%v2", "%v4"):
        kernel.store(value)
    kernel.store_odd("OpCopyObject %odd %chosen")
    kernel.store_odd("OpGroupNonUniformShuffleXor %odd %scope %a %seven")
    kernel.capabilities = "OpCapability GroupNonUniformShuffle"
    a, b = numbers(rng, 3)
    out = kernel.run(a, b)
    assert [int(x) for x in out[0]] == b
    expected = ["A & 0xffff", "A & 31", "0", "(a + b) if a == 7 else b if a == 2 else a"]
    expect(out[1:5], ["", "", "", "%odd"], expected, a, b, 3)
    assert (out[5] == np.array([a[i ^ 7] & 7 for i in range(LANES)], "u8")).all()


def test_literals_with_a_sign(rng):
    """Compilers write those of narrow integers with their sign above, or with zeros."""
    kernel = Kernel(3, "%minus = OpConstant %odd 7")
    kernel.lines += [
        "OpSelectionMerge %join None",
        "OpSwitch %a %default 7 %seventh",
        "%seventh = OpLabel",
        "OpBranch %join",
        "%default = OpLabel",
        "OpBranch %join",
        "%join = OpLabel",
        "%which = OpPhi %ulong %one %seventh %zero %default",
    ]
    kernel.store("%which")
    kernel.store_odd("OpCopyObject %odd %minus")
    words = list(spirv_words.words(kernel.binary()))
    at, constants = 5, 0
    while at < len(words):
        length, opcode = words[at] >> 16, words[at] & 0xFFFF
        if opcode == 251:
            words[at + 3] = 0xFFFFFFFF
        if opcode == 43 and length == 4 and words[at + 3] == 7:
            words[at + 3] = 0xFFFFFFFF
            constants += 1
        at += length
    assert constants == 1
    kernel.binary = lambda: spirv_words.binary(words)
    a, b = numbers(rng, 3)
    expect(kernel.run(a, b), ["is 7", "%odd"], ["a == 7", "7"], a, b, 3)


def test_no_byte_behind_a_number_is_read(monkeypatch):
    """The last three of an array, under a check that sees each byte behind it."""
    types = """%podd = OpTypePointer CrossWorkgroup %odd
        %byte = OpTypeInt 8 0
        %pbyte = OpTypePointer CrossWorkgroup %byte
        %last = OpConstant %ulong 509"""
    kernel = Kernel(24, types)
    kernel.lines += [
        "%bytes = OpBitcast %pbyte %x",
        "%end = OpInBoundsPtrAccessChain %pbyte %bytes %last",
        "%from = OpBitcast %podd %end",
        "%loaded = OpLoad %odd %from Aligned 1",
    ]
    kernel.store_odd("OpCopyObject %odd %loaded")
    monkeypatch.setenv("XETILE_CHECK", "1")
    a = [(i * 0x9E3779B97F4A7C15) % (1 << 64) for i in range(LANES)]
    assert (kernel.run(a, a)[0] == a[-1] >> 40).all()


def test_what_remains_is_valid(tmp_path):
    """Types that are one then, names of them, capabilities, what is anything, decorations, debug information."""
    types = """%short = OpTypeInt 16 0
        %nine = OpTypeInt 9 0
        %pair_of = OpTypeVector %odd 2
        %nines = OpTypeVector %nine 2
        %no = OpUndef %pair_of"""
    # The type that goes has the id 6, which is Kernel's number in OpEntryPoint.
    kernel = Kernel(
        11,
        types,
        'OpName %odd "eleven"\nOpName %nine "nine"\nOpDecorate %odd0 NoSignedWrap\nOpDecorate %odd0 NoUnsignedWrap',
    )
    kernel.store_odd("OpIAdd %odd %a %b")
    kernel.lines += [
        "%v = OpCompositeConstruct %pair_of %a %b",
        "%moved = OpVectorShuffle %pair_of %v %no 4294967295 0",
        "%narrow = OpUConvert %nines %moved",
        "%first = OpCompositeExtract %nine %narrow 1",
        "%wide = OpUConvert %ulong %first",
        "%anything = OpUndef %odd",
        "%with = OpBitwiseOr %odd %anything %a",
        "%told = OpExtInst %void %debug DebugValue %a %a %a",
    ]
    kernel.store("%wide")
    words = portable(kernel.binary())
    (tmp_path / "k.spv").write_bytes(spirv_words.binary(words))
    subprocess.run([tool("spirv-val"), tmp_path / "k.spv"], check=True)
    left = list(spirv_words.instructions(words))
    assert not any(one[0] & 0xFFFF == 71 and one[2] in (4469, 4470) for one in left)
    assert not any(one[0] & 0xFFFF == 1 for one in left)
    assert [one[5:] for one in left if one[0] & 0xFFFF == 79] == [(0, 0)]
    assert runtime.Module(kernel.binary())
