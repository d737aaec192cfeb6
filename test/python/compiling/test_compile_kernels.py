# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile.compile` of modules that are kernels already: at every level, called with arrays, saved, refused."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest
import xetile
from workgroups import launched
from xetile import XeTileError
from xetile.cli import main
from xetile.kernels.signature import Signature
from xetile.mlir import ir

MAP = "#xetile.wg_map<sg_layout = [2, 1], sg_data = [8, 16]>"
TILE = "!xetile.tile<16x16xf32, #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [8, 16]>>>"
VECTOR = "vector<16x16xf32>"
KINDS = {"X": "memref<40x16xf32>", "Y": "memref<40x16xf32>"}
# Y = X + X, in three workgroups of which the last one hangs over the edge.
DOUBLE = f"""
  %x = gpu.block_id x
  %rows = arith.constant 16 : index
  %at = arith.muli %x, %rows : index
  %xt = xetile.init_tile %X[%at, 0] : memref<40x16xf32> -> {TILE}
  %v = xetile.load_tile %xt : {TILE} -> {VECTOR}
  %s = arith.addf %v, %v : {VECTOR}
  %yt = xetile.init_tile %Y[%at, 0] : memref<40x16xf32> -> {TILE}
  xetile.store_tile %s, %yt : {VECTOR}, {TILE}
"""
XEGPU = """
  %cst = arith.constant 0 : index
  %d = xegpu.create_nd_tdesc %X : memref<40x16xf32> -> !xegpu.tensor_desc<16x16xf32{LAYOUT}>
  %v = xegpu.load_nd %d[%cst, %cst] : !xegpu.tensor_desc<16x16xf32{LAYOUT}> -> vector<16x16xf32>
  %s = arith.addf %v, %v {ON} : vector<16x16xf32>
  %e = xegpu.create_nd_tdesc %Y : memref<40x16xf32> -> !xegpu.tensor_desc<16x16xf32{LAYOUT}>
  xegpu.store_nd %s, %e[%cst, %cst] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32{LAYOUT}>
"""
LAYOUT = "#xegpu.layout<sg_layout = [2, 1], sg_data = [8, 16]>"


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


def compiled(text: str, **options) -> xetile.Kernel:
    return xetile.compile(parse(text), **{"target": "pvc", "native": "off", **options})


def arrays(rng) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(-9, 9, (40, 16)).astype(np.float32), np.full((40, 16), np.nan, np.float32)


@pytest.fixture(scope="module")
def double() -> xetile.Kernel:
    return compiled(launched(DOUBLE, KINDS, 2, (3, 1)))


def test_what_is_written_is_the_callers_array(rng, double):
    x, y = arrays(rng)
    kept = x.copy()
    assert double(x, y) is None
    np.testing.assert_array_equal(y, x + x)
    np.testing.assert_array_equal(x, kept)
    assert str(double.signature) == "main(40x16xf32, written 40x16xf32) -> ()"
    assert list(double.stages)[0] == "1-xetile-workgroup" and len(double.stages) == 6
    assert "compiled from the level 1-xetile-workgroup" in double.explain()


def test_arguments_that_are_read_may_have_any_strides(rng, double):
    x, y = arrays(rng)
    double(np.asfortranarray(x), y)
    np.testing.assert_array_equal(y, x + x)


def frozen(y: np.ndarray) -> np.ndarray:
    y.flags.writeable = False
    return y


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (x,), "@main: expected 2 arrays, got 1"),
        (lambda x, y: (x, y.astype(np.float64)), "argument 1: expected 40x16xf32 (float32), got float64[40, 16]"),
        (lambda x, y: (x, y[:32]), "argument 1: expected 40x16xf32 (float32), got float32[32, 16]"),
        (lambda x, y: (x, np.asfortranarray(y)), "argument 1: expected a writable array in C order"),
        (lambda x, y: (x, frozen(y)), "argument 1: expected a writable array in C order"),
        (lambda x, y: (x, y.tolist()), "argument 1: expected an array 40x16xf32 (float32), got list"),
        (lambda x, y: (y, y), "argument 1: it is written and shares memory with argument 0; pass a copy"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(rng, double, change, message):
    x, y = arrays(rng)
    with pytest.raises(XeTileError) as error:
        double(*change(x, y))
    assert message in str(error.value)
    assert np.isnan(y).all()


def test_out_is_for_results(rng, double):
    x, y = arrays(rng)
    with pytest.raises(XeTileError, match="out: it has no results, it writes to argument 1: pass that array there"):
        double(x, y, out=y)


def test_each_level_of_a_matmul_goes_on_to_the_same_kernel(rng):
    tiling = {"workgroup_m": 16, "workgroup_n": 32, "subgroups_m": 2, "subgroups_n": 1}
    whole = xetile.compile(xetile.matmul(16, 32, 32), "matmul", "pvc", tiling, native="off")
    shapes = (((16, 32), np.float16), ((32, 32), np.float16), ((16, 32), np.float32))
    given = [rng.integers(-4, 5, shape).astype(dtype) for shape, dtype in shapes]
    expected = given[0].astype(np.float32) @ given[1].astype(np.float32) + given[2]
    names = list(whole.stages)
    for number, level in enumerate(names[1:5], start=1):
        kernel = compiled(whole.stages[level])
        assert list(kernel.stages) == names[number:], level
        assert (kernel.arguments, kernel.results) == (whole.arguments, whole.results), level
        np.testing.assert_array_equal(kernel(*given), expected)


def test_sizes_of_a_run_are_checked_from_each_level_on(rng):
    a, b, c = "tensor<?x32xf16>", "tensor<32x16xf16>", "tensor<?x16xf32>"
    text = f"""func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
      %d = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
      return %d : {c}
    }}"""
    tiling = {"workgroup_m": 16, "workgroup_n": 16, "subgroups_m": 1, "subgroups_n": 1}
    whole = compiled(text, schedule="matmul", params=tiling)
    kernel = compiled(whole.stages["1-xetile-workgroup"])
    assert (kernel.conditions, str(kernel.signature)) == (whole.conditions, str(whole.signature))
    arrays = [rng.integers(-4, 5, size).astype(np.float16) for size in ((20, 32), (32, 16))]
    with pytest.raises(XeTileError, match=r"expected argument 0, dimension 0 \(20\) == argument 2, dimension 0 \(19\)"):
        kernel(*arrays, np.zeros((19, 16), np.float32))
    assert compiled(whole.stages["3-xetile-blocked"]).conditions == whole.conditions


@pytest.mark.parametrize(
    ("layout", "subgroups", "rows"), [("", 1, 16), (LAYOUT, 2, 16)], ids=["a subgroup's", "a workgroup's"]
)
def test_xegpu_by_hand(rng, layout, subgroups, rows):
    body = XEGPU.replace("{LAYOUT}", f", {layout}" if layout else "")
    body = body.replace("{ON}", f"{{layout_result_0 = {layout}}}" if layout else "")
    kernel = compiled(launched(body, KINDS, subgroups).replace("attributes {llvm.emit_c_interface}", ""))
    x, y = arrays(rng)
    kernel(x, y)
    # Each subgroup has its own rows, which its number tells.
    assert ("get_sub_group_id" in kernel.stages["5-xevm"]) == bool(layout)
    np.testing.assert_array_equal(y[:rows], 2 * x[:rows])
    assert np.isnan(y[rows:]).all()
    assert list(kernel.stages) == ["4-xegpu", "5-xevm", "6-llvm"]


def test_without_maps_it_is_a_subgroups(rng):
    kernel = compiled(launched(unmapped(DOUBLE), KINDS, 1, (3, 1)))
    x, y = arrays(rng)
    kernel(x, y)
    np.testing.assert_array_equal(y, x + x)
    assert list(kernel.stages)[0] == "2-xetile-subgroup"


def unmapped(text: str) -> str:
    return text.replace(", #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [8, 16]>>", "")


def test_sizes_of_a_run(rng):
    body = """
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = memref.dim %X, %c0 : memref<?x?xf32>
      %n = memref.dim %X, %c1 : memref<?x?xf32>
      %xt = xetile.init_tile %X[0, 0], [%m, %n], [%n, 1] : memref<?x?xf32> -> !xetile.tile<8x16xf32>
      %v = xetile.load_tile %xt : !xetile.tile<8x16xf32> -> vector<8x16xf32>
      %yt = xetile.init_tile %Y[0, 0], [%m, %n], [%n, 1] : memref<?x?xf32> -> !xetile.tile<8x16xf32>
      xetile.store_tile %v, %yt : vector<8x16xf32>, !xetile.tile<8x16xf32>
    """
    kernel = compiled(launched(body, {"X": "memref<?x?xf32>", "Y": "memref<?x?xf32>"}, 1))
    x, y = rng.standard_normal((5, 16)).astype(np.float32), np.zeros((5, 16), np.float32)
    kernel(x, y)
    np.testing.assert_array_equal(y, x)


def test_a_function_with_results_keeps_what_its_kernels_write(rng):
    text = launched(DOUBLE, KINDS, 2, (3, 1))
    text = text.replace(
        "%Y: memref<40x16xf32>) attributes {llvm", "%Y: memref<40x16xf32>) -> memref<40x16xf32> attributes {llvm"
    )
    text = text.replace("    return\n  }\n}", "    return %Y : memref<40x16xf32>\n  }\n}")
    kernel = compiled(text)
    assert str(kernel.signature) == "main(40x16xf32, 40x16xf32) -> (40x16xf32)"
    x, y = arrays(rng)
    np.testing.assert_array_equal(kernel(x, y), x + x)
    assert np.isnan(y).all()


def test_the_saved_kernel_is_called_alike(rng, double, tmp_path):
    file = double.save(tmp_path / "double.so")
    loaded = xetile.load(file)
    x, y = arrays(rng)
    assert loaded(x, y) is None
    np.testing.assert_array_equal(y, x + x)
    assert loaded.signature == double.signature == Signature.from_json(double.signature.to_json())
    assert "// a1: 40x16xf32, elements of float, written by the call" in loaded.header()
    with pytest.raises(XeTileError, match="argument 1: expected a writable array"):
        loaded(x, frozen(y))


# One process for each file: a second kernel of one name stays with the first.
OVERLAPPING = """
import ctypes, sys
import numpy as np
from xetile.kernels.function import descriptor_of
memory = np.zeros((50, 16), np.float32)
check = ctypes.CDLL(sys.argv[1]).main_checked
check.restype = ctypes.c_char_p
x, y = (descriptor_of(array) for array in (memory[:40], memory[10:]))
print(check(ctypes.byref(x), ctypes.byref(y)).decode())
"""


def test_c_is_told_of_memory_that_overlaps(double, tmp_path):
    file = double.save(tmp_path / "double.so")
    run = subprocess.run([sys.executable, "-c", OVERLAPPING, file], capture_output=True, text=True, check=True)
    assert "@main: expected argument 1 apart from argument 0" in run.stdout
    assert ctypes.sizeof(ctypes.c_void_p) == 8


HOSTLESS = "gpu.module @device { gpu.func @k() kernel { gpu.return } }"
ON_TENSORS = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (launched(DOUBLE, KINDS, 2), {"schedule": "matmul"}, "expected exactly one linalg.matmul, found 0"),
        (launched(DOUBLE, KINDS, 2), {"target": "cpu"}, "got a module with kernels for a GPU (gpu.module)"),
        (launched(DOUBLE, KINDS, 3), {}, "its wg_maps need 2 subgroups of 16 = 32"),
        (launched(unmapped(DOUBLE), KINDS, 2), {}, "has no wg_map, and neither has any other value of @kernel"),
        (HOSTLESS, {}, "the module is at the level 4-xegpu: expected a module with one public function, got none"),
    ],
)
def test_what_cannot_be_compiled_is_refused(text, options, message):
    with pytest.raises(XeTileError) as error:
        xetile.compile(parse(text), **{"target": "pvc", **options})
    assert message in str(error.value)


# Removes what is computed twice.
EDIT = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    transform.apply_cse to %module : !transform.any_op
    transform.yield
  }
}
"""


def test_a_schedule_that_is_named_edits_the_kernel(rng, tmp_path):
    file = tmp_path / "edit.mlir"
    file.write_text(EDIT)
    twice = DOUBLE.replace("%yt =", f"%again = arith.addf %v, %v : {VECTOR}\n%yt =")
    kernel = compiled(launched(twice, KINDS, 2, (3, 1)), schedule=file)
    assert [kernel.stages[level].count("arith.addf") for level in ("0-linalg", "1-xetile-workgroup")] == [2, 1]
    x, y = arrays(rng)
    kernel(x, y)
    np.testing.assert_array_equal(y, x + x)


@pytest.mark.parametrize("level", ["5-xevm", "6-llvm"])
def test_levels_that_do_not_tell_what_is_written_are_refused(double, level):
    with pytest.raises(XeTileError, match=f"the module is at the level {level}, where nothing tells which arguments"):
        compiled(double.stages[level])


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "memref<40x16xf32, strided<[32, 1]>>",
            "expected memrefs of host memory in C order, without layout and memory",
        ),
        ("f32", "expected arguments and results to be ranked memrefs, as the kernel's are, got f32"),
    ],
)
def test_arguments_that_arrays_cannot_be_are_told_at_a_call(kind, message):
    kernel = compiled(launched("", {"X": kind}, 1))
    with pytest.raises(XeTileError) as error:
        kernel(np.zeros((40, 16), np.float32))
    assert f"@main cannot be called with arrays: {message}" in str(error.value)
    assert "(the module is at the level 4-xegpu)" in str(error.value)


def test_lower_gives_the_same_levels(double):
    levels = list(xetile.lower(parse(launched(DOUBLE, KINDS, 2, (3, 1))), target="pvc", native="off"))
    assert [stage.name for stage in levels] == list(double.stages)
    assert levels[3].text == double.stages["4-xegpu"]


def test_the_command_compiles_and_runs_it(tmp_path, capsys):
    file = tmp_path / "double.mlir"
    file.write_text(launched(DOUBLE, KINDS, 2, (3, 1)))

    def command(*arguments: str) -> tuple[int, str, str]:
        status = main([arguments[0], str(file), *arguments[1:]])
        return (status, *capsys.readouterr())

    status, out, error = command("run", "--target", "bmg")
    assert (status, error) == (0, "") and "main(40x16xf32, written 40x16xf32) -> () for bmg" in out
    status, _, error = command("run", "--check")
    assert status == 1 and "--check: expected a function on tensors" in error
    assert "xegpu.load_nd" in command("compile", "--emit", "xegpu", "-o", "-")[1]
    assert "compiled from the level 1-xetile-workgroup" in command("explain")[1]
    status, _, error = command("explain", "--target", "cpu")
    assert status == 1 and "expected linalg ops on tensors" in error
