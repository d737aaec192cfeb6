# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in assembly of SPIR-V on integers of any width, and what Python's integers say of them."""

from __future__ import annotations

import numpy as np
from gpu_runtime import assemble
from xetile import runtime

LANES = 64


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def quotient(a: int, b: int) -> int:
    """Rounded towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def saturated(value: int, width: int) -> int:
    return min(max(value, -(1 << (width - 1))), (1 << (width - 1)) - 1)


HEAD = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability SubgroupDispatch
OpCapability Int64
CAPABILITIES
OpCapability Float64
OpCapability BitInstructions
OpCapability ArbitraryPrecisionIntegersINTEL
OpExtension "SPV_INTEL_arbitrary_precision_integers"
OpExtension "SPV_KHR_bit_instructions"
%std = OpExtInstImport "OpenCL.std"
%debug = OpExtInstImport "OpenCL.DebugInfo.100"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k" %id
OpExecutionMode %k SubgroupSize 16
DECORATIONS
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %id Constant
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%odd = OpTypeInt WIDTH 0
%double = OpTypeFloat 64
%ids_type = OpTypeVector %ulong 3
%ptr = OpTypePointer CrossWorkgroup %ulong
%ptr3 = OpTypePointer Input %ids_type
%id = OpVariable %ptr3 Input
%f = OpTypeFunction %void %ptr %ptr %ptr
%of_odd = OpTypeFunction %odd %odd
%true = OpConstantTrue %bool
%one = OpConstant %ulong 1
%zero = OpConstant %ulong 0
%lanes = OpConstant %ulong 64
%width = OpConstant %ulong WIDTH
TYPES
%same = OpFunction %odd None %of_odd
%given = OpFunctionParameter %odd
%there = OpLabel
OpReturnValue %given
OpFunctionEnd
%k = OpFunction %void None %f
%out = OpFunctionParameter %ptr
%x = OpFunctionParameter %ptr
%y = OpFunctionParameter %ptr
%entry = OpLabel
VARIABLES
%ids = OpLoad %ids_type %id
%lane = OpCompositeExtract %ulong %ids 0
%px = OpInBoundsPtrAccessChain %ptr %x %lane
%py = OpInBoundsPtrAccessChain %ptr %y %lane
%lx = OpLoad %ulong %px Aligned 8
%ly = OpLoad %ulong %py Aligned 8
%a = OpUConvert %odd %lx
%b = OpUConvert %odd %ly
"""
TAIL = "OpReturn\nOpFunctionEnd\n"


class Kernel:
    """Assembly that stores numbers of 64 bits, one after the other, for each lane."""

    def __init__(self, width: int, types: str = "", decorations: str = "") -> None:
        self.width, self.types, self.decorations = width, types, decorations
        self.capabilities = self.variables = ""
        self.lines: list[str] = []
        self.results = 0

    def store(self, value: str) -> None:
        n = self.results
        self.types += f"\n%place{n} = OpConstant %ulong {n * LANES}"
        self.lines += [
            f"%at{n} = OpIAdd %ulong %lane %place{n}",
            f"%to{n} = OpInBoundsPtrAccessChain %ptr %out %at{n}",
            f"OpStore %to{n} {value} Aligned 8",
        ]
        self.results += 1

    def store_odd(self, expression: str) -> None:
        n = self.results
        self.lines += [f"%odd{n} = {expression}", f"%long{n} = OpUConvert %ulong %odd{n}"]
        self.store(f"%long{n}")

    def binary(self) -> bytes:
        head = HEAD
        for name in ("capabilities", "decorations", "types", "variables", "width"):
            head = head.replace(name.upper(), str(getattr(self, name)))
        return assemble(head + "\n".join(self.lines) + "\n" + TAIL)

    def run(self, a: list[int], b: list[int]) -> np.ndarray:
        out = np.full((self.results, LANES), 0xDEADBEEF12345678, "u8")
        module = runtime.Module(self.binary())
        assert any(note.startswith(f"rewritten integers of {self.width} bits") for note in module.notes)
        module["k"][1, LANES](out, np.array(a, "u8"), np.array(b, "u8"))
        return out


def numbers(rng, width: int) -> tuple[list[int], list[int]]:
    """Of 64 bits, of which the kernel takes the lower ones; with all pairs of those at the ends."""
    ends = [0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]
    a, b = ([int(x) for x in rng.integers(0, 1 << 64, LANES, "u8")] for _ in range(2))
    pairs = [(x, y) for x in ends for y in ends]
    for i, (x, y) in enumerate(pairs):
        above = (a[i] >> width) << width
        a[i], b[i] = above | x, above | y
    return a, b


def expect(out: np.ndarray, names: list[str], expressions: list[str], a: list[int], b: list[int], width: int) -> None:
    mask, wrong = (1 << width) - 1, []
    for row, name, expression in zip(out, names, expressions, strict=True):
        for i in range(LANES):
            x, y = a[i] & mask, b[i] & mask
            d = y | 1
            local = {"a": x, "b": y, "d": d, "s": y % width, "w": width}
            local |= {"A": signed(x, width), "B": signed(y, width), "D": signed(d, width)}
            value = int(eval(expression, globals(), local))
            value &= mask if "%odd" in name else (1 << 64) - 1
            if int(row[i]) != value:
                wrong.append(f"{name}: {x}, {y}: {int(row[i])} instead of {value}")
    assert not wrong, "\n".join(wrong[:20])
