# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences and loops in schedules that are Python functions; test_schedule_functions.py compares with a file's."""

import re
from typing import Any, NamedTuple

import pytest
import xetile
from xetile import XeTileError, schedule
from xetile.mlir import ir
from xetile.mlir.dialects import transform
from xetile.schedule import Module, define, knob, ops, parts, sequence
from xetile.schedule.handles import Function, Handle, Loop

TWO = "func.func @f() { return } func.func @g() { return }"


def payload(text: str = TWO) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


class Found(NamedTuple):
    functions: Function
    number: int


@sequence
def find(module: Module, number: int) -> Found:
    return Found(ops.match(module, Function, ops=["func.func"]), number)


@sequence
def clean(module: Module) -> Module:
    return ops.apply_registered_pass(module, "canonicalize")


@sequence
def tag(function: Handle, text: str) -> None:
    ops.annotate(function, "mine.tag", param=text)


def refused(function: Any) -> str:
    with pytest.raises(XeTileError) as error:
        define(function)
    return str(error.value)


def test_a_sequence_is_written_once_and_included_often():
    @define
    def mine(module: Module, *, number: int = knob(7)) -> Module:
        for text in ("a", "b"):
            module = clean(module)
            found = find(module, number)
            tag(found.functions, text)
        ops.annotate(found.functions, "mine.number", param=found.number)
        return module

    text = str(mine)
    assert [text.count(f"named_sequence @{name}(") for name in ("clean", "find", "tag")] == [1, 1, 1]
    assert [text.count(f"include @{name} ") for name in ("clean", "find", "tag")] == [2, 2, 2]
    assert "@clean(%arg0: !transform.any_op {transform.consumed}) -> !transform.any_op" in text
    assert (
        "@find(%arg0: !transform.any_op {transform.readonly}, %arg1: !transform.param<i64> {transform.readonly})"
        in text
    )
    result = str(mine.with_params(number=9).apply(payload()))
    assert result.count('mine.number = 9 : i64, mine.tag = "b"') == 2


def test_what_a_sequence_consumes_is_gone():
    def mine(module: Module) -> Module:
        clean(module)
        return module

    assert "expected a handle that is still there, but it was consumed by clean" in refused(mine)


def test_a_sequence_that_has_a_name_of_another_one_or_of_a_part_gets_one_of_its_own():
    @sequence
    def bufferize(module: Module) -> Module:
        return parts.bufferize(module)

    def other() -> Any:
        @sequence
        def clean(module: Module) -> Module:
            return ops.apply_registered_pass(module, "cse")

        return clean

    mine = define(lambda module: other()(clean(bufferize(module))))
    names = re.findall(r"named_sequence @(\w+)", str(mine))
    assert {"bufferize", "bufferize_0", "clean", "clean_0"} <= set(names)
    assert len(names) == len(set(names))
    assert mine.apply(payload())


def test_steps_that_extend_a_schedule_may_call_sequences():
    extended = schedule.load("matmul").extend(clean).extend(clean).extend(lambda module: tag(module, "x"))
    assert 'mine.tag = "x"' in str(extended.apply(xetile.matmul(64, 64, 64)))


def test_a_sequence_names_the_lines_of_its_steps():
    @sequence
    def wrong(module: Module) -> Module:
        return ops.apply_registered_pass(module, "no-such-pass")

    with pytest.raises(XeTileError) as error:
        define(lambda module: wrong(module)).apply(payload())
    line = wrong.__wrapped__.__code__.co_firstlineno + 2
    assert error.value.diagnostics[0].location.startswith(f"{__file__}:{line}:")


def test_mlirs_own_builders_in_a_sequence_are_at_their_lines():
    @sequence
    def mark(module: Module) -> None:
        transform.annotate(module, "mine.tag")

    text = define(lambda module: mark(module) or module).build().operation.get_asm(enable_debug_info=True)
    assert f'"{__file__}":{mark.__wrapped__.__code__.co_firstlineno + 2}:9' in text
    assert "calls.py" not in text


def test_sequences_take_values_by_their_arguments_only():
    def mine(module: Module) -> Module:
        @sequence
        def inner(function: Function) -> None:
            ops.annotate(module, "mine.tag")

        inner(ops.match(module, Function, ops=["func.func"]))
        return module

    assert "ops.annotate: target: expected a value that is given or made here, got one that was kept of" in refused(
        mine
    )


def test_a_sequence_does_not_include_itself():
    @sequence
    def endless(module: Module) -> Module:
        return endless(module)

    assert "endless: expected other steps: a sequence cannot include itself" in refused(lambda module: endless(module))


def test_results_are_as_annotated():
    @sequence
    def two(module: Module) -> Found:
        return ops.match(module, Function, ops=["func.func"])  # type: ignore[return-value]

    @sequence
    def loop(module: Module) -> Loop:
        return ops.match(module, Function, ops=["func.func"])  # type: ignore[return-value]

    @sequence
    def lost(module: Module) -> Module:
        clean(module)
        return module

    assert "two: expected 2 results, as annotated, got Function <Function>" in refused(lambda module: two(module))
    assert "return: result 0: expected a handle of kind Loop, got a Function" in refused(lambda module: loop(module))
    assert "return: result 0: expected a handle that is still there" in refused(lambda module: lost(module))


def test_sequences_are_annotated_functions():
    def bare(module):
        return module

    def number(module: Module) -> float:
        return 1.0

    for function, message in (
        (bare, "bare: module: expected the annotation a kind of handle, int or str, got None"),
        (number, "number: the result: expected the annotation a kind of handle, int or str, got type <class 'float'>"),
        (3, "xetile.schedule.sequence: expected a function, got 3"),
    ):
        with pytest.raises(XeTileError, match=re.escape(message)):
            sequence(function)


def test_a_loop_runs_its_steps_for_each_operation():
    @define
    def mine(module: Module) -> Module:
        text = ops.constant("x")
        ops.foreach(ops.match(module, Function, ops=["func.func"]), lambda each: tag(each, text))
        return module

    assert str(mine).count("transform.foreach") == 1
    assert str(mine.apply(payload())).count('mine.tag = "x"') == 2


def test_a_loop_consumes_what_its_steps_consume():
    def mine(module: Module) -> Module:
        functions = ops.match(module, Function, ops=["func.func"])
        ops.foreach(functions, lambda each: ops.apply_registered_pass(each, "cse") and None)
        ops.annotate(functions, "mine.tag")
        return module

    assert "but it was consumed by ops.foreach" in refused(mine)


def test_handles_in_a_module_of_a_loop_go_with_it():
    def steps(module: Module) -> None:
        function = ops.match(module, Function, ops=["func.func"])
        parts.bufferize(module)
        ops.annotate(function, "mine.tag")

    def mine(module: Module) -> Module:
        ops.foreach(ops.match(module, Module, ops=["builtin.module"]), steps)
        return module

    assert "the module that its operations are in was consumed by parts.bufferize" in refused(mine)


@pytest.mark.parametrize("kind", ["handle", "result", "constant"])
def test_what_a_loop_makes_ends_with_it(kind):
    kept = {}

    def steps(each: Function) -> None:
        kept["handle"], kept["result"] = each, ops.match(each, Loop, ops=["scf.for"])
        kept["constant"] = ops.constant(3)

    def mine(module: Module) -> Module:
        ops.foreach(ops.match(module, Function, ops=["func.func"]), steps)
        if kind == "constant":
            ops.annotate(module, "mine.tag", param=kept[kind])
        ops.annotate(kept[kind], "mine.tag")
        return module

    assert "but it was made in the body of ops.foreach, which is over" in refused(mine)


def test_constants_of_a_loop_are_not_those_after_it():
    @define
    def mine(module: Module) -> Module:
        loops = ops.match(module, Loop, ops=["scf.forall"])
        ops.foreach(loops, lambda each: ops.hang_over_edges(each, 4, 4, 4))
        ops.hang_over_edges(loops, 4, 4, 4)
        return module

    assert str(mine).count("param.constant 4") == 2


def test_loops_and_constants_refuse_what_they_cannot_take():
    message = "ops.foreach: body: expected a function of one argument, a handle; got 3"
    assert message in refused(lambda module: ops.foreach(module, 3))
    assert "ops.foreach: targets: expected a handle, got 3" in refused(lambda module: ops.foreach(3, print))
    assert "ops.constant: value: expected an integer or a string, got 1.5" in refused(lambda module: ops.constant(1.5))
