# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile-compile` from Python: one calling convention, level by level as in one go, lines of the user's file."""

import ctypes
import re
import struct
from collections import Counter

import numpy as np
import pytest
import xetile
from xetile import XeTileError, passes, runtime, schedule
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.mlir.dialects import gpu
from xetile.mlir.execution_engine import ExecutionEngine
from xetile.mlir.runtime import get_ranked_memref_descriptor

TARGETS = ["bmg", "cpu", "lnl", "pvc"]
# Of each target, for its kernel to be small.
OPTIONS = {"cpu": {"threads": "1"}}
TILING = {"workgroup_m": 64, "workgroup_n": 64, "subgroups_m": 2, "subgroups_n": 2}

# D = A * B + C; the second result is an argument.
MATMUL = """
func.func @f(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32> {WRITABLE})
    -> (tensor<64x64xf32>, tensor<64x32xf16>) {
  %d = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x64xf16>)
                     outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d, %a : tensor<64x64xf32>, tensor<64x32xf16>
}
"""


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


def lower(payload: ir.Module, target: str) -> dict[str, ir.Module]:
    """The module at each level."""
    options = OPTIONS.get(target, {"native": "off"})
    levels, module = {}, payload
    for name, action, pipeline in _xetile.levels(target, options):
        if pipeline:
            module = _xetile.clone_module(module.operation)
            passes.run(module, pipeline, action=action)
        else:
            tiled = schedule.matmul(target=target).with_params(**TILING)
            module = tiled.apply(module)
        levels[name] = module
    return levels


def call(module: ir.Module, name: str, *arrays: np.ndarray) -> None:
    libraries = [str(runtime.library_path())]
    with runtime.checked():
        engine = ExecutionEngine(_xetile.clone_module(module.operation), opt_level=2, shared_libs=libraries)
        engine.initialize()
        engine.invoke(name, *[ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(a))) for a in arrays])


def test_all_targets_are_described():
    entries = _xetile.describe_targets()
    # A core may be built without Nvidia's.
    assert [entry["name"] for entry in entries if entry["name"] != "sm_90a"] == TARGETS
    for entry in entries:
        assert entry["levels"] == [name for name, _, _ in _xetile.levels(entry["name"])]
        assert all(entry["options"].values()), "an option that does not say what it is for"
    assert {entry["binary"].split(",")[0] for entry in entries} - {"PTX"} == {"SPIR-V", "object code"}


@pytest.mark.parametrize("writable", ["", "bufferization.writable = true"])
@pytest.mark.parametrize("target", ["pvc", "cpu"])
def test_every_target_keeps_arguments_and_writes_results_where_the_caller_says(target, writable):
    """An argument that is marked as writable, too."""
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((64, 32), (32, 64)))
    c = rng.integers(-3, 4, (64, 64)).astype(np.float32)
    arguments = [array.copy() for array in (a, b, c)]
    results = [np.full((64, 64), np.nan, np.float32), np.full((64, 32), np.nan, np.float16)]
    levels = lower(parse(MATMUL.replace("{WRITABLE}", f"{{{writable}}}")), target)
    call(list(levels.values())[-1], "f", *arguments, *results)
    for given, kept in zip(arguments, (a, b, c), strict=True):
        np.testing.assert_array_equal(given, kept)
    np.testing.assert_array_equal(results[0], a.astype(np.float32) @ b.astype(np.float32) + c)
    np.testing.assert_array_equal(results[1], a)


def test_an_argument_that_may_be_written_is_written_to_without_the_pass():
    """So that the test above shows something: the schedule alone lets the kernel add up in C."""
    tiled = schedule.matmul().with_params(**TILING)
    module = tiled.apply(parse(MATMUL.replace("{WRITABLE}", "{bufferization.writable = true}")))
    before = str(module)
    passes.run(module, "xetile-keep-arguments")
    assert before.count("memref.alloc") == 0
    assert str(module).count("memref.alloc") == 1


@pytest.mark.parametrize("target", TARGETS)
def test_levels_one_by_one_are_those_of_one_pipeline(target):
    levels = lower(parse(MATMUL.replace("{WRITABLE}", "{}")), target)
    names = list(levels)
    start = names[0] if target == "cpu" else names[1]
    options = "threads=1" if target == "cpu" else "native=off"
    module = _xetile.clone_module(levels[start].operation)
    passes.run(module, f"xetile-compile{{target={target} from={start} {options}}}")
    assert comparable(module) == comparable(levels[names[-1]])


def comparable(module: ir.Module) -> tuple[str, Counter[int]]:
    """The text without SPIR-V, and how often each instruction occurs in that: LLVM's order of blocks, and so their ids,
    may differ from one run to the next where a block could stand in several places."""
    instructions: Counter[int] = Counter()
    for op in module.body.operations:
        if op.operation.name == "gpu.binary":
            for code in map(gpu.ObjectAttr, op.attributes["objects"]):
                words = struct.unpack(f"<{len(code.object) // 4}I", code.object)
                place = 5
                while place < len(words):
                    instructions[words[place] & 0xFFFF] += 1
                    place += words[place] >> 16
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', str(module)), instructions


def test_the_pipelines_with_levels_of_their_own_make_the_same_kernel():
    tiled = schedule.matmul().with_params(**TILING).apply(parse(MATMUL.replace("{WRITABLE}", "{}")))
    binaries = []
    for pipeline in ("xetile-compile{native=off}", "xetile-lower-to-binary{native=off}"):
        module = _xetile.clone_module(tiled.operation)
        passes.run(module, pipeline)
        (binary,) = [op for op in module.body.operations if op.operation.name == "gpu.binary"]
        binaries.append(str(binary))
    assert binaries[0] == binaries[1]


@pytest.mark.parametrize("target", ["pvc", "cpu"])
def test_errors_are_at_the_users_line(target):
    """Line 3 of the text; what cannot be lowered is found at the last levels only."""
    text = """
func.func @f(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, i64) {
  %x = "test.unknown"() : () -> i64
  %d = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x64xf16>)
                     outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d, %x : tensor<64x64xf32>, i64
}
"""
    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context:
        payload = ir.Module.parse(text)
    with pytest.raises(XeTileError) as error:
        lower(payload, target)
    assert {diagnostic.location for diagnostic in error.value.diagnostics} == {"-:3:8"}


def test_quoted_values_reach_their_option(tmp_path):
    folder = tmp_path / "two words"
    options = {"native": "off", "dump-dir": str(folder)}
    (*_, (name, action, pipeline)) = _xetile.levels("pvc", options)
    levels = lower(parse(MATMUL.replace("{WRITABLE}", "{}")), "pvc")
    module = _xetile.clone_module(levels["5-xevm"].operation)
    passes.run(module, pipeline, action=action)
    assert name == "6-llvm"
    assert sorted(path.suffix for path in folder.iterdir()) == [".ll", ".spv"]


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("xyz", {}, "unknown target 'xyz'; known: bmg, cpu, lnl, pvc"),
        ("cpu", {"native": "off"}, "target 'cpu' has no option 'native', expected one of amx, "),
        ("pvc", {"to": "4-xegpu"}, "option to: expected options of the levels"),
        ("cpu", {"config": "{"}, "option config={: expected braces and quotes in pairs"),
        ("cpu", {"threads=1 pack": "x"}, "expected braces and quotes in pairs"),
        ("cpu", {"threads": "two"}, "option threads does not take 'two': Threads to use; 0 for the machine's cores"),
    ],
)
def test_options_that_a_target_does_not_have_are_refused(target, options, message):
    with pytest.raises(ValueError) as error:
        _xetile.levels(target, options)
    assert message in str(error.value)


def test_json_reaches_the_tiler():
    options = {"config": '{"MBlock": 32, "innermostMBlock": 16}', "threads": "1"}
    (_, (_, _, pipeline), *_) = _xetile.levels("cpu", options)
    module = parse(MATMUL.replace("{WRITABLE}", "{}"))
    passes.run(module, pipeline)
    # A's panel of 16 rows and all of k; in f32 where several panels of columns read it, which the vectors decide.
    assert re.search(r"tensor<1x16x32xf(16|32)>", str(module))
    options["config"] = '{"MBlock": 0}'
    (_, (_, _, pipeline), *_) = _xetile.levels("cpu", options)
    with pytest.raises(xetile.XeTileError, match="MBlock = 0"):
        passes.run(parse(MATMUL.replace("{WRITABLE}", "{}")), pipeline)
