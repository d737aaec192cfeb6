# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small SPIR-V module, and the same with one more part in the section where it belongs.

Not a test. The assembler of Debian 12 is older than most of the extensions: their parts are words here.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Iterator, Sequence

from gpu_runtime import SOURCE_ROOT, assemble

BASE = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
OpExecutionMode %k SubgroupSize 16
OpName %k "k"
OpDecorate %p FuncParamAttr NoCapture
%uint = OpTypeInt 32 0
%void = OpTypeVoid
%ptr = OpTypePointer CrossWorkgroup %uint
%f = OpTypeFunction %void %ptr
%c7 = OpConstant %uint 7
%k = OpFunction %void None %f
%p = OpFunctionParameter %ptr
%e = OpLabel
OpStore %p %c7 Aligned 4
OpReturn
OpFunctionEnd
"""
_CAPABILITY, _EXTENSION, _MEMORY_MODEL, _MODE, _DECORATE, _STORE = 17, 10, 14, 16, 71, 62


@functools.cache
def base() -> tuple[int, ...]:
    return words(assemble(BASE))


def words(binary: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(binary) // 4}I", binary)


def binary(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def instructions(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    at = 5
    while at < len(numbers):
        length = numbers[at] >> 16
        yield tuple(numbers[at : at + length])
        at += length


def text(name: str) -> list[int]:
    data = name.encode() + b"\0"
    return list(words(data + b"\0" * (-len(data) % 4)))


def instruction(opcode: int, *operands: int) -> list[int]:
    return [(len(operands) + 1) << 16 | opcode, *operands]


def _before(opcode: int, made: object, version: int | None = None) -> bytes:
    """The module with an instruction before the first one of `opcode`; `made` may ask for the operands of that."""
    out = list(base()[:5])
    if version is not None:
        out[1] = version
    done = False
    for one in instructions(base()):
        if one[0] & 0xFFFF == opcode and not done:
            out += made(one) if callable(made) else made
            done = True
        out += one
    assert done
    return binary(out)


def with_capability(number: int) -> bytes:
    return _before(_CAPABILITY, instruction(_CAPABILITY, number))


def with_extension(name: str) -> bytes:
    return _before(_MEMORY_MODEL, instruction(_EXTENSION, *text(name)))


def with_mode(number: int, *operands: int) -> bytes:
    return _before(_MODE, lambda mode: instruction(_MODE, mode[1], number, *operands))


def with_decoration(number: int, *operands: int) -> bytes:
    """Of the kernel's parameter."""
    return _before(_DECORATE, lambda decorate: instruction(_DECORATE, decorate[1], number, *operands))


def with_instruction(opcode: int, *operands: int) -> bytes:
    """In the kernel, before its store."""
    return _before(_STORE, instruction(opcode, *operands))


def with_version(version: int) -> bytes:
    return _before(_STORE, [], version)


def rows(table: str) -> list[tuple[int, str, str]]:
    """(number, name, fate) of a table of cpp/runtime/PortableTables.cpp."""
    source = (SOURCE_ROOT / "cpp" / "runtime" / "PortableTables.cpp").read_text()
    body = source.split(f"PortableRow {table}[] = {{", 1)[1].split("\n};", 1)[0]
    found = re.findall(r'\{(\d+),\s*"(\w+)",\s*(\w+),\s*"', body)
    assert len(found) == len(re.findall(r"^    \{", body, flags=re.MULTILINE))
    return [(int(number), name, fate) for number, name, fate in found]


def extensions() -> list[str]:
    source = (SOURCE_ROOT / "cpp" / "runtime" / "PortableTables.cpp").read_text()
    return re.findall(r'"(SPV_\w+)"', source)
