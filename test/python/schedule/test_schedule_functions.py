# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules that are Python functions: the same IR as a file's, and mistakes that are refused at their lines."""

import inspect
import os
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schedule_cases
import written_gpu_model
import written_schedules
import xetile
from xetile import XeTileError, schedule
from xetile.mlir import ir
from xetile.mlir.dialects import transform
from xetile.schedule import Module, define, knob, ops, parts
from xetile.schedule.handles import Function, Handle, Loop, Matmul

ROOT = Path(__file__).parents[3]
PAYLOADS = ROOT / "schedules" / "payloads"
MATMUL = runpy.run_path(str(ROOT / "examples" / "schedule.py"))["matmul"]
WRITTEN = {
    "attention": written_schedules.attention,
    "convolution": written_schedules.convolution,
    "elementwise": written_schedules.elementwise,
    "gather": written_schedules.gather,
    "gpu_model": written_gpu_model.gpu_model,
    "matmul": MATMUL,
    "mlp": written_schedules.mlp,
    "rows": written_schedules.rows,
    "scan": written_schedules.scan,
    "windows": written_schedules.windows,
}
CHAIN = """func.func @chain(%a: tensor<64x96xf32>, %b: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %0 = arith.addf %a, %b : tensor<64x96xf32>
  %1 = math.exp %0 : tensor<64x96xf32>
  return %1 : tensor<64x96xf32>
}"""
SOFTMAX = """func.func @softmax(%a: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}"""
PAYLOAD = {
    "attention": (PAYLOADS / "attention_f16.mlir").read_text(),
    "convolution": schedule_cases.convolution(np.random.default_rng(0), 1, 3, 20, 16, 32).text,
    "elementwise": CHAIN,
    "gather": schedule_cases.embedding(np.random.default_rng(0), 40, 30, 100).text,
    "gpu_model": SOFTMAX,
    "matmul": str(xetile.matmul(256, 256, 64)),
    "mlp": schedule_cases.mlp(np.random.default_rng(0), 100, 40, 100, 48, gated=True).text,
    "rows": SOFTMAX,
    "scan": schedule_cases.scan(np.random.default_rng(0), 40, 100).text,
    "windows": schedule_cases.pool(np.random.default_rng(0), 3, 9, 20).text,
}


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


def steps(sequence: ir.OpView) -> list[tuple[Any, ...]]:
    """Each op of a sequence: its name, attributes, the numbers of its operands, its types, what is in it."""
    numbers: dict[ir.Value, int] = {}
    block = sequence.regions[0].blocks[0]
    for argument in block.arguments:
        numbers[argument] = len(numbers)
    found = []
    for op in block.operations:
        inner = [str(each) for region in op.operation.regions for block in region.blocks for each in block.operations]
        attributes = sorted((key, str(op.operation.attributes[key])) for key in op.operation.attributes)
        operands = [numbers[operand] for operand in op.operation.operands]
        types = [str(result.type) for result in op.operation.results]
        found.append((op.operation.name, attributes, operands, types, inner))
        for result in op.operation.results:
            numbers[result] = len(numbers)
    return found


def sequences(built: ir.Module) -> dict[str, ir.OpView]:
    return {ir.StringAttr(op.attributes["sym_name"]).value: op for op in built.body.operations}


def line_of(function: Any, text: str) -> str:
    """`FILE:LINE:` of the line of a function that has `text`."""
    lines, first = inspect.getsourcelines(function)
    (number,) = (i for i, line in enumerate(lines) if text in line)
    return f"{__file__}:{first + number}:"


def refused(function: Any) -> XeTileError:
    with pytest.raises(XeTileError) as error:
        define(function)
    return error.value


# The same as files.


@pytest.mark.parametrize("name", WRITTEN)
def test_a_function_makes_the_ops_of_the_file(name):
    modules = [WRITTEN[name].build(), schedule.load(name).build()]
    mine, file = map(sequences, modules)
    assert set(mine) == set(file)
    for sequence in file:
        assert steps(mine[sequence]) == steps(file[sequence])
        assert [str(mine[sequence].attributes[key]) for key in ("function_type", "arg_attrs")] == [
            str(file[sequence].attributes[key]) for key in ("function_type", "arg_attrs")
        ]


@pytest.mark.parametrize("name", WRITTEN)
def test_its_parameters_are_the_files(name):
    assert dict(WRITTEN[name].params) == dict(schedule.load(name).params)


@pytest.mark.parametrize("name", WRITTEN)
def test_both_make_the_same_of_a_payload(name):
    module = parse(PAYLOAD[name])
    assert str(WRITTEN[name].apply(module)) == str(schedule.load(name).apply(module))


def test_both_make_the_same_binary():
    module = parse(PAYLOAD["matmul"])
    params = {"workgroup_m": 64, "workgroup_n": 64, "subgroups_m": 2, "subgroups_n": 2, "k_step": 32}
    mine, file = (
        xetile.compile(module, each, "pvc", params, native="off").spirv for each in (MATMUL, schedule.load("matmul"))
    )
    assert mine == file


def test_the_example_in_the_readme_runs(capsys):
    text = (ROOT / "schedules" / "README.md").read_text().partition("## Writing one in Python")[2]
    (code,) = re.findall(r"```python\n(.*?)```", text.partition("\n## ")[0], flags=re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert "transform.named_sequence @outline_kernel" in capsys.readouterr().out


# As a file's.


def test_it_is_written_once_and_its_values_come_later():
    calls = []

    @define
    def mine(module: Module, *, factor: int = knob(2, min=1, max=8, doc="steps"), names: str = knob("x")) -> Module:
        calls.append(factor)
        loops = ops.match(module, Loop, ops=["scf.for"])
        ops.annotate(loops, "mine.factor", param=factor)
        ops.annotate(module, "mine.name", param=names)
        return module

    payload = parse("func.func @f(%a: index) { scf.for %i = %a to %a step %a { } return }")
    assert mine.params["factor"] == schedule.Param("factor", int, 2, 2, "steps", 1, 8)
    assert "mine.factor = 2 : i64" in str(mine.apply(payload))
    changed = mine.with_params(factor=5, names="y")
    assert "mine.factor = 5 : i64" in str(changed.apply(payload))
    assert 'mine.name = "y"' in str(changed.apply(payload))
    assert len(calls) == 1
    with pytest.raises(XeTileError, match="factor: expected 1 to 8, got 9"):
        mine.with_params(factor=9)


def test_steps_that_extend_a_schedule_may_be_functions_of_ops_and_parts():
    def step(module: Module) -> Module:
        ops.annotate(module, "mine.tag")
        return ops.apply_registered_pass(module, "canonicalize")

    for each in (MATMUL, schedule.load("matmul")):
        extended = each.extend(step).extend(lambda module: parts.prefetch_operands(module.as_(Matmul), 0))
        assert "mine.tag" in extended.build().operation.get_asm()
        assert str(extended).count("include @prefetch_operands") == 2
        assert str(extended).count("named_sequence @prefetch_operands") == 1


def test_numbers_and_strings_are_parameters_that_are_made_once():
    @define
    def mine(module: Module) -> Module:
        loop = ops.match(module, Loop, ops=["scf.forall"])
        ops.hang_over_edges(loop, 64, 64, 32)
        return module

    constants = re.findall(r"transform.param.constant (\S+) : i64", str(mine))
    assert constants == ["64", "32"]


def test_mlirs_own_builders_may_be_steps():
    @define
    def mine(module: Module) -> Module:
        after = transform.apply_registered_pass(transform.AnyOpType.get(), module, "canonicalize")
        return Module(after)

    assert "consumed}" in str(mine)
    text = mine.build().operation.get_asm(enable_debug_info=True)
    assert re.search(rf'"{re.escape(__file__)}":\d+:17', text)


def test_a_schedule_that_reads_only_says_so():
    @define
    def mine(module: Module) -> Module:
        ops.annotate(module, "mine.tag")
        return module

    assert "{transform.readonly}" in str(mine)


# Lines.


def test_a_step_that_fails_names_the_line_that_called_it():
    def mine(module: Module) -> Module:
        return ops.apply_registered_pass(module, "no-such-pass")

    with pytest.raises(XeTileError) as error:
        define(mine).apply(parse(CHAIN))
    assert error.value.diagnostics[0].location.startswith(line_of(mine, "no-such-pass"))


def test_a_step_inside_of_a_part_names_the_line_that_called_the_part():
    def mine(module: Module) -> Module:
        parts.find_matmul(module, 0, 0, 0, 0, 0, -1, "exact", "pvc")
        return module

    with pytest.raises(XeTileError) as error:
        define(mine).apply(parse(CHAIN))
    (note,) = (note for note in error.value.diagnostics[0].notes if "required by this step" in note.message)
    assert re.search(r"find_matmul\.mlir:\d+:\d+ at ", note.location)
    assert line_of(mine, "find_matmul") in note.location


def test_a_helper_of_ones_own_is_a_place_of_its_own():
    def helper(module: Module) -> None:
        ops.annotate(module, "mine.tag")

    @define
    def mine(module: Module) -> Module:
        helper(module)
        return module

    line = line_of(helper, "mine.tag").split(":")[-2]
    assert f'"{__file__}":{line}:9' in mine.build().operation.get_asm(enable_debug_info=True)


def places(error: XeTileError) -> list[str]:
    (diagnostic,) = error.diagnostics
    return [diagnostic.location, *(note.location for note in diagnostic.notes)]


def test_a_handle_that_was_consumed_is_refused_with_both_lines():
    def mine(module: Module) -> Module:
        after = ops.apply_registered_pass(module, "canonicalize")
        ops.refuse_rest(module)
        return after

    error = refused(mine)
    assert "ops.refuse_rest: target: expected a handle that is still there" in str(error)
    assert "consumed by ops.apply_registered_pass" in str(error)
    used, consumed = places(error)
    assert used.startswith(line_of(mine, "refuse_rest"))
    assert consumed.startswith(line_of(mine, "canonicalize"))


def test_handles_of_what_is_in_a_module_go_with_it():
    def mine(module: Module) -> Module:
        function = ops.match(module, Function, ops=["func.func"])
        buffers = parts.bufferize(module)
        ops.annotate(function, "mine.tag")
        return buffers

    error = refused(mine)
    assert "the module that its operations are in was consumed by parts.bufferize" in str(error)
    used, consumed, made = places(error)
    assert used.startswith(line_of(mine, "mine.tag"))
    assert consumed.startswith(line_of(mine, "bufferize"))
    assert made.startswith(line_of(mine, "func.func"))


def test_the_same_handle_under_another_kind_is_consumed_too():
    def mine(module: Module) -> Module:
        found = ops.match(module, Handle, ops=["linalg.matmul"])
        parts.tile_k(found.as_(Matmul), 16)
        ops.annotate(found, "mine.tag")
        return module

    assert places(refused(mine))[1].startswith(line_of(mine, "tile_k"))


def test_a_schedule_that_returns_a_consumed_module_is_refused_with_both_lines():
    def mine(module: Module) -> Module:
        ops.apply_registered_pass(module, "canonicalize")
        return module

    error = refused(mine)
    used, consumed = places(error)
    assert used.startswith(line_of(mine, "return module"))
    assert consumed.startswith(line_of(mine, "canonicalize"))


def test_a_schedule_that_loses_the_module_is_refused_with_both_lines():
    def mine(module):
        parts.bufferize(module)

    error = refused(mine)
    assert "expected the handle of the transformed module to be returned, got None" in str(error)
    assert [place.split(":")[1] for place in places(error)] == [line_of(mine, "bufferize").split(":")[1]] * 2


def test_mlirs_builders_are_checked_when_the_function_is_done():
    def mine(module: Module) -> Module:
        after = transform.apply_registered_pass(transform.AnyOpType.get(), module, "canonicalize")
        transform.annotate(module, "mine.tag")
        return Module(after)

    error = refused(mine)
    assert "expected a handle that is still there" in str(error)
    used, _, consumed = places(error)
    assert used.startswith(line_of(mine, "mine.tag"))
    assert consumed.startswith(line_of(mine, "canonicalize"))


# Other mistakes.


def of_another_kind(module):
    parts.tile_k(ops.match(module, Loop, ops=["scf.for"]), 16)


def of_a_string(module):
    ops.hang_over_edges(ops.match(module, Loop, ops=["scf.for"]), "64", 64, 32)


def of_a_truth_value(module):
    ops.online(module, True)


def of_a_number(module):
    ops.refuse_rest(3)


def of_none(module):
    ops.refuse_rest(None)


def of_a_list(module):
    ops.refuse_rest([module])


def of_one_for_many(module):
    ops.deep_tile_matmul(module, fields=["threads"], values=2)


def of_unknown_patterns(module):
    ops.apply_patterns(module, ["no-such"])


def of_names_that_are_none(module):
    ops.match(module, Handle, ops="func.func")


def of_options(module):
    ops.apply_registered_pass(module, "inline", options={"x": 1.5})


def that_returns_a_loop(module):
    return ops.match(module, Loop, ops=["scf.for"])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (of_another_kind, "parts.tile_k: matmul: expected a handle of kind Matmul, got a Loop"),
        (of_a_string, "ops.hang_over_edges: tile_m: expected an integer, a knob of integers or what a step chose, got"),
        (of_a_truth_value, "ops.online: block: expected an integer, a knob of integers or what a step chose, got True"),
        (of_a_number, "ops.refuse_rest: target: expected a handle, got 3"),
        (of_none, "ops.refuse_rest: target: expected a handle, got None"),
        (of_a_list, "ops.refuse_rest: target: expected a handle, got list [<Module>]"),
        (of_one_for_many, "ops.deep_tile_matmul: values: expected a list, of a number, a string or a knob each, got 2"),
        (of_unknown_patterns, 'ops.apply_patterns: patterns: expected a name of patterns, such as "canonical'),
        (of_names_that_are_none, "ops.match: ops: expected a list of strings, got 'func.func'"),
        (of_options, "ops.apply_registered_pass: options: x: expected an integer, a truth value, a string, a para"),
        (that_returns_a_loop, "expected the handle of the transformed module to be returned, got a Loop"),
    ],
)
def test_steps_refuse_what_they_cannot_take(function, message):
    assert message in str(refused(function))


@pytest.mark.parametrize("use", ["k == 3", "k + 1", "bool(k)", "range(k)", "k < 4", "[1][k]"])
def test_the_value_of_a_knob_is_not_known_in_python(use):
    def mine(module: Module, *, k: int = knob(3)) -> Module:
        eval(use, {}, {"k": k})
        return module

    assert "the knob 'k' has no value yet" in str(refused(mine))


def test_values_that_another_schedule_kept_are_refused():
    kept: list[Any] = []

    @define
    def other(module: Module, *, k: int = knob(3)) -> Module:
        kept.extend([module, module.as_(Function), k, ops.match(module, Loop, ops=["scf.for"])])
        return module

    def mine(module: Module) -> Module:
        if isinstance(kept[0], Handle):
            ops.annotate(kept.pop(0), "mine.tag")
        ops.online(module, kept.pop(0))
        return module

    while kept:
        assert "expected a value that is given or made here, got one that was kept of 'other'" in str(refused(mine))


def test_functions_that_are_no_schedules_are_refused():
    def nothing() -> Module:
        raise AssertionError

    def positional(module: Module, k: int = 3) -> Module:
        return module

    def plain(module: Module, *, k: int = 3) -> Module:
        return module

    assert "expected a first argument, the handle of the module" in str(refused(nothing))
    assert "k: expected a keyword argument with the default knob(...), got an argument that is none: write `*`" in str(
        refused(positional)
    )
    assert "k: expected a keyword argument with the default knob(...), got 3" in str(refused(plain))
    assert "expected a function that takes a module, got 3" in str(refused(3))


@pytest.mark.parametrize(
    ("arguments", "limits", "message"),
    [
        ((1.5,), {}, "knob: default: expected an integer or a string, got 1.5"),
        ((True,), {}, "knob: default: expected an integer or a string, got True"),
        ((3,), {"min": 4}, "knob: default: expected 4 or more, got 3"),
        (("a",), {"min": 4}, "knob: min: expected no limit of a parameter that is a string, got 4"),
        ((3,), {"max": "4"}, "knob: max: expected an integer, got '4'"),
        ((3,), {"doc": 4}, "knob: doc: expected a string, got 4"),
        ((0,), {"names": "ab"}, "knob: names: expected a list of strings, got 'ab'"),
    ],
)
def test_knob_refuses_limits_that_fit_no_value(arguments, limits, message):
    with pytest.raises(XeTileError) as error:
        knob(*arguments, **limits)
    assert str(error.value) == message


def test_steps_outside_of_a_schedule_are_refused():
    with pytest.raises(XeTileError, match="ops.refuse_rest: expected to be called in a function that is decorated"):
        ops.refuse_rest(None)


def test_errors_of_ones_own_come_through_and_leave_nothing_behind():
    def mine(module: Module) -> Module:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        define(mine)
    with pytest.raises(XeTileError, match="expected to be called in a function"):
        ops.refuse_rest(None)
    with ir.Context(), ir.Location.unknown():
        assert "test_schedule_functions" not in str(ir.Operation.create("builtin.unrealized_conversion_cast").location)


def test_no_file_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    MATMUL.with_params(workgroup_m=64).build()
    assert os.listdir(tmp_path) == []
