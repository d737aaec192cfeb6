# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reader of LLVM's assembly for x86-64: functions, lines, loops, purposes."""

import pytest
from xetile.reports import host_assembly
from xetile.reports.host_assembly import Instruction

TEXT = """\t.text
\t.globl\tf
\t.type\tf,@function
f:
.Lfunc_begin0:
\t.file\t1 "6-llvm"
\t.loc\t1 3 0
\tpushq\t%rbx
\txorl\t%eax, %eax
.LBB0_1:
\t.loc\t1 4 1 is_stmt 1
\tvmovaps\t64(%rsp), %ymm5                # 32-byte Reload
.LBB0_2:
\t.loc\t1 7 0
\tvbroadcastss\t(%rdi,%rax,4), %ymm0
\tvmovups\t(%rsi), %ymm1
\tvfmadd231ps\t%ymm0, %ymm1, %ymm2
\tvfmadd231ps\t32(%rsi), %ymm0, %ymm3
\tprefetcht0\t256(%rsi)
\t.loc\t1 8 0
\taddq\t$64, %rsi
\tincq\t%rax
\tcmpq\t%rdx, %rax
\tjne\t.LBB0_2
\t.loc\t1 9 0
\tvmovups\t%ymm2, (%rcx)
\tdecq\t%rbx
\tjne\t.LBB0_1
\tretq
.Lfunc_end0:
\t.size\tf, .Lfunc_end0-f
\t.section\t.rodata
table:
\t.long\t1
\t.type\tempty,@function
empty:
\t.size\tempty, 0
"""


def test_functions_have_their_instructions_and_lines():
    (function,) = host_assembly.read(TEXT)
    assert function.name == "f" and len(function.code) == 16
    assert function.code[0] == Instruction("pushq", "%rbx", 3)
    assert [one.line for one in function.code if one.opcode == "vfmadd231ps"] == [7, 7]
    assert function.code[2] == Instruction("vmovaps", "64(%rsp), %ymm5", 4)
    assert function.code[-1].opcode == "retq"


def test_the_hottest_loop_is_an_innermost_one_with_its_purposes():
    (function,) = host_assembly.read(TEXT)
    assert len(function.loops) == 1
    hot = function.hottest()
    assert hot is not None
    assert hot.purposes() == {"product": 2, "load": 2, "prefetch": 1, "address": 2, "loop": 2}
    # An element that is broadcast, a vector, and the operand of a product.
    assert hot.loaded_bytes() == 4 + 32 + 32
    assert hot.operations() == 2 * 2 * 8
    assert function.spills() == 1


@pytest.mark.parametrize(
    ("opcode", "operands", "purpose"),
    [
        ("vmovups", "%zmm1, (%rdi)", "store"),
        ("vmovaps", "%zmm1, 64(%rsp)", "spill"),
        ("vaddps", "(%rdi), %zmm1, %zmm2", "compute"),
        ("vpermps", "%zmm1, %zmm2, %zmm3", "copy"),
        ("leaq", "8(%rsp), %rdi", "address"),
        ("tdpbf16ps", "%tmm2, %tmm1, %tmm0", "product"),
        ("tileloadd", "(%rdi,%rsi), %tmm1", "load"),
        ("vpmaddwd", "%zmm1, %zmm2, %zmm3", "product"),
        ("callq", "memcpy@PLT", "call"),
    ],
)
def test_purposes(opcode, operands, purpose):
    assert Instruction(opcode, operands).purpose == purpose


def test_a_loop_without_arithmetic_is_not_hot():
    text = "\t.type\tf,@function\nf:\n.L1:\n\tdecq\t%rax\n\tjne\t.L1\n\tretq\n\t.size\tf, 1\n"
    (function,) = host_assembly.read(text)
    assert len(function.loops) == 1 and function.hottest() is None
