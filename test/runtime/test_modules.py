# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xetile.runtime.Module: what a module says of its kernels, calls with arrays, numbers and local memory, refusals."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest
import spirv_words
from gpu_runtime import compile_opencl
from xetile import XeTileError, runtime

SOURCE = """
typedef struct { char flag; double factor; int shift[3]; } Setting;
kernel void scale(global float *x, float factor, int n) {
  int i = get_global_id(0);
  if (i < n) x[i] *= factor;
}
kernel void numbers(global double *out, char a, ushort b, int c, ulong d, float e, double f, int4 g, float3 h) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f;
  out[6] = g.x + 10 * g.y + 100 * g.z + 1000 * g.w; out[7] = h.x + h.y * h.z;
}
kernel void setting(global double *out, Setting s) {
  out[0] = s.flag; out[1] = s.factor; out[2] = s.shift[2];
}
kernel void turn(global int *x, local int *s, local short *t) {
  int i = get_local_id(0), n = get_local_size(0);
  s[i] = x[i];
  t[i] = x[i] + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  x[i] = s[n - 1 - i] * 1000 + t[(i + 1) % n];
}
kernel void pick(global int *out, constant int *table, global const int *null) {
  out[get_global_id(0)] = null ? -1 : table[get_global_id(0) % 4];
}
__attribute__((reqd_work_group_size(2, 3, 4))) kernel void place(global int *out) {
  int at = get_global_id(0) + 4 * (get_global_id(1) + 6 * get_global_id(2));
  out[at] = get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2);
}
"""


@functools.cache
def module() -> runtime.Module:
    return runtime.Module(compile_opencl(SOURCE))


def test_a_module_tells_what_its_kernels_take():
    assert list(module()) == ["scale", "numbers", "setting", "turn", "pick", "place"]
    assert str(module()["scale"]) == "scale(an array, f32, i32)"
    assert str(module()["turn"]) == "turn(an array, local memory, local memory)"
    assert str(module()["pick"]) == "pick(an array, a constant array, an array)"
    assert str(module()["setting"]) == "setting(an array, a struct of 32 bytes)"
    numbers = [(p.kind, p.bits, p.lanes, p.bytes) for p in module()["numbers"].parameters[5:]]
    assert numbers == [("float", 32, 1, 4), ("float", 64, 1, 8), ("int", 32, 4, 16), ("float", 32, 3, 16)]
    assert module()["place"].local_size == (2, 3, 4)
    assert module()["scale"].local_size is None
    assert module()["scale"].subgroup_size is None


def test_a_kernel_tells_why_a_gpu_may_give_another_result():
    head = "int __attribute__((overloadable)) __spirv_AtomicIAdd(global int *, int, int, int);\n"
    source = "kernel void NAME(global int *x) { BODY }\n"
    one = source.replace("NAME", "count").replace("BODY", "__spirv_AtomicIAdd(x, 1, 0, 1);")
    two = "__attribute__((intel_reqd_sub_group_size(16))) " + source.replace("NAME", "set").replace("BODY", "*x = 1;")
    kernels = runtime.Module(compile_opencl(head + one + two))
    size, order = kernels["count"].may_differ
    assert size.startswith("the kernel requires no subgroup size")
    assert order.startswith("the kernel has atomics: a GPU does them in another order")
    assert kernels["set"].may_differ == ()
    assert runtime.Module(spirv_words.binary(spirv_words.base()))["k"].subgroup_size == 16


def test_arrays_are_written_where_they_are(rng):
    x = rng.standard_normal(1000).astype("f4")
    expected = x * np.float32(0.5)
    expected[900:] = x[900:]
    module()["scale"][16, 64](x, 0.5, 900)
    np.testing.assert_array_equal(x, expected)


def test_grids_and_blocks_have_three_dimensions():
    out = np.full((8, 6, 4), -1, "i4")
    module()["place"][(2, 2, 2), (2, 3, 4)](out)
    z, y, x = np.indices(out.shape)
    np.testing.assert_array_equal(out, x // 2 + 10 * (y // 3) + 100 * (z // 4))


def test_numbers_vectors_and_structs():
    out = np.zeros(8)
    module()["numbers"][1, 1](out, -3, 65535, np.int32(-5), 2**63, 1.5, np.float64(0.1), (1, 2, 3, 4), [2, 3, 4])
    np.testing.assert_array_equal(out, [-3, 65535, -5, 2.0**63, 1.5, 0.1, 4321, 14])
    struct = np.array([(7, 0.25, (1, 2, 9))], np.dtype([("a", "i1"), ("b", "f8"), ("c", "i4", 3)], align=True))
    module()["setting"][1, 1](out, struct.tobytes())
    np.testing.assert_array_equal(out[:3], [7, 0.25, 9])


@pytest.mark.parametrize("local", [64, (64, 32)])
def test_local_memory(local, rng):
    x = rng.integers(-100, 100, 16, "i4")
    expected = x[::-1] * 1000 + np.roll(x, -1) + 1
    module()["turn"][1, 16](x, local=local)
    np.testing.assert_array_equal(x, expected)


def test_null_pointers_constant_and_read_only_arrays():
    out, table = np.zeros(8, "i4"), np.array([5, 6, 7, 8], "i4")
    table.flags.writeable = False
    module()["pick"][1, 8](out, table, None)
    np.testing.assert_array_equal(out, [5, 6, 7, 8] * 2)
    module()["pick"][1, 8](out, table, table)
    assert (out == -1).all()
    with pytest.raises(XeTileError, match="argument 0: it is read-only, and the kernel wrote to it"):
        module()["pick"][1, 4](table, table[::-1].copy(), None)
    np.testing.assert_array_equal(table, [5, 6, 7, 8])


class Foreign:
    """An array of another library."""

    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)


def test_arrays_of_other_libraries_are_written_in_place():
    x = np.ones(64, "f4")
    module()["scale"][1, 64](Foreign(x), 3, 64)
    assert (x == 3).all()


def test_views_are_passed_by_their_first_element():
    x = np.zeros((4, 64), "f4") + 1
    module()["scale"][1, 64](x[2], 2, 64)
    np.testing.assert_array_equal(x[:, 0], [1, 1, 2, 1])
    bits = np.zeros(8, ml_dtypes.bfloat16)
    module()["scale"][1, 4](bits, 2, 4)


@pytest.mark.parametrize(
    ("message", "call"),
    {
        "expected 3 arguments (an array, f32, i32), got 2": lambda m: m["scale"][1, 1](np.ones(4, "f4"), 1),
        "argument 0: expected an array, got 4": lambda m: m["scale"][1, 1](4, 1, 1),
        "argument 1: expected f32, got an array float32[4]": lambda m: m["scale"][1, 1](
            np.ones(4, "f4"), np.ones(4, "f4"), 1
        ),
        "argument 2: expected a number of type i32, got 1.5": lambda m: m["scale"][1, 1](np.ones(4, "f4"), 1, 1.5),
        "argument 2: expected a number of type i32, got True": None,
        "argument 2: expected a number of type i32 (-2147483648 to 4294967295), got 4294967296": lambda m: m["scale"][
            1, 1
        ](np.ones(4, "f4"), 1, 2**32),
        "argument 1: expected a number in the range of f32, got 1e+39": lambda m: m["scale"][1, 1](
            np.ones(4, "f4"), 1e39, 1
        ),
        "argument 1: expected a number of type f32, got False": lambda m: m["scale"][1, 1](np.ones(4, "f4"), False, 1),
        "argument 1: expected a struct of 32 bytes as bytes, got 31 bytes": lambda m: m["setting"][1, 1](
            np.ones(4), b" " * 31
        ),
        "local: 2 of its parameters are local memory: expected their bytes, local=..., got 0": lambda m: m["turn"][
            1, 16
        ](np.zeros(16, "i4")),
        "local: expected the bytes of 2 parameters that are local memory, got tuple (1, 2, 3)": lambda m: m["turn"][
            1, 16
        ](np.zeros(16, "i4"), local=(1, 2, 3)),
        "local: no parameter is local memory, got 64": lambda m: m["scale"][1, 1](np.ones(4, "f4"), 1, 1, local=64),
        "the module has no kernel 'sclae'; it has 'scale', 'numbers'": lambda m: m["sclae"],
        "grid: expected one to three positive integers, got 0": lambda m: m["scale"][0, 1],
        "block: expected one to three positive integers, got tuple (1, 2, 3, 4)": lambda m: m["scale"][1, (1, 2, 3, 4)],
        "expected kernel[grid, block], got kernel[4]": lambda m: m["scale"][4],
        "was compiled for groups of 2x3x4 work-items": lambda m: m["place"][1, 8](np.zeros(8, "i4")),
        "takes at most": lambda m: m["scale"][1, 100000](np.ones(4, "f4"), 1, 1),
        "expected an array, got MaskedArray": lambda m: m["scale"][1, 1](np.ma.masked_array([1.0]), 1, 1),
    }.items(),
)
def test_what_does_not_fit_is_refused(message, call):
    if call is None:
        module()["scale"][1, 1](np.ones(1, "f4"), 1, True)  # C takes it for 1
        return
    with pytest.raises(XeTileError) as raised:
        call(module())
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("message", "spirv"),
    {
        "the kernel binary is not SPIR-V": b"kernel void k() {} // OpenCL C",
        "less than the header of a SPIR-V module": b"",
        "expected a SPIR-V module as bytes, or its path, got 5": 5,
        "nowhere.spv: No such file": "nowhere.spv",
        "native GPU code (ELF)": b"\x7fELF" + bytes(100),
        "of the other byte order": spirv_words.binary(spirv_words.base())[3::-1] + bytes(60),
        "has no kernel entry point": spirv_words.binary(spirv_words.base()[:5]),
    }.items(),
)
def test_what_is_no_module_is_refused(message, spirv):
    with pytest.raises(XeTileError) as raised:
        runtime.Module(spirv)
    assert message in str(raised.value)


def test_builtins_need_subgroups_of_16():
    source = """
    void __attribute__((overloadable)) intel_sub_group_2d_block_read_16b_8r16x1c(global void *, int, int, int, int2,
                                                                                private ushort *);
    kernel void k(global ushort *a) {
      ushort v[8];
      intel_sub_group_2d_block_read_16b_8r16x1c(a, 64, 8, 64, (int2)(0, 0), v);
      a[get_global_id(0)] = v[3];
    }"""
    kernel = runtime.Module(compile_opencl(source))["k"]
    with pytest.raises(XeTileError, match=r"requires no subgroup size. Put __attribute__\(\(intel_reqd_sub_group_size"):
        kernel[1, 16](np.zeros((8, 32), "u2"))


ASSERTING = """
void __devicelib_assert_fail(generic const char *, generic const char *, int, generic const char *, ulong, ulong, ulong,
                             ulong, ulong, ulong);
global const char text[] = "x[i] is positive", file[] = "kernel.cpp", function[] = "k";
kernel void k(global int *x) {
  int i = get_global_id(0);
  if (x[i] <= 0)
    __devicelib_assert_fail(text, file, 42, function, i, 0, 0, get_local_id(0), 0, 0);
}"""


def test_failed_assertions_are_raised_with_their_message():
    kernel = runtime.Module(compile_opencl(ASSERTING))["k"]
    x = np.arange(1, 65, dtype="i4")
    kernel[4, 16](x)
    x[37] = 0
    with pytest.raises(XeTileError) as raised:
        kernel[4, 16](x)
    assert (
        "the kernel 'k' failed an assertion: x[i] is positive, at kernel.cpp:42 in k; work-item (5, 0, 0) of group "
        "(2, 0, 0)"
    ) in str(raised.value)
    x[37] = 1
    kernel[4, 16](x)


def test_printf_prints(capfd):
    source = """
    kernel void k(int n) { if (get_global_id(0) == 3) printf("%d of %d\\n", (int)get_global_id(0), n); }
    """
    runtime.Module(compile_opencl(source, validate=False))["k"][1, 16](16)
    assert "3 of 16" in capfd.readouterr().out
