# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines that run pass by pass, and print after each."""

import pytest
from xetile import XeTileError, passes
from xetile.mlir import ir
from xetile.mlir.passmanager import PassManager

MODULE = """
func.func @f(%x: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %x, %0 : i32
  return %1 : i32
}
"""


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("builtin.module(a)", ["builtin.module(a)"]),
        ("builtin.module(a,b{c=1,2 d={e f}},g)", [f"builtin.module({p})" for p in ("a", "b{c=1,2 d={e f}}", "g")]),
        (
            "builtin.module(gpu.module(a,func.func(b,c)),d)",
            [
                "builtin.module(gpu.module(a))",
                "builtin.module(gpu.module(func.func(b)))",
                "builtin.module(gpu.module(func.func(c)))",
                "builtin.module(d)",
            ],
        ),
        ('builtin.module(a{b="c,)"},d)', ['builtin.module(a{b="c,)"})', "builtin.module(d)"]),
        ("builtin.module()", []),
    ],
)
def test_pipelines_are_cut_at_their_passes(pipeline, expected):
    assert passes.one_by_one(pipeline) == expected


def test_pipelines_of_ours_parse_again_pass_by_pass():
    with ir.Context():
        text = str(PassManager.parse("builtin.module(xetile-lower-xevm-to-binary{native=off line-tables=true})"))
        steps = passes.one_by_one(text)
        assert len(steps) > 5
        assert all(str(PassManager.parse(step)) == step for step in steps)


def test_each_pass_is_told_when_it_has_ended(tmp_path):
    seen = []

    def after():
        files = sorted(tmp_path.joinpath("passes").rglob("*.mlir"))
        seen.append([path.read_text() for path in files])

    with ir.Context():
        module = ir.Module.parse(MODULE)
        with passes.printed_to(tmp_path / "passes", after):
            passes.run(module, "func.func(canonicalize,cse)")
    assert [len(texts) for texts in seen] == [1, 2]
    assert "(canonicalize)" in seen[0][0] and "arith.addi" not in seen[0][0]
    assert "arith.addi" not in str(module)


def test_a_pass_that_fails_is_not_followed_by_others(tmp_path):
    called = []
    with ir.Context():
        module = ir.Module.parse(MODULE)
        with (
            passes.printed_to(tmp_path / "passes", lambda: called.append(True)),
            pytest.raises(XeTileError, match="cannot attach"),
        ):
            passes.run(module, "cse,xetile-attach-target{chip=none},cse", action="attach")
    assert called == [True]
