# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xetile.schedule: parameters, composition with upstream's builders, and what applying one gives or refuses."""

import re
import shutil
from pathlib import Path

import pytest
from xetile import XeTileError, schedule
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.mlir.dialects import transform
from xetile.system.tools import where

DEFAULTS = {
    "workgroup_m": 0,
    "workgroup_n": 0,
    "subgroups_m": 0,
    "subgroups_n": 0,
    "k_step": 0,
    "prefetch": -1,
    "prefetch_far": 0,
    "load_ahead": 0,
    "order": "rows",
    "order_size": 8,
    "slm_buffers": 0,
    "split_k": 0,
    "precision": "exact",
    "target": "pvc",
}


def payload(
    m: int = 256, n: int = 256, k: int = 256, dtype: str = "f16", result: str = "f32", matmuls: int = 1
) -> ir.Module:
    """A module with a function for `matmuls` independent multiplications."""
    a, b, c = f"tensor<{m}x{k}x{dtype}>", f"tensor<{k}x{n}x{dtype}>", f"tensor<{m}x{n}x{result}>"
    functions = [
        f"""func.func @matmul{i}(%A: {a}, %B: {b}, %C: {c}) -> {c} {{
          %D = linalg.matmul ins(%A, %B : {a}, {b}) outs(%C : {c}) -> {c}
          return %D : {c}
        }}"""
        for i in range(matmuls)
    ]
    with ir.Context():
        return ir.Module.parse("\n".join(functions))


def entry(built: ir.Module) -> str:
    (found,) = (
        op
        for op in built.body.operations
        if op.operation.name == "transform.named_sequence" and op.attributes["sym_name"].value == "__transform_main"
    )
    return str(found)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


SMALLEST = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) { KNOBS transform.yield }
}"""


def test_available_names_the_kernel_files_and_not_their_parts():
    assert "matmul" in schedule.available()
    assert "tile_k" not in schedule.available()


def test_python_and_the_file_compose_the_same_steps():
    assert entry(schedule.matmul().build()) == entry(schedule.load("matmul").build())


@pytest.mark.parametrize("make", [schedule.matmul, lambda: schedule.load("matmul")], ids=["python", "file"])
def test_params_have_the_documented_defaults(make):
    params = make().params
    assert {name: param.value for name, param in params.items()} == DEFAULTS
    assert all(param.doc for param in params.values())
    assert (params["prefetch"].minimum, params["prefetch"].maximum) == (-1, 64)


def test_arguments_of_matmul_become_params():
    params = schedule.matmul((128, 64), (4, 2), k_step=16, prefetch=0, target="bmg").params
    assert [param.value for param in params.values()] == [128, 64, 4, 2, 16, 0, 0, 0, "rows", 8, 0, 0, "exact", "bmg"]
    assert params["workgroup_m"].default == 0


def test_with_params_returns_a_new_schedule_and_leaves_the_old_one():
    old = schedule.load("matmul")
    new = old.with_params(k_step=64, target="lnl")
    assert (old.params["k_step"].value, new.params["k_step"].value) == (0, 64)
    assert '"k_step"> = 64 : i64' in str(new)
    assert '"target"> = "lnl"' in str(new)
    assert '"k_step"> = 0 : i64' in str(old)


def test_with_params_lists_the_known_names_for_an_unknown_one():
    with pytest.raises(XeTileError, match=r"no parameter 'tile_m'; its parameters: workgroup_m, workgroup_n, .*target"):
        schedule.matmul().with_params(tile_m=128)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"workgroup_m": "128"}, "workgroup_m: expected an integer, got '128'"),
        ({"workgroup_m": 128.0}, "workgroup_m: expected an integer, got 128.0"),
        ({"workgroup_m": True}, "workgroup_m: expected an integer, got True"),
        ({"workgroup_m": -128}, "workgroup_m: expected 0 or more, got -128"),
        ({"k_step": -1}, "k_step: expected 0 or more, got -1"),
        ({"k_step": 2**63}, "k_step: expected 0 or more, got 9223372036854775808"),
        ({"prefetch": -2}, "prefetch: expected -1 to 64, got -2"),
        ({"prefetch": 65}, "prefetch: expected -1 to 64, got 65"),
        ({"split_k": 1025}, "split_k: expected 0 to 1024, got 1025"),
        ({"target": 3}, "target: expected a string, got 3"),
    ],
)
def test_with_params_refuses_wrong_types_and_ranges(values, message):
    with pytest.raises(XeTileError) as error:
        schedule.matmul().with_params(**values)
    assert str(error.value) == message


@pytest.mark.parametrize("tile", [256, (256,), (256, 256, 32), "256"])
def test_matmul_refuses_a_tile_that_is_not_a_pair(tile):
    with pytest.raises(XeTileError, match="workgroup_tile: expected two integers"):
        schedule.matmul(workgroup_tile=tile)


def test_str_is_a_schedule_file_of_its_own(tmp_path):
    # The parts are in it: nothing is left to include from elsewhere.
    text = str(schedule.matmul(prefetch=2))
    assert not re.search(r"named_sequence private @\w+\(!", text)
    with ir.Context():
        assert str(ir.Module.parse(text)) == text


def test_apply_makes_a_kernel_of_tiles_and_leaves_the_payload():
    module = payload(512, 512, 512)
    before = str(module)
    text = str(schedule.matmul().apply(module))
    assert str(module) == before
    assert "known_block_size = array<i32: 512, 1, 1>, known_grid_size = array<i32: 2, 2, 1>" in text
    assert "xetile.tile_mma" in text
    assert "linalg.matmul" not in text


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_apply_uses_the_params(dtype):
    text = str(schedule.matmul((128, 64), (4, 2), k_step=16, prefetch=1).apply(payload(dtype=dtype)))
    assert "known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 2, 1>" in text
    assert "#xetile.wg_map<sg_layout = [4, 2], sg_data = [32, 32]>" in text
    assert f"!xetile.tile<128x16x{dtype}" in text
    # A and B, once before the loop and once in it.
    assert text.count("xetile.prefetch_tile") == 4


def test_apply_without_prefetch_inserts_none():
    assert "prefetch_tile" not in str(schedule.matmul(prefetch=0).apply(payload()))


@pytest.mark.parametrize(("m", "n", "k"), [(256, 256, 256), (256, 256, 32), (2048, 256, 64)])
def test_apply_takes_single_workgroups_and_single_steps(m, n, k):
    text = str(schedule.matmul().apply(payload(m, n, k)))
    assert f"known_grid_size = array<i32: {n // 256}, {m // 256}, 1>" in text
    assert text.count("xetile.tile_mma") == 1


@pytest.mark.parametrize(
    ("module", "params", "message"),
    [
        ({"matmuls": 0}, {}, "expected exactly one linalg.matmul, found 0"),
        ({"matmuls": 2}, {}, "expected exactly one linalg.matmul, found 2"),
        ({"dtype": "f32"}, {}, "the matrix unit multiplies f32 as tf32"),
        (
            {"dtype": "f32", "result": "f16"},
            {},
            "an op is not part of a matmul's kernel",
        ),
        ({"k": 0}, {}, "expected sizes other than zero, got tensor<256x0xf16>"),
        ({}, {"workgroup_n": 256, "subgroups_n": 3}, "subgroups_n = 3 does not divide workgroup_n = 256"),
        ({}, {"target": "xyz"}, "unknown chip 'xyz'; known: "),
    ],
)
def test_apply_reports_what_the_payload_or_the_device_refuses(module, params, message):
    with pytest.raises(XeTileError) as error:
        schedule.matmul().with_params(**params).apply(payload(**module))
    assert error.value.message == "schedule 'matmul' failed"
    (diagnostic,) = error.value.diagnostics
    assert message in diagnostic.message


def test_apply_points_at_the_matmuls_of_the_payload():
    with pytest.raises(XeTileError) as error:
        schedule.matmul().apply(payload(matmuls=2))
    (diagnostic,) = error.value.diagnostics
    places = [note.location for note in diagnostic.notes if note.message == "linalg.matmul"]
    assert places == ["-:2:16", "-:6:16"]


@pytest.fixture
def mine(tmp_path):
    """The package's schedules, copied to be edited."""
    folder = tmp_path / "mine"
    shutil.copytree(where("schedules"), folder)
    return folder


def add_mark(part: Path) -> None:
    """Lets a part annotate what it yields."""
    text = part.read_text()
    end = text.index("    transform.yield %buffers")
    part.write_text(text[:end] + '    transform.annotate %buffers "mine.mark" : !transform.any_op\n' + text[end:])


def test_an_edited_part_beside_the_file_replaces_the_packages(mine):
    add_mark(mine / "parts" / "bufferize.mlir")
    assert "mine.mark" in schedule.load(mine / "matmul.mlir").apply(payload()).operation.attributes
    assert "mine.mark" not in schedule.load("matmul").apply(payload()).operation.attributes


def test_other_parts_come_from_the_package(mine):
    add_mark(mine / "parts" / "bufferize.mlir")
    for part in (mine / "parts").glob("*.mlir"):
        if part.stem != "bufferize":
            part.unlink()
    assert "mine.mark" in schedule.load(mine / "matmul.mlir").apply(payload()).operation.attributes


def test_a_definition_in_the_file_goes_before_parts_beside_it(mine):
    part = (mine / "parts" / "bufferize.mlir").read_text()
    add_mark(mine / "parts" / "bufferize.mlir")
    text = (mine / "matmul.mlir").read_text()
    declared = re.search(r"  transform.named_sequence private @bufferize\([^\n]*\n", text)[0]
    body = part[part.index("  transform.named_sequence @bufferize") : part.rindex("}")]
    (mine / "matmul.mlir").write_text(text.replace(declared, body))
    assert "mine.mark" not in schedule.load(mine / "matmul.mlir").apply(payload()).operation.attributes


def test_a_part_beside_the_file_that_cannot_be_read_is_refused(mine):
    (mine / "parts" / "bufferize.mlir").write_text("garbage")
    with pytest.raises(XeTileError) as error:
        schedule.load(mine / "matmul.mlir")
    assert "bufferize.mlir:1:1" in str(error.value)


def test_apply_refuses_what_is_not_a_module():
    with pytest.raises(XeTileError, match="payload: expected a module, got 'module {}'"):
        schedule.matmul().apply("module {}")


def test_extend_adds_a_step_at_the_end():
    extended = schedule.matmul().extend(lambda module: transform.annotate(module, "test.mine"))
    assert "test.mine" in extended.apply(payload()).operation.attributes
    assert "test.mine" not in schedule.matmul().apply(payload()).operation.attributes


def test_extend_follows_the_handle_that_a_step_returns():
    def run_pass(module: ir.Value) -> ir.Value:
        return transform.apply_registered_pass(transform.AnyOpType.get(), module, "xetile-wg-to-sg")

    def tag(module: ir.Value) -> None:
        transform.annotate(module, "test.after")

    result = schedule.load("matmul").extend(run_pass).extend(tag).apply(payload())
    assert "wg_map" not in str(result)
    assert "test.after" in result.operation.attributes


def test_extend_refuses_a_step_that_returns_something_else():
    with pytest.raises(XeTileError, match="must return a handle or None, got 3"):
        schedule.matmul().extend(lambda module: 3).build()


def test_extend_refuses_a_step_that_builds_something_invalid():
    def use_unknown_part(module: ir.Value) -> None:
        transform.IncludeOp([], "no_such_part", transform.FailurePropagationMode.Propagate, [module])

    with pytest.raises(XeTileError, match="schedule 'matmul' is not valid"):
        schedule.matmul().extend(use_unknown_part).build()


def test_extend_needs_an_entry_that_yields_the_module(tmp_path):
    path = write(tmp_path / "mine.mlir", SMALLEST.replace("KNOBS", ""))
    with pytest.raises(XeTileError, match="must yield one handle"):
        schedule.load(path).extend(lambda module: None).build()


def test_load_takes_a_file_of_ones_own(tmp_path):
    knob = '%n = transform.tune.knob<"n"> = 4 from options = {max = 8, doc = "count"} -> !transform.param<i64>'
    mine = schedule.load(write(tmp_path / "mine.mlir", SMALLEST.replace("KNOBS", knob)))
    assert mine.params == {"n": schedule.Param("n", int, 4, 4, "count", None, 8)}
    assert "= 8 : i64 from" in str(mine.with_params(n=8))


def test_load_lists_the_schedules_for_an_unknown_name():
    with pytest.raises(
        XeTileError,
        match=f"'nope': expected a file or one of {', '.join(schedule.available())}",
    ):
        schedule.load("nope")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() { return }", "no transform.with_named_sequence"),
        ("module attributes {transform.with_named_sequence} {}", "no transform.named_sequence @__transform_main"),
        ("module {", "cannot read the schedule"),
        (
            SMALLEST.replace("KNOBS", '%n = transform.tune.knob<"n"> options = [1, 2] -> !transform.param<i64>'),
            "parameter 'n' of the schedule has no value",
        ),
        (
            SMALLEST.replace(
                "KNOBS",
                '%n = transform.tune.knob<"n"> = 1 from options = [1] -> !transform.param<i64> '
                '%o = transform.tune.knob<"n"> = 1 from options = [1] -> !transform.param<i64>',
            ),
            "two parameters of the schedule have the name 'n'",
        ),
        (
            SMALLEST.replace(
                "KNOBS", '%n = transform.tune.knob<"n"> = 1 from options = {max = "8"} -> !transform.param<i64>'
            ),
            "parameter 'n' of the schedule: expected max to be an integer, got \"8\"",
        ),
    ],
    ids=["no-sequences", "no-entry", "syntax", "no-value", "same-name", "limit"],
)
def test_load_refuses_files_that_are_not_schedules(tmp_path, text, message):
    with pytest.raises(XeTileError, match=message):
        schedule.load(write(tmp_path / "bad.mlir", text))


def test_a_schedule_that_ends_the_interpreter_is_an_error_at_its_op(tmp_path):
    path = tmp_path / "mine.mlir"
    path.write_text(
        "module attributes {transform.with_named_sequence} {\n"
        "  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {\n"
        '    %f = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op\n'
        "    %s = transform.param.constant 0 : i64 -> !transform.param<i64>\n"
        "    %t, %l = transform.structured.tile_using_forall %f tile_sizes *(%s)\n"
        "      : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)\n"
        "    transform.yield\n  }\n}\n"
    )
    with pytest.raises(XeTileError, match="tile_using_forall ended the process that applies the schedule") as raised:
        schedule.load(path).apply(payload())
    assert raised.value.diagnostics[0].location.startswith(f"{path}:5:")


def test_remarks_of_a_schedule_in_its_own_process_are_heard_and_its_result_comes_back(tmp_path):
    path = tmp_path / "mine.mlir"
    path.write_text(
        "module attributes {transform.with_named_sequence} {\n"
        "  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {\n"
        '    transform.annotate %m "test.seen" : !transform.any_op\n    transform.yield\n  }\n}\n'
    )
    before = payload()
    after = schedule.load(path).apply(before)
    assert "test.seen" in after.operation.attributes
    assert "test.seen" not in before.operation.attributes
    assert str(after).replace("attributes {test.seen} ", "") == str(before)


def test_only_schedules_of_the_package_run_in_this_process_and_none_with_steps_of_ones_own(tmp_path, monkeypatch):
    trusted = []
    apply = _xetile.apply_schedule

    def listen(payload, applied, entry, is_trusted):
        trusted.append(is_trusted)
        return apply(payload, applied, entry, is_trusted)

    monkeypatch.setattr(_xetile, "apply_schedule", listen)
    path = tmp_path / "mine.mlir"
    shutil.copy(where("schedules") / "matmul.mlir", path)
    own = schedule.load(path)
    extended = schedule.matmul().extend(lambda module: transform.annotate(module, "test.mine"))
    for each in (schedule.matmul(), schedule.load("matmul").with_params(prefetch=0), own, extended):
        each.apply(payload())
    assert trusted == [True, True, False, False]
