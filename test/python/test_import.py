# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`import xetile`, and upstream's bindings with XeTile in them."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
import xetile
from xetile.mlir import ir
from xetile.mlir.dialects import arith, func
from xetile.mlir.dialects import transform as transform_dialect
from xetile.mlir.dialects import xetile as xetile_dialect
from xetile.mlir.dialects.transform import interpreter, structured
from xetile.mlir.dialects.transform import xetile as xetile_transform
from xetile.mlir.execution_engine import ExecutionEngine
from xetile.mlir.passmanager import PassManager

LOAD = """
func.func @load(%A: memref<128x128xf16>) -> vector<64x32xf16> {
  %t = xetile.init_tile %A[0, 0] : memref<128x128xf16> -> !xetile.tile<64x32xf16>
  %v = xetile.load_tile %t : !xetile.tile<64x32xf16> -> vector<64x32xf16>
  return %v : vector<64x32xf16>
}
"""


@pytest.fixture
def context():
    with ir.Context() as context, ir.Location.unknown():
        yield context


def python(code: str) -> str:
    """The output of `code` in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_import_alone_loads_no_mlir():
    code = "import sys, xetile; print([m for m in sys.modules if m.startswith('xetile.mlir')])"
    assert python(code) == "[]"


def test_public_names_resolve():
    for name in xetile.__all__:
        assert getattr(xetile, name) is not None, name


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match="no attribute 'compiler_of_dreams'; it has .*XeTileError"):
        xetile.compiler_of_dreams  # noqa: B018


def test_parses_and_prints_xetile_text(context):
    module = ir.Module.parse(LOAD)
    printed = str(module)
    assert "xetile.load_tile %0 : !xetile.tile<64x32xf16> -> vector<64x32xf16>" in printed
    assert str(ir.Module.parse(printed)) == printed


def test_parsed_operations_have_generated_classes(context):
    module = ir.Module.parse(LOAD)
    operations = list(module.body.operations[0].entry_block.operations)
    assert isinstance(operations[0], xetile_dialect.InitTileOp)
    assert isinstance(operations[1], xetile_dialect.LoadTileOp)
    assert operations[1].tile == operations[0].result


def test_builders_make_what_the_parser_reads(context):
    module = ir.Module.create()
    memref = ir.Type.parse("memref<128x128xf16>")
    tile = ir.Type.parse("!xetile.tile<64x32xf16>")
    vector = ir.Type.parse("vector<64x32xf16>")
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("load", ((memref,), (vector,)))
    with ir.InsertionPoint(function.add_entry_block()):
        init = xetile_dialect.InitTileOp(tile, function.arguments[0], [], [], [], [0, 0])
        load = xetile_dialect.LoadTileOp(init.result)
        func.ReturnOp([load.result])
    assert module.operation.verify()
    assert str(module) == str(ir.Module.parse(LOAD))


def test_types_and_attributes_have_classes(context):
    wg_map = xetile_dialect.WgMapAttr.get([8, 4], [32, 32])
    encoding = xetile_dialect.TileAttr.get(wg_map=wg_map, order=[0, 1], inner_blocks=[16, 16], memory_space="slm")
    tile = xetile_dialect.TileType.get([256, 32], ir.F16Type.get(), encoding)
    assert str(tile) == (
        "!xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>, "
        "order = [0, 1], inner_blocks = [16, 16], memory_space = slm>>"
    )
    assert (tile.shape, str(tile.element_type), tile.encoding) == ([256, 32], "f16", encoding)
    assert str(tile.vector_type) == "vector<16x2x16x16xf16>"
    assert (wg_map.sg_layout, wg_map.sg_data) == ([8, 4], [32, 32])
    assert (encoding.wg_map, encoding.order, encoding.inner_blocks) == (wg_map, [0, 1], [16, 16])
    assert (encoding.memory_space, encoding.scatter) == ("slm", False)
    assert xetile_dialect.TileType.get([8, 16], ir.F16Type.get()).encoding is None
    assert xetile_dialect.TileAttr.get(scatter=True).scatter


def test_parsed_types_have_their_class(context):
    tile = ir.Type.parse("!xetile.tile<8x16xf16, #xetile.tile_attr<scatter = true>>")
    assert isinstance(tile, xetile_dialect.TileType)
    assert isinstance(tile.encoding, xetile_dialect.TileAttr)


def test_wrong_types_and_attributes_are_value_errors(context):
    with pytest.raises(ValueError, match="expected sg_layout to have two elements, rows and columns, got 3"):
        xetile_dialect.WgMapAttr.get([8, 4, 1], [32, 32])
    with pytest.raises(ValueError, match="expected memory_space to be 'global' or 'slm', got 'local'"):
        xetile_dialect.TileAttr.get(memory_space="local")
    with pytest.raises(ValueError, match=r"expected order to be \[1, 0\]"):
        xetile_dialect.TileAttr.get(order=[1, 1])
    with pytest.raises(ValueError, match="expected the sizes of a tile to be static and positive, got 0"):
        xetile_dialect.TileType.get([0, 16], ir.F16Type.get())


def test_result_types_follow_from_operands(context):
    vector = ir.Type.parse("vector<64x32xf32>")
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("f", ((vector,), ()))
    with ir.InsertionPoint(function.add_entry_block()):
        (v,) = function.arguments
        transposed = xetile_dialect.TileTransposeOp(v, [1, 0])
        packed = xetile_dialect.TilePackOp(v, [16, 16])
        unpacked = xetile_dialect.TileUnpackOp(packed.result, [16, 16])
        func.ReturnOp([])
    assert module.operation.verify()
    types = [str(op.result.type) for op in (transposed, packed, unpacked)]
    assert types == ["vector<32x64xf32>", "vector<4x2x16x16xf32>", "vector<64x32xf32>"]


def test_verifier_errors_become_xetile_errors_with_their_place(context):
    bad = LOAD.replace("vector<64x32xf16>", "vector<64x16xf16>")
    with pytest.raises(ir.MLIRError) as caught:
        ir.Module.parse(bad, context)
    error = xetile.XeTileError.from_mlir("the module does not parse", caught.value)
    assert error.message == "the module does not parse"
    assert [diagnostic.severity for diagnostic in error.diagnostics] == ["error"]
    assert "load_tile" in error.diagnostics[0].message
    line = 1 + bad[: bad.index("xetile.load_tile")].count("\n")
    assert error.diagnostics[0].location.startswith(f"-:{line}:")
    assert str(error).startswith(f"the module does not parse:\n  -:{line}:")


def test_error_prints_notes_below_their_diagnostic():
    note = xetile.Diagnostic("note", "declared here\nand here", "a.mlir:1:2")
    error = xetile.XeTileError("no", [xetile.Diagnostic("error", "bad", None, (note,))])
    assert str(error) == "no:\n  error: bad\n    a.mlir:1:2: note: declared here\n      and here"


@pytest.mark.parametrize(
    "name",
    [
        "convert-vector-to-xetile",
        "xetile-infer-wg-map",
        "xetile-wg-to-sg",
        "convert-xetile-to-vector",
        "convert-xetile-to-xegpu",
        "xetile-emit-binary",
        "xetile-lower-to-xegpu",
        "xetile-lower-xegpu-to-xevm",
        "xetile-lower-to-binary",
    ],
)
def test_passes_and_pipelines_are_registered(context, name):
    try:
        PassManager.parse(f"builtin.module({name})")
    except ValueError as error:
        # A pass on functions or kernels does not fit a module, but it is known.
        assert "does not refer to a registered" not in str(error)


def test_schedules_run_from_python(context):
    schedule = ir.Module.create()
    schedule.operation.attributes["transform.with_named_sequence"] = ir.UnitAttr.get()
    any_op = transform_dialect.AnyOpType.get()
    with ir.InsertionPoint(schedule.body):
        entry = transform_dialect.NamedSequenceOp(
            "__transform_main", [any_op], [], arg_attrs=[{"transform.readonly": ir.UnitAttr.get()}]
        )
    with ir.InsertionPoint(entry.body):
        functions = structured.MatchOp.match_op_names(entry.bodyTarget, ["func.func"])
        xetile_transform.PreserveArgumentsOp(entry.bodyTarget)
        transform_dialect.AnnotateOp(functions, "seen")
        transform_dialect.YieldOp()
    payload = ir.Module.parse("func.func @f(%x: tensor<4x4xf32>) { return }")
    interpreter.apply_named_sequence(payload, entry, schedule)
    assert "attributes {seen}" in str(payload)
    assert "%arg0: tensor<4x4xf32> {bufferization.writable = false}" in str(payload)


def test_execution_engine_runs_a_function(context):
    module = ir.Module.create()
    i32 = ir.IntegerType.get_signless(32)
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("add", ((i32, i32), (i32,)))
        function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    with ir.InsertionPoint(function.add_entry_block()):
        func.ReturnOp([arith.addi(*function.arguments)])
    PassManager.parse("builtin.module(convert-func-to-llvm,convert-arith-to-llvm)").run(module.operation)
    result = ctypes.c_int(0)
    pointers = [ctypes.pointer(ctypes.c_int(value)) for value in (3, 4)]
    ExecutionEngine(module).invoke("add", *pointers, ctypes.pointer(result))
    assert result.value == 7


def test_one_libmlir_is_loaded(context):
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if " r-xp " in line}
    assert len([path for path in mapped if "/libMLIR.so" in path]) == 1
    assert len([path for path in mapped if "/libLLVM" in path]) == 1


def test_types_are_there_for_type_checkers():
    package = Path(xetile.__file__).parent
    assert (package / "py.typed").is_file()
    ours = [*package.glob("*.so"), *package.glob("mlir/_mlir_libs/_xetile*.so")]
    assert len(ours) >= 4
    assert [path.name for path in ours if not path.with_name(f"{path.name.split('.')[0]}.pyi").is_file()] == []
