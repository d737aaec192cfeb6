# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every public function of the package with values that it does not take: XeTileError, and what it says.

`CALLS` has each function with arguments that it takes. Every argument is replaced by each of `WRONG` in turn; what
comes back is a result or XeTileError, never another exception. `REFUSED` are calls of which the message matters.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xetile
from xetile import XeTileError, cpu, layout, passes, reference, report, runtime, schedule
from xetile.kernels.signature import Signature
from xetile.layout import draw as layout_draw
from xetile.mlir import ir
from xetile.schedule import payload
from xetile.schedule.handles import Function
from xetile.system import files

WRONG = [
    None,
    True,
    -1,
    0,
    2**70,
    1.5,
    float("nan"),
    "",
    "nosuch",
    "a\0b",
    "\udcff",
    "x" * 5000,
    b"x",
    [],
    {},
    {1: 2},
    (1, 2),
    ("a", "b", "c"),
    object(),
    int,
    np.float32(1),
    np.arange(3),
    lambda *_: None,
    io.BytesIO(b"x"),
    Path("/dev/null"),
    "/",
]

MATMUL = """
func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}
"""


@pytest.fixture(scope="module")
def module() -> ir.Module:
    with ir.Context():
        return ir.Module.parse(MATMUL)


@pytest.fixture(scope="module")
def kernel(module) -> cpu.Kernel:
    return cpu.compile(module, threads=1)


def one(module: schedule.Module) -> schedule.Module:
    return module


def step(function: Callable[..., Any]) -> Callable[..., schedule.Schedule]:
    """A call of a step of a schedule, as a function of all but its handle."""

    def call(**given: Any) -> schedule.Schedule:
        def mine(module: schedule.Module) -> schedule.Module:
            function(schedule.ops.match(module, Function, ops=["func.func"]), **given)
            return module

        return schedule.define(mine)

    return call


DPAS = layout.Dpas.of("f16", rep_cluster=(4, 2))
OPERAND = layout.dpas_layout("A", (32, 32), "f16", DPAS)
SPIRV = b"\x03\x02\x23\x07" + bytes(16)

# name -> (function, arguments that it takes); "module" stands for MATMUL.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "compile": (
        xetile.compile,
        {
            "module_or_path": "gone.mlir",
            "schedule": "nosuch",
            "target": "pvc",
            "params": {"nosuch": 1},
            "native": "off",
            "native_chips": ["nosuch"],
            "large_registers": None,
        },
    ),
    "compile for the cpu": (
        xetile.compile,
        {"module_or_path": "module", "schedule": None, "target": "cpu", "params": {"threads": 1}, "on_stage": None},
    ),
    "cpu.compile": (
        cpu.compile,
        {"module_or_path": "module", "config": {}, "threads": 1, "pack": "never", "fuse": False, "schedule": None},
    ),
    "cpu.compile with a schedule": (
        cpu.compile,
        {"module_or_path": "module", "schedule": schedule.load("cpu_matmul"), "pack": "auto", "fuse": True},
    ),
    "load": (xetile.load, {"path": "gone.so"}),
    "Signature.from_json": (Signature.from_json, {"text": "{}"}),
    "cpu.explain": (cpu.explain, {"module_or_path": "module", "config": None, "threads": 1}),
    "MatmulConfig.of": (cpu.MatmulConfig.of, {"values": {}}),
    "MatmulConfig.from_json": (cpu.MatmulConfig.from_json, {"text": "{}"}),
    "matmul": (
        xetile.matmul,
        {"m": 8, "n": 8, "k": 8, "dtype": "f16", "acc_dtype": "f32", "accumulate": True, "context": None},
    ),
    "Target": (xetile.Target, {"name": "pvc"}),
    "passes.run": (passes.run, {"module": "module", "pipeline": "canonicalize"}),
    "report.statistics": (report.statistics, {"spirv": SPIRV, "chip": "nosuch", "large_registers": False}),
    "report.format_table": (report.format_table, {"kernels": []}),
    "runtime.generate_builtins": (runtime.generate_builtins, {"spirv": SPIRV, "lockstep": True}),
    "schedule.load": (schedule.load, {"name_or_path": "matmul"}),
    "schedule.knob": (schedule.knob, {"default": 1, "min": 0, "max": 3, "names": (), "doc": "steps"}),
    "schedule.define": (schedule.define, {"function": lambda module: module}),
    "schedule.sequence": (schedule.sequence, {"function": one}),
    "ops.annotate": (step(schedule.ops.annotate), {"name": "mine.tag", "param": 3}),
    "ops.apply_patterns": (
        step(schedule.ops.apply_patterns),
        {"patterns": ["canonicalization"], "apply_cse": True, "max_iterations": 3, "max_num_rewrites": 3},
    ),
    "ops.apply_registered_pass": (
        step(schedule.ops.apply_registered_pass),
        {"pass_name": "inline", "options": {"max-iterations": 3}},
    ),
    "ops.constant": (step(lambda _, value: schedule.ops.constant(value)), {"value": 3}),
    "ops.deep_tile_matmul": (
        step(schedule.ops.deep_tile_matmul),
        {"config": "{}", "fields": ["threads"], "values": [2], "threads": 2, "pack": "never", "fuse": False},
    ),
    "ops.foreach": (step(schedule.ops.foreach), {"body": lambda each: None}),
    "ops.get_parent_op": (
        step(schedule.ops.get_parent_op),
        {"kind": Function, "op_name": "func.func", "nth_parent": 1, "deduplicate": True},
    ),
    "ops.match": (
        step(schedule.ops.match),
        {"kind": Function, "ops": ["func.func"], "op_attrs": {"x": 3, "y": [True, "z"]}},
    ),
    "ops.one_shot_bufferize": (
        step(schedule.ops.one_shot_bufferize),
        {"function_boundary_type_conversion": "IdentityLayoutMap", "memcpy_op": "memref.copy"},
    ),
    "ops.tile_using_for": (step(schedule.ops.tile_using_for), {"sizes": [8, 0], "interchange": [1, 0]}),
    "ops.tile_using_forall": (step(schedule.ops.tile_using_forall), {"num_threads": [], "tile_sizes": [8, 0]}),
    "schedule.matmul": (
        schedule.matmul,
        {"workgroup_tile": (256, 256), "subgroup_layout": (8, 4), "k_step": 32, "prefetch": 3, "target": "pvc"},
    ),
    "Schedule.with_params": (schedule.load("matmul").with_params, {"k_step": 32, "target": "pvc"}),
    "Schedule.extend": (schedule.load("matmul").extend, {"step": lambda handle: None}),
    "Schedule.build": (schedule.load("matmul").build, {"context": None}),
    "Schedule.apply": (schedule.load("matmul").apply, {"payload": "module"}),
    "Param.with_value": (schedule.load("matmul").params["k_step"].with_value, {"value": 1}),
    "files.write": (files.write, {"value": "/dev/null", "data": b""}),
    "files.read": (files.read, {"value": __file__, "what": "it"}),
    "reference.evaluate": (reference.evaluate, {"module": "module", "arrays": [np.eye(8), np.eye(8)]}),
    "reference.compare": (reference.compare, {"result": np.eye(2), "expected": np.eye(2)}),
    "reference.count_flops": (reference.count_flops, {"module": "module"}),
    "layout.element_bits": (layout.element_bits, {"type_": "f16"}),
    "layout.Dpas.of": (layout.Dpas.of, {"type_": "f16"}),
    "layout.dpas_layout": (layout.dpas_layout, {"operand": "A", "shape": (32, 32), "type_": "f16", "dpas": DPAS}),
    "layout.dpas_layout without dpas": (layout.dpas_layout, {"operand": "C", "shape": (32, 32), "type_": "f16"}),
    "layout.lane_layout": (layout.lane_layout, {"operand": "A", "type_": "f16", "subgroup_size": 16}),
    "layout.LaneLayout.linear_layout": (layout.lane_layout("A", "f16").linear_layout, {"shape": (8, 16)}),
    "layout.LaneLayout.from_linear_layout": (
        layout.LaneLayout.from_linear_layout,
        {"layout": layout.lane_layout("A", "f16").linear_layout((8, 16)), "packed": 1},
    ),
    "layout.linear_layout": (
        layout.linear_layout,
        {"inputs": {"lane": [(0, 1)]}, "outputs": {"row": 1, "col": 2}, "surjective": True},
    ),
    "layout.apply": (layout.apply, {"layout": OPERAND, "register": 0, "lane": 0, "subgroup": 0}),
    "layout.plan": (
        layout.plan,
        {
            "operand": "A",
            "shape": (32, 32),
            "type_": "f16",
            "dpas": DPAS,
            "target": "pvc",
            "contiguous_dim": 1,
            "one_matrix": False,
            "access": "load",
            "surface": None,
        },
    ),
    "Plan.blocks": (layout.plan("A", (32, 32), "f16", DPAS).blocks, {"message": 0, "subgroup": 0}),
    "Plan.subgroup_origin": (layout.plan("A", (32, 32), "f16", DPAS).subgroup_origin, {"subgroup": 0}),
    "Plan.prove": (
        layout.plan("A", (32, 32), "f16", DPAS).prove,
        {"height": 64, "width": 64, "y": 0, "x": 0, "subgroup": 0},
    ),
    "layout.Surface": (
        lambda **facts: layout.plan("A", (32, 32), "f16", DPAS, surface=layout.Surface(**facts)),
        {"base_align": 64, "width": 64, "height": 8, "pitch": 64, "x_multiple": 16},
    ),
    "layout.hardware_view": (layout.hardware_view, {"layout": OPERAND, "subgroup": 0}),
    "layout.tensor_view": (layout.tensor_view, {"layout": OPERAND}),
    "layout.tile_messages": (
        layout.tile_messages,
        {"operand": "C", "shape": (24, 48), "type_": "i8", "inputs": "f16", "target": "pvc", "access": "load"},
    ),
    "layout.wg_map_owners": (layout.wg_map_owners, {"shape": (8, 8), "sg_layout": (2, 2), "sg_data": (4, 4)}),
    "layout_draw.draw": (
        layout_draw.draw,
        {"layout": OPERAND, "path": "nowhere/a.png", "plan": None, "title": "", "subgroup": 0},
    ),
    "layout_draw.draw_wg_map": (
        layout_draw.draw_wg_map,
        {"shape": (8, 8), "sg_layout": (2, 2), "sg_data": (4, 4), "path": "nowhere/a.png", "title": ""},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_any_value_gives_a_result_or_xetile_error(name, module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, arguments = CALLS[name]
    given = {key: module if isinstance(value, str) and value == "module" else value for key, value in arguments.items()}
    refused = 0
    for key in given:
        for value in WRONG:
            try:
                function(**{**given, key: value})
            except XeTileError as error:
                assert str(error)
                refused += 1
            except Exception as error:
                raise AssertionError(f"{name}: {key}={value!r}: {type(error).__name__}: {error}") from error
    assert refused, "nothing was refused: the arguments do not reach the checks"


# Calls that were raw TypeError, AttributeError or ValueError, or were taken; and what is said now.
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: schedule.load(5), "schedule: expected a path, got int"),
    (lambda: schedule.load(b"matmul"), "schedule: expected a path, got bytes"),
    (lambda: schedule.load("a\0b"), r"schedule: expected the name of a file, got 'a\\x00b'"),
    (
        lambda: schedule.load("matmul").extend(5),
        "a step of schedule 'matmul': expected a function of one argument, a handle; got 5",
    ),
    (
        lambda: schedule.load("matmul").extend(int),
        "a step of schedule 'matmul': expected a function .*; got type <class",
    ),
    (
        lambda: schedule.load("matmul").extend(lambda: None),
        r"expected a function .*; got function .*, which takes \(\)",
    ),
    (lambda: schedule.load("matmul").build(5), "context: expected an xetile.mlir.ir.Context, got 5"),
    (lambda: schedule.load("matmul").apply("x.mlir"), "payload: expected a module, got 'x.mlir'"),
    (lambda: schedule.load("matmul").with_params(target="\udcff"), "target: expected a string of characters"),
    (lambda: cpu.compile(MODULE(), schedule="cpu_matmul"), "schedule: expected a xetile.schedule.Schedule"),
    (lambda: cpu.compile(MODULE(), fuse=1), "fuse: expected True or False, got 1"),
    (lambda: cpu.compile(MODULE(), threads=2**40), "threads: expected an integer from 1 to 2147483647, got 109951"),
    (lambda: cpu.compile(MODULE(), pack=["auto"]), "pack: expected one of auto, always, never, got list"),
    (lambda: cpu.MatmulConfig.from_json(5), "matmul config: expected a JSON object as a string, got 5"),
    (lambda: cpu.MatmulConfig.from_json(b"{}"), "matmul config: expected a JSON object as a string, got bytes"),
    (lambda: cpu.MatmulConfig.from_json("[" * 100000), "matmul config: expected a JSON object"),
    (lambda: cpu.MatmulConfig.of({"MBlock": 2**70}), "MBlock: expected an integer of 64 bits"),
    (lambda: xetile.compile(MODULE(), params=5), "params: expected a mapping of parameters to values, got 5"),
    (lambda: xetile.compile(MODULE(), params=[1]), "params: expected a mapping of parameters to values, got list"),
    (lambda: xetile.compile(MODULE(), params={5: 5}), "has no parameter 5"),
    (lambda: xetile.compile(MODULE(), target="cpu", params=5), "params: expected a mapping of parameters to values"),
    (lambda: xetile.compile(MODULE(), target="cpu", params={5: 5}), "unknown field 5"),
    (lambda: xetile.compile(MODULE(), large_registers="y"), "large_registers: expected True, False or None, got 'y'"),
    (lambda: xetile.compile(MODULE(), large_registers=1), "large_registers: expected True, False or None, got 1"),
    (lambda: xetile.compile(MODULE(), native=["auto"]), "native: expected 'auto', 'require' or 'off', got list"),
    (lambda: xetile.compile(MODULE(), native_chips=5), "native_chips: expected a list of chips, got 5"),
    (lambda: xetile.compile(MODULE(), native_chips=b"pvc"), "native_chips: expected a list of chips, got bytes"),
    (lambda: xetile.compile(MODULE(), native_chips=[5]), "target: expected the name of a chip, or cpu; got 5"),
    (lambda: xetile.compile(MODULE(), on_stage="x"), "on_stage: expected a function of one argument, a Stage; got 'x'"),
    (lambda: xetile.compile(MODULE(), on_stage=lambda: None), r"on_stage: expected a function .*, which takes \(\)"),
    (lambda: xetile.compile(5), "expected a module or the path of a file with one, got 5"),
    (lambda: xetile.Target("\udcff"), r"unknown chip '\\udcff'"),
    (lambda: passes.run(MODULE(), 5), "pipeline: expected a string of passes, got 5"),
    (lambda: passes.run(MODULE(), "\udcff"), "is not a pass pipeline: it is not UTF-8"),
    (lambda: passes.run(5, "canonicalize"), "expected a module to run passes on, got int"),
    (lambda: report.statistics(5, "pvc"), "cannot read SPIR-V: expected a path, got int"),
    (lambda: report.statistics(SPIRV, "pvc", "yes"), "large_registers: expected True, False or None, got 'yes'"),
    (lambda: report.statistics("/", "pvc"), "cannot read SPIR-V /: expected a regular file, got a directory"),
    (lambda: report.format_table([5]), "kernels: expected a sequence of KernelStatistics, got 5"),
    (lambda: runtime.generate_builtins("text"), "spirv: expected a SPIR-V module as bytes, got 'text'"),
    (lambda: runtime.generate_builtins(SPIRV, "no"), "lockstep: expected True or False, got 'no'"),
    (lambda: layout.plan("A", (32, 32), "f16", 5), "dpas: expected an xetile.layout.Dpas, got 5"),
    (lambda: layout.plan("A", (32, 32), "f16", surface=5), "surface: expected an xetile.layout.Surface, got 5"),
    (lambda: layout.tensor_view(5), "layout: expected a LinearLayout, got 5"),
    (lambda: layout.linear_layout(5, {}), "inputs: expected a mapping of names to lists of bases, got 5"),
    (lambda: payload.matmul(8, 8, 8, context=5), "matmul: context: expected an xetile.mlir.ir.Context, got 5"),
    # Work without bounds.
    (
        lambda: layout.wg_map_owners((999_999_999, 999_999_999), (1, 1), (1, 1)),
        "sg_data cuts the shape into 999999998000000001 pieces, expected at most 65536",
    ),
    (
        lambda: layout.wg_map_owners((1, 1), (999_999_999, 1), (1, 1)),
        "the pieces have 999999999 owners together, expected at most 1048576; use fewer subgroups",
    ),
    (
        lambda: layout.tensor_view(layout.dpas_layout("C", (4096, 4096), "f32")),
        r"the layout has 2\^24 indices, expected at most 2\^22 to print",
    ),
    (
        lambda: layout.tensor_view(
            layout.linear_layout({"register": [], "lane": [], "subgroup": []}, {"x": 2**30, "y": 2**30}, False)
        ),
        r"the tensor has 2\^60 elements, expected at most 2\^22 to print",
    ),
    (
        lambda: layout_draw.draw(layout.dpas_layout("A", (65536, 32), "f16"), "a.svg"),
        "the subgroups hold 2097152 elements together, expected at most 1048576 to draw",
    ),
    (
        lambda: layout_draw.draw_wg_map((128, 128), (1, 1), (1, 1), "a.svg"),
        "the picture has 16384 pieces, expected at most 4096",
    ),
]


def MODULE() -> ir.Module:
    with ir.Context():
        return ir.Module.parse(MATMUL)


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[:60] for _, message in REFUSED])
def test_refusals_say_what_was_expected_and_what_came(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(XeTileError, match=message):
        call()


EYE = np.eye(8, dtype=np.float32)
ARRAYS: dict[str, tuple[Any, str]] = {
    "masked": (np.ma.masked_array(EYE, EYE > 0), r"got a masked one, whose mask would be lost: pass array.filled"),
    "matrix": (np.asmatrix(EYE), r"got a numpy.matrix: pass numpy.asarray"),
    "object": (EYE.astype(object), "got (elements of type )?object"),
    "structured": (np.zeros((8, 8), [("x", np.float32)]), r"got (elements of type )?\[\('x', '<f4'\)\]"),
    "big-endian": (EYE.astype(">f4"), "got (elements of type )?>f4"),
    "complex": (EYE.astype(complex), "complex128"),
    "text": (EYE.astype(str), "<U32"),
    "list": (EYE.tolist(), "got list"),
    "scalar": (1.0, "got float"),
    "None": (None, "got NoneType"),
}


@pytest.mark.parametrize("which", ARRAYS)
def test_cpu_kernels_take_plain_arrays_of_their_type(kernel, which):
    array, message = ARRAYS[which]
    with pytest.raises(XeTileError, match=f"@f: argument 1: .*{message}"):
        kernel(EYE, array)
    assert (kernel(EYE, EYE) == EYE).all()
    # Once the function is there calls take another way.
    with pytest.raises(XeTileError, match=f"@f: argument 0: .*{message}"):
        kernel(array, EYE)


def read_only() -> np.ndarray:
    array = np.zeros((8, 8), np.float32)
    array.setflags(write=False)
    return array


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (read_only(), "out 0: expected a writable array in C order"),
        (np.zeros((8, 8), np.float32).T, None),
        (np.zeros((8, 16), np.float32)[:, ::2], "out 0: expected a writable array in C order"),
        (np.ma.zeros((8, 8), np.float32), "out 0: .*masked"),
        (np.asmatrix(np.zeros((8, 8), np.float32)), "out 0: .*numpy.matrix"),
        (np.zeros((8, 8), ">f4"), "out 0: .*>f4"),
        ([np.zeros((8, 8), np.float32)], "out 0: .*got list"),
        ((), "out: expected 1 arrays, got 0"),
        (5, "out 0: .*got int"),
    ],
)
def test_out_must_fit(kernel, out, message):
    if message is None:
        message = "out 0: expected a writable array in C order"
    for _ in range(2):
        with pytest.raises(XeTileError, match=message):
            kernel(EYE, EYE, out=out)
        kernel(EYE, EYE)


@pytest.mark.parametrize("name", ["@resp.so", "-dash.so", "with space,comma.so", os.fsdecode(b"\xff.so")])
def test_shared_objects_have_any_name(kernel, name, tmp_path, monkeypatch):
    """A linker reads a name that begins with @ as a file of options."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "resp.so").write_text("-o stolen.so")
    kernel.write_shared_object(name)
    assert (tmp_path / name).read_bytes()[:4] == b"\x7fELF"
    assert os.access(tmp_path / name, os.X_OK)
    assert sorted(os.listdir(tmp_path)) == sorted([name, "resp.so"])


def test_a_name_that_is_not_utf8_is_a_message():
    """It comes with errors of the parser, of passes and of the signature."""
    with ir.Context():
        module = ir.Module.parse('func.func @"\\FF"(%a: tensor<8xf32>) -> tensor<8xf32> { return %a : tensor<8xf32> }')
    with pytest.raises(XeTileError, match=r"a function cannot have the name '\\xff': expected a letter or '_'"):
        cpu.compile(module)
    with pytest.raises(XeTileError, match=r"a function cannot have the name '\\xff': expected a letter or '_'"):
        xetile.compile(module)


def test_diagnostics_that_are_not_utf8_are_messages(tmp_path):
    """They ended the process."""
    path = tmp_path / "twice.mlir"
    path.write_text('func.func private @"\\FF"()\nfunc.func private @"\\FF"()\n')
    with pytest.raises(XeTileError, match=r"twice.mlir:2:1: error: redefinition of symbol named '\\xff'"):
        xetile.compile(path)
    with ir.Context():
        module = ir.Module.parse('gpu.module @"\\FF" { func.func @f() { return } }')
    with pytest.raises(XeTileError, match="cannot run"):
        passes.run(module, "xetile-emit-binary")
