# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in OpenCL C with Intel's extensions, each beside the same in plain OpenCL C: equal to the last bit.

Builtins are called by name, as Intel's compilers for GPUs and LLVM without extensions leave them, and are instructions,
as newer compilers make them.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from gpu_runtime import aligned, compile_opencl
from xetile import runtime

EXTENSIONS = [
    "SPV_INTEL_2d_block_io",
    "SPV_INTEL_bfloat16_conversion",
    "SPV_INTEL_split_barrier",
    "SPV_INTEL_subgroup_matrix_multiply_accumulate",
    "SPV_INTEL_subgroups",
    "SPV_INTEL_tensor_float32_conversion",
]
# The matrix that kernels read and write: bytes of a row, rows.
PITCH, HEIGHT = 128, 40
HEAD = """#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define KERNEL(name) __attribute__((intel_reqd_sub_group_size(16))) kernel void name( \\
    global uchar *a, global uchar *b, global uchar *out)
#define OVERLOAD __attribute__((overloadable))
#define LANE get_sub_group_local_id()
#define AT(type, row, column) (((global type *)(a + (row) * 128))[column])
float tf32(float x) { return as_float(as_uint(x) & 0xffffe000u); }
float bf16(ushort x) { return as_float((uint)x << 16); }
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """The body of a kernel with the builtin, declarations that it needs, and the body in plain C.

    `instruction` is a declaration and a body that become an instruction, if there is one. Operands are small numbers
    of the type `values`, of which sums are exact.
    """

    declare: str
    body: str
    plain: str
    instruction: tuple[str, str] | None = None
    values: str = "u1"
    items: int = 16
    call: bool = True


def block(kind: str, bits: int, rows: int, columns: int, blocks: int, element: str, x: int, y: int) -> Case:
    """A 2D block read: each lane keeps what it got in `out`, lane after lane."""
    shape = f"{bits}b_{rows}r{columns}x{blocks}c"
    name = f"intel_sub_group_2d_block_{kind}_{shape}"
    across, down = (rows, columns) if kind == "read_transpose" else (columns, rows)
    per_row = max(across // 16, 1)
    in_block = down * per_row if across >= 16 else max(down * across // 16, 1)
    count = in_block * blocks
    call = f"(global void *)a, 100, 30, 128, (int2)({x}, {y})"
    keep = f"for (int i = 0; i < {count}; ++i) (({{0}} *)out)[LANE * {count} + i] = v[i];"
    keep = keep.replace("{0}", f"global {element}")
    instruction = {"read": "Load", "read_transform": "LoadTransform", "read_transpose": "LoadTranspose"}[kind]
    spirv = f"__spirv_Subgroup2DBlock{instruction}INTEL"
    # As the extension says which lane holds what.
    if across >= 16:
        place = f"int p = LANE * {per_row} + i % {in_block} % {per_row}, q = i % {in_block} / {per_row};"
    else:
        place = f"int p = (i % {in_block} * 16 + LANE) % {across}, q = (i % {in_block} * 16 + LANE) / {across};"
    if kind == "read_transpose":
        if across > 16:
            place = f"int p = LANE + 16 * (i % {in_block} % {per_row}), q = i % {in_block} / {per_row};"
        place += " int r = p, c = q;"
    else:
        place += f" int r = q, c = p + i / {in_block} * {columns};"
    plain = f"""for (int i = 0; i < {count}; ++i) {{
      {place}
      bool inside = q < {down} && {x} + c >= 0 && {x} + c < 100 / {bits // 8} && {y} + r >= 0 && {y} + r < 30;
      ((global {element} *)out)[LANE * {count} + i] = inside ? AT({element}, {y} + r, {x} + c) : 0;
    }}"""
    return Case(
        f"void OVERLOAD {name}(global void *, int, int, int, int2, private {element} *);",
        f"private {element} v[{count}]; {name}({call}, v); {keep}",
        plain,
        (
            f"void OVERLOAD {spirv}(int, int, int, int, const global void *, int, int, int, int2, private void *);",
            f"private {element} v[{count}]; "
            f"{spirv}({bits // 8}, {columns}, {rows}, {blocks}, {call}, (private void *)v); {keep}",
        ),
    )


def write(bits: int, rows: int, columns: int, element: str, x: int, y: int) -> Case:
    name = f"intel_sub_group_2d_block_write_{bits}b_{rows}r{columns}x1c"
    fill = f"private {element} v[{rows}]; for (int i = 0; i < {rows}; ++i) v[i] = AT({element}, i, LANE);"
    call = f"(global void *)out, 100, 30, 128, (int2)({x}, {y})"
    spirv = "__spirv_Subgroup2DBlockStoreINTEL"
    return Case(
        f"void OVERLOAD {name}(global void *, int, int, int, int2, private {element} *);",
        f"{fill} {name}({call}, v);",
        f"""for (int i = 0; i < {rows}; ++i)
      if ({x} + (int)LANE < 100 / {bits // 8} && {y} + i < 30)
        ((global {element} *)(out + ({y} + i) * 128))[{x} + LANE] = AT({element}, i, LANE);""",
        (
            f"void OVERLOAD {spirv}(int, int, int, int, private void *, global void *, int, int, int, int2);",
            f"{fill} {spirv}({bits // 8}, {columns}, {rows}, 1, (private void *)v, {call});",
        ),
    )


def multiply(a: str, b: str, depth: int, mask: int, values: str, element: str, accumulate: str = "float8") -> Case:
    """A of 8 rows as lanes hold it is read from `a`, B from `b`; the plain form takes single elements from there."""
    name = f"intel_sub_group_{a}_{b}_matrix_mad_k{depth}"
    of_a = "float4" if a == "tf32" else "short8"
    of_b = "float8" if a == "tf32" else "int8"
    rows, dwords = of_a[-1], of_b[-1]
    load = f"""{of_a} va = vload{rows}(LANE, (global {of_a[:-1]} *)a);
    {of_b} vb = vload{dwords}(LANE, (global {of_b[:-1]} *)b); {accumulate} c = ({accumulate})({{0}});"""
    start = "3"
    load = load.replace("{0}", start)
    keep = f"vstore8({{0}}, LANE, (global {accumulate[:-1]} *)out);"
    signature = f"{accumulate} OVERLOAD {{0}}({{1}}{of_a}, {of_b}, {accumulate}{{2}});"
    spirv = "__spirv_SubgroupMatrixMultiplyAccumulateINTEL"
    return Case(
        signature.format(name, "", ""),
        f"{load} {keep.format(f'{name}(va, vb, c)')}",
        f"""for (int m = 0; m < 8; ++m) {{
      {"int" if accumulate == "int8" else "float"} sum = {start};
      for (int k = 0; k < {depth}; ++k)
        sum += {element};
      ((global {accumulate[:-1]} *)out)[LANE * 8 + m] = sum;
    }}""",
        (
            signature.format(spirv, "int, ", ", int"),
            f"{load} {keep.format(f'{spirv}({depth}, va, vb, c, {mask})')}",
        ),
        values,
    )


# Element (m, k) of A and (k, LANE) of B where lanes hold them.
HALF = "(float)((global half *)a)[k * 8 + m] * (float)((global half *)b)[LANE * 16 + k]"
BF16 = "bf16(((global ushort *)a)[k * 8 + m]) * bf16(((global ushort *)b)[LANE * 16 + k])"
TF32 = "tf32(((global float *)a)[(m % 2 * 8 + k) * 4 + m / 2]) * tf32(((global float *)b)[LANE * 8 + k])"
INT8 = "((global {0} *)a)[k / 2 * 16 + m * 2 + k % 2] * ((global {1} *)b)[LANE * 32 + k]"
INT4 = "((a[k / 4 * 16 + m * 2 + k % 4 / 2] >> k % 2 * 4) & 15) * ((b[LANE * 32 + k / 2] >> k % 2 * 4) & 15)"
PREFETCH = "void OVERLOAD intel_sub_group_2d_block_prefetch_16b_8r16x1c(global void *, int, int, int, int2);"
SHUFFLES = """int OVERLOAD intel_sub_group_shuffle(int, uint);
int OVERLOAD intel_sub_group_shuffle_xor(int, uint);
int OVERLOAD intel_sub_group_shuffle_down(int, int, uint);
int OVERLOAD intel_sub_group_shuffle_up(int, int, uint);"""
CASES = {
    "read 8 bits": block("read", 8, 8, 32, 1, "uchar", 8, 3),
    "read 8 bits, 2 blocks": block("read", 8, 16, 16, 2, "uchar", 96, 20),
    "read 16 bits": block("read", 16, 8, 16, 1, "ushort", 4, 2),
    "read 16 bits, 2 blocks over the corner": block("read", 16, 32, 16, 2, "ushort", 30, 10),
    "read 16 bits, narrow": block("read", 16, 8, 4, 1, "ushort", 2, 0),
    "read 32 bits, above the matrix": block("read", 32, 8, 16, 1, "uint", 0, -3),
    "read 64 bits": block("read", 64, 4, 8, 1, "ulong", 1, 1),
    "transform 16 bits": block("read_transform", 16, 32, 16, 1, "ushort", 16, 0),
    "transform 8 bits": block("read_transform", 8, 32, 16, 2, "uchar", 16, 4),
    "transpose 32 bits": block("read_transpose", 32, 16, 8, 1, "uint", 4, 2),
    "transpose 32 bits, 32 rows": block("read_transpose", 32, 32, 4, 1, "uint", 0, 0),
    "transpose 64 bits": block("read_transpose", 64, 8, 4, 1, "ulong", 2, 1),
    "write 16 bits": write(16, 8, 16, "ushort", 16, 5),
    "write 32 bits over the corner": write(32, 8, 16, "uint", 16, 26),
    "multiply f16": multiply("f16", "f16", 16, 0xC00, "f2", HALF),
    "multiply bf16": multiply("bf16", "bf16", 16, 0x3000, "bf16", BF16),
    "multiply tf32": multiply("tf32", "tf32", 8, 0x300, "f4", TF32),
    "multiply i8": multiply("i8", "i8", 32, 0x33, "i1", INT8.format("char", "char"), "int8"),
    "multiply u8 by i8": multiply("u8", "i8", 32, 0x32, "i1", INT8.format("uchar", "char"), "int8"),
    "multiply u4": multiply("u4", "u4", 64, 0xC0, "u1", INT4, "int8"),
    "prefetch": Case(
        PREFETCH,
        "intel_sub_group_2d_block_prefetch_16b_8r16x1c(a, 100, 30, 128, (int2)(0, 0)); out[LANE] = a[LANE];",
        "out[LANE] = a[LANE];",
        (
            "void OVERLOAD __spirv_Subgroup2DBlockPrefetchINTEL(int, int, int, int, const global void *, int, int, "
            "int, int2);",
            "__spirv_Subgroup2DBlockPrefetchINTEL(2, 16, 8, 1, a, 100, 30, 128, (int2)(0, 0)); out[LANE] = a[LANE];",
        ),
    ),
    "block reads and writes": Case(
        "",
        "",
        "for (int i = 0; i < 8; ++i) ((global ushort *)out)[i * 16 + LANE] = ((global ushort *)a)[i * 16 + LANE] + 1;",
        (
            "ushort8 OVERLOAD intel_sub_group_block_read_us8(const global ushort *);\n"
            "void OVERLOAD intel_sub_group_block_write_us8(global ushort *, ushort8);",
            "intel_sub_group_block_write_us8((global ushort *)out, "
            "intel_sub_group_block_read_us8((global ushort *)a) + (ushort8)1);",
        ),
        call=False,
    ),
    "shuffles": Case(
        "",
        "",
        """global int *x = (global int *)a;
    int l = LANE;
    int4 v = (int4)(x[(l * 5 + 3) % 16], x[l ^ 6], l + 3 < 16 ? x[l + 3] : x[l + 3 - 16] * 2,
                    l - 2 >= 0 ? x[l - 2] * 2 : x[l - 2 + 16]);
    vstore4(v, l, (global int *)out);""",
        (
            SHUFFLES,
            """int l = LANE, x = ((global int *)a)[l];
    int4 v = (int4)(intel_sub_group_shuffle(x, (l * 5 + 3) % 16), intel_sub_group_shuffle_xor(x, 6),
                    intel_sub_group_shuffle_down(x, x * 2, 3), intel_sub_group_shuffle_up(x, x * 2, 2));
    vstore4(v, l, (global int *)out);""",
        ),
        call=False,
    ),
    "reductions and scans": Case(
        "",
        """int x = ((global int *)a)[LANE];
    vstore4((int4)(sub_group_reduce_add(x), sub_group_reduce_max(x), sub_group_scan_inclusive_add(x),
                   sub_group_scan_exclusive_min(x)), LANE, (global int *)out);""",
        """global int *x = (global int *)a;
    int sum = 0, most = x[0], up = 0, least = INT_MAX;
    for (int i = 0; i < 16; ++i) {
      sum += x[i];
      most = max(most, x[i]);
      if (i <= LANE) up += x[i];
      if (i < LANE) least = min(least, x[i]);
    }
    vstore4((int4)(sum, most, up, least), LANE, (global int *)out);""",
    ),
    "split barriers": Case(
        "",
        "",
        """local uchar t[64];
    int l = get_local_id(0);
    t[l] = a[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = t[63 - l];""",
        (
            "void OVERLOAD __spirv_ControlBarrierArriveINTEL(int, int, int);\n"
            "void OVERLOAD __spirv_ControlBarrierWaitINTEL(int, int, int);",
            """local uchar t[64];
    int l = get_local_id(0);
    t[l] = a[l];
    __spirv_ControlBarrierArriveINTEL(2, 2, 0x108);
    uchar rest = b[l];
    __spirv_ControlBarrierWaitINTEL(2, 2, 0x104);
    out[l] = t[63 - l] + (rest - b[l]);""",
        ),
        items=64,
        call=False,
    ),
    "conversions to bf16 and tf32": Case(
        "",
        "",
        """float x = ((global float *)a)[LANE];
    uint bits = as_uint(x);
    ((global float *)out)[LANE] = bf16((ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
    ((global float *)out)[16 + LANE] = as_float((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000u);""",
        (
            "short OVERLOAD __spirv_ConvertFToBF16INTEL(float);\nfloat OVERLOAD __spirv_ConvertBF16ToFINTEL(short);\n"
            "float OVERLOAD __spirv_RoundFToTF32INTEL(float);",
            """float x = ((global float *)a)[LANE];
    ((global float *)out)[LANE] = __spirv_ConvertBF16ToFINTEL(__spirv_ConvertFToBF16INTEL(x));
    ((global float *)out)[16 + LANE] = __spirv_RoundFToTF32INTEL(x);""",
        ),
        values="normal",
        call=False,
    ),
}
ORDER = list(CASES)


def source(forms: list[str]) -> str:
    """One program: a declaration may come once only."""
    declared: dict[str, None] = {}
    kernels = ""
    for number, case in enumerate(CASES.values()):
        bodies = {"plain": ("", case.plain), "instruction": case.instruction or ("", "")}
        bodies["call"] = (case.declare, case.body) if case.call else ("", "")
        for form in forms:
            declare, body = bodies[form]
            if body:
                declared.update(dict.fromkeys(declare.splitlines()))
                kernels += f"KERNEL({form}{number}) {{\n    {body}\n}}\n"
    return HEAD + "\n".join(declared) + "\n" + kernels


@functools.cache
def module(form: str) -> runtime.Module:
    extensions = EXTENSIONS if form == "instruction" else []
    return runtime.Module(compile_opencl(source([form]), extensions, validate=form != "instruction"))


def operand(case: Case, rng: np.random.Generator) -> np.ndarray:
    size = PITCH * HEIGHT
    if case.values == "normal":
        return rng.standard_normal(size // 4).astype("f4").view("u1")
    if case.values in ("f2", "f4", "bf16"):
        numbers = rng.integers(-8, 9, size // 2).astype("f4")
        if case.values == "bf16":
            return (numbers.view("u4") >> 16).astype("u2").view("u1")
        return numbers.astype(case.values).view("u1")[:size].copy()
    return rng.integers(0, 256, size, "u1")


def outcome(form: str, name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = aligned(np.full(PITCH * HEIGHT, 0xA5, "u1"))
    module(form)[f"{form}{ORDER.index(name)}"][1, CASES[name].items](a, b, out)
    return out


FORMS = [(name, "call") for name, case in CASES.items() if case.call]
FORMS += [(name, "instruction") for name, case in CASES.items() if case.instruction]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_builtins_are_what_plain_c_says(name, form, rng):
    case = CASES[name]
    a, b = (aligned(operand(case, rng)) for _ in range(2))
    expected = outcome("plain", name, a, b)
    assert (expected != 0xA5).any()
    np.testing.assert_array_equal(outcome(form, name, a, b), expected)


def test_notes_tell_what_is_rewritten():
    notes = " ".join(module("instruction").notes)
    for name in ("Load", "LoadTransform", "LoadTranspose", "Prefetch", "Store"):
        assert f"rewritten OpSubgroup2DBlock{name}INTEL: intel_sub_group_2d_block_" in notes
    assert "rewritten OpSubgroupMatrixMultiplyAccumulateINTEL" in notes
    assert "rewritten OpControlBarrierArriveINTEL, OpControlBarrierWaitINTEL: a barrier at the wait" in notes
    assert module("plain").notes == ()
