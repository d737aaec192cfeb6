# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a Kernel is and how it is called."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import xetile
from xetile.mlir import ir
from xetile.targets import XeTarget

A, C = "tensor<256x64xf16>", "tensor<256x256xf32>"
B = "tensor<64x256xf16>"
MATMUL = f"%D = linalg.matmul ins(%A, %B : {A}, {B}) outs(%C : {C}) -> {C}"


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


def function(
    results: str = C, body: str = f"return %D : {C}", arguments: str = f"%A: {A}, %B: {B}, %C: {C}"
) -> ir.Module:
    return parse(f"func.func @f({arguments}) -> ({results}) {{ {MATMUL}\n {body} }}")


@pytest.fixture
def arrays(rng):
    return (
        rng.integers(-4, 5, (256, 64)).astype(np.float16),
        rng.integers(-4, 5, (64, 256)).astype(np.float16),
        rng.integers(-4, 5, (256, 256)).astype(np.float32),
    )


@pytest.fixture(scope="module")
def kernel() -> xetile.Kernel:
    return xetile.compile(function(), native="off")


def product(a, b, c):
    return a.astype(np.float32) @ b.astype(np.float32) + c


def run_python(code: str, **environment: str) -> str:
    """The output of `code` in a fresh interpreter: for what a process does only once, and must survive."""
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_stages_hold_every_level(kernel):
    assert tuple(kernel.stages) == XeTarget("pvc").levels
    assert tuple(kernel.timings) == XeTarget("pvc").levels
    decisive = (
        "linalg.matmul",
        "#xetile.wg_map",
        "xetile.tile_mma",
        "inner_blocks",
        "xegpu.dpas",
        "xevm.mma",
        "gpu.binary",
    )
    for name, text in zip(kernel.stages, decisive, strict=True):
        assert text in kernel.stages[name], name
    assert "wg_map" not in kernel.stages["2-xetile-subgroup"]
    assert "xetile.tile_mma" not in kernel.stages["4-xegpu"]
    # The function, its return, the matmul and what that does to each element: extend twice, multiply, add, yield.
    assert kernel.stages.stage("0-linalg").count_ops() == 8


def test_every_stage_is_a_module_that_parses(kernel):
    for name in kernel.stages:
        assert parse(kernel.stages[name]).operation.verify(), name


def test_unknown_stage_lists_the_stages(kernel):
    with pytest.raises(KeyError, match="3-blocked.*; the stages: 0-linalg, 1-xetile-workgroup"):
        kernel.stages["3-blocked"]


def test_stages_are_written_to_files(kernel, tmp_path):
    paths = kernel.stages.write(tmp_path / "new")
    assert [path.name for path in paths] == [f"{name}.mlir" for name in XeTarget("pvc").levels]
    assert paths[4].read_text() == kernel.stages["4-xegpu"]


def test_spirv_is_validated_and_has_the_subgroup_size(kernel, validate_spirv):
    validate_spirv(kernel.spirv)
    text = subprocess.run(["spirv-dis"], input=kernel.spirv, capture_output=True, check=True).stdout.decode()
    assert "SubgroupSize 16" in text


def test_signature_and_repr_tell_shapes_and_types(kernel):
    assert str(kernel.signature) == "f(256x64xf16, 64x256xf16, 256x256xf32) -> (256x256xf32)"
    assert kernel.signature.arguments[0].shape == (256, 64)
    assert kernel.signature.arguments[0].numpy_dtype == np.float16
    assert repr(kernel).startswith("<Kernel f(256x64xf16")


def test_result_is_new_and_arguments_do_not_change(kernel, arrays):
    copies = [array.copy() for array in arrays]
    first, second = kernel(*arrays), kernel(*arrays)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert not np.shares_memory(first, array)
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, product(*arrays))
    np.testing.assert_array_equal(second, first)


def test_strided_and_read_only_arrays_will_do(kernel, arrays):
    a, b, c = arrays
    wide = np.zeros((256, 128), np.float16)
    wide[:, ::2] = a
    c.flags.writeable = False
    result = kernel(wide[:, ::2], np.asfortranarray(b), c)
    np.testing.assert_array_equal(result, product(a, b, c))


def test_bf16_arrays_are_those_of_ml_dtypes(compile_kernel, rng):
    kernel = compile_kernel(xetile.matmul(256, 256, 64, "bf16"))
    a, b = (rng.integers(-4, 5, shape).astype(ml_dtypes.bfloat16) for shape in ((256, 64), (64, 256)))
    c = np.zeros((256, 256), np.float32)
    np.testing.assert_array_equal(kernel(a, b, c), product(a, b, c))
    with pytest.raises(
        xetile.XeTileError, match=r"argument 0: .*bfloat16.*uint16.*; .*array.view\(ml_dtypes.bfloat16\)"
    ):
        kernel(a.view(np.uint16), b, c)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, b, c: (a, b), r"expected 3 arrays, got 2"),
        (lambda a, b, c: (a, b, c, c), r"expected 3 arrays, got 4"),
        (lambda a, b, c: (a[:128], b, c), r"argument 0: expected 256x64xf16 \(float16\), got float16\[128, 64\]"),
        (lambda a, b, c: (a, b.T, c), r"argument 1: expected 64x256xf16 \(float16\), got float16\[256, 64\]"),
        (lambda a, b, c: (a[None], b, c), r"argument 0: expected 256x64xf16 \(float16\), got float16\[1, 256, 64\]"),
        (lambda a, b, c: (a, b, c[0, 0]), r"argument 2: expected an array 256x256xf32 \(float32\), got float32"),
        (lambda a, b, c: (a, b, c.astype(np.float64)), r"argument 2: expected 256x256xf32 .*got .*float64"),
        (lambda a, b, c: (a.astype(np.float32), b, c), r"argument 0: expected 256x64xf16 .*got .*float32"),
        (lambda a, b, c: (a.astype(">f2"), b, c), r"argument 0: expected 256x64xf16 .*got .*>f2"),
        (lambda a, b, c: (a.tolist(), b, c), r"argument 0: expected an array 256x64xf16 \(float16\), got list"),
        (lambda a, b, c: (None, b, c), r"argument 0: expected an array 256x64xf16 \(float16\), got NoneType"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(kernel, arrays, change, message):
    with pytest.raises(xetile.XeTileError, match=message):
        kernel(*change(*arrays))
    np.testing.assert_array_equal(kernel(*arrays), product(*arrays))


def test_an_argument_that_is_returned_comes_back_as_a_copy(compile_kernel, arrays):
    kernel = compile_kernel(function(f"{C}, {A}", f"return %D, %A : {C}, {A}"))
    d, a = kernel(*arrays)
    np.testing.assert_array_equal(d, product(*arrays))
    np.testing.assert_array_equal(a, arrays[0])
    assert not np.shares_memory(a, arrays[0])


def test_a_result_that_is_returned_twice_is_freed_once(compile_kernel, arrays):
    kernel = compile_kernel(function(f"{C}, {C}", f"return %D, %D : {C}, {C}"))
    for _ in range(3):
        first, second = kernel(*arrays)
        np.testing.assert_array_equal(first, product(*arrays))
        np.testing.assert_array_equal(second, first)
        assert not np.shares_memory(first, second)


def test_a_constant_may_be_returned(compile_kernel, arrays):
    constant = "%k = arith.constant dense<[[1., 2., 3.], [4., 5., 6.]]> : tensor<2x3xf32>"
    kernel = compile_kernel(function(f"{C}, tensor<2x3xf32>", f"{constant}\n return %D, %k : {C}, tensor<2x3xf32>"))
    for _ in range(2):
        d, k = kernel(*arrays)
        np.testing.assert_array_equal(d, product(*arrays))
        np.testing.assert_array_equal(k, [[1, 2, 3], [4, 5, 6]])


def test_a_function_that_writes_to_an_argument_gets_a_copy(compile_kernel, arrays):
    arguments = f"%A: {A}, %B: {B}, %C: {C} {{bufferization.writable = true}}"
    kernel = compile_kernel(function(arguments=arguments))
    assert "memref.alloc" not in kernel.stages["1-xetile-workgroup"]
    expected, c = product(*arrays), arrays[2].copy()
    for _ in range(2):
        np.testing.assert_array_equal(kernel(*arrays), expected)
        np.testing.assert_array_equal(arrays[2], c)


def test_results_do_not_leak(kernel, arrays):
    """A result is 256 KiB: 400 of them would be 100 MiB."""
    from xetile import runtime

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(20):
        kernel(*arrays)
    before, allocations = resident(), runtime.stats().live_allocations
    for _ in range(400):
        kernel(*arrays)
    assert resident() - before < 50 * 2**20
    assert runtime.stats().live_allocations == allocations


def test_a_signature_without_arrays_compiles_and_is_refused_when_called(compile_kernel, arrays):
    arguments = f"%A: {A}, %B: {B}, %C: {C}, %i: index"
    kernel = compile_kernel(function(arguments=arguments))
    with pytest.raises(xetile.XeTileError, match="@f cannot be called with arrays: expected tensors .*got index"):
        kernel(*arrays, 1)


CALL = """
import os
import numpy as np, xetile
kernel = xetile.compile(xetile.matmul(256, 256, 64), native="off")
a, b, c = np.ones((256, 64), np.float16), np.ones((64, 256), np.float16), np.ones((256, 256), np.float32)
try:
    kernel(a, b, c)
    print("no error")
except xetile.XeTileError as error:
    print(error)
del os.environ[NAME]
print("then", kernel(a, b, c).sum() == 65 * 256 * 256)
"""


def test_without_a_device_the_call_fails_and_later_ones_are_not_harmed():
    output = run_python(CALL.replace("NAME", "'XETILE_DEVICE'"), XETILE_DEVICE="nosuch")
    assert "XETILE_DEVICE='nosuch' matches no OpenCL device" in output
    assert output.rstrip().endswith("then True")


def test_a_failed_link_is_an_error_and_later_calls_are_not_harmed(tmp_path):
    output = run_python(CALL.replace("NAME", "'XETILE_BUILTINS'"), XETILE_BUILTINS="nosuch")
    assert "XETILE_BUILTINS='nosuch' is neither" in output
    assert output.rstrip().endswith("then True")
