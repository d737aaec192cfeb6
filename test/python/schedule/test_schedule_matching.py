# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matchers that are Python functions: the same IR as a file's, and mistakes that are refused at their lines."""

from typing import Any

import pytest
import written_match
from test_schedule_functions import line_of, parse, refused, sequences, steps
from written_match import cpu_matmul, is_matmul, is_rows
from xetile import XeTileError, schedule
from xetile.schedule import Module, define, ops, sequence
from xetile.schedule.handles import Handle, Matmul

MODEL = """func.func @f(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %c: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = linalg.exp ins(%0 : tensor<8x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}"""


def test_functions_make_the_matchers_of_the_file():
    modules = [written_match.marked.build(), schedule.load("cpu_model").build()]
    mine, file = map(sequences, modules)
    written = set(mine) - {"__transform_main"}
    assert {"match", "is_matmul", "is_windows", "cpu_rows"} < written and len(written) == 12
    for name in written:
        assert steps(mine[name]) == steps(file[name])
        assert str(mine[name].attributes["function_type"]) == str(file[name].attributes["function_type"])
        assert str(mine[name].attributes["arg_attrs"]) == str(file[name].attributes["arg_attrs"])


def test_the_first_case_that_fits_is_done():
    made = written_match.marked.apply(parse(MODEL)).operation.get_asm()
    assert made.count('xetile.schedule = "cpu_matmul"') == 1
    assert made.count('xetile.schedule = "cpu_elementwise"') == 1


@sequence
def is_exp(op: Handle) -> Handle:
    ops.match_operation_name(op, ["linalg.exp", "linalg.log"])
    return op


@sequence
def tag(op: Handle) -> None:
    ops.annotate(op, "mine.tag")


def test_operations_are_matched_by_name():
    @define
    def mine(module: Module) -> Module:
        return ops.foreach_match(module, ops.when(is_exp, tag))

    (tagged,) = [line for line in str(mine.apply(parse(MODEL))).splitlines() if "mine.tag" in line]
    assert "linalg.exp" in tagged


def of_the_module(module: Module) -> Module:
    ops.foreach_match(module, ops.when(is_matmul, cpu_matmul))
    return module


def of_nothing(module: Module) -> Module:
    return ops.foreach_match(module)


def of_a_pair(module: Any) -> Any:
    return ops.foreach_match(module, (is_matmul, cpu_matmul))


def of_a_plain_function(module: Module) -> Module:
    return ops.foreach_match(module, ops.when(lambda op: op, tag))


@sequence
def eats(op: Handle) -> Handle:
    return ops.generalize(op)


def of_a_matcher_that_consumes(module: Module) -> Module:
    return ops.foreach_match(module, ops.when(eats, tag))


@sequence
def of_diagonals(op: Handle) -> Handle:
    ops.match_structured(op, loops="diagonal")
    return op


def of_unknown_loops(module: Module) -> Module:
    return ops.foreach_match(module, ops.when(of_diagonals, tag))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (of_the_module, "it was consumed by ops.foreach_match"),
        (of_nothing, "ops.foreach_match: expected a case at least, as when(is_matmul, mark), got none"),
        (of_a_pair, "ops.foreach_match: expected cases, each when(matcher, action), got tuple"),
        (of_a_plain_function, "matcher: expected a function with the decorator xetile.schedule.sequence, got function"),
        (of_a_matcher_that_consumes, "ops.foreach_match: matcher: expected eats to consume nothing"),
        (of_unknown_loops, "ops.match_structured: loops: expected parallel or reduction, got 'diagonal'"),
    ],
)
def test_what_is_no_matcher_is_refused(function, message):
    assert message in str(refused(function))


def test_a_matcher_that_does_more_than_match_is_refused_with_its_line():
    @sequence
    def marks(op: Handle) -> Matmul:
        ops.annotate(op, "mine.tag")
        return op.as_(Matmul)

    def mine(module: Module) -> Module:
        return ops.foreach_match(module, ops.when(marks, tag))

    with pytest.raises(XeTileError) as error:
        define(mine).apply(parse(MODEL))
    line = line_of(marks.__wrapped__, "mine.tag").split(":")[-2]
    assert f"{__file__}:{line}:9: error: expected operations in the match part" in str(error.value)


def test_a_matcher_may_be_used_twice():
    @define
    def mine(module: Module) -> Module:
        first = ops.foreach_match(module, ops.when(is_matmul, cpu_matmul))
        return ops.foreach_match(first, ops.when(is_rows, tag), ops.when(is_matmul, tag))

    assert str(mine).count("named_sequence @is_matmul(") == 1


def test_the_place_of_a_step_is_that_of_its_call():
    def mine(module: Module) -> Module:
        return ops.foreach_match(module, ops.when(is_matmul, cpu_matmul))

    line = line_of(mine, "foreach_match").split(":")[-2]
    text = define(mine).build().operation.get_asm(enable_debug_info=True)
    assert f":{line}:" in text
