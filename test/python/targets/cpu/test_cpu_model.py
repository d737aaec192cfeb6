# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schedule of models for this CPU: what users change in its files, right in any case; what explain tells of it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import xetile
from xetile import cli, schedule
from xetile.errors import XeTileError
from xetile.mlir import ir

SCHEDULES = Path(xetile.__file__).parent / "schedules"
# So little cache that rows are computed in blocks.
MODEL = """
#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "L2_cache_size_in_bytes" = 16384 : i32>>} {
func.func @model(%x: tensor<2x3x9x9xf32>, %f: tensor<6x3x3x3xf32>, %c: tensor<2x6x7x7xf32>, %w: tensor<45x49xf32>)
    -> tensor<12x45xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %conv = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %f : tensor<2x3x9x9xf32>, tensor<6x3x3x3xf32>) outs(%c : tensor<2x6x7x7xf32>) -> tensor<2x6x7x7xf32>
  %flat = tensor.collapse_shape %conv [[0, 1], [2, 3]] : tensor<2x6x7x7xf32> into tensor<12x49xf32>
  %any = tensor.empty() : tensor<49x45xf32>
  %t = linalg.transpose ins(%w : tensor<45x49xf32>) outs(%any : tensor<49x45xf32>) permutation = [1, 0]
  %all = tensor.empty() : tensor<12x45xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%all : tensor<12x45xf32>) -> tensor<12x45xf32>
  %d = linalg.matmul ins(%flat, %t : tensor<12x49xf32>, tensor<49x45xf32>) outs(%zeros : tensor<12x45xf32>)
      -> tensor<12x45xf32>
  %r = linalg.tanh ins(%d : tensor<12x45xf32>) outs(%all : tensor<12x45xf32>) -> tensor<12x45xf32>
  %some = tensor.empty() : tensor<12xf32>
  %low = linalg.fill ins(%lowest : f32) outs(%some : tensor<12xf32>) -> tensor<12xf32>
  %max = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%r : tensor<12x45xf32>) outs(%low : tensor<12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<12xf32>
  %exp = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%r, %max : tensor<12x45xf32>, tensor<12xf32>) outs(%all : tensor<12x45xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %s = arith.subf %in, %m : f32
    %e = math.exp %s : f32
    linalg.yield %e : f32
  } -> tensor<12x45xf32>
  %none = linalg.fill ins(%zero : f32) outs(%some : tensor<12xf32>) -> tensor<12xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<12x45xf32>) outs(%none : tensor<12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<12xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<12x45xf32>, tensor<12xf32>) outs(%all : tensor<12x45xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %q = arith.divf %in, %s : f32
    linalg.yield %q : f32
  } -> tensor<12x45xf32>
  return %y : tensor<12x45xf32>
}
}"""


def module() -> ir.Module:
    with ir.Context():
        return ir.Module.parse(MODEL)


def check(kernel, rng) -> None:
    x, f, c, w = (
        rng.standard_normal(shape).astype(np.float32) for shape in [(2, 3, 9, 9), (6, 3, 3, 3), (2, 6, 7, 7), (45, 49)]
    )
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (2, 3))
    conv = np.einsum("bchwij,fcij->bfhw", windows, f.astype(np.float64)) + c
    rows = np.exp(np.tanh(conv.reshape(12, 49) @ w.T.astype(np.float64)))
    got = np.full((12, 45), np.nan, np.float32)
    kernel(x, f, c, w, out=got)
    np.testing.assert_allclose(got, rows / rows.sum(1, keepdims=True), rtol=1e-4, atol=1e-6)


def edited(folder: Path, **edits: tuple[str, str]) -> schedule.Schedule:
    """The schedule with other text in its files: `match=(before, after)`."""
    for name in ("cpu_model", "match"):
        text = (SCHEDULES / f"{name}.mlir").read_text()
        before, after = edits.get(name, ("", ""))
        assert before in text
        (folder / f"{name}.mlir").write_text(text.replace(before, after) if before else text)
    return schedule.load(folder / "cpu_model.mlir")


@pytest.mark.parametrize("threads", [1, 2])
def test_it_makes_the_code_that_the_compiler_makes_without_it(rng, threads):
    own = xetile.compile(module(), target="cpu", threads=threads)
    kernel = xetile.compile(module(), "cpu_model", "cpu", {"threads": threads})
    for stage in ("1-tiled", "2-memory"):
        assert kernel.stages[stage] == own.stages[stage]
    check(kernel, rng)


def test_its_parameters_are_options_of_compile(rng):
    loaded = schedule.load("cpu_model")
    config = {"innermostMBlock": 3, "innermostNBlock": 16}
    for option, parameter in (
        ({"fuse": False}, {"fuse": 0}),
        ({"pack": "always"}, {"pack": "always"}),
        ({"config": config}, {"config": json.dumps(config)}),
        ({"attention": False}, {"attention": 0}),
    ):
        own = xetile.compile(module(), target="cpu", threads=1, **option)
        kernel = xetile.compile(module(), loaded.with_params(threads=1, **parameter), "cpu")
        assert kernel.stages["1-tiled"] == own.stages["1-tiled"]
        check(kernel, rng)


def test_softmax_is_left_alone_by_an_edit(rng, tmp_path):
    kept = xetile.compile(module(), "cpu_model", "cpu", {"threads": 1, "rows": 3})
    assert "step (3)" in kept.stages["1-tiled"]
    check(kept, rng)
    mine = edited(tmp_path, match=("@is_rows -> @cpu_rows", "@is_rows -> @none"))
    kernel = xetile.compile(module(), mine.with_params(threads=1, rows=3), "cpu")
    assert "xetile.rows" not in kernel.stages["1-tiled"]
    assert re.search(r'"reduction"\]} ins\(%\w+ : memref<12x45xf32>\)', kernel.stages["2-memory"])
    check(kernel, rng)


def test_convolutions_go_the_direct_way_by_an_edit(rng, tmp_path):
    mine = edited(tmp_path, match=("        @is_convolution -> @cpu_convolution,\n", ""))
    kernel = xetile.compile(module(), mine, "cpu")
    assert "linalg.conv_2d_nchw_fchw" in kernel.stages["2-memory"]
    check(kernel, rng)


@pytest.mark.parametrize("kind", ["matmul", "convolution", "elementwise", "rows"])
def test_any_kind_may_be_left_alone(rng, tmp_path, kind):
    mine = edited(tmp_path, match=(f"@is_{kind} -> @cpu_{kind}", f"@is_{kind} -> @none"))
    kernel = xetile.compile(module(), mine, "cpu")
    assert 'xetile.schedule = "none"' in kernel.stages["1-tiled"]
    check(kernel, rng)


def test_all_ops_may_be_left_alone(rng, tmp_path):
    mine = edited(tmp_path, match=("        @is_matmul -> @cpu_matmul,", "        @is_linalg -> @none,"))
    kernel = xetile.compile(module(), mine, "cpu")
    assert "scf.for" not in kernel.stages["2-memory"]
    check(kernel, rng)


@pytest.mark.parametrize("rows", [1, 2, 4, 5, 12, 1000])
@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_rows_is_right(rng, rows, threads):
    check(xetile.compile(module(), "cpu_model", "cpu", {"rows": rows, "threads": threads}), rng)


def test_parameters_out_of_range_are_refused():
    loaded = schedule.load("cpu_model")
    with pytest.raises(XeTileError, match="rows: expected 0 or more, got -1"):
        loaded.with_params(rows=-1)
    with pytest.raises(XeTileError, match="has no parameter 'MBlock'; its parameters: threads, pack, rows, fuse"):
        loaded.with_params(MBlock=4)
    with pytest.raises(XeTileError, match="pack: expected 'auto', 'always' or 'never', got 'some'"):
        xetile.compile(module(), loaded.with_params(pack="some"), "cpu")
    with pytest.raises(XeTileError, match="match.mlir' is not a schedule"):
        schedule.load(SCHEDULES / "match.mlir")


def test_a_mistake_in_the_matchers_is_told(tmp_path):
    with pytest.raises(XeTileError, match=r"match\.mlir:\d+:\d+: error: unresolved action symbol @cpu_row"):
        edited(tmp_path, match=("@is_rows -> @cpu_rows", "@is_rows -> @cpu_row"))
    shutil.copy(SCHEDULES / "cpu_model.mlir", tmp_path)
    (tmp_path / "match.mlir").write_text("module {")
    with pytest.raises(XeTileError, match=r"match\.mlir"):
        schedule.load(tmp_path / "cpu_model.mlir")


# explain


def table(text: str) -> dict[int, str]:
    """The lines of the table by number."""
    lines = text.partition("\n\n")[0].splitlines()
    assert lines[0].split() == ["op", "sizes", "schedule", "becomes", "at"]
    return {int(line.split()[0]): line for line in lines[1:]}


@pytest.mark.parametrize("name", [None, "cpu_model"])
def test_every_op_is_in_the_table(name):
    params = {"threads": 1, "rows": 4} if name else None
    options = {} if name else {"threads": 1}
    text = xetile.compile(module(), name, "cpu", params, **options).explain()
    lines = table(text)
    assert len(lines) == MODEL.count("= linalg.")
    wanted = {
        0: ("conv_2d_nchw_fchw", "2x3x9x9xf32, 6x3x3x3xf32 -> 2x6x7x7xf32", "cpu_convolution", "deep-tiled", ":10:11"),
        1: ("transpose", "cpu_elementwise", "no loops: its users read its operands in its place", ":14:8"),
        2: ("fill", "no loops: sums start from the number"),
        3: ("matmul", "12x49xf32, 49x45xf32 -> 12x45xf32", "cpu_matmul: a contraction", "deep-tiled"),
        4: ("tanh", "cpu_elementwise: each element by itself", "in the loops of 3"),
        6: ("generic maximumf", "cpu_rows: reduces along dimensions"),
        7: ("generic subf, exp", "12x45xf32, 12xf32 -> 12x45xf32", "cpu_elementwise"),
        9: ("generic addf", "12x45xf32 -> 12xf32", "cpu_rows"),
    }
    for number, words in wanted.items():
        for word in words:
            assert word in lines[number], lines[number]
    if name:
        assert "in blocks of rows with 5, 6, 7, 8, 9" in lines[10]
        assert "rows = 4" in text
    else:
        assert '"innermostMBlock": ' in text.partition("\n\n")[2]


def test_an_edit_shows_in_the_table(tmp_path, capsys):
    edited(tmp_path, match=("@is_rows -> @cpu_rows", "@is_rows -> @none"))
    (tmp_path / "model.mlir").write_text(MODEL)
    arguments = [str(tmp_path / "model.mlir"), "--target", "cpu", "--schedule", str(tmp_path / "cpu_model.mlir")]
    assert cli.main(["explain", *arguments, "--set", "threads=1"]) == 0
    lines = table(capsys.readouterr().out)
    assert "none: to be left alone" in lines[9] and "a loop nest of its own" in lines[9]


def test_a_schedule_without_matchers_is_explained(tmp_path):
    lines = table(xetile.compile(module(), "cpu_matmul", "cpu").explain())
    assert "none matches" in lines[3] and "deep-tiled" in lines[3]


def test_reasons_for_a_loop_nest_of_its_own_are_told():
    text = """func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.exp ins(%a : tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}"""
    with ir.Context():
        lines = table(xetile.compile(ir.Module.parse(text), target="cpu", threads=2).explain())
    assert "a loop nest of its own: all that it touches, 512 bytes, stays in a cache" in lines[0]
